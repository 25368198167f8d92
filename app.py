"""The page's frame: configuration and navigation. `streamlit run app.py` starts it; `python -m ui.serve` loads the model meanwhile."""

from __future__ import annotations

import streamlit as st

from ui.texts import say

st.set_page_config(page_title="Plumbline", layout="wide")
st.navigation(
    [st.Page("pages/ask.py", title=say("ask.page"), default=True), st.Page("pages/documents.py", title=say("documents.page"))],
    position="top",
).run()
