"""The Health page: figures from kept questions, refusals; and in words where there is nothing."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from page_kit import another, captions, texts
from streamlit.testing.v1 import AppTest

from rag_core.decision.decide import decide
from rag_core.decision.summary import summarise
from rag_core.evaluation.health import Figure, Goal, Kept
from rag_core.settings import Settings
from rag_core.wiring import open_engine, records
from ui.app import first_run
from ui.app.texts import say, tell
from ui.health import figures
from ui.health.figures import question_rows

LISTING = "Which documents do you have?"
ANSWERED, REFUSED = "How often does the flow meter have to be calibrated?", "What did *Acme* report for 2031?"


def opened(app: AppTest) -> AppTest:
    return app.run().switch_page("pages/health.py").run()


def test_given_no_kept_question_when_opened_then_the_page_says_what_its_figures_are_of(
    app: AppTest, library: Path
) -> None:
    page = opened(app)

    assert "No question was kept in this period" in page.info[0].value
    assert page.segmented_control(key="health_period").value == 7

    assert say("health.samples") not in [one.value for one in page.info]
    (library / "default").rename(library / first_run.SAMPLES_COLLECTION)

    app.session_state.plumbline.collection = first_run.SAMPLES_COLLECTION
    app.run()

    assert say("health.samples") in [one.value for one in app.info]


def test_given_kept_questions_when_opened_then_figures_and_refusals_are_shown(
    app: AppTest, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3-31: the five figures, questions, refusals; text of questions stays inert."""
    engine, store, settings = open_engine(library, "default"), records(library, "default"), Settings.load()
    for question in (LISTING, ANSWERED, REFUSED, REFUSED):
        store.keep(engine.measure(question, settings))

    page = opened(app)

    shown = {metric.label: metric.value for metric in page.metric}
    assert set(shown) == {"How sure", "Search"}  # no language model was asked, so there is nothing to say of its drafts
    assert "4 questions." in captions(page)

    monkeypatch.setitem(figures.GOALS, Figure.RETRIEVAL, Goal(-2.0, -1.0))  # type: ignore[arg-type]  # past its alert
    marked = [metric.label for metric in page.run().metric if metric.delta == say("health.look")]
    assert marked == ["Search"]
    assert list(page.dataframe[0].value["n"]) == [2]
    refused, listed = (frame.value for frame in page.dataframe if "sure" in frame.value.columns)
    assert list(refused["question"]) == [REFUSED, REFUSED]
    assert list(listed["question"]) == [REFUSED, REFUSED, ANSWERED, LISTING]
    assert list(listed["why"])[2:] == [tell("health.ended_sure")] * 2


@pytest.mark.parametrize("drafts", [True, False])
def test_given_drafts_of_a_model_or_none_then_all_five_figures_are_shown_or_those_without_a_draft(
    drafts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3-31: the five figures."""
    monkeypatch.setattr(figures, "figure", lambda which, _: None if which is Figure.MODEL and not drafts else 0.5)

    assert set(figures.shown([])) == (set(Figure) if drafts else {Figure.CORRECTNESS, Figure.RETRIEVAL})


def test_given_kept_questions_when_listed_then_each_has_how_it_ended_and_the_address_of_its_stages(
    page: AppTest, library: Path
) -> None:
    engine, store = open_engine(library, "default"), records(library, "default")
    measured = engine.measure(ANSWERED, Settings.load())
    number = store.keep(measured)
    kept = Kept(number, "2026-11-25T12:00:00+00:00", "*Why*?", summarise(measured, decide(measured)))

    for here in ("https://docs.example.org/health", "https://docs.example.org/plumb/health?x=1", ""):
        (row,) = question_rows([kept], here, "default")
        where = urlsplit(row["open"])
        assert where.path in ({"/plumb/"} if "plumb" in here else {"/", "./"}), here
        assert parse_qs(where.query) == {"collection": ["default"], "decision": [str(number)]}
        assert (row["question"], row["why"]) == ("*Why*?", tell("health.ended_sure"))

    linked = another()
    linked.query_params.update({"collection": "default", "decision": str(number)})
    linked.run()
    assert ANSWERED in texts(linked)
