"""Tests of `rag_core.ingest.pdf_worker.hidden_text.rendering`: words that stand in one another's places, on a page with
many lines.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pymupdf
import pytest

from rag_core.ingest.pdf_worker.hidden_text import rendering as ink
from rag_core.ingest.pdf_worker.hidden_text.rendering import MAX_LOOKS, Question, _draw, unseen

WHITE, BLACK = (1, 1, 1), (0, 0, 0)
PIXELS = 25_000_000


@pytest.fixture
def page() -> Iterator[Any]:
    """A page like a map: lines all over it, and labels whose letters are painted twice, first wide and white, then
    black.
    """
    with pymupdf.open() as document:
        made = document.new_page(width=400, height=300)
        for x in range(0, 400, 4):
            made.draw_line((x, 0), (400 - x, 300), color=(0.6, 0.7, 0.9))
        for text, colour in (("lies", BLACK), ("Harbour", WHITE), ("Harbour", BLACK)):  # texts 0, 1 and 2, in one place
            made.insert_text((203, 151), text, fontsize=12, color=colour)
        made.draw_rect((198, 138, 260, 156), color=WHITE, fill=WHITE)
        made.insert_text((203, 151), "Harbour", fontsize=12)  # text 3
        yield made


def question(text: int) -> Question:
    """One that asks about this text of the page alone."""
    return Question((203, 140, 248, 154), (), 12, frozenset({text}))


def test_each_text_of_one_place_is_looked_at_by_itself(page: Any) -> None:
    """What was painted over does not show, and what was painted last does."""
    assert unseen(page, [question(0), question(1), question(2), question(3)], PIXELS) == [True, True, True, False]


def test_a_look_draws_no_more_than_the_words_that_it_is_about(page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three drawings of one frame for each: drawn whole for each look, a page of a map took ten seconds."""
    drawn: list[Any] = []

    def counted(page: Any, frame: Any, *args: Any, **more: Any) -> bytes:
        drawn.append(tuple(frame))
        return _draw(page, frame, *args, **more)

    monkeypatch.setattr(ink, "_draw", counted)
    unseen(page, [Question((10, 10, 390, 290), (), 12), question(0), question(3)], PIXELS)
    assert [len(set(drawn[at : at + 3])) for at in (0, 3, 6)] == [1, 1, 1]
    assert len(drawn) == 9
    whole, *smaller = (pymupdf.Rect(frame).get_area() for frame in drawn[::3])
    assert max(smaller) < 0.02 * whole


def test_more_words_in_one_another_s_places_than_any_print_has_are_not_read(page: Any) -> None:
    """Only so many looks are taken; a word that nobody looked at counts as unseen."""
    asked = [
        question(3),
        *(Question((203, 140, 248, 154), (), 12, frozenset({100 + n})) for n in range(MAX_LOOKS)),
        question(3),
    ]
    late = Question((203, 140, 248, 154), (), 12, frozenset({3, 900}))
    found = unseen(page, [*asked, late], PIXELS)
    assert (found[0], found[-2], found[-1]) == (False, False, True)


def test_a_word_beside_the_page_is_unseen_and_the_others_are_looked_at(page: Any) -> None:
    """Its own part of the page is empty: nothing is drawn for it."""
    assert unseen(page, [Question((500, 140, 548, 154), (), 12, frozenset({1})), question(3)], PIXELS) == [True, False]
