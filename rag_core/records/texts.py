"""The texts of a record: their hashes, the pieces of other texts that they are made of, and the texts again from the
pages.

The claim of a table's row with its header is made of cells, so it is kept as stretches of those. What a model wrote in
words of its own stands on no page: the record has its hash, and the text is kept apart from it, by that hash, for as
long as it may be kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rag_core.domain.claims import DELETED as DELETED
from rag_core.domain.documents import Span
from rag_core.domain.passages import Passage
from rag_core.domain.ports import PageText
from rag_core.errors import RagError
from rag_core.ingest.normalise import read_passage_text
from rag_core.language import ascii_digits, fold

PassageOf = Callable[[str, str], Passage | None]  # (document id, passage id) -> the passage of the library as it is now
Row = Mapping[str, Any]  # a passage, a claim, or its evidence
Parts = list[Any]  # the parts of a text: [source, start, end], or a joint as it is
OwnWords = dict[str, str]  # what a model wrote, by the hash of it

_TOKEN = re.compile(r"\s+|[|,;:]|[^\s|,;:]+")
_JOINT = re.compile(r"[\s|,;:]+")  # what parts of a composed text are joined by
_MAX_PARTS = 200  # parts of a composed text; chosen: an extract has about ten


def sources(passages: Iterable[Row], evidence: Iterable[Row]) -> list[str]:
    """The texts that a claim's text may be made of, in an order that both ways agree on."""
    return [
        *(text for passage in passages for text in (passage["text"], passage["header_text"])),
        *(one["quote"] for one in evidence),
    ]


def quoted(claim: Row) -> list[str]:
    """The words of a claim that a check may quote."""
    refs = (DELETED if ref.startswith(DELETED) else f"no quote from {ref}" for ref in claim["cited"])
    return [*(one["quote"] for one in claim["evidence"]), claim["text"], *refs]


def stated(claim: Row) -> list[str]:
    """The words that may stand in a changed fact: of the claim or its evidence, also folded, and ours."""
    texts = [claim["text"], *(one["quote"] for one in claim["evidence"])]
    return [*texts, *(text if text == DELETED else ascii_digits(fold(text)) for text in texts), "without negation"]


def parts(text: str, sources: Sequence[str]) -> Parts | None:
    """The text as stretches of its sources, each as long as can be, and joints between them, or None."""
    tokens = _TOKEN.findall(text)
    found: Parts = []
    at = 0
    while at < len(tokens):
        stretch, used = _longest(tokens[at:], sources)
        if stretch is None:
            if not _JOINT.fullmatch(tokens[at]):
                return None
            stretch, used = tokens[at], 1
        found.append(stretch)
        at += used
        if len(found) > _MAX_PARTS:
            return None
    return found


def parts_or_hash(text: str, sources: Sequence[str], own: OwnWords) -> Parts | str:
    """The text as parts of its sources; where it is in words of its own its hash, and the text goes into `own`."""
    found = parts(text, sources)
    if found is not None:
        return found
    own[hashed := hash_of(text)] = text
    return hashed


def hash_own(text: str, own: OwnWords) -> str:
    """The hash of a text that is in a model's own words; the text goes into `own`. Empty for an empty one."""
    if text:
        own[hash_of(text)] = text
    return hash_of(text)


def _longest(tokens: Sequence[str], sources: Sequence[str]) -> tuple[list[int] | None, int]:
    """Where the most of these tokens stand together in a source, as [source, start, end], and how many."""
    whole = "".join(tokens)
    for number, source in enumerate(sources):
        if (start := source.find(whole)) >= 0:
            return [number, start, start + len(whole)], len(tokens)
    best: list[int] | None = None
    count = 0
    for number, source in enumerate(sources):
        while count < len(tokens) and (start := source.find(more := "".join(tokens[: count + 1]))) >= 0:
            best, count = [number, start, start + len(more)], count + 1
    return best, count


def hash_of(text: str) -> str:
    """Half of a SHA-256, in hex digits; empty for an empty text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32] if text else ""


def joined(parts: Parts | None, sources: Sequence[str]) -> str:
    """The text of these parts; `DELETED` where a source is."""
    if parts is None or any(not isinstance(part, str) and sources[part[0]] == DELETED for part in parts):
        return DELETED
    return "".join(part if isinstance(part, str) else sources[part[0]][part[1] : part[2]] for part in parts)


class Texts:
    """Reads texts again, compares them with their hashes, and remembers them; `own` are a model's words."""

    def __init__(
        self, page_text: PageText | None, passage_of: PassageOf | None, own: Mapping[str, str] | None = None
    ) -> None:
        self._page_text = page_text
        self._passage_of = passage_of
        self._own = own or {}
        self._pages: dict[tuple[str, int], str] = {}
        self._readings: dict[tuple[str, tuple[Span, ...]], str] = {}

    def own(self, wanted: str) -> str:
        """The text that a model wrote, by its hash."""
        return same(self._own.get(wanted, ""), wanted)

    def parts(self, row: Parts | str | None, sources: Sequence[str]) -> str:
        return self.own(row) if isinstance(row, str) else joined(row, sources)

    def quote(self, document: str, spans: Sequence[Span], wanted: str) -> str:
        """The raw text at the first of the spans."""
        return same(self.raw(document, spans) if wanted else "", wanted)

    def raw(self, document: str, spans: Sequence[Span]) -> str:
        """The raw text at the first of the spans as the page is now; empty where it is gone."""
        if self._page_text is None or not spans:
            return ""
        first = spans[0]
        return self._page(document, first.page)[first.start : first.end]

    def reading(self, document: str, spans: Sequence[Span], wanted: str) -> str:
        """The reading form of the text at the spans."""
        if not wanted or self._page_text is None or not spans:
            return same("", wanted)
        key = document, tuple(spans)
        if key not in self._readings:
            pages = {span.page: self._page(document, span.page) for span in spans}
            self._readings[key] = read_passage_text(pages, spans).text
        return same(self._readings[key], wanted)

    def section(self, document: str, passage: str, wanted: str) -> str:
        """The section title that the library's passage has now, if it is the one; empty otherwise."""
        if not wanted or self._passage_of is None:
            return ""
        try:
            found = self._passage_of(document, passage)
        except RagError:  # deleted since
            found = None
        return found.section if found is not None and hash_of(found.section) == wanted else ""

    def _page(self, document: str, page: int) -> str:
        key = document, page
        if key not in self._pages:
            assert self._page_text is not None
            try:
                self._pages[key] = self._page_text(document, page)
            except RagError:  # deleted since, or its file is damaged: opening the library says so
                self._pages[key] = ""
        return self._pages[key]


def same(text: str, wanted: str) -> str:
    """The text if it has this hash, `DELETED` otherwise."""
    return text if hash_of(text) == wanted else DELETED
