"""The stored bytes of sources. Their digest names the file. It is compared whenever they are overwritten, checked or read.

A stored file that does not have its digest is damage: nothing is read from it, and the right bytes take its place when they come.
"""

from __future__ import annotations

import hashlib
import io
import os
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, BinaryIO

from rag_core.errors import LibraryDamaged
from rag_core.library.disk import private
from rag_core.library.disk.files import Stamp, damaged
from rag_core.library.disk.private import BLOCK_BYTES, HeldFile, blocks_of, make_folder
from rag_core.library.stored.inbox import Accepted
from rag_core.library.stored.sources import digest_prefix

FOLDER = "sources"


def name_of(row: Accepted) -> str:
    """Where a source's bytes lie, relative to the collection's folder."""
    return f"{FOLDER}/{row.digest}"


def write(root: Path, row: Accepted, data: bytes | HeldFile) -> Path:
    """Keep the bytes of a source, whose digest was made from them; the file is not on the disk until it is synced.

    A stored file that has the digest stays as it is; one that was damaged is replaced.

    Raises:
        OSError: the disk or the permissions refused.
    """
    path = root / name_of(row)
    with suppress(LibraryDamaged):
        check(root, row)
        return path
    make_folder(path.parent)
    draft = path.with_name(f"{row.digest}.tmp")
    try:
        with private.create(draft) as file:
            file.writelines(blocks_of(data))
        os.replace(draft, path)
    except OSError:
        draft.unlink(missing_ok=True)  # the room is needed for what comes next
        raise
    return path


def check(root: Path, row: Accepted) -> Stamp:
    """The stamp of a source's stored bytes, which have its digest; they are read in blocks.

    Raises:
        LibraryDamaged: the file is missing, cannot be read, or is not what was handed in.
    """
    file, found = opened(root, row)
    file.close()
    return found


def opened(root: Path, row: Accepted) -> tuple[BinaryIO, Stamp]:
    """A source's stored bytes as an open file, which stands at its start, and their stamp; errors as in `check`."""
    path = root / name_of(row)
    try:
        with ExitStack() as opening:
            file = opening.enter_context(path.open("rb"))
            found = _checked(path, row, file)
            file.seek(0)
            opening.pop_all()
            return file, found
    except OSError as error:
        raise _unreadable(path, error) from error


def read(root: Path, row: Accepted) -> tuple[bytes, Stamp]:
    """A source's bytes, compared after they were read, and their stamp; errors as in `check`."""
    path = root / name_of(row)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error
    return data, _checked(path, row, io.BytesIO(data))


def _checked(path: Path, row: Accepted, file: IO[bytes]) -> Stamp:
    named, bare, size = hashlib.sha256(digest_prefix(row.caller_id)), hashlib.sha256(), 0
    while block := file.read(BLOCK_BYTES):
        size += len(block)
        named.update(block)
        bare.update(block)
    if row.digest != named.hexdigest():
        raise damaged(path, "was changed or cut short")
    return Stamp(bare.hexdigest(), size)


def _unreadable(path: Path, error: OSError) -> LibraryDamaged:
    return damaged(path, "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})")
