"""One SQLite file: opened when it is needed, created when something is written, and its failures told as errors with a
remedy.

Safe between threads (one connection under a lock) and between processes (write-ahead log, waiting for the other
writer). What is deleted is overwritten (`secure_delete`), and `empty_log` takes it out of the log beside the file. It
knows nothing about what the tables hold.
"""

from __future__ import annotations

import atexit
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from rag_core.errors import LibraryBusy, LibraryDamaged, LibraryError, RecordsDamaged
from rag_core.library.disk.files import REBUILD
from rag_core.library.disk.private import FILE_MODE, make_folder, tighten

WAIT_SECONDS = 10.0  # for another writer
PAGE_BYTES = 8192  # a page of the file: half the chain of pages that a document's vectors take with SQLite's default
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
# SQLITE_ERROR: our statements fit our tables, so the file's are others
_DAMAGED = (
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_MISMATCH,
)
COMPANIONS = ("", "-wal", "-shm")
# that the end waits for a statement of another thread; the log beside the file keeps what it has then
CLOSE_SECONDS = 1.0
_files: weakref.WeakSet[Database] = weakref.WeakSet()  # that this process has opened or may open


def records_damaged(path: Path) -> RecordsDamaged:
    return RecordsDamaged(
        f"The file of records {'/'.join(path.parts[-2:])} is damaged.",
        remedy="Restore it from a backup, or move it aside and begin a new one; the documents are not affected.",
    )


def library_damaged(path: Path) -> LibraryDamaged:
    """The error for a collection's file that is not what was written."""
    return LibraryDamaged(f"The library's file {'/'.join(path.parts[-2:])} is damaged.", remedy=REBUILD)


