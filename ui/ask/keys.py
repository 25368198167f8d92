"""Keyboard and screen reader: focus goes to a result, and its words are told.

The script is `keys.js`.

Streamlit has neither a live region nor a way to move the focus. The script takes words from the page, as text; here
only texts of our own and numbers are put into it.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import streamlit as st

from rag_core.decision.summary import ending_of
from ui.app.asked import Asked
from ui.app.texts import say

SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def begin() -> None:
    """Put the script on the page, which begins once in the life of a tab."""
    with st.container(key="keys_script"):
        st.html(_script(), unsafe_allow_javascript=True)


def _script() -> str:
    return f"<script>{SCRIPT}plumbline.begin({json.dumps(say('keys.to_question'))})</script>"


def arrived(asked: Asked) -> None:
    """Tell that this decision is on the page. A question is gone to once; decided anew, it is only told."""
    with st.container(key="keys_arrived"):
        st.html(_arrival(asked), unsafe_allow_javascript=True)


def _arrival(asked: Asked) -> str:
    decision = asked.decision
    this = zlib.crc32(
        f"{decision.reason} {decision.answer} {decision.explanation} {asked.settings.min_correctness}".encode()
    )
    how = json.dumps(say(f"turns.badge_{ending_of(decision)}"))
    return f"<script>window.plumbline?.arrived({asked.number:d}, {this:d}, {how})</script>"
