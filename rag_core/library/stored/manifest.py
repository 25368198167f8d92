"""The manifest of a version: each of its files with its checksum, and the models and settings that it was built with.

The documents of a small library stand in it. Those of a larger one stand in files that it names; see `lists.py`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rag_core.domain.documents import Document, Metadata
from rag_core.errors import LibraryError
from rag_core.library.disk.files import Stamp, damaged, seal, stamps_from_json, stamps_to_json, unseal
from rag_core.library.stored.inbox import Accepted
from rag_core.library.stored.stored_json import document_from_json, document_to_json

SCHEMA_VERSION = 3  # the form of a manifest
LISTS = "lists"  # the folder of these files
DOCUMENT = "document.json"  # in a document's folder: the document as its file gave it
EXACT_STORE = "faiss-flat"  # the vector store that compares every vector, and needs no package of its own


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
        known = self.source.also_named(source.names)
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
class ListFile:
    """A file with some consecutive documents of a version, as a manifest names it; its checksum is its name.

    Beside its stamp stand how many documents it lists, the bytes of all their files, and how many are in each language. So these can be
    told without reading it.
    """

    stamp: Stamp
    documents: int
    bytes: int
    languages: Mapping[str, int]

    @property
    def name(self) -> str:
        """Where it lies, relative to the collection's folder."""
        return f"{LISTS}/{self.stamp.sha256}.json"

    @classmethod
    def of(cls, entries: Sequence[Entry], stamp: Stamp) -> ListFile:
        """The file of this stamp, which lists these documents."""
        size = sum(one.size for entry in entries for one in entry.files.values())
        return cls(stamp, len(entries), size, Counter(entry.document.language for entry in entries))


@dataclass(frozen=True, slots=True)
class Manifest:
    """One version of a collection. Version 0 is the empty library, which has no files."""

    version: int
    embedder: str  # model@precision
    index_version: int
    index: str = ""  # the folder under indexes/ with the vector and word indexes
    entries: tuple[Entry, ...] = ()
    files: Mapping[str, Stamp] | None = None  # the indexes' files, relative to the collection's folder
    vector_store: str = EXACT_STORE  # made the vector index, and alone can read it

    @property
    def index_bytes(self) -> int:
        """The sizes of the indexes' files, added up."""
        return sum(one.size for one in (self.files or {}).values())

    def all_files(self) -> dict[str, Stamp]:
        """Every file of the version that its documents and indexes need, relative to the collection's folder."""
        return {**(self.files or {}), **{name: value for entry in self.entries for name, value in entry.files.items()}}

    def to_bytes(self, lists: Sequence[ListFile] = ()) -> bytes:
        """The manifest as a JSON file; the documents stand in it, unless they stand in these files."""
        row: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION, "generation": self.version, "embedder": self.embedder, "index_version": self.index_version,
            "vector_store": self.vector_store, "index": self.index, "files": stamps_to_json(self.files or {}),
            "lists": [[*one.stamp, one.documents, one.bytes, dict(one.languages)] for one in lists],
            "documents": [] if lists else [entry_to_json(entry) for entry in self.entries],
        }  # fmt: skip
        return json.dumps(seal(row), ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class Head:
    """A manifest as its file says it: its documents are not made yet, and where `lists` has them, not read.

    `bare` is the version without documents; `rows` are those that stand in the file itself.
    """

    bare: Manifest
    rows: Sequence[Mapping[str, Any]]
    lists: tuple[ListFile, ...]

    @property
    def documents(self) -> int:
        """How many documents it has."""
        return len(self.rows) + sum(one.documents for one in self.lists)

    @property
    def size(self) -> int:
        """The sizes of all files that its documents and indexes need, added up."""
        own = sum(int(size) for row in self.rows for _, size in row["files"].values())
        return own + sum(one.bytes for one in self.lists) + self.bare.index_bytes

    @property
    def languages(self) -> Counter[str]:
        """How many documents are in each language."""
        found = Counter(str(row["document"]["language"]) for row in self.rows)
        for one in self.lists:
            found.update(one.languages)
        return found

    @classmethod
    def from_bytes(cls, data: bytes, path: Path) -> Head:
        """The head of what `Manifest.to_bytes` wrote; `path` is for messages.

        Raises:
            LibraryError: written by a newer version of this program.
            LibraryDamaged: not a manifest, or one of a form before `SCHEMA_VERSION`, which no release wrote.
        """
        try:
            row = json.loads(data)
            if row["schema_version"] > SCHEMA_VERSION:  # before the checksum: another form may have another
                raise LibraryError(
                    f"The library was written in form {row['schema_version']}; this version reads form {SCHEMA_VERSION}.",
                    remedy="Update the program, or delete the library folder and index the documents again.",
                )
            if row["schema_version"] < SCHEMA_VERSION:
                raise damaged(path, f"has form {row['schema_version']}, and this version reads form {SCHEMA_VERSION}")
            row = unseal(row)
            bare = Manifest(
                row["generation"], row["embedder"], row["index_version"], row["index"], (), stamps_from_json(row["files"]),
                str(row["vector_store"]),
            )  # fmt: skip
            lists = [ListFile(Stamp(str(sha256), int(size)), int(n), int(b), dict(langs)) for sha256, size, n, b, langs in row["lists"]]
            return cls(bare, [dict(one) for one in row["documents"]], tuple(lists))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise damaged(path, "is not a manifest") from error


def entries_from_json(rows: Iterable[Mapping[str, Any]], path: Path) -> tuple[Entry, ...]:
    """The documents that `entry_to_json` was given; `path` is of the file that lists them.

    Raises:
        LibraryDamaged: these are no documents.
    """
    try:
        return tuple(map(_entry, rows))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(path, "is not a list of documents") from error


def entry_to_json(entry: Entry, *, short: bool = False) -> dict[str, Any]:
    """A JSON object with every field. With `short`, a name without a folder is that of a file in the document's own folder."""
    own = f"documents/{entry.key}/"
    files = {name.removeprefix(own): one for name, one in entry.files.items()} if short else entry.files
    return {
        "key": entry.key, "document": document_to_json(entry.document), "source": entry.source.to_json(), "files": stamps_to_json(files),
    }  # fmt: skip


def _entry(row: Mapping[str, Any]) -> Entry:
    own = f"documents/{row['key']}/"
    files = {name if "/" in name else own + name: one for name, one in stamps_from_json(row["files"]).items()}
    return Entry(row["key"], document_from_json(row["document"]), Accepted.from_json(row["source"]), files)
