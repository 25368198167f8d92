"""The inbox: sources that were accepted and are not in the library yet. It is on disk, so that a killed process forgets nothing.

A source's bytes are stored before it is listed. Passwords are never stored: a listed source only says that it needs one.

Whoever hands something in lists it at once, also while a writer of the library works on other files: whoever changes the list, or deletes
files that are not on it, holds it for that long. With a source stands how often its indexing was begun, and the settings that it was handed
in with. So a start of the program takes up what an end of it cut off, as it was asked for, and not forever what may have ended it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from filelock import FileLock

from rag_core.domain.documents import Metadata
from rag_core.errors import LibraryDamaged
from rag_core.library.disk.files import damaged, seal, sync, unseal, write_atomically
from rag_core.library.disk.private import FILE_MODE, HeldFile, make_folder
from rag_core.library.stored.sources import Kind, Source, clean
from rag_core.library.stored.stored_json import metadata_from_json, metadata_to_json, values_of

Values = Mapping[str, Any]  # settings by their name, as JSON has them

MAX_TRIES = 2  # a source whose indexing was begun so often is for a person to decide on: it may be what ends the process


@dataclass(frozen=True, slots=True)
class Accepted:
    """A source whose bytes are stored under its digest, as the caller described it; the fields are those of `Source`.

    `names` are all names it was given under, the current one last. `caller_id` is the source's own id, a part of its digest: empty where it
    has none.
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
        """The name it was given last."""
        return self.names[-1]

    @property
    def id(self) -> str:
        """The id that its document has, or will have."""
        return f"sha256:{self.digest}"

    @classmethod
    def of(cls, source: Source) -> Accepted:
        """The listing of a source."""
        locked = source.password is not None
        return cls(source.digest, (clean(source.name),), source.kind, source.language, source.strategy, source.metadata, locked, source.id)

    def knowing(self, metadata: Metadata) -> Accepted:
        """The same source, described by these metadata."""
        return replace(self, metadata=metadata)

    def also_named(self, names: Iterable[str]) -> Accepted:
        """With these names as the newest ones."""
        newest = tuple(dict.fromkeys(names))
        return replace(self, names=(*(name for name in self.names if name not in newest), *newest))

    def to_json(self) -> dict[str, Any]:
        """A JSON object with every field."""
        return values_of(self) | {"metadata": metadata_to_json(self.metadata)}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Accepted:
        """The value that `to_json` wrote."""
        return cls(**{**row, "names": tuple(row["names"]), "metadata": metadata_from_json(row["metadata"])})


@dataclass(frozen=True, slots=True)
class _Listed:
    """The list as it was read, by digest: sources, how often each was begun, and the settings that it was handed in with."""

    rows: dict[str, Accepted]
    tries: dict[str, int]
    values: dict[str, Values]


def accepted(sources: Iterable[Source]) -> list[tuple[Accepted, str | None]]:
    """These sources as they are listed, each with its password; equal bytes are one source with several names."""
    taken: dict[str, tuple[Accepted, str | None]] = {}
    for source in sources:
        _take(source, taken)
    return list(taken.values())


def _take(source: Source, taken: dict[str, tuple[Accepted, str | None]]) -> None:
    row = Accepted.of(source)
    known = taken.get(row.digest)
    taken[row.digest] = (known[0].also_named(row.names) if known else row, source.password)


