"""The page's frame: configuration and navigation. `streamlit run app.py` starts it; `python -m ui.serve` loads the model meanwhile."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ui.texts import say

BRAND = Path(__file__).resolve().parent / "data" / "brand"

st.set_page_config(page_title="Plumbline", page_icon=BRAND / "mark.svg", layout="wide")
st.logo(BRAND / "logo.svg", size="large", icon_image=BRAND / "mark.svg")
st.navigation(
    [
        st.Page("pages/ask.py", title=say("ask.page"), default=True),
        st.Page("pages/documents.py", title=say("documents.page")),
        st.Page("pages/lab.py", title=say("lab.page")),
    ],
    position="top",
).run()
