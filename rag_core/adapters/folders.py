"""The documents of a folder that a collection follows: on this machine, or wherever fsspec reaches, as S3 and WebDAV.

Links are neither listed nor followed, nor are files and folders whose names begin with a dot, nor what Word keeps
beside an open file ("~$"). A stamp is a text that is another one once its file was changed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rag_core.errors import IngestError, InvalidSetting
from rag_core.library.stored.sources import MAX_FILE_BYTES, READABLE, name_of

POLL_SECONDS = 30.0  # a folder is looked at so often, also where events say nothing
POLL_MS = 5_000  # between two looks of watchfiles at a drive that sends no events
_ONLY = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FACTS = ("size", "etag", "ETag", "mtime", "modified", "LastModified", "updated", "created")  # as servers call them


class SyncedFolder:
    """A folder of a file system of fsspec. It is looked at again and again."""

    def __init__(self, files: Any, root: str) -> None:
        self._files, self._root = files, root

    def look(self) -> tuple[dict[str, str], str]:
        """Stamps of its documents by their path in it, and what of it could not be read; "" for nothing."""
        found, problems = dict[str, str](), list[str]()
        try:
            self._files.invalidate_cache()
            self._list(self._root, found, problems)
        except Exception as error:  # packages have kinds of their own
            return {}, f"The folder cannot be read: {_why(error)}. Nothing was deleted. Mount it, or mend access.yaml."
        return found, " ".join(problems)

    def read(self, path: str, stamp: str) -> bytes | None:
        """A file's bytes, `MAX_FILE_BYTES` and one at most; None where it is gone or changed. Raises IngestError."""
        try:
            return self._bytes(path, stamp)
        except FileNotFoundError:
            return None
        except Exception as error:
            problem = f"{name_of(Path(path))} cannot be read: {_why(error)}."
            raise IngestError(problem, remedy="Check the file and its permissions.") from error

    def changes(self, stop: threading.Event) -> Iterator[None]:
        """Yields when something may have changed, and every `POLL_SECONDS`, until `stop` is set."""
        while not stop.wait(POLL_SECONDS):
            yield

    def _list(self, folder: str, found: dict[str, str], problems: list[str]) -> None:
        # `walk` of fsspec leaves out what it cannot read below the first folder, so that it would look deleted
        for facts in self._files.ls(folder, detail=True):
            path = facts["name"].rstrip("/")
            name, inside = path.rpartition("/")[2], path[len(self._root) :].lstrip("/")
            if path == folder or name.startswith((".", "~$")) or facts.get("islink"):
                continue
            if facts["type"] == "directory":
                try:
                    self._list(path, found, problems)
                except Exception as error:
                    problems.append(f"{inside}: {_why(error)}; nothing is deleted until it can be read.")
            elif facts["type"] == "file" and name.lower().endswith(READABLE):
                found[inside] = _stamp(facts)

    def _bytes(self, path: str, stamp: str) -> bytes | None:
        with self._files.open(f"{self._root}/{path}", "rb") as file:
            return bytes(file.read(MAX_FILE_BYTES + 1))


class LocalFolder(SyncedFolder):
    """A folder of this machine, whose events watchfiles tells; `polling` says that its drive sends none."""

    def __init__(self, root: Path, *, polling: bool = False) -> None:
        from fsspec.implementations.local import LocalFileSystem

        super().__init__(LocalFileSystem(), str(root.resolve()))
        self._polling = polling

    def changes(self, stop: threading.Event) -> Iterator[None]:
        """See `SyncedFolder.changes`. Each folder in it is watched alone: else watchfiles follows links."""
        while not stop.is_set():
            folders = self._folders()
            try:
                from watchfiles import watch

                for _ in watch(
                    *folders,
                    watch_filter=None,
                    stop_event=stop,
                    rust_timeout=int(POLL_SECONDS * 1000),
                    yield_on_timeout=True,
                    raise_interrupt=False,
                    force_polling=self._polling or None,
                    poll_delay_ms=POLL_MS,
                    recursive=False,
                ):
                    yield
                    if self._folders() != folders:
                        break
            except (ImportError, OSError, RuntimeError):  # not installed; one went; more than the system watches
                if not stop.wait(POLL_SECONDS):
                    yield

    def _folders(self) -> list[str]:
        found = []
        for folder, below, _ in os.walk(self._root):
            below[:] = [name for name in below if not name.startswith(".")]
            found.append(folder)
        return sorted(found)

    def _bytes(self, path: str, stamp: str) -> bytes | None:
        """Each folder on the way is opened from the one above it, so that none of them is a link by now."""
        *folders, name = path.split("/")
        with ExitStack() as opened:
            at = None
            for folder in (self._root, *folders):
                at = os.open(folder, _ONLY | os.O_DIRECTORY, dir_fd=at)
                opened.callback(os.close, at)
            file = opened.enter_context(os.fdopen(os.open(name, _ONLY, dir_fd=at), "rb"))
            now, data = os.fstat(file.fileno()), file.read(MAX_FILE_BYTES + 1)
            created = getattr(now, "st_birthtime", now.st_ctime)  # as fsspec has it
            return data if _stamp({"size": now.st_size, "mtime": now.st_mtime, "created": created}) == stamp else None


def folder_at(address: str, *, polling: bool = False) -> SyncedFolder:
    """The folder of a path or an address such as `s3://bucket/folder` (keys: `FSSPEC_…`); raises InvalidSetting."""
    if "://" not in address:
        return LocalFolder(Path(address), polling=polling)
    import fsspec  # a fifth of a second, for commands that follow nothing

    try:
        files, root = fsspec.url_to_fs(address)
    except Exception as error:
        problem = f"The folder at {address.partition('://')[0]}:// cannot be used: {_why(error)}."
        raise InvalidSetting(problem, remedy="docs/operate.md says what it needs.") from error
    return SyncedFolder(files, root.rstrip("/"))


def _stamp(facts: Mapping[str, Any]) -> str:
    return " ".join(str(facts[name]) for name in _FACTS if facts.get(name) is not None)


def _why(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
