"""Adds accepted sources to a collection, in their order; each complete document is put in, whatever happens to the
rest.

One file after the other is read and cut in this thread. A second thread makes its vectors and puts it into the library,
while this one reads on.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext, suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial

from rag_core.domain.documents import Document
from rag_core.domain.ports import Step
from rag_core.errors import Cancelled, IngestError, LibraryError, PasswordNeeded, RagError, StoredFileDamaged
from rag_core.library.disk.files import storage_problems
from rag_core.library.indexing.elsewhere import Elsewhere
from rag_core.library.indexing.indexer import Indexer
from rag_core.library.stored.collection import READING, Cut, Gone, pack_passages
from rag_core.library.stored.entry import Accepted, Entry, Row

# passages of small texts that are embedded together: one forward pass each would take several times as long
GROUP_PASSAGES = 256
PUBLISH_SECONDS = 2.0  # a reader sees new documents this often while many are added
PUBLISH_SHARE = 4.0  # and publishing takes at most one part in five of the time, however large the library is
THREAD = "embedding"  # the name of the thread that embeds
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AddReport:
    """The report on sources that were added.

    `unchanged` were in the library already, indexed with the same settings. `problems` are (name, error). Those files
    are not in the library, except where the pages of a stored file that was damaged since are kept (StoredFileDamaged).
    When it was cancelled, what is in none of the three waits in `Library.unfinished()`.
    """

    added: tuple[Document, ...] = ()
    unchanged: tuple[Document, ...] = ()
    problems: tuple[tuple[str, IngestError], ...] = ()
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """The library that documents are added to, by its methods; `ready` gives its documents by id."""

    ready: Callable[[], dict[str, Entry]]
    publish: Callable[[Sequence[int], Sequence[Entry], Collection[str], Collection[int] | None], frozenset[int]]
    change: Callable[[Callable[[sqlite3.Connection], object]], object]
    refresh: Callable[[], object]
    end: Callable[[], object]


class Adding:
    """One call of add, resume, reread or rebuild.

    Args:
        target: the library.
        indexer: makes documents. Its progress is told ("documents", done, total), and ("<name>: problem", 1, 1) for a
            source that cannot be indexed. Two threads tell it of their files, each `Step` with its document.
        keep_locked: leave sources that need a password on the list.
        at_once: publish only when all is done, and leave what fails on the list.
        elsewhere: has PDFs made by workers; None to make all of them here.
    """

    def __init__(
        self,
        target: Target,
        indexer: Indexer,
        *,
        keep_locked: bool = False,
        at_once: bool = False,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._target, self._indexer, self._elsewhere = target, indexer, elsewhere
        self._keep_locked, self._at_once = keep_locked, at_once
        self._documents = target.ready()
        self._added: dict[int, Entry] = {}  # by their number
        self._unchanged: list[str] = []
        self._problems: list[tuple[str, IngestError]] = []
        self._settled: set[str] = set()  # digests that need not stay on the list
        self._complete: list[int] = []  # that are not in the library yet
        self._described: list[Entry] = []
        self._group: list[Cut] = []
        self._other: threading.Thread | None = None
        self._error: BaseException | None = None  # that the other thread ended with
        self._files = 0
        # the first document at once: it can be asked meanwhile
        self._last, self._took = time.monotonic() - PUBLISH_SECONDS, 0.0

    def run(self, rows: Sequence[Row]) -> AddReport:
        """Index these sources, each with its password.

        Raises:
            RagError: no fault of one file, such as a full disk; what was complete is published, unless `at_once`.
        """
        stopped, self._files = False, len(rows)
        try:
            with storage_problems("indexing"), self._elsewhere or nullcontext():
                self._in_order(rows)
        except Cancelled:
            stopped = True
        except RagError:
            if not self._at_once:  # half a rebuild must not replace the whole library
                with suppress(RagError):  # the first error is the one to report
                    self._publish()
            raise
        finally:
            with suppress(RagError):  # as above, or whoever indexes next does it
                self._target.end()
        if not (stopped and self._at_once):
            self._publish()
        known = self._target.ready()
        if stopped and self._at_once:  # they are made, and not in the library
            made = (one for one in self._added.values() if self._indexer.collection.has_form(one.row))
            known |= {one.document.id: one for one in made}
        return AddReport(
            tuple(known[one.document.id].document for one in self._added.values() if one.document.id in known),
            tuple(known[id].document for id in self._unchanged if id in known),
            tuple(self._problems),
            stopped,
        )

    def _in_order(self, rows: Sequence[Row]) -> None:
        try:
            if self._elsewhere is not None:
                self._elsewhere.begin([row for row, password in rows if self._fits_elsewhere(row, password)])
            for number, (row, password) in enumerate(rows, 1):
                self._one(number, row, password)
            self._finish_group(len(rows))
            self._wait()
        except BaseException as error:
            if not isinstance(error, RagError):  # else what the other thread makes is still kept
                self._indexer.ended.set()
            with suppress(Cancelled):  # an error of the other thread is why this one was stopped
                self._wait()
            raise

    def _wait(self) -> None:
        """Wait for the other thread; its errors are raised here."""
        if self._other is not None:
            self._other.join()
        self._other, error, self._error = None, self._error, None
        if error is not None:
            raise error

    def _then(self, number: int, task: Callable[..., object], *args: object) -> None:
        """Do a task once the other thread has done its own, and tell that `number` files are done, 0 for none."""
        self._wait()
        self._do(number, task, *args)

    def _meanwhile(self, number: int, task: Callable[..., object], *args: object) -> None:
        self._wait()

        def work() -> None:
            try:
                self._do(number, task, *args)
            except BaseException as error:
                self._error = error
                self._indexer.ended.set()

        thread = threading.Thread(target=copy_context().run, args=(work,), daemon=True, name=THREAD)
        try:
            thread.start()
        except RuntimeError:  # the system gives no more threads
            self._do(number, task, *args)
        else:
            self._other = thread

    def _do(self, number: int, task: Callable[..., object], *args: object) -> None:
        task(*args)
        self._publish_when_due()
        if number:
            self._indexer.progress("documents", number, self._files)

    def _one(self, number: int, row: Accepted, password: str | None) -> None:
        if self._indexer.stopped():
            raise Cancelled("Stopped between two files.", remedy="Resume to index the rest.")
        if self._is_there(row):
            self._then(number, self._known, row)
            return
        if row.kind == "pdf":  # it may take long
            self._finish_group(number - 1)
        made = self._make(row, password)
        if made is None or isinstance(made, IngestError):
            self._then(number, self._failed, row, made)
            return
        if isinstance(made, Entry) or made.reused:
            self._then(0, self._look_at, row)
        if isinstance(made, Entry):
            self._finish_group(number - 1)
            self._then(number, self._done, made)
            return
        self._group.append(made)
        if row.kind == "pdf" or sum(len(cut.passages) for cut in self._group) >= GROUP_PASSAGES:
            self._finish_group(number)

    def _is_there(self, row: Accepted) -> bool:
        """Whether a source is in the library under the same settings; for a rebuild, also whether it can be read."""
        entry = self._documents.get(row.id)
        return (
            entry is not None
            and self._indexer.is_as_now(row, entry)
            and (not self._at_once or self._indexer.collection.is_sound(entry.row))
        )

    def _fits_elsewhere(self, row: Accepted, password: str | None) -> bool:
        """Whether workers may make a source: a PDF without a password that is not made yet."""
        if row.kind != "pdf" or row.needs_password or password is not None or self._is_there(row):
            return False
        return self._indexer.complete(row) is None

    def _make(self, row: Accepted, password: str | None) -> Entry | Cut | IngestError | None:
        """The document of a source, or what was read and cut here, or why not; None where it was deleted."""
        try:
            if (entry := self._indexer.complete(row)) is not None:
                return entry
            if self._elsewhere is not None and (entry := self._elsewhere.entry(row)) is not None:
                return entry
            return self._indexer.prepare(
                row, password, None if self._at_once else partial(self._meanwhile, 0, self._batch)
            )
        except Gone:
            return None
        except IngestError as error:
            return error
        except (RagError, OSError):
            raise
        except Exception as error:  # a fault of ours on one file must not cost the user the other files
            if self._indexer.ended.is_set():  # it is the other thread's
                raise
            _log.error("indexing a document failed", exc_info=error)
            problem = f"{row.name} could not be indexed because of a fault in this program ({type(error).__name__})."
            return IngestError(problem, remedy="Report it with the log; the other files are unharmed.")

    def _known(self, row: Accepted) -> None:
        known = self._documents[row.id]
        if (again := known.handed_in(row)) != known:
            self._documents[row.id] = again
            self._described.append(again)
        if self._at_once:
            self._look_at(row)
        self._unchanged.append(row.id)
        self._settled.add(row.digest)

    def _failed(self, row: Accepted, error: IngestError | None) -> None:
        if error is None:  # it was deleted
            return
        self._problems.append((row.name, error))
        locked = self._keep_locked and row.needs_password and isinstance(error, PasswordNeeded)
        # a rebuild replaces the document: its source must stay on the list, unless nothing can be read from it any more
        if isinstance(error, StoredFileDamaged) or not (locked or self._at_once):
            self._settled.add(row.digest)
        with suppress(LibraryError):  # a full disk: whoever makes it again drops it; a rebuild has another model
            self._indexer.collection.drop_forms(row.digest)
            self._target.refresh()
        self._indexer.progress(Step(f"{row.name}: problem", row.id), 1, 1)

    def _look_at(self, row: Accepted) -> None:
        if (problem := self._indexer.problem_of(row)) is not None:
            self._problems.append((row.name, problem))

    def _batch(self, batch: Cut) -> None:
        try:
            vectors, packed = self._indexer.vectors([batch]), pack_passages(batch.passages)
        except (Cancelled, RagError):  # the whole document meets it
            return
        self._target.change(lambda db: self._indexer.collection.put(db, batch, packed, vectors, READING))

    def _finish_group(self, number: int) -> None:
        group, self._group = self._group, []
        if group:
            self._meanwhile(number, self._finish, group)

    def _finish(self, group: Sequence[Cut]) -> None:
        try:
            for entry in self._indexer.finish(group):
                self._done(entry)
        except Gone:
            if left := [cut for cut in group if self._indexer.collection.has_form(cut.entry.row)]:
                self._finish(left)
        except IngestError as error:  # said before any of them is complete
            if len(group) == 1:
                self._failed(group[0].entry.source, error)
            else:  # the fault of one: the others are embedded without it
                for cut in group:
                    self._finish([cut])

    def _done(self, entry: Entry) -> None:
        self._complete.append(entry.row)
        self._added[entry.row] = entry
        self._settled.add(entry.source.digest)

    def _publish(self) -> None:
        begun = time.monotonic()
        stay = [self._documents[id].row for id in self._unchanged] if self._at_once else None
        put_in = self._target.publish(self._complete, self._described, self._settled, stay)
        for gone in set(self._complete) - put_in:
            del self._added[gone]
        self._complete, self._described, self._settled = [], [], set()
        self._last = time.monotonic()
        self._took = self._last - begun

    def _publish_when_due(self) -> None:
        """Publish if the last time is long enough ago, measured against what publishing costs."""
        if not self._at_once and time.monotonic() - self._last >= max(PUBLISH_SECONDS, PUBLISH_SHARE * self._took):
            self._publish()
