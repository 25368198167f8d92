"""The sentences right before and behind a quote, so that the reader of an answer sees it in its place."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import pairwise

import regex

from rag_core.domain.claims import BREAK, Around, Evidence
from rag_core.domain.documents import Span
from rag_core.domain.passages import Passage, PassageKind, Role
from rag_core.domain.ports import PageText
from rag_core.grounding.omissions.back import is_note_of, points_elsewhere, speaks_of_clause
from rag_core.grounding.units import Unit, edges_of, group_of, pages_of, raw_offset, text_of, units
from rag_core.ingest.normalise import cells, locate, read_passage_text
from rag_core.language import sentences

AROUND_CHARS = 300  # on each side, in whole sentences; chosen: four rows of a card
NOTHING = Around()
_MARK = regex.compile(r"#*\s*")  # opens a heading in Markdown


def around(
    evidence: Evidence, passage: Passage, page_text: PageText, known: Iterable[Passage] = ()
) -> tuple[Around, Around]:
    """The sentences before and behind a quote, as far as its passage goes and no heading stands between.

    At most `AROUND_CHARS` on each side, but one sentence at least. What leads in a list stands before its first item.
    Code has none. Of a row they are the caption above its table and the note below it, where these are among the
    `known` passages, else the rows beside it; the row that heads its group, where the evidence has it not.
    """
    if passage.kind is PassageKind.CODE:
        return NOTHING, NOTHING
    if passage.kind is PassageKind.TABLE:
        above, below = _beside_table(passage, known, page_text)
        row_above, row_below = _rows_beside(evidence, passage, page_text)
        return above or row_above, below or row_below
    pages = pages_of(passage.document, passage.spans, page_text)
    reading = read_passage_text(pages, passage.spans)
    quote = evidence.spans[0]
    first = raw_offset(passage.spans, quote)
    start, end = bisect_left(reading.starts, first), bisect_left(reading.starts, first + quote.end - quote.start)
    if start >= end:  # it does not stand in this passage
        return NOTHING, NOTHING
    edges = edges_of(passage, reading.starts)
    before, behind = list[tuple[int, int]](), list[tuple[int, int]]()
    lead = NOTHING
    for piece, (left, right) in zip(passage.parts, pairwise(edges), strict=True):
        if piece.role is Role.HEADING and not left <= start < right:
            if left >= end:
                break
            before = []
            continue
        if piece.lead and left <= start < right and not before:
            lead = _of(piece.lead, passage, page_text)
        low, high = max(left, end), min(right, start)
        before += [(left + one, left + other) for one, other in sentences(reading.text[left:high], passage.language)]
        behind += [(low + one, low + other) for one, other in sentences(reading.text[low:right], passage.language)]

    def told(some: list[tuple[int, int]]) -> Around:
        if not some:
            return NOTHING
        left, right = min(some)[0], max(some)[1]
        return Around(locate(pages, passage.spans, left, right), reading.text[left:right])

    return told(_near(reversed(before))) if before else lead, told(_near(behind))


def _near(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The first of these that fit together, and one at least."""
    kept: list[tuple[int, int]] = []
    for one in stretches:
        if kept and max(kept[0][1], one[1]) - min(kept[0][0], one[0]) > AROUND_CHARS:
            break
        kept.append(one)
    return kept


def further(
    sides: tuple[Around, Around], evidence: Evidence, near: Iterable[Passage], page_text: PageText
) -> tuple[Around, Around]:
    """Both `sides`, and where their section ends within `AROUND_CHARS`, what stands beyond it up to that length.

    What stands above the heading ("All of this is made up.") or below the next one may take back what is quoted. No
    table is entered.
    """
    before, after = sides
    stretches = sorted(
        {_at(one.spans[0]): (one, role) for of in near for one, role in _stretches(of, page_text)}.items()
    )
    first, last = (before.spans or evidence.spans)[0], (after.spans or evidence.spans)[-1]
    above = [one for _, one in reversed(stretches) if _end(one[0].spans[-1]) <= _at(first)]
    below = [one for at, one in stretches if at >= _end(last)]
    above = [*reversed(_fitting(above, AROUND_CHARS - len(before.text), up=True)), (before, Role.TEXT)]
    below = [(after, Role.TEXT), *_fitting(below, AROUND_CHARS - len(after.text), up=False)]
    document = evidence.document
    return _joined(above, document, page_text) or before, _joined(below, document, page_text) or after


