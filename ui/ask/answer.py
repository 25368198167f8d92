"""A decision on the screen: the answer or the refusal with its sources on one side, the page it stands on beside it,
its stages below.
"""

from __future__ import annotations

import streamlit as st

from rag_core.decision.checks.gating import LIKELY
from rag_core.decision.compose import UNANSWERED
from rag_core.decision.notes import indexing_in_words
from rag_core.decision.summary import Ending, ending_of
from rag_core.domain.claims import Conflict
from rag_core.domain.decision import Decision
from rag_core.domain.status import Reason
from rag_core.engine import Engine
from rag_core.grounding.wording import contradiction
from ui.app.asked import Asked
from ui.app.elements import badge, show_text
from ui.app.scope import shown_date
from ui.app.texts import say, spoken, tell
from ui.ask import keys, turns
from ui.ask.changes import show_change
from ui.ask.drafts import show_checked, show_drafter, show_stand_in, stand_in
from ui.ask.evidence import show_answer, show_sources, with_sources
from ui.ask.export import show_share
from ui.ask.feedback import show_feedback
from ui.ask.refusal import show_how_sure, show_refusal
from ui.ask.stages import show_stages
from ui.ask.waiting import show_outdated
from ui.documents import viewer, watched, whole
from ui.documents.place import Place

WIDTHS = (11, 9)  # the answer and the page beside it


def show(engine: Engine, asked: Asked) -> None:
    """The thread with this question in full, and the page beside it, whose picture comes late: nothing waits for it."""
    decision = asked.decision
    undecided = decision.reason is Reason.NEEDS_GENERATION  # then there is nothing else to show
    first, place = next(iter(decision.citations or decision.places), None), None
    if not undecided:
        place = viewer.chosen() or (Place.of(first, decision.citations) if first is not None else None)
    before, after = turns.around(asked)
    with st.container(key="outcome"):
        left, right = st.columns(WIDTHS, gap="medium")
    with left:
        # each is there also when empty: a card that moved would hold old words until the run ends, and they would be
        # read out
        earlier, question, changed = (st.container() for _ in range(3))
        with earlier:
            turns.show_others(before)
        with question:
            turns.show_question(asked)
        with changed:
            show_change(asked)
            show_outdated(asked)
        if not undecided:
            _show_outcome(engine, asked, place)
        keys.arrived(asked)
        turns.show_others(after)
    show_stages(asked, engine)
    if place is not None and (decision.citations or not decision.answered):
        with right, st.container(key="beside"):
            if decision.places:
                st.caption(say(_nearest(decision)))
            viewer.show(engine, place)
            cited = [mark for one in decision.citations if one.document_id == place.document for mark in one.boxes]
            whole.offer(engine, place.document, viewer.page_shown(place), cited or place.marks)


def _show_outcome(engine: Engine, asked: Asked, place: Place | None) -> None:
    decision = asked.decision
    if decision.answered and not decision.citations:
        _show_reply(decision)
        show_share(engine, asked)
        return
    if decision.answered:
        _show_answer(asked)
    else:
        show_refusal(asked)
    _show_indexing(asked)
    with st.container(horizontal=True, vertical_alignment="center", key="share_and_watch"):
        show_share(engine, asked)
        watched.show_switch(engine, asked)
    show_feedback(engine, asked)
    show_sources(engine, decision, place)
    _show_notes(asked)


def _nearest(decision: Decision) -> str:
    if decision.reason is Reason.SUMMARY:
        return "evidence.outline_page"
    return "evidence.nearest" if decision.may_be is None else "evidence.nearest_may_be"


def _show_reply(decision: Decision) -> None:
    """A greeting, or what the library holds: nothing of it comes from a document's text, so it has no probability."""
    with st.container(border=True, key="reply"):
        badge("answer.greeting" if decision.reason is Reason.GREETING else "answer.about_library", "info", "blue")
        st.text(decision.answer)


