"""Joins sentences over the ends of pages and columns, and finds those of which only a part is there.

A footer, a footnote, a header, a figure or a table may stand between the two parts. A part of a sentence whose rest is
not found stays in its passage as context, and is never an answer. Place and final marks tell, no words: a list, a
heading or a table needs no final mark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from rag_core.domain.documents import Page
from rag_core.domain.passages import Role
from rag_core.ingest.blocks.rows import ends_sentence
from rag_core.ingest.passages.units import MAX_UNIT_CHARS, Unit
from rag_core.language import sentences, word_texts
from rag_core.language.bullets import BULLETS

MAX_PAGES_ON = 2  # a page that holds nothing but a figure or a table may stand between; chosen
SMALLER = 0.95  # times the font size of a sentence; smaller text between its parts is a note; chosen
LOW = 0.7  # part of a page's height, from which on its text may go on elsewhere though a heading follows; chosen
SEAM_CHARS = 300  # around the end of a page in which the end of a sentence is looked for; chosen
MARKED = 0.8  # part of the paragraphs that end in a mark, where one without goes on in a capital letter; chosen
SHORT_WORDS = 6  # at most in a line that need not be a sentence; chosen
LABEL_CHARS = 40  # before the colon of a label such as "Telephone: ..."; chosen

_MARK = re.compile(r"\w{1,4}[.)]\s")  # begins an item


def joined(found: Sequence[Unit], pages: Sequence[Page], language: str) -> list[Unit]:
    """The units in reading order, a sentence over a page's or column's end in one, a part of a sentence marked."""
    seams = _Seams(found, pages, language)
    out: list[Unit] = []
    for unit in found:
        at = seams.beginning(out, unit)
        if at is None:
            out.append(replace(unit, headless=seams.is_headless(out, unit)))
        else:
            out[at] = replace(out[at], spans=out[at].spans + unit.spans, setting=unit.setting)
    return [replace(unit, endless=True) if seams.is_endless(out, index) else unit for index, unit in enumerate(out)]


class _Seams:
    """The signs by which sentences of a document end and go on, read from all of its units."""

    def __init__(self, found: Sequence[Unit], pages: Sequence[Page], language: str) -> None:
        self._texts: Mapping[int, str] = {page.number: page.text for page in pages}
        self._heights = {page.number: page.height for page in pages}
        self._language = language
        prose = [unit for unit in found if unit.role is Role.TEXT]
        closed = sum(map(self._is_closed, prose))
        # how often text ends in a mark; the one that is asked about does not
        self._marked = closed / max(1, len(prose) - 1, closed)

    def beginning(self, before: Sequence[Unit], unit: Unit) -> int | None:
        """The index of the unit whose last sentence goes on in this one; None where there is none."""
        if unit.role is not Role.TEXT or unit.headings:
            return None
        lower = self._starts_within(unit)
        for index in reversed(range(len(before))):
            other = before[index]
            if unit.spans[0].page - other.spans[-1].page > MAX_PAGES_ON:
                return None
            if not self._is_float(other, unit):
                return index if self._runs_on(other, unit, lower, index < len(before) - 1) else None
            if other.headings:
                return None
        return None

    def _runs_on(self, unit: Unit, following: Unit, lower: bool, floats: bool) -> bool:
        chars = sum(span.end - span.start for span in unit.spans)
        if unit.setting.size != following.setting.size or chars > MAX_UNIT_CHARS:
            return False
        parted, closed = _parted(unit, following), self._is_closed(unit)
        if lower:
            return (parted or (floats and not closed)) and not (closed and self._is_seam(unit, following))
        if not parted or closed or not self._is_prose(unit) or self._is_label(following):
            return False
        last = self._text(unit)[-SEAM_CHARS:]
        if self._text(following)[0].isupper():
            *_, (start, end) = sentences(last, self._language)
            last = last[start:end] if self._marked >= MARKED else ""
        return len(list(word_texts(last))) > SHORT_WORDS

    def is_headless(self, before: Sequence[Unit], unit: Unit) -> bool:
        """Whether a unit that goes on with none begins within a sentence, at the head of a page or column."""
        if unit.headings or not self._is_prose(unit) or not self._starts_within(unit):
            return False
        last = next((other for other in reversed(before) if not self._is_float(other, unit)), None)
        return last is None or _parted(last, unit)

    def is_endless(self, units: Sequence[Unit], index: int) -> bool:
        """Whether the last sentence of a unit breaks off at the foot of a page or column."""
        unit = units[index]
        if not self._is_prose(unit) or self._is_closed(unit):
            return False
        rest = islice(units, index + 1, None)
        following = next((one for one in rest if one.headings or not self._is_float(one, unit)), None)
        if following and not _parted(unit, following):
            return False
        low = unit.setting.low >= LOW * self._heights[unit.spans[-1].page]
        return low or bool(following and following.role is Role.TEXT and not following.headings)

    def _is_seam(self, unit: Unit, following: Unit) -> bool:
        """Whether a sentence ends where a unit does; the stop of an abbreviation ends none."""
        before = self._text(unit)[-SEAM_CHARS:]
        after = self._text(following)[:SEAM_CHARS]
        found = sentences(f"{before}\n{after[0].upper()}{after[1:]}", self._language)  # as if it began one
        return not any(start < len(before) < end for start, end in found)

    def _is_prose(self, unit: Unit) -> bool:
        setting = unit.setting
        marked = self._marked >= 0.5 and setting.size > 0 and not setting.mono
        return marked and unit.role is Role.TEXT and not self._is_label(unit) and self._text(unit)[0] not in BULLETS

    def _is_float(self, unit: Unit, beside: Unit) -> bool:
        """Whether text may go on around a unit: a figure's or table's, a note's, a label's."""
        if unit.role not in (Role.TEXT, Role.ITEM) or unit.setting.size < SMALLER * beside.setting.size:
            return True
        return unit.role is Role.TEXT and self._is_label(unit) and not self._is_closed(unit)

    def _starts_within(self, unit: Unit) -> bool:
        """Whether a unit starts in lower case, as the rest of a sentence does; "iPhones" and "ii." do not."""
        text = self._text(unit)
        return text[0].islower() and text[:2].islower() and not _MARK.match(text)

    def _is_closed(self, unit: Unit) -> bool:
        return ends_sentence(self._text(unit))

    def _is_label(self, unit: Unit) -> bool:
        return ":" in self._text(unit)[:LABEL_CHARS]

    def _text(self, unit: Unit) -> str:
        last = unit.spans[-1]
        return self._texts[last.page][last.start : last.end]


def _parted(unit: Unit, following: Unit) -> bool:
    if unit.spans[-1].page != following.spans[0].page:
        return True
    return unit.setting is not following.setting and following.setting.top < unit.setting.low
