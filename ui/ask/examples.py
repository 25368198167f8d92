"""The empty page: questions to try on the sample documents, and the next step when there are none."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from rag_core.engine import Engine
from rag_core.service.people import Right
from ui.app import first_run
from ui.app.people import visitor
from ui.app.state import Session
from ui.app.texts import say


@dataclass(frozen=True, slots=True)
class Example:
    """A question to try: `shows` is the key of what it is an example of, `samples` the documents it needs."""

    question: str
    shows: str
    samples: tuple[str, ...]


EXAMPLES = (
    Example("How often does the flow meter have to be calibrated?", "answered", ("flow-meter-manual.pdf",)),
    Example(
        "How many vacation days do employees have?",
        "contradicted",
        ("company-policies.pdf", "company-policies-2024.pdf"),
    ),
    Example("Jaká je doba plnění?", "czech", ("smlouva-o-dodavce.pdf",)),
    Example("Wann läuft ein API-Schlüssel ab?", "german", ("wissensdatenbank.pdf",)),
    Example("परीक्षा कितने मिनट की होती है?", "hindi", ("samantar-shreni.pdf",)),
    Example("What is the maximum operating pressure?", "table", ("flow-meter-manual.pdf",)),
    Example("How much does the company pay into the pension scheme?", "near_miss", ("company-policies.pdf",)),
    Example("What is the capital of France?", "refused", ("company-policies.pdf",)),
)


def show_examples(engine: Engine, session: Session, busy: bool) -> None:
    """Questions to click on, for whoever may ask here.

    Nothing is shown once one was submitted; `busy`: documents are on their way.

    Those about the samples are offered where the samples themselves are, and not where a file has the name of one.
    """
    there = {document.id for document in engine.library.snapshot.documents}
    if session.held or session.asked is not None or session.pending is not None or not visitor.may(Right.ASK):
        return
    if not there and busy and engine.library.view.documents:
        return  # they can be asked before they are indexed, as the line of their job says
    if not there and busy:
        st.info(say("examples.reading"), icon=":material/hourglass_top:")
        return
    if not there:
        st.info(say("examples.empty"), icon=":material/upload_file:")
        return
    ids = first_run.sample_ids()
    here = [example for example in EXAMPLES if {ids[name] for name in example.samples} <= there]
    if not here:
        return
    st.caption(say("examples.title"))
    with st.container(key="examples"):
        for number, example in enumerate(here):
            with st.container(horizontal=True, vertical_alignment="center", key=f"example_row_{number}"):
                st.button(example.question, key=f"example_{number}", on_click=session.hold, args=(example.question,))
                st.caption(say(f"examples.{example.shows}"), width="content")
