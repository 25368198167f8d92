"""Citations as they are written in a text: `[1]`, `[Source 1]`, `[source:chunk_id]`."""

from __future__ import annotations

from typing import NamedTuple

import regex

_NUMBERS = r"(?:sources?\s+)?\d{1,3}(?:\s*[,;]\s*(?:sources?\s+)?\d{1,3})*"


CITATION = regex.compile(rf"\[\s*(?:(?P<numbers>{_NUMBERS})|source:\s*(?P<chunk>[^\[\]\n]+?))\s*\]", regex.IGNORECASE)


_MARK_AND_BLANK = regex.compile(rf"[ \t\u00A0]*(?:{CITATION.pattern})", regex.IGNORECASE)


class CitationMark(NamedTuple):
    """One reference; `source[start:end]` is its bracket, shared by several, `ref` the number or id."""

    start: int
    end: int
    ref: str


def citation_marks(text: str) -> list[CitationMark]:
    """Every citation of a text, in order: `[1]`, `[1, 2]`, `[1][2]`, `[Source 1]`, `[source:chunk_id]`."""
    return [
        CitationMark(match.start(), match.end(), ref)
        for match in CITATION.finditer(text)
        for ref in ([match["chunk"]] if match["chunk"] else regex.findall(r"\d+", match["numbers"]))
    ]


def strip_marks(text: str) -> str:
    """The text without its citations and the blank before each."""
    return str(_MARK_AND_BLANK.sub("", text))
