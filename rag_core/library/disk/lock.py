"""One indexing at a time for a collection, also across processes; who reads, describes or deletes does not wait."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from rag_core.domain.ports import Cancel
from rag_core.errors import Cancelled, LibraryBusy
from rag_core.library.disk.private import FILE_MODE, make_folder

WRITER = "another process"


@contextmanager
def writing(folder: Path, wait: float, cancelled: Cancel | None = None) -> Iterator[None]:
    """Hold the writer's lock of a folder, which is made. The system gives it back when the process dies.

    Raises LibraryBusy where another writer held it for `wait` seconds, or Cancelled.
    """
    make_folder(folder)
    lock = FileLock(folder / "lock", mode=FILE_MODE)
    try:
        lock.acquire(timeout=wait, cancel_check=cancelled)
    except Timeout as error:
        if cancelled is not None and cancelled():
            raise Cancelled(
                "Stopped while waiting for another writer.", remedy="Start it again when you like."
            ) from error
        raise LibraryBusy(
            f"The library {folder.name!r} is being written by {WRITER}.",
            remedy="Wait until that is done, or stop it; questions can be asked meanwhile.",
        ) from error
    try:
        yield
    finally:
        lock.release()


def writer(folder: Path) -> str:
    """Who holds the writer's lock of a collection's folder now, this process included; empty where nobody does.

    The system is asked. A writer that comes just then tries again.
    """
    try:
        descriptor = os.open(folder / "lock", os.O_RDONLY)
    except OSError:
        return ""  # nobody ever wrote there, or it cannot be told
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return WRITER
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return ""
