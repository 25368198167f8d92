"""The labelled runs of a collection that was entered: begin, go on, report, certify, export. All of it needs the scope label."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rag_core.decision.batch import ReplaySet, replay_many
from rag_core.decision.decide import replay
from rag_core.domain.acts import Action, name_id
from rag_core.domain.measurements import Measurements
from rag_core.domain.ports import Cancel, Progress
from rag_core.errors import InvalidInput, InvalidSetting
from rag_core.evaluation import Ran, answer_hits, begin, failing, is_current, judged_under, marks, reported, run
from rag_core.evaluation.certify import Basis, Certificate, Uncertified, certify, stale
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.labelled.read import read_rows
from rag_core.evaluation.labelled.write import to_jsonl
from rag_core.records.stored import RunHead, SavedPreset
from rag_core.service.callers.principal import Scope
from rag_core.service.callers.refusals import missing
from rag_core.service.messages.run_models import Wanted
from rag_core.service.queues.jobs import Started
from rag_core.settings import Cost, Settings
from rag_core.settings.configuration import retention

if TYPE_CHECKING:
    from rag_core.service.collection import Collection

MEASURED = frozenset({Cost.REPLAY, Cost.ASK})  # settings that a run may have
JUDGED = frozenset({Cost.REPLAY})  # and those that what it measured can be judged under


class Runs:
    """The labelled runs and certificates of a collection. Safe to share between threads."""

    def __init__(self, collection: Collection) -> None:
        self._collection, self._principal = collection, collection.principal

    def all(self) -> tuple[RunHead, ...]:
        """All runs, newest first."""
        self._principal.require(Scope.LABEL)
        return self._collection.records.runs()

    def begin(
        self, name: str, rows: Sequence[Mapping[str, Any]], preset: str | None, values: Mapping[str, Any], budget_tokens: int | None
    ) -> Started:
        """Start a job that measures labelled questions.

        Raises:
            InvalidInput: a row is no labelled question, or there is no document to ask.
        """
        self._principal.require(Scope.LABEL)
        questions, problems = read_rows(rows)
        if problems:
            raise InvalidInput(f"{problems[0]}", remedy="Correct the row, or leave it out.")
        collection = self._collection
        engine, store = collection.fresh(), collection.records
        if not engine.library.snapshot.documents:
            raise InvalidInput("There are no documents to ask.", remedy="Index some first.")
        collection.require_room()
        with self._principal.acting():
            head = begin(engine, name, name, questions, collection.settings(preset, values, MEASURED), store)
        return self._go(head, budget_tokens)

    def resume(self, number: int, budget_tokens: int | None) -> Started:
        """Start a job that measures what a stopped run has not; and anew what was measured before the collection changed.

        Raises:
            NotFound: there is no such run.
        """
        head = self._head(number)
        self._collection.require_room()
        return self._go(head, budget_tokens)

    def report(self, number: int) -> Mapping[str, Any]:
        """The figures of a run, as far as it is.

        Raises:
            NotFound: there is no such run.
        """
        head = self._head(number)
        questions, by_id = self._measured(head)
        figures = reported(questions, by_id, head.settings).to_json()
        return {**told(head), "run": number, **figures}

    def export(self, number: int, what: str) -> bytes:
        """A run as JSON lines: its `labels`, the questions that are `failing`, or the `decisions` on all that were measured.

        Raises:
            NotFound: there is no such run.
        """
        head = self._head(number)
        questions, by_id = self._measured(head)
        self._note_export(f"run:{number}")
        if what == "labels":
            return to_jsonl(self._collection.records.run_questions(number))
        done = [one for one in questions if one.id in by_id]
        measured = [by_id[one.id] for one in done]
        if what == "failing":
            outcomes = replay_many(ReplaySet.of(measured), head.settings)
            return failing(done, measured, head.settings, marks(done, outcomes, answer_hits(done, measured), measured))
        judged = ((one.id, replay(m, judged_under(m.settings, head.settings))) for one, m in zip(done, measured, strict=True))
        return lines(decision.to_json(id) for id, decision in judged)

    def labels(self, set_name: str) -> bytes:
        """The questions of a labelled set as JSON lines.

        Raises:
            NotFound: there is no such set.
        """
        self._principal.require(Scope.LABEL)
        store = self._collection.records
        if set_name not in store.sets():
            raise missing("set")
        self._note_export(name_id(set_name))
        return to_jsonl(store.read_set(set_name))

    def decisions(self, limit: int, before: int | None) -> bytes:
        """The newest kept decisions of everybody as JSON lines, newest first, with ids below `before`.

        One that this version cannot read is told by its `id` and a `problem`.
        """
        self._principal.require(Scope.LABEL)
        self._note_export("decisions")
        return lines(self._decision(one.id) for one in self._collection.records.decisions(limit, before=before))

    def certify(self, number: int, wanted: Wanted) -> Certificate | Uncertified:
        """The thresholds that keep the targets on a run's questions, with their certificate; or what is missing.

        Raises:
            NotFound: there is no such run.
            InvalidInput: the run is not complete, or the collection changed since; or the name is taken.
        """
        head, collection = self._head(number), self._collection
        engine, store = collection.fresh(), collection.records
        if head.done < head.total or not is_current(head, engine):
            raise InvalidInput(f"Run {number} is not complete for the collection as it is now.", remedy="Resume it, then certify again.")
        if wanted.save_as and wanted.save_as in {one.name for one in store.presets()}:
            raise InvalidInput("There is a preset of this name.", remedy="Give another name: what was certified stays as it is.")
        questions, by_id = self._measured(head)
        measured, calibration = [by_id[one.id] for one in questions], engine.tools.calibration
        fitted = calibration.provenance.get("question_hashes", ()) if calibration else ()
        basis = Basis.of(engine, collection.name)
        found = certify(
            questions, measured, answer_hits(questions, measured), self._judging(head, wanted), wanted.request, basis,
            set_name=head.set_name, date=datetime.now(UTC).isoformat(timespec="seconds"), fitted=frozenset(fitted),
        )  # fmt: skip
        if isinstance(found, Certificate) and wanted.save_as:
            with self._principal.acting():
                store.save_preset(SavedPreset(wanted.save_as, found.settings, found.to_json(), found.date))
        return found

    def certificates(self) -> list[tuple[SavedPreset, tuple[str, ...]]]:
        """The saved presets that have a certificate, each with why it does not hold now for questions under it; nothing where it does."""
        self._principal.require(Scope.ASK)
        basis = Basis.of(self._collection.fresh(), self._collection.name)
        found = []
        for preset in self._collection.records.presets():
            if preset.certificate is not None:
                settings = self._collection.saved(preset)
                found.append((preset, tuple(map(str, stale(Certificate.from_json(preset.certificate), basis, settings)))))
        return found

    def _decision(self, id: int) -> Mapping[str, Any]:
        try:
            return self._collection.questions.decision(id).to_json(str(id))
        except InvalidInput as error:
            return {"id": str(id), "problem": error.problem}

    def _judging(self, head: RunHead, wanted: Wanted) -> Settings:
        base = head.settings
        if wanted.preset is not None:
            base = judged_under(base, self._collection.settings(wanted.preset, {}, MEASURED))
        knobs = {knob.name: knob for knob in Settings.knobs()}
        for name in wanted.values:
            if name in knobs and not (knobs[name].is_closed and knobs[name].cost in JUDGED):
                raise InvalidSetting(f"A run cannot be judged under another {name!r}.", remedy="Begin a run with it.")
        return base.changed(**wanted.values)

    def _go(self, head: RunHead, budget_tokens: int | None) -> Started:
        engine, store = self._collection.fresh(), self._collection.records

        def work(progress: Progress, stop: Cancel) -> Ran:
            store.prune_rejected(retention(os.environ).rejected_days)
            return run(engine, store.run(head.id), store, progress, stop, budget_tokens)

        return self._collection.start("Measuring labelled questions", work, "evaluating", head.total, run=head.id)

    def _head(self, number: int) -> RunHead:
        self._principal.require(Scope.LABEL)
        head = next((one for one in self._collection.records.runs() if one.id == number), None)
        if head is None:
            raise missing("run")
        return head

    def _measured(self, head: RunHead) -> tuple[tuple[LabelledQuestion, ...], Mapping[str, Measurements]]:
        store = self._collection.records
        return store.run_questions(head.id), store.results(head.id, self._collection.fresh().library.snapshot.page_text)

    def _note_export(self, what: str) -> None:
        self._collection.note(Action.EXPORT, what)


def told(head: RunHead) -> dict[str, Any]:
    """A run in a list."""
    return {
        "run": head.id, "name": head.name, "set": head.set_name, "done": head.done, "total": head.total,
        "settings_hash": head.settings.hash(), "started": head.started,
    }  # fmt: skip


def lacking(found: Uncertified) -> dict[str, Any]:
    """Why there is no certificate, as JSON."""
    return asdict(found)


def lines(rows: Iterator[Mapping[str, Any]]) -> bytes:
    """JSON lines, UTF-8."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8")
