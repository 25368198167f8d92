"""The questions behind what was clicked in a plot: of a bar those it counts, of a point on a curve those with that
score.

Plots hold numbers alone. A click sends the ends of a part of the scale, and what lies in it is looked up again here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from rag_core.decision.batch.columns import Flags, Floats, Ints
from rag_core.domain.measurements import Measurements
from rag_core.evaluation.labelled import LabelledQuestion
from ui.app.texts import say
from ui.lab import flips
from ui.lab.judged import Judged
from ui.lab.plots import CURVES, PICK, Spec

_PICKED = "lab_picked"  # in the session


@dataclass(frozen=True, slots=True)
class Pick:
    """A part of a score's scale: from `low` to below `high`, None where it has no end there; of one class of questions,
    or of both.
    """

    score: str
    plot: str
    low: float
    high: float | None
    wanted: bool | None = None


def chart(score: str, spec: Spec, key: str, alt: str) -> None:
    """Draw a plot of a score whose parts can be clicked."""
    st.vega_lite_chart(spec=spec, key=key, alt=alt, on_select=lambda: _take(score, key))


def of_score(score: str, values: Floats, rises: Floats, wanted: Flags) -> Ints | None:
    """The places of the questions that were picked of this score, among those with these measurements; None where
    nothing was picked.

    Args:
        score: the check's name.
        values: shape (m,), as measured.
        rises: shape (m,), so that higher passes.
        wanted: shape (m,), those that should pass.
    """
    pick: Pick | None = st.session_state.get(_PICKED)
    if pick is None or pick.score != score:
        return None
    found = within(pick, rises if pick.plot in CURVES else values)
    return np.flatnonzero(found if pick.wanted is None else found & (wanted == pick.wanted))


def within(pick: Pick, values: Floats) -> Flags:
    """A flag for each value that lies in the part; the highest value belongs to the part that ends there."""
    if pick.high is None:
        return values >= pick.low
    top: Flags = (values == pick.high) & (pick.high >= values.max(initial=-np.inf)) & (pick.plot not in CURVES)
    found: Flags = (values >= pick.low) & ((values < pick.high) | top)
    return found


def show(
    rows: Ints,
    questions: Sequence[LabelledQuestion],
    records: Sequence[Measurements],
    now: Judged,
    before: Judged,
    title: str = "lab_picked.title",
    key: str = _PICKED,
    **numbers: float,
) -> None:
    """List these questions; a click on one opens its trace below.

    `title` is the key of the text above the list, which counts them and has `numbers`. The session holds under `key`
    what was clicked.
    """
    with st.container(key=key, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(say(title, n=len(rows), **numbers))
            close_button(key)
        if len(rows):
            flips.show_some(rows.tolist(), questions, records, now, before, key.removeprefix("lab_"))
        else:
            st.caption(say("lab_picked.none"))


def part_of(chart: str) -> dict[str, object]:
    """The part of a plot that was clicked: what it tells, by the names of its fields; empty for a click beside
    everything.
    """
    found = st.session_state[chart].selection.get(PICK) or []
    return dict(found[-1]) if found else {}


def close_button(key: str) -> None:
    """The button that closes a list of what was clicked, which the session holds under `key`."""
    st.button(
        say("lab_picked.close"),
        key=f"{key}_close",
        icon=":material/close:",
        type="tertiary",
        on_click=let_go,
        args=(key,),
    )


def let_go(key: str = _PICKED) -> None:
    """Forget what was clicked."""
    st.session_state.pop(key, None)


def _take(score: str, key: str) -> None:
    """Note what was clicked; a click beside everything lets go of it."""
    match part_of(key):
        case {"low": int() | float() as low, **rest}:
            high, wanted = rest.get("high"), rest.get("wanted")
            end = float(high) if isinstance(high, int | float) else None
            st.session_state[_PICKED] = Pick(score, key, float(low), end, bool(wanted) if wanted is not None else None)
        case _:
            let_go()
