"""The kept questions of a collection as summaries, newest first. A record is read once a process: it never changes, it only goes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from rag_core.decision.decide import decide
from rag_core.decision.summary import summarise
from rag_core.domain.ports import Cancel
from rag_core.errors import Cancelled, InvalidInput
from rag_core.evaluation.health import Kept
from rag_core.records.stored import StoredDecision
from rag_core.wiring import RecordStore, records

MAX_QUESTIONS = 2000  # that are looked at: reading one takes about 6 ms
MAX_REMEMBERED = 10_000  # in the whole process, the last ones looked at

_lock = threading.Lock()
_known: OrderedDict[tuple[Path, str, int, str], Kept | None] = OrderedDict()


def kept(folder: Path, collection: str, since: str, cancelled: Cancel | None = None) -> tuple[Kept, ...]:
    """The newest `MAX_QUESTIONS` that were asked from `since` on (ISO 8601, UTC), newest first. What cannot be read is left out.

    Raises:
        LibraryError: the records cannot be used.
        Cancelled: it was stopped.
    """
    store = records(folder, collection)
    rows = [row for row in store.decisions(MAX_QUESTIONS) if row.at >= since]
    found = []
    for row in rows:
        if cancelled is not None and cancelled():
            raise Cancelled("Stopped.", remedy="Look again when you like.")
        one = _summary(store, (folder, collection, row.id, row.at), row)
        if one is not None:
            found.append(one)
    return tuple(found)


def _summary(store: RecordStore, key: tuple[Path, str, int, str], row: StoredDecision) -> Kept | None:
    with _lock:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    try:
        measured = store.measurements(row.id)
        made = Kept(row.id, row.at, row.question, measured.understanding.language, summarise(measured, decide(measured)))
    except InvalidInput:  # deleted meanwhile, or of another version
        made = None
    with _lock:
        _known[key] = made
        while len(_known) > MAX_REMEMBERED:
            _known.popitem(last=False)
    return made
