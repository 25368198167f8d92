"""Room on a full disk: a reserve that a deletion may use, and what tells a full disk from another refusal.

A deletion writes the next version before it frees anything. So each collection keeps a file of zeros, about as large as what such a version
writes. A deletion that finds no room gives it up; the next version that is published keeps a new one, where there is room again.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from rag_core.errors import LibraryError, RagError
from rag_core.library.disk.private import FILE_MODE

RESERVE = "reserve"  # its name in the folder of the collection
OWN_BYTES = 512 << 10  # 512 KiB: the lists, a line of the audit log, and the records' log, of which 150 KB were seen; chosen
MAX_RESERVE = 16 << 20  # 16 MiB: the indexes of about 4,000 passages; chosen. A larger library rarely has one version alone
MAX_SHARE = 2  # and at most one part in so many of what is free: keeping room must not fill the disk; chosen
SHORT_BYTES = 256 << 20  # 256 MiB: where less is free, what was deleted goes at once, also from older versions; chosen
INDEXES_FIRST = "the indexes without the document are written first"
NOTED_FIRST = "what is deleted is noted first"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_SHARED_MEMORY = 4874  # SQLITE_IOERR_SHMSIZE, which Python 3.11 names as of some builds only: no room for the file beside the log

T = TypeVar("T")


def is_full(error: BaseException | None) -> bool:
    """Whether an error comes from a disk that has no room left, or from a quota of the system."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        if isinstance(error, sqlite3.Error):
            code = getattr(error, "sqlite_errorcode", None) or 0
            if code & 0xFF == sqlite3.SQLITE_FULL or code == _SHARED_MEMORY:
                return True
        error = error.__cause__
    return False


def free_bytes(folder: Path) -> int:
    """How much may still be written to the disk of a folder.

    Raises:
        OSError: that cannot be told.
    """
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def is_short(folder: Path) -> bool:
    """Whether the disk of a folder is full, or nearly."""
    with suppress(OSError):
        return free_bytes(folder) < SHORT_BYTES
    return False


def keep_reserve(root: Path, size: int) -> None:
    """Keep room for a version whose indexes have `size` bytes; less where little is free, none where the system cannot. Never fails."""
    size, path = min(OWN_BYTES + size, MAX_RESERVE), root / RESERVE
    with suppress(OSError):
        known = path.stat().st_size if path.exists() else 0
        size = min(size, known + free_bytes(root) // MAX_SHARE)
        if not size or known >= size > known // 2 or not hasattr(os, "posix_fallocate"):
            return
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, FILE_MODE)
        try:
            os.ftruncate(descriptor, min(known, size))
            os.posix_fallocate(descriptor, 0, size)  # blocks of its own: a file with a hole would keep no room
        except OSError:
            os.ftruncate(descriptor, known)
        finally:
            os.close(descriptor)


def give_up_reserve(root: Path) -> None:
    """Free the room that was kept, for a deletion that finds none."""
    with suppress(OSError):
        (root / RESERVE).unlink()


class MakingRoom:
    """Does one thing after the other; where the disk has no room for one, room is made, and it is done again.

    Args:
        ways: make room, the cheapest first. Each is gone once.
        needed: the bytes that are needed, about.
        why: room is needed to delete something.
    """

    def __init__(self, ways: Iterable[Callable[[], None]], needed: int, why: str = INDEXES_FIRST) -> None:
        self._ways, self._needed, self._why = iter(ways), needed, why
        self.made = False

    def __call__(self, act: Callable[[], T]) -> T:
        """Do this; what it returns.

        Raises:
            LibraryError: the disk is full, and no more room can be made; other errors as they are.
        """
        while True:
            try:
                return act()
            except (OSError, RagError) as error:
                if not is_full(error):
                    raise
                way = next(self._ways, None)
                if way is None:
                    raise LibraryError(
                        f"The disk is full, and nothing was deleted: {self._why}.",
                        remedy=f"Free about {-(-self._needed // 1_000_000)} MB elsewhere on that disk, then delete it again.",
                    ) from error
                self.made = True
                way()
