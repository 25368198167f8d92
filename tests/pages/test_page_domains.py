"""The lab's domains: what the side bar changes is tried on labelled questions, a person puts it in force, and takes it back."""

from __future__ import annotations

from pathlib import Path

from page_kit import badges, by_key, settle, texts
from streamlit.testing.v1 import AppTest
from test_page_inert import HOSTILE, interpreted

from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.records.stored import Execution, ExecutionOutcome, FeedbackKind
from rag_core.wiring import records
from rag_core.work import loading
from ui.app import state
from ui.app.texts import say

QUESTIONS = (
    LabelledQuestion("1", "How often does the flow meter have to be calibrated?", True, ("every 5 years",)),
    LabelledQuestion("2", "What is the capital of France?", False),
)


def lab(app: AppTest) -> AppTest:
    app.switch_page("pages/lab.py")
    app.session_state["lab_tab"] = "Domains"
    return settle(app)


def test_given_a_change_in_the_side_bar_when_it_is_tried_then_its_evidence_is_shown_and_a_person_decides(
    page: AppTest, library: Path
) -> None:
    """S3-26: before and after with intervals, and what flips; nothing is in force until somebody says so."""
    store = records(library, "default")
    head = store.begin_run(
        "mine", "mine", QUESTIONS, settings=state.base_settings(), calibration="", model="", version=0,
    )  # fmt: skip
    lab(page)
    page.selectbox(key="lab_domain").set_value("legal").run()
    assert say("lab_domains.try_nothing") in [one.value for one in page.caption]
    page.slider(key="knob_min_correctness").set_value(1.0).run()
    assert "It would change: How sure: 100 %" in texts(page)
    page.text_input(key="try_why").set_value(HOSTILE).run()
    page.button(key="try_button").click()
    settle(page)

    (_, proposed) = store.profile_versions("legal")
    assert (proposed.values["min_correctness"], proposed.values["top_k"], proposed.by) == (1.0, 15, "page")
    assert not page.exception
    assert say("lab_domains.proposed") in badges(page)
    assert "Tried on 2 labelled questions, against version 0" in texts(page)
    flips = next(table.value for table in page.dataframe if "question" in table.value)
    assert flips["question"].tolist() == [QUESTIONS[0].question]
    assert flips["after"].tolist() == ["Wrongly refused"]
    assert HOSTILE in texts(page)
    assert not any(HOSTILE in text for text in interpreted(page))
    assert store.profile_in_force("legal").version == 0

    page.button(key="use_legal_1").click().run()
    assert store.profile_in_force("legal").version == 1
    assert by_key(page, "use_legal") == ["use_legal_0"]
    store.record_execution(Execution("rag_strategy", "legal@1", 0.5, 1.0, True, ExecutionOutcome.ANSWERED), "api:1")
    store.delete_run(head.id)
    store.delete_run(proposed.evidence["after_run"])
    page.button(key="use_legal_0").click().run()
    assert store.profile_in_force("legal").version == 0
    assert "unsupported sentences in 1" in texts(page)
    flips = next(table.value for table in page.dataframe if "question" in table.value)
    assert flips["question"].tolist() == [say("lab_domains.gone")]


def test_given_two_versions_when_they_are_compared_on_live_questions_then_the_tab_shows_how_it_stands(page: AppTest, library: Path) -> None:
    store = records(library, "default")
    store.propose_profile("legal", {"top_k": 20}, "", {})
    lab(page)
    page.selectbox(key="lab_domain").set_value("legal").run()
    assert page.selectbox(key="compare_b_legal").value == 1
    page.button(key="compare_begin").click().run()

    running = store.comparison_running("legal")
    assert running is not None
    assert (running.a, running.b, running.by) == (0, 1, "page")
    engine = loading.engine(library, "default", state.base_settings())
    id = store.keep(engine.measure("What is the rated pressure?", state.base_settings()))
    for number in range(40):
        store.expose(running.id, f"asker {number}", number % 2 == 1, id + number)
        store._comparisons.hear(id + number, FeedbackKind.HELPFUL if number % 2 else FeedbackKind.WRONG_ANSWER, number + 1)
    page.run()
    assert "Version 1 is better, by more than chance." in texts(page)
    page.button(key="compare_stop").click().run()
    assert not page.exception
    assert store.comparison_running("legal") is None
