"""The page of a shared demo: what a visitor is offered, among the samples and among their own documents, and when the
visit is over.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from page_kit import ask, asked_of, by_key, captions, collection_field, session_of, settle, texts
from streamlit.testing.v1 import AppTest

from rag_core.domain.acts import acting
from rag_core.domain.ports import Cancel, Progress
from rag_core.library.library import AddReport
from rag_core.service.visits import Visit, Visits
from rag_core.wiring import records
from ui.app import first_run, state
from ui.app.jobs import progress as jobs_on_page
from ui.app.people import visitor
from ui.app.texts import say
from ui.ask.waiting import EXAMPLES

QUESTION = EXAMPLES[0][0]


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


def test_given_a_visitor_when_they_come_then_they_may_ask_the_samples_and_have_one_collection_of_their_own(
    here: list[Visit | None], library: Path, app: AppTest
) -> None:
    visit = here[0]
    assert visit is not None

    ask(settle(app), QUESTION)

    assert asked_of(app).decision.answered
    assert session_of(app).collection == first_run.SAMPLES_COLLECTION
    assert collection_field(app).options == [say("collections.own"), say("collections.samples")]
    assert by_key(app, "feedback") == by_key(app, "add_to_set") == []
    assert say("recording.none_kept") in captions(app)
    assert say("recording.not_kept") not in captions(app)
    assert say("jobs.add") in [field.label for field in app.get("file_uploader")]
    assert records(library, first_run.SAMPLES_COLLECTION).decisions(5) == ()
    with acting(visit.actor):
        assert records(library, visit.collection).decisions(5) == ()

    collection_field(app).set_value(visit.collection).run()
    ask(app, QUESTION)

    assert session_of(app).collection == visit.collection
    assert not asked_of(app).decision.answered
    assert by_key(app, "feedback_right") == ["feedback_right"]
    assert say("recording.kept_visit", most=5000) in captions(app)
    assert not [field for field in app.text_input if (field.key or "").startswith("collection_name")]


def test_given_a_visit_that_is_over_when_the_page_is_touched_then_nothing_of_it_is_shown(
    here: list[Visit | None], app: AppTest
) -> None:
    ask(settle(app), QUESTION)
    here[0] = None

    app.run()

    assert say("visiting.over") in "\n".join(one.value for one in app.info)
    assert not app.chat_input
    assert "plumbline" not in app.session_state


def test_given_another_visit_in_the_same_tab_when_the_page_is_touched_then_nothing_of_the_first_is_there(
    here: list[Visit | None], library: Path, app: AppTest
) -> None:
    ask(settle(app), QUESTION)
    here[0] = Visits(library, first_run.SAMPLES_COLLECTION).begin()[0]

    app.run()

    assert session_of(app).asked is None
    assert session_of(app).history == []


def test_given_no_room_for_another_visitors_documents_then_the_page_says_so_and_takes_none(
    here: list[Visit | None], app: AppTest
) -> None:
    assert here[0] is not None
    here[0] = replace(here[0], may_add=False)

    settle(app)

    assert say("visiting.full") in warnings(app)
    assert say("jobs.add") not in [field.label for field in app.get("file_uploader")]
    assert app.chat_input


def waiting(progress: Progress, cancelled: Cancel) -> AddReport:
    """Work that goes on until it is stopped."""
    while not cancelled():
        time.sleep(0.01)
    return AddReport(cancelled=True)


def test_given_the_samples_on_their_way_when_a_visitor_is_there_then_they_cannot_stop_them(
    here: list[Visit | None], library: Path, app: AppTest
) -> None:
    with acting(visitor.PAGE):
        job = state.runner().start_once(str(library), "Samples", waiting, 6)
    try:
        app.run()

        assert say("jobs.samples") in texts(app)
        assert by_key(app, "stop_0") == []
        with acting(here[0].actor if here[0] else "nobody"):
            jobs_on_page._stop(job)  # a button that was drawn when more was allowed
        assert not job.stopping
    finally:
        job.stop()


def test_given_a_visitors_own_job_when_it_runs_then_they_may_stop_it_and_no_one_elses(
    here: list[Visit | None], library: Path
) -> None:
    visit, other = here[0], Visits(library, first_run.SAMPLES_COLLECTION).begin()[0]
    assert visit is not None
    with acting(other.actor):
        job = state.runner().start("theirs", waiting, 1, place=(str(library), other.collection))
    try:
        with acting(visit.actor):
            jobs_on_page._stop(job)
            assert not job.stopping
        with acting(other.actor):
            jobs_on_page._stop(job)
            assert job.stopping
    finally:
        job.stop()


def test_given_what_visitors_left_when_the_demo_starts_over_an_empty_library_then_the_samples_are_offered(
    tmp_path: Path,
) -> None:
    left = tmp_path / f"visit-{'0a' * 16}"
    left.mkdir()
    (left / "collection.sqlite").touch()

    assert first_run.is_due(tmp_path)

    left.rename(tmp_path / "prague")
    assert not first_run.is_due(tmp_path)


def test_given_a_browser_that_got_no_visit_when_it_opens_the_page_then_it_is_told_so_and_of_no_end(
    here: list[Visit | None], app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    here[0] = None
    monkeypatch.setattr(visitor, "had_visit", lambda: False)  # Streamlit's test runner has every cookie

    app.run()

    said = "\n".join(one.value for one in app.info)
    assert say("visiting.no_room") in said
    assert say("visiting.over") not in said
