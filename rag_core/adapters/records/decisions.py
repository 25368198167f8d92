"""The decisions that a collection keeps, with the readers' feedback on them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from rag_core.adapters.records.erase import without_erased
from rag_core.adapters.records.tables import (
    Part,
    as_written,
    keep_texts,
    noted,
    now,
    of_result,
    opened,
    own,
    pack,
    plain,
    read_json,
    row_id,
    texts_of,
    unpack,
    written_of,
)
from rag_core.domain.acts import Action
from rag_core.domain.measurements import Measurements
from rag_core.domain.ports import PageText
from rag_core.errors import InvalidInput, LibraryBusy
from rag_core.records import PassageOf, from_record
from rag_core.records.stored import MAX_COMMENT_CHARS, Execution, Feedback, FeedbackKind, FeedbackState, StoredDecision

MAX_EXECUTIONS = 20_000  # records of a collection, about 200 bytes each; the oldest go
_FEEDBACK = (
    "SELECT f.id, f.decision, f.verdict, f.comment, f.at, f.state, d.question, d.documents, f.document, f.page"
    " FROM feedback f JOIN decisions d ON d.id = f.decision"
)


class Decisions(Part):
    """Stored questions with everything measured for them, feedback, and what programs recorded of their work."""

    @noted(Action.KEEP, of_result)
    def keep(self, measurements: Measurements, *, origin: str = "ask", documents: Sequence[str] = ()) -> int:
        """Store a question with everything measured for it, and the ids of `documents` it was restricted to; its id.

        Raises:
            LibraryBusy: a document that it was answered from was deleted everywhere meanwhile; nothing of it is kept.
        """
        written = written_of(measurements)
        insert = "INSERT INTO decisions (at, origin, question, documents, record) VALUES (?, ?, ?, ?, ?)"
        with self._file.writing() as db:
            record = without_erased(db, written.record, measurements, documents)
            if record is None:
                raise LibraryBusy(
                    "A document was deleted everywhere while it was asked, so the question is not kept.",
                    remedy="Ask again.",
                )
            row = (now(), origin, plain(measurements.question), json.dumps(list(documents)), pack(record))
            id = row_id(db.execute(insert, row).lastrowid)
            keep_texts(db, written, measurements.library.version, decision=id)
        return id

    @own()
    def measurements(
        self, id: int, page_text: PageText | None = None, passage_of: PassageOf | None = None
    ) -> Measurements:
        """A stored question; see `rag_core.records.from_record` for its texts."""
        with self._file.reading() as db:
            row = db.execute("SELECT record FROM decisions WHERE id = ?", (id,)).fetchone()
            own = texts_of(self._file, db, "decision", id)
        if row is None:
            raise InvalidInput(
                f"There is no stored question {id}.", remedy="It may have been deleted since; ask it again."
            )
        return from_record(unpack(self._file, row[0]), page_text, passage_of, own)

    @opened(Action.SEE)
    def decisions(
        self, limit: int = 100, *, before: int | None = None, origin: str | None = None
    ) -> tuple[StoredDecision, ...]:
        """The newest stored questions, newest first, below the id `before`, and of one origin."""
        query = (
            "SELECT id, at, origin, question FROM decisions WHERE (?1 IS NULL OR id < ?1) AND (?2 IS NULL OR origin = "
            "?2) ORDER BY id DESC LIMIT ?3"
        )
        return tuple(StoredDecision(*row) for row in self._rows(query, (before, origin, limit)))

    @own()
    def stored(self, id: int) -> StoredDecision | None:
        """A stored question without its measurements; None where there is none with this id."""
        rows = self._rows("SELECT id, at, origin, question FROM decisions WHERE id = ?", (id,))
        return StoredDecision(*rows[0]) if rows else None

    def prune(self, days: int, most: int, rejected_days: int = 30) -> int:
        """Delete decisions older than so many days, and all but so many of the newest; how many went.

        Watched ones and those with open feedback stay. Runs keep their own results. Texts of rejected drafts go after
        `rejected_days`, whatever they are of.
        """
        self.prune_rejected(rejected_days)
        oldest = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
        held = (
            "id NOT IN (SELECT decision FROM feedback WHERE state = 'open' UNION SELECT decision FROM pins UNION SELECT"
            " now FROM pins WHERE now IS NOT NULL)"
        )
        # both look at the index on `at` only: the table's own rows are large
        last = "(SELECT id FROM decisions ORDER BY at DESC, id DESC LIMIT 1 OFFSET ?)"
        with self._file.writing() as db:
            too_old = db.execute(f"DELETE FROM decisions WHERE at < ? AND {held}", (oldest,)).rowcount
            return too_old + db.execute(f"DELETE FROM decisions WHERE id <= {last} AND {held}", (most,)).rowcount

    @noted(Action.FORGET)
    @own()
    def forget_decision(self, id: int) -> None:
        with self._file.writing() as db:
            db.execute("DELETE FROM decisions WHERE id = ?", (id,))
            db.execute("DELETE FROM pins WHERE decision = ?", (id,))

    @noted(Action.FEEDBACK)
    @own()
    def add_feedback(
        self, decision_id: int, kind: FeedbackKind, comment: str = "", document: str = "", page: int = 0
    ) -> int:
        """A reader's word on a stored decision; its id.

        A comment is cut at `MAX_COMMENT_CHARS`; `document` and `page` (from 1) say where the answer stands, if the
        reader did.
        """
        row = (
            decision_id,
            FeedbackKind(kind),
            plain(comment.strip())[:MAX_COMMENT_CHARS],
            plain(document),
            page,
            now(),
        )
        with self._file.writing() as db:
            if db.execute("SELECT 1 FROM decisions WHERE id = ?", (decision_id,)).fetchone() is None:
                raise InvalidInput(
                    f"There is no stored question {decision_id}.", remedy="Ask it again, then say what was wrong."
                )
            insert = "INSERT INTO feedback (decision, verdict, comment, document, page, at) VALUES (?, ?, ?, ?, ?, ?)"
            return row_id(db.execute(insert, row).lastrowid)

    @opened(Action.SEE)
    def feedback(self, state: FeedbackState | str = FeedbackState.OPEN) -> tuple[Feedback, ...]:
        """The feedback in this state, newest first."""
        rows = self._rows(f"{_FEEDBACK} WHERE f.state = ? ORDER BY f.id DESC", (FeedbackState(state),))
        with as_written(self._file):
            return tuple(
                Feedback(
                    id,
                    decision,
                    FeedbackKind(kind),
                    comment,
                    at,
                    FeedbackState(state),
                    question,
                    tuple(read_json(self._file, searched)),
                    *pointed,
                )
                for id, decision, kind, comment, at, state, question, searched, *pointed in rows
            )

    @own(words=True)
    def amend(self, feedback_id: int, comment: str, document: str = "", page: int = 0) -> None:
        """Say more about a decision than was said at first, while it is open; see `add_feedback`."""
        row = (plain(comment.strip())[:MAX_COMMENT_CHARS], plain(document), page, feedback_id)
        self._change("UPDATE feedback SET comment = ?, document = ?, page = ? WHERE id = ? AND state = 'open'", row)

    @opened(Action.LABELS)
    def settle(self, feedback_id: int, state: FeedbackState | str) -> None:
        """Say what became of a reader's word."""
        if not self._change("UPDATE feedback SET state = ? WHERE id = ?", (FeedbackState(state), feedback_id)):
            raise InvalidInput(
                "This feedback is not there any more.", remedy="It was taken back or deleted; open the list again."
            )

    @own(words=True)
    def take_back(self, feedback_id: int) -> None:
        """Delete a reader's word, while nobody made a label of it."""
        self._change("DELETE FROM feedback WHERE id = ? AND state = 'open'", (feedback_id,))

    @noted(Action.EXECUTION, of_result)
    def record_execution(self, execution: Execution, origin: str) -> int:
        """Keep what a program recorded; its id."""
        insert = "INSERT INTO executions (at, origin, body) VALUES (?, ?, ?)"
        with self._file.writing() as db:
            id = row_id(db.execute(insert, (now(), origin, execution.model_dump_json())).lastrowid)
            db.execute("DELETE FROM executions WHERE id <= ?", (id - MAX_EXECUTIONS,))
        return id

    @opened(Action.SEE)
    def executions(self) -> tuple[Execution, ...]:
        """All that are kept, newest first."""
        rows = self._rows("SELECT body FROM executions ORDER BY id DESC")
        with as_written(self._file):
            return tuple(Execution.model_validate_json(body) for (body,) in rows)
