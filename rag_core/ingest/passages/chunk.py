"""Makes passages of blocks. What belongs together stays together, as long as the embedding model can read all of it.

Sizes are counted in the model's own tokens, those of the context line included; a passage that the model would cut off
is never made.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from rag_core.domain.documents import Page, PageSource, Span
from rag_core.domain.passages import Passage, PassageKind, Piece
from rag_core.domain.ports import Cancel, Embedder
from rag_core.errors import Cancelled, InvalidSetting, LimitExceeded
from rag_core.ingest.blocks.structure import blocks
from rag_core.ingest.normalise import read_passage_text
from rag_core.ingest.passages.context import context, embedding_text, section_path
from rag_core.ingest.passages.seams import joined
from rag_core.ingest.passages.strategies import Strategy
from rag_core.ingest.passages.units import COUNT_BATCH, Atom, Counter, Unit, batches, counted, parted, sizes_of, units

SMALL_TOKENS = 25  # a passage below this says too little to be found by, and joins a neighbour
MIN_TOKENS = 32  # the smallest limit a user can set: a sentence
MAX_PASSAGES = 20_000  # one document; 2,000 pages make about 7,000. Each takes about 10 KB until it is in the index
FEWER = "Split the file into parts, or index it with larger passages."
# tokens for the text however long the context; if that is too much for the model, the final check parts the passage
MIN_ROOM = 16

_TEXT = (PassageKind.PARAGRAPH, PassageKind.LIST)
Room = Callable[[Unit], int]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A passage that may still be joined or parted. `room` is how many tokens of text fit beside its context."""

    kind: PassageKind
    section: tuple[str, ...]
    header: tuple[Span, ...]
    atoms: tuple[Atom, ...]
    room: int

    @property
    def tokens(self) -> int:
        return sum(atom.tokens for atom in self.atoms)


def chunk(
    document_id: str,
    pages: Sequence[Page],
    *,
    language: str,
    title: str,
    strategy: Strategy,
    embedder: Embedder,
    max_tokens: int | None = None,
    overlap_tokens: int = 50,
    max_passages: int = MAX_PASSAGES,
    cancelled: Cancel | None = None,
) -> list[Passage]:
    """Cut a document into passages in reading order; every visible character outside the boilerplate lies in at least
    one.

    Args:
        document_id: its first 12 hex digits (of `sha256:<hex>`), or all of it, start the passages' ids.
        pages: in order.
        language: ISO 639-1 or "und".
        title: as it will be given to `embedding_text`.
        strategy: how to cut.
        embedder: counts the tokens and says how many it reads.
        max_tokens: of a passage with its context line, special tokens included; None for the strategy's own size. The
            model's limit holds anyway.
        overlap_tokens: at most so many are repeated, in whole sentences.
        max_passages: of the document.
        cancelled: read between batches.

    Raises:
        Cancelled: the user stopped it.
        LimitExceeded: it makes more than `max_passages`.
        InvalidSetting: `max_tokens` is too small for a sentence or a context line, or `overlap_tokens` is negative.
    """
    limit = min(strategy.max_tokens if max_tokens is None else max_tokens, embedder.max_tokens)
    if limit < MIN_TOKENS or overlap_tokens < 0:
        raise InvalidSetting(
            f"Passages of at most {limit} tokens with an overlap of {overlap_tokens} cannot be made.",
            remedy=f"Choose a size of at least {MIN_TOKENS} tokens and an overlap of at least 0.",
        )
    special = embedder.count_tokens([""])[0]
    count = _counter(embedder, special, cancelled)
    texts = {page.number: page.text for page in pages}
    found = joined(units(blocks(pages, language), texts, by_definition=strategy.by_definition), pages, language)
    room = _room(found, texts, title, limit - special, count)
    flows = groupby(counted(found, texts, language, count, room), key=_flow)
    drafts = (draft for _, flow in flows for draft in _Packer(strategy, overlap_tokens).packed(flow, room))
    maker = _Maker(document_id, pages, texts, language)
    prefix = document_id.removeprefix("sha256:")[:12] if document_id.startswith("sha256:") else document_id
    passages: list[Passage] = []
    for passage in _settled(_joined(drafts), maker, title, limit - special, count):
        if len(passages) == max_passages:
            raise LimitExceeded(
                f"The file makes more than {max_passages:,} passages (on page {passage.page:,}).", remedy=FEWER
            )
        passages.append(replace(passage, id=f"{prefix}:{len(passages):05d}", tokens=passage.tokens + special))
    return passages


