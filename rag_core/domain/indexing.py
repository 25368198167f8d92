"""How far documents are that can be asked while they are read, in plain numbers for a decision's metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

INDEXING = "indexing"  # in the metadata of a question that was asked while searched documents were being read

# a passage that nobody could find yet lowered an estimate by more than .03 and .06 in one question of ten, of two sets
# of questions. docs/decisions/22-asked-while-read.md
ALLOWANCE = 0.1


@dataclass(frozen=True, slots=True)
class Indexing:
    """The part of what is searched that is still being read."""

    documents: int  # how many of the searched documents are
    searched: int  # how many documents are searched
    pages: int  # all pages of those that are being read
    read: int  # how many of these were read, and can be searched

    def __post_init__(self) -> None:
        if not 0 < self.documents <= self.searched or not 0 < self.read < self.pages:
            raise ValueError(f"Some of the searched documents are being read, and some of their pages, got {self}")

    def lowered(self, probability: float) -> float:
        """An estimate from what was found so far, less what rivals may take from it that nobody could find yet."""
        return max(0.0, probability - ALLOWANCE)

    def to_json(self) -> dict[str, int]:
        return asdict(self)


def indexing_of(metadata: Mapping[str, Any]) -> Indexing | None:
    """The row of `Indexing.to_json` in a question's metadata; None where all documents were read."""
    row = metadata.get(INDEXING)
    return Indexing(**row) if row else None
