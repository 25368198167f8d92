"""Watched answers on the page: a switch under the answer, and a table on the Documents page of those that changed."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from page_kit import JOB_SECONDS, ask, asked_of, texts
from streamlit.testing.v1 import AppTest

from rag_core.records.changes import Change, Seen
from rag_core.work import loading, pins
from ui.app import state
from ui.app.people import recording
from ui.app.texts import say, tell

QUESTION = "How many vacation days do employees have?"


@pytest.fixture(autouse=True)
def watching(page: AppTest) -> Iterator[None]:
    """Watched answers are asked anew in this process, as where the page is served."""
    pins.begin(state.library_folder(), (), state.base_settings(), state.runner())
    yield
    loading.on_version(lambda *_: None)


def watch(page: AppTest) -> int:
    """The number of the answer on the page, which is watched now."""
    (switch,) = [one for one in page.toggle if one.label == say("watched.switch")]
    switch.set_value(True).run()
    return int(asked_of(page).record or 0)


def test_given_an_answer_when_watched_then_the_documents_page_lists_it_once_its_document_is_deleted(
    page: AppTest,
) -> None:
    ask(page, QUESTION)
    cited = asked_of(page).decision.citations[0].document_id
    id = watch(page)
    assert [one.decision for one in recording.store().pins()] == [id]
    page.run()
    assert [one.value for one in page.toggle if one.label == say("watched.switch")] == [True]

    page.switch_page("pages/documents.py").run()
    assert tell("watched.summary", n=1, parts=say("watched.same")) in texts(page)

    state.engine().library.delete(cited)
    deadline = time.monotonic() + JOB_SECONDS
    while recording.store().pins()[0].change is Change.SAME:
        assert time.monotonic() < deadline, "it was not asked again"
        time.sleep(0.1)
    page.run()
    (change,) = [one.change for one in recording.store().pins()]
    assert tell("watched.summary", n=1, parts=tell(f"watched.{change}", n=1)) in texts(page)
    (table,) = [one.value for one in page.dataframe if "what" in one.value]
    assert (table["question"][0], table["before"][0]) == (QUESTION, "–")
    assert f"decision={recording.store().pins()[0].now or id}" in table["open"][0]


def test_given_a_question_that_was_not_kept_when_watched_then_it_is_kept(page: AppTest) -> None:
    recording.store().set_keeping(False)
    ask(page, QUESTION)
    assert asked_of(page).record is None
    id = watch(page)
    assert [one.id for one in recording.store().decisions()] == [id]


def test_given_a_refusal_or_a_greeting_when_watched_and_no_longer_then_nothing_is_left(page: AppTest) -> None:
    ask(page, "Hello!")
    assert say("watched.switch") not in [one.label for one in page.toggle]

    ask(page, "What is the capital of France?")
    watch(page)
    assert recording.store().pins()[0].first == Seen()
    next(one for one in page.toggle if one.label == say("watched.switch")).set_value(False).run()
    assert recording.store().pins() == ()
    page.switch_page("pages/documents.py").run()
    assert "watched" not in texts(page)
