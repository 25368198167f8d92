"""The manifest of a version: each of its files with its checksum, and the models and settings that it was built with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rag_core.domain.documents import Document, Metadata
from rag_core.errors import LibraryError
from rag_core.library.disk.files import Stamp, damaged, seal, stamps_from_json, stamps_to_json, unseal
from rag_core.library.stored.inbox import Accepted
from rag_core.library.stored.stored_json import document_from_json, document_to_json, is_of_one_date

SCHEMA_VERSION = 1  # the form of the files on disk
DOCUMENT = "document.json"  # in a document's folder: the document as its file gave it
UNSAID_STORE = "faiss-flat"  # the vector store of a library whose manifest names none: there was no other
_UNSEALED = ("schema_version", "generation", "embedder", "index_version", "index", "files", "documents")  # without a checksum of its own


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of a version.

    `key` names its folder (the digest and what it was indexed with), `source` is how it was handed in, with all names it was given under;
    `files` are the stamps of its files by their path relative to the collection's folder.
    """

    key: str
    document: Document
    source: Accepted
    files: Mapping[str, Stamp]

    @property
    def names(self) -> tuple[str, ...]:
        """All names that it goes by, the current one last."""
        return self.source.names

    def handed_in(self, source: Accepted) -> Entry:
        """The same document, given once more: under what name, and with what metadata on top of the known ones."""
        id = self.source.caller_id if source.caller_id is None else source.caller_id
        known = replace(self.source.also_named(source.names), caller_id=id)
        metadata = combined(self.document.metadata, source.metadata)
        return replace(self, document=replace(self.document, name=known.name, metadata=metadata), source=known)

    def reindexed(self, new: Entry) -> Entry:
        """The document `new` under the names and metadata of this one; metadata of the file itself are added."""
        metadata = combined(new.document.metadata, self.document.metadata)
        return replace(
            new, document=replace(new.document, name=self.document.name, metadata=metadata), source=replace(new.source, names=self.names)
        )

    def described(self, metadata: Metadata) -> Entry:
        """With these metadata in place of the old ones."""
        return replace(self, document=replace(self.document, metadata=metadata))


def combined(known: Metadata, given: Metadata) -> Metadata:
    """The metadata that were given, and those known before where nothing was given."""
    return Metadata(
        given.title or known.title,
        given.date or known.date,
        known.authority if given.authority is None else given.authority,
        given.verified or known.verified,
        MappingProxyType({**known.values, **given.values}),
    )


@dataclass(frozen=True, slots=True)
class Manifest:
    """One version of a collection. Version 0 is the empty library, which has no files."""

    version: int
    embedder: str  # model@precision
    index_version: int
    index: str = ""  # the folder under indexes/ with the vector and word indexes
    entries: tuple[Entry, ...] = ()
    files: Mapping[str, Stamp] | None = None  # the indexes' files, relative to the collection's folder
    vector_store: str = UNSAID_STORE  # made the vector index, and alone can read it

    def all_files(self) -> dict[str, Stamp]:
        """Every file of the version, relative to the collection's folder."""
        return {**(self.files or {}), **{name: value for entry in self.entries for name, value in entry.files.items()}}

    def to_bytes(self) -> bytes:
        """The manifest as a JSON file."""
        entries = [
            {"key": e.key, "document": document_to_json(e.document), "source": e.source.to_json(), "files": stamps_to_json(e.files)}
            for e in self.entries
        ]
        row = {
            "schema_version": SCHEMA_VERSION, "generation": self.version, "embedder": self.embedder,
            "index_version": self.index_version, "vector_store": self.vector_store, "index": self.index,
            "files": stamps_to_json(self.files or {}), "documents": entries,
        }  # fmt: skip
        return json.dumps(seal(row), ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, data: bytes, path: Path) -> Manifest:
        """The manifest that `to_bytes` wrote; `path` is for messages.

        Raises:
            LibraryError: written by a newer version of this program.
            LibraryDamaged: not a manifest.
        """
        try:
            row = json.loads(data)
            if row["schema_version"] != SCHEMA_VERSION:  # before the checksum: another form may have another
                raise LibraryError(
                    f"The library was written in form {row['schema_version']}; this version reads form {SCHEMA_VERSION}.",
                    remedy="Update the program, or delete the library folder and index the documents again.",
                )
            row = unseal(row, _UNSEALED)
            return cls(
                row["generation"], row["embedder"], row["index_version"], row["index"],
                tuple(_entry(one, path.parent.parent) for one in row["documents"]), stamps_from_json(row["files"]),
                str(row.get("vector_store", UNSAID_STORE)),
            )  # fmt: skip
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise damaged(path, "is not a manifest") from error


def files_named(data: bytes) -> set[str]:
    """The names of all files of a manifest, without making its documents; paths are relative to the collection's folder.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: not a manifest.
    """
    row = unseal(json.loads(data), _UNSEALED)
    return {*row["files"], f"indexes/{row['index']}", *(name for one in row["documents"] for name in one["files"])}


def _entry(row: Mapping[str, Any], root: Path) -> Entry:
    document, source = row["document"], Accepted.from_json(row["source"])
    given = _given_date(row["key"], document["metadata"]["date"], source, root) if is_of_one_date(document) else ""
    return Entry(row["key"], document_from_json(document, given), source, stamps_from_json(row["files"]))


def _given_date(key: str, date: str, source: Accepted, root: Path) -> str:
    """The date of a document of an earlier version where people gave it; empty where it is the file's, or that cannot be told.

    It is theirs if it was handed in with the file, or is not the one that the document had when it was read; a plain text states none.
    """
    if source.kind == "text" or source.metadata.date == date:
        return date
    with suppress(OSError, ValueError, KeyError, TypeError):
        stored = json.loads((root / "documents" / key / DOCUMENT).read_bytes())["document"]
        if date != stored.get("file_date", stored["metadata"]["date"]):
            return date
    return ""
