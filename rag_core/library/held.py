"""A user's file on disk instead of in memory. It has no name: nothing of it is left when nobody holds it, or the process is killed."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path

BLOCK_BYTES = 1 << 20  # 1 MiB a read, so that a file of any size takes no more memory


class HeldFile:
    """Bytes on disk that their owner alone may read. Safe to read from several threads.

    Args:
        blocks: the bytes, in order.
        folder: on the disk that takes them; it must exist.

    Raises:
        OSError: the disk or the permissions refused.
    """

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
        """The bytes again, `BLOCK_BYTES` at a time."""
        at = 0
        while block := os.pread(self._descriptor, BLOCK_BYTES, at):
            yield block
            at += len(block)


def blocks_of(data: bytes | HeldFile) -> Iterator[bytes]:
    """The bytes of either, block by block."""
    if isinstance(data, HeldFile):
        yield from data.blocks()
    else:
        yield data
