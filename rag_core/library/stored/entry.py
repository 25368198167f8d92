"""A source as it was accepted, and a document as it stands in the library."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from rag_core.domain.documents import Document, Metadata
from rag_core.library.stored.sources import Kind, Source, clean
from rag_core.library.stored.typed_json import reader

EXACT_STORE = "faiss-flat"  # the vector store that compares every vector, and needs no package of its own


@dataclass(frozen=True, slots=True)
class Accepted:
    """A source whose bytes are stored under its digest, as the caller described it; the fields are those of `Source`.

    The current one of `names` is the last. `caller_id` is the source's own id, a part of its digest; empty for none.
    """

    digest: str
    names: tuple[str, ...]
    kind: Kind
    language: str = ""
    strategy: str = ""
    metadata: Metadata = field(default_factory=Metadata)
    needs_password: bool = False
    caller_id: str = ""

    @property
    def name(self) -> str:
        return self.names[-1]

    @property
    def id(self) -> str:
        return f"sha256:{self.digest}"

    @classmethod
    def of(cls, source: Source) -> Accepted:
        locked = source.password is not None
        return cls(
            source.digest,
            (clean(source.name),),
            source.kind,
            source.language,
            source.strategy,
            source.metadata,
            locked,
            source.id,
        )

    def also_named(self, names: Iterable[str]) -> Accepted:
        newest = tuple(dict.fromkeys(names))
        return replace(self, names=(*(name for name in self.names if name not in newest), *newest))

    @classmethod
    def from_json(cls, row: Any) -> Accepted:
        """The source that `to_row` was given; raises ValueError or TypeError."""
        found: Accepted = reader(cls)(row)
        return found


Row = tuple[Accepted, str | None]  # a source with its password


def accepted(sources: Iterable[Source]) -> list[Row]:
    """These sources as they are listed, each with its password; equal bytes are one source with several names."""
    taken: dict[str, Row] = {}
    for source in sources:
        row = Accepted.of(source)
        known = taken.get(row.digest)
        taken[row.digest] = (known[0].also_named(row.names) if known else row, source.password)
    return list(taken.values())


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of the library. `row` is its number there, never given again: one that is read anew gets another."""

    row: int
    key: str  # what it was made of: the digest of its bytes, and a hash of what it was indexed with
    document: Document  # as it is described now
    source: Accepted  # how it was handed in, with all names it was given under
    size: int = 0  # bytes that it takes on disk, with its source
    stamp: int = 0  # another one after each change

    @property
    def names(self) -> tuple[str, ...]:
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
            new,
            document=replace(new.document, name=self.document.name, metadata=metadata),
            source=replace(new.source, names=self.names),
        )


def combined(known: Metadata, given: Metadata) -> Metadata:
    """The metadata that were given, and those known before where nothing was given."""
    return Metadata(
        given.title or known.title,
        given.date or known.date,
        known.authority if given.authority is None else given.authority,
        given.verified or known.verified,
        MappingProxyType({**known.values, **given.values}),
    )


def source_digest(document_id: str) -> str:
    return document_id.removeprefix("sha256:")