def noted(sides: tuple[Around, Around], evidence: Evidence, near: Iterable[Passage], page_text: PageText) -> Around:
    """The text behind a quote, with the note that its mark points to, and what is said near by of its clause.

    Each is one sentence, of which there are no two. The note stands on the quote's page.
    """
    before, after = sides
    quote, page = cells(evidence.quote), evidence.spans[-1].page
    if not points_elsewhere(quote):
        return after
    stated = [unit for passage in near for unit in units(passage, page_text)]
    known = (quote, before.text, after.text)
    for found in (
        {one.text: one for one in stated if is_note_of(one.text, quote) and _spans(one, page_text)[0].page == page},
        {one.text: one for one in stated if speaks_of_clause(one.text, quote)},
    ):
        if len(found) == 1 and not any(text in said for text in found for said in known):
            (unit,) = found.values()
            told = Around(_spans(unit, page_text), unit.text)
            after = _joined([(after, Role.TEXT), (told, Role.HEADING)], evidence.document, page_text) or after
    return after


def _spans(unit: Unit, page_text: PageText) -> tuple[Span, ...]:
    return unit.evidence(page_text)[0].spans


def _stretches(passage: Passage, page_text: PageText) -> Iterator[tuple[Around, Role]]:
    """The sentences of a passage; headings and tables whole."""
    for piece in passage.pieces:
        whole = _of(piece.spans, passage, page_text)
        pages, running = pages_of(passage.document, piece.spans, page_text), piece.role in (Role.TEXT, Role.ITEM)
        for start, end in sentences(whole.text, passage.language) if running else [(0, len(whole.text))]:
            start += len(_MARK.match(whole.text)[0]) if piece.role is Role.HEADING else 0
            yield Around(locate(pages, piece.spans, start, end), whole.text[start:end]), piece.role


def _fitting(nearest: Iterable[tuple[Around, Role]], room: int, *, up: bool) -> list[tuple[Around, Role]]:
    """The nearest that have room together, up to the next table; no heading without what it heads."""
    kept, sentences_end = list[tuple[Around, Role]](), 0
    for one, role in nearest:
        room -= len(one.text)
        if room < 0 or role in (Role.ROWS, Role.CODE):
            break
        kept.append((one, role))
        sentences_end = sentences_end if role is Role.HEADING else len(kept)
    return kept if up and sentences_end else kept[:sentences_end]


def _joined(some: list[tuple[Around, Role]], document: str, page_text: PageText) -> Around | None:
    """All of it in its order, each heading on a line of its own; None where it reads otherwise as a whole."""
    some = [one for one in some if one[0].text]
    text, spans = "", tuple(span for one, _ in some for span in one.spans)
    for n, (one, role) in enumerate(some):
        text += (BREAK if n and Role.HEADING in (role, some[n - 1][1]) else " " * bool(n)) + one.text
    flowing = text_of(document, spans, page_text) if spans else ""
    return Around(spans, text) if text.replace(BREAK, " ") == flowing else None


def _beside_table(table: Passage, known: Iterable[Passage], page_text: PageText) -> tuple[Around | None, Around | None]:
    """The caption right above a table and the paragraph right below it, under its heading, on its pages."""
    here = [one for one in known if (one.document, one.section) == (table.document, table.section)]
    pieces = [piece for piece in table.pieces if piece.role is not Role.ROWS]
    pieces += [piece for one in here if one.id != table.id for piece in one.pieces]
    place = [(piece.role, piece.spans) for piece in pieces]
    first, last = _at(table.spans[0]), _at(table.spans[-1])
    above = [
        spans for role, spans in place if role is Role.CAPTION and _at(spans[0]) < first and spans[0].page == first[0]
    ]
    below = min(
        ((_at(spans[0]), role, spans) for role, spans in place if _at(spans[0]) > last and role is not Role.HEADING),
        default=None,
    )
    is_note = below is not None and below[0][0] == last[0] and below[1] in (Role.TEXT, Role.ITEM)
    note = _of(below[2], table, page_text) if below is not None and is_note else None
    caption = _of(max(above, key=lambda spans: _at(spans[0])), table, page_text) if above else None
    return caption, note if note and len(note.text) <= AROUND_CHARS else None


def _of(spans: tuple[Span, ...], passage: Passage, page_text: PageText) -> Around:
    return Around(spans, text_of(passage.document, spans, page_text))


def _at(span: Span) -> tuple[int, int]:
    return span.page, span.start


def _end(span: Span) -> tuple[int, int]:
    return span.page, span.end


def _rows_beside(evidence: Evidence, passage: Passage, page_text: PageText) -> tuple[Around, Around]:
    rows = [unit for unit in units(passage, page_text) if unit.spans]
    at = next((n for n, unit in enumerate(rows) if unit.spans[0] == evidence.spans[0]), None)
    if at is None:
        return NOTHING, NOTHING
    before, behind = (Around(rows[n].spans, rows[n].text) if 0 <= n < len(rows) else NOTHING for n in (at - 1, at + 1))
    group = rows[at].group
    if group and not any(span.holds(one) for span in evidence.spans for one in group):  # a language model's quote
        before = Around(group, group_of(rows[at], page_text))
    return before, behind
