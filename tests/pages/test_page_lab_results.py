"""The lab's results: rates, curves, breakdowns and the questions that flip, from records alone."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa
import pytest
from builders import claim, draft, measurements, passage
from folding import each
from page_kit import badges, captions, texts
from streamlit.testing.v1 import AppTest

from rag_core.decision.batch import ReplaySet
from rag_core.decision.decide import replay
from rag_core.domain.claims import Citation
from rag_core.domain.drafts import Draft
from rag_core.domain.measurements import KeywordMatch, Measurements, Understanding
from rag_core.evaluation import metrics
from rag_core.evaluation.labelled import LabelledQuestion, Place
from rag_core.evaluation.metrics import Curve, clopper_pearson
from rag_core.records.stored import RunHead
from rag_core.settings import Mode, Settings
from ui.app import tables
from ui.app.texts import say
from ui.ask import export
from ui.lab import flips, plots, sending
from ui.lab import limit as limits_of
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
        "A *note*.",
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
    assert not page.exception
    return page


def moved(page: AppTest, held: dict[str, Any], **values: object) -> AppTest:
    held["settings"] = held["settings"].changed(**values)
    page.run()
    assert not page.exception
    return page


def shown(page: AppTest) -> list[str]:
    return [metric.value for metric in page.metric[4:]]  # the first four count (`test_page_lab_limit`)


def rows(page: AppTest, column: str) -> Any:
    """The table that has this column."""
    return next(table.value for table in page.dataframe if column in table.value)


def pick(page: AppTest, name: str, number: int) -> AppTest:
    """Click a row of the questions: AppTest has no clicks on tables, so what the click leaves behind is written."""
    page.session_state[flips.CHOSEN] = f"q{number}"
    page.run()
    assert not page.exception
    return page


def test_given_a_run_when_opened_then_each_rate_has_its_count_its_exact_interval_and_its_target() -> None:
    """S1-13, S1-14: false refusals, wrong answers, and answers that miss, each against its target."""
    page = opened(a_run())

    assert shown(page) == ["60.0%", "16.7%", "25.0%", "33.3%"]
    interval = clopper_pearson(1, 4)
    assert say("lab_results.of", k=1, n=4, low=interval.low, high=interval.high) in captions(page)
    assert captions(page).count(say("lab_results.target_not_met", target=0.05)) == 2
    assert say("lab_results.target_not_met", target=0.1) in captions(page)


@each(("wrong", "of", "key"), [(0, 50, "open"), (100, 50, "not_met"), (100, 80, "met")])
def test_given_labels_of_one_kind_then_their_target_is_open_met_or_not(wrong: int, of: int, key: str) -> None:
    """As sure as its whole interval: without an error among few labels it is open, and met among enough."""
    records = [measured(0.1 if n >= wrong or key == "met" else 0.9) for n in range(of)]
    page = opened(
        {"questions": [labelled(n, False) for n in range(of)], "records": records, "settings": records[0].settings}
    )

    assert say(f"lab_results.target_{key}", target=0.05) in captions(page)
    assert say("lab_results.no_such") in captions(page)


def test_given_a_moved_slider_then_the_counts_follow_and_the_questions_that_flip_are_listed() -> None:
    held = a_run()
    page = opened(held)
    assert say("lab_results.none_flipped") in captions(page)

    moved(page, held, min_correctness=0.72)

    assert shown(page) == ["50.0%", "16.7%", "0.0%", "33.3%"]
    listed = rows(page, "before")
    assert listed[["question", "before", "now", "right", "reason"]].values.tolist() == [
        ["Question 6?", "answered", "refused", "✓ yes", say("lab_reasons.correctness")]
    ]
    assert [metric.delta for metric in page.metric[4:]] == [
        "-10.0 points against the run",
        "",
        "-25.0 points against the run",
        "",
    ]


def test_given_any_limit_then_the_figures_are_those_of_replay_and_no_more_is_applied() -> None:
    held = a_run()
    page = opened(held)
    for limit in (0.0, 0.3, 0.76, 1.0):
        moved(page, held, min_correctness=limit)
        answered = [replay(one, held["settings"]).answered for one in held["records"]]
        refused = sum(
            not given for given, question in zip(answered, held["questions"], strict=True) if question.answerable
        )

        assert shown(page)[0] == f"{sum(answered) / 10:.1%}"
        assert shown(page)[1] == f"{refused / 6:.1%}"

    before = shown(page)

    moved(page, held, top_k=3, max_sentences=1)

    assert shown(page) == before
    assert say("lab_results.not_applied", n=2) in badges(page)
    assert "How many sources 10 → 3" in texts(page)


def test_given_questions_that_could_not_be_measured_then_they_are_in_no_rate_and_in_a_list_of_their_own() -> None:
    held = a_run()
    held["records"][6] = measured(None, failure="There is no document 'gone.pdf'.")
    page = opened(held)

    assert say("lab_results.not_measured", n=1) in captions(page)
    assert shown(page)[2] == "0.0%"
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


def test_given_a_chosen_question_when_a_slider_moves_then_its_trace_says_what_changed() -> None:
    held = a_run()
    page = pick(opened(held), "all", 2)
    assert "Right answer: 60 days" in texts(page)
    assert "Stands in: contract.pdf, page 1" in texts(page)
    assert len([one for one in page.expander if one.label[:4] in ("1 · ", "2 · ", "3 · ", "4 · ", "5 · ")]) == 5

    moved(page, held, min_correctness=0.9)

    assert "answered → refused" in texts(page)
    page.button(key="lab_close").click().run()
    assert "Right answer: 60 days" not in texts(page)

    pick(page, "all", 0)
    one: Citation = replay(held["records"][0], held["settings"]).citations[0]

    assert f"[1] {one.document}, page {one.page}" in texts(page)


def test_given_a_breakdown_then_every_question_is_in_one_part_and_each_way_to_end_is_counted() -> None:
    page = opened(a_run())
    for by, parts in (("language", ["cs", "en", "hi"]), ("kind", ["number", "(none given)"])):
        page.segmented_control(key="lab_by").set_value(by).run()
        table = rows(page, "part")
        assert table["part"].tolist() == parts
        assert table["questions"].sum() == 10

    page.segmented_control(key="lab_by").set_value("reason").run()

    table = next(table.value for table in page.dataframe if "unanswerable" in table.value)
    assert table.values.tolist() == [["(answered)", 6, 5, 1], [say("lab_reasons.correctness"), 4, 1, 3]]


def test_given_a_run_without_results_then_the_page_says_so() -> None:
    page = opened({"questions": [], "records": [], "settings": Settings.load()})

    assert [info.value for info in page.info] == [say("lab_results.empty")]


@pytest.mark.parametrize("answerable", [True, False])
def test_given_questions_of_one_class_only_then_what_can_be_drawn_is_drawn(answerable: bool) -> None:
    records = [measured(0.9), measured(0.2)]
    page = opened(
        {"questions": [labelled(n, answerable) for n in range(2)], "records": records, "settings": records[0].settings}
    )

    assert say("lab_results.one_class_right") in captions(page)
    page.session_state["lab_score"] = "top_cosine"
    assert say("lab_results.one_class") in captions(page.run())


@each("name", ["top_cosine", "distance", "keywords", "required_entities", "length_ratio", "overlap", "similarity"])
def test_given_another_score_then_its_charts_hold_its_limit(name: str) -> None:
    held = a_run()
    held["records"][0] = measured(
        0.9, keywords=KeywordMatch(("notice",), ("Brno",)), understanding=Understanding("en", entities=("Brno",))
    )
    page = opened(held)

    page.selectbox(key="lab_score").set_value(name).run()

    assert not page.exception
    left_out = 9 if name in ("keywords", "required_entities") else 0  # a check that does not apply has measured nothing
    # no ROC of one question; reliability is for a probability
    assert len(page.get("vega_lite_chart")) == 1 + (2 if left_out else 3)
    assert (say("lab_results.left_out", n=left_out) in captions(page)) is bool(left_out)


def test_given_the_charts_of_a_run_then_each_is_valid_and_every_axis_has_a_title_with_its_unit() -> None:
    """What the page leaves out for speed is done here: Vega-Lite's own schema."""
    drawn = [json.loads(chart.proto.spec) for chart in opened(a_run()).get("vega_lite_chart")]

    assert len(drawn) == 5
    for spec in drawn:
        alt.LayerChart.from_dict(spec, validate=True)
        axes = [layer["encoding"].get(axis, {}) for layer in spec["layer"] for axis in "xy"]
        titles = [axis["title"] for axis in axes if "title" in axis]
        assert len(set(titles)) == 2
        assert all("(" in title or ", " in title for title in titles)


