"""A version of a library with documents behind it that wait for their vectors: shared words find all of it, a cosine
what has a vector.

Nothing stands in for a vector that is missing. A question has those made that it needs: of the passages that its words
bring first.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rag_core.domain.indexing import Indexing
from rag_core.domain.passages import Passage
from rag_core.domain.ports import Embedder, LexicalStore, VectorIndex, Vectors, Waiting
from rag_core.library.indexing.embedding import vectors_of
from rag_core.library.stored.entry import Entry
from rag_core.library.stored.packed import Passages
from rag_core.library.stored.snapshot import Snapshot

# passages that are embedded for one question, in one request: as many as a short one may have, which goes before the
# job's
MAX_NOW = 12


class WaitingDocument:
    """A document that waits for its vectors, or of which only the first pages are read.

    Safe to share between threads: a vector never changes once it is there.

    Args:
        entry: the document, as far as it is read.
        title: as it is embedded with the passages.
        passages: at least one.
        terms: of each passage.
        pages: how many it has in all, where it is still being read; else 0.
    """

    def __init__(
        self, entry: Entry, title: str, passages: Sequence[Passage], terms: Sequence[Sequence[str]], pages: int = 0
    ) -> None:
        self.entry, self.title, self.passages, self.terms, self.pages = entry, title, tuple(passages), terms, pages
        self._vectors: Vectors | None = None
        self._known = np.zeros(len(self.passages), dtype=bool)
        self._lock = threading.Lock()

    @property
    def id(self) -> str:
        """The document's id."""
        return self.entry.document.id

    def put(self, places: Sequence[int], vectors: Vectors) -> None:
        """Take the vectors of the passages at these places; those that are there stay."""
        with self._lock:
            if self._vectors is None:
                self._vectors = np.zeros((len(self.passages), vectors.shape[1]), dtype=np.float32)
            new = [(at, place) for at, place in enumerate(places) if not self._known[place]]
            for at, place in new:
                self._vectors[place] = vectors[at]
                self._known[place] = True

    def known(self) -> NDArray[np.bool_]:
        """For each passage whether its vector is there."""
        with self._lock:
            return self._known.copy()

    def vectors(self, places: Sequence[int]) -> Vectors:
        """The vectors at these places, which are there."""
        assert self._vectors is not None
        return self._vectors[list(places)]


