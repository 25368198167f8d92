"""All that a version holds as checksums: where they are equal, a move from one store to another lost nothing and
changed nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields

import numpy as np

from rag_core.library.stored.snapshot import Snapshot

ROWS = 1024  # vectors that are read at once: 1.5 MB of the embedded model's
TERMS = 256  # whose parts of scores are read at once, as many as a database's index keeps


@dataclass(frozen=True, slots=True)
class Checksums:
    """How many documents and passages there are; SHA-256 of all passages' texts, of all vectors, and of what each word
    adds to scores.
    """

    documents: int
    passages: int
    texts: str
    vectors: str
    words: str

    def differing(self, other: Checksums) -> list[str]:
        """The names of what is not the same."""
        return [one.name for one in fields(self) if getattr(self, one.name) != getattr(other, one.name)]


def checksums(snapshot: Snapshot) -> Checksums:
    """Those of a version, read from its store in the order of its rows.

    Raises:
        LibraryDamaged: the store does not hold what the folder says.
        StoreUnavailable: the store cannot be asked.
    """
    texts, vectors, words = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
    count = len(snapshot.passages)
    for passage in snapshot.passages:
        spans = [(span.page, span.start, span.end) for span in passage.spans]
        texts.update(f"{passage.document}\0{spans}\0{len(passage.text)}\0{passage.text}".encode())
    for first in range(0, count, ROWS):
        rows = snapshot.vectors.vectors(range(first, min(first + ROWS, count)))
        vectors.update(np.ascontiguousarray(rows, dtype="<f4").tobytes())
    known = sorted(snapshot.lexical.vocabulary())
    for first in range(0, len(known), TERMS):
        terms = known[first : first + TERMS]
        words.update("\0".join(terms).encode())
        for numbers in (snapshot.lexical.idf(terms), snapshot.lexical.scores(terms, range(count))):
            words.update(np.asarray(numbers, dtype="<f8").tobytes())
    return Checksums(len(snapshot.documents), count, texts.hexdigest(), vectors.hexdigest(), words.hexdigest())
