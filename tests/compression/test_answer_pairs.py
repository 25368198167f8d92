"""Pairs to train the answerability model on: what is a yes, what is a no, and that a context is held out whole."""

from __future__ import annotations

import json
import random
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from folding import each

from rag_core.compression.selection import MARK, reading
from training.answer_pairs import EMPTY, NEAR, SAME, Pair, Source, cut, main

CONTEXT = "The Ardun bridge was opened in 1931. It is 412 metres long. The toll for a car is 3 pounds. Ships pass below it."
OTHER = "The Ardun harbour was dug in 1902. Its cranes are red."


def row(question: str = "When was the Ardun bridge opened?", answers: tuple[str, ...] = ("1931",), **fields: Any) -> dict[str, Any]:
    given = {"question": question, "context": CONTEXT, "answers": list(answers), "source": "made", "lang": "en", "title": "Ardun"}
    return {**given, **fields}


def pairs(*rows: dict[str, Any], seed: int = 0) -> list[Pair]:
    return list(Source(list(rows)).pairs(random.Random(seed)))


def sentence(pair: Pair) -> str:
    return pair.text.split(f" {MARK} ")[0]


def test_given_a_place_and_a_sentence_before_then_the_sentence_itself_stands_first_and_nothing_empty_is_marked() -> None:
    assert reading("It is long.", "Ardun", "It was opened.") == "It is long. ¶ Ardun ¶ It was opened."
    assert reading("It is long.", "", "") == "It is long."
    assert [unit.before for unit in cut(OTHER, "en")] == ["", "The Ardun harbour was dug in 1902."]


@each("seed", range(12))
def test_given_an_answer_then_its_sentence_is_a_yes_and_sentences_without_it_are_a_no(seed: int) -> None:
    found = pairs(row(), row("When was the harbour dug?", ("1902",), context=OTHER), seed=seed)

    of = [pair for pair in found if "bridge" in pair.question and pair.kind == "sentence"]
    yes, no = ([sentence(pair) for pair in of if pair.answers is wanted] for wanted in (True, False))
    assert yes == ["The Ardun bridge was opened in 1931."]
    assert 1 <= len(no) <= SAME + NEAR
    assert not any("1931" in text for text in no)
    for pair in found:
        assert pair.question.endswith("?")
        assert pair.kind == "sentence" or pair.answers == (("bridge" in pair.question) == ("bridge" in pair.text))


def test_given_no_answer_then_the_likest_sentences_are_a_no_and_an_answer_over_two_sentences_is_left_out() -> None:
    nowhere = pairs(row("How long is the Ardun toll?", (), answerable=False))
    across = pairs(row(answers=("1931. It is 412",), answerable=True))

    assert [pair.answers for pair in nowhere if pair.kind == "sentence"] == [False] * EMPTY
    assert sentence(nowhere[-1]) in CONTEXT
    assert across == []


def test_given_units_and_which_of_them_answer_then_no_text_is_cut() -> None:
    units = ["Bolt | 5", "Nut | 7", "Washer | 1"]
    of = {"question": "What does a nut cost?", "units": units, "gold": [1], "source": "tables", "lang": "en", "title": ""}

    found = [pair for pair in pairs(of) if pair.kind == "sentence"]

    assert [sentence(pair) for pair in found if pair.answers] == ["Nut | 7"]
    assert {sentence(pair) for pair in found} <= set(units)


def test_given_many_contexts_then_each_is_in_one_split_and_some_are_held_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        row(question, ("1931",), context=f"Bridge number {n} was opened in 1931. It is long.")
        for n in range(200) for question in (f"When was bridge {n} opened?", f"Which year saw bridge {n}?")
    ]  # fmt: skip
    source, out = tmp_path / "made.jsonl", tmp_path / "pairs.jsonl"
    source.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["answer_pairs", str(out), str(source)])

    main()

    split = defaultdict(set)
    found = [Pair(**json.loads(line)) for line in out.read_text(encoding="utf-8").splitlines()]
    for pair in found:
        if pair.answers and pair.kind == "sentence":
            split[sentence(pair)].add(pair.split)
    assert all(len(splits) == 1 for splits in split.values())
    held = sum(splits == {"held"} for splits in split.values())
    assert 0 < held < len(split) / 5
