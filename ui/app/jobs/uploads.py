"""Keeps files that a browser sends on disk until they are indexed.

Streamlit would hold them in memory as long as a session.

`OnDisk` takes the place of Streamlit's own store; `taken` gives what was dropped on a page, and lets Streamlit forget
it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from streamlit.runtime import memory_uploaded_file_manager
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from rag_core.domain.acts import Action, actor
from rag_core.errors import IngestError, LimitExceeded
from rag_core.library.disk.files import storage_problems
from rag_core.library.disk.private import HeldFile, blocks_from, make_folder
from rag_core.library.stored.bounds import MAX_BYTES, MAX_FILES
from rag_core.library.stored.sources import Source, kind_of
from rag_core.service.visits import ADDRESS_SHARE
from rag_core.settings.configuration import quotas
from ui.app import state
from ui.app.people import visitor

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

# sent by all visitors of a shared demo together; more waits for a page only where somebody means harm
MAX_VISITORS_BYTES = MAX_BYTES
SMALL_BYTES = 1 << 20  # stays in memory: settings and labelled sets are read at once
# that a smaller file counts as: each costs more than its bytes, and an open file where it is on disk
COUNTED_BYTES = 100_000
WAIT = "Add the rest once these are indexed, or index a folder with the command line."


class OnDisk(MemoryUploadedFileManager):
    """Streamlit's store of uploaded files, but for larger ones the bytes are on disk; see `taken` and `contents`."""

    def __init__(self, upload_endpoint: str) -> None:
        super().__init__(upload_endpoint)
        self.held: dict[tuple[str, str], HeldFile] = {}  # by session and file
        # bytes that count, and the visitor of a shared demo who sent them
        self._waiting: dict[tuple[str, str], tuple[int, str]] = {}

    def add_file(self, session_id: str, file: UploadedFileRec) -> None:
        """Keep a file. Called while its request is served, in whatever thread.

        Raises:
            HTTPException: the session has sent more than `MAX_BYTES` that no page took yet; a visitor in all sessions
                more than they may have documents, visitors from one address more than their share of
                `MAX_VISITORS_BYTES`, or all visitors more than that.
        """
        home, counted, key = actor().home, max(len(file.data), COUNTED_BYTES), (session_id, file.file_id)
        large = len(file.data) > SMALL_BYTES  # those on disk and those in memory have room of their own
        waiting = [
            (size, one[0], sender) for one, (size, sender) in list(self._waiting.items()) if (one in self.held) is large
        ]
        if counted + sum(size for size, session, _ in waiting if session == session_id) > MAX_BYTES:
            raise _too_much(MAX_BYTES)
        if home:
            _require_room(home, counted, [(size, sender) for size, _, sender in waiting if sender])
        if large:
            self.held[key] = _held([file.data])
            file = file._replace(data=b"")
        self._waiting[key] = counted, home
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


def _require_room(who: str, counted: int, waiting: Sequence[tuple[int, str]]) -> None:
    """More than may wait is refused: of the visitor's, from their address, or of all visitors."""
    if not actor().may_somewhere(Action.INDEX):
        raise HTTPException(403, "There is no room for your documents now.")
    visits = visitor.visits()
    near = visits.near(who) if visits else frozenset()
    own = most_of_one()
    for most, sent in (
        (own, sum(size for size, sender in waiting if sender == who)),
        (round(MAX_VISITORS_BYTES * ADDRESS_SHARE), sum(size for size, sender in waiting if sender in near)),
        (MAX_VISITORS_BYTES, sum(size for size, _ in waiting)),
    ):
        if sent + counted > most:
            raise _too_much(own)


def most_of_one() -> int:
    """Bytes that may be taken at once: of a visitor of a shared demo as many as their documents may have."""
    quota = quotas(os.environ)[1] if actor().home else None
    return MAX_BYTES if quota is None else min(MAX_BYTES, quota)


def _too_much(most: int) -> HTTPException:
    return HTTPException(413, f"At most {most // 1_000_000:,} MB at once.")


def install() -> None:
    """Make every server that is started from now on in this process keep uploads on disk."""
    memory_uploaded_file_manager.MemoryUploadedFileManager = OnDisk  # type: ignore[misc]


def taken(files: Sequence[UploadedFile]) -> list[Source | IngestError]:
    """The files dropped on the page as sources on disk, or errors for those too many; Streamlit forgets all."""
    found: list[Source | IngestError] = []
    total, most = 0, most_of_one()
    for number, file in enumerate(files):
        data = _kept(file) or _held(blocks_from(file))
        total += data.size
        if number >= MAX_FILES:
            found.append(_not_taken(file, f"at most {MAX_FILES} files can be added at once"))
        elif total > most:
            limit = f"files of at most {most // 1_000_000:,} MB together can be added at once"
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
