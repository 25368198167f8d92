"""The stored bytes of sources. Their digest names the file, and is compared whenever they are overwritten or read.

A stored file that does not have its digest is damage: nothing is read from it, and the right bytes take its place when
they come.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rag_core.errors import LibraryBusy, LibraryDamaged
from rag_core.library.disk import private
from rag_core.library.disk.files import damaged
from rag_core.library.disk.private import HeldFile, blocks_from, blocks_of, make_folder
from rag_core.library.stored.entry import Accepted
from rag_core.library.stored.sources import digest_prefix

FOLDER = "sources"
DRAFT = ".tmp"  # ends the name of a file that is being written


def name_of(row: Accepted) -> str:
    """Where a source's bytes lie, relative to the collection's folder."""
    return f"{FOLDER}/{row.digest}"


def draft(root: Path, row: Accepted, data: bytes | HeldFile) -> Path | None:
    """Write the bytes of a source beside the stored file; None where that has its digest already. Raises OSError."""
    path = root / name_of(row)
    with suppress(LibraryDamaged):
        check(root, row)
        return None
    make_folder(path.parent)
    made = path.with_name(f"{row.digest}.{os.getpid()}-{threading.get_ident()}{DRAFT}")
    try:
        with private.create(made) as file:
            file.writelines(blocks_of(data))
    except OSError:
        made.unlink(missing_ok=True)  # the room is needed for what comes next
        raise
    return made


def keep(root: Path, row: Accepted, made: Path | None) -> None:
    """Give what `draft` wrote its name; raises LibraryBusy where the stored file was deleted meanwhile."""
    path = root / name_of(row)
    if made is not None:
        os.replace(made, path)
    elif not path.exists():
        raise LibraryBusy(f"{row.name} was being deleted when it was added.", remedy="Add it again.")


def check(root: Path, row: Accepted) -> None:
    """Compare a source's stored bytes with its digest, in blocks; raises LibraryDamaged."""
    opened(root, row).close()


def opened(root: Path, row: Accepted) -> BinaryIO:
    """A source's stored bytes as an open file, which stands at its start; errors as in `check`."""
    path = root / name_of(row)
    with _refusals(path), ExitStack() as opening:
        file = opening.enter_context(path.open("rb"))
        _require_digest(path, row, blocks_from(file))
        file.seek(0)
        opening.pop_all()
        return file


def read(root: Path, row: Accepted) -> bytes:
    """A source's bytes, compared after they were read; errors as in `check`."""
    path = root / name_of(row)
    with _refusals(path):
        data = path.read_bytes()
    _require_digest(path, row, [data])
    return data


def _require_digest(path: Path, row: Accepted, blocks: Iterable[bytes]) -> None:
    named = hashlib.sha256(digest_prefix(row.caller_id))
    for block in blocks:
        named.update(block)
    if row.digest != named.hexdigest():
        raise damaged(path, "was changed or cut short")


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise damaged(path, "is missing") from error
    except OSError as error:
        raise damaged(path, f"cannot be read ({error.strerror})") from error
