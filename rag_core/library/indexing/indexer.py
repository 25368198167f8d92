"""Makes a complete document folder of an accepted source: read, detect the language, cut, embed, list the terms.

Every step's outcome depends only on the bytes and the options, which name the folder; a folder that is complete is never made twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rag_core.domain.documents import Document
from rag_core.domain.passages import Passage
from rag_core.domain.ports import Cancel, Embedder, Progress, Step
from rag_core.domain.scanned import ENGINES, TESSERACT
from rag_core.errors import IngestError, LibraryDamaged, LibraryError, StoredFileDamaged
from rag_core.ingest.layout import json_rows
from rag_core.ingest.reading.ocr_engines import can_read
from rag_core.library.disk.files import (
    Stamp,
    pack_parts,
    pack_vectors,
    seal,
    stamp,
    stamp_file,
    stamps_from_json,
    stamps_to_json,
    unseal,
    verify_file,
)
from rag_core.library.disk.private import make_folder, write
from rag_core.library.indexing.cutting import Cutting
from rag_core.library.indexing.documents import document_of, entry_of, manner_of, passages_of
from rag_core.library.indexing.drafts import Announce, Drafts, Memory
from rag_core.library.indexing.embedding import Made, vectors_of
from rag_core.library.indexing.reading import READING, READING_FILES, Reading, ReadOptions, no_text, read, reuse
from rag_core.library.indexing.waiting import WaitingDocument
from rag_core.library.stored import stored_sources
from rag_core.library.stored.inbox import Accepted
from rag_core.library.stored.manifest import DOCUMENT, Entry
from rag_core.library.stored.store import PASSAGES, VECTORS, Store
from rag_core.library.stored.stored_json import document_from_json, document_to_json, passages_to_json
from rag_core.library.stored.stored_pages import LAYOUT, PAGES
from rag_core.library.stored.writer import TERMS, Parts, pack_terms
from rag_core.settings import Settings

INDEX_VERSION = 4  # chunker, language module and normalisation together; a library of another version must be rebuilt


@dataclass(frozen=True, slots=True)
class Prepared:
    """A source that was read and cut, and waits for its vectors.

    `folder` is where its files are gathered; `source` is the stamp of the bytes that it was read from, and `problem` says what is wrong
    with the stored ones where it was read before.
    """

    row: Accepted
    key: str
    document: Document
    title: str
    passages: tuple[Passage, ...]
    terms: Sequence[Sequence[str]]
    folder: Path
    source: Stamp
    problem: StoredFileDamaged | None = None


class Indexer:
    """Turns accepted sources of one collection into documents, under the ingest settings."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        settings: Settings,
        progress: Progress | None,
        cancelled: Cancel | None,
    ) -> None:
        self._store, self._embedder, self._settings = store, embedder, settings
        self._progress, self._cancelled = progress, cancelled
        self._engine = settings.ocr_engine if settings.ocr else TESSERACT
        self._can_ocr = settings.ocr and can_read(self._engine)

    def done(self, row: Accepted, candidates: Iterable[Entry | None]) -> Entry | None:
        """The first of these documents that is what indexing this source now would give."""
        keys = {self._key(row, can_ocr, engine): (can_ocr, engine) for can_ocr in (True, False) for engine in self._engines()}
        for entry in candidates:
            if entry and entry.key in keys and self._is_as_now(entry.document, *keys[entry.key]):
                return entry
        return None

    def _is_as_now(self, document: Document, can_ocr: bool, engine: str) -> bool:
        """Whether a document that was made where OCR was there or not, with this engine, is what would be made now.

        Pages that could not be read then may be read now that OCR is there. Without a page that was a picture, no engine read any.
        """
        if engine != self._engine and (document.ocr_pages or document.unreadable_pages):
            return False
        return can_ocr or not self._can_ocr or not document.unreadable_pages

    def _engines(self) -> Iterable[str]:
        return ENGINES if self._settings.ocr else (self._engine,)

    def complete(self, row: Accepted) -> Iterator[Entry]:
        """The document folders of this source that stand complete on disk, published or not."""
        for can_ocr in (self._can_ocr, not self._can_ocr):
            entry = self._complete(row, self._key(row, can_ocr))
            if entry is not None:
                yield entry

    def prepare(
        self,
        row: Accepted,
        password: str | None,
        drafted: Announce | None = None,
        cancelled: Cancel | None = None,
        was_read: Callable[[], None] | None = None,
    ) -> Prepared:
        """Read and cut a source.

        Args:
            row: the source.
            password: opens it where it is encrypted.
            drafted: gets the document as far as it is read, again and again while a long PDF is read.
            cancelled: asked beside what stops the indexer.
            was_read: called when the source is read and is only to be cut.

        Raises:
            StoredFileDamaged: the stored file is not what was handed in, and was not read before.
            IngestError: it cannot be read, or holds no text.
            Cancelled: the user stopped it.
        """
        options, key = self._read_options(row), self._key(row, self._can_ocr)
        folder = self._store.root / "work" / f"{row.digest}-{_hash(asdict(options))}"
        stopped, memory = self._stopped_by(cancelled), Memory(self._embedder)
        drafts = Drafts(row, key, self._settings, memory, drafted, stopped) if drafted and row.kind == "pdf" else None
        reading, reused = self._reading(row, password, options, folder, drafts, stopped)
        if was_read is not None:
            was_read()
        telling = Cutting(memory, f"{row.name}: cutting", [len(page.text) for page in reading.pages], self._progress_of(row))
        manner = manner_of(row, reading, self._settings)
        passages = passages_of(row, reading.pages, manner, self._settings, telling, stopped)
        document = document_of(row, reading, manner)
        if not passages:
            raise no_text(document)
        indexed = memory.terms_of(row.name, manner.title, passages)
        telling.finished()
        problem = self.problem(row) if reused else None
        return Prepared(row, key, document, manner.title, passages, indexed, folder, reading.source, problem)

    def problem(self, row: Accepted) -> StoredFileDamaged | None:
        """The fault in the stored file of a source whose pages were read before; None when it is as it was handed in."""
        try:
            stored_sources.check(self._store.root, row)
        except LibraryDamaged as error:
            return _stored_file_damaged(row, error, "What was read from it before is still in the library.")
        return None

    def waiting(self, prepared: Prepared) -> WaitingDocument:
        """The prepared source as a document that can be asked while its vectors are made."""
        row, folder = prepared.row, f"documents/{prepared.key}"
        files = {f"{folder}/{name}": stamp_file(prepared.folder / name) for name in (PAGES, LAYOUT)}
        entry = entry_of(prepared.key, prepared.document, row, {**files, stored_sources.name_of(row): prepared.source})
        return WaitingDocument(entry, prepared.title, prepared.passages, prepared.terms, prepared.folder)

    def is_usable(self, prepared: Prepared, row: Accepted, files: Mapping[str, Stamp]) -> bool:
        """Whether what was prepared some time ago, with these files of pages, is what would be prepared of this source now.

        It is not where its settings are others, or where somebody made, took or cleared away its files meanwhile.
        """
        if prepared.row != row or prepared.key != self._key(row, self._can_ocr) or not (prepared.folder / READING).is_file():
            return False
        try:
            return all(stamp_file(prepared.folder / name) == files.get(f"documents/{prepared.key}/{name}") for name in (PAGES, LAYOUT))
        except OSError:
            return False

    def finish(self, group: Sequence[Prepared], made: Made | None = None, cancelled: Cancel | None = None) -> Iterator[tuple[Entry, Parts]]:
        """Embed the passages of all of these at once, and complete their folders.

        Args:
            group: at least one.
            made: gets each batch of vectors, with the number of its first passage among those of the group.
            cancelled: asked before each batch, beside what stops the indexer.

        Raises:
            Cancelled: the user stopped it; none of them is complete.
            LimitExceeded: embedding took longer than is allowed; none of them is complete.
            ModelUnavailable: the model gave no usable vectors.
        """
        name = group[0].row.name if len(group) == 1 else f"{len(group)} texts"
        titled = [(prepared.title, passage) for prepared in group for passage in prepared.passages]
        stopped = self._stopped_by(cancelled)
        progress = self._progress_of(group[0].row) if len(group) == 1 else self._progress
        vectors = vectors_of(self._embedder, titled, f"{name}: embedding", progress, stopped, made=made)
        first = 0
        for prepared in group:
            last = first + len(prepared.passages)
            parts = Parts(prepared.passages, vectors[first:last], prepared.terms)
            yield self._write(prepared, parts), parts
            first = last

    def source(self, row: Accepted) -> bytes:
        """The stored bytes of a source.

        Raises:
            StoredFileDamaged: they are not what was handed in.
        """
        try:
            return stored_sources.read(self._store.root, row)[0]
        except LibraryDamaged as error:
            raise _stored_file_damaged(row, error) from error

    def take(self, row: Accepted, files: Mapping[str, bytes]) -> Entry:
        """Put the files of the document of a source, which was made elsewhere, into its folder.

        Raises:
            IngestError: they are not those of a complete document of it.
        """
        key = self._key(row, self._can_ocr)
        folder = self._store.root / "work" / f"{row.digest}-{_hash(asdict(self._read_options(row)))}"
        shutil.rmtree(folder, ignore_errors=True)
        if files.keys() == {*READING_FILES, PASSAGES, VECTORS, TERMS, DOCUMENT}:
            make_folder(folder)
            for name, data in files.items():
                write(folder / name, data)
            entry = self._placed(row, key, folder)
            if entry is not None and entry.document.id == row.id:
                return entry
        shutil.rmtree(self._store.root / "documents" / key, ignore_errors=True)
        raise IngestError(
            f"The files that came back for {row.name} are not those of a whole document.",
            remedy="Add the file again; the other files are unharmed.",
        )

    def _progress_of(self, row: Accepted) -> Progress | None:
        """Tells of a source by its id, too."""
        told = self._progress
        return None if told is None else lambda what, done, total: told(Step(what, row.id), done, total)

    def _stopped_by(self, cancelled: Cancel | None) -> Cancel:
        stops = [one for one in (self._cancelled, cancelled) if one is not None]
        return lambda: any(stop() for stop in stops)

    def _reading(
        self, row: Accepted, password: str | None, options: ReadOptions, folder: Path, drafts: Drafts | None, cancelled: Cancel
    ) -> tuple[Reading, bool]:
        """The pages, and whether they were read before."""
        # a text is read faster than looked for
        folders = [folder, *sorted((self._store.root / "documents").glob(f"{row.digest}-*"))] if row.kind == "pdf" else []
        make_folder(folder)
        reading = reuse(options, folders, folder)
        reused = reading is not None
        if reading is None:
            try:
                data, source = stored_sources.opened(self._store.root, row)
            except LibraryDamaged as error:
                raise _stored_file_damaged(row, error) from error
            with data:
                reading = read(row, data, source, options, folder, password, self._progress_of(row), cancelled, drafts)
        return reading, reused

    def _write(self, prepared: Prepared, parts: Parts) -> Entry:
        folder = prepared.folder
        files = {
            PASSAGES: pack_parts(json_rows(passages_to_json(parts.passages))),
            VECTORS: pack_vectors(parts.vectors),
            TERMS: pack_terms(parts.terms),
        }
        stamps = {name: stamp((folder / name).read_bytes()) for name in READING_FILES}
        for name, data in files.items():
            write(folder / name, data)
            stamps[name] = stamp(data)
        row = {
            "document": document_to_json(prepared.document),
            "stamps": stamps_to_json(stamps),
            "source": prepared.row.to_json(),
            "read_from": list(prepared.source),
        }
        write(folder / DOCUMENT, json.dumps(seal(row), ensure_ascii=False).encode())
        entry = self._placed(prepared.row, prepared.key, folder)
        if entry is None:
            raise LibraryError(
                f"What was written for {prepared.row.name} cannot be read back.", remedy="Check the disk, then resume; nothing is lost."
            )
        return entry

    def _placed(self, row: Accepted, key: str, folder: Path) -> Entry | None:
        """The document whose files were gathered in `folder`, which becomes its own; None where it is not complete."""
        target = self._store.root / "documents" / key
        shutil.rmtree(target, ignore_errors=True)  # an incomplete one, or complete() would have found it
        make_folder(target.parent)
        os.rename(folder, target)
        return self._complete(row, key)

    def _complete(self, row: Accepted, key: str) -> Entry | None:
        folder = self._store.root / "documents" / key
        try:
            data = (folder / DOCUMENT).read_bytes()
            stored = unseal(json.loads(data))
            stamps = stamps_from_json(stored["stamps"])
            for name, expected in stamps.items():
                verify_file(folder / name, expected)
            document = document_from_json(stored["document"])
            source = Stamp(*stored["read_from"])
        except (OSError, LibraryError, ValueError, KeyError, TypeError):
            return None  # it never was completed, or was damaged since: it is made again
        files = {f"documents/{key}/{name}": value for name, value in {**stamps, DOCUMENT: stamp(data)}.items()}
        files[stored_sources.name_of(row)] = source
        return entry_of(key, document, row, files)

    def _read_options(self, row: Accepted) -> ReadOptions:
        if row.kind == "text":
            return ReadOptions("text", ocr=False, can_ocr=False)
        return ReadOptions("pdf", self._settings.ocr, self._can_ocr, ocr_engine=self._engine)

    def _key(self, row: Accepted, can_ocr: bool, engine: str | None = None) -> str:
        options = self._read_options(row)
        if row.kind == "pdf":
            options = replace(options, can_ocr=can_ocr, ocr_engine=engine or self._engine)
        reading = asdict(options)
        cutting = {
            "index_version": INDEX_VERSION,
            "embedder": self._embedder.name,
            "language": row.language,
            "strategy": row.strategy or self._settings.strategy,
            "passage_tokens": self._settings.passage_tokens,
            "overlap_tokens": self._settings.overlap_tokens,
        }
        return f"{row.digest}-{_hash({**reading, **cutting})}"


def _stored_file_damaged(row: Accepted, error: LibraryDamaged, beside: str = "") -> StoredFileDamaged:
    problem = f"The stored file of {row.name} cannot be used. {error.problem}"
    return StoredFileDamaged(f"{problem} {beside}".rstrip(), remedy="Add the file again.")


def _hash(values: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
