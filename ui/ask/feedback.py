"""Takes a reader's feedback on a decision: right or wrong, in one click; then, if they like, why, and the page that
holds the answer.

It stores the decision as it stands on the page, also where questions are not kept, and can be taken back.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

import streamlit as st

from rag_core.domain.acts import Action
from rag_core.domain.rows import CELL
from rag_core.engine import Engine
from rag_core.evaluation.labelled import LabelledQuestion, Place
from rag_core.records.stored import MAX_COMMENT_CHARS, FeedbackKind
from rag_core.service.people import Right
from ui.app.asked import Asked, Given
from ui.app.elements import badge, button, kept_error, show_kept_error, submit
from ui.app.people import recording, visitor
from ui.app.scope import select_document, unique_names
from ui.app.texts import recorded, say, tell
from ui.ask.evidence import asked_column, row_of

_PROBLEM = "feedback_problem"


def show_feedback(engine: Engine, asked: Asked) -> None:
    """The two buttons, or thanks and the form for more; nothing where nothing is kept for the visitor."""
    if asked.measurements.answer or not visitor.may_do(Action.FEEDBACK):
        return
    with st.container(key="feedback", gap="small"):
        if asked.given is None:
            _show_buttons(asked)
        else:
            _show_thanks(engine, asked, asked.given)
        show_kept_error(_PROBLEM)
        show_label(engine, asked)


def _show_buttons(asked: Asked) -> None:
    answered, maybe = asked.decision.answered, asked.decision.may_be is not None
    wrong = FeedbackKind.WRONG_ANSWER if answered else FeedbackKind.WRONG_REFUSAL
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        ask = "answer" if answered else "maybe" if maybe else "refusal"
        st.caption(say(f"feedback.ask_{ask}"), width="content")
        right = "feedback.right_answer" if answered else "feedback.right_refusal"
        button(right, "feedback_right", _give, asked, FeedbackKind.HELPFUL, icon="thumb_up")
        button(
            "feedback.wrong_maybe" if maybe else f"feedback.{wrong}",
            "feedback_wrong",
            *(_give, asked, wrong),
            icon="thumb_down",
            help="feedback.wrong_help",
        )
        offer_label(asked)


def _show_thanks(engine: Engine, asked: Asked, given: Given) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        right = given.kind is FeedbackKind.HELPFUL
        badge(f"feedback.said_{given.kind}", *(("thumb_up", "green") if right else ("thumb_down", "orange")))
        st.caption(say("feedback.thanks_more" if given.said_more else "feedback.thanks"), width="content")
        button("feedback.take_back", "feedback_take_back", _take_back, asked, type="tertiary", icon="undo")
        offer_label(asked)
    if given.kept_for_it:
        st.caption(say("feedback.kept_for_it"))
    if not given.said_more:
        _show_form(engine, asked, given)


def _show_form(engine: Engine, asked: Asked, given: Given) -> None:
    with st.expander(
        say("feedback.more"),
        icon=":material/edit_note:",
        key="feedback_more",
        expanded=given.kind is not FeedbackKind.HELPFUL,
    ):
        comment = st.text_area(
            say("feedback.comment"),
            key=f"feedback_comment_{given.id}",
            max_chars=MAX_COMMENT_CHARS,
            help=say("feedback.comment_help"),
            height=90,
        )
        document, page = _choose_page(engine, given)
        button("feedback.send", "feedback_send", _say_more, asked, comment or "", document, page)


def _choose_page(engine: Engine, given: Given) -> tuple[str, int]:
    documents = engine.library.view.documents
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = f"feedback_document_{given.id}"
        document = select_document("feedback.document", documents, key, "feedback.no_document")
        count = next((one.page_count for one in documents if one.id == document), 0)
        if not document or not count:
            return "", 0
        page = st.number_input(
            say("feedback.page", n=count), 1, count, step=1, key=f"feedback_page_{given.id}_{document}", width=160
        )
    return document, page


def _give(asked: Asked, kind: FeedbackKind) -> None:
    with kept_error(_PROBLEM):
        store, kept_for_it = recording.store(), asked.record is None and not recording.keeping()
        if asked.record is None:  # not kept when it was asked, or judged again since
            asked.record = recording.keep(asked, origin="feedback")
        asked.given = Given(store.add_feedback(asked.record, kind), kind, kept_for_it)


def _say_more(asked: Asked, comment: str, document: str, page: int) -> None:
    assert asked.given is not None
    with kept_error(_PROBLEM):
        recording.store().amend(asked.given.id, comment, document, page)
        asked.given.said_more = True


def _take_back(asked: Asked) -> None:
    assert asked.given is not None
    with kept_error(_PROBLEM):
        recording.store().take_back(asked.given.id)
        if asked.given.kept_for_it and asked.record is not None:
            recording.store().forget_decision(asked.record)
            asked.record = None
        asked.given = None


KIND = "asked"  # the labels' kind, for breakdowns
MAX_ANSWER_CHARS = 500  # as in the list of feedback
MIN_DIGITS = 3  # a figure with so many is a right answer by itself: a shorter one stands in many sentences


def offer_label(asked: Asked) -> None:
    """The button; nothing where the question is in a set already."""
    if asked.labelled is None and visitor.may(Right.RECORDS):
        button("labelling.add", "add_to_set", _add, asked, icon="playlist_add", help="labelling.add_help")


def show_label(engine: Engine, asked: Asked) -> None:
    """The label in a line, with ways to change it and to take it back."""
    if asked.labelled is None:
        return
    name, label = asked.labelled
    with st.container(key="labelled", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            badge("labelling.added", "playlist_add_check", "green")
            st.text(_in_words(engine, name, label), width="content")
            button("labelling.take_back", "label_take_back", _remove, asked, type="tertiary", icon="undo")
        unsure = asked.given is not None and asked.given.kind is not FeedbackKind.HELPFUL
        with st.expander(say("labelling.change"), icon=":material/edit:", key="label_form", expanded=unsure):
            _show_label_form(engine, asked, name, label)


def _show_label_form(engine: Engine, asked: Asked, name: str, label: LabelledQuestion) -> None:
    if label.answerable and not label.answers:  # above the form, whose button is below
        st.info(say("labelling.counts_as_right"), icon=":material/info:")
    documents, place = engine.library.view.documents, next(iter(label.places), None)
    with st.form(key=f"label_{label.id}", border=False):
        answerable = ask_answerable("label_answerable", index=0 if label.answerable else 1)
        answer = ask_answer("label_answer", next(iter(label.answers), ""))
        left, middle, right = st.columns([3, 1, 2], vertical_alignment="bottom")
        with left:
            text, none = "lab_feedback.document", "lab_feedback.unknown"
            document = select_document(text, documents, "label_document", none, place.document if place else "")
        most = max([1, *(one.page_count for one in documents)])
        at = min(place.page, most) if place else 0
        page = middle.number_input(say("labelling.page"), 0, most, at, key="label_page")
        chosen = right.text_input(say("labelling.set"), name, key="label_set", max_chars=100)
        if submit("labelling.save", "save"):
            places = (Place(document, int(page)),) if answerable and document else ()
            answers = (answer,) if answerable and answer else ()
            changed = replace(label, answerable=bool(answerable), answers=answers, places=places)
            _put(asked, (chosen or "").strip() or name, changed)
            st.rerun()


def ask_answerable(key: str, **more: Any) -> bool | None:
    """The field for whether the documents answer a question; None where nothing is chosen yet."""
    chosen: bool | None = st.radio(
        say("lab_feedback.answerable"),
        [True, False],
        key=key,
        horizontal=True,
        format_func=lambda yes: say("lab_feedback.yes") if yes else say("lab_feedback.no"),
        **more,
    )
    return chosen


def ask_answer(key: str, value: str = "") -> str:
    """The field for a question's right answer; empty where none is given."""
    label, help = say("lab_feedback.answer"), say("lab_feedback.answer_help")
    return (st.text_input(label, value, key=key, max_chars=MAX_ANSWER_CHARS, help=help) or "").strip()


