"""Takes sources in before their turn comes: their bytes are stored and they are listed, whatever the library's writer works on.

So a process may be killed while a file waits for other jobs: it stays on the list, and the next start of the service takes it up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from rag_core.errors import IngestError
from rag_core.library.disk.files import storage_problems
from rag_core.library.quota import Room
from rag_core.library.stored import stored_sources
from rag_core.library.stored.inbox import Accepted, Inbox, Values
from rag_core.library.stored.sources import Source


def hand_in(
    root: Path, sources: Iterable[Source], room: Room, note: Callable[[Iterable[Accepted]], None], values: Values
) -> frozenset[str]:
    """The digests of the sources that are on the list now; one for which there is no room is not, as its job will say.

    Args:
        root: the collection's folder.
        sources: as they came.
        room: in the collection.
        note: keeps in the audit log that these are indexed; raises where they may not be.
        values: settings that they are indexed under, also by the next start of the program.

    Raises:
        LibraryError: the disk refused, or the list was damaged.
    """
    refused: list[tuple[str, IngestError]] = []
    store = partial(stored_sources.write, root)
    with storage_problems("taking files"):
        taken = Inbox(root).accept(room.admitted(sources, refused), store, note, taken_up=values)
    return frozenset(row.digest for row, _ in taken)
