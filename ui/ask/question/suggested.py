"""Questions to try on one's own documents: about rows of their tables. Each was answered from a page of its row before it is offered.

They are worked out beside the page, once for a version of the library, and stop as soon as somebody asks: no question waits for them. A
language model is not asked, and nothing of it is put on record.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import streamlit as st
import yaml

from rag_core.decision.decide import replay
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import PassageKind
from rag_core.domain.ports import Cancel
from rag_core.engine import Engine
from rag_core.library.stored.snapshot import Snapshot
from rag_core.settings import DATA, Settings
from rag_core.work.background import Background
from ui.app import state
from ui.app.jobs.background import watch
from ui.app.state import Session
from ui.app.texts import say
from ui.ask.question.asking import ASK, INGEST

FILE = DATA / "table_questions.yaml"
LABEL = re.compile(r"[^\W\d_]{3,}(?: [\w-]+){1,5}")  # what a row is called: two to six words
DIGIT = re.compile(r"\d")
MAX_SHOWN = 4  # questions that are offered
MAX_TRIED = 16  # that are asked for them, about 0.3 s each
MAX_OF_ONE = 12  # rows of one document that are tried
MAX_KEPT = 8  # versions and settings that are remembered
LOOK_SECONDS = 0.5  # between two looks at whether they are there


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question, and where its answer has to stand: on one of these pages, counted from 1."""

    question: str
    document: str
    pages: tuple[int, ...]


def show(engine: Engine, session: Session, settings: Settings) -> None:
    """The questions, once they are there; they are worked out if nobody did so yet."""
    work = _work(engine, session, settings)
    if not work.wait():
        watch(work.wait, lambda: None, LOOK_SECONDS)
        return
    own = settings.changed(drafter="extract")
    fit = [one for one in work.result or () if replay(one, own.changed(**_asked(one.settings))).answered]
    if not fit:
        return
    st.caption(say("suggested.title"))
    with st.container(key="suggested"):
        for number, one in enumerate(fit[:MAX_SHOWN], 1):
            with st.container(horizontal=True, vertical_alignment="center", key=f"suggested_row_{number}"):
                st.button(say("suggested.ask", n=number), key=f"suggested_{number}", on_click=session.hold, args=(one.question,))
                st.text(one.question, width="content")


def candidates(snapshot: Snapshot) -> Iterator[Candidate]:
    """Questions about rows of tables that have a number, the newest document first; none in a language that has no form of question.

    Rows that stand on most pages come first: what a report is about comes back in it, and the boxes of its cover do not.
    """
    for document in reversed(snapshot.documents):
        form = _forms().get(document.language)
        if form is None:
            continue
        pages = sorted({one.page for one in snapshot.passages_of(document.id) if one.kind is PassageKind.TABLE})
        found: dict[str, list[int]] = {}
        for page in pages:
            for label in dict.fromkeys(_labels(snapshot.page_text(document.id, page))):
                found.setdefault(label, []).append(page)
        for label, on in sorted(found.items(), key=lambda row: -len(row[1]))[:MAX_OF_ONE]:  # where equal, in the order of the pages
            yield Candidate(form.format(label=label), document.id, tuple(on))


def _labels(text: str) -> Iterator[str]:
    """Names of the rows of a page's tables: their first cell, where another one has a digit."""
    for line in text.splitlines():
        first, *others = unicodedata.normalize("NFKC", line).split("\t")
        if LABEL.fullmatch(first.strip()) and any(DIGIT.search(cell) for cell in others):
            yield first.strip()


def answered(engine: Engine, settings: Settings, stop: Cancel) -> tuple[Measurements, ...]:
    """The measurements of the first candidates that are answered from one of their own pages; fewer when it is stopped."""
    found: list[Measurements] = []
    for tried, one in enumerate(candidates(engine.library.snapshot)):
        if stop() or tried == MAX_TRIED or len(found) == MAX_SHOWN:
            break
        if measurements := engine.tried(one.question, settings, one.document, one.pages):
            found.append(measurements)
    return tuple(found)


def _work(engine: Engine, session: Session, settings: Settings) -> Background[tuple[Measurements, ...]]:
    own = settings.changed(drafter="extract")
    key = (str(state.library_folder()), session.collection, engine.library.snapshot.version, tuple(_asked(own).items()))
    kept = _kept()
    if key not in kept:

        def somebody_asks() -> bool:
            return bool(session.held or session.asked or session.pending)

        def work(stop: Cancel) -> tuple[Measurements, ...]:
            found = answered(engine, own, lambda: stop() or somebody_asks())
            if somebody_asks():  # another session may have time for them
                kept.pop(key, None)
            return found

        kept[key] = Background[tuple[Measurements, ...]]("finding questions to try", "Finding questions to try").start(work)
        for old in list(kept)[:-MAX_KEPT]:
            del kept[old]
    return kept[key]


def _asked(settings: Settings) -> dict[str, object]:
    """The settings that a judgement cannot follow, by name."""
    return {name: getattr(settings, name) for name in (*ASK, *INGEST)}


def forget() -> None:
    """Find the questions of all libraries anew at the next call."""
    _kept().clear()


@st.cache_resource(show_spinner=False)
def _kept() -> dict[tuple[object, ...], Background[tuple[Measurements, ...]]]:
    return {}


@cache
def _forms() -> Mapping[str, str]:
    forms: Mapping[str, str] = yaml.load(FILE.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    return forms
