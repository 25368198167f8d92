"""Decides when a question is measured again and when it is only judged again; and waits for a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from rag_core.decision.decide import replay
from rag_core.domain.indexing import indexing_of
from rag_core.domain.llm_trace import OnStage
from rag_core.domain.measurements import REWRITTEN_BY, TYPED, Measurements
from rag_core.domain.ports import Cancel
from rag_core.engine import Engine, Scores
from rag_core.settings import Cost, Settings
from ui.app.asked import COLLECTION, Asked, Pending, tab_closed
from ui.app.jobs import background
from ui.app.people import recording
from ui.app.scope import Scope
from ui.app.state import Held, Session, session

INGEST = tuple(knob.name for knob in Settings.knobs() if knob.cost is Cost.INGEST)
ASK = tuple(knob.name for knob in Settings.knobs() if knob.cost is Cost.ASK)
READER = "reader"  # who rewrote a question that was edited on the page
PATIENCE_SECONDS = 0.3  # what a page waits before it says that it waits: an answer from the cache is there by then


def hold_typed(key: str) -> None:
    """Take the question that was typed into this field; its callback."""
    if typed := st.session_state.get(key):
        session().hold(str(typed))


def begin_held(engine: Engine, scope: Scope, settings: Settings) -> None:
    """Ask what was submitted, in that order.

    Streamlit ends a run at the next touch of the page: what was not asked by then stays held.

    Raises:
        RagError: one of them cannot be asked; it can be asked once more.
    """
    here = session()
    while here.held:
        held = here.held[0]
        on_page = here.asked if held.again and here.asked is not None and here.asked.question == held.question else None
        try:
            begin(engine, held.question, scope, settings, on_page, **_turn(here, held, on_page))
        except Exception:  # not the end of a run, which is none of these
            here.held.pop(0)
            here.stopped = held.question
            raise
        here.held.pop(0)


def _turn(here: Session, held: Held, on_page: Asked | None) -> dict[str, Any]:
    """The place of a question in a conversation: the questions before it, or how it was typed."""
    if on_page is not None:
        return {"about": _about(on_page)}
    if held.typed:
        return {"about": {TYPED: held.typed, REWRITTEN_BY: READER}}
    return {"before": [one.question for one in here.turns()]}


def _about(asked: Asked) -> Mapping[str, str]:
    """The metadata that say how a question was typed."""
    known = asked.measurements.metadata
    return {name: str(known[name]) for name in (TYPED, REWRITTEN_BY) if name in known}


def begin(
    engine: Engine, question: str, scope: Scope, settings: Settings, earlier: Asked | None = None, **turn: Any
) -> None:
    """Ask a question, or the one that is on the page again: at once, or beside the page where a language model may take
    its time. `turn` is as for `ask`.

    One that is still on its way is stopped, and can be asked again.

    Raises:
        RagError: the question cannot be asked.
    """
    here = session()
    here.stopped = ""
    here.cancel()
    if here.stopped == question:
        here.stopped = ""
    work = partial(ask, engine, question, scope, settings, here.collection, **turn)
    if settings.drafter == "model":
        here.pending = Pending(question, work, earlier, tab_closed())
    else:
        _show(here, work(), earlier)


def take(patience: float | None = None) -> bool:
    """Put the question that was on its way on the page, once it is there; whether one is still on its way.

    Raises:
        RagError: it could not be asked.
    """
    here = session()
    pending = here.pending
    if pending is None or not pending.wait(PATIENCE_SECONDS if patience is None else patience):
        return pending is not None
    pending.deliver(lambda asked: None if asked is None else _show(here, asked, pending.earlier))
    if pending.asked is None:
        here.stopped = pending.question
    here.pending = None  # last: a run that is ended before leaves it to the next one
    if pending.error is not None:
        raise pending.error
    return False


def ask(
    engine: Engine,
    question: str,
    scope: Scope,
    settings: Settings,
    collection: str = COLLECTION,
    on_stage: OnStage | None = None,
    cancelled: Cancel | None = None,
    *,
    before: Sequence[str] = (),
    about: Mapping[str, str] | None = None,
) -> Asked:
    """Measure and decide a new question. A follow-up is rewritten first, so that it is a question like any other.

    `before` are the questions before it in its conversation; `about` says how it was typed, where that is known.

    Raises:
        RagError: the question cannot be asked.
        Cancelled: it was stopped.
    """
    measured: list[Measurements] = []
    scores: Scores = {}
    with background.question():
        chosen = scope.documents or None
        whole = engine.stand_alone(question, before, settings, chosen, scope.filters)
        decision = engine.ask(
            whole.question,
            settings,
            chosen,
            scope.filters,
            on_stage=on_stage,
            cancelled=cancelled,
            on_measured=measured.append,
            about=whole.about or about or {},
            scores=scores,
        )
    read = next((found for passages, found in scores.items() if passages == measured[0].hits[: len(passages)]), ())
    return Asked(
        whole.question,
        scope,
        measured[0],
        decision,
        settings,
        collection=collection,
        suggestion=whole.suggestion,
        considered=read,
    )


def again(engine: Engine, asked: Asked, scope: Scope, settings: Settings) -> Asked:
    """The same question under these settings and documents: judged again where that is enough, asked again where it is
    not.

    A language model is never asked from here: what would need it is `outdated`, and judged under the settings that need
    no new prompt. Settings of ingest have no part in it: they hold for documents that are indexed from now on.

    Raises:
        RagError: the question cannot be asked.
    """
    wanted = settings.changed(**{name: getattr(asked.measurements.settings, name) for name in INGEST})
    engine.library.refresh()
    stale = (
        asked.scope != scope
        or asked.measurements.library.version != engine.library.snapshot.version
        or _indexed(engine, asked)
    )
    measured = {name: getattr(asked.measurements.settings, name) for name in ASK}
    moved = any(getattr(wanted, name) != value for name, value in measured.items())
    if asked.kept:
        stale = moved = False
        wanted = wanted.changed(**measured)
    outdated = (stale or moved) and wanted.drafter == "model"
    if (stale or moved) and not outdated:
        new = ask(engine, asked.question, scope, wanted, asked.collection, about=_about(asked))
        same = wanted == asked.settings and asked.scope == scope and new.decision.reason is asked.decision.reason
        # documents that came meanwhile and changed nothing are no news
        before = None if same else (asked.decision, asked.settings)
        kept = {name: getattr(asked, name) for name in ("number", "suggestion", "turn")}
        return replace(new, before=before, **kept)
    if outdated:
        wanted = wanted.changed(**measured)
    if wanted == asked.settings:
        return asked if asked.outdated is outdated else replace(asked, outdated=outdated)
    # another decision than the one that is kept, and that the reader spoke of
    decision, before = replay(asked.measurements, wanted), (asked.decision, asked.settings)
    unkept = replace(asked, record=None, given=None, outdated=outdated)
    return replace(unkept, decision=decision, settings=wanted, before=before)


def _indexed(engine: Engine, asked: Asked) -> bool:
    """Whether documents were being read when it was asked, and more of them has been read, or one has gone or come."""
    view = engine.library.view
    then = indexing_of(asked.measurements.metadata)
    if then is None:
        return False
    searched, there = asked.measurements.library.names.keys(), {one.id for one in view.documents}
    if not searched <= there or (not asked.scope.documents and not there <= searched):
        return True
    read = [one.page_count for one in view.documents if one.id in view.reading and one.id in searched]
    return (len(read), sum(read)) != (then.documents, then.read)


def changed_knobs(before: Settings, after: Settings) -> dict[str, tuple[object, object]]:
    """The settings that differ, by name: (before, after)."""
    names = [knob.name for knob in Settings.knobs() if getattr(before, knob.name) != getattr(after, knob.name)]
    return {name: (getattr(before, name), getattr(after, name)) for name in names}


def _show(here: Session, asked: Asked, earlier: Asked | None) -> None:
    if earlier is not None:
        asked = replace(asked, before=(earlier.decision, earlier.settings), number=earlier.number)
    here.show(recording.record(asked))
