"""The report of how well scans are read: what it counts, and how it asks an engine."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from rag_core.ingest.pdf_worker.rows import packed
from reports import scans
from reports.scans import Tally, by_engine, plain


def test_given_words_in_another_order_then_none_is_missing_and_what_is_read_nowhere_is() -> None:
    tally = Tally()

    tally.add("one three two".split(), "one two three four".split(), 1.0)

    assert (tally.wrong_words, tally.missing_words, tally.words) == (2, 1, 4)
    assert str(tally).endswith("50.0% / 25.0%")


def test_given_a_page_when_asked_of_an_engine_then_it_is_asked_as_the_product_asks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def recognise(request: dict[str, Any], data: bytes) -> dict[str, object]:
        asked.update(request, pixels=len(zlib.decompress(data)))
        return {"text": "ﬁve °C", **packed([[0, 3, 0, 0, 9, 9, 0.9], [4, 6, 9, 0, 18, 9, 0.5]], [])}

    monkeypatch.setattr(scans, "look", lambda request, data: {"script": "Latin", "text": ""})
    monkeypatch.setattr(scans, "recognise", recognise)
    with pymupdf.open() as document:
        words, _ = by_engine(72, "/weights")(document.new_page(width=40, height=20))

    assert words == [("five", 0.9), ("°C", 0.5)]
    assert (asked["weights"], asked["pixels"], asked["dpi"]) == ("/weights", 800, 72)
    assert plain("ﬂow") == "flow"
