"""Keeps files that a browser sends on disk until they are indexed.

Streamlit would hold them in memory as long as a session.

`OnDisk` takes the place of Streamlit's own store; `taken` gives what was dropped on a page, and lets Streamlit forget
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from streamlit.runtime import memory_uploaded_file_manager
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from rag_core.errors import IngestError, LimitExceeded
from rag_core.library.disk.files import storage_problems
from rag_core.library.disk.private import HeldFile, blocks_from, make_folder
from rag_core.library.stored.bounds import MAX_BYTES, MAX_FILES
from rag_core.library.stored.sources import Source, kind_of
from ui.app import state

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

SMALL_BYTES = 1 << 20  # stays in memory: settings and labelled sets are read at once
# that a smaller file counts as: each costs more than its bytes, and an open file where it is on disk
COUNTED_BYTES = 100_000
WAIT = "Add the rest once these are indexed, or index a folder with the command line."


class OnDisk(MemoryUploadedFileManager):
    """Streamlit's store of uploaded files, but for larger ones the bytes are on disk; see `taken` and `contents`."""

    def __init__(self, upload_endpoint: str) -> None:
        super().__init__(upload_endpoint)
        self.held: dict[tuple[str, str], HeldFile] = {}  # by session and file
        self._waiting: dict[tuple[str, str], int] = {}  # bytes that count

    def add_file(self, session_id: str, file: UploadedFileRec) -> None:
        """Keep a file. Called while its request is served, in whatever thread.

        Raises:
            HTTPException: the session has sent more than `MAX_BYTES` that no page took yet.
        """
        counted, key = max(len(file.data), COUNTED_BYTES), (session_id, file.file_id)
        large = len(file.data) > SMALL_BYTES  # those on disk and those in memory have room of their own
        waiting = [
            size for one, size in list(self._waiting.items()) if one[0] == session_id and (one in self.held) is large
        ]
        if counted + sum(waiting) > MAX_BYTES:
            raise HTTPException(413, f"At most {MAX_BYTES // 1_000_000:,} MB at once.")
        if large:
            self.held[key] = _held([file.data])
            file = file._replace(data=b"")
        self._waiting[key] = counted
        super().add_file(session_id, file)

    def remove_file(self, session_id: str, file_id: str) -> None:
        """Forget a file."""
        self.held.pop((session_id, file_id), None)
        self._waiting.pop((session_id, file_id), None)
        super().remove_file(session_id, file_id)

    def remove_session_files(self, session_id: str) -> None:
        """Forget what a session sent and nobody took."""
        for session, file in list(self._waiting):
            if session == session_id:
                self.remove_file(session, file)
        super().remove_session_files(session_id)


def install() -> None:
    """Make every server that is started from now on in this process keep uploads on disk."""
    memory_uploaded_file_manager.MemoryUploadedFileManager = OnDisk  # type: ignore[misc]


def taken(files: Sequence[UploadedFile]) -> list[Source | IngestError]:
    """The files dropped on the page as sources on disk, or errors for those too many; Streamlit forgets all."""
    found: list[Source | IngestError] = []
    total = 0
    for number, file in enumerate(files):
        data = _kept(file) or _held(blocks_from(file))
        total += data.size
        if number >= MAX_FILES:
            found.append(_not_taken(file, f"at most {MAX_FILES} files can be added at once"))
        elif total > MAX_BYTES:
            limit = f"files of at most {MAX_BYTES // 1_000_000:,} MB together can be added at once"
            found.append(_not_taken(file, limit))
        else:
            found.append(Source(file.name, data, kind_of(file.name)))
        _forget(file)
    return found


def _not_taken(file: UploadedFile, why: str) -> LimitExceeded:
    return LimitExceeded(f"{file.name} was not taken: {why}.", remedy=WAIT)


def contents(file: UploadedFile) -> bytes:
    """All bytes of an uploaded file, wherever they are."""
    held = _kept(file)
    return b"".join(held.blocks()) if held else file.getvalue()


def _held(blocks: Iterable[bytes]) -> HeldFile:
    folder = state.library_folder()
    with storage_problems("taking an upload"):
        make_folder(folder)
        return HeldFile(blocks, folder)


def _kept(file: UploadedFile) -> HeldFile | None:
    context = get_script_run_ctx()
    manager = context and context.uploaded_file_mgr
    return manager.held.get((context.session_id, file.file_id)) if context and isinstance(manager, OnDisk) else None


def _forget(file: UploadedFile) -> None:
    context = get_script_run_ctx()
    if context and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)
