"""The report of how well scans are read: what it counts, and how it asks RapidOCR."""

from __future__ import annotations

import sys
from pathlib import Path

import pymupdf
import pytest

from reports.scans import Tally, by_rapidocr

FAKE = """
import os
from types import SimpleNamespace
import numpy as np

class RapidOCR:
    def __call__(self, path, use_cls=True):
        told = f"{use_cls}{os.environ.get('ORT_DISABLE_TELEMETRY')}"
        lines = [(500, 60, "four"), (0, 50, "three"), (0, 0, told), (500, 10, "two")]  # a page askew: of a row the right end lies lower
        boxes = [np.array([[x, y], [x + 400, y + 8], [x + 400, y + 38], [x, y + 30]], float) for x, y, _ in lines]
        return SimpleNamespace(boxes=boxes, txts=[text for _, _, text in lines])
"""


def test_given_words_in_another_order_then_none_is_missing_and_what_is_read_nowhere_is() -> None:
    tally = Tally()

    tally.add("one three two".split(), "one two three four".split(), 1.0)

    assert (tally.wrong_words, tally.missing_words, tally.words) == (2, 1, 4)
    assert str(tally).endswith("50.0% / 25.0%")


def test_given_a_page_askew_when_asked_of_rapidocr_then_rows_are_in_order_without_its_classifier_or_telemetry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rapidocr.py").write_text(FAKE, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    with pymupdf.open() as document, by_rapidocr(sys.executable, 72) as read:
        words, _ = read(document.new_page(), tmp_path / "page.png")

    assert [text for text, _ in words] == ["False1", "two", "three", "four"]
