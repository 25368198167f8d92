"""The page's frame: configuration and navigation.

`streamlit run app.py` starts it; `python -m ui.serve` does so a little faster.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.delta_generator_singletons import context_dg_stack, get_default_dg_stack_value

from rag_core.service.people import Right
from ui.app import texts
from ui.app.people import collections, sign_in, visitor
from ui.app.texts import say

BRAND = Path(__file__).resolve().parent / "data" / "brand"


def page() -> None:
    """Run the page of a session: configure it, and call the chosen one."""
    # A run of the page after a fragment's, in the same thread, would be drawn at the place where that stood: Streamlit
    # 1.67 leaves it there, and the browser shows a white page (tests/e2e/test_touches.py).
    context_dg_stack.set(get_default_dg_stack_value())
    st.set_page_config(page_title="Plumbline", page_icon=BRAND / "mark.svg", layout="wide")
    st.logo(BRAND / "logo.svg", size="large", icon_image=BRAND / "mark.svg")
    if not sign_in.let_in():
        return
    collections.keep_inside()  # before it is asked what the visitor may do there
    pages = [
        st.Page("pages/ask.py", title=say("ask.page"), default=True),
        st.Page("pages/documents.py", title=say("documents.page")),
    ]
    if visitor.may(Right.RECORDS):
        pages += [st.Page("pages/lab.py", title=say("lab.page")), st.Page("pages/health.py", title=say("health.page"))]
    pages.append(st.Page("pages/settings.py", title=say("settings.title")))
    texts.keep()
    st.navigation(pages, position="top").run()


if __name__ == "__main__":  # Streamlit runs this file for each session
    page()
else:  # `streamlit run` imports it first, and serves what it finds here: guarded, and with the headers
    from ui.serve import SERVED

    app = st.App(__file__, **SERVED)
