"""Keeps the questions that are asked, as long as the environment says, and reads them as summaries."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

from rag_core.decision.decide import decide
from rag_core.decision.summary import summarise
from rag_core.domain.acts import Action, actor
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import Passage
from rag_core.domain.ports import Cancel
from rag_core.errors import Cancelled, InvalidInput
from rag_core.evaluation.health import Kept
from rag_core.library.stored.snapshot import Snapshot
from rag_core.records import PassageOf
from rag_core.records.stored import StoredDecision
from rag_core.settings.configuration import retention
from rag_core.wiring import RecordStore, records


def keeping(store: RecordStore) -> bool:
    """Whether questions are kept: not where the environment or the users said no, or it is not open to whoever acts."""
    if not retention(os.environ).keep or not actor().is_open(Action.KEEP, store.collection):
        return False
    chosen = store.keeping()
    return True if chosen is None else chosen


def keep(store: RecordStore, measurements: Measurements, searched: Sequence[str] = (), origin: str = "ask") -> int:
    """Keep a question for the documents that it was restricted to (none for all); its id.

    Drops what is older or more than is to be kept.
    """
    limits = retention(os.environ)
    id = store.keep(measurements, origin=origin, documents=searched)
    store.prune(limits.days, limits.most, limits.rejected_days)
    return id


def passage_of(snapshot: Snapshot) -> PassageOf:
    """The passages of a version by document and id."""

    @cache
    def of(document: str) -> dict[str, Passage]:
        try:
            return {passage.id: passage for passage in snapshot.passages_of(document)}
        except InvalidInput:  # it was deleted
            return {}

    return lambda document, passage: of(document).get(passage)


MAX_QUESTIONS = 2000  # that are looked at: reading one takes about 6 ms


def kept(folder: Path, collection: str, since: str, cancelled: Cancel | None = None) -> tuple[Kept, ...]:
    """The newest `MAX_QUESTIONS` asked from `since` on (ISO 8601, UTC), newest first, as far as they can be read."""
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
        return Kept(row.id, row.at, row.question, summarise(measured, decide(measured)))
    except InvalidInput:  # deleted meanwhile, or of another version
        return None
