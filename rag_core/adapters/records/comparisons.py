"""Comparisons of two versions of a profile on live questions: who was asked under which, and what the readers said."""

from __future__ import annotations

from rag_core.adapters.records.file import RecordFile
from rag_core.adapters.records.profiles import Profiles
from rag_core.adapters.records.tables import now, row_id
from rag_core.domain.acts import actor
from rag_core.errors import InvalidInput
from rag_core.records.stored import Comparison, FeedbackKind

_ALL = "SELECT id, domain, a, b, alpha, at, begun_by, stopped, stopped_by FROM sound_comparisons WHERE domain = ? ORDER BY id"


class Comparisons:
    """The comparisons of a collection; at most one runs for each domain."""

    def __init__(self, file: RecordFile) -> None:
        self._file = file

    def all(self, domain: str) -> tuple[Comparison, ...]:
        """Those of a domain, oldest first."""
        with self._file.reading() as db:
            return tuple(Comparison(*row) for row in db.execute(_ALL, (domain,)).fetchall())

    def running(self, domain: str) -> Comparison | None:
        """The one that runs; None where none does."""
        return next((one for one in self.all(domain) if not one.stopped), None)

    def begin(self, domain: str, a: int, b: int, alpha: float) -> Comparison:
        """Split the questions of a domain from now on.

        Raises:
            InvalidInput: one runs already, a version is not there, both are the same, or alpha is none.
        """
        if a == b or not 0.0 < alpha <= 0.5:
            raise InvalidInput("These cannot be compared.", remedy="Name two versions, and an alpha above 0 and up to 0.5.")
        with self._file.writing() as db:
            for version in (a, b):
                Profiles(self._file).version(domain, version)
            if self.running(domain) is not None:
                raise InvalidInput(f"Two versions of {domain} are being compared already.", remedy="Stop that comparison first.")
            row = (domain, a, b, alpha, now(), actor().name)
            insert = "INSERT INTO comparisons (domain, a, b, alpha, at, begun_by, stopped, stopped_by) VALUES (?, ?, ?, ?, ?, ?, '', '')"
            id = row_id(db.execute(insert, row).lastrowid)
            return next(one for one in self.all(domain) if one.id == id)

    def stop(self, domain: str) -> Comparison:
        """Ask all questions of a domain under the version in force again; what was heard is kept.

        Raises:
            InvalidInput: none runs.
        """
        with self._file.writing() as db:
            found = self.running(domain)
            if found is None:
                raise InvalidInput(f"No versions of {domain} are being compared.", remedy="Nothing has to be stopped.")
            db.execute("UPDATE comparisons SET stopped = ?, stopped_by = ? WHERE id = ?", (now(), actor().name, found.id))
            return next(one for one in self.all(domain) if one.id == found.id)

    def expose(self, comparison: int, asker: str, is_b: bool, decision: int) -> None:
        """Remember under which side a kept decision was made; `asker` is a hash."""
        insert = "INSERT INTO exposures (comparison, asker, is_b, decision, good, heard) VALUES (?, ?, ?, ?, -1, 0)"
        with self._file.writing() as db:
            db.execute(insert, (comparison, asker, int(is_b), decision))

    def hear(self, decision: int, kind: FeedbackKind, feedback: int) -> None:
        """Take a reader's first word on a decision; later ones change nothing."""
        with self._file.writing() as db:
            db.execute(
                "UPDATE exposures SET good = ?, heard = ? WHERE decision = ? AND heard = 0",
                (int(kind is FeedbackKind.HELPFUL), feedback, decision),
            )

    def answers(self, comparison: int) -> tuple[tuple[bool, bool], ...]:
        """Whether each asker was on side b, and whether their first word was good, in the order in which these words came."""
        query = "SELECT asker, is_b, good FROM sound_exposures WHERE comparison = ? AND heard > 0 ORDER BY heard"
        with self._file.reading() as db:
            rows = db.execute(query, (comparison,)).fetchall()
        first: dict[str, tuple[bool, bool]] = {}
        for asker, is_b, good in rows:
            first.setdefault(asker, (bool(is_b), bool(good)))
        return tuple(first.values())
