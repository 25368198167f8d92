"""The most that a collection takes: documents, and bytes of their files as they were handed in.

Looked at before a file is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from rag_core.errors import IngestError, InvalidInput, QuotaExceeded
from rag_core.library.disk.private import size_of
from rag_core.library.stored.bounds import MAX_NAME_CHARS, require_source
from rag_core.library.stored.sources import Source


@dataclass(frozen=True, slots=True)
class Quota:
    """At most so many documents and bytes; None for no limit."""

    documents: int | None = None
    bytes: int | None = None


QuotaOf = Callable[[], Quota]  # asked at each addition: it may have been changed meanwhile


class Room:
    """The room left in a collection while its writer adds to it; `taken` are bytes by digest, also of what waits."""

    def __init__(self, quota: Quota, taken: Mapping[str, int]) -> None:
        self._quota, self._taken = quota, dict(taken)

    def take(self, source: Source) -> None:
        """Count a source; one that is there takes nothing. Raises QuotaExceeded where it does not fit, uncounted."""
        if self._quota == Quota() or (digest := source.digest) in self._taken:
            return
        documents, size = len(self._taken) + 1, size_of(source.data)
        whole = sum(self._taken.values()) + size
        if self._quota.documents is not None and documents > self._quota.documents:
            raise _full(f"may have {self._quota.documents:,} documents, and has {documents - 1:,}")
        if self._quota.bytes is not None and whole > self._quota.bytes:
            raise _full(
                f"may have {self._quota.bytes:,} bytes of files, and has {whole - size:,}; this one has {size:,}"
            )
        self._taken[digest] = size

    def admitted(
        self, sources: Iterable[Source | IngestError], refused: list[tuple[str, IngestError]]
    ) -> Iterator[Source]:
        """The sources that fit and are within bounds, each counted; all others go into `refused`, with their names."""
        for source in sources:
            if not isinstance(source, Source):
                refused.append(("input", source))
                continue
            try:
                require_source(source)
                self.take(source)
            except QuotaExceeded as error:
                refused.append((source.name, error))
            except InvalidInput as error:
                refused.append((source.name[:MAX_NAME_CHARS], IngestError(error.problem, remedy=error.remedy)))
            else:
                yield source


def _full(why: str) -> QuotaExceeded:
    return QuotaExceeded(
        f"The collection {why}.", remedy="Delete documents that are not needed, or ask whoever runs it for more room."
    )
