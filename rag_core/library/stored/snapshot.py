"""An immutable view of a collection. A question searches one of them, from its first step to its last."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rag_core.domain.documents import Document, Page, WordBox
from rag_core.domain.passages import Passage
from rag_core.domain.ports import VectorIndex
from rag_core.errors import InvalidInput, LibraryDamaged, LibraryError, NoSuchDocument
from rag_core.library.disk.database import Database
from rag_core.library.disk.files import REBUILD
from rag_core.library.stored.entry import Entry
from rag_core.library.stored.packed import Passages
from rag_core.library.stored.stored_json import page_from_json
from rag_core.retrieval.bm25 import Bm25Index


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One version, usable as long as somebody holds it. Row n of both indexes is `passages[n]`, by document."""

    version: int
    passages: Passages
    vectors: VectorIndex
    lexical: Bm25Index
    entries: tuple[Entry, ...] = field(repr=False)
    file: Database = field(repr=False)  # that pages are read from when they are looked at
    # all pages of each document that is still being read, by its id; what stands here has those that were read
    reading: Mapping[str, int] = field(default_factory=dict)

    @property
    def given(self) -> None:
        """None: a library holds all passages of its documents."""

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        return tuple(entry.document for entry in self.entries)

    @cached_property
    def values(self) -> dict[str, Mapping[str, str]]:
        """The free metadata of the documents that have any, by id."""
        return {document.id: document.metadata.values for document in self.documents if document.metadata.values}

    def document(self, document_id: str) -> Document:
        """The document with this id; raises InvalidInput where there is none in this version."""
        return self._entry(document_id).document

    def find(self, name: str) -> tuple[Document, ...]:
        """The documents of this id, file name or caller's id; several where files of different folders share a name."""
        return tuple(entry.document for entry in self._by_name.get(name, ()))

    def rows(
        self, documents: Collection[str] | None = None, filters: Mapping[str, str] | None = None
    ) -> list[int] | None:
        """The rows to rank among, ascending; None for all of them.

        `documents` are ids, file names or callers' ids. `filters` must all hold: title, name, date, verified ("true" or
        "false"), language, or a free key such as class or subject. Case does not matter; a date matches by its
        beginning ("2024", "2024-03").

        Raises:
            InvalidInput: a document that is not in the library.
        """
        if documents is None and not filters:
            return None
        chosen = self.entries if documents is None else [entry for name in documents for entry in self._named(name)]
        wanted = {entry.document.id for entry in chosen if _matches(entry.document, filters or {})}
        return [
            row for document in sorted(wanted, key=lambda id: self._ranges[id].start) for row in self._ranges[document]
        ]

    def rows_of(self, document_id: str) -> range:
        """The rows of a document's passages; raises InvalidInput where there is no such document."""
        self._entry(document_id)
        return self._ranges[document_id]

    def passages_of(self, document_id: str) -> tuple[Passage, ...]:
        """A document's passages, in reading order; raises InvalidInput where there is no such document."""
        rows = self.rows_of(document_id)
        return self.passages[rows.start : rows.stop]

    def size_bytes(self, document_id: str) -> int:
        """The bytes that a document takes on disk with its source, without its part of the common indexes."""
        return self._entry(document_id).size

    def page(self, document_id: str, page: int) -> Page:
        """A page with its rows and word boxes, by its number from 1.

        Raises:
            InvalidInput: no such document or page.
            LibraryDamaged: it is missing or was changed.
            LibraryError: its document was deleted since, or made anew.
        """
        return page_from_json(*self._stored(document_id, page, "facts, layout"))

    def page_text(self, document_id: str, page: int) -> str:
        """The raw text that offsets of this page refer to; raises as `page`."""
        return page_from_json(*self._stored(document_id, page, "facts")).text

    def words(self, document_id: str, page: int) -> Sequence[WordBox]:
        """Where the page's words stand, in PDF points; none for text documents. Raises as `page`."""
        return self.page(document_id, page).words

    def _stored(self, document_id: str, number: int, columns: str) -> tuple[bytes, ...]:
        entry = self._entry(document_id)
        if not 1 <= number <= entry.document.page_count:
            raise InvalidInput(
                f"{entry.document.name} has no page {number}.",
                remedy=f"Ask for a page from 1 to {entry.document.page_count}.",
            )
        # the digest: a collection that was deleted and made anew gives the same numbers to other documents
        document = entry.row, entry.source.digest
        with self.file.reading() as db:
            there = db.execute("SELECT 1 FROM document WHERE id = ? AND digest = ?", document).fetchone()
            query = f"SELECT {columns} FROM page WHERE document = ? AND number = ?"
            found: tuple[bytes, ...] | None = db.execute(query, (entry.row, number)).fetchone()
        if not there:
            problem = f"{entry.document.name} was deleted or indexed anew, so page {number} cannot be read any more."
            raise LibraryError(problem, remedy="Ask again.")
        if found is None:
            raise LibraryDamaged(f"Page {number} of {entry.document.name} is missing.", remedy=REBUILD)
        return found

    def _named(self, name: str) -> list[Entry]:
        return self._by_name.get(name) or [self._entry(name)]

    def _entry(self, document_id: str) -> Entry:
        try:
            return self._by_id[document_id]
        except KeyError:
            raise no_document(document_id) from None

    @cached_property
    def _by_id(self) -> Mapping[str, Entry]:
        return {entry.document.id: entry for entry in self.entries}

    @cached_property
    def _by_name(self) -> Mapping[str, list[Entry]]:
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            for name in {entry.document.id, *entry.names}:
                found.setdefault(name, []).append(entry)
        return found

    @cached_property
    def _ranges(self) -> Mapping[str, range]:
        return {entry.document.id: rows for entry, rows in zip(self.entries, self.passages.ranges, strict=True)}


def no_document(document_id: str) -> NoSuchDocument:
    return NoSuchDocument(
        f"There is no document {document_id!r} in the library.",
        remedy="List the documents; it may have been deleted since.",
    )


def _matches(document: Document, filters: Mapping[str, str]) -> bool:
    return all(_matches_one(document, key, str(value).strip().casefold()) for key, value in filters.items())


def _matches_one(document: Document, key: str, value: str) -> bool:
    metadata = document.metadata
    if key == "date":
        return bool(value) and document.date.startswith(value)
    known = {
        "title": document.title,
        "name": document.name,
        "language": document.language,
        "verified": str(metadata.verified),
    }
    facts = {**metadata.values, **known}
    return key in facts and facts[key].strip().casefold() == value
