"""The memory of batches that tests of pages share: the same numbers bit by bit, and each network's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from remembered import remembering

from rag_core.adapters.embedding.embedded import EmbeddedModel
from rag_core.adapters.embedding.pair_models import AnswerModel, SupportModel

TEXTS = ["The pier is 40 m long.", "The harbour master keeps the keys.", "\ud800 is no letter of its own"]


def test_given_a_batch_that_was_read_before_when_read_again_then_the_numbers_are_the_same_bit_by_bit_and_no_network_runs(
    tmp_path: Path,
) -> None:
    texts = [*TEXTS[:2], *(f"Pier {number} is {number} m long." for number in range(20))]
    plain = EmbeddedModel("float32").embed(texts)
    with remembering(tmp_path) as counts:
        model = EmbeddedModel("float32")
        first = model.embed(texts)
        made = list(counts)
        again = EmbeddedModel("float32").embed(texts)

    assert made == [0, 2]  # sixteen texts a batch
    assert counts == [2, 2]
    assert np.array_equal(first, plain)
    assert np.array_equal(again, plain)
    assert {file.suffix for file in tmp_path.iterdir()} == {""}


def test_given_the_same_texts_when_another_network_another_order_or_other_weights_read_them_then_each_has_its_own(tmp_path: Path) -> None:
    with remembering(tmp_path) as counts:
        answers = AnswerModel("float32").answers(TEXTS[0], [TEXTS[1]])
        supports = SupportModel("float32").supports([(TEXTS[1], TEXTS[0])])
        changed = AnswerModel("float32")
        weights = changed._pairs._model._weights
        weights["answerable.bias"] += 1.0  # type: ignore[index, operator]
        others = changed.answers(TEXTS[0], [TEXTS[1]])
        turned = AnswerModel("float32").answers(TEXTS[1], [TEXTS[0]])

    assert counts == [0, 4]
    assert answers != supports
    assert abs(others[0] - answers[0] - 1.0) < 1e-4
    assert turned != answers
