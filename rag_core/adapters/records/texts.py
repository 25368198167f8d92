"""The texts that language models wrote for kept questions and for runs, apart from the records: they may hold words of
documents.

It goes with the record, the words of rejected drafts earlier, and all that may come from a document goes when that one
is deleted. The record stays and replays, with "[text deleted]" in its place.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta

from rag_core.adapters.records.tables import now, pack, unpack
from rag_core.decision.decide import decide
from rag_core.decision.outcomes import Outcome
from rag_core.domain.measurements import Measurements
from rag_core.library.disk.database import Database
from rag_core.records import Written, write

MAX_CHARS = 20_000  # kept of one question's texts, and as many of its rejected drafts
_KEPT = (Outcome.SHOWN, Outcome.REFUSED)  # a model's answer, or its reason for none: what a reader was shown


def forget_documents(file: Database, documents: Collection[str], version: int) -> None:
    """Delete every text of a model that may come from these documents: of any question for which one of them was
    retrieved.

    `version` is the last one of the library that has them: a question that is still being asked of it leaves no such
    text either.
    """
    if not file.path.exists():
        return
    wanted = json.dumps(list(documents))
    held = "SELECT 1 FROM json_each(t.documents) one JOIN json_each(?) gone ON one.value = gone.value"
    with file.writing() as db:
        db.execute(
            f"DELETE FROM model_texts WHERE id IN (SELECT t.id FROM model_texts t WHERE EXISTS ({held}))", (wanted,)
        )
        db.execute(
            "INSERT OR REPLACE INTO deletions (document, generation) SELECT value, ? FROM json_each(?)",
            (version, wanted),
        )
    file.empty_log()


def prune_rejected(file: Database, days: int) -> int:
    """Delete the texts of rejected drafts that are older than so many days; of how many questions."""
    if not file.path.exists():
        return 0
    oldest = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
    with file.writing() as db:
        gone = db.execute("DELETE FROM model_texts WHERE rejected AND at < ?", (oldest,)).rowcount
    if gone:
        file.empty_log()
    return gone


def keep_texts(
    db: sqlite3.Connection,
    written: Written,
    version: int,
    *,
    decision: int | None = None,
    run: int | None = None,
    question: str = "",
) -> None:
    """Store what a model wrote for a decision, or for the result of a run; nothing of a document that was deleted
    meanwhile.
    """
    documents = json.dumps(written.documents)
    gone = "SELECT 1 FROM deletions d JOIN json_each(?) one ON one.value = d.document WHERE d.generation >= ?"
    if db.execute(gone, (documents, version)).fetchone():
        return
    insert = (
        "INSERT INTO model_texts (decision, run, question, rejected, at, documents, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
    )
    for rejected, texts in ((False, written.own), (True, written.rejected)):
        if texts:
            of = (decision, run, question if run is not None else None)
            db.execute(insert, (*of, rejected, now(), documents, pack(_bounded(texts))))


def texts_of(file: Database, db: sqlite3.Connection, which: str, id: int) -> dict[str, str]:
    """The texts that are still there, by hash; `which` is `decision` or `run`."""
    found: dict[str, str] = {}
    for (body,) in db.execute(f"SELECT body FROM model_texts WHERE {which} = ?", (id,)).fetchall():
        texts = unpack(file, body)
        if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
            raise file.damaged()
        found |= texts
    return found


def written_of(measurements: Measurements) -> Written:
    """The record of a question, and the words of a model; those of a draft that the reader was not shown are rejected
    ones.
    """
    drafts = len(measurements.llm_trace.attempts) if measurements.llm_trace else 0
    kept = {one.number - 1 for one in decide(measurements).attempts if one.outcome in _KEPT} if drafts else set()
    return write(measurements, rejected=set(range(drafts)) - kept)


def _bounded(texts: Mapping[str, str]) -> dict[str, str]:
    """The first of the texts, as many as may be kept."""
    left = MAX_CHARS
    kept = {}
    for hashed, text in texts.items():
        left -= len(text)
        if left < 0:
            break
        kept[hashed] = text
    return kept
