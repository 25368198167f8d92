"""Adds accepted sources to a collection, in their order. Each complete document is published, whatever happens to the rest.

The vectors are made in this thread, one file after the other; two more read and cut the next files meanwhile (`ahead`), and those of
uploads that wait for their turn (`behind`). They hand over what they made, and let it be asked; all else is done here.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from types import MappingProxyType

from rag_core.domain.documents import Document
from rag_core.domain.ports import Cancel, Progress, Step, Vectors
from rag_core.errors import Cancelled, IngestError, PasswordNeeded, RagError, StoredFileDamaged
from rag_core.library.disk.files import storage_problems
from rag_core.library.indexing.ahead import Ahead, Found
from rag_core.library.indexing.announced import Announced
from rag_core.library.indexing.behind import Behind, Offer
from rag_core.library.indexing.elsewhere import Elsewhere
from rag_core.library.indexing.embedding import Made
from rag_core.library.indexing.indexer import Indexer, Prepared
from rag_core.library.indexing.offering import Offering
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
        progress: told ("documents", done, total), and ("<name>: problem", 1, 1) for a source that cannot be indexed. Two threads tell it
            of their files, each `Step` with its document.
        cancelled: asked before every document and batch.
        waiting: gets to know the documents that wait for their vectors, unless all is published at once.
        elsewhere: has PDFs made by workers; None to make all of them here. With workers no file is read ahead: they have all cores at work.
        behind: uploads that wait for their turn; None where nothing is asked early.
        ready: what was made of the sources while they waited for theirs, by id.
        forget: takes sources off the list, by digest, that somebody deleted meanwhile; None where nobody can.
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
        behind: Behind | None = None,
        ready: Mapping[str, Offer] = MappingProxyType({}),
        forget: Callable[[Collection[str]], None] | None = None,
    ) -> None:
        self._elsewhere, self._forget = elsewhere, forget or inbox.drop
        self._announced = Announced(None if at_once else waiting)
        self._writer, self._indexer, self._inbox = writer, indexer, inbox
        self._keep_locked, self._at_once, self._progress, self._cancelled = keep_locked, at_once, progress, cancelled
        self._added: list[str] = []
        self._unchanged: list[str] = []
        self._problems: list[tuple[str, IngestError]] = []
        self._settled: list[str] = []  # digests that need not stay on the list
        self._unread = set[str]()  # those of them whose source is in no document
        self._group: list[Prepared] = []
        self._ahead, self._ready = Ahead(), ready
        self._offering: Offering | None = None
        if behind is not None and self._announced.possible:
            self._offering = Offering(behind, self._announced, writer.entries, inbox.rows)
        self._told: set[str] = set()  # ids of the sources of whose problem it was told

    def run(self, rows: Sequence[tuple[Accepted, str | None]]) -> AddReport:
        """Index these sources, each with its password.

        Raises:
            RagError: something that is not the fault of one file, such as a full disk; what was complete before is published,
                unless all was to be published at once.
        """
        try:
            return self._run(rows)
        finally:
            self._announced.end()

    def _run(self, rows: Sequence[tuple[Accepted, str | None]]) -> AddReport:
        stopped = False
        try:
            with storage_problems("indexing"), self._elsewhere or nullcontext():
                if self._elsewhere is not None:
                    self._elsewhere.begin([row for row, password in rows if self._fits_elsewhere(row, password)])
                else:
                    self._ahead = self._begin_ahead([(row, password) for row, password in rows if not self._is_there(row)])
                with self._ahead:
                    self._in_order(rows)
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

    def _begin_ahead(self, rows: Sequence[tuple[Accepted, str | None]]) -> Ahead:
        if self._offering is None:
            return Ahead(self._made_ahead, rows)
        ready = self._offering.take([row for row, _ in rows], self._ready, self._indexer)
        left = [(row, password) for row, password in rows if row.id not in ready]
        made = self._offering.renew({row.id for row, _ in rows})
        return Ahead(self._made_ahead, left, ready, (self._offering.behind, self._offering.make), made)

    def _in_order(self, rows: Sequence[tuple[Accepted, str | None]]) -> None:
        for number, (row, password) in enumerate(rows, 1):
            self._one(row, password)
            if self._progress is not None:
                with self._ahead.paused():  # whoever is told may let others come first
                    self._progress("documents", number, len(rows))
        self._finish_group()

    def _publish(self) -> None:
        self._give_up_unwanted()
        self._writer.publish(anyhow=self._at_once)  # where nothing came of a rebuild, the library has to be usable all the same
        self._inbox.drop([digest for digest in self._settled if not (digest in self._unread and self._is_expected(digest))])

    def _is_expected(self, digest: str) -> bool:
        """Whether an upload that waits has the same source, perhaps with its password: that says itself what is wrong with it."""
        return self._offering is not None and self._offering.behind.has(f"sha256:{digest}")

    def _one(self, row: Accepted, password: str | None) -> None:
        self._look()
        if self._announced.is_given_up(row.id):
            return
        published = self._writer.entries.get(row.id)
        if published is not None and self._is_there(row):
            self._writer.entries[row.id] = published.handed_in(row)
            self._unchanged.append(row.id)
            self._settled.append(row.digest)
            return
        made = self._make(row, password)
        if isinstance(made, Entry) and not self._is_apart(row):  # it stood complete on disk
            self._warn(row, self._indexer.problem(row))
            self._put(made)
        elif isinstance(made, Entry):
            self._finish_group()
            self._put(made)
            self._publish_when_due()
        elif made is not None:
            self._warn(row, made.problem)
            if row.kind == "pdf":
                self._finish_group()
            self._group.append(made)
            if row.kind == "pdf" or sum(len(waiting.passages) for waiting in self._group) >= GROUP_PASSAGES:
                self._finish_group()

    def _look(self) -> None:
        """Stop where the user wants to, and leave out what they deleted."""
        self._require_going()
        self._give_up_unwanted()
        self._withdraw_stopped()

    def _withdraw_stopped(self) -> None:
        """Take files out of sight whose upload was stopped while it waited for its turn."""
        self._ahead.let_go_stopped(self._announced.withdraw)

    def _require_going(self) -> None:
        if self._stopped():
            raise Cancelled("Stopped between two files.", remedy="Resume to index the rest.")

    def _is_there(self, row: Accepted) -> bool:
        """Whether a source is in the library, indexed with the same settings."""
        return self._indexer.done(row, [self._writer.entries.get(row.id)]) is not None

    def _fits_elsewhere(self, row: Accepted, password: str | None) -> bool:
        """Whether workers may make a source: a PDF without a password, which stays in this process, that is not made yet."""
        if row.kind != "pdf" or row.needs_password or password is not None:
            return False
        published = self._writer.entries.get(row.id)
        return self._indexer.done(row, [published]) is None and self._indexer.done(row, self._indexer.complete(row)) is None

    def _is_apart(self, row: Accepted) -> bool:
        """Whether workers make, or have made, the document of a source."""
        return self._elsewhere is not None and self._elsewhere.makes(row)

    def _make(self, row: Accepted, password: str | None) -> Found | None:
        """The document of a source that a worker made or that stood complete on disk, or what was read here; None where there is none."""
        try:
            if self._ahead.makes(row):
                made = self._ahead.take(row, self._look)
            else:
                apart = self._elsewhere.entry(row) if self._elsewhere is not None else None
                made = apart or self._prepared(row, password, lambda: row.id in self._announced.unwanted())
            if made is None:
                self._give_up_unwanted()
            return made
        except Cancelled:
            self._give_up_unwanted()
            if self._stopped() or not self._announced.is_given_up(row.id):
                raise
        except IngestError as error:
            self._failed(row, error, self._keep_locked and row.needs_password and isinstance(error, PasswordNeeded))
        except (RagError, OSError):
            raise
        except Exception as error:  # a fault of ours on one file must not cost the user the other files
            _log.error("indexing a document failed", exc_info=error)
            problem = f"{row.name} could not be indexed because of a fault in this program ({type(error).__name__})."
            self._failed(row, IngestError(problem, remedy="Report it with the log; the other files are unharmed."))
        return None

    def _prepared(self, row: Accepted, password: str | None, stopped: Cancel, was_read: Callable[[], None] | None = None) -> Found:
        """The complete document of a source, where one stands on disk, else what was read and cut of it."""
        entry = None if self._is_apart(row) else self._indexer.done(row, self._indexer.complete(row))
        return entry or self._indexer.prepare(row, password, self._announce_draft if self._is_new(row) else None, stopped, was_read)

    def _made_ahead(self, row: Accepted, password: str | None, stopped: Cancel, was_read: Callable[[], None]) -> Found:
        """As `_prepared`, in a thread that is ahead: what is read can be asked, and what cannot be read is told, before its turn."""
        self._require_going()
        try:
            made = self._prepared(row, password, lambda: stopped() or row.id in self._announced.unwanted(), was_read)
        except IngestError:
            self._tell_problem(row)
            raise
        except RagError:  # stopped or deleted, or not the fault of this file
            raise
        except Exception:  # a fault of ours is met at the file's turn; until then nothing of it may be found
            self._announced.withdraw(row.id)
            raise
        if isinstance(made, Prepared) and self._is_new(row):
            # else its vectors are there in a moment
            if self._announced.has(row.id) or len(made.passages) + self._ahead.passages >= EARLY_PASSAGES:
                self._announced.announce([self._indexer.waiting(made)])
        return made

    def _is_new(self, row: Accepted) -> bool:
        """Whether a document may be asked early: one that is in the library already is asked as it is, until its new form is complete."""
        return self._announced.possible and row.id not in self._writer.entries

    def _announce_draft(self, draft: WaitingDocument) -> None:
        """Let the first pages of a document be asked while the others are read."""
        self._announced.announce([draft])

    def _warn(self, row: Accepted, problem: IngestError | None) -> None:
        if problem is not None:
            self._problems.append((row.name, problem))

    def _failed(self, row: Accepted, error: IngestError, keep: bool = False) -> None:
        self._problems.append((row.name, error))
        # a rebuild replaces the document: its source must stay on the list, unless nothing can be read from it any more
        if isinstance(error, StoredFileDamaged) or not (keep or self._at_once):
            self._settled.append(row.digest)
            self._unread.add(row.digest)
        self._tell_problem(row)

    def _tell_problem(self, row: Accepted) -> None:
        """Tell once that a source cannot be indexed, and take what was read of it out of sight."""
        self._announced.withdraw(row.id)  # its first pages could be read
        known = row.id in self._told
        self._told.add(row.id)
        if self._progress is not None and not known:
            self._progress(Step(f"{row.name}: problem", row.id), 1, 1)

    def _finish_group(self) -> None:
        group, self._group = self._group, []
        if group:
            self._announce_group(group)
            self._finish(group)
            self._ahead.embedded()
            self._give_up_unwanted()
            self._publish_when_due()

    def _publish_when_due(self) -> None:
        if not self._at_once:
            self._writer.publish_when_due()

    def _announce_group(self, group: Sequence[Prepared]) -> None:
        """Let new documents be asked while they are embedded, unless their vectors are there in a moment."""
        new = [one for one in group if self._is_new(one.row) and not self._announced.has(one.row.id, whole=True)]
        known = any(self._announced.has(one.row.id) for one in group)
        if new and (known or sum(len(one.passages) for one in group) >= EARLY_PASSAGES):
            self._announced.announce([self._indexer.waiting(one) for one in new])

    def _made(self, group: Sequence[Prepared]) -> Made:
        """Hands the vectors of a group on to its documents that are asked meanwhile, and lets those who read have as much time."""
        places = [(one.row.id, place) for one in group for place in range(len(one.passages))]
        began = time.monotonic()

        def made(first: int, vectors: Vectors) -> None:
            nonlocal began
            for at, (id, place) in enumerate(places[first : first + len(vectors)]):
                self._announced.put(id, place, vectors[at : at + 1])
            self._ahead.give_way(time.monotonic() - began)
            began = time.monotonic()

        return made

    def _finish(self, group: Sequence[Prepared]) -> None:
        try:
            for entry, parts in self._indexer.finish(group, self._made(group), self._is_unwanted(group)):
                self._put(entry, parts)
        except Cancelled:
            self._give_up_unwanted()
            left = [one for one in group if not self._announced.is_given_up(one.row.id)]
            if self._stopped() or len(left) == len(group):
                raise
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

    def _is_unwanted(self, group: Sequence[Prepared]) -> Cancel:
        """Whether somebody deleted one of these. What they deleted of the files behind is given up at once: they wait for that."""
        ids = {one.row.id for one in group}

        def look() -> bool:
            unwanted = self._announced.unwanted()
            if unwanted and ids.isdisjoint(unwanted):
                self._give_up_unwanted(but=ids)
            self._withdraw_stopped()
            return not ids.isdisjoint(unwanted)

        return look

    def _give_up_unwanted(self, but: Collection[str] = ()) -> None:
        """Leave out what somebody deleted while it waited, and forget that it was handed in; `but` these, whose turn comes."""
        gone = self._announced.give_up(but)
        if not gone:
            return
        self._ahead.give_up(gone)
        self._group = [one for one in self._group if one.row.id not in gone]
        for id in gone & set(self._added):  # embedded already, and not published
            self._writer.remove(id)
            self._added.remove(id)
        self._forget({id.removeprefix("sha256:") for id in gone})
        self._announced.given_up(gone)

    def _put(self, entry: Entry, parts: Parts | None = None) -> None:
        old = self._writer.entries.get(entry.document.id)
        if old is not None:  # indexed anew with other settings: what the user wrote about it stays
            entry = old.handed_in(entry.source).reindexed(entry)
        self._writer.put(entry, parts)
        self._announced.embedded(entry.document.id)
        self._added.append(entry.document.id)
        self._settled.append(entry.source.digest)
