"""The store that a collection keeps beside its documents, one SQLite file: decisions, feedback, labelled sets, runs, saved presets.

Decisions and results are records (`rag_core.records`): numbers, offsets and hashes, no text of a document; what a language model wrote
stands in a table of its own. Everything from outside is a bound parameter. One store may serve all threads of a process, and several
processes may have the file open.
"""

from __future__ import annotations

from pathlib import Path

from rag_core.adapters.records.decisions import DecisionRecords
from rag_core.adapters.records.sets import SetRecords
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.records.stored import FeedbackState

FILE = "records.sqlite"


class RecordStore(DecisionRecords, SetRecords):
    """The records of the collection in whose folder `path` lies. Creates nothing until something is written.

    Every method raises a LibraryError where the file cannot be used: RecordsDamaged, LibraryBusy, or what the disk refused.
    """

    def label(self, feedback_id: int, set_name: str, question: LabelledQuestion) -> None:
        """Append a label that a person confirmed to a set, a new one where there is none, and settle the feedback with it.

        Raises:
            InvalidInput: the set has a question of this id, or its name cannot be used.
        """
        with self._file.writing():
            self.write_set(set_name, (*self._read_set(set_name), question))
            self.settle(feedback_id, FeedbackState.LABELLED)

    def move_aside(self) -> Path | None:
        """Give a damaged file another name and begin a new one; nothing is deleted. Returns where it is now."""
        return self._file.move_aside()

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        self._file.close()
