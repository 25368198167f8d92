"""The tables of a collection's store, and what their cells hold: times, names, packed JSON."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from rag_core.errors import InvalidInput
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.library.disk.database import Database

MAX_NAME_CHARS = 100  # the name of a set, a run or a preset is cut there; chosen

VERSION = 10  # the version of the tables below

# Ids are never given again: a page that remembers one would show another's.
SCHEMA = (
    "CREATE TABLE decisions (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, origin TEXT NOT NULL, question "
    "TEXT NOT NULL,"
    " documents TEXT NOT NULL, record BLOB NOT NULL)",
    "CREATE INDEX decisions_at ON decisions (at)",
    "CREATE TABLE feedback (id INTEGER PRIMARY KEY AUTOINCREMENT, decision INTEGER NOT NULL REFERENCES decisions ON "
    "DELETE CASCADE,"
    " verdict TEXT NOT NULL, comment TEXT NOT NULL, document TEXT NOT NULL, page INTEGER NOT NULL, at TEXT NOT NULL,"
    " state TEXT NOT NULL DEFAULT 'open')",
    "CREATE INDEX feedback_decision ON feedback (decision)",
    "CREATE INDEX feedback_state ON feedback (state)",
    "CREATE TABLE sets (name TEXT PRIMARY KEY, questions BLOB NOT NULL)",
    "CREATE TABLE runs (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, set_name TEXT NOT NULL, settings "
    "TEXT NOT NULL,"
    " calibration TEXT NOT NULL, model TEXT NOT NULL, generation INTEGER NOT NULL, started TEXT NOT NULL, total "
    "INTEGER NOT NULL,"
    " questions BLOB NOT NULL)",
    "CREATE TABLE results (run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, question TEXT NOT NULL, record BLOB "
    "NOT NULL,"
    " PRIMARY KEY (run, question))",
    "CREATE TABLE presets (name TEXT PRIMARY KEY, preset_values TEXT NOT NULL, certificate TEXT NOT NULL, created TEXT "
    "NOT NULL)",
    "CREATE TABLE choices (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE model_texts (id INTEGER PRIMARY KEY, decision INTEGER REFERENCES decisions ON DELETE CASCADE, run "
    "INTEGER,"
    " question TEXT, rejected INTEGER NOT NULL, at TEXT NOT NULL, documents TEXT NOT NULL, body BLOB NOT NULL,"
    " FOREIGN KEY (run, question) REFERENCES results ON DELETE CASCADE)",
    "CREATE INDEX model_texts_decision ON model_texts (decision)",
    "CREATE INDEX model_texts_result ON model_texts (run, question)",
    "CREATE TABLE deletions (document TEXT PRIMARY KEY, generation INTEGER NOT NULL)",
    "CREATE TABLE executions (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, origin TEXT NOT NULL, body TEXT "
    "NOT NULL)",
    "CREATE TABLE notes (run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE, note TEXT NOT NULL)",
    "CREATE TABLE erasures (document TEXT PRIMARY KEY, generation INTEGER NOT NULL)",
)


def unpack(file: Database, data: bytes) -> Any:
    """The value that `pack` packed.

    Raises:
        RecordsDamaged: the file is not what was written.
    """
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
    """JSON, compressed."""
    return zlib.compress(json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii"))


def pack_questions(questions: Sequence[LabelledQuestion]) -> bytes:
    """The questions of a set.

    Raises:
        InvalidInput: two have the same id.
    """
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
    """A name that a user gave.

    Raises:
        InvalidInput: it is empty or too long.
    """
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
    """The id that a new row got."""
    assert id is not None
    return id