def as_decided(asked: Asked) -> LabelledQuestion:
    """The label that the decision speaks for: its first sentence with its page, or no answer."""
    decision, scope = asked.decision, asked.scope
    searched = tuple(asked.measurements.library.names) if scope.documents or scope.filters else ()
    answered = decision.answered and bool(decision.citations)
    wrong = asked.given is not None and asked.given.kind is not FeedbackKind.HELPFUL
    cited = decision.citations[0] if answered and not wrong else None
    said = (decision.claims[0].text,) if cited is not None and decision.claims else ()
    name = sha256("\x00".join([asked.question, *searched]).encode()).hexdigest()[:12]
    return LabelledQuestion(
        f"{KIND}-{name}",
        asked.question,
        answered or wrong,
        tuple(right_answer(decision.question, text) for text in said),
        searched,
        (Place(cited.document_id, cited.page),) if cited is not None else (),
        "" if decision.language == "und" else decision.language,
        KIND,
    )


def right_answer(question: str, text: str) -> str:
    """A right answer for a label, from a claim's text: the text, or of a row of a table the figure that was asked for.

    Where that figure is not known, or too short, it is the row without the bars between its cells, by which right
    answers are parted. A label is held against a document word by word, so the row is not put into words.
    """
    row = row_of(text)
    asked = asked_column(question, row)
    cell = row[asked][1] if asked is not None else ""
    if sum(map(str.isdecimal, cell)) >= MIN_DIGITS:
        return cell
    heads, _, cells = text.partition(": ")
    cells = cells if CELL in heads and CELL in cells else text
    return " ".join(cells.replace("|", " ").split())[:MAX_ANSWER_CHARS]


def _in_words(engine: Engine, name: str, label: LabelledQuestion) -> str:
    if not label.answerable:
        return tell("labelling.unanswerable", set=name)
    answer = next(iter(label.answers), "") or tell("labelling.no_answer")
    place = next(iter(label.places), None)
    if place is None:
        return tell("labelling.answerable", set=name, answer=answer)
    document = unique_names(engine.library.view.documents).get(place.document, place.document)
    return tell("labelling.answerable_at", set=name, answer=answer, document=document, page=place.page)


def _add(asked: Asked) -> None:
    name, label = recorded("labelling.default_set"), as_decided(asked)
    with kept_error(_PROBLEM):
        known = _known(name, label.id)
        if known is None or known == as_decided(replace(asked, given=None)):  # by now it may be called wrong
            _put(asked, name, label)
        else:
            asked.labelled = name, known


def _known(name: str, id: str) -> LabelledQuestion | None:
    """The label that a question was given before, which may be a person's correction: asked again, it is not lost."""
    store = recording.store()
    return next((one for one in store.read_set(name) if one.id == id), None) if name in store.sets() else None


def _put(asked: Asked, name: str, label: LabelledQuestion) -> None:
    with kept_error(_PROBLEM):
        store = recording.store()
        store.put_question(name, label)
        if asked.labelled is not None and asked.labelled[0] != name:
            store.drop_question(asked.labelled[0], label.id)
        asked.labelled = name, label


def _remove(asked: Asked) -> None:
    if asked.labelled is not None:
        with kept_error(_PROBLEM):
            recording.store().drop_question(asked.labelled[0], asked.labelled[1].id)
            asked.labelled = None
