"""The memory of batches that tests of pages share: the same numbers bit by bit, and each network's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from remembered import remembering

from rag_core.adapters.embedding.embedded import EmbeddedModel
from rag_core.adapters.embedding.reader import ReaderModel
from rag_core.adapters.embedding.support import SupportModel
from rag_core.domain.passages import Place

TEXTS = ["The pier is 40 m long.", "The harbour master keeps the keys."]
QUESTION, PLACES = "How long is the pier?", [Place("The pier", tuple(TEXTS)), Place("", (TEXTS[1], "", TEXTS[0] * 9))]


def test_given_a_batch_that_was_read_before_when_read_again_then_the_numbers_are_the_same_bit_by_bit_and_no_network_runs(  # noqa: E501
    tmp_path: Path,
) -> None:
    texts = [*TEXTS, *(f"Pier {number} is {number} m long." for number in range(20))]
    plain, said = EmbeddedModel("float32").embed(texts), ReaderModel("float32").read(QUESTION, PLACES)
    with remembering(tmp_path) as counts:
        first = EmbeddedModel("float32").embed(texts), ReaderModel("float32").read(QUESTION, PLACES)
        made = list(counts)
        again = EmbeddedModel("float32").embed(texts), ReaderModel("float32").read(QUESTION, PLACES)

    assert made == [0, 3]  # sixteen texts a batch, and both places in one
    assert counts == [3, 3]
    for vectors, places in (first, again):
        assert np.array_equal(vectors, plain)
        assert places == said
    assert {file.suffix for file in tmp_path.iterdir()} == {""}


def test_given_the_same_texts_when_another_network_another_order_or_other_weights_read_them_then_each_has_its_own(
    tmp_path: Path,
) -> None:
    with remembering(tmp_path) as counts:
        supports = SupportModel("float32").supports([(TEXTS[1], TEXTS[0])])
        changed = SupportModel("float32")
        weights = changed._network._weights
        weights["support.bias"] += 1.0  # type: ignore[index, operator]
        others = changed.supports([(TEXTS[1], TEXTS[0])])
        turned = SupportModel("float32").supports([(TEXTS[0], TEXTS[1])])
        rough = SupportModel("bfloat16").supports([(TEXTS[1], TEXTS[0])])
        EmbeddedModel("float32").embed(TEXTS)
        EmbeddedModel("float32").embed(TEXTS, "query")
        ReaderModel("float32").read(TEXTS[0], [Place("", (TEXTS[1],))])

    assert counts == [0, 7]
    assert abs(others[0] - supports[0] - 1.0) < 1e-4
    assert turned != supports
    assert rough != supports
