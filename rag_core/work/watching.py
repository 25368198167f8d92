"""The kept questions of a collection as summaries, newest first.

A record is read once a process: it never changes, it only goes.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from rag_core.decision.decide import decide
from rag_core.decision.summary import summarise
from rag_core.domain.ports import Cancel
from rag_core.errors import Cancelled, InvalidInput
from rag_core.evaluation.health import Kept
from rag_core.records.stored import StoredDecision
from rag_core.wiring import records

MAX_QUESTIONS = 2000  # that are looked at: reading one takes about 6 ms


def kept(folder: Path, collection: str, since: str, cancelled: Cancel | None = None) -> tuple[Kept, ...]:
    """The newest `MAX_QUESTIONS` that were asked from `since` on (ISO 8601, UTC), newest first.

    What cannot be read is left out.

    Raises:
        LibraryError: the records cannot be used.
        Cancelled: it was stopped.
    """
    found = []
    for row in records(folder, collection).decisions(MAX_QUESTIONS):
        if cancelled is not None and cancelled():
            raise Cancelled("Stopped.", remedy="Look again when you like.")
        one = _summary(folder, collection, row) if row.at >= since else None
        if one is not None:
            found.append(one)
    return tuple(found)


@lru_cache(maxsize=10_000)  # in the whole process, the last ones looked at
def _summary(folder: Path, collection: str, row: StoredDecision) -> Kept | None:
    try:
        measured = records(folder, collection).measurements(row.id)
        return Kept(
            row.id, row.at, row.question, measured.understanding.language, summarise(measured, decide(measured))
        )
    except InvalidInput:  # deleted meanwhile, or of another version
        return None
