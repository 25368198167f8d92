"""Where each file of a job stands: the next one is read while vectors of one are made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

READING_SHARE, CUTTING_SHARE = 0.5, 0.1  # parts of a file's bar for reading and for cutting; embedding is the rest


class FileState(StrEnum):
    """Where a file of a job stands."""

    WAITING = "waiting"
    READING = "reading"
    CUTTING = "cutting"  # into passages, whose words are counted
    EMBEDDING = "embedding"
    READ = "read"  # done, and published with the next ones
    READY = "ready"  # in the library: it can be asked
    PROBLEM = "problem"


STAGES = (FileState.READING, FileState.CUTTING, FileState.EMBEDDING)  # a file goes through them in this order
_PARTS = {  # where a stage begins in a file's bar, and how long it is
    "": (0.0, 0.0),
    FileState.READING: (0.0, READING_SHARE),
    FileState.CUTTING: (READING_SHARE, CUTTING_SHARE),
    FileState.EMBEDDING: (READING_SHARE + CUTTING_SHARE, 1 - READING_SHARE - CUTTING_SHARE),
}


@dataclass(frozen=True, slots=True)
class File:
    """A file of a job: its name (untrusted text) and the id that its document has or will have."""

    name: str
    id: str


@dataclass(frozen=True, slots=True)
class Far:
    """How far a file is: its step (untrusted text: it has the name), and `done` of `total` pages or passages."""

    step: str = ""
    done: int = 0
    total: int = 0

    @property
    def stage(self) -> str:
        """One of STAGES, or nothing."""
        what = self.step.rpartition(": ")[2]
        return what if what in STAGES else ""

    @property
    def share(self) -> float:
        """How much of the whole file is done, in [0, 1]."""
        before, own = _PARTS[self.stage]
        return before + own * (self.done / self.total if self.total else 0.0)
