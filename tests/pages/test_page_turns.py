"""Several turns on the page: a follow-up is rewritten, shown, edited, recorded as typed, and still there after a
reload.
"""

from __future__ import annotations

from page_kit import VACATION, another, ask, asked_of, captions, field, session_of, texts
from streamlit.testing.v1 import AppTest

from rag_core.domain.measurements import REWRITTEN_BY, TYPED
from ui.app.people import recording
from ui.app.texts import tell

HOTEL = "What may a hotel in London cost per night?"
BERLIN = "And in Berlin?"
REWRITTEN = "What may a hotel in Berlin cost per night?"


def turns_of(app: AppTest) -> str:
    """The turns that the address names."""
    found = app.query_params.get("turns", "")
    return found[-1] if isinstance(found, list) else found


def reloaded(app: AppTest) -> AppTest:
    """The page as a browser opens it again."""
    again = another()
    again.query_params.update(dict(app.query_params))
    return again.run()


def test_given_a_follow_up_when_typed_then_the_whole_question_is_asked_kept_and_can_be_edited(page: AppTest) -> None:
    """S2-30: several turns."""
    ask(page, HOTEL)
    assert "Searched for" not in texts(page)
    first = turns_of(page)
    ask(page, BERLIN)

    asked = asked_of(page)
    assert (asked.question, asked.typed) == (REWRITTEN, BERLIN)
    assert f"{BERLIN}\nSearched for “{REWRITTEN}”\n" in texts(page)
    assert asked.decision.question == REWRITTEN
    assert asked.decision.metadata[REWRITTEN_BY] == "rules"
    assert asked.record is not None
    kept = recording.store().measurements(asked.record)
    assert (kept.question, kept.metadata[TYPED]) == (REWRITTEN, BERLIN)
    assert turns_of(page) == f"{first}.{asked.record}"

    again = reloaded(page)

    assert f"{BERLIN}\nSearched for “{REWRITTEN}”\n" in texts(again)
    assert not [button.key for button in again.button if str(button.key).startswith("example_")]
    assert asked_of(again).decision.to_json() == asked.decision.to_json()
    assert [one.question for one in session_of(again).history] == [HOTEL, REWRITTEN]
    assert turns_of(again) == turns_of(page)
    again.button(key="show_turn_1").click().run()
    assert asked_of(again).question == HOTEL

    field(page, "knob_top_k").set_value(2).run()

    assert (asked_of(page).question, asked_of(page).typed) == (REWRITTEN, BERLIN)
    assert len(session_of(page).history) == 2
    assert asked_of(page).record is None  # the decision on the page is another one
    assert len(turns_of(page).split(".")) == 2  # but the turn is kept

    whole = page.text_input(key="whole_2")
    assert whole.value == REWRITTEN

    whole.set_value("And a hotel in Hamburg?")
    next(button for button in page.button if button.label == "Ask").click().run()

    asked = asked_of(page)
    assert (asked.question, asked.typed) == ("And a hotel in Hamburg?", BERLIN)
    assert asked.measurements.metadata[REWRITTEN_BY] == "reader"


def test_given_a_follow_up_when_brought_back_to_an_earlier_question_then_it_leans_on_that_one(page: AppTest) -> None:
    ask(page, HOTEL)
    ask(page, VACATION)
    page.button(key="show_turn_1").click().run()

    ask(page, BERLIN)

    assert asked_of(page).question == REWRITTEN


def test_given_a_follow_up_that_nobody_is_sure_of_when_asked_then_it_is_refused_and_a_whole_question_is_offered(
    page: AppTest,
) -> None:
    ask(page, VACATION)
    ask(page, "Why?")

    asked = asked_of(page)
    assert (asked.question, asked.typed, asked.suggestion) == ("Why?", "", f"{VACATION} Why?")
    assert asked.decision.reason == "follow_up"
    assert asked.decision.answer not in texts(page)  # the headline says it, once
    assert texts(page).count(tell("refusal.why_follow_up")) == 1
    assert page.text_input(key="whole_2").value == f"{VACATION} Why?"
    assert "You can ask the whole question" in captions(page)
    field(page, "knob_top_k").set_value(2).run()  # asked anew for it
    assert asked_of(page).suggestion == f"{VACATION} Why?"


def test_given_turns_in_the_address_that_are_gone_or_nonsense_when_opened_then_the_others_are_there(
    page: AppTest,
) -> None:
    ask(page, HOTEL)
    number = turns_of(page)
    page.query_params["turns"] = f"999999.<b>.{number}.."

    again = reloaded(page)

    assert [one.question for one in session_of(again).history] == [HOTEL]
    assert turns_of(again) == number


def test_given_questions_that_are_not_kept_when_asked_then_the_address_names_none(page: AppTest) -> None:
    recording.store().set_keeping(False)

    ask(page, HOTEL)
    ask(page, BERLIN)

    assert turns_of(page) == ""
    assert asked_of(page).question == REWRITTEN


def test_given_a_question_whose_touch_is_told_twice_when_asked_then_it_is_one_turn(page: AppTest) -> None:
    """Streamlit tells a press again where the next touch ended its run."""
    for _ in range(2):
        session_of(page).hold(HOTEL)
    page.run()

    assert [one.question for one in session_of(page).history] == [HOTEL]
