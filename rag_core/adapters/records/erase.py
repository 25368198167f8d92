"""Deletes from a collection's records whatever speaks of documents that are deleted everywhere.

What goes: questions that were answered from them or that use words of theirs, with feedback, a model's texts and what
pins hold of them; such results of runs; labels that name them or use their words; readers' comments, and names of sets
in certificates. What stays of the others loses the documents' names and titles: numbers, offsets and hashes remain.
Which documents went is remembered by their ids, with the last version that had them: a question that is still being
asked of such a version is held against it.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from rag_core.adapters.records.pins import erase_pin
from rag_core.adapters.records.tables import pack, pack_questions, read_questions, unpack
from rag_core.domain.measurements import TYPED, Measurements
from rag_core.errors import InvalidInput, LibraryBusy
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.library.disk.database import Database
from rag_core.library.erasing import Erased, Mentions, mentions_in
from rag_core.records import from_record

ERASED = "erased"  # the name of a set or a run whose name was the document's


class Eraser:
    """Within one transaction on `db`. `ids` are the documents, `names` what they go by in labels."""

    def __init__(self, file: Database, db: sqlite3.Connection, ids: Collection[str], mentions: Mentions) -> None:
        self._file, self._db, self._ids, self._mentions = file, db, frozenset(ids), mentions
        self.counts = Counter[str]()

    def run(self) -> None:
        self._decisions()
        self._feedback()
        self._labels("sets", "name")
        self._labels("runs", "id")
        self._results()
        for name, certificate in self._all("SELECT name, certificate FROM presets"):
            row = json.loads(certificate)
            if row and self._mentions(str(row.get("set_name", ""))):
                self._db.execute(
                    "UPDATE presets SET certificate = ? WHERE name = ?", (json.dumps({**row, "set_name": ERASED}), name)
                )
        for table, column in (("sets", "name"), ("runs", "name"), ("runs", "set_name")):
            self._rename(table, column)

    def _decisions(self) -> None:
        for id, question, searched, record in self._all("SELECT id, question, documents, record FROM decisions"):
            row = unpack(self._file, record)
            if (
                self._mentions(question)
                or self._mentions(_typed(row))
                or self._ids & set(json.loads(searched))
                or self._rests_on(row)
            ):
                self.counts["decisions"] += 1
                self.counts["feedback"] += self._db.execute(
                    "SELECT count(*) FROM feedback WHERE decision = ?", (id,)
                ).fetchone()[0]
                erase_pin(self._db, id)
                self._db.execute("DELETE FROM decisions WHERE id = ?", (id,))
            elif (clean := _without(row, self._ids)) != row:
                self._db.execute("UPDATE decisions SET record = ? WHERE id = ?", (pack(clean), id))

    def _results(self) -> None:
        for run, question, record in self._all("SELECT run, question, record FROM results"):
            row = unpack(self._file, record)
            if self._rests_on(row) or self._mentions(str(row.get("question", ""))):
                self.counts["results"] += self._delete_result(run, question)
            elif (clean := _without(row, self._ids)) != row:
                self._db.execute(
                    "UPDATE results SET record = ? WHERE run = ? AND question = ?", (pack(clean), run, question)
                )

    def _feedback(self) -> None:
        for id, comment, document in self._all("SELECT id, comment, document FROM feedback"):
            if document in self._ids or self._mentions(comment):
                self.counts["feedback"] += self._db.execute("DELETE FROM feedback WHERE id = ?", (id,)).rowcount

    def _labels(self, table: str, key: str) -> None:
        for id, packed in self._all(f"SELECT {key}, questions FROM {table}"):
            questions = read_questions(self._file, packed)
            kept = [one for one in questions if not self._speaks_of(one)]
            if len(kept) == len(questions):
                continue
            self.counts["labels"] += len(questions) - len(kept)
            self._db.execute(f"UPDATE {table} SET questions = ? WHERE {key} = ?", (pack_questions(kept), id))
            if table == "runs":
                self._db.execute("UPDATE runs SET total = ? WHERE id = ?", (len(kept), id))
                for one in {one.id for one in questions} - {one.id for one in kept}:
                    self.counts["results"] += self._delete_result(id, one)

    def _rename(self, table: str, column: str) -> None:
        taken = {name for (name,) in self._all(f"SELECT DISTINCT {column} FROM {table}")}
        for name in sorted(filter(self._mentions, taken)):
            free = next(one for n in range(len(taken) + 1) if (one := f"{ERASED} {n + 1}") not in taken)
            taken.add(free)
            self._db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (free, name))

    def _speaks_of(self, label: LabelledQuestion) -> bool:
        named = {*label.documents, *(place.document for place in label.places)}
        texts = (label.id, label.question, label.kind, *label.answers, *named)
        return bool(named & self._ids) or any(map(self._mentions, texts))

    def _rests_on(self, record: dict[str, Any]) -> bool:
        """Whether a draft was made from one of the documents, as far as this version can read the record."""
        try:
            return bool(self._ids & _drafted_from(from_record(record)))
        except InvalidInput:
            return True

    def _delete_result(self, run: int, question: str) -> int:
        return self._db.execute("DELETE FROM results WHERE run = ? AND question = ?", (run, question)).rowcount

    def _all(self, query: str) -> Sequence[Any]:
        return self._db.execute(query).fetchall()


def erase(file: Database, ids: Collection[str], version: int, mentions: Mentions) -> Erased:
    """Delete all of it, also from the log beside the file; damaged copies that were put aside go as a whole.

    The file is made where there is none: the first question may be under way. `version` is the last one of the library
    that may have the documents of these `ids`; `mentions` says whether a text uses their words.

    Raises:
        LibraryBusy: somebody reads the file all the time, so that its log cannot be emptied; call again.
    """
    for aside in file.path.parent.glob(f"{file.path.stem}.damaged-*"):
        aside.unlink(missing_ok=True)
    _empty_log(file)  # where that cannot be done, nothing goes
    with file.writing() as db:
        eraser = Eraser(file, db, ids, mentions)
        eraser.run()
        db.execute(
            "INSERT OR REPLACE INTO erasures (document, generation) SELECT value, ? FROM json_each(?)",
            (version, json.dumps(list(ids))),
        )
    _empty_log(file)
    return Erased(*(eraser.counts[name] for name in ("decisions", "results", "labels", "feedback")))


def _empty_log(file: Database) -> None:
    if not file.empty_log():
        raise LibraryBusy(
            "The records are being read, so their log would still hold what is deleted.", remedy="Delete it once more."
        )


def without_erased(
    db: sqlite3.Connection, record: dict[str, Any], measurements: Measurements, searched: Collection[str] = ()
) -> Any:
    """The record of a question without the names of documents that were deleted everywhere since it was asked.

    None, since it goes as a whole, where an answer was drafted from one, where it was among the few that were searched,
    or where the question uses words of it alone.
    """
    query = "SELECT document FROM erasures WHERE generation >= ?"
    gone = {document for (document,) in db.execute(query, (measurements.library.version,))}
    if not gone:
        return record
    if gone & (_drafted_from(measurements) | set(searched)):
        return None
    mentions = _found_in(measurements, gone)
    return None if mentions(measurements.question) or mentions(_typed(record)) else _without(record, gone)


def _found_in(measurements: Measurements, gone: Collection[str]) -> Mentions:
    """The same of the names and passages of documents that a question holds."""
    known = [
        (id in gone, text)
        for each in (measurements.library.names, measurements.library.titles)
        for id, text in each.items()
    ]
    later = measurements.llm_trace.expanded if measurements.llm_trace else ()
    for passage in (hit.passage for hits in (measurements.hits, *later) for hit in hits):
        known += [(passage.document in gone, text) for text in (passage.text, passage.section, passage.header_text)]
    return mentions_in([name for id, name in measurements.library.names.items() if id in gone], known)


def _typed(row: dict[str, Any]) -> str:
    """The question of a record as it was typed, where it was asked in other words; of any version."""
    metadata = row.get("metadata")
    return str(metadata.get(TYPED, "")) if isinstance(metadata, dict) else ""


def _drafted_from(measurements: Measurements) -> set[str]:
    drafts = [measurements.draft]
    if measurements.llm_trace is not None:
        drafts += [attempt.draft for attempt in measurements.llm_trace.attempts if attempt.draft is not None]
    return {evidence.document for draft in drafts for claim in draft.claims for evidence in claim.evidence}


def _without(value: Any, ids: Collection[str]) -> Any:
    """The value without what stands under the ids: names, titles, dates, pages that could not be read."""
    if isinstance(value, dict):
        return {key: _without(one, ids) for key, one in value.items() if key not in ids}
    return [_without(one, ids) for one in value] if isinstance(value, list) else value
