"""Deleting a whole collection: its documents, indexes, records and settings, and what its indexes keep in a database.

The folder first gets a name that no collection can have, so that nobody finds half of one. What a killed process leaves
of it is deleted by the next call.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

from rag_core.errors import LibraryError
from rag_core.library.disk.files import children, storage_problems
from rag_core.library.disk.lock import writing
from rag_core.library.stored.collection import Collection, ForgetRows

GONE = ".gone-"  # begins the name of a folder that is being deleted
TAG_BYTES = 8  # drawn, so that two deletions of one name never meet


def drop(
    folder: Path,
    collection: str,
    *,
    forget_rows: ForgetRows,
    note: Callable[[], None] = lambda: None,
    wait: float,
) -> bool:
    """Delete a collection; whether there was one. A question that is being asked of it at that moment may fail.

    `note` keeps in the audit log that this is done, and raises where it may not be.

    Raises:
        LibraryBusy: another writer held it for `wait` seconds; nothing was deleted.
        LibraryError: a database or the disk refused. The collection is gone, and the next call deletes the rest.
    """
    root = folder / collection
    there = root.is_dir() and not root.is_symlink()
    if there:
        with writing(root, wait):
            note()
            file = Collection(folder, collection)
            # whoever hands something in just now comes first, and it goes with the rest
            with storage_problems("deleting a collection"), file.held():
                os.rename(root, folder / f"{GONE}{secrets.token_hex(TAG_BYTES)}")
            file.close()
    clear(folder, forget_rows)
    return there


def clear(folder: Path, forget_rows: ForgetRows) -> None:
    """Delete what is left of dropped collections; raises the first LibraryError once all were tried."""
    problems: list[LibraryError] = []
    for root in (path for path in children(folder) if path.name.startswith(GONE)):
        try:
            forget_rows(root, "")
            with storage_problems("deleting a collection"):
                shutil.rmtree(root, onerror=_unless_gone)
        except LibraryError as error:
            problems.append(error)
    if problems:
        raise problems[0]


def _unless_gone(act: object, path: str, problem: tuple[type[BaseException], BaseException, object]) -> None:
    """Raise what the disk refused. Another process may delete the same: what it was quicker with is no problem."""
    if not isinstance(problem[1], FileNotFoundError):
        raise problem[1]
