"""Questions are recorded as the switch says, readers say what was wrong, and a person in the lab makes labels of it."""

from __future__ import annotations

from pathlib import Path

from page_kit import (
    FRANCE,
    VACATION,
    another,
    ask,
    asked_of,
    badges,
    by_key,
    captions,
    document,
    field,
    texts,
)
from streamlit.testing.v1 import AppTest
from test_page_inert import HOSTILE, interpreted

from rag_core.adapters.records.store import FILE, RecordStore
from rag_core.decision.decide import decide
from rag_core.evaluation.labelled import LabelledQuestion, Place
from rag_core.records.stored import FeedbackKind
from rag_core.wiring import records
from ui.app import state
from ui.lab import queue

SWITCH = "keep_questions_default"


def store(library: Path, collection: str = "default") -> RecordStore:
    return records(library, collection)


def lab(app: AppTest) -> AppTest:
    """The lab's list of feedback."""
    app.switch_page("pages/lab.py")
    app.session_state["lab_tab"] = "Feedback"
    return app.run()


# recording


def test_given_a_question_when_asked_then_it_is_recorded_once_and_can_be_said_right_or_wrong(
    page: AppTest, library: Path
) -> None:
    """S4-25, S1-13: a reader flags a wrong answer."""
    ask(page, VACATION)
    page.run()

    (kept,) = store(library).decisions()
    assert (kept.question, kept.origin) == (VACATION, "ask")
    measurements = store(library).measurements(kept.id, state.engine().library.snapshot.page_text)
    assert decide(measurements).answer == asked_of(page).decision.answer
    assert b"25 vacation days" not in (library / "default" / FILE).read_bytes()
    assert "kept for 90 days, the newest 5,000 at most" in captions(page)

    assert page.button(key="feedback_wrong").label == "This answer was wrong"

    page.button(key="feedback_wrong").click().run()
    page.button(key="feedback_take_back").click().run()
    page.button(key="feedback_right").click().run()

    assert [one.kind for one in store(library).feedback()] == [FeedbackKind.HELPFUL]

    field(page, "knob_min_correctness").set_value(1.0).run()

    assert not asked_of(page).decision.answered
    assert len(store(library).decisions()) == 1


def test_given_the_switch_off_then_nothing_is_recorded_and_the_collection_remembers_it(
    page: AppTest, library: Path, app: AppTest
) -> None:
    page.toggle(key=SWITCH).set_value(False).run()
    ask(page, VACATION)

    assert store(library).decisions() == ()
    assert "Questions are not recorded" in captions(page)
    again = another().run()
    assert again.toggle(key=SWITCH).value is False
    again.toggle(key=SWITCH).set_value(True).run()
    ask(again, VACATION)
    assert len(store(library).decisions()) == 1


def test_given_damaged_records_when_asked_then_the_answer_comes_and_the_file_is_moved_only_on_a_click(
    page: AppTest, library: Path
) -> None:
    path = library / "default" / FILE
    path.write_bytes(b"no database at all" * 500)

    page.run()
    ask(page, VACATION)

    assert asked_of(page).decision.answered
    assert f"The file of records default/{FILE} is damaged." in texts(page)
    assert path.read_bytes().startswith(b"no database")

    page.button(key="move_records_aside").click().run()

    assert "is damaged" not in texts(page)
    assert [one.read_bytes()[:11] for one in path.parent.glob("records.damaged-*.sqlite")] == [b"no database"]
    ask(page, FRANCE)
    assert len(store(library).decisions()) == 1


# feedback


def test_given_a_refusal_when_said_to_be_wrong_then_that_is_kept_taken_back_and_explained(
    page: AppTest, library: Path
) -> None:
    """S4-25, S1-13: a reader flags a wrong refusal, and points at the page that holds the answer."""
    ask(page, FRANCE)
    assert page.button(key="feedback_wrong").label == "This refusal was wrong"

    page.button(key="feedback_wrong").click().run()

    (one,) = store(library).feedback()
    assert (one.question, one.kind, one.decision) == (FRANCE, FeedbackKind.WRONG_REFUSAL, asked_of(page).record)
    assert len(store(library).decisions()) == 1
    assert "Thank you" in captions(page)
    assert by_key(page, "feedback_wrong") == []

    page.button(key="feedback_take_back").click().run()

    assert store(library).feedback() == ()
    assert len(store(library).decisions()) == 1  # questions are kept here anyway
    assert by_key(page, "feedback_wrong") == ["feedback_wrong"]

    page.button(key="feedback_wrong").click().run()
    id, policies = store(library).feedback()[0].id, document("company-policies.pdf")

    page.text_area(key=f"feedback_comment_{id}").set_value(HOSTILE)
    page.selectbox(key=f"feedback_{id}_document").set_value(policies).run()
    page.number_input(key=f"feedback_{id}_page_{policies}").set_value(2).run()
    page.button(key="feedback_send").click().run()

    (one,) = store(library).feedback()
    assert (one.comment, one.document, one.page) == (HOSTILE, policies, 2)
    assert by_key(page, "feedback_send") == []
    assert interpreted(page) == []


def test_given_a_moved_slider_when_feedback_is_given_then_the_decision_on_the_page_is_the_one_that_is_stored(
    page: AppTest, library: Path
) -> None:
    ask(page, VACATION)
    field(page, "knob_min_correctness").set_value(1.0).run()

    page.button(key="feedback_wrong").click().run()

    (one,) = store(library).feedback()
    assert one.kind is FeedbackKind.WRONG_REFUSAL
    assert not decide(store(library).measurements(one.decision)).answered
    assert [kept.origin for kept in store(library).decisions()] == ["feedback", "ask"]
    field(page, "knob_min_correctness").set_value(0.5).run()
    assert by_key(page, "feedback_wrong") == ["feedback_wrong"]  # another decision, not spoken of yet


