"""What the process that serves everybody may take for one file: measured in a process of its own, which plays it (`parent`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import greedy
import pytest

HERE = Path(__file__).parent
ATTACK_MIB, ORDINARY_MIB = 400, 1_024


def indexed(folder: Path, files: dict[str, bytes]) -> list[dict[str, Any]]:
    for name, data in files.items():
        (folder / name).write_bytes(data)
    ran = subprocess.run(
        [sys.executable, str(HERE / "parent.py"), str(folder / "library"), *(str(folder / name) for name in files)],
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        text=True,
        timeout=590,
    )
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [row["name"] for row in rows] == list(files), ran.stderr[-2_000:]
    return rows


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_given_small_files_that_ask_for_gigabytes_when_indexed_then_the_process_stays_small_and_goes_on(tmp_path: Path) -> None:
    """Without columns, streaming and limits the first one took 480 MiB; a plain file comes last."""
    files = {
        "letters.pdf": greedy.letters(30),
        "crowded.pdf": greedy.crowded(),
        "cells.pdf": greedy.cells(12),
        "sentences.pdf": greedy.sentences(12),
        "headings.pdf": greedy.headings(150),
        "outline.pdf": greedy.outline(12_000),
        "title.pdf": greedy.long_title(),
        "lines.txt": b"a\n" * 2_000_000,
        "word.txt": b"a " * 500_000,
        "plain.pdf": greedy.ordinary(3),
    }

    rows = indexed(tmp_path, files)

    for row in rows:
        assert row["peak"] <= ATTACK_MIB, row
        assert bool(row["passages"]) != bool(row["problems"]), row
    assert rows[7]["problems"] == ["lines.txt has 2,000,000 lines; at most 200,000 are allowed."]
    assert rows[-1]["passages"] > 0


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_given_an_ordinary_file_of_2000_pages_when_indexed_then_it_is_whole_and_the_process_stays_below_a_gigabyte(tmp_path: Path) -> None:
    (row,) = indexed(tmp_path, {"long.pdf": greedy.ordinary(2_000)})

    assert row["problems"] == []
    assert row["passages"] > 2_000
    assert row["peak"] <= ORDINARY_MIB
