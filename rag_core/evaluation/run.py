"""Measures each question of a labelled set once and stores it at once: stopping loses nothing.

What is recorded is not measured again, in whatever run of the library: the same question, searched in the same
documents of the same version, under settings that differ in judgements only, with the same calibration and the same
language model at the same endpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from rag_core.domain.measurements import LibraryFacts, Measurements
from rag_core.domain.ports import Cancel, LanguageModel, Progress
from rag_core.engine import Engine
from rag_core.errors import Cancelled, InvalidInput, ModelUnavailable
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.records.stored import RunHead
from rag_core.settings import Cost, Settings

SILENT = 5  # questions in a row for which the model could not be asked: then it is not a matter of one question


@dataclass(slots=True)
class Spending:
    """Counts tokens that questions cost, up to `budget`; `silent` ones could not be asked of the model."""

    budget: int | None = None
    tokens: int = 0
    silent: int = 0

    @property
    def is_over(self) -> bool:
        return self.budget is not None and self.tokens >= self.budget

    def add(self, measurements: Measurements) -> None:
        self.tokens += measurements.llm_trace.tokens if measurements.llm_trace else 0
        if unasked(measurements):
            self.silent += 1
        elif measurements.llm_trace is not None and measurements.llm_trace.calls:
            self.silent = 0

    def require_a_model(self, measurements: Measurements) -> None:
        """Raise ModelUnavailable where the model could not be asked for `SILENT` questions in a row."""
        if self.silent >= SILENT:
            raise ModelUnavailable(
                f"The run was stopped: the language model could not be asked for {self.silent} questions in a row. "
                f"{unasked(measurements)}",
                remedy="What was measured is kept. Check the model's server, then resume the run.",
            )


def unasked(measurements: Measurements) -> str:
    """Why no endpoint answered a call; empty where each did, or nothing was asked, also for spent limits."""
    calls = measurements.llm_trace.calls if measurements.llm_trace else ()
    return next((call.failure for call in calls if call.failure and call.ms and not call.endpoint), "")


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
        version: int,
    ) -> RunHead:
        """A run without results, which keeps these questions."""

    def runs(self) -> tuple[RunHead, ...]:
        """All runs."""

    def run_questions(self, run_id: int) -> tuple[LabelledQuestion, ...]:
        """The questions of a run."""

    def results(self, run_id: int) -> Mapping[str, Measurements]:
        """The measurements of a run by question id."""

    def add_result(self, run_id: int, question_id: str, measurements: Measurements) -> None:
        """Store measurements; earlier ones of the question are replaced."""

    def copy_result(self, run_id: int, question_id: str, from_run: int, from_question: str) -> None:
        """Store the result of another run's question as this one's, as it is."""

    def restamp_run(self, run_id: int, *, calibration: str, model: str, version: int) -> None:
        """Note with what a run goes on."""


@dataclass(frozen=True, slots=True)
class Ran:
    """Questions measured, recorded, or not measurable (`failed`); `over_budget` says that tokens ended it."""

    measured: int
    reused: int
    failed: int
    total: int
    cancelled: bool = False
    tokens: int = 0
    over_budget: bool = False


def begin(
    engine: Engine, name: str, set_name: str, questions: Sequence[LabelledQuestion], settings: Settings, store: Results
) -> RunHead:
    """A run of these questions under the library's present version; nothing is measured yet.

    Its settings name the language model that will be asked, so that runs of two models are told apart.

    Raises:
        InvalidInput: there is no question.
        ModelUnavailable: a language model is to draft, and none is configured.
    """
    if not questions:
        raise InvalidInput("There is no question to run.", remedy="Add questions to the set.")
    engine.library.refresh()
    return store.begin_run(name, set_name, questions, settings=with_model(engine, settings), **_stamp(engine))  # type: ignore[arg-type]


def with_model(engine: Engine, settings: Settings) -> Settings:
    """The settings with the name of the language model that drafts under them; as they are where none does."""
    if settings.drafter != "model":
        return settings
    model = _language_model(engine, settings)
    if model is None:
        raise ModelUnavailable(
            "The settings have a language model draft, and none is configured.",
            remedy="Set RAG_MODEL, and OPENAI_BASE_URL for a server of your own "
            "(docs/models.md), or set drafter to extract.",
        )
    return settings.changed(model=model.name)


def is_current(head: RunHead, engine: Engine) -> bool:
    """Whether a run's results are what would be measured now: same version, model and calibration."""
    return _stamp(engine) == {"calibration": head.calibration, "model": head.model, "version": head.version}


