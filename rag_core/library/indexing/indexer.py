"""Makes a document of an accepted source: read, detect the language, cut, list the terms, embed.

Each step is kept as it is done.

Every step's outcome depends only on the bytes and the options, which make the document's key; what is kept is never
made twice.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rag_core.domain.passages import Passage
from rag_core.domain.ports import Cancel, Embedder, Progress, Step, Vectors
from rag_core.domain.scanned import ENGINES, TESSERACT
from rag_core.errors import Cancelled, IngestError, LibraryDamaged, LibraryError, StoredFileDamaged
from rag_core.ingest.reading.ocr_engines import can_read
from rag_core.library.indexing.documents import Cutting, document_of, entry_of, manner_of, passages_of
from rag_core.library.indexing.drafts import Drafts
from rag_core.library.indexing.embedding import Made, terms_of, vectors_of
from rag_core.library.indexing.reading import (
    PageKeeper,
    Reading,
    ReadOptions,
    no_text,
    read,
    reading_from,
    reading_to_json,
)
from rag_core.library.stored import stored_sources
from rag_core.library.stored.collection import ASIDE, WORDS, Collection, Form, Gone, pack_terms
from rag_core.library.stored.entry import Accepted, Entry
from rag_core.settings import Settings

INDEX_VERSION = 4  # chunker, language module and normalisation together; a library of another version must be rebuilt
LOOK_SECONDS = 0.1  # between two looks at whether somebody deleted what is being made


class Indexer:
    """Turns accepted sources of one `collection` into documents, under the ingest settings.

    Safe to share between threads.
    """

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
        self.stopped: Cancel = cancelled or (lambda: False)
        self._engine = settings.ocr_engine if settings.ocr else TESSERACT
        self._can_ocr = settings.ocr and can_read(self._engine)
        self._told: set[str] = set()  # ids of the sources of whose problem it was told

    def is_as_now(self, row: Accepted, entry: Entry) -> bool:
        """Whether a document is what indexing its source now would give.

        Pages that could not be read where OCR was missing may be read now that it is there. Without a page that was a
        picture, no engine read any.
        """
        document, engines = entry.document, ENGINES if self.settings.ocr else (self._engine,)
        for can_ocr in (True, False):
            for engine in engines:
                if entry.key == self._key(row, can_ocr, engine):
                    other = engine != self._engine and (document.ocr_pages or document.unreadable_pages)
                    return not other and (can_ocr or not self._can_ocr or not document.unreadable_pages)
        return False

    def is_usable(self, form: Form, row: Accepted) -> bool:
        """Whether what was made of a source some time ago is still there, and what would be made of it now."""
        return form.entry.key == self._key(row, self._can_ocr) and self.collection.has_form(form.entry.row)

    def complete(self, row: Accepted) -> Form | None:
        """The document of this source that has all that it needs, and is not in the library yet."""
        return next((form for form in self._made(row) if form.complete), None)

    def prepare(
        self,
        row: Accepted,
        password: str | None,
        made_known: Callable[[], object] | None = None,
        stopped: Cancel = lambda: False,
        least: Callable[[], int] = int,
        was_read: Callable[[], object] = lambda: None,
    ) -> Form:
        """Read and cut a source; one that is cut already is not read again.

        Args:
            row: the source; it is on the library's list.
            password: opens it where it is encrypted.
            made_known: called when there is more of it to be asked than before; None where it is not asked before it is
                in the library.
            stopped: asked beside what stops the indexer.
            least: asked how many passages it has where it is asked before it is in the library.
            was_read: called when its pages are there, before they are cut.

        Raises:
            StoredFileDamaged: the stored file is not what was handed in, and was not read before.
            IngestError: it cannot be read, or holds no text.
            Gone: somebody deleted it.
            Cancelled: the user stopped it.
        """
        if (known := next(iter(self._made(row)), None)) is not None:
            return known
        stops = self._stopped_by(row, stopped)
        try:
            return self._prepare(row, password, made_known, stops, least, was_read)
        except Cancelled:
            if not self.collection.is_wanted(row.digest):
                raise Gone from None
            raise

    def _prepare(
        self,
        row: Accepted,
        password: str | None,
        made_known: Callable[[], object] | None,
        stops: Cancel,
        least: Callable[[], int],
        was_read: Callable[[], object],
    ) -> Form:
        key, options = self._key(row, self._can_ocr), self._read_options(row)
        tell = made_known if made_known is not None and not self.collection.is_ready(row.digest) else None
        number = self.collection.begin_document(row, key, options)
        keeper, drafts = PageKeeper(self.collection, number), None
        if tell is not None and row.kind == "pdf":
            drafts = Drafts(row, key, self.settings, self.embedder, keeper, tell, stops)
        try:
            reading, reused = self._reading(row, password, options, keeper, drafts, stops)
            was_read()
            entry, title, passages, terms = self._cut(row, number, reading, stops)
            if tell is not None and not (drafts is not None and drafts.made) and len(passages) < least():
                tell = None
            state, known = ASIDE if tell is None else WORDS, reading_to_json(reading)
            self.collection.put_cut(entry, title, passages, terms, state=state, pages=len(reading.pages), reading=known)
        except BaseException:
            self.collection.drop_form(number)
            if drafts is not None and drafts.made and tell is not None:
                tell()
            raise
        if tell is not None:
            tell()
        return Form(entry, title, len(passages), complete=False, reused=reused)

    def _cut(
        self, row: Accepted, number: int, reading: Reading, stops: Cancel
    ) -> tuple[Entry, str, tuple[Passage, ...], bytes]:
        """The document of what was read, its title, its passages, and their terms, packed."""
        chars = [len(page.text) for page in reading.pages]
        telling = Cutting(f"{row.name}: cutting", chars, self._progress_of(row))
        manner = manner_of(row, reading, self.settings)
        passages = passages_of(row, reading.pages, manner, self.settings, self.embedder, stops, telling.counted)
        document = document_of(row, reading, manner)
        if not passages:
            raise no_text(document)
        terms = terms_of(row.name, manner.title, passages)
        telling.finished()
        entry = entry_of(number, self._key(row, self._can_ocr), document, row)
        return entry, manner.title, passages, pack_terms(terms)

    def problem_of(self, row: Accepted) -> StoredFileDamaged | None:
        """The fault in the stored file of a source whose pages were read before; None when it is as it was handed
        in.
        """
        try:
            stored_sources.check(self.collection.root, row)
        except LibraryDamaged as error:
            return _stored_file_damaged(row, error, "What was read from it before is still in the library.")
        return None

    def finish(self, group: Sequence[Form], made: Made | None = None) -> list[Form]:
        """Embed the passages of all of these at once, and keep their vectors; those that somebody deleted meanwhile.

        Args:
            group: at least one.
            made: gets each batch of vectors, with the number of its first passage among those of the group.

        Raises:
            Gone: somebody deleted one of them; none of them is complete.
            Cancelled: the user stopped it; none of them is complete.
            LimitExceeded: embedding took longer than is allowed; none of them is complete.
            ModelUnavailable: the model gave no usable vectors.
        """
        name = group[0].entry.document.name if len(group) == 1 else f"{len(group)} texts"
        titled = [
            (form.title, passage)
            for form in group
            for passage in self.collection.passages(form.entry.row, form.entry.document.id)
        ]
        progress = self._progress_of(group[0].entry.source) if len(group) == 1 else self.progress
        gone = False

        def stopped() -> bool:
            nonlocal gone
            gone = not all(self.collection.has_form(form.entry.row) for form in group)
            return gone or self.stopped()

        try:
            vectors = vectors_of(self.embedder, titled, f"{name}: embedding", progress, stopped, made=made)
        except Cancelled:
            if gone:
                raise Gone from None
            raise
        first, parts = 0, list[tuple[int, Vectors]]()
        for form in group:
            parts.append((form.entry.row, vectors[first : first + form.count]))
            first += form.count
        lost = self.collection.put_vectors(parts)
        return [form for form in group if form.entry.row in lost]

    def tell_problem(self, row: Accepted) -> None:
        """Tell once that a source cannot be indexed."""
        known = row.id in self._told
        self._told.add(row.id)
        if not known:
            self.progress(Step(f"{row.name}: problem", row.id), 1, 1)

    def source(self, row: Accepted) -> bytes:
        """The stored bytes of a source.

        Raises:
            StoredFileDamaged: they are not what was handed in.
        """
        try:
            return stored_sources.read(self.collection.root, row)[0]
        except LibraryDamaged as error:
            raise _stored_file_damaged(row, error) from error

    def take(self, row: Accepted, path: Path) -> Form:
        """Take in the document of a source that was made elsewhere, from the file that came back.

        Raises:
            IngestError: it is not a complete document of it.
            Gone: somebody deleted it.
        """
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

    def _made(self, row: Accepted) -> list[Form]:
        keys = [self._key(row, can_ocr) for can_ocr in (self._can_ocr, not self._can_ocr)]
        return [
            form
            for form in self.collection.forms(row.digest)
            if form.entry.key in keys and self.is_as_now(row, form.entry)
        ]

    def _progress_of(self, row: Accepted) -> Progress:
        """Tells of a source by its id, too."""
        return lambda what, done, total: self.progress(Step(what, row.id), done, total)

    def _stopped_by(self, row: Accepted, stopped: Cancel) -> Cancel:
        """Whether the user stopped it, or somebody deleted the source: that is looked at now and then."""
        looked = 0.0

        def stops() -> bool:
            nonlocal looked
            if stopped() or self.stopped():
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
        drafts: Drafts | None,
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
            data, source = stored_sources.opened(self.collection.root, row)
        except LibraryDamaged as error:
            raise _stored_file_damaged(row, error) from error
        with data:
            return read(
                row, data, source, self._options(row), keeper, password, self._progress_of(row), stops, drafts
            ), False

    def _options(self, row: Accepted) -> ReadOptions:
        if row.kind == "text":
            return ReadOptions("text", ocr=False, can_ocr=False)
        return ReadOptions("pdf", self.settings.ocr, self._can_ocr, ocr_engine=self._engine)

    def _read_options(self, row: Accepted) -> str:
        return json.dumps(asdict(self._options(row)), sort_keys=True)

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
