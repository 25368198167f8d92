"""Records that programs made of their work under the domains' profiles."""

from __future__ import annotations

from rag_core.adapters.records.tables import as_written, now, row_id
from rag_core.library.disk.database import Database
from rag_core.records.stored import Execution

MAX_EXECUTIONS = 20_000  # records of a collection, about 200 bytes each; the oldest go


class Executions:
    """The executions of a collection."""

    def __init__(self, file: Database) -> None:
        self._file = file

    def record(self, execution: Execution, origin: str) -> int:
        """Keep what a program recorded; its id."""
        insert = "INSERT INTO executions (at, origin, body) VALUES (?, ?, ?)"
        with self._file.writing() as db:
            id = row_id(db.execute(insert, (now(), origin, execution.model_dump_json())).lastrowid)
            db.execute("DELETE FROM executions WHERE id <= ?", (id - MAX_EXECUTIONS,))
        return id

    def all(self) -> tuple[Execution, ...]:
        """All that are kept, newest first."""
        with self._file.reading() as db:
            rows = db.execute("SELECT body FROM executions ORDER BY id DESC").fetchall()
        with as_written(self._file):
            return tuple(Execution.model_validate_json(body) for (body,) in rows)
