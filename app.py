"""The page's frame: configuration and navigation. `streamlit run app.py` starts it; `python -m ui.serve` does so a little faster."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ui.app import media, touches
from ui.app.texts import say

BRAND = Path(__file__).resolve().parent / "data" / "brand"


def page() -> None:
    """Run the page of a session: configure it, and call the chosen one."""
    touches.take_each()
    media.keep_awhile()
    st.set_page_config(page_title="Plumbline", page_icon=BRAND / "mark.svg", layout="wide")
    st.logo(BRAND / "logo.svg", size="large", icon_image=BRAND / "mark.svg")
    st.navigation(
        [
            st.Page("pages/ask.py", title=say("ask.page"), default=True),
            st.Page("pages/documents.py", title=say("documents.page")),
            st.Page("pages/lab.py", title=say("lab.page")),
            st.Page("pages/health.py", title=say("health.page")),
        ],
        position="top",
    ).run()


if __name__ == "__main__":  # Streamlit runs this file for each session
    page()
else:  # `streamlit run` imports it first, and serves what it finds here: guarded, and with the headers
    from ui.serve import SERVED

    app = st.App(__file__, **SERVED)
