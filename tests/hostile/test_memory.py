"""What the process that serves everybody may take for one file: measured in a process of its own, which plays it
(`parent`).

The limits of the product are 400 MiB for a file that attacks and 1,024 MiB for an ordinary one of 2,000 pages. That
process takes about 190 MiB before it reads anything. Here the files of many pages have at most a third and an eighth of
the size, and what they may take beyond the 190 MiB is a third and an eighth too.
"""

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
EMPTY_MIB = 190
ATTACK_MIB, THIRD_MIB, EIGHTH_MIB = 400, EMPTY_MIB + (400 - EMPTY_MIB) // 3, EMPTY_MIB + (1_024 - EMPTY_MIB) // 8
THIRDS = ("letters.pdf", "cells.pdf", "sentences.pdf", "headings.pdf")
PAGES = 250


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


@pytest.mark.longest
@pytest.mark.timeout(600)
def test_given_small_files_that_ask_for_gigabytes_when_indexed_then_the_process_stays_small_and_goes_on(
    tmp_path: Path,
) -> None:
    """Without columns, streaming and limits the first one took 480 MiB at three times the size; a plain file comes
    last.
    """
    files = {
        "letters.pdf": greedy.letters(5),
        "cells.pdf": greedy.cells(4),
        "sentences.pdf": greedy.sentences(4),
        "headings.pdf": greedy.headings(50),
        "crowded.pdf": greedy.crowded(),
        "outline.pdf": greedy.outline(12_000),
        "title.pdf": greedy.long_title(),
        "lines.txt": b"a\n" * 2_000_000,
        "word.txt": b"a " * 250_000,
        "plain.pdf": greedy.ordinary(3),
    }

    rows = indexed(tmp_path, files)

    for row in rows:
        assert row["peak"] <= (THIRD_MIB if row["name"] in THIRDS else ATTACK_MIB), row
        assert bool(row["passages"]) != bool(row["problems"]), row
    assert rows[-3]["problems"] == ["lines.txt has 2,000,000 lines; at most 200,000 are allowed."]
    assert rows[-1]["passages"] > 0


@pytest.mark.longest
@pytest.mark.timeout(600)
def test_given_an_ordinary_long_file_when_indexed_then_it_is_whole_and_the_process_stays_in_its_share_of_a_gigabyte(
    tmp_path: Path,
) -> None:
    (row,) = indexed(tmp_path, {"long.pdf": greedy.ordinary(PAGES)})

    assert row["problems"] == []
    assert row["passages"] > PAGES
    assert row["peak"] <= EIGHTH_MIB
