"""Writes files so that a kill at any moment leaves the old one or the new one."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rag_core.errors import LibraryDamaged, LibraryError
from rag_core.library.disk.private import FILE_MODE, USUAL_MODE, make_folder, write

# what to do about damage
REBUILD = (
    "Restore it from a backup or rebuild the library from its stored sources; "
    "failing that, delete its folder and index again."
)


def damaged(path: Path, why: str) -> LibraryDamaged:
    """The error for a stored file that is not what was written. Names the file by its last three parts."""
    return LibraryDamaged(f"The library's file {'/'.join(path.parts[-3:])} {why}.", remedy=REBUILD)


def write_atomically(path: Path, data: bytes, *, private: bool = True) -> None:
    """Replace `path` so that readers, also after a power cut, find the old bytes or the new ones.

    One that is not `private`, because a user named its place, gets the usual mode there.
    """
    if private:
        make_folder(path.parent)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        write(draft, data, FILE_MODE if private else USUAL_MODE)
        sync([draft])
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            draft.unlink()
        raise
    sync([path.parent])


def sync(paths: Collection[Path]) -> None:
    """Wait until these files and folders are on the disk; raises OSError where it could not take them."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def children(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


@contextmanager
def storage_problems(doing: str) -> Iterator[None]:
    """Turn an OSError inside the block into a LibraryError with a remedy. What was published before stays as it was."""
    try:
        yield
    except OSError as error:
        raise LibraryError(
            f"The library could not be written while {doing}: {error.strerror or error}.",
            remedy="Free disk space or allow writing to the library folder, then resume; "
            "what was indexed before is unharmed.",
        ) from error
