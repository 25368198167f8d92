"""The word index of a store that keeps its rows in a database: for each term the passages that hold it, and what it
adds to their scores.

These parts are worked out when a version is built. A question fetches those of its own terms and adds them up here, in
the order and the arithmetic of `words.py`: equal numbers, equal decisions. Each version of a collection has its own
postings.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag_core.adapters.index.apart import damaged, others, owner, read_head, write_head
from rag_core.adapters.index.bm25 import Bm25Index, Bm25Store
from rag_core.adapters.index.words import best_rows, idf
from rag_core.domain.ports import LexicalIndex
from rag_core.errors import LibraryDamaged

KEPT_TERMS = 256  # postings kept in memory: one question asks for the same few terms several times
Postings = tuple[NDArray[np.int32], NDArray[np.float32]]  # rows, ascending, and parts of scores; of equal length
NONE: Postings = (np.zeros(0, np.int32), np.zeros(0, np.float32))


class WordTable(Protocol):
    """Postings in a database.

    Every method raises `StoreUnavailable` where it cannot be asked; a change is made whole or not at all.
    """

    def put_words(self, collection: str, version: str, postings: Sequence[tuple[str, Postings]]) -> None:
        """Store a version's postings."""
        ...

    def fetch_words(self, collection: str, version: str, terms: Sequence[str]) -> Mapping[str, Postings]:
        """The postings of these terms, as far as the version holds them."""
        ...

    def terms(self, collection: str, version: str) -> Collection[str]:
        """All terms of a version."""
        ...

    def keep_words(self, collection: str, versions: Collection[str]) -> None:
        """Delete the postings of all other versions of the collection."""
        ...


class ApartWords:
    """A `LexicalIndex` whose postings are in a database; until it is saved they are here. Threads may share it."""

    def __init__(
        self, rows: int, table: WordTable, at: tuple[str, str] = ("", ""), unsaved: Bm25Index | None = None
    ) -> None:
        self.rows, self.unsaved = rows, unsaved
        self._table, self._at = table, at  # the collection and its version
        self._kept: OrderedDict[str, Postings] = OrderedDict()
        self._lock = threading.Lock()

    def search(self, terms: Sequence[str], k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        """At most k (row, score > 0), best first, equal scores by row; only rows in `allowed` when given."""
        if (unsaved := self.unsaved) is not None:
            return unsaved.search(terms, k, allowed)
        return best_rows(self._scores(terms), k, allowed)

    def scores(self, terms: Sequence[str], rows: Sequence[int]) -> list[float]:
        """The BM25 score of each of these rows."""
        if (unsaved := self.unsaved) is not None:
            return unsaved.scores(terms, rows)
        every = self._scores(terms)
        return [float(every[row]) for row in rows]

    def idf(self, terms: Sequence[str]) -> list[float]:
        """As `Bm25Index.idf`."""
        if (unsaved := self.unsaved) is not None:
            return unsaved.idf(terms)
        known = self._postings(terms)
        return [idf(self.rows, len(known[term][0])) for term in terms]

    def vocabulary(self) -> Collection[str]:
        """The terms of all rows."""
        unsaved = self.unsaved
        return self._stored_vocabulary if unsaved is None else unsaved.vocabulary()

    @cached_property
    def _stored_vocabulary(self) -> frozenset[str]:
        return frozenset(self._table.terms(*self._at))

    def _scores(self, terms: Sequence[str]) -> NDArray[np.float32]:
        scores, known = np.zeros(self.rows, dtype=np.float32), self._postings(terms)
        for term in terms:  # one that occurs twice in the question counts twice
            rows, parts = known[term]
            scores[rows] += parts
        return scores

    def _postings(self, terms: Sequence[str]) -> dict[str, Postings]:
        with self._lock:
            known = {term: self._kept[term] for term in terms if term in self._kept}
        if asked := [term for term in dict.fromkeys(terms) if term not in known]:
            found = self._table.fetch_words(*self._at, asked)
            known |= {term: found.get(term, NONE) for term in asked}
            if any(
                len(rows) != len(parts) or (len(rows) and not 0 <= rows[0] <= rows[-1] < self.rows)
                for rows, parts in known.values()
            ):
                raise damaged("word")
        with self._lock:
            self._kept |= known
            while len(self._kept) > KEPT_TERMS:
                self._kept.popitem(last=False)
        return known

    def save(self, collection: str, version: str) -> None:
        """Store the postings; from then on the database is asked."""
        if self.unsaved is None:
            raise TypeError("These words are saved already.")
        self._table.put_words(
            collection, version, [(term, (rows, parts)) for term, rows, parts in self.unsaved.postings()]
        )
        self._at, self.unsaved = (collection, version), None


class ApartWordStore:
    """A `LexicalStore` whose postings are in a database. Its folder has `words.<name>.json`."""

    def __init__(self, name: str, table: WordTable) -> None:
        self.name, self._table = name, table

    def build(self, terms: Sequence[Sequence[str]]) -> ApartWords:
        """An index over the terms of each passage, in row order."""
        return ApartWords(len(terms), self._table, unsaved=Bm25Store().build(terms))

    def spliced(self, index: LexicalIndex, pieces: Sequence[range | Sequence[Sequence[str]]]) -> None:
        """Every part of a score is stored, and a new passage changes them all: it is built anew."""
        return None

    def save(self, index: LexicalIndex, folder: Path) -> None:
        """Store the postings in one transaction, under a number of their own, which the folder says before.

        Raises:
            OSError: the disk or the permissions refused.
            StoreUnavailable: the database did; nothing of them is in it then.
        """
        if not isinstance(index, ApartWords):
            raise TypeError(f"The store {self.name!r} saves ApartWords, got {type(index).__name__}")
        collection, version = owner(folder, self.name), secrets.token_hex(16)
        terms = len(index.vocabulary())
        write_head(
            folder,
            "words",
            self.name,
            {"collection": collection, "version": version, "rows": index.rows, "terms": terms},
        )
        index.save(collection, version)

    def load(self, folder: Path) -> ApartWords:
        """Read it back, and ask whether all of its terms are there.

        Raises:
            LibraryDamaged: its file is missing or cut short, or the database lacks a term.
            StoreUnavailable: the database cannot be asked.
        """
        head = read_head(folder, "words", self.name)
        rows, at = head.get("rows"), (str(head["collection"]), str(head.get("version")))
        if not isinstance(rows, int):
            raise damaged("word")
        index = ApartWords(rows, self._table, at)
        if len(index.vocabulary()) != head.get("terms"):
            raise damaged("word")
        return index

    def forget(self, folder: Path) -> None:
        """Delete the postings of this version, before the folder itself goes.

        Raises:
            StoreUnavailable: the database cannot be asked; nothing is deleted then.
        """
        with suppress(LibraryDamaged):  # without its head it names nobody's rows
            head, kept = read_head(folder, "words", self.name), []
            for other in others(folder):
                with suppress(LibraryDamaged):
                    kept.append(str(read_head(other, "words", self.name).get("version")))
            self._table.keep_words(str(head["collection"]), kept)
