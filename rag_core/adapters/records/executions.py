"""Records that programs made of their work under the domains' profiles."""

from __future__ import annotations

from rag_core.adapters.records.file import RecordFile
from rag_core.adapters.records.tables import as_written, now, row_id
from rag_core.records.stored import Execution, ExecutionOutcome, FeedbackKind

MAX_EXECUTIONS = 20_000  # records of a collection, about 200 bytes each; the oldest go


class Executions:
    """The executions of a collection."""

    def __init__(self, file: RecordFile) -> None:
        self._file = file

    def record(self, execution: Execution, origin: str) -> int:
        """Keep what a program recorded; its id."""
        e = execution
        row = (
            now(), origin, e.prompt, e.profile, e.confidence, e.citation_coverage, int(e.hallucination), e.outcome, e.feedback or "",
            e.decision,
        )  # fmt: skip
        insert = (
            "INSERT INTO executions (at, origin, prompt, profile, confidence, citation_coverage, hallucination, outcome, feedback,"
            " decision) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        with self._file.writing() as db:
            id = row_id(db.execute(insert, row).lastrowid)
            db.execute("DELETE FROM executions WHERE id <= ?", (id - MAX_EXECUTIONS,))
        return id

    def all(self) -> tuple[Execution, ...]:
        """All that are kept, newest first."""
        query = (
            "SELECT prompt, profile, confidence, citation_coverage, hallucination, outcome, feedback, decision, id, at, origin"
            " FROM sound_executions ORDER BY id DESC"
        )
        with self._file.reading() as db:
            rows = db.execute(query).fetchall()
        with as_written(self._file):
            return tuple(
                Execution(
                    prompt,
                    profile,
                    confidence,
                    coverage,
                    bool(found),
                    ExecutionOutcome(outcome),
                    FeedbackKind(said) if said else None,
                    *rest,
                )
                for prompt, profile, confidence, coverage, found, outcome, said, *rest in rows
            )
