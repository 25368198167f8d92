"""Questions to try on one's own documents: headings that are answered, found once, offered under the settings in force,
and never in the way of a question.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from page_kit import JOB_SECONDS, asked_of, by_key, captions, document, field, texts
from streamlit.testing.v1 import AppTest

from ui.app import state
from ui.app.people import recording
from ui.app.texts import say
from ui.ask import suggested, waiting


@pytest.fixture
def own(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The Ask page over documents that none of the examples is about."""
    monkeypatch.setattr(waiting, "EXAMPLES", ())
    monkeypatch.setattr(suggested, "MAX_SHOWN", 1)
    return page


def found(page: AppTest) -> AppTest:
    """The page once the questions are found, or none is."""
    page.run()
    deadline = time.monotonic() + JOB_SECONDS
    while not all(work.wait(0.1) for work in suggested._kept().values()):
        assert time.monotonic() < deadline, "they were not found"
    return page.run()


def test_given_documents_of_ones_own_then_questions_are_offered_that_are_answered_and_kept(own: AppTest) -> None:
    recorded = len(recording.store().decisions())

    found(own)

    assert say("examples.own") in captions(own)
    known = state.engine().library.questions()
    offered = [line for line in texts(own).splitlines() if line in known.values()]
    assert len(offered) == 1
    assert len(recording.store().decisions()) == recorded
    own.button(key="suggested_0").click().run()
    asked = asked_of(own)
    assert asked.question == offered[0]
    assert {one.document_id for one in asked.decision.citations} == {
        id for id, question in known.items() if question == offered[0]
    }
    assert not by_key(own, "suggested_")


def test_given_settings_that_refuse_them_then_none_is_offered(own: AppTest) -> None:
    found(own)

    field(own, "knob_min_correctness").set_value(1.0)
    found(own)
    assert not by_key(own, "suggested_")
    assert say("examples.own") not in captions(own)

    field(own, "knob_min_correctness").set_value(0.5)
    assert by_key(found(own), "suggested_")


def test_given_a_document_in_which_nothing_was_found_then_it_is_not_looked_at_again(
    own: AppTest, embedded: list[int]
) -> None:
    library = state.engine().library
    for one in library.snapshot.documents:
        library.keep_question(one.id, "")

    found(own)

    assert embedded == []
    assert not by_key(own, "suggested_")


def test_given_labels_and_headings_then_no_number_shout_or_title_is_one_of_the_questions(
    page: AppTest, library: Path
) -> None:
    engine = state.engine()
    policies = engine.library.snapshot.document(document("company-policies.pdf"))

    told = suggested.candidates(engine, policies)

    assert told
    assert not [one for one in told if one.isupper() or any(sign.isdigit() for sign in one)]
    assert f"{policies.title}?" not in told


def test_given_answers_that_are_less_sure_than_the_first_one_should_be_then_there_is_no_question(
    page: AppTest, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, settings = state.engine(), state.base_settings()
    asked = engine.library.snapshot.document(document("wissensdatenbank.pdf"))
    assert suggested.find(engine, asked, settings, lambda: False)

    monkeypatch.setattr(suggested, "LEAST", 1.1)

    assert suggested.find(engine, asked, settings, lambda: False) == ""
    assert suggested.find(engine, asked, settings, lambda: True) is None


def test_given_questions_on_offer_when_a_slider_moves_then_they_are_judged_again_and_nothing_is_searched(
    own: AppTest, embedded: list[int]
) -> None:
    found(own)
    searched = sum(embedded)

    field(own, "knob_min_correctness").set_value(1.0)
    assert not by_key(found(own), "suggested_")
    field(own, "knob_min_correctness").set_value(0.5)
    assert by_key(found(own), "suggested_")

    assert sum(embedded) == searched


def test_given_a_label_and_the_beginning_of_a_sentence_before_a_colon_then_the_label_alone_is_a_question() -> None:
    assert suggested.LABEL.findall("Deposit: two rents\nPart of the deed is : a plan\n") == ["Deposit"]
