"""How far documents are that can be asked before all of their vectors are there. Plain numbers: they stand in a decision's metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

INDEXING = "indexing"  # in the metadata of a question that was asked while some of the searched documents waited for vectors

# Without any vector of a document an estimate was higher than with all by more than .03 and .06 in one question of ten, of two sets of
# questions; with a half by .03 and .05. docs/log/2026-11-25-answerable-at-once.md
ALLOWANCE = 0.1


@dataclass(frozen=True, slots=True)
class Indexing:
    """The part of what is searched that waits for vectors.

    Args:
        documents: how many of the searched documents wait.
        searched: how many documents are searched.
        passages: of the documents that wait; all of them are found by their words.
        embedded: how many of these have a vector, so that they are found by cosine too.
    """

    documents: int
    searched: int
    passages: int
    embedded: int

    def __post_init__(self) -> None:
        if not 0 < self.documents <= self.searched or not 0 <= self.embedded <= self.passages or not self.passages:
            raise ValueError(f"Indexing needs documents among the searched ones, and passages of which some are embedded, got {self}")

    @property
    def percent(self) -> int:
        """The share of the passages that have a vector, in whole percent, rounded down: 100 says that none is missing."""
        return 100 * self.embedded // self.passages

    def lowered(self, probability: float | None) -> float | None:
        """An estimate from what was found so far, less what it may have gained by rivals that nobody could find yet."""
        return None if probability is None else max(0.0, probability - ALLOWANCE * (1 - self.embedded / self.passages))

    def to_json(self) -> dict[str, int]:
        """As it stands in the metadata."""
        return asdict(self)


def indexing_of(metadata: Mapping[str, Any]) -> Indexing | None:
    """The row that `Indexing.to_json` wrote, from the metadata of a question; None where every searched passage had a vector."""
    row = metadata.get(INDEXING)
    return Indexing(**row) if row else None
