"""Pairs of a question with the texts that the product reads for it."""

from __future__ import annotations

import json
import random
from pathlib import Path

from training.mined_pairs import Asked, mined, pairs


def test_given_the_texts_that_were_read_then_those_with_an_answer_are_a_yes() -> None:
    asked = Asked("How long is the warranty?", None, ("24 months",), "en", "made")
    texts = ["The warranty is 24 months. ¶ Pump", "The pump weighs 24 kg. ¶ Warranty of 24 months", "It is blue. ¶ Pump", "long " * 100]

    found = list(pairs(asked, texts, random.Random(1)))

    assert {(pair.text, pair.kind, pair.answers) for pair in found} == {
        (texts[0], "sentence", True), (texts[1], "sentence", False), (texts[2], "sentence", False), (texts[3], "passage", False),
    }  # fmt: skip


def test_given_a_question_without_an_answer_then_two_sentences_are_a_no() -> None:
    asked = Asked("Who made it?", None, (), "en", "made")

    found = list(pairs(asked, [f"Sentence {at}. ¶ Place" for at in range(5)], random.Random(1)))

    assert [pair.answers for pair in found] == [False, False]


def test_given_a_file_of_contexts_then_the_product_reads_them_as_one_library(tmp_path: Path) -> None:
    row = {"question": "How long is the warranty?", "context": "The warranty of the pump is 24 months.", "answers": ["24 months"]}
    place = tmp_path / "set.jsonl"
    place.write_text(json.dumps(row | {"title": "Pump", "lang": "en", "source": "made"}) + "\n", encoding="utf-8")

    found = list(mined(place, 10, random.Random(1)))

    assert ("sentence", True, "mined-made") in {(pair.kind, pair.answers, pair.source) for pair in found}
