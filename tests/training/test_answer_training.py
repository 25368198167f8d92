"""The answerability model is fitted, judged and written on texts made here, on the processor."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file

from rag_core.adapters.embedding.pair_models import ANSWERABILITY_FILE, AnswerModel
from training.answers.model import main


def test_given_rows_then_a_network_is_written_that_the_product_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {
            "question": f"When was bridge {n} opened?", "context": f"Bridge {n} was opened in {1900 + n}. It is long.",
            "answers": [str(1900 + n)], "source": "made", "lang": "en", "title": "Bridges",
        }
        for n in range(60)
    ]  # fmt: skip
    source, out = tmp_path / "made.jsonl", tmp_path / "made.safetensors"
    source.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    given = [str(source), "--seconds", "2", "--tokens", "512", "--device", "cpu", "--start", str(ANSWERABILITY_FILE), "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["model", *given])

    main()

    said = AnswerModel("float32", out).answers("When was bridge 7 opened?", ["Bridge 7 was opened in 1907.", "It is long."])
    assert said[0] > said[1]
    assert load_file(out).keys() == load_file(ANSWERABILITY_FILE).keys()
