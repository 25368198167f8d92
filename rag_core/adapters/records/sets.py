"""The labelled sets of a collection, and their runs with all measurements."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, TypeVar

from rag_core.adapters.records.erase import without_erased
from rag_core.adapters.records.tables import (
    Part,
    as_written,
    keep_texts,
    named,
    noted,
    now,
    opened,
    pack,
    pack_questions,
    plain,
    read_json,
    read_questions,
    row_id,
    texts_of,
    unpack,
    written_of,
)
from rag_core.domain.acts import Action, name_id
from rag_core.domain.measurements import Measurements
from rag_core.domain.ports import PageText
from rag_core.errors import InvalidInput
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.library.stored.typed_json import reader
from rag_core.records import PassageOf, Texts, restored
from rag_core.records.stored import RunHead
from rag_core.settings import Settings

T = TypeVar("T")
_RUN = (
    "SELECT id, name, set_name, settings, calibration, model, generation, started, total, (SELECT count(*) FROM "
    "results WHERE run = r.id) FROM runs r"
)


def _one(found: Sequence[T], run_id: int) -> T:
    """The first row found for a run; raises InvalidInput where there is no such run."""
    if not found:
        raise InvalidInput(f"There is no run {run_id}.", remedy="It may have been deleted since; choose another.")
    return found[0]


def _name(found: None, given: tuple[Any, ...]) -> str:
    return name_id(named(given[0]))


class Sets(Part):
    """Labelled sets and runs of a collection."""

    @opened(Action.SEE)
    def sets(self) -> tuple[str, ...]:
        """The names of the stored sets, sorted."""
        return tuple(name for (name,) in self._rows("SELECT name FROM sets ORDER BY name"))

    @opened(Action.SEE)
    def read_set(self, name: str) -> tuple[LabelledQuestion, ...]:
        if name not in self.sets():
            raise InvalidInput(
                f"There is no labelled set {name!r}.", remedy="It may have been deleted since; choose another."
            )
        return self.find_set(name)

    @noted(Action.LABELS, _name)
    def write_set(self, name: str, questions: Sequence[LabelledQuestion]) -> None:
        """Store a set under a name; one that is there is replaced."""
        row = (named(name), pack_questions(questions))
        self._change("INSERT OR REPLACE INTO sets (name, questions) VALUES (?, ?)", row)

    @noted(Action.LABELS, _name)
    def delete_set(self, name: str) -> None:
        """Delete a set; its runs stay, with the labels they were run on."""
        self._change("DELETE FROM sets WHERE name = ?", (name,))

    def find_set(self, name: str) -> tuple[LabelledQuestion, ...]:
        """The questions of a set; none where there is no set of this name."""
        rows = self._rows("SELECT questions FROM sets WHERE name = ?", (name,))
        return read_questions(self._file, rows[0][0]) if rows else ()

    @noted(Action.RUN, lambda found, given: str(found.id))
    def begin_run(
        self,
        name: str,
        set_name: str,
        questions: Sequence[LabelledQuestion],
        *,
        settings: Settings,
        calibration: str,
        model: str,
        version: int,
    ) -> RunHead:
        """A run without results. It keeps these questions, whatever becomes of the set."""
        row = (
            named(name),
            named(set_name),
            settings.model_dump_json(),
            calibration,
            model,
            version,
            now(),
            len(questions),
            pack_questions(questions),
        )
        columns = "name, set_name, settings, calibration, model, generation, started, total, questions"
        with self._file.writing() as db:
            run = row_id(db.execute(f"INSERT INTO runs ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row).lastrowid)
        return self._runs("WHERE r.id = ?", (run,))[0]

    @opened(Action.SEE)
    def run(self, run_id: int) -> RunHead:
        """A run as it stands."""
        return _one(self._runs("WHERE r.id = ?", (run_id,)), run_id)

    @opened(Action.SEE)
    def runs(self) -> tuple[RunHead, ...]:
        """All runs, newest first."""
        return self._runs("ORDER BY r.id DESC", ())

    @opened(Action.SEE)
    def run_questions(self, run_id: int) -> tuple[LabelledQuestion, ...]:
        """The questions of a run with the labels it was begun with, in order."""
        (questions,) = _one(self._rows("SELECT questions FROM runs WHERE id = ?", (run_id,)), run_id)
        return read_questions(self._file, questions)

    @opened(Action.RUN)
    def add_result(self, run_id: int, question_id: str, measurements: Measurements) -> None:
        """Store what was measured for a question of a run in place of an earlier result.

        A deleted run takes none, nor one of a document or a question that was deleted everywhere meanwhile.
        """
        written, id = written_of(measurements), plain(question_id)
        insert = (
            "INSERT OR REPLACE INTO results (run, question, record) SELECT ?, ?, ? WHERE "
            "EXISTS (SELECT 1 FROM runs WHERE id = ?)"
        )
        with self._file.writing() as db:
            record = without_erased(db, written.record, measurements) if self._may_ask(db, run_id, id) else None
            if record is not None and db.execute(insert, (run_id, id, pack(record), run_id)).rowcount:
                keep_texts(db, written, measurements.library.version, run=run_id, question=id)

    @opened(Action.RUN)
    def copy_result(self, run_id: int, question_id: str, from_run: int, from_question: str) -> None:
        """Store the result of another run's question as one of this run, as it is; an earlier result is replaced."""
        to, source = (run_id, plain(question_id)), (from_run, plain(from_question))
        insert = "INSERT OR REPLACE INTO results (run, question, record) SELECT ?, ?, record FROM results"
        which = "run = ? AND question = ?"
        texts = (
            "INSERT INTO model_texts (run, question, rejected, at, documents, body) "
            "SELECT ?, ?, rejected, at, documents, body"
        )
        with self._file.writing() as db:
            if db.execute(
                f"{insert} WHERE {which} AND EXISTS (SELECT 1 FROM runs WHERE id = ?)", (*to, *source, run_id)
            ).rowcount:
                db.execute(f"{texts} FROM model_texts WHERE {which}", (*to, *source))

    @opened(Action.RUN)
    def restamp_run(self, run_id: int, *, calibration: str, model: str, version: int) -> None:
        """Note with what a run goes on that is resumed after the library changed."""
        row = (calibration, model, version, run_id)
        self._change("UPDATE runs SET calibration = ?, model = ?, generation = ? WHERE id = ?", row)

    def done(self, run_id: int) -> frozenset[str]:
        """Ids of the questions that have a result: a run that is resumed asks only the others."""
        return frozenset(id for (id,) in self._rows("SELECT question FROM results WHERE run = ?", (run_id,)))

    @opened(Action.SEE)
    def results(
        self, run_id: int, page_text: PageText | None = None, passage_of: PassageOf | None = None
    ) -> dict[str, Measurements]:
        """The measurements of a run by question id, in order; texts as in `rag_core.records.from_record`."""
        order = {question.id: n for n, question in enumerate(self.run_questions(run_id))}
        with self._file.reading() as db:
            rows = db.execute("SELECT question, record FROM results WHERE run = ?", (run_id,)).fetchall()
            own = texts_of(self._file, db, "run", run_id)
        rows.sort(key=lambda row: order.get(row[0], len(order)))
        texts = Texts(page_text, passage_of, own)
        return {id: restored(unpack(self._file, record), texts) for id, record in rows}

    @noted(Action.DELETE_RUN)
    def delete_run(self, run_id: int) -> None:
        """Delete a run with its results."""
        self._change("DELETE FROM runs WHERE id = ?", (run_id,))

    def _may_ask(self, db: sqlite3.Connection, run_id: int, question_id: str) -> bool:
        """Whether a run still has a question: a deletion everywhere may have taken it out."""
        since = "SELECT 1 FROM erasures e WHERE e.generation >= r.generation"
        query = f"SELECT questions FROM runs r WHERE id = ? AND EXISTS ({since})"
        row = db.execute(query, (run_id,)).fetchone()
        return row is None or any(plain(one.id) == question_id for one in read_questions(self._file, row[0]))

    def _runs(self, which: str, values: tuple[int, ...]) -> tuple[RunHead, ...]:
        rows = self._rows(f"{_RUN} {which}", values)
        with as_written(self._file):
            return tuple(
                RunHead(id, name, set_name, self.collection, reader(Settings)(read_json(self._file, settings)), *others)
                for id, name, set_name, settings, *others in rows
            )
