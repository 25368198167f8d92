"""Says who drafted the answer: the language model, with its name, host and cost, or the extract, and then why not the model.

Names of models and hosts, and whatever a model says, are shown as inert text only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from rag_core.domain.decision import Decision
from ui.app.texts import tell


def show_drafter(decision: Decision) -> None:
    """Who drafted an answer, or was asked before a refusal, in a quiet line; nothing where no model has to do with it."""
    lines = drafter_in_words(decision)
    if lines:
        with st.container(key="drafted"):
            st.text("\n".join(lines))


def drafter_in_words(decision: Decision) -> list[str]:
    """Who it was and why not the one before, and what it cost."""
    said = decision.metadata
    if decision.answered and said.get("drafter") == "model":
        lines = [tell("drafted.model", **_named(said))]
    elif decision.answered and said.get("drafter_note"):
        lines = [] if stand_in(decision) else [tell("drafted.extract", why=said["drafter_note"])]
    else:
        lines = [tell("drafted.asked", **_named(said))] if said.get("model") else []
    if said.get("calls"):
        sent_nothing = said.get("cached") and not said["total_tokens"]
        lines.append(tell("drafted.cached") if sent_nothing else tell("drafted.cost", **_cost(said)))
    return [*lines, *(tell("drafted.tried", why=why) for why in said.get("tried", ()))]


def stand_in(decision: Decision) -> str:
    """The note that the extract stands in for a model that failed; empty where it does not."""
    why = decision.metadata.get("drafter_note")
    return next((note for note in decision.notes if why and note.startswith(why)), "")


def show_stand_in(decision: Decision) -> None:
    """That the extract stands in for the model, in one sentence."""
    note = stand_in(decision)
    if note:
        with st.container(key="stand_in"):
            st.text(note)


def _named(said: Mapping[str, Any]) -> dict[str, object]:
    return {"model": said["model"], "endpoint": said["endpoint"]}


def _cost(said: Mapping[str, Any]) -> dict[str, object]:
    return {"calls": said["calls"], "tokens": f"{said['total_tokens']:,}", "seconds": f"{said['generation_time_ms'] / 1000:.1f}"}
