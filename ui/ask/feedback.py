"""Takes a reader's feedback on a decision: right or wrong, in one click; then, if they like, why, and the page that
holds the answer.

It stores the decision as it stands on the page, also where questions are not kept, and can be taken back.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import streamlit as st

from rag_core.domain.acts import Action
from rag_core.domain.rows import CELL
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.evaluation.labelled import LabelledQuestion, Place
from rag_core.records.stored import MAX_COMMENT_CHARS, FeedbackKind
from rag_core.service.people import Right
from ui.app.asked import Asked, Given
from ui.app.naming import unique_names
from ui.app.people import recording, visitor
from ui.app.texts import recorded, say, show_error, tell
from ui.ask.evidence import asked_column, row_of

_PROBLEM = "feedback_problem"


def show_feedback(engine: Engine, asked: Asked) -> None:
    """The two buttons, or thanks and the form for more; nothing under a greeting, or where nothing is kept for the
    visitor.
    """
    if asked.measurements.answer or not visitor.may_do(Action.FEEDBACK):
        return
    with st.container(key="feedback", gap="small"):
        if asked.given is None:
            _show_buttons(asked)
        else:
            _show_thanks(engine, asked, asked.given)
        problem = st.session_state.pop(_PROBLEM, None)
        if problem is not None:
            show_error(problem)
        show_label(engine, asked)


def _show_buttons(asked: Asked) -> None:
    answered, maybe = asked.decision.answered, asked.decision.may_be is not None
    wrong = FeedbackKind.WRONG_ANSWER if answered else FeedbackKind.WRONG_REFUSAL
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        ask = "answer" if answered else "maybe" if maybe else "refusal"
        st.caption(say(f"feedback.ask_{ask}"), width="content")
        st.button(
            say("feedback.right_answer" if answered else "feedback.right_refusal"),
            key="feedback_right",
            icon=":material/thumb_up:",
            on_click=_give,
            args=(asked, FeedbackKind.HELPFUL),
            width="content",
        )
        st.button(
            say("feedback.wrong_maybe" if maybe else f"feedback.{wrong}"),
            key="feedback_wrong",
            icon=":material/thumb_down:",
            on_click=_give,
            args=(asked, wrong),
            help=say("feedback.wrong_help"),
            width="content",
        )
        offer_label(asked)


def _show_thanks(engine: Engine, asked: Asked, given: Given) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        right = given.kind is FeedbackKind.HELPFUL
        icon = ":material/thumb_up:" if right else ":material/thumb_down:"
        st.badge(say(f"feedback.said_{given.kind}"), icon=icon, color="green" if right else "orange")
        st.caption(say("feedback.thanks_more" if given.said_more else "feedback.thanks"), width="content")
        st.button(
            say("feedback.take_back"),
            key="feedback_take_back",
            type="tertiary",
            icon=":material/undo:",
            on_click=_take_back,
            args=(asked,),
            width="content",
        )
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
        st.button(
            say("feedback.send"), key="feedback_send", on_click=_say_more, args=(asked, comment or "", document, page)
        )


def _choose_page(engine: Engine, given: Given) -> tuple[str, int]:
    """The document and the page that hold the answer, if the reader says so; ("", 0) otherwise."""
    documents = engine.library.view.documents
    names = unique_names(documents)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        document = st.selectbox(
            say("feedback.document"),
            ["", *names],
            format_func=lambda id: names.get(id, say("feedback.no_document")),
            key=f"feedback_document_{given.id}",
        )
        count = next((one.page_count for one in documents if one.id == document), 0)
        if not document or not count:
            return "", 0
        page = st.number_input(
            say("feedback.page", n=count), 1, count, step=1, key=f"feedback_page_{given.id}_{document}", width=160
        )
    return document, page


def _give(asked: Asked, kind: FeedbackKind) -> None:
    try:
        store, kept_for_it = recording.store(), asked.record is None and not recording.keeping()
        if asked.record is None:  # not kept when it was asked, or judged again since
            asked.record = recording.keep(asked, origin="feedback")
        asked.given = Given(store.add_feedback(asked.record, kind), kind, kept_for_it)
    except RagError as error:
        st.session_state[_PROBLEM] = error


def _say_more(asked: Asked, comment: str, document: str, page: int) -> None:
    assert asked.given is not None
    try:
        recording.store().amend(asked.given.id, comment, document, page)
        asked.given.said_more = True
    except RagError as error:
        st.session_state[_PROBLEM] = error


def _take_back(asked: Asked) -> None:
    assert asked.given is not None
    try:
        recording.store().take_back(asked.given.id)
        if asked.given.kept_for_it and asked.record is not None:
            recording.store().forget_decision(asked.record)
            asked.record = None
        asked.given = None
    except RagError as error:
        st.session_state[_PROBLEM] = error


KIND = "asked"  # the labels' kind, for breakdowns
MAX_ANSWER_CHARS = 500  # as in the list of feedback
MIN_DIGITS = 3  # a figure with so many is a right answer by itself: a shorter one stands in many sentences
_LABEL_PROBLEM = "labelling_problem"


def offer_label(asked: Asked) -> None:
    """The button; nothing where the question is in a set already."""
    if asked.labelled is None and visitor.may(Right.RECORDS):
        st.button(
            say("labelling.add"),
            key="add_to_set",
            icon=":material/playlist_add:",
            help=say("labelling.add_help"),
            on_click=_add,
            args=(asked,),
            width="content",
        )


def show_label(engine: Engine, asked: Asked) -> None:
    """The label in a line, with ways to change it and to take it back; and why it could not be kept."""
    problem = st.session_state.pop(_LABEL_PROBLEM, None)
    if problem is not None:
        show_error(problem)
    if asked.labelled is None:
        return
    name, label = asked.labelled
    with st.container(key="labelled", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(say("labelling.added"), icon=":material/playlist_add_check:", color="green")
            st.text(_in_words(engine, name, label), width="content")
            st.button(
                say("labelling.take_back"),
                key="label_take_back",
                type="tertiary",
                icon=":material/undo:",
                on_click=_remove,
                args=(asked,),
            )
        unsure = asked.given is not None and asked.given.kind is not FeedbackKind.HELPFUL
        with st.expander(say("labelling.change"), icon=":material/edit:", key="label_form", expanded=unsure):
            _show_label_form(engine, asked, name, label)


def _show_label_form(engine: Engine, asked: Asked, name: str, label: LabelledQuestion) -> None:
    if label.answerable and not label.answers:  # above the form, whose button is below
        st.info(say("labelling.counts_as_right"), icon=":material/info:")
    names, place = unique_names(engine.library.view.documents), next(iter(label.places), None)
    with st.form(key=f"label_{label.id}", border=False):
        answerable = st.radio(
            say("lab_feedback.answerable"),
            [True, False],
            index=0 if label.answerable else 1,
            key="label_answerable",
            horizontal=True,
            format_func=lambda yes: say("lab_feedback.yes") if yes else say("lab_feedback.no"),
        )
        answer = st.text_input(
            say("lab_feedback.answer"),
            next(iter(label.answers), ""),
            key="label_answer",
            max_chars=MAX_ANSWER_CHARS,
            help=say("lab_feedback.answer_help"),
        )
        left, middle, right = st.columns([3, 1, 2], vertical_alignment="bottom")
        options = ["", *names]
        document = left.selectbox(
            say("lab_feedback.document"),
            options,
            options.index(place.document) if place and place.document in names else 0,
            format_func=lambda id: names.get(id, say("lab_feedback.unknown")),
            key="label_document",
        )
        most = max([1, *(one.page_count for one in engine.library.view.documents)])
        page = middle.number_input(
            say("labelling.page"), 0, most, min(place.page, most) if place else 0, key="label_page"
        )
        chosen = right.text_input(say("labelling.set"), name, key="label_set", max_chars=100)
        if st.form_submit_button(say("labelling.save"), icon=":material/save:"):
            places = (Place(document, int(page)),) if answerable and document else ()
            answers = (answer.strip(),) if answerable and (answer or "").strip() else ()
            _put(
                asked,
                (chosen or "").strip() or name,
                replace(label, answerable=bool(answerable), answers=answers, places=places),
            )
            st.rerun()


def as_decided(asked: Asked) -> LabelledQuestion:
    """The label that the decision speaks for: its first sentence with its page where it answered, no answer where it
    refused.
    """
    decision, scope = asked.decision, asked.scope
    searched = tuple(asked.measurements.library.names) if scope.documents or scope.filters else ()
    answered = decision.answered and bool(decision.citations)
    wrong = asked.given is not None and asked.given.kind is not FeedbackKind.HELPFUL
    cited = decision.citations[0] if answered and not wrong else None
    answers = (
        (right_answer(decision.question, decision.claims[0].text),) if cited is not None and decision.claims else ()
    )
    name = sha256("\x00".join([asked.question, *searched]).encode()).hexdigest()[:12]
    return LabelledQuestion(
        f"{KIND}-{name}",
        asked.question,
        answered or wrong,
        answers,
        searched,
        (Place(cited.document_id, cited.page),) if cited is not None else (),
        "" if decision.language == "und" else decision.language,
        KIND,
    )


def right_answer(question: str, text: str) -> str:
    """A right answer for a label, from a claim's text: the text, or of a row of a table the figure that was asked for.

    Where that figure is not known, or too short, it is the row. The bars between cells are left out: right answers are
    parted by bars, and a text with one was shown as a list in brackets. A label is held against a document word by
    word, so the row is not put into words.
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
    try:
        known = _known(name, label.id)
    except RagError as error:
        st.session_state[_LABEL_PROBLEM] = error
        return
    if known is None or known == as_decided(replace(asked, given=None)):  # by now it may be called wrong
        _put(asked, name, label)
    else:
        asked.labelled = name, known


def _known(name: str, id: str) -> LabelledQuestion | None:
    """The label that a question was given before, which may be a person's correction: asked again, it is not lost."""
    store = recording.store()
    return next((one for one in store.read_set(name) if one.id == id), None) if name in store.sets() else None


def _put(asked: Asked, name: str, label: LabelledQuestion) -> None:
    """Keep the label in this set, and in no other that it was put into from here."""
    try:
        store = recording.store()
        store.put_question(name, label)
        if asked.labelled is not None and asked.labelled[0] != name:
            store.drop_question(asked.labelled[0], label.id)
    except RagError as error:
        st.session_state[_LABEL_PROBLEM] = error
    else:
        asked.labelled = name, label


def _remove(asked: Asked) -> None:
    if asked.labelled is None:
        return
    try:
        recording.store().drop_question(asked.labelled[0], asked.labelled[1].id)
    except RagError as error:
        st.session_state[_LABEL_PROBLEM] = error
    else:
        asked.labelled = None
