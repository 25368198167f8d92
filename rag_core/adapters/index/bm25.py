"""BM25 over our own terms with bm25s. Word weights (IDF) come from the whole collection, also when a selection is searched."""

from __future__ import annotations

import errno
import json
import logging
import math
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import bm25s
import numpy as np
from numpy.typing import NDArray

from rag_core.domain.ports import LexicalIndex
from rag_core.errors import LibraryDamaged

logging.getLogger("bm25s").setLevel(logging.WARNING)  # the library sets it to DEBUG when it is imported

K1, B = 1.5, 0.75  # bm25s' defaults, the usual values of Robertson's BM25


class Bm25Index:
    """A `LexicalIndex`. Immutable after it was built, so threads may share it."""

    def __init__(self, model: bm25s.BM25 | None, rows: int) -> None:
        self.model = model
        self._rows = rows

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

    def postings(self) -> Iterator[tuple[str, NDArray[np.int32], NDArray[np.float32]]]:
        """Each term with the rows that hold it, ascending, and the part that it adds to the score of each."""
        if self.model is not None:
            for term in self.vocabulary():
                at = self.model.vocab_dict[term]
                start, end = self.model.scores["indptr"][at : at + 2]
                yield term, self.model.scores["indices"][start:end], self.model.scores["data"][start:end]

    def __len__(self) -> int:
        return self._rows


def best_rows(scores: NDArray[np.float32], k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
    """At most k (row, score > 0), best first, equal scores by row; only rows in `allowed` when given."""
    rows = np.arange(len(scores)) if allowed is None else np.asarray(sorted(set(allowed)), dtype=np.int64)
    if not len(rows) or k < 1:
        return []
    order = np.argsort(-scores[rows], kind="stable")[:k]
    return [(int(rows[i]), float(scores[rows[i]])) for i in order if scores[rows[i]] > 0]


def idf(rows: int, holding: int) -> float:
    """log(1 + (N - df + 0.5) / (df + 0.5)): the weight of a term that `holding` of the rows hold."""
    return math.log(1 + (rows - holding + 0.5) / (holding + 0.5))


class Bm25Store:
    """A `LexicalStore` of bm25s indexes: .npy arrays and JSON, no pickle."""

    def build(self, terms: Sequence[Sequence[str]]) -> Bm25Index:
        """An index over the terms of each passage, in row order."""
        if not any(terms):
            return Bm25Index(None, len(terms))
        model = bm25s.BM25(k1=K1, b=B, method="lucene")
        model.index([list(row) for row in terms], show_progress=False)
        return Bm25Index(model, len(terms))

    def save(self, index: LexicalIndex, folder: Path) -> None:
        """Write the arrays and the vocabulary, and how many rows there are.

        Raises:
            OSError: the disk or the permissions refused.
        """
        if not isinstance(index, Bm25Index):
            raise TypeError(f"Bm25Store saves a Bm25Index, got {type(index).__name__}")
        (folder / "lexical.json").write_text(json.dumps({"rows": len(index), "empty": index.model is None}), encoding="utf-8")
        if index.model is not None:
            try:
                index.model.save(str(folder / "bm25"), show_progress=False)
                for path in (folder / "bm25").glob("*.npy"):
                    np.load(path, mmap_mode="r", allow_pickle=False)  # NumPy does not see that the last bytes found no room
            except ValueError as error:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
            except OSError as error:
                # NumPy counts the items that it could not write, and gives no reason; there is hardly another
                raise OSError(error.errno or errno.ENOSPC, error.strerror or os.strerror(errno.ENOSPC)) from error

    def load(self, folder: Path) -> Bm25Index:
        """Read it back.

        Raises:
            LibraryDamaged: a file is missing or cannot be read.
        """
        try:
            head = json.loads((folder / "lexical.json").read_text(encoding="utf-8"))
            model = None if head["empty"] else bm25s.BM25.load(str(folder / "bm25"), allow_pickle=False)
            return Bm25Index(model, head["rows"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise LibraryDamaged(
                "The word index cannot be read.", remedy="Restore the library folder, or index the documents again."
            ) from error