def run(
    engine: Engine,
    head: RunHead,
    store: Results,
    progress: Progress | None = None,
    cancelled: Cancel | None = None,
    budget_tokens: int | None = None,
) -> Ran:
    """Measure the questions of a run that have no result yet, under the library's newest version.

    Results of another version, model or calibration are measured anew, and questions that could not be measured before.
    Those that cannot be measured are stored as failures. `progress` is told (QUESTIONS, done, total); the question that
    passes `budget_tokens` is finished.

    Raises:
        RagError: the library, a model or the store cannot be used, or a model could not be asked for several questions
            in a row; what was measured is stored.
    """
    engine.library.refresh()
    if not is_current(head, engine):
        store.restamp_run(head.id, **_stamp(engine))  # type: ignore[arg-type]
    questions = store.run_questions(head.id)
    own = {id: measurements for id, measurements in store.results(head.id).items() if _is_good(measurements, engine)}
    recorded = _recorded_elsewhere(engine, head.settings, store, head.id) if len(own) < len(questions) else {}
    ran, spending = Ran(0, 0, 0, len(questions)), Spending(budget_tokens)
    for number, question in enumerate(questions):
        if cancelled is not None and cancelled():
            return replace(ran, cancelled=True)
        if question.id in own:
            ran = replace(ran, reused=ran.reused + 1)
        elif (source := recorded.get(_asked(question))) is not None:
            store.copy_result(head.id, question.id, *source)
            ran = replace(ran, reused=ran.reused + 1)
        elif spending.is_over:
            return replace(ran, over_budget=True)
        else:
            try:
                measurements = _measured(engine, question, head.settings, cancelled)
            except Cancelled:
                return replace(ran, cancelled=True)
            store.add_result(head.id, question.id, measurements)
            spending.add(measurements)
            ran = replace(
                ran, measured=ran.measured + 1, failed=ran.failed + bool(measurements.failure), tokens=spending.tokens
            )
            spending.require_a_model(measurements)
        if progress is not None:
            progress(QUESTIONS, number + 1, len(questions))
    return ran


def _measured(engine: Engine, question: LabelledQuestion, settings: Settings, cancelled: Cancel | None) -> Measurements:
    try:
        measurements = engine.measure(question.question, settings, question.documents or None, cancelled=cancelled)
    except InvalidInput as error:  # a document that is not in the library: a matter of this question alone
        facts = LibraryFacts(version=engine.library.snapshot.version, model=engine.tools.embedder.name)
        return Measurements(
            question.question,
            settings,
            library=facts,
            failure=str(error),
            metadata={"calibration": _stamp(engine)["calibration"]},
        )
    return replace(measurements, failure=measurements.failure or unasked(measurements))


def _recorded_elsewhere(engine: Engine, settings: Settings, store: Results, but: int) -> dict[_Asked, tuple[int, str]]:
    """Where other runs measured the same, as (run, id of the question), by what was asked."""
    found: dict[_Asked, tuple[int, str]] = {}
    under = _under(settings)
    for other in store.runs():
        if other.id != but and _under(other.settings) == under and is_current(other, engine):
            records = store.results(other.id)
            asked = {question.id: _asked(question) for question in store.run_questions(other.id)}
            found |= {
                asked[id]: (other.id, id)
                for id, measurements in records.items()
                if id in asked and _is_good(measurements, engine)
            }
    return found


def _is_good(measurements: Measurements, engine: Engine) -> bool:
    """Whether a question was measured, and as it would be now."""
    stamp = {
        "calibration": measurements.metadata.get("calibration"),
        "model": measurements.library.model,
        "version": measurements.library.version,
    }
    return not measurements.failure and stamp == _stamp(engine) and _is_of_this_model(measurements, engine)


def _is_of_this_model(measurements: Measurements, engine: Engine) -> bool:
    """Whether all that a language model said of a question came from an endpoint that is asked now."""
    model = _language_model(engine, measurements.settings)
    calls = measurements.llm_trace.calls if measurements.llm_trace else ()
    return not calls or (
        model is not None and {call.endpoint for call in calls if call.endpoint} <= set(model.endpoints)
    )


def _language_model(engine: Engine, settings: Settings) -> LanguageModel | None:
    """The language model that drafts under these settings; None where none does, or none is configured."""
    return engine.tools.model(settings) if settings.drafter == "model" and engine.tools.model else None


def _stamp(engine: Engine) -> dict[str, str | int]:
    calibration = engine.tools.calibration
    return {
        "calibration": calibration.id if calibration else "",
        "model": engine.tools.embedder.name,
        "version": engine.library.snapshot.version,
    }


def _under(settings: Settings) -> tuple[object, ...]:
    return tuple(getattr(settings, name) for name in _MEASURED_UNDER)


def _asked(question: LabelledQuestion) -> _Asked:
    return question.question, tuple(sorted(question.documents))
