"""How a page looks at work beside it, again and again.

Streamlit ends a run of the page at the next touch of it, so no run does long work itself. It starts a `Background` of `rag_core.work`,
keeps it in the session or in the process, and each later run finds it there.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

LOOK_SECONDS = 0.25  # between two looks of a page at what it waits for


def watch(over: Callable[[], bool], show: Callable[[], None], seconds: float = LOOK_SECONDS) -> None:
    """Show what is being waited for, again and again beside the rest of the page; run the whole page once it is over."""

    @st.fragment(run_every=seconds)
    def look() -> None:
        if over():
            st.rerun()
        show()

    look()
