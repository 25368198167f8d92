"""A question that was submitted is asked, once, whatever else is touched then: Streamlit ends a run at the next touch
of the page.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
from folding import each
from page_kit import JOB_SECONDS, Touch, ask, asked_of, session_of, texts
from streamlit.testing.v1 import AppTest

from rag_core.errors import ModelUnavailable
from ui.app.asked import Asked, Pending
from ui.app.people import recording
from ui.ask import asking
from ui.ask.waiting import EXAMPLES

QUESTION = "How often does the flow meter have to be calibrated?"
SPREAD = 6  # places of a page's run at which it is ended


@pytest.fixture
def page(library: object, app: AppTest) -> AppTest:
    return app.run()


def questions(app: AppTest) -> list[str]:
    return [one.question for one in session_of(app).history]


def kept() -> list[str]:
    """The questions on record, newest first."""
    return [one.question for one in recording.store().decisions()]


def test_given_a_question_when_the_page_is_touched_at_any_moment_then_it_is_asked_once(
    page: AppTest, touch: Touch
) -> None:
    seen = touch(0)
    ask(page, "What is the accuracy of the flow meter?")
    places = seen()
    before = len(kept())

    for number in range(SPREAD):
        touch(1 + number * (places - 1) // (SPREAD - 1))
        ask(page, f"{QUESTION} ({number})")

        assert questions(page)[-1] == f"{QUESTION} ({number})", number
        assert len(questions(page)) == number + 2, number
        assert len(kept()) == before + number + 1, number
    assert asked_of(page).question in texts(page)


def test_given_a_question_that_was_measured_when_the_page_is_touched_before_it_is_shown_then_it_is_kept_and_shown_once(
    page: AppTest, touch: Touch, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure, armed = asking.ask, [0]

    def measured(*given: object, **named: object) -> Asked:
        done = measure(*given, **named)  # type: ignore[arg-type]
        if armed:
            touch(armed.pop())
        return done

    monkeypatch.setattr(asking, "ask", measured)
    for place in (1, 3, 6):
        armed[:] = [place]
        ask(page, f"{QUESTION} ({place})")

        assert questions(page)[-1] == f"{QUESTION} ({place})", place
        assert questions(page) == kept()[::-1], place


def test_given_an_answer_that_came_beside_the_page_when_touched_before_it_is_shown_then_it_is_kept_and_shown_once(
    page: AppTest, touch: Touch, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(page, QUESTION)
    first, record, armed = asked_of(page), recording.record, [0]

    def recorded(asked: Asked) -> Asked:
        if armed:
            touch(armed.pop())
        return record(asked)

    monkeypatch.setattr(recording, "record", recorded)
    for place in (1, 2, 4):
        armed[:] = [place]
        answered = replace(first, question=f"{QUESTION} ({place})", number=0, record=None)
        session_of(page).pending = Pending(answered.question, lambda *_, answered=answered: answered)
        assert session_of(page).pending.wait(JOB_SECONDS)
        page.run()

        assert questions(page)[-1] == answered.question, place
        assert len(questions(page)) == len(kept()), place


def test_given_a_second_question_before_the_first_was_asked_then_both_are_asked_in_their_order(
    page: AppTest, touch: Touch
) -> None:
    session_of(page).hold(QUESTION)
    touch(2)

    page.button(key="example_1").click().run()

    assert questions(page) == [QUESTION, EXAMPLES[1][0]]
    assert session_of(page).held == []


@each("error", [ModelUnavailable("The model is away.", remedy="Bring it back."), ZeroDivisionError()])
def test_given_a_question_that_cannot_be_asked_when_tried_then_its_words_stay_and_can_be_asked_again(
    page: AppTest, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fails(*_: object) -> Asked:
        raise error

    with monkeypatch.context() as broken, suppress(AssertionError):  # a fault of ours is an exception on the page
        broken.setattr(asking, "ask", fails)
        ask(page, QUESTION)
    assert session_of(page).held == []
    page.run()
    assert QUESTION in texts(page)

    page.button(key="ask_again_button").click().run()

    assert questions(page).pop() == QUESTION
    session_of(page).history.clear()
