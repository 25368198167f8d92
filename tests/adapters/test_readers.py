"""The answerability model: which of two networks reads a place, in which process they do, and what happens without them."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path

import pytest
from folding import each
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core import wiring
from rag_core.adapters.child import process
from rag_core.adapters.embedding import readers as adapter
from rag_core.adapters.embedding.reader import MAX_LOGIT, MODEL_FILE, ReaderModel, version_of
from rag_core.adapters.embedding.readers import MARK, SENTENCES_FILE, SENTENCES_LANGUAGES, Readers, version
from rag_core.domain.passages import Place, ReadUnit
from rag_core.errors import ModelUnavailable
from rag_core.settings import Settings

ASKED = "How long is the notice period?"
UNITS = (
    "The contract may be ended by either side.",
    "The notice period is thirty days from the end of the month.",
    "It is given in writing.",
)
NOTICE = Place("Termination", UNITS, "en", (0, 1, 2))
OFFICE = Place("", ("The office is in Brno.", "It was built of brick and has four floors."), "en", (0, 1))
CZECH = Place("Smlouva", ("Smlouvu může ukončit každá strana.", "Výpovědní lhůta činí třicet dní."), "cs", (0, 1))
UNREAD = ReadUnit(-MAX_LOGIT)


@pytest.fixture(scope="module")
def model() -> Readers:
    return Readers("float32")


@pytest.fixture(scope="module")
def places(model: Readers) -> ReaderModel:
    return model._places


def numbers(found: list[object]) -> list[float]:
    return [number for one in found for number in (one.log_odds, *(unit.log_odds for unit in one.units))]  # type: ignore[attr-defined]


def test_given_a_language_that_the_reader_of_sentences_learned_then_it_reads_and_parts_what_answers_from_what_does_not(
    model: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model._places, "_read", lambda *_: pytest.fail("the other one was asked"))

    notice, office = model.read(ASKED, [NOTICE, OFFICE], "en")

    assert notice.log_odds > 0 > office.log_odds
    assert max(range(3), key=lambda at: notice.units[at].log_odds) == 1
    assert notice.units[1].log_odds > max(unit.log_odds for unit in office.units)
    assert {unit.value for one in (notice, office) for unit in one.units} == {(0, 0)}  # it points at nothing


@each(
    ("asked", "of_place", "by_sentence"),
    [
        ("en", "en", True), ("en", "und", True), ("de", "en", True), ("en", "cs", False), ("cs", "en", False), ("cs", "cs", False),
        ("und", "en", False), ("hi", "und", False),
    ],
)  # fmt: skip
def test_given_the_languages_of_question_and_place_then_they_say_who_reads(
    asked: str, of_place: str, by_sentence: bool, model: Readers, places: ReaderModel
) -> None:
    one = Place(NOTICE.heading, NOTICE.units, of_place, NOTICE.wanted)

    found = model.read(ASKED, [one], asked)

    assert (found == places.read(ASKED, [one])) == (not by_sentence)


def test_given_places_in_several_languages_then_each_is_read_by_its_own_and_they_come_in_their_order(model: Readers) -> None:
    together = Readers("float32").read(ASKED, [CZECH, NOTICE, CZECH, OFFICE, NOTICE], "en")
    apart = [model.read(ASKED, [place], "en")[0] for place in (CZECH, NOTICE, CZECH, OFFICE, NOTICE)]

    assert numbers(list(together)) == pytest.approx(numbers(list(apart)), abs=1e-4)
    assert [len(one.units) for one in together] == [2, 3, 2, 2, 3]
    assert model.read(ASKED, [], "en") == []


def test_given_units_that_are_not_wanted_then_the_reader_of_sentences_leaves_them_out_and_the_others_are_as_before(model: Readers) -> None:
    (whole,) = model.read(ASKED, [NOTICE], "en")
    (found,) = model.read(ASKED, [Place(NOTICE.heading, NOTICE.units, "en", (1,))], "en")
    (nothing,) = model.read(ASKED, [Place(NOTICE.heading, NOTICE.units, "en")], "en")

    assert found.units[1].log_odds == pytest.approx(whole.units[1].log_odds, abs=1e-4)
    assert found.units[0] == found.units[2] == UNREAD
    assert nothing.units == (UNREAD,) * 3
    assert [one.log_odds for one in (found, nothing)] == pytest.approx([whole.log_odds] * 2, abs=1e-4)


def test_given_a_sentence_then_it_is_read_before_its_heading_and_the_sentence_before_so_that_it_is_never_cut(
    model: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[str, str]] = []
    read = model._sentences.log_odds
    monkeypatch.setattr(model._sentences, "log_odds", lambda pairs: given.extend(pairs) or read(pairs))

    model.read(ASKED, [Place("Termination", UNITS, "en", (0, 2)), Place("", ("One.", "Two."), "en", (0, 1))], "en")

    assert given == [
        (ASKED, text)
        for text in (
            " ".join(UNITS), "One. Two.", f"{UNITS[0]} {MARK} Termination", f"{UNITS[2]} {MARK} Termination {MARK} {UNITS[1]}", "One.",
            f"Two. {MARK} One.",
        )
    ]  # fmt: skip
    assert model._sentences._tokenizer.encode(MARK, add_special_tokens=False).tokens == [MARK]


texts = st.text(max_size=40) | st.sampled_from(["", "[SEP]", "</s>", "🦜" * 90, MARK])


@settings(max_examples=15)
@given(
    question=texts, heading=texts, units=st.lists(texts, max_size=4), language=st.sampled_from(["en", "cs", "und"]),
    asked=st.sampled_from(["en", "cs", "und", ""]), wanted=st.lists(st.integers(0, 5), max_size=4),
)  # fmt: skip
def test_given_any_text_then_all_that_is_said_is_finite_and_in_its_range(
    question: str, heading: str, units: list[str], language: str, asked: str, wanted: list[int], model: Readers
) -> None:
    (said,) = model.read(question, [Place(heading, tuple(units), language, tuple(wanted))], asked)

    assert len(said.units) == len(units)
    for odds in (said.log_odds, *(unit.log_odds for unit in said.units)):
        assert math.isfinite(odds)
        assert -MAX_LOGIT <= odds <= MAX_LOGIT
    for text, unit in zip(units, said.units, strict=True):
        assert 0 <= unit.value[0] <= unit.value[1] <= len(text)


def test_given_the_child_of_the_page_then_it_says_what_this_process_says_bit_by_bit() -> None:
    chosen = Settings.load()
    here, apart = wiring.answerability_model(chosen), wiring.answerability_model(chosen, apart=True)
    assert here is not None
    assert apart is not None
    given = [
        NOTICE, CZECH, Place("", ()), Place("Zeď </s>", ("", "नोटिस की अवधि", OFFICE.units[0])), Place("Walls", OFFICE.units * 20, "cs"),
        Place("Half", NOTICE.units, "en", (1,)),
    ]  # fmt: skip

    for language in ("en", "hi", "und"):
        assert apart.read(ASKED, given, language) == here.read(ASKED, given, language)
    assert apart.read(ASKED, given) == here.read(ASKED, given)
    assert apart.read(ASKED, []) == []
    assert apart.version == here.version == version()


@pytest.mark.parametrize("left_out", ["reader", "sentences"])
def test_given_a_missing_file_then_it_is_one_error_with_a_remedy(left_out: str, tmp_path: Path) -> None:
    file = tmp_path / f"{left_out}.safetensors"

    with pytest.raises(ModelUnavailable, match="could not be loaded") as raised:
        Readers("float32", *((file,) if left_out == "reader" else (MODEL_FILE, file)))
    assert f"data/models/{file.name}" in raised.value.remedy


def test_given_a_file_of_another_model_then_the_version_is_another(tmp_path: Path) -> None:
    """Both files count: what is calibrated hangs on either."""
    other = tmp_path / "other.safetensors"
    other.write_bytes(b"x")

    assert version() == f"{version_of(MODEL_FILE)}-{version_of(SENTENCES_FILE)}"
    assert len({version_of(one) for one in (other, MODEL_FILE, SENTENCES_FILE)}) == 3


@each("left_out", ["MODEL_FILE", "SENTENCES_FILE"])
def test_given_a_file_that_was_left_out_then_the_page_has_no_reader_or_is_told_why(left_out: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for module in (wiring.models, process, adapter):
            if hasattr(module, left_out):
                patch.setattr(module, left_out, Path("left", "out"))

        with suppress(ModelUnavailable):
            assert wiring.answerability_model(Settings.load(), apart=True) is None


def test_given_no_reader_then_nobody_reads_and_the_engine_works_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring.models, "MODEL_FILE", Path("left", "out"))

    assert wiring.answerability_model(Settings.load()) is None


def test_given_the_files_then_they_are_small_enough_for_a_repository() -> None:
    assert SENTENCES_FILE.stat().st_size < 50_000_000
    assert SENTENCES_LANGUAGES >= {"de", "en"}