def _counter(embedder: Embedder, special: int, cancelled: Cancel | None) -> Counter:
    def count(texts: Sequence[str]) -> list[int]:
        if cancelled is not None and cancelled():
            raise Cancelled("Indexing was stopped.", remedy="Index the file again to go on; nothing was stored.")
        return [tokens - special for tokens in embedder.count_tokens(texts)]

    return count


def _room(found: Sequence[Unit], texts: Mapping[int, str], title: str, limit: int, count: Counter) -> Room:
    """How many tokens of text fit beside the context of a unit."""
    lines = {
        (unit.section, unit.header): context(title, section_path(unit.section), _reading(texts, unit.header))
        for unit in found
    }
    distinct = sorted(set(lines.values()))
    sizes = dict(zip(distinct, sizes_of(distinct, count), strict=True))
    return lambda unit: max(MIN_ROOM, limit - sizes[lines[unit.section, unit.header]])


def _reading(texts: Mapping[int, str], spans: Sequence[Span]) -> str:
    return read_passage_text(texts, spans).text if spans else ""


def _flow(unit: Unit) -> tuple[object, ...]:
    kind = PassageKind.PARAGRAPH if unit.kind in _TEXT else unit.kind
    return unit.section, kind, unit.spans if kind is PassageKind.TABLE else ()