def points(page: AppTest, key: str) -> dict[str, tuple[float, float]]:
    """Where the present settings stand on the chart of this place."""
    chart = page.get("vega_lite_chart")[("lab_limit", "lab_histogram", "lab_risk", "lab_roc").index(key)].proto
    values = [
        row for data in chart.datasets for row in pa.ipc.open_stream(data.data.data).read_pandas().to_dict("records")
    ]
    return {row["what"]: (round(row["x"], 3), round(row["y"], 3)) for row in values if "what" in row}


def test_given_a_second_check_that_refuses_then_the_limit_alone_and_all_checks_stand_apart_on_the_curves() -> None:
    held = a_run()
    held["records"][0] = measured(0.95, drafted=False)  # passes the limit, and is refused for want of a sentence
    page = opened(held)
    alone, together = say("lab_results.this_limit"), say("lab_results.all_checks")

    # right: three of those that pass, and one that is refused
    assert points(page, "lab_roc") == {alone: (0.5, 0.75), together: (0.333, 0.75)}
    # wrong: one unanswerable question, one answer that misses, and by the limit alone the one without a sentence
    assert points(page, "lab_risk") == {alone: (0.6, 0.5), together: (0.5, 0.4)}


def test_given_the_score_of_right_answers_then_its_charts_count_an_answer_that_misses_as_wrong_and_that_of_the_documents_does_not() -> (  # noqa: E501
    None
):
    held = a_run()
    held["records"] = [replace(one, answerability=one.correctness) for one in held["records"]]
    page = opened(held)
    alone = say("lab_results.this_limit")
    ceiling = points(page, "lab_roc")[alone][1]

    page.selectbox(key="lab_score").set_value("answerability").run()

    assert not page.exception
    assert ceiling == 0.8  # of five right ones four pass
    assert points(page, "lab_roc")[alone][1] == 0.833


