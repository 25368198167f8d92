"""The uploads whose jobs wait for their turn: the call that runs has their files read and cut, too, after its own (`ahead`).

So they can be asked by their words long before their turn. Each is made as its own job asked for it, and tells that job. What was made
waits here for the job's own call, which takes it in its turn as if it had made it; what was not made by then is made there.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rag_core.domain.ports import Cancel, Progress, Step
from rag_core.library.indexing.indexer import Indexer, Prepared
from rag_core.library.indexing.waiting import WaitingDocument
from rag_core.library.stored.inbox import Accepted

Row = tuple[Accepted, str | None]  # a source with its password


@dataclass(frozen=True, slots=True)
class Offer:
    """A file that was read and cut before its turn, and the document that is asked meanwhile."""

    prepared: Prepared
    document: WaitingDocument


class Behind:
    """The uploads that wait for their turn in one collection. Safe to share between threads; `changed` guards all that is in them."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._uploads: list[Upload] = []

    def expect(self, upload: Upload) -> None:
        """Have these files made by the call that runs now, or by the next one, until their own call takes them."""
        with self.changed:
            self._uploads.append(upload)
            self.changed.notify_all()

    def leave(self, upload: Upload) -> dict[str, Offer]:
        """See `Upload.leave`."""
        with self.changed:
            if upload in self._uploads:
                self._uploads.remove(upload)
            found, upload.left_for_good = dict(upload.found), True
            upload.left.clear()
            upload.found.clear()
            self.changed.notify_all()  # there may be room for others
        return found

    @property
    def passages(self) -> int:
        """Those that wait for their job's turn."""
        with self.changed:
            return sum(len(one.prepared.passages) for upload in self._uploads for one in upload.found.values())

    def next(self, but: Collection[str]) -> Task | None:
        """The next file to be made, `but` these ids."""
        with self.changed:
            for upload in self._uploads:
                for id, (row, password) in upload.left.items():
                    if id not in but and not upload.cancelled():
                        return Task(row, password, upload)
        return None

    def has(self, id: str) -> bool:
        """Whether one of the uploads was handed in with this source, whatever became of it since."""
        with self.changed:
            return any(id in upload.ids for upload in self._uploads)

    def forget(self, ids: Collection[str]) -> None:
        """Somebody deleted these: they are not made, and what was made is gone."""
        with self.changed:
            for upload in self._uploads:
                for id in ids:
                    upload.left.pop(id, None)
                    upload.found.pop(id, None)

    def made(self) -> list[tuple[Upload, Offer]]:
        """All that was made and waits for its job's turn."""
        with self.changed:
            return [(upload, one) for upload in self._uploads if not upload.cancelled() for one in upload.found.values()]


class Upload:
    """The files of one job that waits.

    Args:
        rows: in their order; they are stored, and on the library's list.
        indexer: makes them under the job's own settings, tells the job, and stops with it.
        progress: of the job.
        cancelled: whether the job was stopped.
        behind: where it waits.
    """

    def __init__(self, rows: Sequence[Row], indexer: Indexer, progress: Progress, cancelled: Cancel, behind: Behind) -> None:
        self.indexer, self.cancelled = indexer, cancelled
        self._progress, self._behind = progress, behind
        self.left = {row.id: (row, password) for row, password in rows}  # not made yet
        self.ids = frozenset(self.left)
        self.found: dict[str, Offer] = {}
        self.left_for_good = False

    @property
    def is_gone(self) -> bool:
        """Whether its job was stopped, and may have ended, while another call makes its files."""
        return self.left_for_good or self.cancelled()

    def made(self, row: Accepted, found: Offer | None, *, stopped: bool) -> None:
        """Keep what was made of a file; None where it cannot be made, or was `stopped`: then another call may."""
        if row.id not in self.left:  # deleted, or its own call has begun
            return
        if found is not None or not stopped:
            del self.left[row.id]
        if found is not None:
            self.found[row.id] = found

    def leave(self) -> dict[str, Offer]:
        """Its turn has come, or never will: nobody else makes any of it from now on. What was made of it, by id."""
        return self._behind.leave(self)

    def tell(self, row: Accepted, what: str) -> None:
        """Tell the job where a file stands."""
        self._progress(Step(f"{row.name}: {what}", row.id), 0, 1)


@dataclass(frozen=True, slots=True)
class Task:
    """A file that is to be made ahead: of the call itself, or of an upload that waits."""

    row: Accepted
    password: str | None
    upload: Upload | None = None
