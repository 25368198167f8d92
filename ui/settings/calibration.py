"""Says on request which calibration the probability comes from.

Without one, a preset that goes by similarity: others refuse all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from rag_core.evaluation.calibration import figures_of
from rag_core.gating.scores import Calibration
from rag_core.settings import Mode, presets
from rag_core.work import loading
from ui.app import state
from ui.app.texts import say, tell
from ui.settings.fields import changed, take

FALLBACK = "relevance-guard"
MAX_NAMES = 3  # sets that are named in the side bar
_BEFORE = "preset_before_fallback"


def offered() -> list[str]:
    """The presets that can answer from this library; all of them where a calibration fits, or none could."""
    every = list(presets())
    if not _missing():
        return every
    return [name for name in every if not _needs_probability(name)] or every


def settle() -> None:
    """Before the fields are drawn: leave a preset that this library cannot serve, and come back to it in one that
    can.
    """
    session = state.session()
    if _missing():
        if FALLBACK in offered() and session.preset not in offered():
            st.session_state[_BEFORE] = session.preset
            take(state.preset_settings(FALLBACK))
        return
    if _BEFORE in st.session_state and _engine_known():
        before = st.session_state.pop(_BEFORE)
        if session.preset == FALLBACK and not changed(state.preset_settings(FALLBACK)):
            take(state.preset_settings(before))


def show() -> None:
    """The calibration in force, behind a button; a warning where none is; nothing while the library is being opened."""
    if not _engine_known():
        return
    calibration = _in_force()
    if calibration is None or _missing():
        st.warning(say("settings.no_calibration"), icon=":material/warning:")
        st.caption(say("settings.no_calibration_more"), help=say("settings.no_calibration_help"))
        return
    about = calibration.provenance
    sets: Mapping[str, int] = about.get("sets", {})
    with st.popover(say("settings.calibration_where"), icon=":material/info:", type="tertiary", key="calibration"):
        st.text(tell("settings.calibration", model=calibration.model, date=about.get("date", "")))
        st.text(tell("settings.calibration_sets", id=calibration.id, n=f"{sum(sets.values()):,}", sets=_names(sets)))
        st.text(_measured(about))


def _names(sets: Mapping[str, int]) -> str:
    return ", ".join(sets) if len(sets) <= MAX_NAMES else say("settings.calibration_many", n=len(sets))


def _measured(about: Mapping[str, Any]) -> str:
    """How well the calibration told right answers from wrong ones on what was left out of its fit, in numbers.

    Where the right answers were not known: how well it told answerable questions from others.
    """
    answerable, right = figures_of(about)
    told, rows = ("right", right) if right else ("answerable", answerable)
    own = rows.get("all", {})
    if own.get("auroc") is not None:
        return say(f"settings.calibration_own_{told}", n=own["n"], auroc=own["auroc"], error=own["calibration_error"])
    known = [row for row in rows.values() if row.get("auroc") is not None and "n" in row]
    if not known:
        return say("settings.calibration_plain")
    measured = [row["auroc"] for row in known]
    return say(
        f"settings.calibration_{told}",
        n=sum(row["n"] for row in known),
        sets=len(known),
        low=min(measured),
        high=max(measured),
    )


def _needs_probability(preset: str) -> bool:
    of = state.preset_settings(preset)
    return Mode.ENFORCE in (of.correctness_mode, of.answerability_mode)


def _engine_known() -> bool:
    opened = loading.known(state.library_folder(), state.session().collection)
    return opened is not None and opened.engine is not None


def _in_force() -> Calibration | None:
    opened = loading.known(state.library_folder(), state.session().collection)
    return opened.engine.tools.calibration if opened is not None and opened.engine is not None else None


def _missing() -> bool:
    """Whether the library is open and no calibration that fits it gives the probability that an answer is right."""
    found = _in_force()
    return _engine_known() and (found is None or found.correctness is None)
