"""Builds the next version of a collection and publishes it. One thread uses it, which holds the writer's lock."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np

from rag_core.domain.passages import Passage
from rag_core.domain.ports import LexicalIndex, VectorIndex, Vectors
from rag_core.errors import RagError
from rag_core.ingest.layout import json_rows
from rag_core.library.disk.files import Stamp, damaged, identity, nothing, pack_parts, stamp_file, storage_problems, unpack, unpack_vectors
from rag_core.library.disk.private import make_folder, tighten
from rag_core.library.stored.inbox import Inbox
from rag_core.library.stored.manifest import Entry, Manifest
from rag_core.library.stored.packed import Passages
from rag_core.library.stored.snapshot import Snapshot
from rag_core.library.stored.store import PASSAGES, VECTORS, Store, sync_tree

TERMS = "terms.json.gz"
PUBLISH_SECONDS = 2.0  # a reader sees new documents this often while many are added
PUBLISH_SHARE = 4.0  # and publishing takes at most one part in five of the time, however large the library is


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that a document adds to the indexes: passages, their vectors of shape (n, dim), and their index terms."""

    passages: tuple[Passage, ...]
    vectors: Vectors
    terms: Sequence[Sequence[str]]


class Writer:
    """The next version while it is made.

    Args:
        store: the collection's files.
        base: the newest version, which the new one follows.
        snapshot: a version in memory; its passages and, where possible, its indexes are used again.
        adopt: called with each published snapshot; returns the versions that somebody in this process still holds.
        inbox: of the accepted sources, whose files are kept.
    """

    def __init__(
        self,
        store: Store,
        base: Manifest,
        snapshot: Snapshot,
        adopt: Callable[[Snapshot], Collection[int]],
        inbox: Inbox,
    ) -> None:
        self.entries = {entry.document.id: entry for entry in base.entries}
        self._store, self._base, self._snapshot, self._adopt, self._inbox = store, base, snapshot, adopt, inbox
        self._parts: dict[str, Parts] = {}
        self._unsynced: list[Path] = []
        self._last, self._took = (
            time.monotonic() - PUBLISH_SECONDS,
            0.0,
        )  # the first document at once: it can be asked while others are read

    def put(self, entry: Entry, parts: Parts | None = None) -> None:
        """Add a document, or replace the one with its id; `parts` are read from its folder when not given."""
        self.entries[entry.document.id] = entry
        if parts is not None:
            self._parts[entry.key] = parts
        self._unsynced.append(self._store.root / "documents" / entry.key)

    def remove(self, document_id: str) -> None:
        """Leave a document out. Its folder may be gone before the next version is published."""
        entry = self.entries.pop(document_id)
        folder = self._store.root / "documents" / entry.key
        self._parts.pop(entry.key, None)
        self._unsynced = [path for path in self._unsynced if path != folder]

    def publish_when_due(self) -> None:
        """Publish if the last time is long enough ago, measured against what publishing costs."""
        if time.monotonic() - self._last >= max(PUBLISH_SECONDS, PUBLISH_SHARE * self._took):
            self.publish()

    def publish(self, *, anyhow: bool = False, last: Callable[[], None] = nothing) -> None:
        """Make what was put and removed the newest version; nothing happens when nothing changed, unless `anyhow`.

        `last` is called when nothing more has to be written; where it raises, the version before stays the newest.

        Raises:
            LibraryError: the disk refused; the last version stays as it was.
        """
        entries = tuple(self.entries.values())
        if entries == self._base.entries and not anyhow:
            last()
            return
        started = time.monotonic()
        with storage_problems("publishing"):
            self._publish(entries, last)
        self._last = time.monotonic()
        self._took = self._last - started

    def _publish(self, entries: tuple[Entry, ...], last: Callable[[], None]) -> None:
        version = self._base.version + 1
        manifest = replace(self._base, version=version, entries=entries)
        if self._base.index and [e.key for e in entries] == [e.key for e in self._base.entries]:
            passages, vectors, lexical = self._snapshot.passages, self._snapshot.vectors, self._snapshot.lexical
            self._put_in_force(manifest, last)
        else:
            passages, vectors, lexical = self._build(entries)
            manifest = replace(manifest, index=str(version))
            with self._folder(manifest) as folder:
                self._store.vectors.save(vectors, folder)
                self._store.lexical.save(lexical, folder)
                tighten(folder)  # the libraries of the indexes make files with the usual modes
                sync_tree([folder])
                manifest = replace(manifest, files=self._stamps(folder))
                self._put_in_force(manifest, last)
        self._base, self._unsynced, self._parts = manifest, [], {}
        self._snapshot = Snapshot(version, passages, vectors, lexical, entries, self._store.reader)
        live = self._adopt(self._snapshot)
        with self._inbox.held():
            self._store.clear(version, live, self._inbox.rows())
        self._store.keep_reserve(manifest)

    def _put_in_force(self, manifest: Manifest, last: Callable[[], None]) -> None:
        sync_tree(self._unsynced)
        self._store.publish(manifest, last)

    def _build(self, entries: Sequence[Entry]) -> tuple[Passages, VectorIndex, LexicalIndex]:
        """The passages and both indexes. Rows that the version in memory has are taken from it, where the store can; others are read."""
        held = self._held(entries)
        passages = Passages([self._passages(entry, rows) for entry, rows in zip(entries, held, strict=True)])
        if not entries:
            return passages, self._store.no_vectors(), self._store.lexical.build([])
        pieces = list(_pieces(zip(entries, held, strict=True)))
        vectors = self._store.vectors.spliced(
            self._snapshot.vectors, [piece if isinstance(piece, range) else self._vectors(piece) for piece in pieces]
        )
        lexical = self._store.lexical.spliced(
            self._snapshot.lexical, [piece if isinstance(piece, range) else self._terms(piece) for piece in pieces]
        )
        if vectors is None:
            vectors = self._store.vectors.build(np.concatenate([self._vectors(entry) for entry in entries]))
        if lexical is None:
            lexical = self._store.lexical.build([row for entry in entries for row in self._terms(entry)])
        return passages, vectors, lexical

    def _held(self, entries: Sequence[Entry]) -> list[range | None]:
        """The rows in memory of each document; None where what goes into the indexes is not there, or was another."""
        there = {
            entry.document.id: (entry, rows) for entry, rows in zip(self._snapshot.entries, self._snapshot.passages.ranges, strict=True)
        }
        found: list[range | None] = []
        for entry in entries:
            known, rows = there.get(entry.document.id, (None, None))
            found.append(rows if known is not None and (known is entry or _made(known) == _made(entry)) else None)
        return found

    def _passages(self, entry: Entry, known: range | None) -> Sequence[Passage]:
        if entry.key in self._parts:
            return self._parts[entry.key].passages
        return self._snapshot.passages.group(known.start) if known else self._store.passages(entry)

    def _vectors(self, entry: Entry) -> Vectors:
        if entry.key in self._parts:
            return self._parts[entry.key].vectors
        name = f"documents/{entry.key}/{VECTORS}"
        return unpack_vectors(self._store.read(name, entry.files[name]), self._store.root / name)

    def _terms(self, entry: Entry) -> Sequence[Sequence[str]]:
        if entry.key in self._parts:
            return self._parts[entry.key].terms
        name = f"documents/{entry.key}/{TERMS}"
        return unpack_terms(self._store.read(name, entry.files[name]), self._store.root / name)

    @contextmanager
    def _folder(self, manifest: Manifest) -> Iterator[Path]:
        """The folder of a version's indexes, empty; it is deleted where the version does not come into force."""
        folder = self._store.root / "indexes" / manifest.index
        if folder.exists():
            self._store.remove(folder)  # left by a process that was killed before it published
        make_folder(folder)
        try:
            yield folder
        except (OSError, RagError):
            with suppress(RagError):
                if self._store.pointer()[0] != manifest.version:
                    self._store.remove(folder)  # the room is needed for what comes next
            raise

    def _stamps(self, folder: Path) -> dict[str, Stamp]:
        """The stamps of the files in it. One that the version before has too is not read again."""
        root, known = self._store.root, dict[tuple[int, int, int], Stamp]()
        for name, found in (self._base.files or {}).items():
            with suppress(OSError):
                known[identity(root / name)] = found
        files = (path for path in sorted(folder.rglob("*")) if path.is_file())
        return {str(path.relative_to(root)): known.get(identity(path)) or stamp_file(path) for path in files}


