"""Verifiers by name: each form gives what its publishers' recipe gives, on small models made here; what cannot be used
says so.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import socket
from pathlib import Path

import pytest
import torch
from folding import each
from tiny_models import cross_encoder, multilingual, without_head

from rag_core import wiring
from rag_core.adapters.embedding.reader import MAX_LOGIT, version_of
from rag_core.adapters.entailment.by_name import (
    EntailmentOnDemand,
    NamedEntailment,
    declared_languages,
    load_entailment_model,
)
from rag_core.domain.ports import EntailmentModel
from rag_core.errors import InvalidSetting, ModelUnavailable
from rag_core.settings import Settings

NLI = ("contradiction", "ENTAILMENT", "neutral")
PAIRS = [
    ("the notice period is thirty days", "notice is thirty days"),
    ("a b", "c"),
    ("", "alone"),
    ("the end of a month. it is so", "d"),
]
FORMS = {
    "one output": cross_encoder,
    "inference": lambda folder: cross_encoder(folder, *NLI),
    "inference in many languages": lambda folder: multilingual(folder, *NLI),
}


def of_probability(shares: torch.Tensor) -> torch.Tensor:
    return (shares / (1 - shares)).log()


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return FORMS[request.param](tmp_path)


@each(
    ("outputs", "log_odds"),
    [((), lambda logits: logits.reshape(-1)), (NLI, lambda logits: of_probability(logits.softmax(dim=1)[:, 1]))],
    ids=["one output is a logit", "entailment against the others"],
)
def test_given_a_cross_encoder_then_its_log_odds_are_those_of_sentence_transformers(outputs, log_odds, tmp_path):
    from sentence_transformers import CrossEncoder

    folder = cross_encoder(tmp_path / str(len(outputs)), *outputs)
    model = CrossEncoder(str(folder), device="cpu")
    logits = model.predict(PAIRS, activation_fn=torch.nn.Identity(), show_progress_bar=False)
    model.save_pretrained(str(tmp_path / "saved"))
    published = log_odds(torch.tensor(logits).double()).clamp(-MAX_LOGIT, MAX_LOGIT).tolist()

    assert len(set(published)) == len(PAIRS)
    for place in (folder, tmp_path / "saved"):
        assert NamedEntailment(str(place), "float32").supports(PAIRS) == pytest.approx(published, abs=1e-3)


def test_given_many_pairs_of_any_length_then_each_is_read_by_itself(form: Path) -> None:
    verifier = NamedEntailment(str(form), "float32")
    pairs = [(f"{text} {'x' * (number % 7)}", claim) for number in range(5) for text, claim in PAIRS]

    together = verifier.supports(pairs)

    assert together == pytest.approx([verifier.supports([pair])[0] for pair in pairs], abs=1e-3)
    assert verifier.supports([]) == []
    assert all(math.isfinite(one) and -MAX_LOGIT <= one <= MAX_LOGIT for one in together)


@pytest.mark.parametrize("mark", ["[SEP]", "[CLS]", "</s>", "<s>", "<pad>"])
def test_given_a_text_with_a_special_token_then_it_is_no_boundary(mark: str, form: Path) -> None:
    verifier = NamedEntailment(str(form), "float32")
    special = set(verifier._tokenizer.all_special_ids) - {verifier._tokenizer.unk_token_id}

    def boundaries(evidence: str, claim: str) -> int:
        return sum(one in special for one in verifier.tokens(evidence, claim).ids)

    assert boundaries(f"a {mark} b", f"{mark} c {mark}") == boundaries("a b", "c")


def test_given_an_evidence_longer_than_the_model_reads_then_its_end_is_cut_and_the_claim_stays_whole(form):
    verifier = NamedEntailment(str(form), "float32")
    long = "delivery " * 600

    assert verifier.supports([(f"{long} one", "is it so")]) == verifier.supports([(f"{long} two", "is it so")])
    assert verifier.supports([(long, "is it so")]) != verifier.supports([(long, "is it no")])
    assert all(map(math.isfinite, verifier.supports([(long, long), ("", long), ("", "")])))


def test_given_bfloat16_then_the_verifier_says_nearly_the_same(tmp_path: Path) -> None:
    folder = str(cross_encoder(tmp_path))
    exact, rough = (NamedEntailment(folder, precision) for precision in ("float32", "bfloat16"))

    assert rough.supports(PAIRS) == pytest.approx(exact.supports(PAIRS), abs=1.0)
    assert rough.supports(PAIRS) != exact.supports(PAIRS)
    assert (exact.version, rough.version) == (f"{folder}@float32", f"{folder}@bfloat16")


def test_given_a_model_without_the_layer_that_classifies_then_none_is_made_up(tmp_path: Path) -> None:
    folder = without_head(tmp_path)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    with pytest.raises(ModelUnavailable, match="no classifier of pairs"):
        NamedEntailment(str(folder))
    (folder / "config.json").write_text(
        json.dumps({**config, "architectures": ["BertForSequenceClassification"]}), encoding="utf-8"
    )

    with pytest.raises(ModelUnavailable, match=r"do not hold all of its weights: classifier\.bias"):
        NamedEntailment(str(folder))


@pytest.mark.parametrize(
    "outputs", [("good", "bad", "ugly"), ("supported", "supports"), ("LABEL_0", "LABEL_1", "LABEL_2")]
)
def test_given_outputs_that_do_not_say_which_one_supports_then_nothing_is_guessed(outputs, tmp_path):
    with pytest.raises(ModelUnavailable, match=", ".join(outputs).casefold()) as caught:
        NamedEntailment(str(cross_encoder(tmp_path, *outputs)))

    assert "entailment" in caught.value.remedy


def test_given_a_model_that_needs_its_own_code_then_it_is_refused_and_the_code_is_not_run(tmp_path: Path) -> None:
    folder = cross_encoder(tmp_path)
    (folder / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')", encoding="utf-8")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    code = {"AutoConfig": "mine.Config", "AutoModelForSequenceClassification": "mine.Model"}
    (folder / "config.json").write_text(
        json.dumps({**config, "model_type": "mine", "auto_map": code}), encoding="utf-8"
    )

    with pytest.raises(
        ModelUnavailable, match="'mine' needs code that comes with the model, and such code is never run"
    ):
        NamedEntailment(str(folder))
    assert not (tmp_path / "ran").exists()


class Pickled:
    def __init__(self, file: str) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.file,)


def test_given_weights_that_would_run_something_when_read_then_they_are_not_read(tmp_path: Path) -> None:
    folder = cross_encoder(tmp_path)
    (folder / "model.safetensors").rename(folder / "other.safetensors")
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Pickled(str(tmp_path / "ran"))))

    with pytest.raises(ModelUnavailable, match="could not be loaded: OSError"):
        NamedEntailment(str(folder))
    (folder / "other.safetensors").unlink()
    with pytest.raises(ModelUnavailable, match="not there as safetensors"):
        NamedEntailment(str(folder))
    assert not (tmp_path / "ran").exists()


def test_given_a_damaged_file_then_it_is_one_typed_error(tmp_path: Path) -> None:
    folder = cross_encoder(tmp_path)
    (folder / "model.safetensors").write_bytes(b"nothing")

    with pytest.raises(ModelUnavailable, match="could not be loaded: ") as caught:
        NamedEntailment(str(folder))
    assert "embedded or none" in caught.value.remedy


def test_given_a_model_of_the_hub_then_it_is_found_among_what_was_fetched_and_never_downloaded(tmp_path, monkeypatch):
    fetched = tmp_path / "hub" / "models--some--verifier"
    (fetched / "refs").mkdir(parents=True)
    (fetched / "refs" / "main").write_text("a" * 40, encoding="utf-8")
    (fetched / "snapshots").mkdir()
    cross_encoder(tmp_path).rename(fetched / "snapshots" / ("a" * 40))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    sought: list[object] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *where, **_: sought.append(where) or [])

    assert NamedEntailment("some/verifier").supports(PAIRS)
    with pytest.raises(
        ModelUnavailable, match="'other/verifier' is not on this machine, and nothing is downloaded"
    ) as caught:
        NamedEntailment("other/verifier")
    assert "hf download other/verifier" in caught.value.remedy
    with pytest.raises(ModelUnavailable, match="neither a folder nor a model's name"):
        NamedEntailment("no such; folder")
    assert sought == []


def test_given_a_model_that_returns_no_numbers_then_that_is_an_error(tmp_path: Path) -> None:
    verifier = NamedEntailment(str(cross_encoder(tmp_path)), "float32")
    with torch.no_grad():
        verifier._model.classifier.weight.fill_(math.nan)

    with pytest.raises(ModelUnavailable, match="not a number"):
        verifier.supports(PAIRS)


@each("text", ["english", "en cs", "EN", "e", "en, §"])
def test_given_something_else_than_codes_then_it_is_refused_wherever_the_verifier_would_run(text: str) -> None:
    with pytest.raises(InvalidSetting, match="not the code of a language"):
        declared_languages(text)
    for apart in (False, True):
        with pytest.raises(InvalidSetting, match="not the code of a language") as caught:
            wiring.entailment_model(Settings.load(values={"verifier_languages": text, "verifier": "none"}), apart=apart)
        assert "verifier_languages" in caught.value.remedy


def test_given_a_verifier_on_demand_then_it_is_loaded_once_when_it_is_needed_and_a_failure_is_not_kept(tmp_path):
    made: list[EntailmentModel] = []

    def load() -> EntailmentModel:
        made.append(load_entailment_model(str(tmp_path / "cross")))
        return made[-1]

    lazy = EntailmentOnDemand(load, "v1", frozenset({"en"}))

    assert (lazy.supports([]), made) == ([], [])
    with pytest.raises(ModelUnavailable, match="neither a folder"):
        lazy.supports(PAIRS)
    cross_encoder(tmp_path)
    assert lazy.supports(PAIRS) == lazy.supports(PAIRS) == made[0].supports(PAIRS)
    assert len(made) == 1


def test_given_a_named_verifier_in_the_child_of_the_page_then_it_says_what_it_says_here(tmp_path: Path) -> None:
    """S3-15: a claim is verified against what it cites, by a model that can be chosen."""
    settings = Settings.load(values={"verifier": str(cross_encoder(tmp_path)), "verifier_languages": "cs, en,"})
    here, apart = wiring.entailment_model(settings), wiring.entailment_model(settings, apart=True)

    assert apart.supports(PAIRS) == here.supports(PAIRS)
    assert (apart.version, apart.languages) == (here.version, here.languages)
    assert apart.languages == {"en", "cs"}
    assert apart.supports([]) == []
    with pytest.raises(InvalidSetting, match="Nothing says which languages"):
        wiring.entailment_model(settings.changed(verifier_languages=""))
    assert wiring.entailment_model(settings, apart=True) is apart


def test_given_the_embedded_verifier_then_it_says_the_same_here_and_in_the_child():
    here, apart = wiring.entailment_model(Settings.load()), wiring.entailment_model(Settings.load(), apart=True)
    assert here is not None
    assert apart is not None
    text = "Either side may end the contract. The notice period is thirty days from the end of the month."
    pairs = [
        (text, "One month's end and thirty days more: so long is the notice."),
        (text, "Only the supplier may end the contract."),
    ]

    odds = apart.supports(pairs)

    assert odds == here.supports(pairs)
    assert odds[0] > odds[1]
    assert (
        (apart.version, apart.languages)
        == (here.version, here.languages)
        == (version_of(wiring.models.SUPPORT_FILE), {"en"})
    )


def test_given_a_verifier_that_is_not_there_then_the_child_says_so_and_goes_on(tmp_path: Path) -> None:
    settings = Settings.load(values={"verifier": str(tmp_path / "none here"), "verifier_languages": "en"})
    apart, model = (
        wiring.entailment_model(settings, apart=True),
        wiring.embedder_apart(settings.embedding_model, settings.embedding_precision),
    )

    with pytest.raises(ModelUnavailable, match="neither a folder nor a model's name"):
        apart.supports(PAIRS)
    assert model.embed(["a"]).shape[0] == 1


def test_given_no_verifier_is_wanted_or_the_embedded_ones_file_was_left_out_then_there_is_none(tmp_path, monkeypatch):
    assert wiring.entailment_model(Settings.load(values={"verifier": "none"})) is None
    monkeypatch.setattr(wiring.models, "SUPPORT_FILE", tmp_path / "support.safetensors")
    assert wiring.entailment_model(Settings.load()) is None
