"""Files and folders that only their owner may read: a library holds whole documents, and other people may use the same
machine.

The mode is given when a file is made. The process's umask is left alone: all threads of a server share it. A user's
file that was handed in is held on disk without a name: nothing of it is left when nobody holds it, or the process is
killed.
"""

from __future__ import annotations

import os
import stat
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, BinaryIO

FILE_MODE, FOLDER_MODE = 0o600, 0o700  # read and write, and enter, for the owner alone
USUAL_MODE = 0o666  # what the umask leaves of it: for files that a user keeps elsewhere
BLOCK_BYTES = 1 << 20  # 1 MiB a read, so that a file of any size takes no more memory


def make_folder(path: Path) -> None:
    """Make a folder and the missing ones above it, for their owner alone. Those that are there keep their modes."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)  # `parents` would give the folders above the usual mode


def write(path: Path, data: bytes | memoryview, mode: int = FILE_MODE) -> None:
    """Write a whole file. A new one gets `mode`, less the umask; one that is there keeps its own."""
    with create(path, mode) as file:
        file.write(data)


def create(path: Path, mode: int = FILE_MODE) -> BinaryIO:
    """Open an empty file for writing, as `write` does; the caller closes it."""
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb")


def tighten(path: Path) -> None:
    """Take every right of others off a file, or off a folder with all that is in it. Links are not followed.

    A folder is closed after what it holds: one that is closed needs no second look. What belongs to somebody else
    stays.
    """
    for parent, folders, names in os.walk(path, topdown=False):
        for name in (*names, *folders):
            _close(Path(parent, name))
    _close(path)


def is_open(path: Path) -> bool:
    """Whether others than the owner have any right on it; False where nothing is there."""
    with suppress(OSError):
        return bool(stat.S_IMODE(path.lstat().st_mode) & 0o077)
    return False


def _close(path: Path) -> None:
    with suppress(OSError):  # gone meanwhile, or somebody else's
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode) and stat.S_IMODE(mode) & 0o077:
            path.chmod(stat.S_IMODE(mode) & 0o700)


class HeldFile:
    """The bytes of `blocks` on the disk of `folder`, for their owner alone. Safe to read from several threads."""

    def __init__(self, blocks: Iterable[bytes | memoryview], folder: Path) -> None:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            self.size = 0
            for block in blocks:
                rest = memoryview(block)
                while rest:
                    rest = rest[file.write(rest) :]
                self.size += len(block)
            self._descriptor = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._descriptor)

    def blocks(self) -> Iterator[bytes]:
        at = 0
        while block := os.pread(self._descriptor, BLOCK_BYTES, at):
            yield block
            at += len(block)


def blocks_from(file: IO[bytes]) -> Iterator[bytes]:
    """All bytes of an open file, `BLOCK_BYTES` at a time."""
    file.seek(0)
    while block := file.read(BLOCK_BYTES):
        yield block


def size_of(data: bytes | HeldFile) -> int:
    return data.size if isinstance(data, HeldFile) else len(data)


def blocks_of(data: bytes | HeldFile) -> Iterator[bytes]:
    if isinstance(data, HeldFile):
        yield from data.blocks()
    else:
        yield data
