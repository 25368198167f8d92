"""Finds the tables that have the row a question asks for, by the labels of their rows.

A balance sheet says "Goodwill" once among thirty lines, and the notes say it on many pages. So a ranking of passages
seldom finds the line itself. Here the rows of more passages are looked at, by their labels alone: no model reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import regex

from rag_core.compression.scoring import context_of
from rag_core.domain.passages import Passage, PassageKind
from rag_core.domain.ports import PageText
from rag_core.gating.asked import FIGURES, AnswerType, AskedFor, beginnings, folded
from rag_core.gating.fit import fits
from rag_core.gating.row import CELL, asks_share, row_asked
from rag_core.gating.stated import asked_words
from rag_core.grounding.units import units
from rag_core.language import spaced

ROW_ALONE = 0.6  # `Fit.row` from which a row of a table is the one asked for; chosen
MAX_TABLES = 80  # tables that are looked through, about 0.3 ms each; chosen
MAX_FIGURE = 20  # characters of a figure; a longer one is a number of something, such as an account; chosen
Rank = tuple[float, bool, float, int]  # as `rank_of_row` makes it, the least is the first
_FIGURE = regex.compile(r"\p{Nd}[\p{Nd}.,]*")


@dataclass(frozen=True, slots=True)
class _Found:
    """The likest row of a passage: the place of the passage, and how the row is ordered among others
    (`rank_of_row`).
    """

    place: int
    rank: Rank


def asks_row(asked: AskedFor) -> bool:
    """Whether a question may be answered by one row of a table: it asks for a figure of something, and compares
    nothing.
    """
    return asked.type in FIGURES and bool(asked.subject) and not (asked.compared or asked.superlative)


def tables_asked(
    asked: AskedFor, passages: Sequence[Passage], page_text: PageText, titles: Mapping[str, str]
) -> list[int]:
    """The places of those passages that have the row asked for, surest first; none where a question asks for no figure.

    Of equally sure ones those of the first document come first, and in it the order of `rank_of_row` holds, then that
    of the pages.

    Args:
        asked: what the question asks for.
        passages: the likest first.
        page_text: reads a page.
        titles: of documents, by id.
    """
    if not asks_row(asked):
        return []
    tables = [place for place, passage in enumerate(passages) if passage.kind is PassageKind.TABLE][:MAX_TABLES]
    found = [one for place in tables if (one := _likest(asked, place, passages[place], page_text, titles))]
    first: dict[str, int] = {}
    for one in found:
        first.setdefault(passages[one.place].document, one.place)

    def order(one: _Found) -> tuple[float, int, Rank, int, int]:
        passage = passages[one.place]
        return one.rank[0], first[passage.document], one.rank, passage.page, one.place

    return [one.place for one in sorted(found, key=order)]


def rank_of_row(asked: AskedFor, text: str, row: float, place: str, language: str) -> Rank:
    """The order among rows of one label, the likeliest first: the surest, an amount before its change, the largest, in
    most words asked.

    A company's revenue is larger than that of its parts, its average price and its tax rate are not; and what stands in
    a cash flow statement is mostly a change.

    Args:
        asked: what the question asks for.
        text: of the row.
        row: its `Fit.row`.
        place: the headings that the row stands under.
        language: of the row.
    """
    adds_up = not asked.computes and asked.type is not AnswerType.PERCENTAGE and not asks_share(asked, language)
    found = [one.replace(",", "").rstrip(".") for one in _FIGURE.findall(text.partition(CELL)[2])]
    largest = max((float(one) for one in found if one.count(".") < 2 and len(one) <= MAX_FIGURE), default=0.0)
    words = beginnings(folded(text.partition(CELL)[0]))
    return -round(row, 1), _tells_changes(asked, place, language), -largest * adds_up, -len(words & asked.subject)


def _likest(
    asked: AskedFor, place: int, passage: Passage, page_text: PageText, titles: Mapping[str, str]
) -> _Found | None:
    context = context_of(passage, titles, page_text=page_text if asked.names else None)
    above = f"{context.section}\n{context.title}"
    best = None
    for unit in units(passage, page_text):
        # most rows end here; to read a row whole costs ten times as much
        if row_asked(asked, unit.text, above, passage.language, context.about) < ROW_ALONE:
            continue
        row = fits(asked, unit.text, context, passage.language).row
        if row >= ROW_ALONE and (best is None or -row < best.rank[0]):
            best = _Found(place, rank_of_row(asked, unit.text, row, context.section, passage.language))
    return best


def _tells_changes(asked: AskedFor, place: str, language: str) -> bool:
    """Whether a heading says that what stands below are changes of amounts, and the question asks for none."""
    changes = asked_words(language).changes
    found = changes.search(spaced(place)) if changes else None
    return found is not None and asked.words.isdisjoint(found[0].split())
