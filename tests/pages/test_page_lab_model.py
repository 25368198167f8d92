"""The lab with a language model: the budget that stops a run, and the four set-ups measured whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from folding import each
from honest_model import honest
from model_server import ModelServer, Said, Status
from page_kit import badges, captions, run_set, session_of, settle, texts
from streamlit.testing.v1 import AppTest

from rag_core.domain.status import Reason
from ui.app.people import recording
from ui.app.texts import say, screen, tell
from ui.lab.flips import CHOSEN, reason_in_words

LABELLED = (
    b"question,answerable,answers,kind\n"
    b"How often does the flow meter have to be calibrated?,yes,every 5 years,fact\n"
    b"How many vacation days do employees have?,yes,25 vacation days | 20 vacation days,number\n"
    b"What is the capital of France?,no,,off_topic\n"
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(honest) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-seen-anywhere-at-all")
        monkeypatch.setenv("RAG_MODEL", "<b>scripted</b>")
        yield running


@pytest.fixture
def lab(server: ModelServer, app: AppTest, library: object) -> AppTest:
    """The lab with a set of three questions, and a model that is configured."""
    settle(app)
    page = settle(app.switch_page("pages/lab.py"))
    field = next(one for one in page.file_uploader if (one.key or "").startswith("labelled_"))
    return field.set_value([("mine.csv", LABELLED, "text/csv")]).run()


def runs(page: AppTest) -> list[dict[str, object]]:
    return next(table.value for table in page.dataframe if "drafter" in table.value).to_dict("records")


def test_given_a_budget_when_it_is_spent_then_the_run_stops_with_what_it_has_and_can_be_resumed(
    lab: AppTest, server: ModelServer
) -> None:
    assert lab.number_input(key="run_budget").value == 100_000
    assert server.calls == 0
    assert "not-to-be-seen" not in texts(lab)

    server.play(lambda asked: Said(honest(asked), tokens=(1000, 60)))  # the least budget that the field has
    lab.number_input(key="run_budget").set_value(1000)
    run_set(lab)

    (job,) = session_of(lab).jobs
    assert (job.ran.over_budget, job.ran.total) == (True, 3)
    done = job.ran.measured
    assert 1 <= done < 3
    assert say("jobs.ran_budget", n=done, all=3) in badges(lab)
    assert say("jobs.ran_tokens", n=job.ran.tokens) in captions(lab)
    assert [(row["drafter"], row["state"]) for row in runs(lab)] == [("<b>scripted</b>", say("lab_sets.state_part"))]

    lab.number_input(key="resume_budget").set_value(200_000)
    lab.button(key="resume_run").click().run()
    settle(lab)

    last = session_of(lab).jobs[-1].ran
    assert (last.reused, last.measured, last.over_budget) == (done, 3 - done, False)
    assert "resume_budget" not in [field.key for field in lab.number_input]


def test_given_no_model_when_one_is_to_draft_then_the_lab_says_what_to_set_in_place_of_the_form(
    lab: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "RAG_MODEL"):
        monkeypatch.delenv(name)
    lab.run()

    assert "none is configured" in texts(lab)
    assert say("lab_sets.run") not in [button.label for button in lab.button]


def test_given_an_endpoint_that_is_down_when_a_set_is_run_then_its_questions_are_failures_and_in_no_rate(
    lab: AppTest, server: ModelServer
) -> None:
    server.play(Status(401, message="no"))

    run_set(lab)

    (job,) = session_of(lab).jobs
    assert job.ran.failed > 0
    assert say("jobs.ran_failed", n=job.ran.failed) in badges(lab)
    (head,) = recording.store().runs()
    failures = [
        measurements.failure for measurements in recording.store().results(head.id).values() if measurements.failure
    ]
    assert len(failures) == job.ran.failed
    assert all(f"127.0.0.1:{server.port}" in failure for failure in failures)


@each("reason", Reason)
def test_given_any_reason_when_a_question_ends_so_then_the_lab_says_why_and_names_no_check_that_sounds_met(
    reason: Reason,
) -> None:
    said = reason_in_words(reason)

    assert said
    assert said not in {text for key, text in screen().items() if key.startswith("checks.title_")}


def test_given_settings_that_would_need_another_prompt_when_judged_then_the_questions_are_open_and_in_no_figure(
    lab: AppTest, server: ModelServer
) -> None:
    run_set(lab)
    calls = server.calls
    # another level, another wording of the prompt
    session_of(lab).values |= {
        "high_answerability": 1.0,
        "medium_answerability": 1.0,
    }
    lab.session_state["lab_tab"] = say("lab.tab_results")
    lab.run()

    offered = lab.segmented_control(key="lab_list").options
    (n,) = (n for n in (1, 2) if say("lab_results.list_needs_model", n=n) in offered)
    lab.segmented_control(key="lab_list").set_value("needs_model").run()
    rows = next(table.value for table in lab.dataframe if "reason" in table.value and "now" in table.value).to_dict(
        "records"
    )
    assert [row["now"] for row in rows] == [tell("lab_results.open_short")] * n
    assert {row["reason"] for row in rows} == {tell("lab_reasons.needs_generation")}
    (head,) = recording.store().runs()
    for one in recording.store().run_questions(head.id):
        lab.session_state[CHOSEN] = one.id
        lab.run()
        assert "lab_close" in [button.key for button in lab.button]  # it is open
    lab.session_state["lab_tab"] = say("lab.tab_compare")
    lab.run()
    assert any(caption.value == say("lab_compare.open_second", n=n) for caption in lab.caption)
    assert server.calls == calls  # judging asks nobody
