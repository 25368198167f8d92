"""One decision, or all questions of a session, as a file to send, Markdown or PDF; and a link to a kept decision,
`?decision=7`.

Whoever can open the collection sees a linked decision as it was decided, and nobody else. Documents may have changed
since: the question is judged from its record and not asked again. Texts of deleted documents are gone.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

import streamlit as st

from rag_core.decision.decide import decide
from rag_core.decision.summary import Ending, ending_of
from rag_core.domain.claims import Citation
from rag_core.engine import Engine
from rag_core.errors import InvalidInput, RagError
from rag_core.ingest.reading.pdf import render_page
from rag_core.ingest.reading.pdf_facts import form_of
from rag_core.work.recording import passage_of
from ui.app import state
from ui.app.asked import Asked
from ui.app.elements import button, kept_error, show_kept_error
from ui.app.people import recording
from ui.app.people.collections import shown_name
from ui.app.scope import Scope
from ui.app.sheets import Block, block, now, offer
from ui.app.texts import LANGUAGE, say, speaking, tell
from ui.ask.checks import measured, required, state_in_words
from ui.ask.evidence import as_read, where
from ui.ask.refusal import sure_and_judged, why_refused
from ui.settings.sharing import address

MAX_PICTURES = 6  # pages that are drawn: more than answers cite
DPI = 100.0  # dots an inch of a page: small print can be read, and a page has about 150 kB
ALL = "questions-and-answers"  # the name of the file with all of them, before its ending
NAME_CHARS = 40  # the question's part of a file's name
MAX_DIGITS = 15  # a decision's number counts from 1
_PROBLEM, _SHOWN = "link_problem", "link_shown"


def file_name(asked: Asked) -> str:
    """The outcome and the question in letters and digits, such as "answer-how-often-is-it-calibrated"."""
    words = "-".join(re.findall(r"\w+", asked.question.casefold()))[:NAME_CHARS].strip("-_")
    ended = {Ending.SURE: "answer", Ending.NO: "refusal"}.get(ending_of(asked.decision), "maybe")
    return "-".join(part for part in (ended, words) if part)


@speaking(LANGUAGE)
def blocks(engine: Engine, asked: Asked) -> list[Block]:
    """All that is told of a decision, top to bottom, in the form of `rag_core.ingest.reading.pdf.compose_sheet`."""
    decision = asked.decision
    return [
        block("title", say("export.title")),
        block("small", tell("export.about", collection=shown_name(asked.collection), date=now())),
        block("head", say("answer.question")),
        block("lead", asked.question),
        block("head", say(f"turns.badge_{ending_of(decision)}")),
        *([] if decision.answered else [block("lead", why_refused(decision))]),
        *([block("lead", decision.value["text"])] if decision.value else []),
        *(
            [block("lead" if decision.answered else "text", decision.answer)]
            if decision.answer and decision.may_be is None
            else []
        ),
        *(block("text", line) for line in [how_sure(asked)] if line),
        *(block("text", tell("answer.note", note=note)) for note in decision.notes),
        *_sources(engine, decision.citations or decision.places, answered=decision.answered),
        block("head", say("export.checks")),
        {"kind": "rows", "rows": _checks(asked)},
        block("head", say("export.settings")),
        block("small", _settings(asked)),
    ]


def how_sure(asked: Asked) -> str:
    """The line of the page on its probability and its limit, without the emphasis."""
    value = asked.measurements.correctness
    # without a passage there is no best sentence
    if value is None or (not asked.decision.answered and not asked.measurements.hits):
        return say("how_sure.none") if asked.decision.answered else ""
    sure, percent, judged, limit = sure_and_judged(asked, value)
    return f"{say(sure, n=percent)} {say(judged, limit=limit)}".replace("**", "")


def _sources(engine: Engine, citations: Sequence[Citation], *, answered: bool) -> Iterator[Block]:
    """Each source with its words, and the pages that they stand on, each once with all of its marks."""
    if citations:
        yield block("head", say("evidence.title") if answered else say("evidence.places"))
    for one in citations:
        yield block("text", where(one))
        yield from (block("small", text) for text in (one.heading, one.before.text) if text)
        yield block("quote", one.excerpt)
        if one.after.text:
            yield block("small", one.after.text)
        if one.ocr:
            yield block("small", as_read(one))
    pages = list(dict.fromkeys((one.document_id, one.page, one.document) for one in citations))[:MAX_PICTURES]
    for id, page, name in pages:
        cited = [one for one in citations if one.document_id == id]
        marks, doubted = (
            [box for one in cited for number, box in getattr(one, boxes) if number == page]
            for boxes in ("boxes", "doubted")
        )
        try:
            if not engine.library.view.page(id, page).width:
                continue  # a text file has no picture
            drawn = render_page(engine.library.source(id), page, marks, doubted=doubted, dpi=DPI, form=form_of(name))
        except RagError as error:  # deleted meanwhile, or locked by a password
            yield block("small", f"{name}: {error.problem}")
            continue
        said = tell("export.page", name=name, page=page)
        yield block("small", said)
        yield {"kind": "picture", "text": said, "png": base64.b64encode(drawn).decode()}


def _checks(asked: Asked) -> list[list[str]]:
    head = [say(f"checks.column_{name}") for name in ("check", "state", "measured", "required")]
    rows = [
        [say(f"checks.title_{one.stage}"), state_in_words(one), measured(one), required(one)]
        for one in asked.decision.trace.checks
    ]
    return [head, *rows]


def _settings(asked: Asked) -> str:
    preset, hash = asked.settings.preset, asked.decision.metadata.get("settings_hash", "")
    return tell("export.fingerprint", preset=preset, hash=hash, library=asked.measurements.library.version)


def offer_all(asked: Sequence[Asked]) -> None:
    """Two buttons for these questions, oldest first; the files are made when they are clicked."""
    with st.container(horizontal=True, vertical_alignment="center", key="all_asked"):
        st.caption(say("all_asked.about"), width="content")
        offer(lambda: blocks_of_all(asked), ALL, "all_asked", ("download", "download"), type="tertiary")


@speaking(LANGUAGE)
def blocks_of_all(asked: Sequence[Asked]) -> list[Block]:
    """The questions one below the other, each with its answer and where it stands, or why there is none."""
    ended = Counter(ending_of(one.decision).value for one in asked)
    made = [
        block("title", say("all_asked.title")),
        block("small", tell("export.about", collection=shown_name(asked[-1].collection), date=now())),
        block("text", tell("all_asked.counts", n=len(asked), **{one.value: ended[one] for one in Ending})),
    ]
    for number, one in enumerate(asked, 1):
        decision = one.decision
        made += [
            block("head", f"{number}. {one.question}"),
            *([block("lead", decision.value["text"])] if decision.value else []),
            block("lead", decision.answer if decision.answered else tell("turns.refused", why=why_refused(decision))),
        ]
        if said := how_sure(one):
            made.append(block("small", said))
        for citation in decision.citations:
            made += [block("text", where(citation)), block("quote", citation.excerpt)]
    return made


def open_linked(engine: Engine) -> None:
    """Put the decision that the address names on the page, once, under its own settings; or say why not."""
    session = state.session()
    this = (session.collection, session.linked)
    if session.linked and st.session_state.get(_SHOWN) != this:
        st.session_state[_SHOWN] = this
        with kept_error(_PROBLEM):
            asked = read(engine, session.linked)
            session.show(asked)
            session.taking = asked.settings
            st.rerun()
        session.linked = ""
    show_kept_error(_PROBLEM)


def read(engine: Engine, number: str) -> Asked:
    """A kept decision of this collection, judged as it was.

    Raises:
        RagError: there is none with this number, or it cannot be read.
    """
    if not (number.isascii() and number.isdecimal() and len(number) <= MAX_DIGITS):
        raise InvalidInput("The address names no decision.", remedy="Ask for the link again.")
    snapshot = engine.library.view
    measurements = recording.store().measurements(int(number), snapshot.page_text, passage_of(snapshot))
    return Asked(
        measurements.question,
        Scope(),
        measurements,
        decide(measurements),
        measurements.settings,
        collection=state.session().collection,
        record=int(number),
        kept=True,
        turn=int(number),
    )


def show_share(engine: Engine, asked: Asked) -> None:
    """A button that opens the decision's link, once it is kept, and its files."""
    with st.popover(say("export.link"), icon=":material/share:", type="tertiary", key="share"):
        with st.container(horizontal=True):
            offer(lambda: blocks(engine, asked), file_name(asked), "export")
        if asked.record is None:
            button("export.link_make", "make_link", _keep, asked, icon="link")
        else:
            st.caption(say("export.link_about"))
            page = st.context.url or ""
            st.code(address(page, asked.collection, asked.record), language=None, wrap_lines=True)
            if only_here(page):
                st.caption(say("export.link_local"))
        session = state.session()
        if len(every := [one for one in session.history if one.collection == session.collection]) > 1:
            offer_all(every)


def only_here(page: str) -> bool:
    """Whether the page's own address leads to the computer that opens it, whoever that is."""
    host = urlsplit(page).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost" or host.endswith(".localhost")


def _keep(asked: Asked) -> None:
    with kept_error(_PROBLEM):
        asked.record = recording.keep(asked, origin="link")
