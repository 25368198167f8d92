"""Makes a document of an accepted source: read, detect the language, cut, list the terms, embed.

Every step's outcome depends only on the bytes and the options, which make the document's key; it is kept as it is done,
and never made twice.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rag_core.domain.ports import Cancel, Embedder, Progress, Step, Vectors
from rag_core.domain.scanned import ENGINES, TESSERACT
from rag_core.errors import Cancelled, IngestError, LibraryDamaged, LibraryError, StoredFileDamaged
from rag_core.ingest.reading.ocr_engines import can_read
from rag_core.library.indexing.batches import Batches
from rag_core.library.indexing.documents import document_of, entry_of, manner_of, passages_of
from rag_core.library.indexing.embedding import terms_of, vectors_of
from rag_core.library.indexing.reading import (
    PageKeeper,
    Reading,
    ReadOptions,
    no_text,
    read,
    reading_from,
)
from rag_core.library.stored import stored_sources
from rag_core.library.stored.collection import COMPLETE, Collection, Cut, Gone, pack_passages
from rag_core.library.stored.entry import Accepted, Entry
from rag_core.library.stored.typed_json import to_row
from rag_core.settings import Settings

INDEX_VERSION = 5  # chunker, language module and normalisation together; a library of another version must be rebuilt
LOOK_SECONDS = 0.1  # between two looks at whether somebody deleted what is being made


class Indexer:
    """Makes documents of accepted sources of one `collection`, under the ingest settings. Threads may share it."""

    def __init__(
        self,
        collection: Collection,
        embedder: Embedder,
        settings: Settings,
        progress: Progress | None,
        cancelled: Cancel | None,
    ) -> None:
        self.collection, self.embedder, self.settings = collection, embedder, settings
        self.progress: Progress = progress or (lambda what, done, total: None)
        self.ended = threading.Event()  # it failed: what another thread still makes is not wanted
        self._cancelled: Cancel = cancelled or (lambda: False)
        self._engine = settings.ocr_engine if settings.ocr else TESSERACT
        self._can_ocr = settings.ocr and can_read(self._engine)

    def stopped(self) -> bool:
        """Whether it is to stop: the user said so, or it has failed."""
        return self.ended.is_set() or self._cancelled()

    def is_as_now(self, row: Accepted, entry: Entry) -> bool:
        """Whether a document is what indexing its source now would give.

        Pages that could not be read where OCR was missing may be read now. Without a picture, no engine read any.
        """
        document, engines = entry.document, ENGINES if self.settings.ocr else (self._engine,)
        for can_ocr in (True, False):
            for engine in engines:
                if entry.key == self._key(row, can_ocr, engine):
                    other = engine != self._engine and (document.ocr_pages or document.unreadable_pages)
                    return not other and (can_ocr or not self._can_ocr or not document.unreadable_pages)
        return False

    def complete(self, row: Accepted) -> Entry | None:
        """The document of this source that has all that it needs, and is not in the library yet."""
        keys = [self._key(row, can_ocr) for can_ocr in (self._can_ocr, not self._can_ocr)]
        found = (one for one in self.collection.complete(row.digest) if one.key in keys and self.is_as_now(row, one))
        return next(found, None)

    def prepare(self, row: Accepted, password: str | None, batch: Callable[[Cut], object] | None = None) -> Cut:
        """Read and cut a source that is on the library's list; its pages are kept.

        `batch` is given the first pages of a long PDF while it is read; None where they are not asked before all are.

        Raises:
            StoredFileDamaged: the stored file is not what was handed in, and was not read before.
            IngestError: it cannot be read, or holds no text.
            Gone: somebody deleted it.
            Cancelled: the user stopped it.
        """
        try:
            return self._prepare(row, password, batch, self._stopped_by(row))
        except Cancelled:
            if not self.collection.is_wanted(row.digest):
                raise Gone from None
            raise

    def _prepare(
        self, row: Accepted, password: str | None, batch: Callable[[Cut], object] | None, stops: Cancel
    ) -> Cut:
        key, options = self._key(row, self._can_ocr), json.dumps(asdict(self._options(row)), sort_keys=True)
        number = self.collection.begin_document(row, key, options)
        keeper, batches = PageKeeper(self.collection, number), None
        if batch is not None and row.kind == "pdf" and not self.collection.is_ready(row.digest):
            batches = Batches(row, key, self.settings, self.embedder, keeper, batch, stops)
        reading, reused = self._reading(row, password, options, keeper, batches, stops)
        pages, progress, what = len(reading.pages), self._progress_of(row), f"{row.name}: cutting"
        progress(what, 0, pages)
        manner = manner_of(row, reading, self.settings)
        passages = passages_of(row, reading.pages, manner, self.settings, self.embedder, stops)
        document = document_of(row, reading, manner)
        if not passages:
            raise no_text(document)
        terms = terms_of(row.name, manner.title, passages)
        progress(what, pages, pages)
        entry = entry_of(number, key, document, row)
        return Cut(entry, manner.title, passages, terms, pages, reused, batches.known if batches else {})

    def problem_of(self, row: Accepted) -> StoredFileDamaged | None:
        """The fault in the stored file of a source whose pages were read before; None when it is as it was."""
        try:
            stored_sources.check(self.collection.root, row)
        except LibraryDamaged as error:
            return _stored_file_damaged(row, error, "What was read from it before is still in the library.")
        return None

    def finish(self, group: Sequence[Cut]) -> list[Entry]:
        """Embed the passages of all of these, and keep those not deleted as complete; all or, if it raises, none."""
        name = group[0].entry.document.name if len(group) == 1 else f"{len(group)} texts"
        progress = self._progress_of(group[0].entry.source) if len(group) == 1 else self.progress
        vectors, first = self.vectors(group, f"{name}: embedding", progress), 0
        packed, kept = [pack_passages(cut.passages) for cut in group], list[Entry]()
        with self.collection.writing() as db:
            for cut, data in zip(group, packed, strict=True):
                own, first = vectors[first : first + len(cut.passages)], first + len(cut.passages)
                if self.collection.put(db, cut, data, own, COMPLETE):
                    kept.append(cut.entry)
        return kept

    def vectors(self, group: Sequence[Cut], what: str = "", progress: Progress | None = None) -> Vectors:
        gone = False

        def stopped() -> bool:
            nonlocal gone
            gone = not all(self.collection.has_form(cut.entry.row) for cut in group)
            return gone or self.stopped()

        titled = [(cut.title, passage) for cut in group for passage in cut.passages]
        try:
            return vectors_of(self.embedder, titled, what, progress, stopped, group[0].known)
        except Cancelled:
            if gone:
                raise Gone from None
            raise

    def source(self, row: Accepted) -> bytes:
        """The stored bytes of a source; raises StoredFileDamaged where they are not what was handed in."""
        try:
            return stored_sources.read(self.collection.root, row)
        except LibraryDamaged as error:
            raise _stored_file_damaged(row, error) from error

    def take(self, row: Accepted, path: Path) -> Entry:
        """Take in a document that was made elsewhere; raises IngestError where the file is not that, or Gone."""
        try:
            whole = self.collection.take(path, row.digest, self._key(row, self._can_ocr))
        except LibraryError:
            whole = False
        found = self.complete(row) if whole else None
        if found is None:
            raise IngestError(
                f"The file that came back for {row.name} is not that of a whole document.",
                remedy="Add the file again; the other files are unharmed.",
            )
        return found

    def _progress_of(self, row: Accepted) -> Progress:
        return lambda what, done, total: self.progress(Step(what, row.id), done, total)

    def _stopped_by(self, row: Accepted) -> Cancel:
        """Whether the user stopped it, or somebody deleted the source: that is looked at now and then."""
        looked = 0.0

        def stops() -> bool:
            nonlocal looked
            if self.stopped():
                return True
            if time.monotonic() - looked < LOOK_SECONDS:
                return False
            looked = time.monotonic()
            return not self.collection.is_wanted(row.digest)

        return stops

    def _reading(
        self,
        row: Accepted,
        password: str | None,
        options: str,
        keeper: PageKeeper,
        batches: Batches | None,
        stops: Cancel,
    ) -> tuple[Reading, bool]:
        """The pages, and whether they were read before by the same options: then they are not read again."""
        # a text is read faster than looked for
        before = self.collection.read_before(row.digest, options) if row.kind == "pdf" else None
        if before is not None:
            try:
                reading = reading_from(self.collection, *before)
                self.collection.copy_pages(before[0], keeper.document)
                return reading, True
            except LibraryDamaged:  # it is read again from the source
                pass
        try:
            data = stored_sources.opened(self.collection.root, row)
        except LibraryDamaged as error:
            raise _stored_file_damaged(row, error) from error
        with data:
            reading = read(row, data, self._options(row), keeper, password, self._progress_of(row), stops, batches)
        keeper.flush(to_row(replace(reading, pages=())))
        return reading, False

    def _options(self, row: Accepted) -> ReadOptions:
        if row.kind == "text":
            return ReadOptions("text", ocr=False, can_ocr=False)
        return ReadOptions("pdf", self.settings.ocr, self._can_ocr, ocr_engine=self._engine)

    def _key(self, row: Accepted, can_ocr: bool, engine: str | None = None) -> str:
        options = self._options(row)
        if row.kind == "pdf":
            options = replace(options, can_ocr=can_ocr, ocr_engine=engine or self._engine)
        reading = asdict(options)
        cutting = {
            "index_version": INDEX_VERSION,
            "embedder": self.embedder.name,
            "language": row.language,
            "strategy": row.strategy or self.settings.strategy,
            "passage_tokens": self.settings.passage_tokens,
            "overlap_tokens": self.settings.overlap_tokens,
        }
        return f"{row.digest}-{_hash({**reading, **cutting})}"


def _stored_file_damaged(row: Accepted, error: LibraryDamaged, beside: str = "") -> StoredFileDamaged:
    problem = f"The stored file of {row.name} cannot be used. {error.problem}"
    return StoredFileDamaged(f"{problem} {beside}".rstrip(), remedy="Add the file again.")


def _hash(values: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
