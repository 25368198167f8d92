"""How far documents are that can be asked before all of their vectors are there.

Plain numbers: they stand in a decision's metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

INDEXING = (
    "indexing"  # in the metadata of a question that was asked while some of the searched documents waited for vectors
)

# Without any vector of a document an estimate was higher than with all by more than .03 and .06 in one question of ten,
# of two sets of questions; with a half by .03 and .05. docs/decisions/22-asked-while-indexed.md
ALLOWANCE = 0.1


@dataclass(frozen=True, slots=True)
class Indexing:
    """The part of what is searched that waits for vectors.

    Args:
        documents: how many of the searched documents wait.
        searched: how many documents are searched.
        passages: of the documents that wait, of the pages that were read; all of them are found by their words.
        embedded: how many of these have a vector, so that they are found by cosine too.
        pages: of the documents that are still being read, all of their pages; 0 where none is.
        read: how many of these were read, and can be searched.
        reading: how many documents are still being read, where others are read and wait for vectors alone; 0 where all
            of them are alike.
    """

    documents: int
    searched: int
    passages: int
    embedded: int
    pages: int = 0
    read: int = 0
    reading: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.documents <= self.searched or not 0 <= self.embedded <= self.passages or not self.passages:
            raise ValueError(
                f"Indexing needs documents among the searched ones, and passages of which some are embedded, got {self}"
            )
        if not 0 <= self.reading < self.documents or (self.reading and not self.pages):
            raise ValueError(f"Some of the documents that wait are still being read, and not all, got {self}")
        if not 0 < self.read < self.pages and (self.read, self.pages) != (0, 0):
            raise ValueError(f"Of a document that is still being read some pages are read, and not all, got {self}")

    @property
    def percent(self) -> int:
        """The share of the passages that have a vector, in whole percent, rounded down: 100 says that none is
        missing.
        """
        return 100 * self.embedded // self.passages

    def lowered(self, probability: float | None) -> float | None:
        """An estimate from what was found so far, less what it may have gained by rivals that nobody could find yet.

        While pages are being read it is lowered as if nothing was embedded: nobody knows what they hold.
        """
        known = 0.0 if self.pages else self.embedded / self.passages
        return None if probability is None else max(0.0, probability - ALLOWANCE * (1 - known))

    def to_json(self) -> dict[str, int]:
        """As it stands in the metadata; without pages where all were read, and without `reading` where it is 0."""
        left_out = {*(() if self.pages else ("pages", "read")), *(() if self.reading else ("reading",))}
        return {name: value for name, value in asdict(self).items() if name not in left_out}


def indexing_of(metadata: Mapping[str, Any]) -> Indexing | None:
    """The row that `Indexing.to_json` wrote, from the metadata of a question; None where every searched passage had a
    vector.
    """
    row = metadata.get(INDEXING)
    return Indexing(**row) if row else None
