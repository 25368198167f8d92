"""Word indexes as earlier versions saved them: by bm25s, with every score worked out. They are read; the next version is saved anew."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from pathlib import Path

import bm25s
import numpy as np
from numpy.typing import NDArray

from rag_core.adapters.index.words import best_rows, idf

logging.getLogger("bm25s").setLevel(logging.WARNING)  # the library sets it to DEBUG when it is imported


class SavedBefore:
    """A `LexicalIndex` of bm25s. Threads may share it."""

    def __init__(self, model: bm25s.BM25 | None, rows: int) -> None:
        self.model = model
        self._rows = rows

    @classmethod
    def load(cls, folder: Path, rows: int) -> SavedBefore:
        """The index in the folder `bm25`.

        Raises:
            OSError, ValueError, KeyError, TypeError: a file is missing or cannot be read.
        """
        return cls(bm25s.BM25.load(str(folder / "bm25"), allow_pickle=False), rows)

    def scores(self, terms: Sequence[str], rows: Sequence[int]) -> list[float]:
        """The BM25 score of each of these rows."""
        every = self._scores(terms)
        return [float(every[row]) for row in rows]

    def _scores(self, terms: Sequence[str]) -> NDArray[np.float32]:
        """The BM25 score of every row, shape (rows,); a term that occurs twice in the question counts twice."""
        known = [term for term in terms if self.document_frequency(term)]
        if self.model is None or not known:
            return np.zeros(self._rows, dtype=np.float32)
        return np.asarray(self.model.get_scores(known), dtype=np.float32)

    def search(self, terms: Sequence[str], k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        """At most k (row, score > 0), best first, equal scores by row; only rows in `allowed` when given."""
        return best_rows(self._scores(terms), k, allowed)

    def idf(self, terms: Sequence[str]) -> list[float]:
        """Lucene's form, as bm25s uses; an unknown term gets the maximum (df = 0)."""
        return [idf(self._rows, self.document_frequency(term)) for term in terms]

    def vocabulary(self) -> Collection[str]:
        """The terms of all rows; bm25s adds "", which is none."""
        return self.model.vocab_dict.keys() - {""} if self.model else ()

    def document_frequency(self, term: str) -> int:
        """How many rows hold the term; bm25s lists "" among its words without having counted it."""
        if self.model is None or not term or term not in self.model.vocab_dict:
            return 0
        at = self.model.vocab_dict[term]
        pointers = self.model.scores["indptr"]
        return int(pointers[at + 1] - pointers[at])