class Database:
    """The file at `path` with the tables that the statements of `schema` make.

    `version` is the schema's, at least 1; a file of another is refused. `damaged` makes the error for a file that is
    not what was written, `what` names the file in others. Where it is `checked`, the whole file is gone through when it
    is opened: .07 s for 44 MB.
    """

    def __init__(
        self,
        path: Path,
        schema: Sequence[str],
        version: int,
        *,
        damaged: Callable[[Path], LibraryError] = records_damaged,
        what: str = "records",
        checked: bool = True,
    ) -> None:
        self.path = path
        self._schema, self._version, self._damaged, self._what, self._checked = schema, version, damaged, what, checked
        self._connection: sqlite3.Connection | None = None
        self._opened: tuple[int, int] | None = None
        self._nothing: sqlite3.Connection | None = None  # what is read while there is no file
        self._lock = threading.RLock()
        _files.add(self)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A consistent view; of empty tables where nothing was written yet.

        Raises:
            LibraryBusy: another writer held the file for `WAIT_SECONDS`.
            LibraryDamaged, RecordsDamaged: the file is not what was written.
            LibraryError: it cannot be read, or another version of this program wrote it.
        """
        with self._lock, self.problems("reading"):
            connection = self._connect() if self.path.exists() else self._empty()
            with _transaction(connection, "BEGIN"):
                yield connection

    @contextmanager
    def writing(self, wait: float | None = None) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is kept, or nothing. Makes the file; raises as `reading` does.

        Another writer is waited for `wait` seconds, None for `WAIT_SECONDS`.
        """
        with self._lock, self.problems("writing"):
            make_folder(self.path.parent)
            connection = self._connect()
            if not connection.in_transaction:
                connection.execute(f"PRAGMA busy_timeout = {1000 * (WAIT_SECONDS if wait is None else wait):.0f}")
            with _transaction(connection, "BEGIN IMMEDIATE"):
                yield connection

    def move_aside(self) -> Path | None:
        """Give the file another name, so that a new one is begun; nothing is deleted.

        Returns where it is now, None where there was none; raises LibraryError where the disk refuses.
        """
        with self._lock, self.problems("moving"):
            self.close()
            if not self.path.exists():
                return None
            aside = self.path.with_name(
                f"{self.path.stem}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}{self.path.suffix}"
            )
            for companion in COMPANIONS:
                with suppress(FileNotFoundError):
                    os.rename(f"{self.path}{companion}", f"{aside}{companion}")
            return aside

    def empty_log(self) -> bool:
        """Bring the file up to date and empty the log beside it, so that what was deleted stands in neither.

        Raises as `reading` does. False where somebody read the file for `WAIT_SECONDS`: the log is emptied later then.
        """
        with self._lock, self.problems("writing"):
            connection = self._connect()
            connection.execute("PRAGMA incremental_vacuum").fetchall()  # gives the room back
            return bool(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = self._opened = self._nothing = None

    def begin(self) -> None:
        """Make the file with empty tables, where there is none. It appears whole: an empty file is always damage."""
        if self.path.exists():
            return
        make_folder(self.path.parent)
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
        draft.touch(mode=FILE_MODE)  # SQLite gives its companions the same
        try:
            with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
                self._make(connection)
            with suppress(FileExistsError):  # another process was quicker
                os.link(draft, self.path)
        finally:
            draft.unlink(missing_ok=True)

    def damaged(self) -> LibraryError:
        return self._damaged(self.path)

    @contextmanager
    def problems(self, doing: str) -> Iterator[None]:
        """Turn what SQLite, the disk or the permissions refuse inside the block into an error with a remedy."""
        try:
            yield
        except sqlite3.Error as error:
            # none: text that is no UTF-8, where Python reads it, or a fault of ours
            kind = getattr(error, "sqlite_errorcode", None)
            ours = isinstance(error, (sqlite3.ProgrammingError, sqlite3.InterfaceError))
            kind = (sqlite3.SQLITE_MISUSE if ours else sqlite3.SQLITE_CORRUPT) if kind is None else kind
            if kind & 0xFF in _DAMAGED or kind == sqlite3.SQLITE_IOERR_SHORT_READ:
                self.close()
                raise self.damaged() from error
            if kind & 0xFF in _BUSY:
                problem = f"The {self._what} of this collection are being written by another process."
                raise LibraryBusy(
                    problem, remedy="Try again when that is done; questions can be asked meanwhile."
                ) from error
            raise self._refused(doing, str(error)) from error
        # SQLite quotes a name of the file that is no UTF-8, and Python cannot read what it says
        except UnicodeDecodeError as error:
            self.close()
            raise self.damaged() from error
        except OSError as error:
            raise self._refused(doing, error.strerror or str(error)) from error

    def _refused(self, doing: str, why: str) -> LibraryError:
        return LibraryError(
            f"The {self._what} of this collection could not be used while {doing}: {why}.",
            remedy="Free disk space or allow reading and writing in the library "
            "folder; what was kept before is unharmed.",
        )

    def _connect(self) -> sqlite3.Connection:
        """The open connection; a new one where the file was deleted or replaced meanwhile."""
        if self._connection is not None and self._opened == identity(self.path):
            return self._connection
        self.close()
        self.begin()
        if not self.path.stat().st_size:
            raise self.damaged()  # SQLite would take it for a new one
        for companion in COMPANIONS:
            tighten(Path(f"{self.path}{companion}"))
        connection = sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
                connection.execute(f"PRAGMA {pragma}")
            if self._checked and connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                raise self.damaged()
            self._require_own(connection)
        except BaseException:
            connection.close()
            raise
        self._connection, self._opened = connection, identity(self.path)
        return connection

    def _empty(self) -> sqlite3.Connection:
        """Empty tables in memory, which nobody writes to; made once for as long as there is no file."""
        if self._nothing is None:
            self.close()
            made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self._make(made)
            self._nothing = made
        return self._nothing

    def _make(self, connection: sqlite3.Connection) -> None:
        for pragma in (f"page_size = {PAGE_BYTES}", "auto_vacuum = INCREMENTAL"):
            connection.execute(f"PRAGMA {pragma}")
        with _transaction(connection, "BEGIN IMMEDIATE"):
            for statement in self._schema:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {self._version}")

    def _require_own(self, connection: sqlite3.Connection) -> None:
        found = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if found != self._version:
            raise LibraryError(
                f"The {self._what} of this collection were written by another version of Plumbline ({found}; known: "
                f"{self._version}).",
                remedy=f"Use that version, or move {self.path.name} away to begin anew.",
            )


def close_files() -> None:
    """Let go of every file: the last process to close one folds the log beside it into it."""
    for file in list(_files):
        if file._lock.acquire(timeout=CLOSE_SECONDS):
            with suppress(sqlite3.Error):  # a disk that is full: the log keeps what it has
                file.close()
            file._lock.release()


atexit.register(close_files)


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    if connection.in_transaction:  # part of one that goes on
        yield
        return
    connection.execute(begin)
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def identity(path: Path) -> tuple[int, int] | None:
    """The disk and the number of a file on it; None where there is none."""
    with suppress(OSError):
        found = os.stat(path)
        return found.st_dev, found.st_ino
    return None
