"""Stands in the answer's place: examples before the first question, and what is waited for until the first document is
read, while a language model is asked, after it was stopped or before it may be.

Only the stage is shown, never a word of a draft: it is judged first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rag_core.domain.llm_trace import Step
from rag_core.domain.status import Reason
from rag_core.engine import Engine
from rag_core.language import detect
from rag_core.service.people import Right
from rag_core.settings import Settings
from ui.app import first_run, state
from ui.app.asked import Asked, Pending
from ui.app.elements import badge, button, show_text
from ui.app.jobs.background import watch
from ui.app.people import visitor
from ui.app.state import Held, Session
from ui.app.texts import language, say, tell
from ui.ask import suggested


def show(pending: Pending) -> None:
    """Show the work that is being done and for how long, with a way to stop it; run the page when it is over."""
    watch(lambda: state.session().pending is not pending or pending.wait(), lambda: _show(pending))


def _show(pending: Pending) -> None:
    with st.container(border=True, key="waiting"):
        show_text(pending.question, "waiting_question")
        with _line("waiting_stage"):
            st.text(stage(pending), width="stretch")
            st.caption(say("waiting.seconds", n=pending.seconds), width="content")
            button("waiting.cancel", "cancel", state.session().cancel, icon="stop_circle")
        st.caption(say("waiting.about"))


def _line(key: str) -> DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key=key)


def show_held(held: Sequence[Held]) -> None:
    """The questions that wait until the first document can be searched, with a way to take each back."""
    for number, one in enumerate(held):
        with st.container(border=True, key=f"held_{number}"):
            st.text(one.question)
            with _line(f"held_line_{number}"):
                st.text(tell("waiting.held"), width="stretch")
                button("waiting.cancel", f"take_back_{number}", state.session().take_back, one, icon="stop_circle")


def stage(pending: Pending) -> str:
    """The work that is being done now, in words."""
    if not pending.step:
        return say("waiting.measuring")
    if pending.step in (Step.VERIFY, "check"):
        return say(f"waiting.{pending.step}", n=pending.claims)
    if pending.step is Step.DRAFT and pending.drafts > 1:
        return say("waiting.redraft", n=pending.drafts)
    return say(f"waiting.{pending.step}")


def show_stopped(question: str) -> None:
    """That a question was stopped, with a way to ask it again."""
    with st.container(border=True, key="stopped"):
        badge("waiting.stopped", "stop_circle", "gray")
        st.text(question)
        st.caption(say("waiting.stopped_about"))
        _ask_button(question, "waiting.ask_stopped")


def show_outdated(asked: Asked) -> None:
    """That the model would have to be asked for what the page is set to, with a button that does."""
    undecided = asked.decision.reason is Reason.NEEDS_GENERATION
    if not (asked.outdated or undecided):
        return
    with st.container(border=True, key="outdated"):
        badge("waiting.outdated", "sync", "blue")
        st.text(tell("waiting.undecided" if undecided else "waiting.outdated_about"))
        _ask_button(asked.question, "waiting.ask")


def _ask_button(question: str, label: str) -> None:
    button(label, "ask_again_button", state.session().hold, question, True, icon="refresh")


# questions to try, the key of what each is an example of, and the samples that it needs
EXAMPLES = (
    ("How often does the flow meter have to be calibrated?", "answered", {"flow-meter-manual.pdf"}),
    (
        "How many vacation days do employees have?",
        "contradicted",
        {"company-policies.pdf", "company-policies-2024.pdf"},
    ),
    ("Jaká je doba plnění?", "czech", {"smlouva-o-dodavce.pdf"}),
    ("Wann läuft ein API-Schlüssel ab?", "german", {"wissensdatenbank.pdf"}),
    ("परीक्षा कितने मिनट की होती है?", "hindi", {"samantar-shreni.pdf"}),
    ("What is the maximum operating pressure?", "table", {"flow-meter-manual.pdf"}),
    ("How much does the company pay into the pension scheme?", "near_miss", {"company-policies.pdf"}),
    ("What is the capital of France?", "refused", {"company-policies.pdf"}),
)


def offered(there: Collection[str]) -> list[tuple[str, str, set[str]]]:
    """The examples whose samples are among these documents, the one in the language of the screen first."""
    ids, first = first_run.sample_ids(), language()
    here = [example for example in EXAMPLES if {ids[name] for name in example[2]} <= set(there)]
    return sorted(here, key=lambda example: detect(example[0]) != first)


def show_examples(engine: Engine, session: Session, settings: Settings, busy: bool) -> None:
    """Questions to click on, for whoever may ask here, until one was submitted; `busy`: documents are on their way.

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
    here = offered(there)
    if not here:
        if not busy:
            suggested.show(engine, session, settings)
        return
    st.caption(say("examples.title"))
    with st.container(key="examples"):
        for number, example in enumerate(here):
            with st.container(horizontal=True, vertical_alignment="center", key=f"example_row_{number}"):
                st.button(example[0], key=f"example_{number}", on_click=session.hold, args=(example[0],))
                st.caption(say(f"examples.{example[1]}"), width="content")
