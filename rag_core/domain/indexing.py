"""How far documents are that can be asked before all of their vectors are there. Plain numbers: they stand in a decision's metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

INDEXING = "indexing"  # in the metadata of a question that was asked while some of the searched documents waited for vectors


@dataclass(frozen=True, slots=True)
class Indexing:
    """The part of what is searched that waits for vectors.

    Args:
        documents: how many of the searched documents wait.
        searched: how many documents are searched.
        passages: of the documents that wait; all of them are found by their words.
        embedded: how many of these have a vector, so that they are found by meaning too.
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

    def to_json(self) -> dict[str, int]:
        """As it stands in the metadata."""
        return asdict(self)


def indexing_of(metadata: Mapping[str, Any]) -> Indexing | None:
    """The row that `Indexing.to_json` wrote, from the metadata of a question; None where every searched passage had a vector."""
    row = metadata.get(INDEXING)
    return Indexing(**row) if row else None
