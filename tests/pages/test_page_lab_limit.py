"""The lab's screen for somebody who is no statistician: counts at a limit, a limit for a price in words, and one click
to use it.
"""

from __future__ import annotations

import pytest
from folding import each
from page_kit import badges, captions
from test_page_lab_results import a_run, measured, opened

from rag_core.evaluation.report import Effect, Rate, Tradeoff
from rag_core.records import DELETED
from rag_core.settings import Mode
from ui.app.texts import say
from ui.lab import limit


def test_given_a_run_when_opened_then_four_counts_and_a_limit_with_its_price_in_words_come_first() -> None:
    page = opened(a_run())

    assert [(metric.label, metric.value) for metric in page.metric[:4]] == [
        ("Right", "4"),
        ("Wrong", "2"),
        ("Wrongly refused", "1"),
        ("Rightly refused", "3"),
    ]
    assert "At **86 %** you answer 2 of 10 and none of those was wrong here." in badges(page)
    assert say("lab_limit.unlabelled", n=3) in captions(page)


def test_given_more_wrong_ones_accepted_then_a_lower_limit_is_suggested_and_none_where_it_cannot_be_kept() -> None:
    held = a_run()
    page = opened(held)

    page.number_input(key="lab_accepted").set_value(40).run()
    assert "At **21 %** you answer 8 of 10 and about 3 of those are wrong." in badges(page)

    held["questions"] = [one for one in held["questions"] if not one.answerable]
    held["records"] = held["records"][6:]
    del held["recorded"], held["run"]
    assert say("lab_limit.suggest_none") in badges(opened(held))


def test_given_a_run_without_a_probability_then_the_counts_stand_and_no_limit_is_suggested() -> None:
    held = a_run()
    held["records"] = [measured(None) for _ in held["records"]]
    page = opened(held)

    assert say("lab_limit.no_probability") in captions(page)
    assert [button.key for button in page.button if button.key == "lab_apply_limit"] == []


def test_given_a_suggested_limit_when_used_then_it_is_the_setting_and_its_check_refuses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values: dict[str, object] = {}
    monkeypatch.setattr(limit, "set_knob", values.__setitem__)

    limit._apply(0.86)

    assert values == {"min_correctness": 0.86, "correctness_mode": Mode.ENFORCE}


@each(
    ("found", "words"),
    [
        (Effect(122, 4, 40, 34), "At **82 %** you answer 63 of 100 and about 2 of those are wrong."),
        (Effect(122, 2, 42, 34), "At **82 %** you answer 62 of 100 and about 1 of those is wrong."),
        (Effect(800, 1, 100, 99), "At **82 %** you answer 80 of 100 and fewer than one of those is wrong."),
        (Effect(10, 0, 5, 5), "At **82 %** you answer 10 of 20 and none of those was wrong here."),
    ],
)
def test_given_counts_then_the_price_is_a_sentence_about_a_hundred_questions(found: Effect, words: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        said: list[str] = []
        patch.setattr(limit.st, "markdown", said.append)
        limit._show_price(0.82, found)

    right = Rate(found.right, found.answered)
    assert said == [words, say("lab_limit.suggest_bound", k=right.k, n=right.n, low=right.interval.low)]


def test_given_few_questions_then_headline_and_counts_say_how_little_is_known() -> None:
    page = opened(a_run())

    assert "2 of 2 right here; at 95 % confidence at least 16 %." in badges(page)
    assert "12 % to 74 % at 95 % confidence" in captions(page)  # of 4 of 10


def test_given_answers_whose_document_was_deleted_since_then_they_are_in_no_count_and_the_page_says_how_many() -> None:
    held = a_run()
    held["records"][2] = measured(0.85, DELETED)  # it had missed the right answer
    held["records"][3] = measured(0.8, DELETED)  # its right answer was never labelled

    page = opened(held)

    assert [metric.value for metric in page.metric[:4]] == ["4", "1", "1", "3"]
    assert say("lab_limit.of", n=9) in captions(page)
    assert say("lab_limit.lost", n=1) in captions(page)
    assert say("lab_limit.lost", n=1) not in captions(opened(a_run()))


def test_given_two_limits_near_each_other_then_their_words_stand_above_the_curves_on_lines_of_their_own() -> None:
    found = Tradeoff((0.0, 0.5, 1.0), (Effect(6, 4, 0, 0), Effect(4, 1, 2, 3), Effect(1, 1, 5, 3)))

    words = [layer for layer in limit.curve(found, 0.5, 0.52)["layer"] if layer["mark"]["type"] == "text"]

    assert [layer["encoding"]["y"] for layer in words] == [{"value": 0}, {"value": 0}]
    assert words[1]["mark"]["dy"] + limit.WORD_ROOM == words[0]["mark"]["dy"] < 0
    assert [layer["mark"]["align"] for layer in words] == ["left", "left"]
    late = [layer for layer in limit.curve(found, 0.9, None)["layer"] if layer["mark"]["type"] == "text"]
    assert [layer["mark"]["align"] for layer in late] == ["right"]
