"""The cost of a run: an estimate of its tokens, and the budget that stops it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import streamlit as st

from rag_core import evaluation as evaluate
from rag_core.engine import Engine
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.settings import Settings
from ui.app import state
from ui.app.jobs.work import here
from ui.app.people import recording
from ui.app.texts import say, tell

MIN_BUDGET = 1000  # tokens; also the step of the field
MAX_BUDGET = 1_000_000_000  # tokens: more than any run takes; a slip of the keyboard stops there
RESUMED = 100_000  # tokens that are offered to a run that is resumed
_LOOKED_AT = "lab_cost"  # in the session: what the last estimate rests on, since it takes a second to look


class _LookedAt(NamedTuple):
    """Of which questions under which settings; how many are not recorded yet, and what was measured for some of them."""

    of: tuple[object, ...]
    left: int
    records: tuple[evaluate.Sampled, ...]


def show_cost(engine: Engine, questions: Sequence[LabelledQuestion], settings: Settings) -> int:
    """Say what running these questions will cost, and return a budget to offer; 0 where no language model drafts.

    Raises:
        RagError: a model is to draft and none is configured, or the records cannot be read.
    """
    if settings.drafter != "model":
        return 0
    named = evaluate.with_model(engine, settings)
    looked = _look(engine, tuple(questions), named)
    cost = evaluate.estimate(looked.records, looked.left, named)
    st.text(tell("lab_sets.cost", model=named.model, n=cost.questions, least=cost.least, most=cost.most))
    st.caption(say("lab_sets.cost_about", sampled=cost.sampled, asking=cost.asking))
    return max(MIN_BUDGET, -(-cost.most // MIN_BUDGET) * MIN_BUDGET)


def ask_budget(key: str, offered: int) -> int | None:
    """The field for the budget; None where nothing is offered, since no model drafts."""
    if not offered:
        return None
    return int(
        st.number_input(
            say("lab_sets.budget"), MIN_BUDGET, MAX_BUDGET, min(offered, MAX_BUDGET), MIN_BUDGET, key=key,
            help=say("lab_sets.budget_help"),
        )
    )  # fmt: skip


def _look(engine: Engine, questions: tuple[LabelledQuestion, ...], settings: Settings) -> _LookedAt:
    """The questions that have to be measured, and the prompts of some; kept until something of that changes, or a run is done."""
    store, held = recording.store(), st.session_state.get(_LOOKED_AT)
    under = evaluate.judged_under(settings, Settings.load())  # judgements change the estimate, not what it rests on
    runs = tuple((head.id, head.done) for head in store.runs())
    of = (state.session().collection, engine.library.snapshot.version, hash(questions), under.hash())
    if held is not None and held.of[:-1] == of and (held.of[-1] == runs or _is_running()):
        return cast(_LookedAt, held)
    with st.spinner(say("lab_sets.cost_looking")):
        left = evaluate.unmeasured(engine, questions, settings, store)
        found = _LookedAt((*of, runs), len(left), evaluate.sample(engine, left, settings))
    st.session_state[_LOOKED_AT] = found
    return found


def _is_running() -> bool:
    """Whether a run of this collection is under way, so that its records change all the time."""
    return any(job.kind == "evaluating" and not job.finished for job in state.runner().jobs(here().place))
