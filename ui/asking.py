"""When a question is measured again, and when what was measured is only judged again."""

from __future__ import annotations

from dataclasses import replace

from rag_core.engine import Engine, log_decision
from rag_core.pipeline import decide, replay
from rag_core.settings import Cost, Settings
from ui.scope import Scope
from ui.state import Asked, session

INGEST = tuple(knob.name for knob in Settings.knobs() if knob.cost is Cost.INGEST)
ASK = tuple(knob.name for knob in Settings.knobs() if knob.cost is Cost.ASK)


def ask(engine: Engine, question: str, scope: Scope, settings: Settings) -> Asked:
    """Measure and decide a new question.

    Raises:
        RagError: the question cannot be asked.
    """
    case = engine.measure(question, settings, scope.documents or None, scope.filters)
    decision = decide(case)
    log_decision(decision)
    return Asked(question, scope, case, decision, settings, namespace=session().namespace)


def again(engine: Engine, asked: Asked, scope: Scope, settings: Settings) -> Asked:
    """The same question under these settings and documents: judged again where that is enough, asked again where it is not.

    Settings of ingest have no part in it: they hold for documents that are indexed from now on.

    Raises:
        RagError: the question cannot be asked.
    """
    wanted = settings.changed(**{name: getattr(asked.case.settings, name) for name in INGEST})
    engine.library.refresh()
    stale = asked.scope != scope or asked.case.library.generation != engine.library.snapshot.generation
    if stale or any(getattr(wanted, name) != getattr(asked.case.settings, name) for name in ASK):
        new = ask(engine, asked.question, scope, wanted)
        same = wanted == asked.settings and asked.scope == scope and new.decision.reason is asked.decision.reason
        # documents that came meanwhile and changed nothing are no news
        return replace(new, before=None if same else (asked.decision, asked.settings), number=asked.number)
    if wanted == asked.settings:
        return asked
    decision = replay(asked.case, wanted)  # another decision than the one that is kept, and that the reader spoke of
    return replace(asked, decision=decision, settings=wanted, before=(asked.decision, asked.settings), record=None, given=None)


def changed_knobs(before: Settings, after: Settings) -> dict[str, tuple[object, object]]:
    """The settings that differ, by name: (before, after)."""
    names = [knob.name for knob in Settings.knobs() if getattr(before, knob.name) != getattr(after, knob.name)]
    return {name: (getattr(before, name), getattr(after, name)) for name in names}
