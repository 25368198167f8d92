"""Two settings side by side on the question of the page: what is judged again, what is searched again, and what differs."""

from __future__ import annotations

import pytest
from page_kit import ask, asked_of, badges, captions, texts
from streamlit.testing.v1 import AppTest

from rag_core.decision.decide import replay
from rag_core.engine import Engine
from rag_core.settings import Settings
from ui.app.people import recording
from ui.app.texts import say, tell
from ui.ask import side_by_side

CALIBRATION = "How often does the flow meter have to be calibrated?"
CARRIED = "Until when do I have to take the vacation days I carried over?"  # other passages, where meaning counts more


def compare(page: AppTest, preset: str) -> AppTest:
    return page.selectbox(key="side_second").set_value(preset).run()


def checks(page: AppTest) -> list[str]:
    return [check for table in page.dataframe if "first" in table.value for check in table.value["check"]]


def test_given_limits_that_differ_when_compared_then_nothing_is_searched_and_each_check_that_differs_is_listed(
    page: AppTest, embedded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(page, CALIBRATION)
    asked, calls = asked_of(page), len(embedded)
    monkeypatch.setattr(side_by_side, "ask", lambda *_: pytest.fail("searched"))

    compare(page, "scoping-strict")

    other = replay(asked.measurements, Settings.load("scoping-strict").changed(**of_no_use(asked.measurements.settings)))
    assert not page.exception
    assert len(embedded) == calls
    assert captions(page).count(say("side_by_side.judged")) == 2
    assert asked_of(page) is asked, "the page's own decision stands"
    now, then = ({check.stage: (check.threshold, check.state) for check in one.trace.checks} for one in (asked.decision, other))
    limits = {say(f"trace.title_{stage}") for stage in now if stage in then and now[stage][0] != then[stage][0]}
    states = {say(f"trace.title_{stage}") for stage in now if stage in then and now[stage] != then[stage]}
    assert limits
    assert limits <= set(checks(page)) <= states
    assert tell("side_by_side.now") in texts(page)

    page.selectbox(key="side_second").set_value("=now").run()

    assert say("side_by_side.differ", n=0, same=len(now), unreached=0) in captions(page)
    assert checks(page) == []


def of_no_use(of: Settings) -> dict[str, object]:
    """Settings of a language model, and of short contexts returned whole: neither is there."""
    return {
        name: getattr(of, name)
        for name in ("excerpt_tokens", "rewording", "temperature", "max_tokens", "sufficiency_reads", "short_context_words")
    }


def test_given_a_search_that_differs_when_compared_then_it_is_searched_once_and_the_page_says_so(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(page, CARRIED)
    recorded, searched, really = len(recording.store().decisions()), [], Engine.ask
    monkeypatch.setattr(Engine, "ask", lambda self, *a, **k: searched.append(a[1]) or really(self, *a, **k))

    compare(page, "rag-engine")
    page.run()

    assert not page.exception
    assert [settings.semantic_weight for settings in searched] == [Settings.load("rag-engine").semantic_weight]
    assert "Searched and drafted again, because this differs: " in texts(page)
    assert say("knobs.semantic_weight") in texts(page)
    assert checks(page)
    assert badges(page).count(say("answer.answered")) >= 1
    assert len(recording.store().decisions()) == recorded


@pytest.mark.parametrize(("kept", "preset"), [(True, "rag-engine"), (False, "relevance-hybrid")])
def test_given_a_kept_decision_or_a_model_when_the_search_differs_then_it_is_left_open(
    page: AppTest, monkeypatch: pytest.MonkeyPatch, kept: bool, preset: str
) -> None:
    ask(page, CALIBRATION)
    monkeypatch.setattr(Engine, "ask", lambda *_, **__: pytest.fail("asked"))
    asked_of(page).kept = kept

    compare(page, preset)

    assert not page.exception
    assert "Left open. This would have to be asked anew: " in texts(page)
    assert say("side_by_side.undecided") in badges(page)
    assert checks(page) == []
