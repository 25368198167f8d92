"""Deleting from a collection: room for it on a full disk, and a note, so that a deletion which is cut off is finished all the same.

The note says that a deletion is under way. It is written before anything goes, and removed when all is done. Who finds one, because a
process was killed meanwhile, deletes what is left of what went: all but the newest version, and what waits to be indexed. That is whoever
opens the library, or changes it, next. The note names no document. Of those to be deleted everywhere it holds the digests, by which the
copies are told that a repair put aside.

A reader that has an older version open keeps its passages, vectors and words. A page that it has not read of a document that went is gone:
a question that needs one is asked again, of the newest version (`rag_core.engine`).
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rag_core.errors import RagError
from rag_core.library.disk.files import damaged, names_in, seal, unseal, write_atomically
from rag_core.library.disk.room import NOTED_FIRST, OWN_BYTES, MakingRoom, give_up_reserve, is_short
from rag_core.library.erasing import erase_copies
from rag_core.library.stored import stored_sources
from rag_core.library.stored.inbox import Inbox
from rag_core.library.stored.manifest import Manifest
from rag_core.library.stored.store import Store

NOTE = "deleting.json"  # its name in the folder of the collection
_DIGEST = re.compile("[0-9a-f]{64}")
_log = logging.getLogger(__name__)


class Deletions:
    """Those of one collection. Whoever deletes holds the writer's lock.

    Args:
        store: the collection's files.
        inbox: of the accepted sources.
        newest: the newest version.
        held: the versions that somebody in this process holds.
    """

    def __init__(self, store: Store, inbox: Inbox, newest: Callable[[], Manifest], held: Callable[[], Collection[int]]) -> None:
        self._store, self._inbox, self._newest, self._held = store, inbox, newest, held
        self._note = Note(store.root)

    @property
    def cut_off(self) -> bool:
        """Whether a deletion is under way, or was cut off; one look at the disk."""
        return self._note.there

    def begin(self, everywhere: Collection[str] = ()) -> None:
        """Note that a deletion begins; `everywhere` are digests of what goes from all copies.

        Raises:
            OSError: the disk refused.
        """
        self._note.write(everywhere)

    @contextmanager
    def under_way(self, *, everywhere: bool) -> Iterator[MakingRoom]:
        """Within the block something is deleted, which calls `begin` before anything goes; what needs room is done by what this yields.

        On a disk that is full, or nearly, what was deleted goes at once, with what older versions keep. So it does where it goes
        `everywhere`. A question that is being asked of an older version at that moment is asked again where it needs them. Where there is
        no room to delete, the reserve and those versions go first, then what was made of unfinished sources, which is made again when they
        are resumed.

        Raises:
            RagError, OSError: something cannot be deleted now, and should be `everywhere`; it is finished later.
        """
        room = MakingRoom([self._older, self._half_made], OWN_BYTES + self._newest().index_bytes)
        noted, before = self._note.there, self._state()
        try:
            yield room
        except (OSError, RagError):
            with suppress(OSError, RagError):
                if not noted and self._state() == before:
                    self._note.remove()  # nothing went
            raise
        short = room.made or is_short(self._store.root)
        if everywhere:
            finish(self._store, self._inbox)
        elif short:
            self.finish_cut_off(())
        elif not noted:
            self._note.remove()  # the older versions are left to their readers
        if short:
            self._store.keep_reserve(self._newest())

    def forget_waiting(self, digests: Collection[str]) -> None:
        """Forget sources that were deleted while they waited for their vectors. The thread that indexes calls it.

        Raises:
            LibraryError: there is no room for it; they stay on the list.
        """
        with_room, noted = MakingRoom([self._older], OWN_BYTES, NOTED_FIRST), self._note.there
        with_room(self.begin)
        with_room(lambda: self._inbox.drop(digests))
        if self.clear(self._held()) and not noted:
            self._note.remove()
        self._store.keep_reserve(self._newest())

    def clear(self, live: Collection[int], **how: Any) -> bool:
        """Delete what nobody needs; whether all of it is gone. See `Store.clear`."""
        with self._inbox.held():  # else what is being handed in just now would be cleared away
            return self._store.clear(self._newest().version, live, self._inbox.rows(), **how)

    def finish_cut_off(self, live: Collection[int]) -> None:
        """As `finish`; what cannot be deleted now is left to whoever comes next."""
        try:
            finish(self._store, self._inbox, live)
        except (OSError, RagError) as error:
            _log.warning("a deletion could not be finished: %s", type(error).__name__)

    def _state(self) -> tuple[object, ...]:
        return self._store.pointer(), self._inbox.rows().keys()

    def _older(self) -> None:
        give_up_reserve(self._store.root)
        self.clear((), kept=1)

    def _half_made(self) -> None:
        self.clear((), kept=1, half_made=False)


def finish(store: Store, inbox: Inbox, live: Collection[int] = ()) -> None:
    """Delete all but the newest version, those that are `live`, and what waits to be indexed, where a deletion is not finished.

    The note stays where something cannot be deleted now, or an older version is live.

    Raises:
        LibraryDamaged: the newest version cannot be told from the others: nothing is deleted then.
        RagError, OSError: something cannot be deleted now.
    """
    note = Note(store.root)
    if not note.there:
        return
    manifest = store.manifest()
    newest, entries = (manifest.version, manifest.entries) if manifest else (0, ())
    if manifest is None and not inbox.there and names_in(store.root / stored_sources.FOLDER):
        raise damaged(store.root / "CURRENT", "is missing")  # there are files, and no list says which of them went
    with inbox.held():
        waiting = inbox.rows()
        gone = store.clear(newest, live, waiting, kept=1, insist=True)
    erase_copies(store.root, note.everywhere().difference(waiting, (entry.source.digest for entry in entries)))
    if gone and all(version >= newest for version in live):
        note.remove()


class Note:
    """The note in a collection's folder."""

    def __init__(self, root: Path) -> None:
        self._path = root / NOTE

    @property
    def there(self) -> bool:
        """Whether there is one."""
        return os.path.exists(self._path)

    def write(self, everywhere: Collection[str]) -> None:
        """Write it, with these digests beside those of an earlier one.

        Raises:
            OSError: the disk refused.
        """
        known = self.everywhere()
        wanted = known | {digest for digest in everywhere if _DIGEST.fullmatch(digest)}
        if not self.there or wanted != known:
            write_atomically(self._path, json.dumps(seal({"everywhere": sorted(wanted)})).encode())

    def everywhere(self) -> frozenset[str]:
        """The digests in it; none where it was damaged."""
        try:
            return frozenset(filter(_DIGEST.fullmatch, unseal(json.loads(self._path.read_bytes()))["everywhere"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return frozenset()

    def remove(self) -> None:
        """Nothing is left to be done.

        Raises:
            OSError: the disk refused.
        """
        if self._path.is_dir() and not self._path.is_symlink():
            shutil.rmtree(self._path)  # not ours, and in its place: no deletion would come to an end
        else:
            self._path.unlink(missing_ok=True)
