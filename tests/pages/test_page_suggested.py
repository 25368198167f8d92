"""Questions to try on one's own documents: where they come from, that each is answered, and that no question waits for them."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest
from page_kit import JOB_SECONDS, ask, asked_of, captions, texts
from streamlit.testing.v1 import AppTest

from rag_core.decision.decide import decide
from rag_core.domain.passages import PassageKind
from rag_core.engine import Engine
from rag_core.library.stored.snapshot import Snapshot
from rag_core.settings import Settings
from ui.app import state
from ui.app.people import recording
from ui.app.texts import say
from ui.ask.question import examples, suggested


@pytest.fixture
def own(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The Ask page over documents that none of the examples is about."""
    monkeypatch.setattr(examples, "EXAMPLES", ())
    monkeypatch.setattr(suggested, "MAX_SHOWN", 2)
    return page


def settled(page: AppTest) -> AppTest:
    deadline = time.monotonic() + JOB_SECONDS
    page.run()
    while say("suggested.title") not in captions(page):
        assert time.monotonic() < deadline, "no question came"
        time.sleep(0.1)
        page.run()
    return page


def test_given_documents_of_ones_own_when_nothing_was_asked_then_questions_are_offered_that_are_answered(own: AppTest) -> None:
    recorded = len(recording.store().decisions())

    settled(own)

    assert not own.exception
    offered = [line for line in texts(own).splitlines() if line.endswith("?") or line.endswith("”?")]
    assert len(offered) == 2
    assert len(recording.store().decisions()) == recorded
    own.button(key="suggested_1").click().run()
    assert asked_of(own).question == offered[0]
    assert asked_of(own).decision.answered
    assert say("suggested.title") not in captions(own)


def test_given_a_stricter_limit_than_a_question_reaches_when_offered_then_it_is_left_out(own: AppTest) -> None:
    settled(own)

    own.slider(key="knob_min_correctness").set_value(1.0).run()

    assert say("suggested.title") not in captions(own)
    own.slider(key="knob_min_correctness").set_value(0.5).run()
    assert say("suggested.title") in captions(own)


def test_given_tables_when_read_then_each_question_is_about_a_row_with_a_number_in_the_documents_language(page: AppTest) -> None:
    snapshot = state.engine().library.snapshot
    found = {one.question: one for one in suggested.candidates(snapshot)}

    manual = snapshot.find("flow-meter-manual.pdf")[0]
    assert found["What is stated for “Maximum operating pressure”?"].document == manual.id
    assert found["What is stated for “Maximum operating pressure”?"].pages == (1,)
    assert "Was ist für „Urlaub und Verträge“ angegeben?" in found
    assert not [question for question in found if "\t" in question or "ﬂ" in question]
    hindi = snapshot.find("samantar-shreni.pdf")[0]
    assert hindi.id not in {one.document for one in found.values()}, "no form of question is written for it"


def test_given_a_report_when_its_tables_are_read_then_rows_that_come_back_are_asked_for_before_the_boxes_of_its_cover() -> None:
    """A filing of 159 pages offered one question, about "New York", the state on its cover."""
    pages = ["New York\t16-0393470\nNet sales\t5", "Gross margin\t3\nNet sales\t5\nNet sales\t5", "Net sales\t4\nGross margin\t2"]
    tables = [SimpleNamespace(page=number, kind=PassageKind.TABLE) for number in (1, 2, 2, 3)]
    report = SimpleNamespace(
        documents=[SimpleNamespace(id="report", language="en")], passages_of=lambda id: tables, page_text=lambda id, page: pages[page - 1]
    )

    found = list(suggested.candidates(cast("Snapshot", report)))

    assert [(one.question.partition("“")[2], one.pages) for one in found] == [
        ("Net sales”?", (1, 2, 3)), ("Gross margin”?", (2, 3)), ("New York”?", (1,)),
    ]  # fmt: skip


def test_given_somebody_who_asks_when_questions_are_tried_then_no_more_are(page: AppTest) -> None:
    engine, tried = state.engine(), []

    def stop() -> bool:
        tried.append(1)
        return len(tried) > 1

    found = suggested.answered(engine, Settings(), stop)

    assert len(tried) == 2
    assert len(found) <= 1
    for one in found:
        assert decide(one).answered
    ask(page, "What is the capital of France?")
    assert say("suggested.title") not in captions(page)


def test_given_an_answer_from_another_page_when_tried_then_it_is_not_offered(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = state.engine()
    right = next(one for one in suggested.candidates(engine.library.snapshot) if "Maximum operating pressure" in one.question)
    for tried, count in ((right, 1), (replace(right, pages=(right.pages[-1] + 1,)), 0), (replace(right, document="sha256:other"), 0)):
        monkeypatch.setattr(suggested, "candidates", lambda _, tried=tried: iter([tried]))

        assert len(suggested.answered(engine, Settings(), lambda: False)) == count


def test_given_a_question_that_nobody_asks_when_tried_then_it_counts_only_where_its_answer_stands_and_nobody_is_told(page: AppTest) -> None:
    engine, told = state.engine(), []
    engine = Engine(engine.library, engine.tools, note=lambda *said: told.append(said), watch=lambda *said: told.append(said))
    question = "How often does the flow meter have to be calibrated?"
    (manual,) = (one.id for one in engine.library.snapshot.documents if one.name == "flow-meter-manual.pdf")
    asks_a_model = Settings.load(values={"drafter": "model", "model": "none"})

    found = engine.tried(question, asks_a_model, manual, {2, 3})

    assert found is not None
    assert found.settings.drafter == "extract"
    assert engine.tried(question, Settings.load(), manual, {2}) is None
    assert engine.tried("What is the capital of France?", Settings.load(), manual, {3}) is None
    assert told == []
