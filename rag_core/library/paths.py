"""Paths that a user names and the contents of folders. Names are made fit to show and store; only real files are opened.

A folder may hold anything: names that are no text, pipes that nobody writes to, links to nowhere. Each is one problem.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rag_core.errors import IngestError

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")  # lone surrogates stand for the bytes of a name that is not UTF-8
_KINDS = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))


def name_of(path: Path) -> str:
    """The file's name on one line, as it can be shown and stored: what is no character, or moves a cursor, becomes U+FFFD."""
    return _CONTROL.sub("\ufffd", path.name or str(path))


def open_file(path: Path) -> IO[bytes]:
    """The file, open for reading. Never waits, as opening a pipe would.

    Raises:
        IngestError: it cannot be read, or is no file.
    """
    try:
        _require_file(path, path.stat().st_mode)  # before it is opened: some devices act on that
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            _require_file(path, os.fstat(descriptor).st_mode)  # it may have been replaced meanwhile
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise
    except OSError as error:
        raise unreadable(path, error) from error


def pdfs_in(folder: Path) -> Iterator[Path | IngestError]:
    """The PDFs below a folder, sorted by path; a problem for each part of it that cannot be looked into, and where there are none."""
    problems: list[OSError] = []
    found: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=problems.append):
        # names that start with a dot are not documents: macOS leaves a "._x.pdf" beside every "x.pdf"
        found += [Path(parent, name) for name in (*names, *folders) if name.lower().endswith(".pdf") and not name.startswith(".")]
    yield from (unreadable(Path(os.fsdecode(error.filename)), error) for error in problems)
    if not found and not problems:
        yield IngestError(f"There is no PDF in the folder {name_of(folder)}.", remedy="Name a folder that holds PDFs.")
    yield from sorted(found)


def unreadable(path: Path, error: OSError) -> IngestError:
    """The problem of a path that the system refuses."""
    return IngestError(f"{name_of(path)} cannot be read: {error.strerror or error}.", remedy="Check the path and its permissions.")


def _require_file(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        what = next((words for is_kind, words in _KINDS if is_kind(mode)), "a device")
        raise IngestError(f"{name_of(path)} is {what}, not a file.", remedy="Name a file, or a folder that holds PDFs.")
