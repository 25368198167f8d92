"""The inbox: sources that were accepted and are not in the library yet. It is on disk, so that a killed process forgets nothing.

A source's bytes are stored before it is listed. Passwords are never stored: a listed source only says that it needs one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from rag_core.domain.documents import Metadata
from rag_core.library.disk.files import damaged, seal, sync, unseal, write_atomically
from rag_core.library.disk.private import HeldFile
from rag_core.library.stored.sources import Kind, Source, clean, digest_prefix
from rag_core.library.stored.stored_json import metadata_from_json, metadata_to_json


@dataclass(frozen=True, slots=True)
class Accepted:
    """A source whose bytes are stored under its digest, as the caller described it; the fields are those of `Source`.

    `names` are all names it was given under, the current one last. `caller_id` is the source's own id, a part of its digest: empty where it
    has none, None where an earlier version listed it, which did not keep it.
    """

    digest: str
    names: tuple[str, ...]
    kind: Kind
    language: str = ""
    strategy: str = ""
    metadata: Metadata = field(default_factory=Metadata)
    needs_password: bool = False
    caller_id: str | None = None

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

    @property
    def digest_prefixes(self) -> tuple[bytes, ...]:
        """The texts that may come before its bytes in its digest: one where its id is known. Earlier versions named a text by its id."""
        ids = ("", *self.names) if self.caller_id is None else (self.caller_id,)
        return tuple(dict.fromkeys(map(digest_prefix, ids)))

    def knowing(self, metadata: Metadata) -> Accepted:
        """The same source, described by these metadata."""
        return replace(self, metadata=metadata)

    def also_named(self, names: Iterable[str]) -> Accepted:
        """With these names as the newest ones."""
        newest = tuple(dict.fromkeys(names))
        return replace(self, names=(*(name for name in self.names if name not in newest), *newest))

    def to_json(self) -> dict[str, Any]:
        """A JSON object with every field."""
        return asdict(replace(self, metadata=Metadata(values={}))) | {"metadata": metadata_to_json(self.metadata)}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Accepted:
        """The value that `to_json` wrote."""
        return cls(**{**row, "names": tuple(row["names"]), "metadata": metadata_from_json(row["metadata"])})


class Inbox:
    """The list of accepted sources, one JSON file, replaced as a whole. Only the writer changes it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self) -> dict[str, Accepted]:
        """The sources by digest, in the order in which they were accepted.

        Raises:
            LibraryDamaged: the list was changed from outside.
        """
        try:
            rows = json.loads(self._path.read_bytes())
            if not isinstance(rows, list):  # as earlier versions wrote it, without a checksum
                rows = unseal(rows)["sources"]
            return {row["digest"]: Accepted.from_json(row) for row in rows}
        except (FileNotFoundError, NotADirectoryError) as error:
            # what was published had been on the list before
            if self._path.with_name("CURRENT").exists() or any(self._path.parent.glob("manifests/*.json")):
                raise damaged(self._path, "is missing") from error
            return {}
        except OSError as error:
            raise damaged(self._path, f"cannot be read ({error.strerror})") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise damaged(self._path, "is not a list of sources") from error

    def accept(
        self,
        sources: Iterable[Source],
        store: Callable[[Accepted, bytes | HeldFile], Path],
        note: Callable[[Iterable[Accepted]], None] = lambda rows: None,
    ) -> list[tuple[Accepted, str | None]]:
        """Store the bytes of all sources, then list them; returns each with its password.

        Equal bytes are one source with several names. `store` writes the bytes of a source, and returns the file. `note` is told of all
        before they are listed; where it raises, none is, and the next writer clears their bytes away.
        """
        taken: dict[str, tuple[Accepted, str | None]] = {}
        files = set()
        for source in sources:
            row = Accepted.of(source)
            files.add(store(row, source.data))
            known = taken.get(row.digest)
            taken[row.digest] = (known[0].also_named(row.names) if known else row, source.password)
        sync({*files, *(file.parent for file in files)})
        note([row for row, _ in taken.values()])
        self.put([row for row, _ in taken.values()])
        return list(taken.values())

    def put(self, rows: Iterable[Accepted]) -> None:
        """Put these on the list, in place of earlier ones with the same digest."""
        self.replace([*{**self.rows(), **{row.digest: row for row in rows}}.values()])

    def drop(self, digests: Collection[str]) -> None:
        """Take these off the list."""
        rows = self.rows()
        kept = {digest: row for digest, row in rows.items() if digest not in digests}
        if len(kept) < len(rows):
            self.replace(kept.values())

    def replace(self, rows: Iterable[Accepted]) -> None:
        """Write the list anew, whatever it was before."""
        write_atomically(self._path, json.dumps(seal({"sources": [row.to_json() for row in rows]}), ensure_ascii=False).encode())
