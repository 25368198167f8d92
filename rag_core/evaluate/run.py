"""Measures the questions of a labelled set, each once, and stores every one as soon as it is measured: stopping loses nothing.

What is recorded is not measured again, in whatever run of the library: the same question, searched in the same documents of the same
generation, under settings that differ in judgements only, with the same calibration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_core.case import Case, LibraryFacts
from rag_core.engine import Engine
from rag_core.errors import InvalidInput
from rag_core.labelled import LabelledQuestion
from rag_core.ports import Cancel, Progress
from rag_core.settings import Cost, Settings
from rag_core.stored import RunHead

QUESTIONS = "questions"  # the step that `run` reports to its progress
_MEASURED_UNDER = tuple(knob.name for knob in Settings.knobs() if knob.cost is not Cost.REPLAY)
_Asked = tuple[str, tuple[str, ...]]


class Results(Protocol):
    """Where runs and their results are stored; `wiring.records` opens one."""

    def begin_run(
        self,
        name: str,
        set_name: str,
        questions: Sequence[LabelledQuestion],
        *,
        settings: Settings,
        calibration: str,
        model: str,
        generation: int,
    ) -> RunHead:
        """A run without results, which keeps these questions."""
        ...

    def runs(self) -> tuple[RunHead, ...]:
        """All runs."""
        ...

    def run_questions(self, run_id: int) -> tuple[LabelledQuestion, ...]:
        """The questions of a run."""
        ...

    def results(self, run_id: int) -> Mapping[str, Case]:
        """The measured cases of a run by question id."""
        ...

    def add_result(self, run_id: int, question_id: str, case: Case) -> None:
        """Store a case; an earlier one of the question is replaced."""
        ...

    def copy_result(self, run_id: int, question_id: str, from_run: int, from_question: str) -> None:
        """Store the result of another run's question as this one's, as it is."""
        ...

    def restamp_run(self, run_id: int, *, calibration: str, model: str, generation: int) -> None:
        """Note with what a run goes on."""
        ...


@dataclass(frozen=True, slots=True)
class Ran:
    """What a call of `run` did: questions it measured, questions that were recorded already, those of them that could not be measured."""

    measured: int
    reused: int
    failed: int
    total: int
    cancelled: bool = False


def begin(engine: Engine, name: str, set_name: str, questions: Sequence[LabelledQuestion], settings: Settings, store: Results) -> RunHead:
    """A run of these questions under the library's present generation; nothing is measured yet.

    Raises:
        InvalidInput: there is no question.
    """
    if not questions:
        raise InvalidInput("There is no question to run.", remedy="Add questions to the set.")
    engine.library.refresh()
    return store.begin_run(name, set_name, questions, settings=settings, **_stamp(engine))  # type: ignore[arg-type]


def is_current(head: RunHead, engine: Engine) -> bool:
    """Whether a run's results are what would be measured now: same generation, model and calibration."""
    return _stamp(engine) == {"calibration": head.calibration, "model": head.model, "generation": head.generation}


def run(engine: Engine, head: RunHead, store: Results, progress: Progress | None = None, cancelled: Cancel | None = None) -> Ran:
    """Measure the questions of a run that have no result yet, under the library's newest generation.

    Results of another generation, model or calibration are measured anew; so is a question that could not be measured before. A question
    that cannot be measured is stored as a failure that says why.

    Args:
        engine: over the library of the run.
        head: from `begin`, or of a run that is resumed.
        store: where it is kept.
        progress: told (QUESTIONS, done, total) after every question.
        cancelled: asked before every question.

    Raises:
        RagError: the library, the model or the store cannot be used; what was measured is stored.
    """
    engine.library.refresh()
    if not is_current(head, engine):
        store.restamp_run(head.id, **_stamp(engine))  # type: ignore[arg-type]
    questions = store.run_questions(head.id)
    own = {id: case for id, case in store.results(head.id).items() if _is_good(case, engine)}
    recorded = _recorded_elsewhere(engine, head, store) if len(own) < len(questions) else {}
    reused = measured = failed = 0
    for number, question in enumerate(questions):
        if cancelled is not None and cancelled():
            return Ran(measured, reused, failed, len(questions), cancelled=True)
        if question.id in own:
            reused += 1
        elif (source := recorded.get(_asked(question))) is not None:
            store.copy_result(head.id, question.id, *source)
            reused += 1
        else:
            case = _measured(engine, question, head.settings)
            store.add_result(head.id, question.id, case)
            measured += 1
            failed += bool(case.failure)
        if progress is not None:
            progress(QUESTIONS, number + 1, len(questions))
    return Ran(measured, reused, failed, len(questions))


def _measured(engine: Engine, question: LabelledQuestion, settings: Settings) -> Case:
    try:
        return engine.measure(question.question, settings, question.documents or None)
    except InvalidInput as error:  # a document that is not in the library: a matter of this question alone
        facts = LibraryFacts(generation=engine.library.snapshot.generation, model=engine.tools.embedder.name)
        return Case(question.question, settings, library=facts, failure=str(error), metadata={"calibration": _stamp(engine)["calibration"]})


def _recorded_elsewhere(engine: Engine, head: RunHead, store: Results) -> dict[_Asked, tuple[int, str]]:
    """Where other runs measured what this one would, as (run, id of the question), by what was asked."""
    found: dict[_Asked, tuple[int, str]] = {}
    under = _under(head.settings)
    for other in store.runs():
        if other.id != head.id and _under(other.settings) == under and is_current(other, engine):
            cases = store.results(other.id)
            asked = {question.id: _asked(question) for question in store.run_questions(other.id)}
            found |= {asked[id]: (other.id, id) for id, case in cases.items() if id in asked and _is_good(case, engine)}
    return found


def _is_good(case: Case, engine: Engine) -> bool:
    """Whether a case was measured, and as it would be now."""
    stamp = {"calibration": case.metadata.get("calibration"), "model": case.library.model, "generation": case.library.generation}
    return not case.failure and stamp == _stamp(engine)


def _stamp(engine: Engine) -> dict[str, str | int]:
    calibration = engine.tools.calibration
    return {
        "calibration": calibration.id if calibration else "",
        "model": engine.tools.embedder.name,
        "generation": engine.library.snapshot.generation,
    }


def _under(settings: Settings) -> tuple[object, ...]:
    return tuple(getattr(settings, name) for name in _MEASURED_UNDER)


def _asked(question: LabelledQuestion) -> _Asked:
    return question.question, tuple(sorted(question.documents))
