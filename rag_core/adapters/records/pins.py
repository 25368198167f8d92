"""The answers that a collection's people watch: kept decisions that are asked again when documents change.

A pin outlives a decision that is erased with its documents, without a word or hash of it: only so can it say that the
answer was lost.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict

from rag_core.adapters.records.tables import Part, as_written, noted, now, opened, own, read_json
from rag_core.domain.acts import Action, actor
from rag_core.errors import InvalidInput
from rag_core.records.changes import Change, Pin, Seen

MAX_PINS = 200  # each is asked at every change of the documents, most in less than a second; chosen
ERASED = json.dumps(asdict(Seen()))


class Pins(Part):
    """The watched answers of a collection."""

    @noted(Action.WATCH)
    @own()
    def pin(self, decision: int, first: Seen, version: int) -> None:
        """Watch a decision, answered from this `version`; InvalidInput where it is gone, or many are watched."""
        said = json.dumps(asdict(first))
        with self._file.writing() as db:
            db.execute("DELETE FROM pins WHERE now = ?", (decision,))
            if db.execute("SELECT count(*) FROM pins WHERE decision != ?", (decision,)).fetchone()[0] >= MAX_PINS:
                raise InvalidInput(
                    f"{MAX_PINS} answers of this collection are watched already.", remedy="Stop watching one of them."
                )
            if not db.execute(
                "INSERT OR REPLACE INTO pins (decision, at, origin, version, change, first, last)"
                " SELECT id, ?, origin, ?, ?, ?, ? FROM decisions WHERE id = ?",
                (now(), version, Change.SAME, said, said, decision),
            ).rowcount:
                raise InvalidInput(f"There is no stored question {decision}.", remedy="Ask it again, then watch it.")

    @noted(Action.WATCH)
    @own()
    def unpin(self, decision: int) -> None:
        """Watch it no longer, and delete what was kept for it alone; nothing where it is not watched."""
        with self._file.writing() as db:
            db.execute("DELETE FROM decisions WHERE id = (SELECT now FROM pins WHERE decision = ?)", (decision,))
            db.execute("DELETE FROM pins WHERE decision = ?", (decision,))

    @opened(Action.SEE)
    def checked(self, pin: Pin, change: Change, last: Seen, version: int, decision: int | None) -> bool:
        """Note what became of a watched answer; whether nobody else did so for this version, or stopped watching it.

        `decision` is the kept one that it was compared with; the one before it is deleted.
        """
        row = (version, change, json.dumps(asdict(last)), decision, pin.decision, version)
        with self._file.writing() as db:
            noted = db.execute(
                "UPDATE pins SET version = ?, change = ?, last = ?, now = ? WHERE decision = ? AND version < ?", row
            ).rowcount
            db.execute("DELETE FROM decisions WHERE id = ?", (pin.now if noted else decision,))
        return bool(noted)

    def pins(self, origin: str | None = None) -> tuple[Pin, ...]:
        """The watched answers, the newest first, of one origin where it is given.

        Everybody's for those who may see them, else one's own.
        """
        wanted = origin if actor().is_open(Action.SEE, self.collection) else actor().name
        query = (
            "SELECT p.decision, coalesce(d.question, ''), p.origin, p.version, p.change, p.first, p.last, p.now,"
            " coalesce(d.documents, '[]') FROM pins p LEFT JOIN decisions d ON d.id = p.decision"
            " WHERE ?1 IS NULL OR p.origin = ?1 ORDER BY p.decision DESC"
        )
        rows = self._rows(query, (wanted,))
        with as_written(self._file):
            return tuple(
                Pin(
                    decision,
                    question,
                    asker,
                    version,
                    Change(change),
                    Seen(**read_json(self._file, first)),
                    Seen(**read_json(self._file, last)),
                    kept,
                    tuple(read_json(self._file, searched)),
                )
                for decision, question, asker, version, change, first, last, kept, searched in rows
            )


def erase_pin(db: sqlite3.Connection, decision: int) -> None:
    """Empty what pins hold of an erased decision; the pin stays, and the next check says that its answer was lost."""
    db.execute("UPDATE pins SET last = first WHERE now = ?", (decision,))
    db.execute("UPDATE pins SET first = ?1, last = ?1 WHERE decision = ?2", (ERASED, decision))
