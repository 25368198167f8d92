"""The page of a shared demo: what a visitor is offered, among the samples and among their own documents, and when the visit is over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from page_kit import ask, asked_of, by_key, captions, collection_field, session_of, settle
from streamlit.testing.v1 import AppTest

from rag_core.domain.acts import acting
from rag_core.service.visits import Visit, Visits
from rag_core.wiring import records
from ui.app import first_run, visitor
from ui.app.texts import say
from ui.ask.question.examples import EXAMPLES

QUESTION = EXAMPLES[0].question


@pytest.fixture
def here(library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Visit | None]]:
    """The visit of whoever opens the page, in a list that a test may change; the samples are in their collection."""
    (library / "default").rename(library / first_run.SAMPLES_COLLECTION)
    visits = Visits(library, first_run.SAMPLES_COLLECTION)
    now: list[Visit | None] = [visits.begin()[0]]
    visitor.take_visitors(visits)
    monkeypatch.setattr(visitor, "visit_at_page", lambda: now[0])
    yield now
    visitor.take_visitors(None)


def warnings(app: AppTest) -> str:
    """What the page warns of."""
    return "\n".join(one.value for one in app.warning)


def test_given_a_visitor_when_they_come_then_they_may_ask_the_samples_and_nothing_of_it_is_kept(
    here: list[Visit | None], library: Path, app: AppTest
) -> None:
    visit = here[0]
    assert visit is not None

    ask(settle(app), QUESTION)

    assert not app.exception
    assert asked_of(app).decision.is_safe()
    assert session_of(app).collection == first_run.SAMPLES_COLLECTION
    assert collection_field(app).options == [say("visiting.own"), say("visiting.samples")]
    assert by_key(app, "feedback") == by_key(app, "add_to_set") == []
    assert say("recording.not_kept") in captions(app)
    assert say("jobs.add") in [field.label for field in app.get("file_uploader")]
    assert records(library, first_run.SAMPLES_COLLECTION).decisions(5) == ()
    with acting(visit.actor):
        assert records(library, visit.collection).decisions(5) == ()


def test_given_a_visitor_when_they_choose_their_own_collection_then_it_is_theirs_in_full_and_no_other_can_be_made(
    here: list[Visit | None], app: AppTest
) -> None:
    visit = here[0]
    assert visit is not None
    settle(app)

    collection_field(app).set_value(visit.collection).run()
    ask(app, QUESTION)

    assert not app.exception
    assert session_of(app).collection == visit.collection
    assert not asked_of(app).decision.is_safe()
    assert by_key(app, "feedback_right") == ["feedback_right"]
    assert not [field for field in app.text_input if (field.key or "").startswith("collection_name")]


def test_given_a_visit_that_is_over_when_the_page_is_touched_then_nothing_of_it_is_shown(here: list[Visit | None], app: AppTest) -> None:
    ask(settle(app), QUESTION)
    here[0] = None

    app.run()

    assert not app.exception
    assert say("visiting.over") in "\n".join(one.value for one in app.info)
    assert not app.chat_input
    assert "plumbline" not in app.session_state


def test_given_another_visit_in_the_same_tab_when_the_page_is_touched_then_nothing_of_the_first_is_there(
    here: list[Visit | None], library: Path, app: AppTest
) -> None:
    ask(settle(app), QUESTION)
    here[0] = Visits(library, first_run.SAMPLES_COLLECTION).begin()[0]

    app.run()

    assert not app.exception
    assert session_of(app).asked is None
    assert session_of(app).history == []


def test_given_no_room_for_another_visitors_documents_then_the_page_says_so_and_takes_none(here: list[Visit | None], app: AppTest) -> None:
    assert here[0] is not None
    here[0] = replace(here[0], may_add=False)

    settle(app)

    assert not app.exception
    assert say("visiting.full") in warnings(app)
    assert say("jobs.add") not in [field.label for field in app.get("file_uploader")]
    assert app.chat_input