class EarlyVectors:
    """A `VectorIndex` of which the last rows, those of the waiting documents, may lack vectors.

    A row without one is never found.

    Args:
        published: the index of the version.
        first: the first row that waits: as many as the version has.
        documents: that wait, at least one.
        known: which of their rows count as having a vector; None for those that have one when it is asked.
    """

    def __init__(
        self,
        published: VectorIndex,
        first: int,
        documents: Sequence[WaitingDocument],
        known: NDArray[np.bool_] | None = None,
    ) -> None:
        self.first, self.documents, self._published, self._known = first, documents, published, known

    @property
    def known(self) -> NDArray[np.bool_]:
        """For each row that waits whether it counts as having a vector."""
        return np.concatenate([one.known() for one in self.documents]) if self._known is None else self._known

    def held(self) -> EarlyVectors:
        """The same, with the vectors of now and no others."""
        return EarlyVectors(self._published, self.first, self.documents, self.known)

    def search(self, vector: Vectors, k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        """At most k (row, cosine) of rows that have a vector, best first, ties by row; only rows in `allowed` when
        given.
        """
        published = None if allowed is None else [row for row in allowed if row < self.first]
        rows = self.first + np.flatnonzero(self.known)
        if allowed is not None:
            rows = rows[np.isin(rows, np.asarray(allowed, dtype=np.int64))]
        found = self._published.search(vector, k, published) if self.first else []
        if len(rows):
            cosines = np.clip(self._waiting(rows.tolist()) @ vector, -1.0, 1.0)
            found = [*found, *zip(rows.tolist(), cosines.tolist(), strict=True)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[: max(k, 0)]

    def vectors(self, rows: Sequence[int]) -> Vectors:
        """The vectors of these rows, shape (len(rows), dim).

        Raises:
            ValueError: one of them has none yet.
        """
        waiting = [row for row in rows if row >= self.first]
        known = self.known
        if missing := [row for row in waiting if not known[row - self.first]]:
            raise ValueError(f"row {missing[0]} has no vector yet")
        published = [row for row in rows if row < self.first]
        if not waiting:
            return self._published.vectors(published)
        own = self._waiting(waiting)
        found = np.zeros((len(rows), own.shape[1]), dtype=np.float32)
        late = np.asarray(rows) >= self.first
        found[late] = own
        if published:
            found[~late] = self._published.vectors(published)
        return found

    def _waiting(self, rows: Sequence[int]) -> Vectors:
        """The vectors of these rows, which wait and have one."""
        parts = [(at, document.vectors([place])) for at, document, place in self.places(rows)]
        found = np.zeros((len(rows), parts[0][1].shape[1]), dtype=np.float32)
        for at, vector in parts:
            found[at] = vector
        return found

    def places(self, rows: Sequence[int]) -> Iterator[tuple[int, WaitingDocument, int]]:
        """For each of these rows, which wait: its number among them, its document, and its place there."""
        ends = np.cumsum([len(one.passages) for one in self.documents])
        offsets = np.asarray(rows, dtype=np.int64) - self.first
        for at, (offset, number) in enumerate(
            zip(offsets.tolist(), np.searchsorted(ends, offsets, side="right").tolist(), strict=True)
        ):
            document = self.documents[number]
            yield at, document, offset - int(ends[number]) + len(document.passages)


@dataclass(frozen=True, eq=False)
class EarlySnapshot(Snapshot):
    """A version with documents behind it that wait; it is its own `Waiting`."""

    vectors: EarlyVectors
    embedder: Embedder = field(kw_only=True, repr=False)

    @property
    def waiting(self) -> Waiting:
        """See `Waiting`."""
        return self

    def indexing(self, rows: Sequence[int] | None) -> Indexing | None:
        """See `Waiting.indexing`. A document counts while it is being read, or any of its passages lacks a vector."""
        known, ranges = self.vectors.known, self.passages.ranges
        first, ends, published = (
            self.vectors.first,
            [one.stop for one in ranges],
            len(ranges) - len(self.vectors.documents),
        )
        searched = (
            range(len(ranges)) if rows is None else sorted(set(np.searchsorted(ends, rows, side="right").tolist()))
        )
        own = [
            (self.vectors.documents[at - published], known[ranges[at].start - first : ranges[at].stop - first])
            for at in searched
            if at >= published
        ]
        missing = [(one, known) for one, known in own if one.pages or not known.all()]
        if not missing:
            return None
        passages, embedded = sum(len(known) for _, known in missing), sum(int(known.sum()) for _, known in missing)
        reading = [one for one, _ in missing if one.pages]
        return Indexing(
            len(missing),
            len(searched),
            passages,
            embedded,
            pages=sum(one.pages for one in reading),
            read=sum(one.entry.document.page_count for one in reading),
            reading=len(reading) if len(reading) < len(missing) else 0,
        )

    def embedded(self, rows: Sequence[int]) -> EarlySnapshot:
        """See `Waiting.embedded`: of the first `MAX_NOW` rows, so that a question that is asked again finds no others
        than before.
        """
        known, first = self.vectors.known, self.vectors.first
        lacking = [row for row in dict.fromkeys(rows[:MAX_NOW]) if row >= first and not known[row - first]]
        if lacking:
            places = list(self.vectors.places(lacking))
            titled = [(document.title, document.passages[place]) for _, document, place in places]
            made = vectors_of(self.embedder, titled, "a question", None, None, batch=MAX_NOW)
            for at, document, place in places:
                document.put([place], made[at : at + 1])
        return replace(self, vectors=self.vectors.held())

    def with_vectors(self, rows: Sequence[int] | None) -> list[int]:
        """See `Waiting.with_vectors`."""
        known, first = self.vectors.known, self.vectors.first
        every = range(len(self.passages)) if rows is None else sorted(set(rows))
        return [row for row in every if row < first or known[row - first]]


def early(
    published: Snapshot, documents: Sequence[WaitingDocument], lexical: LexicalStore, embedder: Embedder
) -> EarlySnapshot:
    """The version with these documents behind it.

    Its number is that of the published version.
    """
    first, terms = len(published.passages), [row for one in documents for row in one.terms]
    words = lexical.spliced(published.lexical, [range(first), terms]) if first else lexical.build(terms)
    passages = Passages([*published.passages.groups, *(one.passages for one in documents)])
    vectors = EarlyVectors(published.vectors, first, documents)
    entries = (*published.entries, *(one.entry for one in documents))
    return EarlySnapshot(published.version, passages, vectors, words, entries, published.file, embedder=embedder)
