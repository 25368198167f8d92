"""The four set-ups that S1 compares, on the records of one run: all of them where a language model drafted, else those that need none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from rag_core import evaluation as evaluate
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.evaluation import SETUPS, Rate, Setup, guard_latency, pick, presets_for
from rag_core.evaluation.setups import FALSE_NEGATIVES_BELOW, HALLUCINATIONS_BELOW, LATENCY_BELOW_MS
from rag_core.records.stored import FeedbackState, RunHead, Verdict
from ui.app import recording, state
from ui.app.texts import say, tell
from ui.lab import state as lab
from ui.lab.flips import of_in_words
from ui.lab.judged import Judged, judge
from ui.lab.tables import offer


def show(recorded: lab.Recorded, run: RunHead) -> None:
    """The table of the four, the rule's choice, and what users said."""
    st.caption(say("lab_compare.setups_about"))
    judged = {option: judge(*recorded, run.settings, state.preset_settings(preset)) for option, preset in presets_for(run.settings).items()}
    rows = table(judged, recorded.cases)
    helped = ("wrong", "refused", "by_guard", "ms")
    columns = {
        name: st.column_config.TextColumn(
            say(f"lab_compare.setup_{name}"), help=say(f"lab_compare.setup_{name}_help") if name in helped else None
        )
        for name in rows[0]
    }
    st.dataframe(rows, hide_index=True, column_config=columns, key="setups", alt=say("lab_compare.setups_alt"), placeholder="–")
    offer(rows, "setups")
    st.caption(say("lab_compare.targets", wrong=HALLUCINATIONS_BELOW, refused=FALSE_NEGATIVES_BELOW, ms=LATENCY_BELOW_MS))
    _show_pick(judged.get(1))
    _show_feedback()


def table(judged: Mapping[int, Judged], cases: Sequence[Measurements]) -> list[dict[str, str | None]]:
    """A row for each of the four; `judged` has the outcomes of those that were measured, by option number."""
    return [_row(setup, judged.get(setup.option), cases) for setup in SETUPS]


def called(setup: Setup) -> str:
    """An option as it is always told: its number and its name."""
    return tell("lab_compare.setup_called", option=setup.option, name=tell(f"lab_compare.setup_name_{setup.name}"))


def _row(setup: Setup, judged: Judged | None, cases: Sequence[Measurements]) -> dict[str, str | None]:
    if judged is None:
        figures: dict[str, str | None] = dict.fromkeys(("wrong", "refused", "by_guard", "ms", "targets"))
        return {"option": called(setup), "measured": tell("lab_compare.setup_needs_model"), **figures}
    refused, wrong, _ = evaluate.rates(judged.marked, np.ones_like(judged.marked.answered))
    ms = guard_latency(cases, setup.option)
    met = [
        wrong.share is not None and wrong.share < HALLUCINATIONS_BELOW,
        refused.share is not None and refused.share < FALSE_NEGATIVES_BELOW,
        ms is not None and ms < LATENCY_BELOW_MS,
    ]
    return {
        "option": called(setup),
        "measured": _measured(setup, judged),
        "wrong": of_in_words(wrong),
        "refused": of_in_words(refused),
        "by_guard": of_in_words(over_rejected(judged)),
        "ms": None if ms is None else tell("lab_compare.ms", ms=ms),
        "targets": tell("lab_compare.met_of", n=sum(met), all=len(met)),
    }


def _measured(setup: Setup, judged: Judged) -> str:
    """On what the figures of a set-up rest."""
    if judged.settings.drafter != "model":
        return tell("lab_compare.setup_guard_only" if setup.model else "lab_compare.setup_whole")
    missing = int(judged.marked.needs_model.sum())
    return tell("lab_compare.setup_unsettled", n=missing) if missing else tell("lab_compare.setup_with_model")


def over_rejected(judged: Judged) -> Rate:
    """Of the answerable questions, those that the guard itself refused."""
    marked = judged.marked
    by_guard = np.array([reason in (Reason.RELEVANCE, Reason.SUFFICIENCY) for reason in judged.outcomes.reason], dtype=np.bool_)
    return Rate(int((marked.false_refusal & by_guard).sum()), int((marked.measured & marked.answerable).sum()))


def _show_pick(prompt_only: Judged | None) -> None:
    """Show the pick of the rule, by what is left with the hardened prompt alone; without a model both of its figures are missing."""
    left = None
    if prompt_only is not None and not prompt_only.marked.needs_model.any():
        left = evaluate.rates(prompt_only.marked, np.ones_like(prompt_only.marked.answered))[1].share
    found = pick(effectiveness=None if left is None else 1.0 - left, hallucinations=left)
    st.markdown(say("lab_compare.rule"))
    if found.setup is not None:
        st.text(tell("lab_compare.picked", setup=called(found.setup)))
    elif found.missing:
        st.text(tell("lab_compare.pick_missing", figures=", ".join(tell(f"lab_compare.figure_{name}") for name in found.missing)))
    else:
        st.text(tell("lab_compare.picked_none"))


def _show_feedback() -> None:
    """How often users said what, of all questions that are kept."""
    said = [one.verdict for kind in FeedbackState for one in recording.store().feedback(kind)]
    st.caption(say("lab_compare.feedback", **{verdict.value: said.count(verdict) for verdict in Verdict}))
