"""What an empty page teaches: questions to try on the sample documents, and what to do when there are none."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from ui.state import Session

# (the sample that it is about, the question)
EXAMPLES = (
    ("company-policies.pdf", "How many vacation days do employees have?"),
    ("smlouva-o-dodavce.pdf", "Jaká je doba plnění?"),
    ("wissensdatenbank.pdf", "Wann läuft ein API-Schlüssel ab?"),
    ("samantar-shreni.pdf", "परीक्षा कितने मिनट की होती है?"),
    ("flow-meter-manual.pdf", "What is the maximum operating pressure?"),
    ("company-policies.pdf", "What is the capital of France?"),
)


def show_examples(names: Collection[str], session: Session, busy: bool) -> str | None:
    """The example that was clicked, if any. Nothing is shown once a question was asked; `busy` says that documents are on their way."""
    taken: str | None = st.session_state.pop("example", None)
    if taken or session.asked is not None:
        return taken
    if not names and busy:
        st.info("Documents are being read. Questions can be asked as soon as the first one is indexed.", icon=":material/hourglass_top:")
        return None
    if not names:
        st.info(
            "There are no documents yet. Add a PDF above; then ask, and every answer will name its page.", icon=":material/upload_file:"
        )
        return None
    here = [question for name, question in EXAMPLES if name in names]
    if not here:
        return None
    st.caption("Try one of these on the sample documents. The last one is not in any of them, so it is refused.")
    with st.container(horizontal=True):
        for number, question in enumerate(here):
            st.button(question, key=f"example_{number}", on_click=_take, args=(question,))
    return None


def _take(question: str) -> None:
    st.session_state.example = question
