"""Deleting a whole collection in a process that has it open: its jobs are stopped first, and nobody keeps it in
memory.
"""

from __future__ import annotations

from pathlib import Path

from rag_core.domain.acts import Action, permit
from rag_core.errors import LibraryBusy
from rag_core.wiring import drop_collection
from rag_core.work import loading
from rag_core.work.runner import Runner

STOP_SECONDS = 30.0  # for its jobs: a page that is read by OCR takes up to twenty, a batch of passages less
LOCK_SECONDS = 10.0  # for a writer of another process


def drop(folder: Path, collection: str, runner: Runner) -> bool:
    """Delete a collection with all that was kept of it, and stop the jobs on it; whether there was one.

    Raises:
        LibraryBusy: a job of it, or another process, went on writing. Nothing was deleted then.
        NotAllowed: that is not open to whoever acts.
        LibraryError: as `rag_core.library.dropping.drop`.
    """
    permit(Action.DROP, collection)
    place = str(folder), collection
    with runner.closed(place):
        if not runner.end(place, STOP_SECONDS):
            raise LibraryBusy(
                f"A job of the collection {collection!r} has not stopped yet.", remedy="Delete it again in a moment."
            )
        loading.forget(folder, collection)
        try:
            return drop_collection(folder, collection, LOCK_SECONDS)
        finally:
            loading.forget(folder, collection)  # whoever opened it meanwhile
