"""What the product reads for a question, labelled by whether it holds the answer."""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from pathlib import Path

from training.answers.mined import Question, from_row, labelled, mined


def test_given_the_texts_that_were_read_then_those_with_an_answer_are_a_yes() -> None:
    asked = Question("How long is the warranty?", None, ("24 months",), "en", "made")
    texts = ["The warranty is 24 months. ¶ Pump", "The pump weighs 24 kg. ¶ Warranty of 24 months", "It is blue. ¶ Pump", "long " * 100]

    found = labelled(asked, texts)

    assert found.texts == (
        (texts[0], "sentence", True), (texts[1], "sentence", False), (texts[2], "sentence", False), (texts[3], "passage", False),
    )  # fmt: skip


def test_given_a_question_without_an_answer_then_nothing_is_a_yes_and_it_comes_back_from_a_file_as_it_was() -> None:
    asked = Question("Who made it?", None, (), "en", "made")

    found = labelled(asked, [f"Sentence {at}. ¶ Place" for at in range(5)])

    assert not any(answers for _, _, answers in found.texts)
    assert from_row(json.loads(json.dumps(asdict(found)))) == found


def test_given_a_file_of_contexts_then_the_product_reads_them_as_one_library(tmp_path: Path) -> None:
    row = {"question": "How long is the warranty?", "context": "The warranty of the pump is 24 months.", "answers": ["24 months"]}
    place = tmp_path / "set.jsonl"
    place.write_text(json.dumps(row | {"title": "Pump", "lang": "en", "source": "made"}) + "\n", encoding="utf-8")

    [found] = mined(place, 10, random.Random(1))

    assert found.source == "mined-made en"
    assert ("sentence", True) in {(kind, answers) for _, kind, answers in found.texts}