def test_given_questions_are_not_kept_when_feedback_is_given_then_this_one_is_and_taking_it_back_deletes_it(
    page: AppTest, library: Path
) -> None:
    page.toggle(key=SWITCH).set_value(False).run()
    ask(page, FRANCE)

    page.button(key="feedback_wrong").click().run()

    assert len(store(library).decisions()) == len(store(library).feedback()) == 1
    assert "this one is now" in captions(page)
    page.button(key="feedback_take_back").click().run()
    assert store(library).decisions() == ()


# the queue


def test_given_no_feedback_or_one_that_is_dismissed_then_no_label_comes_of_it(page: AppTest, library: Path) -> None:
    lab(page)

    assert "Nothing is waiting" in page.info[0].value
    assert by_key(page, "queue_") == []

    id = wrong_refusal(page, library)
    lab(page)

    page.button(key=f"queue_dismiss_{id}").click().run()

    assert store(library).sets() == ()
    assert [one.id for one in store(library).feedback("dismissed")] == [id]
    assert "was dismissed" in texts(page)


def wrong_refusal(page: AppTest, library: Path) -> int:
    ask(page, FRANCE)
    page.button(key="feedback_wrong").click().run()
    return store(library).feedback()[0].id


def test_given_feedback_when_a_person_confirms_it_then_it_is_a_label_of_the_set_they_chose(
    page: AppTest, library: Path
) -> None:
    """S4-25: feedback becomes calibration data, after a person confirmed it."""
    id = wrong_refusal(page, library)
    lab(page)
    assert FRANCE in texts(page)
    assert "Refusal said to be wrong" in badges(page)
    assert store(library).sets() == ()

    policies = document("company-policies.pdf")
    page.text_input(key=f"queue_answer_{id}").set_value(" Paris ")
    page.selectbox(key=f"queue_{id}_document").set_value(policies).run()
    page.number_input(key=f"queue_{id}_page_{policies}").set_value(2)
    page.text_input(key=f"queue_set_name_{id}").set_value("pilot").run()
    page.button(key=f"queue_confirm_{id}").click().run()

    expected = LabelledQuestion(f"feedback-{id}", FRANCE, True, ("Paris",), (), (Place(policies, 2),), "en", "feedback")
    assert store(library).read_set("pilot") == (expected,)
    assert store(library).feedback() == ()
    assert f"“{FRANCE}” is now in “pilot”." in texts(page)
    assert "Nothing is waiting" in page.info[0].value


def test_given_a_wrong_answer_then_nobody_has_chosen_and_it_cannot_be_confirmed_until_somebody_does(
    page: AppTest, library: Path
) -> None:
    ask(page, VACATION)
    page.button(key="feedback_wrong").click().run()
    id = store(library).feedback()[0].id
    lab(page)

    assert page.radio(key=f"queue_answerable_{id}").value is None
    assert page.button(key=f"queue_confirm_{id}").disabled
    assert "25 vacation days" in texts(page)  # what was decided
    page.radio(key=f"queue_answerable_{id}").set_value(True).run()
    assert not page.button(key=f"queue_confirm_{id}").disabled


def test_given_the_pointed_document_is_deleted_then_the_list_still_works_and_says_so(
    page: AppTest, library: Path
) -> None:
    ask(page, VACATION)
    page.button(key="feedback_right").click().run()
    policies = document("company-policies.pdf")
    store(library).amend(store(library).feedback()[0].id, "", policies, 1)
    state.engine().library.delete(policies)

    lab(page)

    id = store(library).feedback()[0].id
    assert "[text deleted]" in texts(page)
    assert "company-policies.pdf" in texts(page)
    assert page.selectbox(key=f"queue_{id}_document").value == policies
    assert page.number_input(key=f"queue_{id}_page_{policies}").value == 1


def test_given_hostile_questions_and_comments_then_the_list_shows_them_as_they_are(
    page: AppTest, library: Path
) -> None:
    hostile = (HOSTILE, f"\u202eltr\u202c ‏مرحبا 😀🧑‍🚀 a\nb\tc\0{'x' * 900}")  # markup; rtl, emoji, control, long
    for number, text in enumerate(hostile, 1):
        ask(page, text)
        page.button(key="feedback_wrong").click().run()
        id = store(library).feedback()[0].id
        store(library).amend(id, text * 10)
        lab(page)
        assert interpreted(page) == []
        assert text.strip()[:50] in texts(page)

        page.radio(key=f"queue_answerable_{id}").set_value(False)
        page.text_input(key=f"queue_set_name_{id}").set_value(text[:100]).run()
        page.button(key=f"queue_confirm_{id}").click().run()
        assert interpreted(page) == []
        assert len(store(library).sets()) == number

    wrong_refusal(page.switch_page("pages/ask.py").run(), library)
    lab(page)  # with the hostile sets among the choices
    assert interpreted(page) == []


def test_given_much_feedback_then_the_newest_are_shown_and_the_rest_counted(page: AppTest, library: Path) -> None:
    ask(page, FRANCE)
    record = asked_of(page).record
    assert record is not None
    ids = [store(library).add_feedback(record, FeedbackKind.WRONG_REFUSAL, f"note {n}") for n in range(queue.SHOWN + 2)]

    lab(page)

    assert by_key(page, "queue_dismiss_") == [f"queue_dismiss_{id}" for id in reversed(ids[2:])]
    assert "2 older ones" in captions(page)
