"""Lists of what stands in a document, each with its page: its headings, dates, amounts and names. An extract: nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rag_core.domain.documents import Document, Span
from rag_core.facts.differences.values import values
from rag_core.facts.sentence.names import names
from rag_core.ingest.passages.context import SECTION_MARK
from rag_core.library.stored.snapshot import Snapshot

MAX_PAGES = 300  # that are read for a list; 20 ms each
MAX_ROWS = 1_000  # that a list has; nobody reads more
STEP = "\u2003"  # an em space for each level of a heading
_Stretches = Callable[[str, str], Iterator[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list: its page, its text as it stands there, and its place in the page's text; None for a heading."""

    page: int
    text: str
    span: Span | None = None


def listed(snapshot: Snapshot, document: Document, kind: str) -> tuple[Row, ...]:
    """The rows of one of `KINDS`, in reading order.

    Raises:
        RagError: the document was deleted meanwhile, or is damaged on disk.
    """
    if kind == "outline":
        return _outline(snapshot, document)
    rows: list[Row] = []
    for page in range(1, min(document.page_count, MAX_PAGES) + 1):
        text = snapshot.page_text(document.id, page)
        rows += [
            Row(page, " ".join(text[start:end].split()), Span(page, start, end)) for start, end in _FINDS[kind](text, document.language)
        ]
        if len(rows) >= MAX_ROWS:
            break
    return tuple(rows[:MAX_ROWS])


def _outline(snapshot: Snapshot, document: Document) -> tuple[Row, ...]:
    """Headings as reading found them, each once, set in by its level, with the page where what it heads begins."""
    seen: dict[str, Row] = {}
    for passage in snapshot.passages_of(document.id):
        parts = passage.section.split(SECTION_MARK) if passage.section else []
        for level, part in enumerate(parts):
            seen.setdefault(SECTION_MARK.join(parts[: level + 1]), Row(passage.page, STEP * level + part))
    return tuple(seen.values())[:MAX_ROWS]


def _dates(text: str, language: str) -> Iterator[tuple[int, int]]:
    yield from ((date.start, date.end) for date in values(text, language).dates)


def _amounts(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Numbers with a unit: money, per cent, lengths, times."""
    yield from ((amount.start, amount.end) for amount in values(text, language).quantities if amount.unit)


def _names(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Names of two words and more: one word with a capital may be anything."""
    for name in names(text, language, values(text, language).spans):
        if len(name.text.split()) > 1:
            yield name.start, name.end


_FINDS: Mapping[str, _Stretches] = {"dates": _dates, "amounts": _amounts, "names": _names}
KINDS = ("outline", *_FINDS)
