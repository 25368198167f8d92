"""Adds accepted sources to a collection, in their order.

Each complete document is put into the library, whatever happens to the rest.

The vectors are made in this thread, one file after the other; two more read and cut the next files meanwhile (`ahead`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass

from rag_core.domain.documents import Document
from rag_core.domain.ports import Vectors
from rag_core.errors import Cancelled, IngestError, PasswordNeeded, RagError, StoredFileDamaged
from rag_core.library.disk.files import storage_problems
from rag_core.library.indexing.ahead import EARLY_PASSAGES, Upload
from rag_core.library.indexing.early import WaitingDocument
from rag_core.library.indexing.elsewhere import Elsewhere
from rag_core.library.indexing.embedding import Made
from rag_core.library.indexing.indexer import Indexer
from rag_core.library.stored.collection import Form, Gone
from rag_core.library.stored.entry import Accepted, Entry, Row, source_digest

# passages of small texts that are embedded together: one forward pass each would take several times as long
GROUP_PASSAGES = 256
PUBLISH_SECONDS = 2.0  # a reader sees new documents this often while many are added
PUBLISH_SHARE = 4.0  # and publishing takes at most one part in five of the time, however large the library is
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
    """The library that documents are added to.

    Args:
        ready: its documents by id.
        publish: see `Library._publish`.
        refresh: called where there is more to be asked than before.
        waiting: a document that is asked before its vectors are there, by its number; None where it is not.
        read_ahead: begins an `Upload`.
        is_expected: whether another upload than these has a source, by the id of its document.
    """

    ready: Callable[[], dict[str, Entry]]
    publish: Callable[[Sequence[int], Sequence[Entry], Collection[str], Collection[int] | None], frozenset[int]]
    refresh: Callable[[], object]
    waiting: Callable[[int], WaitingDocument | None]
    read_ahead: Callable[[Sequence[Row], Indexer, int | None], Upload]
    is_expected: Callable[[str, Sequence[Upload]], bool]


class Adding:
    """One call of add, resume, reread or rebuild.

    Args:
        target: the library.
        indexer: makes documents. Its progress is told ("documents", done, total), and ("<name>: problem", 1, 1) for a
            source that cannot be indexed. Two threads tell it of their files, each `Step` with its document.
        keep_locked: leave sources that need a password on the list.
        at_once: publish only when all is done, and leave what fails on the list.
        elsewhere: has PDFs made by workers; None to make all of them here. With workers no file is read ahead: they
            have all cores at work.
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
        self._added: dict[int, str] = {}  # ids of documents by their number
        self._unchanged: list[str] = []
        self._problems: list[tuple[str, IngestError]] = []
        self._settled: set[str] = set()  # digests that need not stay on the list
        self._complete: list[int] = []  # that are not in the library yet
        self._described: list[Entry] = []
        self._group: list[Form] = []
        self._uploads: list[Upload] = []
        # the first document at once: it can be asked meanwhile
        self._last, self._took = time.monotonic() - PUBLISH_SECONDS, 0.0

    def run(self, rows: Sequence[Row], upload: Upload | None = None) -> AddReport:
        """Index these sources, each with its password; what was made of them before their turn is in `upload`.

        Raises:
            RagError: something that is not the fault of one file, such as a full disk; what was complete before is
                published, unless all was to be published at once.
        """
        stopped = False
        try:
            with storage_problems("indexing"), self._elsewhere or nullcontext():
                self._begin([(row, password) for row, password in rows if not self._is_there(row)], upload)
                self._in_order(rows)
        except Cancelled:
            stopped = True
        except RagError:
            if not self._at_once:  # half a rebuild must not replace the whole library
                with suppress(RagError):  # the first error is the one to report
                    self._publish()
            raise
        finally:
            for one in self._uploads:
                one.leave()
        if not (stopped and self._at_once):
            self._publish()
        known = self._target.ready() | (self._made() if stopped and self._at_once else {})
        return AddReport(
            tuple(known[id].document for id in self._added.values() if id in known),
            tuple(known[id].document for id in self._unchanged if id in known),
            tuple(self._problems),
            stopped,
        )

    def _made(self) -> dict[str, Entry]:
        """The documents that a rebuild has made when it is stopped, and that are not in the library."""
        return {
            form.entry.document.id: form.entry
            for id in self._added.values()
            for form in self._indexer.collection.forms(source_digest(id))
            if form.complete
        }

    def _begin(self, rows: Sequence[Row], upload: Upload | None) -> None:
        if self._elsewhere is not None:
            self._elsewhere.begin([row for row, password in rows if self._fits_elsewhere(row, password)])
            return
        if upload is not None:
            self._uploads.append(upload)
        left = [(row, password) for row, password in rows if upload is None or not upload.makes(row.id)]
        self._uploads.append(self._target.read_ahead(left, self._indexer, None if self._at_once else EARLY_PASSAGES))

    def _in_order(self, rows: Sequence[Row]) -> None:
        for number, (row, password) in enumerate(rows, 1):
            self._one(row, password)
            self._indexer.progress("documents", number, len(rows))
        self._finish_group()

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

    def _one(self, row: Accepted, password: str | None) -> None:
        self._require_going()
        if self._is_there(row):
            known = self._documents[row.id]
            if (again := known.handed_in(row)) != known:
                self._documents[row.id] = again
                self._described.append(again)
            if self._at_once and (problem := self._indexer.problem_of(row)) is not None:
                self._problems.append((row.name, problem))
            self._unchanged.append(row.id)
            self._settled.add(row.digest)
            return
        form = self._make(row, password)
        if form is None:
            return
        if form.reused and (problem := self._indexer.problem_of(row)) is not None:
            self._problems.append((row.name, problem))
        if form.complete or row.kind == "pdf":
            self._finish_group()
        if form.complete:
            self._done(form)
            self._publish_when_due()
            return
        self._group.append(form)
        if row.kind == "pdf" or sum(waiting.count for waiting in self._group) >= GROUP_PASSAGES:
            self._finish_group()

    def _require_going(self) -> None:
        if self._indexer.stopped():
            raise Cancelled("Stopped between two files.", remedy="Resume to index the rest.")

    def _is_there(self, row: Accepted) -> bool:
        """Whether a source is in the library, indexed with the same settings; a rebuild looks whether all of it can be
        read.
        """
        entry = self._documents.get(row.id)
        return (
            entry is not None
            and self._indexer.is_as_now(row, entry)
            and (not self._at_once or self._indexer.collection.is_sound(entry.row))
        )

    def _fits_elsewhere(self, row: Accepted, password: str | None) -> bool:
        """Whether workers may make a source: a PDF without a password, which stays in this process, that is not made
        yet.
        """
        return row.kind == "pdf" and not row.needs_password and password is None and self._indexer.complete(row) is None

    def _make(self, row: Accepted, password: str | None) -> Form | None:
        """A source as a worker made it, or as it was read and cut here; None where it cannot be made, or was
        deleted.
        """
        try:
            return self._taken(row) or self._indexer.prepare(row, password)
        except Gone:
            return None
        except Cancelled:
            if self._indexer.stopped():
                raise
            return self._make(row, password)  # whoever made it before its turn was stopped
        except IngestError as error:
            self._failed(row, error, self._keep_locked and row.needs_password and isinstance(error, PasswordNeeded))
        except (RagError, OSError):
            raise
        except Exception as error:  # a fault of ours on one file must not cost the user the other files
            _log.error("indexing a document failed", exc_info=error)
            problem = f"{row.name} could not be indexed because of a fault in this program ({type(error).__name__})."
            self._failed(row, IngestError(problem, remedy="Report it with the log; the other files are unharmed."))
        return None

    def _taken(self, row: Accepted) -> Form | None:
        """The form of a source that was made before its turn, or by a worker; None where it is to be made now."""
        for upload in self._uploads:
            if upload.makes(row.id):
                form = upload.take(row, self._require_going)
                if self._indexer.is_usable(form, row):
                    return form
        return self._elsewhere.form(row) if self._elsewhere is not None and self._elsewhere.makes(row) else None

    def _failed(self, row: Accepted, error: IngestError, keep: bool = False) -> None:
        self._problems.append((row.name, error))
        # a rebuild replaces the document: its source must stay on the list, unless nothing can be read from it any more
        # and another job may have it with its password, and says itself what is wrong with it
        if isinstance(error, StoredFileDamaged) or not (
            keep or self._at_once or self._target.is_expected(row.id, self._uploads)
        ):
            self._settled.add(row.digest)
        self._indexer.tell_problem(row)

    def _finish_group(self) -> None:
        group, self._group = self._group, []
        if group:
            self._finish(group)
            self._publish_when_due()

    def _batch_made(self, group: Sequence[Form]) -> Made:
        """Hands the vectors of a group on to its documents that are asked meanwhile, and lets those who read have as
        much time.
        """
        places = [(form.entry.row, place) for form in group for place in range(form.count)]
        began = time.monotonic()

        def made(first: int, vectors: Vectors) -> None:
            nonlocal began
            for at, (row, place) in enumerate(places[first : first + len(vectors)]):
                if (document := self._target.waiting(row)) is not None and place < len(document.passages):
                    document.put([place], vectors[at : at + 1])
            for upload in self._uploads:
                upload.give_way(time.monotonic() - began)
            began = time.monotonic()

        return made

    def _finish(self, group: Sequence[Form]) -> None:
        try:
            gone = self._indexer.finish(group, self._batch_made(group))
            for form in group:
                if form not in gone:
                    self._done(form)
        except Gone:
            if left := [form for form in group if self._indexer.collection.has_form(form.entry.row)]:
                self._finish(left)
        except IngestError as error:  # said before any of them is complete
            if len(group) == 1:
                self._indexer.collection.drop_form(group[0].entry.row)
                self._failed(group[0].entry.source, error)
                self._target.refresh()
            else:  # the fault of one: the others are embedded without it
                for form in group:
                    self._finish([form])

    def _done(self, form: Form) -> None:
        self._complete.append(form.entry.row)
        self._added[form.entry.row] = form.entry.document.id
        self._settled.add(form.entry.source.digest)
        for upload in self._uploads:
            upload.embedded(form)
