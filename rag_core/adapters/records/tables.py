"""The tables of a collection's store, what their cells hold, and the texts that language models wrote."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from rag_core.decision.decide import decide
from rag_core.decision.progress import Outcome
from rag_core.domain.acts import Action, Note, actor, permit, permit_own, unnoted
from rag_core.domain.measurements import Measurements
from rag_core.errors import InvalidInput
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.library.disk.database import Database
from rag_core.records import Written, write

MAX_NAME_CHARS = 100  # the name of a set, a run or a preset is cut there; chosen

VERSION = 14  # the version of the tables below

# Ids are never given again: a page that remembers one would show another's.
SCHEMA = (
    "CREATE TABLE decisions (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, origin TEXT NOT NULL, question "
    "TEXT NOT NULL, documents TEXT NOT NULL, record BLOB NOT NULL)",
    "CREATE INDEX decisions_at ON decisions (at)",
    "CREATE TABLE feedback (id INTEGER PRIMARY KEY AUTOINCREMENT, decision INTEGER NOT NULL REFERENCES decisions ON "
    "DELETE CASCADE, verdict TEXT NOT NULL, comment TEXT NOT NULL, document TEXT NOT NULL, page INTEGER NOT NULL, at "
    "TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open')",
    "CREATE INDEX feedback_decision ON feedback (decision)",
    "CREATE INDEX feedback_state ON feedback (state)",
    "CREATE TABLE sets (name TEXT PRIMARY KEY, questions BLOB NOT NULL)",
    "CREATE TABLE runs (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, set_name TEXT NOT NULL, settings "
    "TEXT NOT NULL, calibration TEXT NOT NULL, model TEXT NOT NULL, generation INTEGER NOT NULL, started TEXT NOT "
    "NULL, total INTEGER NOT NULL, questions BLOB NOT NULL)",
    "CREATE TABLE results (run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, question TEXT NOT NULL, record BLOB "
    "NOT NULL, PRIMARY KEY (run, question))",
    "CREATE TABLE presets (name TEXT PRIMARY KEY, preset_values TEXT NOT NULL, certificate TEXT NOT NULL, created TEXT "
    "NOT NULL)",
    "CREATE TABLE choices (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE model_texts (id INTEGER PRIMARY KEY, decision INTEGER REFERENCES decisions ON DELETE CASCADE, run "
    "INTEGER, question TEXT, rejected INTEGER NOT NULL, at TEXT NOT NULL, documents TEXT NOT NULL, body BLOB NOT NULL, "
    "FOREIGN KEY (run, question) REFERENCES results ON DELETE CASCADE)",
    "CREATE INDEX model_texts_decision ON model_texts (decision)",
    "CREATE INDEX model_texts_result ON model_texts (run, question)",
    "CREATE TABLE deletions (document TEXT PRIMARY KEY, generation INTEGER NOT NULL)",
    "CREATE TABLE executions (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, origin TEXT NOT NULL, body TEXT "
    "NOT NULL)",
    "CREATE TABLE erasures (document TEXT PRIMARY KEY, generation INTEGER NOT NULL)",
    # a pin outlives its decision where that is erased
    "CREATE TABLE pins (decision INTEGER PRIMARY KEY, at TEXT NOT NULL, origin TEXT NOT NULL, version INTEGER NOT NULL,"
    " change TEXT NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL, now INTEGER REFERENCES decisions ON DELETE SET "
    "NULL)",
)


F = TypeVar("F", bound=Callable[..., Any])


class Part:
    """A part of a collection's store; `note` is told of each change before it is kept, and what it cannot keep is not.

    What others asked, said and labelled is read by those only to whom that is open (`Action.SEE`); a kept question also
    by whoever asked it.
    """

    def __init__(self, path: Path, note: Note = unnoted) -> None:
        self.collection, self._note = path.parent.name, note
        self._file = Database(path, SCHEMA, VERSION)

    def require_own(self, id: int, words: bool) -> None:
        """Raise NotAllowed where a kept question, or that of the feedback of this id, is not open to whoever acts."""
        if actor().may is None:
            return
        query = "SELECT origin FROM decisions WHERE id = (SELECT decision FROM feedback WHERE id = ?1)"
        if not words:  # an erased one that is watched: its pin tells
            query = "SELECT origin FROM decisions WHERE id = ?1 UNION SELECT origin FROM pins WHERE decision = ?1"
        rows = self._rows(query, (id,))
        permit_own(
            str(rows[0][0]) if rows else actor().name, self.collection
        )  # where there is none, the method says so

    def forget_documents(self, documents: Collection[str], version: int) -> None:
        """Delete the texts that a model wrote for each question that retrieved one of these documents.

        `version` is the last one of the library that has them: a question still being asked of it leaves no such text
        either.
        """
        if not self._file.path.exists():
            return
        wanted = json.dumps(list(documents))
        held = "SELECT 1 FROM json_each(t.documents) one JOIN json_each(?) gone ON one.value = gone.value"
        with self._file.writing() as db:
            db.execute(
                f"DELETE FROM model_texts WHERE id IN (SELECT t.id FROM model_texts t WHERE EXISTS ({held}))", (wanted,)
            )
            db.execute(
                "INSERT OR REPLACE INTO deletions (document, generation) SELECT value, ? FROM json_each(?)",
                (version, wanted),
            )
        self._file.empty_log()

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._file.reading() as db:
            return db.execute(query, values).fetchall()

    def _change(self, query: str, values: Sequence[Any]) -> int:
        """How many rows a change of one table met."""
        with self._file.writing() as db:
            return db.execute(query, values).rowcount

    def prune_rejected(self, days: int) -> int:
        """Delete the texts of rejected drafts that are older than so many days; of how many questions."""
        if not self._file.path.exists():
            return 0
        oldest = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
        gone = self._change("DELETE FROM model_texts WHERE rejected AND at < ?", (oldest,))
        if gone:
            self._file.empty_log()
        return gone


def _before(check: Callable[[Part, tuple[Any, ...]], None]) -> Callable[[F], F]:
    def guard(method: F) -> F:
        @wraps(method)
        def guarded(self: Part, *args: Any, **kwargs: Any) -> Any:
            check(self, args)
            return method(self, *args, **kwargs)

        return cast(F, guarded)

    return guard


def opened(action: Action) -> Callable[[F], F]:
    """A method for those to whom an act is open."""
    return _before(lambda part, given: permit(action, part.collection))


def own(words: bool = False) -> Callable[[F], F]:
    """A method about a kept question, or feedback on one (`words`), for whoever asked it or may see everybody's."""
    return _before(lambda part, given: part.require_own(given[0], words))