def _made(entry: Entry) -> tuple[Stamp, ...]:
    """The stamps of what goes into the indexes: a folder may be made anew, of a stored file that was damaged before."""
    return tuple(entry.files[f"documents/{entry.key}/{name}"] for name in (PASSAGES, VECTORS, TERMS))


def _pieces(entries: Iterable[tuple[Entry, range | None]]) -> Iterator[range | Entry]:
    """The pieces that a version is joined from: rows in memory, as long as they adjoin, and documents that are not there."""
    rows = range(0)
    for entry, known in entries:
        if known is not None and rows and rows.stop == known.start:
            rows = range(rows.start, known.stop)
            continue
        if rows:
            yield rows
        rows = known or range(0)
        if known is None:
            yield entry
    if rows:
        yield rows


def pack_terms(rows: Sequence[Sequence[str]]) -> bytes:
    """The terms of each passage, packed. Each term stands once: a tenth of the bytes, and of the memory when read back."""
    vocabulary: dict[str, int] = {}
    for row in rows:
        for term in row:
            vocabulary.setdefault(term, len(vocabulary))
    numbers = ([vocabulary[term] for term in row] for row in rows)
    return pack_parts(chain(['{"vocabulary":'], json_rows(vocabulary), [',"rows":'], json_rows(numbers), ["}"]))


def unpack_terms(data: bytes, path: Path) -> list[list[str]]:
    """The terms that `pack_terms` was given.

    Raises:
        LibraryDamaged: the bytes are not packed terms.
    """
    packed = unpack(data, path)
    try:
        vocabulary = packed["vocabulary"]
        return [[vocabulary[number] for number in row] for row in packed["rows"]]
    except (KeyError, IndexError, TypeError) as error:
        raise damaged(path, "does not hold terms") from error
