"""The page's frame: configuration and navigation. `streamlit run app.py` starts it."""

from __future__ import annotations

import streamlit as st

st.set_page_config(page_title="Plumbline", layout="wide")
st.navigation([st.Page("pages/ask.py", title="Ask", default=True), st.Page("pages/documents.py", title="Documents")], position="top").run()
