"""The lab's results: counts, breakdowns and the questions that flip, from records alone."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import altair as alt
import pytest
from builders import claim, draft, measurements, passage
from folding import each
from page_kit import badges, captions, texts
from streamlit.testing.v1 import AppTest

from rag_core.decision.batch import ReplaySet
from rag_core.decision.decide import decide, replay
from rag_core.domain.drafts import Draft
from rag_core.domain.measurements import Measurements
from rag_core.evaluation.labelled import LabelledQuestion, Place
from rag_core.evaluation.metrics import clopper_pearson
from rag_core.records.stored import RunHead
from rag_core.settings import Mode, Settings
from ui.app import tables
from ui.app.asked import Asked
from ui.app.scope import Scope
from ui.app.texts import say, tell
from ui.lab import flips
from ui.lab.state import Recorded

GATED = {"correctness_mode": Mode.ENFORCE, "min_correctness": 0.56}
HOSTILE = "=1+1 **bold** ![x](http://evil.example/x.png) <script>window.hacked = 1</script>"


def measured(
    probability: float | None, answer: str = "The notice period is 30 days.", **fields: object
) -> Measurements:
    of = passage(1, answer)
    drafted = draft([claim(of, answer)]) if fields.get("drafted", True) else Draft()
    fields.pop("drafted", None)
    start = Settings.load().changed(**GATED, similarity_mode=Mode.OFF)
    given: Measurements = measurements(0.5, of=start, correctness=probability, draft=drafted, **fields)
    return given


def labelled(n: int, answerable: bool, question: str = "", **fields: object) -> LabelledQuestion:
    return LabelledQuestion(f"q{n}", question or f"Question {n}?", answerable, **fields)  # type: ignore[arg-type]


def a_run() -> dict[str, Any]:
    """Ten questions: six answerable (one is refused, one answer misses the right one), four unanswerable (one is
    answered).
    """
    questions = [
        labelled(0, True, answers=("30 days",), language="en", kind="number"),
        labelled(1, True, answers=("30 days",), language="en"),
        labelled(2, True, answers=("60 days",), language="cs", places=(Place("contract.pdf", 1),)),
        labelled(3, True, language="cs"),
        labelled(4, True, language="hi", question="सूचना अवधि कितनी है?"),
        labelled(5, True, language="en", question=HOSTILE),
        labelled(6, False, language="en"),
        labelled(7, False, language="cs"),
        labelled(8, False, language="en"),
        labelled(9, False),
    ]
    probabilities = (0.95, 0.9, 0.85, 0.8, 0.75, 0.3, 0.7, 0.4, 0.2, 0.1)
    records = [measured(probability) for probability in probabilities]
    return {"questions": questions, "records": records, "settings": records[0].settings}


def head(held: dict[str, Any]) -> RunHead:
    settings = held["records"][0].settings if held["records"] else held["settings"]
    return RunHead(
        1,
        HOSTILE,
        "mine",
        "default",
        settings,
        "abc",
        "model",
        3,
        "2026-11-24T10:00:00+00:00",
        len(held["questions"]),
        0,
    )


def recorded(held: dict[str, Any]) -> Recorded:
    records = tuple(held["records"])
    return Recorded(tuple(held["questions"]), ReplaySet.of(records), records, head(held).settings)


def script(held: dict) -> None:  # type: ignore[type-arg]  # runs alone, without this file's imports
    from ui.lab import results

    results.show(held["run"], held["recorded"], held["settings"])


def opened(held: dict[str, Any]) -> AppTest:
    """A page with nothing but the results; what it shows is `held`."""
    held.setdefault("run", head(held))
    held.setdefault("recorded", recorded(held))
    page = AppTest.from_function(script, kwargs={"held": held}, default_timeout=60).run()
    return page


def moved(page: AppTest, held: dict[str, Any], **values: object) -> AppTest:
    held["settings"] = held["settings"].changed(**values)
    page.run()
    return page


def shown(page: AppTest) -> list[str]:
    return [metric.value for metric in page.metric]  # right, wrong, wrongly refused, rightly refused


def rows(page: AppTest, column: str) -> Any:
    """The table that has this column."""
    return next(table.value for table in page.dataframe if column in table.value)


def pick(page: AppTest, name: str, number: int) -> AppTest:
    """Click a row of the questions: AppTest has no clicks on tables, so what the click leaves behind is written."""
    page.session_state[flips.CHOSEN] = f"q{number}"
    page.run()
    return page


def test_given_a_run_when_opened_then_each_rate_has_its_count_and_its_exact_interval() -> None:
    """S1-13: false refusals, wrong answers, and answers that miss."""
    page = opened(a_run())

    page.segmented_control(key="lab_by").set_value("language").run()

    english = rows(page, "part").set_index("part").loc["en"]
    assert [english[name] for name in flips.ERRORS] == [1 / 3, 1 / 3, 0.0]
    interval = clopper_pearson(1, 3)
    said = tell("lab_results.of_short", k=1, n=3, low=interval.low, high=interval.high)
    assert english["wrong_answers_of"] == said


def test_given_a_moved_slider_then_the_counts_follow_and_the_questions_that_flip_are_listed() -> None:
    held = a_run()
    page = opened(held)
    assert say("lab_results.none_flipped") in captions(page)

    moved(page, held, min_correctness=0.72)

    assert shown(page) == ["4", "1", "1", "4"]
    listed = rows(page, "before")
    assert listed[["question", "before", "now", "right", "reason"]].values.tolist() == [
        ["Question 6?", "answered", "refused", "✓ yes", say("lab_reasons.correctness")]
    ]
    assert [metric.delta for metric in page.metric] == [
        "",
        "-1 against the run's own settings",
        "",
        "+1 against the run's own settings",
    ]


def test_given_any_limit_then_the_figures_are_those_of_replay_one_by_one() -> None:
    held = a_run()
    page = opened(held)
    for limit in (0.0, 0.3, 0.76, 1.0):
        moved(page, held, min_correctness=limit)
        answered = [replay(one, held["settings"]).answered for one in held["records"]]
        refused = sum(
            not given for given, question in zip(answered, held["questions"], strict=True) if question.answerable
        )

        assert sum(map(int, shown(page)[:2])) == sum(answered)
        assert shown(page)[2] == str(refused)


def test_given_a_list_of_errors_then_each_has_the_answer_it_got_beside_the_one_expected() -> None:
    page = opened(a_run())
    page.segmented_control(key="lab_list").set_value("missed_answers").run()

    (missed,) = rows(page, "given").to_dict("records")
    assert (missed["given"], missed["expected"]) == ("The notice period is 30 days. [1]", "60 days")

    page.segmented_control(key="lab_list").set_value("false_refusals").run()
    (refused,) = rows(page, "given").to_dict("records")
    assert refused["given"] is None
    assert refused["expected"] == say("lab_results.answerable")  # nobody gave the right one

    page.segmented_control(key="lab_list").set_value("all").run()
    assert "given" not in rows(page, "question")


def test_given_a_slider_that_was_moved_on_the_ask_page_then_it_says_how_many_of_the_set_flip(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held, said = a_run(), dict[str, str]()
    monkeypatch.setattr(flips, "chosen_run", lambda: replace(head(held), done=10))
    monkeypatch.setattr(flips, "replay_set", lambda run: recorded(held))
    monkeypatch.setattr(flips, "show_text", lambda text, key: said.update({key: text}))
    start, of = held["settings"], held["records"][0]
    asked = Asked(of.question, Scope(), of, decide(of), start.changed(min_correctness=0.76))

    flips.show_of_set(asked)
    assert said == {}  # nothing was moved

    asked.before = asked.decision, start
    flips.show_of_set(asked)
    counts = "0 are answered now and 2 are refused now."
    assert said == {"change_of_set": f"Of the 10 questions of the set “{head(held).set_name}”, {counts}"}


def test_given_a_setting_that_needs_a_new_run_then_it_is_named_and_not_applied() -> None:
    held = a_run()
    page = opened(held)
    before = shown(page)

    moved(page, held, top_k=3, max_sentences=1)

    assert shown(page) == before
    assert say("lab_results.not_applied", n=2) in badges(page)
    assert "How many sources 10 → 3" in texts(page)


def test_given_questions_that_could_not_be_measured_then_they_are_in_no_rate_and_in_a_list_of_their_own() -> None:
    held = a_run()
    held["records"][6] = measured(None, failure="There is no document 'gone.pdf'.")
    page = opened(held)

    assert shown(page)[1] == "1"
    page.segmented_control(key="lab_list").set_value("not_measured").run()
    assert rows(page, "before")["question"].tolist() == ["Question 6?"]


def test_given_a_question_full_of_markup_then_it_is_a_cell_and_plain_text_and_no_formula_in_the_file() -> None:
    held = a_run()
    page = opened(held)
    page.segmented_control(key="lab_list").set_value("false_refusals").run()
    pick(page, "false_refusals", 5)

    assert rows(page, "before")["question"].tolist() == [HOSTILE]
    assert HOSTILE in texts(page)
    assert "evil.example" not in badges(page) + captions(page)
    written = tables.to_csv(rows(page, "before").to_dict("records")).decode("utf-8-sig")
    assert next(csv.DictReader(io.StringIO(written)))["question"] == f"'{HOSTILE}"


def test_given_a_chosen_question_when_a_slider_moves_then_its_trace_stays_open_and_says_what_changed() -> None:
    held = a_run()
    page = pick(opened(held), "all", 2)
    assert "Right answer: 60 days" in texts(page)
    assert "Stands in: contract.pdf, page 1" in texts(page)
    assert len([one for one in page.expander if one.label[:4] in ("1 · ", "2 · ", "3 · ", "4 · ", "5 · ")]) == 5

    moved(page, held, min_correctness=0.9)

    assert "answered → maybe" in texts(page)
    page.button(key="lab_close").click().run()
    assert "Right answer: 60 days" not in texts(page)


@each(("by", "parts"), [("language", ["cs", "en", "hi"]), ("kind", ["number", "(none given)"])])
def test_given_a_breakdown_then_every_question_is_in_one_part(by: str, parts: list[str]) -> None:
    page = opened(a_run())

    page.segmented_control(key="lab_by").set_value(by).run()

    table = rows(page, "part")
    assert table["part"].tolist() == parts
    assert table["questions"].sum() == 10


def test_given_a_run_then_what_no_setting_changes_is_worked_out_once() -> None:
    held = a_run()
    run = recorded(held)
    first = run.wrong

    assert run.wrong is first
    assert first.tolist() == [False, False, True, False, False, False, True, True, True, True]
    judged = run.judge(held["settings"].changed(top_k=3, min_correctness=0.0))
    assert judged.settings.top_k == held["settings"].top_k
    assert judged.outcomes.answered.all()


def test_given_the_curve_over_the_limit_then_it_is_valid_and_every_axis_has_a_title_with_its_unit() -> None:
    """What the page leaves out for speed is done here: Vega-Lite's own schema."""
    spec = json.loads(opened(a_run()).get("vega_lite_chart")[0].proto.spec)

    alt.LayerChart.from_dict(spec, validate=True)
    axes = [layer["encoding"].get(axis, {}) for layer in spec["layer"] for axis in "xy"]
    titles = {axis["title"] for axis in axes if "title" in axis}
    assert len(titles) == 2
    assert all("(" in title or ", " in title for title in titles)
