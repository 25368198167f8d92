"""The answerability model: what it reads, in which process, and what happens without it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import pytest
import torch
from folding import each
from safetensors.torch import load_file, save_file

from rag_core import wiring
from rag_core.adapters.embedding.minilm import DIM
from rag_core.adapters.embedding.pair_models import ANSWERABILITY_FILE as FILE
from rag_core.adapters.embedding.pair_models import ANSWERABILITY_TOKENS as MAX_TOKENS
from rag_core.adapters.embedding.pair_models import MAX_LOGIT, AnswerModel, version_of
from rag_core.errors import ModelUnavailable
from rag_core.settings import Settings

QUESTION = "How long is the notice period?"
ANSWERS = "The contract may be ended by either side. The notice period is thirty days from the end of the month."
ELSEWHERE = "The office is in Brno. It was built of brick and has four floors."


@pytest.fixture(scope="module")
def model() -> AnswerModel:
    return AnswerModel("float32")


def test_given_a_passage_that_answers_and_one_that_does_not_then_the_odds_part_them(model: AnswerModel) -> None:
    answers, elsewhere = model.answers(QUESTION, [ANSWERS, ELSEWHERE])

    assert answers > 0 > elsewhere


def test_given_several_passages_then_each_is_read_by_itself(model: AnswerModel) -> None:
    together = AnswerModel("float32").answers(QUESTION, [ANSWERS, ELSEWHERE * 20, "Short."])
    apart = [model.answers(QUESTION, [text])[0] for text in (ANSWERS, ELSEWHERE * 20, "Short.")]

    assert together == pytest.approx(apart, abs=1e-4)
    assert model.answers(QUESTION, []) == []


def test_given_a_passage_longer_than_the_model_reads_then_its_end_has_no_say_and_the_question_stays_whole(model: AnswerModel) -> None:
    long = "delivery " * MAX_TOKENS

    assert model.answers(QUESTION, [f"{long} one"]) == pytest.approx(model.answers(QUESTION, [f"{long} two"]))
    assert model.answers("What is delivered?", [long]) != pytest.approx(model.answers(QUESTION, [long]), abs=1e-3)


def test_given_first_tokens_alone_then_they_are_as_among_all_tokens(model: AnswerModel) -> None:
    network = model._pairs._model
    pairs = [(QUESTION, text) for text in (ANSWERS, "", ELSEWHERE * 20, "delivery " * MAX_TOKENS)] + [("", "")]

    def first(x: torch.Tensor, lengths: Sequence[int]) -> torch.Tensor:
        return x[[end - length for end, length in zip(accumulate(lengths), lengths, strict=True)]]

    among = network.run(pairs, DIM, first)
    alone = network.run(pairs, DIM, lambda x, lengths: x, first_only=True)

    assert alone.shape == (len(pairs), DIM)
    assert torch.allclose(alone, among, atol=1e-5)
    assert not torch.allclose(among[0], among[2], atol=1e-2)


@each("text", ["", "\x00", "🦜" * 500, "नोटिस की अवधि", "[SEP] [CLS] yes"])
def test_given_any_text_then_the_odds_are_finite_and_in_their_range(text: str, model: AnswerModel) -> None:
    (odds,) = model.answers(QUESTION, [text])

    assert math.isfinite(odds)
    assert -MAX_LOGIT <= odds <= MAX_LOGIT


def test_given_texts_read_before_then_they_are_remembered_but_not_mixed_up_with_others_of_the_same_letters(
    model: AnswerModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [("What is a pump?", "A pump moves water."), ("What is a pump?A", " pump moves water."), ("What is a pump?", "A pump.")]
    found = [model.answers(question, [text]) for question, text in pairs]
    assert len({one for [one] in found}) == len(pairs)

    monkeypatch.setattr(model._pairs, "_read", lambda _: pytest.fail("it was read again"))
    assert [model.answers(question, [text]) for question, text in pairs] == found


def test_given_a_passage_that_writes_a_special_token_then_it_is_letters_and_ends_nothing(model: AnswerModel) -> None:
    for text in ("[SEP]", "Brno [SEP] [CLS] Praha", "[PAD] [MASK]"):
        encoded = model._pairs._model.tokenizer.encode(QUESTION, text)

        assert [encoded.tokens.count(mark) for mark in ("[CLS]", "[SEP]", "[PAD]", "[MASK]")] == [1, 2, 0, 0]


def test_given_the_child_of_the_page_then_it_says_what_this_process_says() -> None:
    settings = Settings.load()
    here, apart = wiring.answerability_model(settings), wiring.answerability_model(settings, apart=True)
    assert here is not None
    assert apart is not None

    assert apart.answers(QUESTION, [ANSWERS, ELSEWHERE]) == here.answers(QUESTION, [ANSWERS, ELSEWHERE])
    assert apart.answers(QUESTION, []) == []
    assert (apart.version, apart.languages) == (here.version, here.languages)


def test_given_a_damaged_or_missing_file_then_it_is_one_error_with_a_remedy(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(FILE.read_bytes()[:1000])

    for file in (damaged, tmp_path / "missing.safetensors"):
        with pytest.raises(ModelUnavailable, match="answerability model") as raised:
            AnswerModel("float32", file)
        assert "data/models" in raised.value.remedy


def test_given_weights_that_are_no_numbers_then_it_says_so_instead_of_guessing(tmp_path: Path) -> None:
    weights = load_file(FILE)
    weights["answerable.bias"] = torch.full_like(weights["answerable.bias"], math.nan)
    save_file(weights, tmp_path / "broken.safetensors")

    with pytest.raises(ModelUnavailable, match="not a number"):
        AnswerModel("float32", tmp_path / "broken.safetensors").answers(QUESTION, [ANSWERS])


def test_given_another_file_then_its_version_is_another(tmp_path: Path) -> None:
    other = tmp_path / "other.safetensors"
    other.write_bytes(b"x")

    assert version_of(other) != version_of(FILE)


def test_given_no_file_then_nobody_reads_and_the_engine_works_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring.models, "MODEL_FILE", tmp_path / "left-out")

    assert wiring.answerability_model(Settings.load()) is None


def test_given_the_file_then_it_is_small_enough_for_a_repository() -> None:
    assert FILE.stat().st_size < 50_000_000
