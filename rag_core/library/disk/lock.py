"""One indexing at a time for a collection, also across processes; who reads, describes or deletes does not wait."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from rag_core.domain.acts import actor
from rag_core.domain.ports import Cancel
from rag_core.errors import Cancelled, LibraryBusy
from rag_core.library.disk.files import write_atomically
from rag_core.library.disk.private import FILE_MODE, make_folder

_OTHER = "another process"


@contextmanager
def writing(folder: Path, wait: float, cancelled: Cancel | None = None) -> Iterator[None]:
    """Hold the writer's lock of a folder, which is made. The system gives it back when the process dies.

    Raises LibraryBusy where another writer held it for `wait` seconds, or Cancelled.
    """
    make_folder(folder)
    lock, holder = FileLock(folder / "lock", mode=FILE_MODE), folder / "lock.json"
    try:
        lock.acquire(timeout=wait, cancel_check=cancelled)
    except Timeout as error:
        if cancelled is not None and cancelled():
            raise Cancelled(
                "Stopped while waiting for another writer.", remedy="Start it again when you like."
            ) from error
        raise LibraryBusy(
            f"The library {folder.name!r} is being written by {_who(holder)}.",
            remedy="Wait until that is done, or stop it; questions can be asked meanwhile.",
        ) from error
    try:
        row = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        with suppress(OSError):  # a full disk: whoever waits is told of another process then
            holder.unlink(missing_ok=True)
            write_atomically(holder, json.dumps(row).encode())
        yield
    finally:
        with suppress(OSError):
            holder.unlink()
        lock.release()


def writer(folder: Path) -> str:
    """Who holds the writer's lock of a collection's folder now, this process included; empty where nobody does.

    The system is asked, not `lock.json`, which a killed process leaves. A writer that comes just then tries again.
    """
    try:
        descriptor = os.open(folder / "lock", os.O_RDONLY)
    except OSError:
        return ""  # nobody ever wrote there, or it cannot be told
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _who(folder / "lock.json")
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return ""


def _who(holder: Path) -> str:
    if actor().may is not None:  # a visitor, or somebody who signed in: they are not told of the machine
        return _OTHER
    try:
        row = json.loads(holder.read_bytes())
        return f"process {row['pid']} on {row['host']} since {row['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return _OTHER
