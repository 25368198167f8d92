"""The lab's domains: what the side bar changes is tried on labelled questions, a person puts it in force, and takes it back."""

from __future__ import annotations

from pathlib import Path

from page_kit import badges, by_key, settle, texts
from streamlit.testing.v1 import AppTest
from test_page_inert import HOSTILE, interpreted

from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.records.stored import Execution, ExecutionOutcome
from rag_core.wiring import records
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
    assert "It would change: How sure: 1.00" in texts(page)
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
    assert flips["after"].tolist() == ["refused, wrongly"]
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