def noted(
    action: Action, about: Callable[[Any, tuple[Any, ...]], str] = lambda found, given: str(given[0])
) -> Callable[[F], F]:
    """A change that is noted in its own transaction: of both, or of neither, something is left."""

    def guard(method: F) -> F:
        @wraps(method)
        def changed(self: Part, *args: Any, **kwargs: Any) -> Any:
            with self._file.writing():
                found = method(self, *args, **kwargs)
                self._note(action, (about(found, args),))
            return found

        return cast(F, changed)

    return guard


def of_result(found: object, given: tuple[Any, ...]) -> str:
    return str(found)


def unpack(file: Database, data: bytes) -> Any:
    with as_written(file):
        return json.loads(zlib.decompress(data))


def read_json(file: Database, text: str) -> Any:
    """A value that stands as JSON in a row; raises as `unpack` does."""
    with as_written(file):
        return json.loads(text)


def read_questions(file: Database, data: bytes) -> tuple[LabelledQuestion, ...]:
    """The questions that `pack_questions` packed; raises as `unpack` does."""
    rows = unpack(file, data)
    with as_written(file):
        return tuple(LabelledQuestion.from_json(row) for row in rows)


@contextmanager
def as_written(file: Database) -> Iterator[None]:
    """Tell of a cell that cannot be made sense of."""
    try:
        yield
    except (zlib.error, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise file.damaged() from error


def pack(value: Any) -> bytes:
    return zlib.compress(json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii"))


def pack_questions(questions: Sequence[LabelledQuestion]) -> bytes:
    known: set[str] = set()
    for question in questions:
        if question.id in known:
            raise InvalidInput(
                f"Two questions of the set have the id {question.id!r}.", remedy="Give each question an id of its own."
            )
        known.add(question.id)
    return pack([question.to_json() for question in questions])


def plain(text: str) -> str:
    """The text as SQLite can take it: half a surrogate pair is replaced."""
    return text.encode("utf-8", "replace").decode()


def named(name: str) -> str:
    name = plain(name.strip())
    if not 0 < len(name) <= MAX_NAME_CHARS:
        raise InvalidInput(
            f"A name has 1 to {MAX_NAME_CHARS} characters, got {len(name)}.", remedy="Give another name."
        )
    return name


def now() -> str:
    """ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def row_id(id: int | None) -> int:
    assert id is not None
    return id


MAX_CHARS = 20_000  # kept of one question's texts, and as many of its rejected drafts
_KEPT = (Outcome.SHOWN, Outcome.REFUSED)  # a model's answer, or its reason for none: what a reader was shown


def keep_texts(
    db: sqlite3.Connection,
    written: Written,
    version: int,
    *,
    decision: int | None = None,
    run: int | None = None,
    question: str = "",
) -> None:
    """Store what a model wrote for a decision or a result, but nothing of a document deleted meanwhile."""
    documents = json.dumps(written.documents)
    gone = "SELECT 1 FROM deletions d JOIN json_each(?) one ON one.value = d.document WHERE d.generation >= ?"
    if db.execute(gone, (documents, version)).fetchone():
        return
    insert = (
        "INSERT INTO model_texts (decision, run, question, rejected, at, documents, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
    )
    for rejected, texts in ((False, written.own), (True, written.rejected)):
        if texts:
            of = (decision, run, question if run is not None else None)
            db.execute(insert, (*of, rejected, now(), documents, pack(_bounded(texts))))


def texts_of(file: Database, db: sqlite3.Connection, which: str, id: int) -> dict[str, str]:
    """The texts that are still there, by hash; `which` is `decision` or `run`."""
    found: dict[str, str] = {}
    for (body,) in db.execute(f"SELECT body FROM model_texts WHERE {which} = ?", (id,)).fetchall():
        texts = unpack(file, body)
        if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
            raise file.damaged()
        found |= texts
    return found


def written_of(measurements: Measurements) -> Written:
    """The record of a question, and a model's words; those of a draft that was not shown are rejected."""
    drafts = len(measurements.llm_trace.attempts) if measurements.llm_trace else 0
    kept = {one.number - 1 for one in decide(measurements).attempts if one.outcome in _KEPT} if drafts else set()
    return write(measurements, rejected=set(range(drafts)) - kept)


def _bounded(texts: Mapping[str, str]) -> dict[str, str]:
    left = MAX_CHARS
    kept = {}
    for hashed, text in texts.items():
        left -= len(text)
        if left < 0:
            break
        kept[hashed] = text
    return kept
