"""A decision: the answer with its citations, or the refusal with the gate that fired, by how much, and what to do; then the trace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

import streamlit as st

from rag_core.decision import Decision
from rag_core.engine import Engine
from rag_core.status import AnswerStatus, ConfidenceLevel, Reason
from rag_core.trace import Check, Direction, State
from ui.asking import changed_knobs
from ui.evidence import show_citation
from ui.state import Asked

Colour = Literal["green", "blue", "yellow", "orange"]
LEVELS: Mapping[ConfidenceLevel, tuple[str, Colour]] = {
    ConfidenceLevel.HIGH: ("Confidence: high", "green"),
    ConfidenceLevel.MEDIUM: ("Confidence: medium", "blue"),
    ConfidenceLevel.LOW: ("Confidence: low", "yellow"),
    ConfidenceLevel.INSUFFICIENT: ("Confidence: insufficient", "orange"),
}
REFUSED = {
    AnswerStatus.INSUFFICIENT_CONTEXT: "Refused: the documents do not hold enough",
    AnswerStatus.LOW_CONFIDENCE: "Refused: not sure enough",
    AnswerStatus.HALLUCINATION_DETECTED: "Refused: the draft is not supported by its sources",
    AnswerStatus.ERROR: "Refused: something could not be checked",
}
OUTCOME = {True: "answered", False: "refused"}
SIGN = {Direction.AT_LEAST: "≥", Direction.AT_MOST: "≤", None: ""}


def show(engine: Engine, asked: Asked) -> None:
    """Everything about one decision."""
    _show_outcome(engine, asked)
    _show_tables(asked.decision)
    st.download_button(
        "Download this decision (JSON)", json.dumps(asked.decision.to_json(), ensure_ascii=False, indent=2), "decision.json",
        "application/json", key="download", icon=":material/download:", on_click="ignore",
    )  # fmt: skip


def _show_outcome(engine: Engine, asked: Asked) -> None:
    decision = asked.decision
    with st.container(key="asked"):
        st.badge("Your question", icon=":material/help:", color="gray")
        st.text(asked.question)
    _show_change(asked)
    if decision.is_safe():
        _show_answer(decision)
    else:
        _show_refusal(decision)
    for note in decision.notes:
        st.text(f"Note: {note}")
    if decision.citations:
        st.subheader("Sources", anchor=False)
        for citation in decision.citations:
            show_citation(engine, citation)


def _show_change(asked: Asked) -> None:
    if asked.before is None:
        return
    decision, settings = asked.before
    was, now = OUTCOME[decision.is_safe()], OUTCOME[asked.decision.is_safe()]
    moved = changed_knobs(settings, asked.settings)
    what = ", ".join(f"{name.replace('_', ' ')} {old} → {new}" for name, (old, new) in moved.items()) or "the documents"
    result = f"{was} → {now}" if was != now else f"still {now}"
    with st.container(key="change"):
        st.text(f"Changed: {what}. Result: {result}.")


def _show_answer(decision: Decision) -> None:
    label, colour = LEVELS[decision.confidence_level]
    with st.container(border=True, key="answer"):
        if decision.reason is Reason.NONE:
            with st.container(horizontal=True):
                st.badge("Answered from the documents", icon=":material/check_circle:", color="green")
                st.badge(label, icon=":material/speed:", color=colour)
        else:
            st.badge("About the library, not from a document", icon=":material/info:", color="blue")
        st.text(decision.answer)
        if decision.reason is Reason.NONE:
            st.caption(
                f"Probability that the documents answer this: {decision.scores['answerability']:.2f} of 1. "
                f"Reported confidence: {decision.confidence:.2f} of 1."
            )


def _show_refusal(decision: Decision) -> None:
    with st.container(border=True, key="refusal"):
        st.badge(REFUSED[decision.status], icon=":material/warning:", color="orange")
        st.text(decision.answer)
        st.text(decision.explanation)
        for check in decision.trace.checks:
            if check.blocks:
                _show_check(check)
        if decision.suggestions:
            st.markdown("**What you can do**")
            for suggestion in decision.suggestions:
                st.text(f"•  {suggestion}")


def _show_check(check: Check) -> None:
    """The gate or audit that fired, what it measured and what it asked for."""
    if check.value is None or check.threshold is None:
        return
    name, measured, required = st.columns(3)
    with name:
        st.metric("Check", check.stage.replace("_", " "))
    with measured:
        st.metric(f"Measured ({check.scale})", f"{check.value:.2f}")
    with required:
        st.metric("Required", f"{SIGN[check.direction]} {check.threshold:.2f}")


def _show_tables(decision: Decision) -> None:
    if decision.retrieved:
        with st.expander("Passages that were found", icon=":material/search:"):
            st.dataframe(_retrieved_rows(decision), hide_index=True)
    if decision.trace.checks:
        with st.expander("Every check, with what it measured", icon=":material/checklist:", expanded=not decision.is_safe()):
            st.dataframe([_trace_row(check) for check in decision.trace.checks], hide_index=True)


def _retrieved_rows(decision: Decision) -> list[dict[str, object]]:
    return [
        {
            "rank": rank, "document": name, "page": hit.passage.page, "section": hit.passage.section, "cosine": round(hit.cosine, 3),
            "words (BM25)": round(hit.lexical, 2), "rank by meaning": hit.dense_rank or None, "rank by words": hit.lexical_rank or None,
            "text": hit.passage.text,
        }
        for rank, (name, hit) in enumerate(decision.retrieved, 1)
    ]  # fmt: skip


def _trace_row(check: Check) -> dict[str, object]:
    return {
        "check": check.stage.replace("_", " "), "state": STATE[check.state], "mode": check.mode.value,
        "measured": None if check.value is None else round(check.value, 4), "": SIGN[check.direction],
        "threshold": None if check.threshold is None else round(check.threshold, 4), "scale": check.scale,
        "ms": round(check.ms, 1), "found": check.found or check.note,
    }  # fmt: skip


STATE = {
    State.PASSED: "✓ passed",
    State.FAILED: "✗ failed",
    State.ABSTAINED: "– does not apply",
    State.NOT_RUN: "? not run",
    State.NOT_REACHED: "· not reached",
}
