"""Sets over held-out contexts: a question with its context can be answered, without it not."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from training.files import split_of
from training.held_out import Found, held_out
from training.reader.rows import HELD

ROWS: list[dict[str, Any]] = [
    {
        "question": f"What is the number of place {n}?",
        "context": f"Place {n} has the number {n}{n}{n}. " + "Many people come here in summer, and few in winter. " * 3,
        "answers": [f"{n}{n}{n}"],
        "lang": "de" if n % 3 == 0 else "en",
        "context_lang": "en",
        "title": f"Region_{n // 50}",
        "source": "made",
    }
    for n in range(5000)
]


def numbers(text: str) -> list[str]:
    return re.findall(r"\d+", text)  # no slip touches them


@pytest.fixture(scope="module")
def sets() -> dict[str, Found]:
    return held_out(ROWS, 12, random.Random(1))


def test_given_rows_when_sets_are_made_then_each_language_pair_has_one_among_many_and_one_alone(
    sets: dict[str, Found],
) -> None:
    assert sorted(sets) == ["held-en", "held-x-en", "short-held-en", "short-held-x-en"]
    assert all(len({row["question"] for row in found["questions"]}) == 12 for found in sets.values())


def test_given_a_question_when_asked_then_its_context_is_held_out_and_is_searched_only_where_it_is_to_be_answered(
    sets: dict[str, Found],
) -> None:
    for name, found in sets.items():
        texts = {one["id"]: one["text"] for one in found["documents"]}
        for asked, gold in zip(found["questions"], found["gold"], strict=True):
            row = next(one for one in ROWS if numbers(one["question"]) == numbers(asked["question"]))
            there = [id for id in asked["documents"] if texts[id] == row["context"]]
            assert bool(there) is gold["answerable"] is (gold["id"] == asked["id"] and asked["id"].endswith("-with"))
            assert split_of(row["context"], HELD) == "held"
            assert (len(asked["documents"]) == 1) is name.startswith("short")


def test_given_an_answer_that_stands_in_a_text_of_the_same_title_then_nobody_is_asked_without_the_context() -> None:
    alike = [{**row, "answers": ["summer"], "title": "Region"} for row in ROWS]

    found = held_out(alike, 12, random.Random(1))["held-en"]

    assert {row["answerable"] for row in found["gold"]} == {True}
