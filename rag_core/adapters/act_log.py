"""The audit log of a library: one file of JSON lines, appended and never changed, each chained to all before it by a
hash.

The hash of the chain up to a line is SHA-256 over the hash before it and the line's bytes, and each line holds the hash
of what stands before it. So a line that is changed, cut out, added or moved breaks the chain at the next one. That its
end was cut off, that the last line was changed, or that all of it was written anew, is told only by its newest hash,
kept elsewhere.

A log that has grown long is moved away as a whole: the next act begins a new one.

A part of a line that a power cut leaves stays, is ended by the next append, and counts.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from rag_core.domain.acts import Action, actor
from rag_core.errors import LibraryBusy
from rag_core.library.disk.files import storage_problems, sync
from rag_core.library.disk.private import FILE_MODE, make_folder

FILE = "audit.jsonl"
WAIT_SECONDS = 10.0  # for another process that writes; a line takes milliseconds
MAX_CHARS = 200  # a longer name or id is cut: a document's id has 71
TAIL_BYTES = 16_384  # read from the end: twice what the longest line has, all of it escaped
START = hashlib.sha256(b"plumbline audit log, form 1").hexdigest()  # the hash before the first line
_FIELDS = {"n", "at", "who", "action", "collection", "object", "prev"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the log: when (ISO 8601, UTC), who, what, and the id of what it was done to; `object` may be empty."""

    n: int
    at: str
    who: str
    action: str
    collection: str
    object: str
    prev: str


@dataclass(frozen=True, slots=True)
class Verified:
    """A log of so many `lines`.

    `head`, the hash of the chain after the last line, is to be kept elsewhere. `line` is the first one that does not
    fit, 0 where all do, and `problem` says why. `torn` lines are not whole, as a power cut leaves them; a later line
    vouches for their bytes. `met` are the hashes asked for that stand in the chain.
    """

    lines: int = 0
    head: str = START
    line: int = 0
    problem: str = ""
    torn: tuple[int, ...] = ()
    met: frozenset[str] = field(default_factory=frozenset)


class ActLog:
    """The log in `folder`. Safe to share between threads and processes; makes no file until something is noted."""

    def __init__(self, folder: Path, name: str = FILE) -> None:
        self.path = folder / name
        self._turn = threading.Lock()

    def note(self, action: Action, collection: str, objects: Sequence[str] = ()) -> None:
        """Append a line for each object, one where there is none: all of them, on the disk, or none.

        Raises:
            LibraryBusy: another process held the log for `WAIT_SECONDS`.
            LibraryError: the disk refused. Whoever acts must not go on then.
        """
        with storage_problems("noting an act in the audit log"), self._turn:
            make_folder(self.path.parent)
            with self._alone():
                new = not self.path.exists()
                self._append(action, collection, objects or ("",))
                if new:
                    sync([self.path.parent])

    def entries(self) -> Iterator[Entry]:
        """The lines that can be read, oldest first; `verify` says whether they are what was written."""
        for raw in self._lines():
            found = _parsed(raw)
            if found is not None:
                yield found

    def verify(self, heads: Sequence[str] = ()) -> Verified:
        """Go through the whole log; `heads` are hashes that were kept elsewhere, and have to stand in the chain."""
        head, n, torn, met = START, 0, [], {one for one in heads if one == START}
        line, problem = 0, ""
        for number, raw in enumerate(self._lines(), 1):
            found = _parsed(raw)
            if found is None:
                torn.append(number)
            elif not problem and (found.prev != head or found.n != number):
                line = number
                problem = f"Line {number} does not follow the one before it: one was changed, cut out, added or moved."
            head, n = _chained(head, raw), number
            met |= {one for one in heads if one == head}
        if not problem and torn and torn[-1] == n:
            line = n
            problem = (
                "The last line is not whole: a power cut, or somebody, cut it. The next act vouches for what is left."
            )
        return Verified(n, head, line, problem, tuple(torn), frozenset(met))

    def _append(self, action: Action, collection: str, objects: Sequence[str]) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        who = actor().name[:MAX_CHARS]
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, FILE_MODE)
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            size = os.fstat(descriptor).st_size
            head, last, lines = self._end(descriptor, size)
            for n, one in enumerate(objects, last + 1):
                row = Entry(n, at, who, action.value, collection[:MAX_CHARS], one[:MAX_CHARS], head)
                raw = json.dumps(asdict(row), separators=(",", ":")).encode("ascii")
                head = _chained(head, raw)
                lines += raw + b"\n"
            try:
                data = memoryview(lines)
                while data:
                    data = data[file.write(data) :]
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)  # a full disk: nobody was told that this was noted
                raise

    def _end(self, descriptor: int, size: int) -> tuple[str, int, bytes]:
        """The chain's hash, the number of the last line, and what has to end a line that a power cut left."""
        if not size:
            return START, 0, b""
        tail = os.pread(descriptor, TAIL_BYTES, max(0, size - TAIL_BYTES))
        whole = tail.endswith(b"\n")
        raw = tail[: -1 if whole else None].rpartition(b"\n")[2]
        found = _parsed(raw) if whole else None
        if found is not None:
            return _chained(found.prev, raw), found.n, b""
        known = self.verify()  # not a line of ours: the whole log says what the chain is
        return known.head, known.lines, b"" if whole else b"\n"

    def _lines(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                yield from (raw.removesuffix(b"\n") for raw in file)
        except FileNotFoundError:
            return

    @contextmanager
    def _alone(self) -> Iterator[None]:
        lock = FileLock(self.path.with_name(f".{FILE}.lock"), mode=FILE_MODE)
        try:
            lock.acquire(timeout=WAIT_SECONDS, poll_interval=0.005)
        except Timeout as error:
            raise LibraryBusy(
                "Another process holds the audit log.", remedy="Try again, or end the process that hangs."
            ) from error
        try:
            yield
        finally:
            lock.release()


def _chained(head: str, raw: bytes) -> str:
    return hashlib.sha256(head.encode("ascii") + b"\n" + raw).hexdigest()


def _parsed(raw: bytes) -> Entry | None:
    try:
        row: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or set(row) != _FIELDS or type(row["n"]) is not int:
        return None
    return Entry(**row) if all(isinstance(value, str) for name, value in row.items() if name != "n") else None
