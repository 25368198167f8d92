"""Words of a scan that may be wrong: what is told of them, and what rests on them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import citation, claim, passage
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.answer import is_scanned
from rag_core.domain.documents import Box, Span, WordBox
from rag_core.domain.scanned import ENGINES, RAPIDOCR, SURE, TESSERACT, Unsure, engines_in_words, unsure_words

sures = st.floats(0, 1)
PLAIN, FIGURE = SURE[TESSERACT]


def told(text: str, sure: float | None, read_by: str = TESSERACT) -> list[str]:
    """The words of a row that are told, all of which the engine is as sure of."""
    words, at = [], 0
    for word in text.split():
        words.append(WordBox(at, at + len(word), at, 0, at + len(word), 10, sure))
        at += len(word) + 1
    return [one.text for one in unsure_words("d1", Span(1, 0, len(text)), words, text, read_by)]


@each(
    ("text", "sure", "words"),
    [
        ("Cena je 18 450 Kč", FIGURE, []),
        ("Cena je 18 450 Kč", FIGURE - 0.01, ["18", "450"]),
        ("Cena je 18 450 Kč", PLAIN - 0.01, ["Cena", "je", "18", "450", "Kč"]),
        ("mezi S 14 a S. 15", 1.0, ["S", "S."]),
        ("of 1O0 l5 2,S E3 MK-40-B", 1.0, ["1O0", "l5", "2,S"]),
        ("B2B SOS Sbor", 1.0, ["B2B"]),
        ("१२ रुपये", FIGURE - 0.01, ["१२"]),
        ("Cena je 18 450 Kč", None, []),
    ],
)
def test_given_words_of_a_scan_then_the_unsure_are_told(text: str, sure: float | None, words: list[str]) -> None:
    assert told(text, sure) == words


@each(
    ("read_by", "sure", "words"),
    [
        (RAPIDOCR, 0.96, ["18"]),  # enough for a word, not for a figure
        (RAPIDOCR, 0.94, ["Cena", "18"]),
        (RAPIDOCR, 0.97, []),
        (TESSERACT, 0.94, []),
        ("", 0.94, []),  # not known: it was Tesseract, before there was another
        ("", 0.80, ["18"]),
    ],
)
def test_given_a_score_then_the_limits_of_its_engine_hold(read_by: str, sure: float, words: list[str]) -> None:
    assert told("Cena 18", sure, read_by) == words


@each(
    ("engines", "said"),
    [
        ([], ""),
        ([""], ""),
        (["", RAPIDOCR, RAPIDOCR], " (RapidOCR)"),
        ([TESSERACT, RAPIDOCR], " (RapidOCR, Tesseract)"),
        (["other"], ""),
    ],
)
def test_given_the_engines_of_some_sources_then_the_known_are_named_once(engines: list[str], said: str) -> None:
    assert engines_in_words(engines) == said


def test_each_engine_has_limits_of_its_own() -> None:
    assert SURE.keys() == ENGINES.keys()
    assert all(plain < figure for plain, figure in SURE.values())


@given(text=st.text("§S0O1l5.,$ ab", max_size=30), less=sures, more=sures)
def test_given_a_surer_reading_then_no_more_words_are_told(text: str, less: float, more: float) -> None:
    less, more = sorted((less, more))
    row = " ".join(["a", *text.split()])

    assert set(told(row, more)) <= set(told(row, less))


@each(
    ("text", "alike"),
    [
        ("§", ("§/$/S",)),
        ("1.50", ("0/O", "1/l/I", "5/S", "./,")),
        ("MK-40-B", ("0/O", "8/B")),
        ("S", ("§/$/S", "5/S")),
        ("Kč", ()),
        ("Soll", ()),
    ],
)
def test_given_a_word_that_may_be_wrong_then_figures_have_signs_alike(text: str, alike: tuple[str, ...]) -> None:
    assert unsure(text).alike == alike


def test_given_a_place_that_is_not_certain_then_no_doubt_is_marked_there() -> None:
    one = replace(citation(claim(passage()).evidence[0]), unsure=(unsure("40"),), boxes=((1, Box(0, 0, 9, 9)),))

    assert one.doubted == ((1, Box(1, 2, 3, 4)),)
    assert replace(one, boxes=()).doubted == ()


def test_given_claims_then_those_that_rest_on_a_picture_are_known() -> None:
    first, second = claim(passage(1)), claim(passage(2))
    cited = [replace(citation(first.evidence[0]), ocr=True), citation(second.evidence[0])]

    assert [is_scanned(one, cited) for one in (first, second)] == [True, False]


def test_given_a_confidence_that_is_none_then_it_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Unsure\.sure"):
        replace(unsure("4"), sure=1.01)


def unsure(text: str) -> Unsure:
    return Unsure("d1", Span(1, 0, max(1, len(text))), 0.5, Box(1, 2, 3, 4), text)
