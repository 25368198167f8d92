"""The collections below a folder: which there are, what they may be called, and making one."""

from __future__ import annotations

import re
from pathlib import Path

from rag_core.errors import InvalidInput
from rag_core.library.disk.files import children, storage_problems
from rag_core.library.disk.private import make_folder
from rag_core.library.stored import titles

FILE = "collection.sqlite"  # that a collection is kept in
SYNCED = "synced"  # the folder in which it keeps what it knows of the folder that it follows
_COLLECTION = re.compile(r"[a-z0-9_-]{1,64}")


def collections(folder: Path) -> tuple[str, ...]:
    """The collections below `folder`, sorted: folders of a right name, empty or with what only a collection holds."""
    return tuple(
        sorted(path.name for path in children(folder) if _COLLECTION.fullmatch(path.name) and _is_collection(path))
    )


def is_begun(folder: Path, collection: str) -> bool:
    """Whether something was ever added to a collection, or is being added."""
    return any((folder / collection / name).exists() for name in (FILE, "CURRENT"))


def create_collection(folder: Path, name: str) -> None:
    """An empty collection, which is listed before anything is in it; raises InvalidInput, or LibraryError."""
    require_name(name)
    with storage_problems("creating a collection"):
        make_folder(folder / name)


def _is_collection(path: Path) -> bool:
    try:
        own = (FILE, "CURRENT", "lock", "records.sqlite", titles.FILE, SYNCED)  # CURRENT: an earlier version made it
        return path.is_dir() and (not any(path.iterdir()) or any((path / name).exists() for name in own))
    except OSError:
        return False


def is_name(collection: str) -> bool:
    return _COLLECTION.fullmatch(collection) is not None


def require_name(collection: str) -> None:
    """Raise InvalidInput unless it can name a collection: `[a-z0-9_-]{1,64}`."""
    if not is_name(collection):
        raise InvalidInput(
            f"{collection!r} cannot name a collection.",
            remedy="Use 1 to 64 of the characters a-z, 0-9, hyphen and underscore.",
        )