class _Packer:
    """Fills passages with whole units; only a unit that is larger than a passage is cut, between its atoms."""

    def __init__(self, strategy: Strategy, overlap: int) -> None:
        self._strategy, self._overlap = strategy, overlap
        self._atoms: list[Atom] = []
        self._kinds: set[PassageKind] = set()
        self._size = 0

    def packed(self, flow: Iterator[Unit], room_of: Room) -> Iterator[_Draft]:
        first = next(flow)
        room = room_of(first)
        overlap = self._overlap if first.kind in _TEXT else 0
        for unit in chain([first], flow):
            total = sum(atom.tokens for atom in unit.atoms)
            if self._kinds and self._is_full(total, room):
                yield self._draft(first, room)
                left = room - (total if total <= room else unit.atoms[0].tokens)
                self._restart(min(overlap if self._strategy.overlap else 0, left))
            for atom in unit.atoms:
                if self._kinds and self._size + atom.tokens > room:
                    yield self._draft(first, room)
                    self._restart(min(overlap, room - atom.tokens))
                self._atoms.append(atom)
                self._kinds.add(unit.kind)
                self._size += atom.tokens
        yield self._draft(first, room)

    def _is_full(self, following: int, room: int) -> bool:
        """Whether the next unit starts a new passage; one that must be cut anyway may fill up less than a half."""
        too_much = self._size + following > room and (following <= room or self._size > room // 2)
        return too_much or self._size >= self._strategy.fill_tokens

    def _restart(self, overlap: int) -> None:
        self._atoms = _tail(self._atoms, overlap)
        self._kinds = set()
        self._size = sum(atom.tokens for atom in self._atoms)

    def _draft(self, first: Unit, room: int) -> _Draft:
        kind = next(iter(self._kinds)) if len(self._kinds) == 1 else first.kind
        return _Draft(kind, first.section, first.header, tuple(self._atoms), room)


def _tail(atoms: Sequence[Atom], limit: int) -> list[Atom]:
    """The last whole sentences with at most `limit` tokens together, never all of them."""
    start, total = len(atoms), 0
    while start > 1 and atoms[start - 1].whole and total + atoms[start - 1].tokens <= limit:
        start -= 1
        total += atoms[start].tokens
    return list(atoms[start:])


def _joined(drafts: Iterable[_Draft]) -> Iterator[_Draft]:
    """Very small drafts joined to the one before, or else after, of the same section, where it fits."""
    last: _Draft | None = None
    for draft in drafts:
        both = _both(last, draft) if last and min(last.tokens, draft.tokens) < SMALL_TOKENS else None
        if last and not both:
            yield last
        last = both or draft
    if last:
        yield last


def _both(draft: _Draft, following: _Draft) -> _Draft | None:
    larger = max(draft, following, key=lambda each: each.tokens)
    atoms = draft.atoms + tuple(atom for atom in following.atoms if atom not in draft.atoms)
    headers = {each.header for each in (draft, following) if each.kind is PassageKind.TABLE}
    # a sentence is no row, nor has it a header
    beside = draft.kind is not following.kind and PassageKind.TABLE in (draft.kind, following.kind)
    too_large = sum(atom.tokens for atom in atoms) > min(draft.room, following.room)
    if draft.section != following.section or beside or too_large or len(headers) > 1:
        return None
    return replace(larger, atoms=atoms, header=headers.pop() if headers else (), room=min(draft.room, following.room))


class _Maker:
    """Makes passages of drafts. Their ids come last, when it is certain which there are."""

    def __init__(self, document: str, pages: Sequence[Page], texts: Mapping[int, str], language: str) -> None:
        self._document, self._texts, self._language = document, texts, language
        self._ocr = {page.number for page in pages if page.source is PageSource.OCR}
        self._breaks: dict[int, list[int]] = {}

    def passage(self, draft: _Draft) -> Passage | None:
        """The passage of a draft; None when it holds nothing that can be read."""
        spans = self._merged(span for atom in draft.atoms for span in atom.spans)
        text = read_passage_text(self._texts, spans).text
        if not text:
            return None
        first = [span for span in spans if span.page == spans[0].page]
        lines = (self._line(first[0].page, first[0].start), self._line(first[0].page, first[-1].end))
        return Passage(
            id="",
            document=self._document,
            text=text,
            spans=spans,
            language=self._language,
            section=section_path(draft.section),
            kind=draft.kind,
            lines=lines,
            ocr=any(span.page in self._ocr for span in spans),
            header=draft.header,
            header_text=_reading(self._texts, draft.header),
            pieces=tuple(self._pieces(draft)),
        )

    def _pieces(self, draft: _Draft) -> Iterator[Piece]:
        for _, group in groupby(draft.atoms, key=lambda atom: atom.piece):
            atoms = list(group)
            yield Piece(atoms[0].role, self._merged(span for atom in atoms for span in atom.spans), atoms[0].lead)

    def halves(self, draft: _Draft, count: Counter) -> list[_Draft]:
        """Two drafts, together the given one; a single atom is parted first."""
        atoms = draft.atoms
        if len(atoms) == 1:
            atoms = tuple(parted(atoms[0], self._texts, count, max(1, atoms[0].tokens // 2)))
        if len(atoms) == 1:
            raise InvalidSetting(
                "The title and section leave no room for the text of a passage.",
                remedy="Choose a larger size, or a shorter title.",
            )
        middle = len(atoms) // 2
        return [replace(draft, atoms=atoms[:middle]), replace(draft, atoms=atoms[middle:])]

    def _merged(self, spans: Iterator[Span]) -> tuple[Span, ...]:
        out: list[Span] = []
        for span in spans:
            last = out[-1] if out and out[-1].page == span.page and out[-1].end <= span.start else None
            if last and not self._texts[span.page][last.end : span.start].strip():
                span = Span(span.page, out.pop().start, span.end)
            out.append(span)
        return tuple(out)

    def _line(self, page: int, offset: int) -> int:
        if page not in self._breaks:
            self._breaks[page] = [match.start() for match in re.finditer("\n", self._texts[page])]
        return bisect_left(self._breaks[page], offset) + 1


def _settled(drafts: Iterable[_Draft], maker: _Maker, title: str, limit: int, count: Counter) -> Iterator[Passage]:
    """The passages of these drafts, each counted as it is embedded: tokens of parts do not always add up.

    What is too large is halved.
    """
    made = ((draft, passage) for draft in drafts if (passage := maker.passage(draft)))
    for batch in batches(made, lambda _: 1, COUNT_BATCH):
        sizes = sizes_of([embedding_text(passage, title) for _, passage in batch], count)
        for (draft, passage), size in zip(batch, sizes, strict=True):
            if size <= limit:
                yield replace(passage, tokens=size)
            else:
                yield from _settled(maker.halves(draft, count), maker, title, limit, count)