def test_given_a_long_or_negated_curve_then_it_is_thinned_and_tells_its_limits_as_measured() -> None:
    scores = np.linspace(0, 1, 5000)
    made = metrics.roc_curve(scores, scores > 0.5)
    assert made is not None
    spec = plots.curve(made, "x (%)", "y (%)", None, None)

    points = max(spec["datasets"].values(), key=len)
    assert len(points) <= plots.MAX_POINTS
    assert (points[0]["x"], points[-1]["x"]) == (made.x[0], made.x[-1])

    spec = plots.curve(
        Curve(np.array([-0.2, -0.8]), np.array([0.5, 1.0]), np.array([0.0, 0.5])), "x", "y", (0.5, 0.0), None, sign=-1.0
    )

    points = max(spec["datasets"].values(), key=len)
    assert [point["limit"] for point in points] == [0.2, 0.8]


def test_given_counts_then_the_histogram_has_a_bar_for_each_number_and_loses_no_question() -> None:
    values, answerable = np.array([0.0, 1.0, 1.0, 3.0]), np.array([True, True, False, False])
    spec = plots.histogram(values, answerable, [2.0], "Count, from 0", counts=True, labels=("yes", "no"))

    bars = max(spec["datasets"].values(), key=len)
    assert [(bar["low"], bar["n"]) for bar in bars] == [(-0.5, 1), (0.5, 1), (0.5, -1), (2.5, -1)]


def test_given_a_run_then_what_no_setting_changes_is_worked_out_once() -> None:
    held = a_run()
    run = recorded(held)
    first = run.wrong

    assert run.wrong is first
    assert first.tolist() == [False, False, True, False, False, False, True, True, True, True]
    judged = run.judge(held["settings"].changed(top_k=3, min_correctness=0.0))
    assert judged.settings.top_k == held["settings"].top_k
    assert judged.outcomes.answered.all()


def report(held: dict[str, Any], **values: object) -> str:
    """The report of a run as Markdown, under its settings with these values."""
    now = recorded(held).judge(head(held).settings.changed(**values))
    return export.to_markdown(sending.blocks(head(held), now, limits_of.of_limits(now)))


def test_given_a_run_when_its_report_is_made_then_counts_limits_settings_and_each_wrong_outcome_stand_in_it_as_plain_text(  # noqa: E501
    empty_library: Path,
) -> None:
    made = report(a_run(), min_correctness=0.56)

    assert "At the limit 56 %: 4 right, 2 wrong, 1 wrongly refused, 3 rightly refused" in made
    assert "| 0 % | 5 | 5 | 0 | 0 |" in made
    assert "| 100 % | 0 | 0 | 6 | 4 |" in made
    assert "| 56 % \\(in force\\) | 4 | 2 | 1 | 3 |" in made
    assert "| 86 % \\(suggested\\) | 2 | 0 |" in made
    assert "A \\*note\\*" in made
    wrong, others = made.split(say("lab_report.wrong"))[1].split(say("lab_report.others"))
    # the refused one is the hostile one
    assert [number for number in range(10) if f"Question {number}?" in wrong] == [
        2,
        6,
    ]
    assert [number for number in range(10) if f"Question {number}?" in others] == [0, 1, 3, 7, 8, 9]
    assert "\\[1\\] contract.pdf, page 1" in others
    assert "60 days" in made
    assert "<script>" not in made
    assert "![x]" not in made


def test_given_a_run_without_a_wrong_outcome_or_a_probability_when_its_report_is_made_then_it_says_so(
    empty_library: Path,
) -> None:
    made = report({"questions": [labelled(0, True)], "records": [measured(0.9)]})
    assert say("lab_report.none").rstrip(".") in made
    without = [measured(None)]
    off = without[0].settings.changed(correctness_mode=Mode.OFF)

    made = report({"questions": [labelled(0, True)], "records": without}, correctness_mode=off.correctness_mode)

    assert "At the limit" not in made
    assert say("lab_report.limits") not in made


def test_given_many_wrong_outcomes_when_the_report_is_made_then_the_first_are_listed_and_the_others_counted(
    empty_library: Path,
) -> None:
    made = report({"questions": [labelled(n, False) for n in range(203)], "records": [measured(0.9)] * 203})

    assert made.count(" Question ") - 1 == sending.MAX_LISTED
    assert "And 3 more" in made


def test_given_the_results_when_opened_then_the_report_can_be_saved_under_the_name_of_the_run(
    empty_library: Path,
) -> None:
    page = opened(a_run())

    assert {button.label for button in page.get("download_button")} >= {say("export.pdf"), say("export.markdown")}
