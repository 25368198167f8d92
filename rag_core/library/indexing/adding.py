"""Adds accepted sources to a collection, one after the other. Each complete document is published, whatever happens to the rest."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass

from rag_core.domain.documents import Document
from rag_core.domain.ports import Cancel, Progress, Vectors
from rag_core.errors import Cancelled, IngestError, PasswordNeeded, RagError, StoredFileDamaged
from rag_core.library.disk.files import storage_problems
from rag_core.library.indexing.elsewhere import Elsewhere
from rag_core.library.indexing.embedding import Made
from rag_core.library.indexing.indexer import Indexer, Prepared
from rag_core.library.indexing.waiting import WaitingDocument, WaitingDocuments
from rag_core.library.stored.inbox import Accepted, Inbox
from rag_core.library.stored.manifest import Entry
from rag_core.library.stored.writer import Parts, Writer

GROUP_PASSAGES = 256  # passages of small texts that are embedded together: one forward pass each would take several times as long
EARLY_PASSAGES = 64  # that a document, or a group of small texts, has at least to be asked before its vectors are there; about two seconds
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AddReport:
    """The report on sources that were added.

    `unchanged` were in the library already, indexed with the same settings. `problems` are (name, error). Those files are not in the
    library, except where the pages of a stored file that was damaged since are kept (StoredFileDamaged). When it was cancelled, what is
    in none of the three waits in `Library.unfinished()`.
    """

    added: tuple[Document, ...] = ()
    unchanged: tuple[Document, ...] = ()
    problems: tuple[tuple[str, IngestError], ...] = ()
    cancelled: bool = False


class Adding:
    """One call of add, resume or rebuild.

    Args:
        writer: the next version.
        indexer: makes documents.
        inbox: where the sources are listed until they are done.
        keep_locked: leave sources that need a password on the list.
        at_once: publish only when all is done, and leave what fails on the list.
        progress: told ("documents", done, total), and ("<name>: problem", 1, 1) for a source that cannot be indexed.
        cancelled: asked before every document and batch.
        waiting: gets to know the long documents while they are embedded, unless all is published at once.
        elsewhere: has PDFs made by workers; None to make all of them here.
    """

    def __init__(
        self,
        writer: Writer,
        indexer: Indexer,
        inbox: Inbox,
        *,
        keep_locked: bool = False,
        at_once: bool = False,
        progress: Progress | None = None,
        cancelled: Cancel | None = None,
        waiting: WaitingDocuments | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._elsewhere = elsewhere
        self._waiting, self._announced = None if at_once else waiting, dict[str, WaitingDocument]()
        self._writer, self._indexer, self._inbox = writer, indexer, inbox
        self._keep_locked, self._at_once, self._progress, self._cancelled = keep_locked, at_once, progress, cancelled
        self._added: list[str] = []
        self._unchanged: list[str] = []
        self._problems: list[tuple[str, IngestError]] = []
        self._settled: list[str] = []  # digests that need not stay on the list
        self._group: list[Prepared] = []

    def run(self, rows: Sequence[tuple[Accepted, str | None]]) -> AddReport:
        """Index these sources, each with its password.

        Raises:
            RagError: something that is not the fault of one file, such as a full disk; what was complete before is published,
                unless all was to be published at once.
        """
        try:
            return self._run(rows)
        finally:
            if self._waiting is not None:
                self._waiting.withdraw(self._announced)

    def _run(self, rows: Sequence[tuple[Accepted, str | None]]) -> AddReport:
        stopped = False
        try:
            with storage_problems("indexing"), self._elsewhere or nullcontext():
                if self._elsewhere is not None:
                    self._elsewhere.begin([row for row, password in rows if self._fits_elsewhere(row, password)])
                for number, (row, password) in enumerate(rows, 1):
                    self._one(row, password)
                    if self._progress is not None:
                        self._progress("documents", number, len(rows))
                self._finish_group()
        except Cancelled:
            stopped = True
        except RagError:
            if not self._at_once:  # half a rebuild must not replace the whole library
                with suppress(RagError):  # the first error is the one to report
                    self._publish()
            raise
        if not (stopped and self._at_once):
            self._publish()
        known = self._writer.entries
        return AddReport(
            tuple(known[id].document for id in self._added),
            tuple(known[id].document for id in self._unchanged),
            tuple(self._problems),
            stopped,
        )

    def _publish(self) -> None:
        self._give_up_unwanted()
        self._writer.publish(anyhow=self._at_once)  # where nothing came of a rebuild, the library has to be usable all the same
        self._inbox.drop(self._settled)

    def _one(self, row: Accepted, password: str | None) -> None:
        if self._stopped():
            raise Cancelled("Stopped between two files.", remedy="Resume to index the rest.")
        self._give_up_unwanted()
        published = self._writer.entries.get(row.id)
        known = self._indexer.done(row, [published])
        if published is not None and known is not None:
            self._writer.entries[row.id] = self._indexer.dated(published.handed_in(row))
            self._unchanged.append(row.id)
            self._settled.append(row.digest)
            return
        # what came back from a worker is complete on disk, and waits for its turn
        apart = self._elsewhere is not None and self._elsewhere.makes(row)
        entry = None if apart else self._indexer.done(row, self._indexer.complete(row))
        if entry is not None:
            self._warn(row, self._indexer.problem(row))
            self._put(entry)
            return
        made = self._make(row, password)
        if made is None:
            return
        if isinstance(made, Entry):
            self._finish_group()
            self._put(made)
            self._publish_when_due()
            return
        prepared = made
        self._warn(row, prepared.problem)
        if row.kind == "pdf":
            self._finish_group()
        self._group.append(prepared)
        if row.kind == "pdf" or sum(len(waiting.passages) for waiting in self._group) >= GROUP_PASSAGES:
            self._finish_group()

    def _fits_elsewhere(self, row: Accepted, password: str | None) -> bool:
        """Whether workers may make a source: a PDF without a password, which stays in this process, that is not made yet."""
        if row.kind != "pdf" or row.needs_password or password is not None:
            return False
        published = self._writer.entries.get(row.id)
        return self._indexer.done(row, [published]) is None and self._indexer.done(row, self._indexer.complete(row)) is None

    def _make(self, row: Accepted, password: str | None) -> Prepared | Entry | None:
        """The document that a worker made of a source, or what was read and cut of it here; None where neither can be."""
        # one that is in the library already is asked as it is, until its new form is complete
        drafted = self._drafted if self._waiting is not None and row.id not in self._writer.entries else None
        try:
            made = self._elsewhere.entry(row) if self._elsewhere is not None else None
            return made or self._indexer.prepare(row, password, drafted, lambda: row.id in self._unwanted())
        except Cancelled:
            if self._stopped() or row.id not in self._unwanted():
                raise
            self._give_up_unwanted()
        except IngestError as error:
            self._failed(row, error, self._keep_locked and row.needs_password and isinstance(error, PasswordNeeded))
        except (RagError, OSError):
            raise
        except Exception as error:  # a fault of ours on one file must not cost the user the other files
            _log.exception("indexing a document failed")
            problem = f"{row.name} could not be indexed because of a fault in this program ({type(error).__name__})."
            self._failed(row, IngestError(problem, remedy="Report it with the log; the other files are unharmed."))
        return None

    def _drafted(self, draft: WaitingDocument) -> None:
        """Let the first pages of a document be asked while the others are read."""
        assert self._waiting is not None
        self._announced[draft.id] = draft
        self._waiting.announce([draft])

    def _warn(self, row: Accepted, problem: IngestError | None) -> None:
        if problem is not None:
            self._problems.append((row.name, problem))

    def _failed(self, row: Accepted, error: IngestError, keep: bool = False) -> None:
        self._problems.append((row.name, error))
        if self._announced.pop(row.id, None) is not None and self._waiting is not None:  # its first pages could be read
            self._waiting.withdraw([row.id])
        # a rebuild replaces the document: its source must stay on the list, unless nothing can be read from it any more
        if isinstance(error, StoredFileDamaged) or not (keep or self._at_once):
            self._settled.append(row.digest)
        if self._progress is not None:
            self._progress(f"{row.name}: problem", 1, 1)

    def _finish_group(self) -> None:
        group, self._group = self._group, []
        if group:
            self._announce(group)
            self._finish(group)
            self._give_up_unwanted()
            self._publish_when_due()

    def _publish_when_due(self) -> None:
        if not self._at_once:
            self._writer.publish_when_due()

    def _announce(self, group: Sequence[Prepared]) -> None:
        """Let new documents be asked while they are embedded, unless their vectors are there in a moment."""
        if self._waiting is None:
            return
        if sum(len(one.passages) for one in group) < EARLY_PASSAGES and not any(one.row.id in self._announced for one in group):
            return
        # one that is in the library already is asked as it is, until its new form is complete
        new = {one.row.id: self._indexer.waiting(one) for one in group if one.row.id not in self._writer.entries}
        self._announced |= new
        self._waiting.announce(list(new.values()))

    def _made(self, group: Sequence[Prepared]) -> Made:
        """Hands the vectors of a group on to its documents that are asked meanwhile."""
        places = [(one.row.id, place) for one in group for place in range(len(one.passages))]

        def made(first: int, vectors: Vectors) -> None:
            for at, (id, place) in enumerate(places[first : first + len(vectors)]):
                if id in self._announced:
                    self._announced[id].put([place], vectors[at : at + 1])

        return made

    def _finish(self, group: Sequence[Prepared]) -> None:
        try:
            for entry, parts in self._indexer.finish(group, self._made(group), self._is_unwanted(group)):
                self._put(entry, parts)
        except Cancelled:
            unwanted = self._unwanted()
            left = [one for one in group if one.row.id not in unwanted]
            if self._stopped() or len(left) == len(group):
                raise
            self._give_up_unwanted()
            if left:  # the others are embedded without those that somebody deleted
                self._finish(left)
        except IngestError as error:  # said before any of them is complete
            if len(group) == 1:
                self._failed(group[0].row, error)
            else:  # the fault of one: the others are embedded without it
                for prepared in group:
                    self._finish([prepared])

    def _stopped(self) -> bool:
        return self._cancelled is not None and self._cancelled()

    def _unwanted(self) -> frozenset[str]:
        return self._waiting.unwanted() if self._waiting is not None else frozenset()

    def _is_unwanted(self, group: Sequence[Prepared]) -> Cancel:
        ids = {one.row.id for one in group}
        return lambda: not ids.isdisjoint(self._unwanted())

    def _give_up_unwanted(self) -> None:
        """Leave out what somebody deleted while it waited, and forget that it was handed in."""
        gone = self._unwanted() & self._announced.keys()
        for id in gone & set(self._added):  # embedded already, and not published
            self._writer.remove(id)
            self._added.remove(id)
        if gone and self._waiting is not None:
            self._inbox.drop({id.removeprefix("sha256:") for id in gone})
            self._waiting.withdraw(gone)

    def _put(self, entry: Entry, parts: Parts | None = None) -> None:
        old = self._writer.entries.get(entry.document.id)
        if old is not None:  # indexed anew with other settings: what the user wrote about it stays
            entry = old.handed_in(entry.source).reindexed(entry)
        self._writer.put(entry, parts)
        self._added.append(entry.document.id)
        self._settled.append(entry.source.digest)
