"""The store that a collection keeps beside its documents, one SQLite file: decisions, feedback, labels, runs, presets,
executions.

Decisions and results are records (`rag_core.records`): numbers, offsets and hashes, no text of a document; what a
language model wrote stands in a table of its own. Everything from outside is a bound parameter. One store may serve all
threads of a process, and several processes may have the file open.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from rag_core.adapters.records.decisions import Decisions, Executions
from rag_core.adapters.records.erase import erase
from rag_core.adapters.records.sets import Sets
from rag_core.adapters.records.tables import SCHEMA, VERSION, forget_documents, named, prune_rejected, read_json
from rag_core.domain.acts import Action, Note, actor, name_id, permit, permit_own, unnoted
from rag_core.errors import InvalidInput
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.library.disk.database import Database
from rag_core.library.erasing import Erased, Mentions
from rag_core.records.stored import FeedbackState, RunHead, SavedPreset

P = ParamSpec("P")
T = TypeVar("T")
FILE = "records.sqlite"
_DEFAULT_PRESET = "default_preset"


class RecordStore:
    """The records of the collection in whose folder `path` lies. Creates nothing until something is written.

    Every method raises a LibraryError where the file cannot be used: RecordsDamaged, LibraryBusy, or what the disk
    refused. What it hands out of its parts is said there: decisions and feedback in `Decisions`, labelled sets and runs
    in `Sets`.

    `note` is told of each change before it is kept; what it cannot keep is not changed. What others asked, said and
    labelled is read by those only to whom that is open (`Action.SEE`); a kept question also by whoever asked it.
    """

    def __init__(self, path: Path, note: Note = unnoted) -> None:
        self.collection, self._note = path.parent.name, note
        self._file = Database(path, SCHEMA, VERSION)

        decisions, noted, words = Decisions(self._file), self._noted, True
        self.keep, self.measurements = noted(Action.KEEP, decisions.keep, _result), self._own(decisions.measurements)
        self.decisions, self.stored = self._open(Action.SEE, decisions.decisions), self._own(decisions.stored)
        self.prune, self.forget_decision = decisions.prune, noted(Action.FORGET, self._own(decisions.forget_decision))
        self.add_feedback = noted(Action.FEEDBACK, self._own(decisions.add_feedback))
        self.feedback, self.settle = (
            self._open(Action.SEE, decisions.feedback),
            self._open(Action.LABELS, decisions.settle),
        )
        self.amend, self.take_back = self._own(decisions.amend, words), self._own(decisions.take_back, words)

        sets = self._sets = Sets(self._file, self.collection)
        self.sets, self.read_set = self._open(Action.SEE, sets.sets), self._open(Action.SEE, sets.read_set)
        self.write_set = noted(Action.LABELS, sets.write_set, _name)
        self.delete_set = noted(Action.LABELS, sets.delete_set, _name)
        self.begin_run, self.restamp_run = (
            noted(Action.RUN, sets.begin_run, _run),
            self._open(Action.RUN, sets.restamp_run),
        )
        self.delete_run, self.note_run = (
            noted(Action.DELETE_RUN, sets.delete_run),
            self._open(Action.RUN, sets.note_run),
        )
        self.run, self.runs = self._open(Action.SEE, sets.run), self._open(Action.SEE, sets.runs)
        self.run_questions = self._open(Action.SEE, sets.run_questions)
        self.add_result, self.copy_result = (
            self._open(Action.RUN, sets.add_result),
            self._open(Action.RUN, sets.copy_result),
        )
        self.results, self.done = self._open(Action.SEE, sets.results), sets.done

        done = Executions(self._file)
        self.record_execution, self.executions = (
            noted(Action.EXECUTION, done.record, _result),
            self._open(Action.SEE, done.all),
        )

    def label(self, feedback_id: int, set_name: str, question: LabelledQuestion) -> None:
        """Append a label that a person confirmed to a set, a new one where there is none, and settle the feedback with
        it.

        Raises:
            InvalidInput: the feedback is gone, the set has a question of this id, or its name cannot be used.
        """
        with self._file.writing():
            self.write_set(set_name, (*self._sets.find(set_name), question))
            self.settle(feedback_id, FeedbackState.LABELLED)

    def put_question(self, set_name: str, question: LabelledQuestion) -> None:
        """Put a question into a set, a new one where there is none; one of the same id gives way.

        Raises:
            InvalidInput: the set's name cannot be used.
        """
        with self._file.writing():
            others = self._sets.find(set_name)
            if any(one.id == question.id for one in others):
                self.write_set(set_name, [question if one.id == question.id else one for one in others])
            else:
                self.write_set(set_name, (*others, question))

    def drop_question(self, set_name: str, id: str) -> None:
        """Take a question out of a set, and the set with its last one; nothing where it is not there."""
        with self._file.writing():
            others = self._sets.find(set_name)
            left = [one for one in others if one.id != id]
            if left:
                self.write_set(set_name, left)
            elif others:
                self.delete_set(set_name)

    def forget_documents(self, documents: Collection[str], version: int) -> None:
        """Delete every text of a model that may come from these documents; see `texts.forget_documents`."""
        forget_documents(self._file, documents, version)

    def erase(self, documents: Collection[str], version: int, mentions: Mentions) -> Erased:
        """Delete whatever speaks of these documents; see `erase.erase`."""
        return erase(self._file, documents, version, mentions)

    def deleted(self, document: str) -> bool:
        """Whether a document with this id was once deleted."""
        with self._file.reading() as db:
            return db.execute("SELECT 1 FROM deletions WHERE document = ?", (document,)).fetchone() is not None

    def prune_rejected(self, days: int) -> int:
        """Delete the texts of rejected drafts that are older than so many days; of how many questions."""
        return prune_rejected(self._file, days)

    def keeping(self) -> bool | None:
        """Whether questions of this collection are kept, as it was last chosen; None when nobody chose."""
        chosen = self._choice("keep_decisions")
        return None if chosen is None else bool(chosen)

    def set_keeping(self, keep: bool) -> None:
        """Remember whether questions of this collection are kept."""
        with self._file.writing():
            self._choose("keep_decisions", keep)
            self._note(Action.KEEPING, ("on" if keep else "off",))

    def presets(self) -> tuple[SavedPreset, ...]:
        """The saved presets, by name."""
        with self._file.reading() as db:
            rows = db.execute("SELECT name, preset_values, certificate, created FROM presets ORDER BY name").fetchall()
        return tuple(
            SavedPreset(name, read_json(self._file, values), read_json(self._file, certificate), created)
            for name, values, certificate, created in rows
        )

    def save_preset(self, preset: SavedPreset) -> None:
        """Store a preset; one of the same name is replaced.

        Raises:
            InvalidInput: a name that is empty or too long.
        """
        certificate = None if preset.certificate is None else dict(preset.certificate)
        row = (named(preset.name), json.dumps(dict(preset.values)), json.dumps(certificate), preset.created)
        with self._file.writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO presets (name, preset_values, certificate, created) VALUES (?, ?, ?, ?)", row
            )
            self._note(Action.THRESHOLDS, (name_id(row[0]),))

    def delete_preset(self, name: str) -> None:
        """Delete a preset; if it was the default one, there is none any more."""
        with self._file.writing() as db:
            db.execute("DELETE FROM presets WHERE name = ?", (name,))
            self._note(Action.THRESHOLDS, (name_id(name),))
            if self.default_preset() == name:
                self.set_default_preset(None)

    def default_preset(self) -> str | None:
        """The saved preset that questions of this collection start with; None for the program's own."""
        name = self._choice(_DEFAULT_PRESET)
        return None if name is None else str(name)

    def set_default_preset(self, name: str | None) -> None:
        """Choose the saved preset to start with; None for the program's own.

        Raises:
            InvalidInput: there is no such preset.
        """
        if name is not None and name not in {preset.name for preset in self.presets()}:
            raise InvalidInput(
                f"There is no saved preset {name!r}.", remedy="It may have been deleted since; choose another."
            )
        with self._file.writing():
            self._choose(_DEFAULT_PRESET, name)
            self._note(Action.THRESHOLDS, (name_id(name) if name else "default",))

    def _noted(
        self,
        action: Action,
        change: Callable[P, T],
        about: Callable[[T, tuple[Any, ...]], str] = lambda found, given: str(given[0]),
    ) -> Callable[P, T]:
        """The change, noted in its own transaction: of both, or of neither, something is left."""

        @wraps(change)
        def noted(*args: P.args, **kwargs: P.kwargs) -> T:
            with self._file.writing():
                found = change(*args, **kwargs)
                self._note(action, (about(found, args),))
            return found

        return noted

    def _own(self, method: Callable[Concatenate[int, P], T], words: bool = False) -> Callable[Concatenate[int, P], T]:
        """A method about a kept question, or feedback on one, for whoever asked it or may see everybody's."""

        @wraps(method)
        def guarded(id: int, /, *args: P.args, **kwargs: P.kwargs) -> T:
            if actor().may is not None:
                # where there is none, the method says so
                permit_own(Decisions(self._file).origin(id, words=words) or actor().name, self.collection)
            return method(id, *args, **kwargs)

        return guarded

    def _choice(self, name: str) -> Any:
        """The last choice under a name; None when there is none."""
        with self._file.reading() as db:
            row = db.execute("SELECT value FROM choices WHERE name = ?", (name,)).fetchone()
        return None if row is None else read_json(self._file, row[0])

    def _choose(self, name: str, value: Any) -> None:
        with self._file.writing() as db:
            db.execute("INSERT OR REPLACE INTO choices (name, value) VALUES (?, ?)", (name, json.dumps(value)))

    def _open(self, action: Action, read: Callable[P, T]) -> Callable[P, T]:
        """The method, for those to whom an act is open."""

        @wraps(read)
        def opened(*args: P.args, **kwargs: P.kwargs) -> T:
            permit(action, self.collection)
            return read(*args, **kwargs)

        return opened

    def move_aside(self) -> Path | None:
        """Give a damaged file another name and begin a new one; nothing is deleted. Returns where it is now."""
        permit(Action.KEEPING, self.collection)
        return self._file.move_aside()

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        self._file.close()


def _result(found: int, given: tuple[Any, ...]) -> str:
    return str(found)


def _run(found: RunHead, given: tuple[Any, ...]) -> str:
    return str(found.id)


def _name(found: None, given: tuple[Any, ...]) -> str:
    return name_id(named(given[0]))
