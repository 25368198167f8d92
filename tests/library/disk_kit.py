"""A disk of so many bytes, for tests of what is done where it is full."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from pathlib import Path

from rag_core.library.disk import private, room

FULL = OSError(errno.ENOSPC, "No space left on device")


class Disk:
    """A disk of so many bytes; None is one without an end. A file takes whole blocks of 4 KiB."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.capacity = folder, 1 << 40

    def used(self) -> int:
        files = {found.st_ino: found.st_size for path in self._folder.rglob("*") if path.is_file() for found in [path.stat()]}
        return sum(-(-size // 4096) * 4096 for size in files.values())

    def free(self, folder: Path | None = None) -> int:
        return max(0, self.capacity - self.used())

    def fill(self, left: int = 0) -> None:
        self.capacity = self.used() + left

    def take(self, size: int) -> None:
        if size > self.free():
            raise OSError(*FULL.args)

    def limit(self, patch: Callable[[object, str, object], None]) -> None:
        """From now on what the library writes below the folder is taken from this disk; `patch` is as `setattr`."""
        create, fallocate, made = private.create, os.posix_fallocate, self

        class Counted(io.FileIO):
            def write(self, data: bytes) -> int:  # type: ignore[override]
                made.take(len(data))
                return super().write(data)

        def counted(path: Path, mode: int = private.FILE_MODE) -> io.FileIO:
            create(path, mode).close()
            return Counted(path, "wb")

        def reserved(descriptor: int, at: int, size: int) -> None:
            made.take(size - os.fstat(descriptor).st_size)
            fallocate(descriptor, at, size)

        patch(private, "create", counted)
        patch(os, "posix_fallocate", reserved)
        patch(room, "free_bytes", made.free)