class Inbox:
    """The list of accepted sources of a collection, one JSON file in its folder, written anew as a whole. Processes may share it."""

    def __init__(self, root: Path) -> None:
        self._path = root / "inbox.json"
        self._lock = FileLock(root / "inbox.lock", mode=FILE_MODE)  # each thread has one of its own, and may take it twice

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within the block nobody else changes the list: for whoever changes it, or deletes what is not on it."""
        make_folder(self._path.parent)
        with self._lock:
            yield

    @property
    def there(self) -> bool:
        """Whether a list was ever written, and is there."""
        return self._path.exists()

    def rows(self) -> dict[str, Accepted]:
        """The sources by digest, in the order in which they were accepted.

        Raises:
            LibraryDamaged: the list was changed from outside.
        """
        return self._read().rows

    def cut_off(self) -> list[tuple[Accepted, Values]]:
        """The sources that an end of the process kept from being indexed, each with the settings that it was handed in with.

        Not those that somebody stopped, or that were tried too often.

        Raises:
            LibraryDamaged: as `rows`.
        """
        listed = self._read()
        return [
            (row, listed.values.get(digest, {})) for digest, row in listed.rows.items() if listed.tries.get(digest, MAX_TRIES) < MAX_TRIES
        ]

    def begin(self, digests: Collection[str]) -> None:
        """Count that indexing these is begun, where that is counted: of those that were handed in before their turn came."""
        with self.held():  # else a job that somebody stops just now would count as begun, and not as stopped
            self._count({digest: number + 1 for digest, number in self._read().tries.items() if digest in digests})

    def hold_back(self, digests: Collection[str]) -> None:
        """Leave these to a person: somebody stopped their job."""
        self._count(dict.fromkeys(self._read().tries.keys() & set(digests), MAX_TRIES))

    def accept(
        self,
        sources: Iterable[Source],
        store: Callable[[Accepted, bytes | HeldFile], Path],
        note: Callable[[Iterable[Accepted]], None] = lambda rows: None,
        *,
        taken_up: Values | None = None,
    ) -> list[tuple[Accepted, str | None]]:
        """Store the bytes of all sources, then list them; returns each with its password.

        Equal bytes are one source with several names. `store` writes the bytes of a source, and returns the file. `note` is told of all
        before they are listed; where it raises, none is, and the next writer clears their bytes away. If the process ends before they are
        indexed, the next start of the program takes them up under the settings `taken_up`; None leaves them to a person.
        """
        taken: dict[str, tuple[Accepted, str | None]] = {}
        files = set()
        with self.held():
            for source in sources:
                files.add(store(Accepted.of(source), source.data))
                _take(source, taken)
            sync({*files, *(file.parent for file in files)})
            note([row for row, _ in taken.values()])
            listed = self._read()
            fresh = {row.digest: row for row, _ in taken.values()}
            again = {} if taken_up is None else dict.fromkeys(fresh, taken_up)
            self._write({**listed.rows, **fresh}.values(), listed.tries | dict.fromkeys(again, 0), listed.values | again)
        return list(taken.values())

    def put(self, rows: Iterable[Accepted]) -> None:
        """Put these on the list, in place of earlier ones with the same digest."""
        with self.held():
            known = self._read()
            self._write([*{**known.rows, **{row.digest: row for row in rows}}.values()], known.tries, known.values)

    def drop(self, digests: Collection[str]) -> None:
        """Take these off the list."""
        with self.held():
            listed = self._read()
            kept = {digest: row for digest, row in listed.rows.items() if digest not in digests}
            if len(kept) < len(listed.rows):
                self._write(kept.values(), listed.tries, listed.values)

    def replace(self, rows: Iterable[Accepted]) -> None:
        """Write the list anew, whatever it was before."""
        with self.held():
            try:
                listed = self._read()
            except LibraryDamaged:
                listed = _Listed({}, {}, {})
            self._write(rows, listed.tries, listed.values)

    def _count(self, changed: Mapping[str, int]) -> None:
        with self.held():
            listed = self._read()
            if known := {digest: number for digest, number in changed.items() if digest in listed.tries}:
                self._write(listed.rows.values(), listed.tries | known, listed.values)

    def _read(self) -> _Listed:
        try:
            whole = unseal(json.loads(self._path.read_bytes()))
            tries, values = whole["begun"], whole["settings"]
            return _Listed(
                {row["digest"]: Accepted.from_json(row) for row in whole["sources"]},
                {str(digest): int(tries[digest]) for digest in tries},
                {str(digest): dict(values[digest]) for digest in values},
            )
        except (FileNotFoundError, NotADirectoryError) as error:
            # what was published had been on the list before
            if self._path.with_name("CURRENT").exists() or any(self._path.parent.glob("manifests/*.json")):
                raise damaged(self._path, "is missing") from error
            return _Listed({}, {}, {})
        except OSError as error:
            raise damaged(self._path, f"cannot be read ({error.strerror})") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise damaged(self._path, "is not a list of sources") from error

    def _write(self, rows: Iterable[Accepted], tries: Mapping[str, int], values: Mapping[str, Values]) -> None:
        listed = list(rows)
        begun = {row.digest: tries[row.digest] for row in listed if row.digest in tries}
        asked = {row.digest: values[row.digest] for row in listed if values.get(row.digest)}
        said = {"sources": [row.to_json() for row in listed], "begun": begun, "settings": asked}
        write_atomically(self._path, json.dumps(seal(said), ensure_ascii=False).encode())