def _show_answer(asked: Asked) -> None:
    decision = asked.decision
    with st.container(border=True, key="answer"):
        quoted = all(measured.word_for_word for measured in decision.measured)
        scanned = any(citation.ocr for citation in decision.citations)
        doubtful = ending_of(decision) is Ending.MAYBE
        help = "answer.answered_help_scan" if scanned else "answer.answered_help"
        half = _half(decision)
        key = "answer.half" if half else "answer.found" if doubtful else "answer.answered"
        sign = ("help", "yellow") if doubtful else ("check_circle", "green")
        badge(key, *sign, help=help if quoted else "answer.answered_help_words")
        if half:
            show_text(spoken(half), "low")  # it repeats words of the question
        elif doubtful:
            with st.container(key="low"):
                st.markdown(say(_doubt(asked)))
        show_stand_in(decision)
        with st.container(key="answer_text"):
            show_answer(decision)
        show_how_sure(asked)  # before what the sources disagree on, which may be long
        for number, conflict in enumerate(decision.conflicts):
            _show_conflict(number, asked, conflict)
        show_checked(decision)
        show_drafter(decision)
        with st.container(horizontal=True, key="answer_more"):
            with st.popover(say("answer.copy"), icon=":material/content_copy:", type="tertiary", key="copy"):
                st.caption(say("answer.copy_about"))
                st.code(with_sources(decision), language=None, wrap_lines=True)


def _show_indexing(asked: Asked) -> None:
    if said := indexing_in_words(asked.measurements):
        with st.container(key="indexing", horizontal=True, gap="xsmall", border=True):
            st.markdown(say("answer.indexing_icon"), width="content")
            st.text(said)


def _half(decision: Decision) -> str:
    """The note that only one of two questions is answered, and which is not; empty elsewhere."""
    return decision.notes[0] if decision.metadata.get(UNANSWERED) and decision.notes else ""


def _doubt(asked: Asked) -> str:
    """The key of the sentence on an answer that must not look safe. None calls a low number more than it is."""
    if asked.decision.conflicts:
        return "answer.low_contradicted"
    value = asked.measurements.correctness
    return "answer.low_unlikely" if value is not None and value < LIKELY else "answer.low_score"


def _show_conflict(number: int, asked: Asked, conflict: Conflict) -> None:
    decision, library = asked.decision, asked.measurements.library
    with st.container(border=True, key=f"conflict_{number}"):
        same = conflict.documents[0] == conflict.documents[1]
        key = "answer.conflict_same" if same else "answer.conflict"
        badge(key, "call_split", "yellow", help="answer.conflict_help")
        sides = zip(
            st.columns(2),
            conflict.values,
            conflict.documents,
            conflict.pages,
            zip(conflict.dates, conflict.date_sources, strict=True),
            (conflict.claim, conflict.other),
            conflict.statements,
            strict=True,
        )
        for column, value, document, page, date, claim, statement in sides:
            name = library.names.get(document, document)
            with column, st.container(key=f"conflict_side_{number}_{claim}", gap="xsmall"):
                show_text(value, f"conflict_value_{number}_{claim}")
                st.text(statement or decision.claims[claim].text)
                when = shown_date(*date) or tell("answer.no_date")
                st.text(tell("answer.conflict_where", name=name, page=page, date=when))
                if conflict.newer == document:  # in grey where that rests on a date that only a file states
                    by = "_file" if conflict.by_file else ""
                    badge(f"answer.newer{by}", "update", "gray" if by else "green", help=f"answer.newer{by}_help")
        if not conflict.newer and not same:
            st.caption(say("answer.newer_unknown") if not all(conflict.dates) else say("answer.newer_neither"))


def _show_notes(asked: Asked) -> None:
    """Show the other notes; contradictions are shown with the answer."""
    said = {indexing_in_words(asked.measurements), _half(asked.decision)}
    if asked.decision.conflicts:
        said |= {f"{contradiction(one, asked.measurements.library)}." for one in asked.measurements.conflicts}
    if asked.decision.answered:
        said.add(stand_in(asked.decision))
    for number, note in enumerate(note for note in asked.decision.notes if note not in said):
        show_text(tell("answer.note", note=spoken(note)), f"note_{number}")
