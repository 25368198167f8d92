"""A question to try for each document: a heading or a label of it, word for word, that it answers.

Questions are found beside the page, once for a document, and kept with it in the library. Each is measured once, and
judged under the settings in force before it is offered. All that stops as soon as somebody asks, asks no language
model, and records nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import streamlit as st

from rag_core.decision.decide import decide, replay
from rag_core.domain.decision import Decision
from rag_core.domain.documents import Document
from rag_core.domain.measurements import Measurements
from rag_core.domain.ports import Cancel
from rag_core.engine import Engine
from rag_core.ingest.passages.context import SECTION_MARK
from rag_core.settings import Settings
from rag_core.work.background import Background
from ui.app import state
from ui.app.elements import button, show_text
from ui.app.jobs.background import watch
from ui.app.state import Session
from ui.app.texts import say
from ui.ask.asking import ASK, INGEST

Found = tuple[tuple[Document, Measurements], ...]  # a document, and what was measured for its question
MAX_SHOWN = 6  # documents with a question, the newest ones
MAX_TRIED = 12  # headings of a document that are asked, and as many labels
LEAST = 0.7  # how likely right an answer must be: the first one that somebody sees should not be wrong
ENOUGH = 0.85  # the same where there is a value: no better one is looked for
MAX_KEPT = 8  # versions that are remembered
LOOK_SECONDS = 0.5  # between two looks at whether they are there
NUMBER = re.compile(r"^[\W\d_]+")  # before a heading: "§ 4", "2.1"
WORDS = r"[^\W\d_][^\d.:;,(){}\[\]*|/\\…“”„\"«»<>=#@\n\t]{3,47}"
HEADING, LABEL = re.compile(WORDS), re.compile(rf"(?:^|[\n\t;,•]\s*)({WORDS})(?<=\S):\s+\S")
MAX_WORDS = 5  # in a heading or label that people would ask; chosen


def show(engine: Engine, session: Session, settings: Settings) -> None:
    """The questions, once they are there; they are found if nobody did so yet."""
    work = _work(engine, session)
    if not work.wait():
        watch(work.wait, lambda: None, LOOK_SECONDS)
        return
    offered = [(one, found.question) for one, found in work.result or () if _answers_now(one, found, settings)]
    if not offered:
        return
    st.caption(say("examples.own"))
    with st.container(key="suggested"):
        for number, (document, question) in enumerate(offered[:MAX_SHOWN]):
            with st.container(horizontal=True, vertical_alignment="center", key=f"suggested_row_{number}"):
                button("turns.ask", f"suggested_{number}", session.hold, question)
                st.text(question, width="content")
                show_text(document.name, f"source_of_suggested_{number}")


def _answers_now(document: Document, found: Measurements, settings: Settings) -> bool:
    """Whether the question is answered under these settings, as far as they judge: nothing is searched again."""
    measured = {name: getattr(found.settings, name) for name in (*INGEST, *ASK)}
    return answered(document, replay(found, settings.changed(**measured))) is not None


def candidates(engine: Engine, document: Document) -> list[str]:
    """Labels and headings of a document that could be a question, from all over it; those that are one come first."""
    labels, headings = dict[str, None](), dict[str, None]()
    for passage in engine.library.snapshot.passages_of(document.id):
        labels |= dict.fromkeys(LABEL.findall(passage.text))
        headings[NUMBER.sub("", passage.section.rpartition(SECTION_MARK)[2]).strip()] = None
    tried: list[str] = []
    for found in (labels, headings):
        fit = [one for one in found if HEADING.fullmatch(one) and not one.isupper() and one != document.title]
        # what begins small and is long is a part of a sentence
        short = [one for one in fit if len(one.split()) <= (2 if one[0].islower() else MAX_WORDS)]
        tried += short[:: max(0, len(short) - 1) // MAX_TRIED + 1]
    tried.sort(key=lambda one: not one.endswith("?"))
    return list(dict.fromkeys(f"{one[0].upper()}{one[1:].removesuffix('?')}?" for one in tried))


def find(engine: Engine, document: Document, settings: Settings, stop: Cancel) -> str | None:
    """The question of a document whose answer is likeliest, one with a value first; "" for none, None when stopped."""
    best = (False, 0.0, "")
    for question in candidates(engine, document):
        if stop():
            return None
        found = answered(document, decide(engine.try_out(question, settings)))
        if found and found[1] >= LEAST:
            best = max(best, (*found, question))
        if best[0] and best[1] >= ENOUGH:
            break
    return best[2]


def answered(document: Document, decision: Decision) -> tuple[bool, float] | None:
    """Whether the answer has a value, and how likely it is right; None where this document alone does not answer."""
    alone = {one.document_id for one in decision.citations} == {document.id} and not decision.conflicts
    value = decision.value["text"].casefold() if decision.value else ""
    is_new = bool(value) and value not in decision.question.casefold()
    return (is_new, decision.scores["correctness"]) if decision.answered and alone else None


def _questions(engine: Engine, stop: Cancel) -> Iterator[tuple[Document, Measurements]]:
    known, shown, settings = engine.library.questions(), 0, state.base_settings()
    for document in reversed(engine.library.snapshot.documents):
        if stop() or shown == MAX_SHOWN:
            return
        question = known.get(document.id)
        if question is None and (question := find(engine, document, settings, stop)) is not None:
            engine.library.keep_question(document.id, question)
        if question:
            shown += 1
            yield document, engine.try_out(question, settings)


def _work(engine: Engine, session: Session) -> Background[Found]:
    kept = _kept()
    key = (str(state.library_folder()), session.collection, engine.library.snapshot.version)
    if key not in kept:

        def asked() -> bool:
            return bool(session.held or session.asked or session.pending)

        def work(stop: Cancel) -> Found:
            found = tuple(_questions(engine, lambda: stop() or asked()))
            if asked():  # another session may have time for them
                kept.pop(key, None)
            return found

        kept[key] = Background[Found]("finding questions to try", "Finding questions to try").start(work)
        for old in list(kept)[:-MAX_KEPT]:
            del kept[old]
    return kept[key]


@st.cache_resource(show_spinner=False)
def _kept() -> dict[tuple[object, ...], Background[Found]]:
    return {}
