"""Tables of filings as texts with questions, and the weight of a row beside log odds that are held."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from training.fit_rows import weight
from training.table_reports import from_finqa, from_tatqa, set_right, written

PAGE = {
    "id": "Single_ABC/2009/page_28.pdf-3",
    "doc": {
        "pre_text": "sales rose 14% ( 14 % ) from $ 5 .",
        "post_text": "see note 2 .",
        "table": {
            "2009": {"total sales": 1234.0, "net loss": -10.5},
            "2008": {"total sales": 1000.0, "net loss": -3.0},
        },
    },
}
TATQA = {
    "table": {"table": [["", "2019", "2018"], ["Cash", "$ 12", "10"], ["Assets:", "", ""], ["Other", "3", "4"]]},
    "paragraphs": [{"order": 2, "text": "Second."}, {"order": 1, "text": "First."}],
    "questions": [
        {"question": "How much is Cash in 2019?", "answer_type": "span", "answer": ["$ 12"]},
        {"question": "In which year was Cash the largest?", "answer_type": "span", "answer": ["2019"]},
        {"question": "What is the change in Cash?", "answer_type": "arithmetic", "answer": 2},
        {"question": "How many rows?", "answer_type": "count", "answer": 2},
    ],
}


def test_given_a_page_of_a_filing_then_its_cells_are_asked_for_by_label_and_period(tmp_path: Path) -> None:
    for name, id in (("doc1", PAGE["id"]), ("doc2", "Double_ABC/2009/page_28.pdf")):  # one page twice
        (tmp_path / f"{name}.json").write_text(json.dumps(PAGE | {"id": id}), encoding="utf-8")

    (one,) = from_finqa(tmp_path, None)

    assert one.cells[::2] == ("Total sales | 2009 : 1,234", "Net loss | 2009 : (10.5)")
    assert one.text == "Sales rose 14% from $5.\nSee note 2."
    assert {question.kind for question in one.questions} == {"stated", "computed"}
    assert all(any(year in question.text for year in ("2008", "2009")) for question in one.questions)


def test_given_what_people_asked_then_look_ups_that_stand_alone_are_taken(tmp_path: Path) -> None:
    (tmp_path / "doc1.json").write_text(json.dumps(PAGE), encoding="utf-8")
    asked = tmp_path / "asked.csv"
    head = "conv_questions_x,q_order,turn_program,conv_answers,report_id_x"
    turns = (
        "what were sales?,0,1234,1234",
        "and what were those in 2008?,1,1000,1000",
        'what is the change?,2,"subtract(1, 2)",234',
    )
    asked.write_text("\n".join([head, *(f"{turn},{PAGE['id']}" for turn in turns)]), encoding="utf-8")

    (one,) = from_finqa(tmp_path, asked)

    assert [(q.text, q.answers) for q in one.questions if q.source == "convfinqa"] == [
        ("what were sales?", ("1234", "1,234"))
    ]


def test_given_a_table_of_tatqa_then_rows_keep_their_section_and_the_highest_of_several_is_not_asked_for(
    tmp_path: Path,
) -> None:
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([TATQA]), encoding="utf-8")

    (one,) = from_tatqa([path])

    assert one.cells == (
        "Cash | 2019 : $ 12",
        "Cash | 2018 : 10",
        "Assets > Other | 2019 : 3",
        "Assets > Other | 2018 : 4",
    )
    assert one.text == "First.\nSecond."
    assert [(q.text, q.answers, q.kind) for q in one.questions] == [
        ("How much is Cash in 2019?", ("$ 12", "12"), "stated"),
        ("What is the change in Cash?", ("2",), "computed"),
    ]


def test_given_numbers_and_split_words_then_they_are_written_as_a_filing_does() -> None:
    assert [written(value) for value in ("n/a", 1234.0, -1234.5, 7)] == ["n/a", "1,234", "(1,234.5)", "7"]
    assert (
        set_right("the company 2019s sales ( net ) were $ 5 . they rose")
        == "The company 's sales (net) were $5. They rose"
    )


def test_given_log_odds_that_are_held_then_the_weight_is_what_they_lack() -> None:
    draw = np.random.default_rng(1)
    x, offset = draw.uniform(0, 1, 4000), draw.normal(0, 1, 4000)
    y = (draw.uniform(0, 1, 4000) < 1 / (1 + np.exp(-(offset + 2.0 * x - 1.0)))).astype(float)

    assert weight(x, offset, y, intercept=True) == (pytest.approx(2.0, abs=0.3), pytest.approx(-1.0, abs=0.2))
    assert weight(x, offset + 2.0 * x - 1.0, y, intercept=False)[0] == pytest.approx(0.0, abs=0.2)
