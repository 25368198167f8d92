"""Part 5: small files that ask for gigabytes, each in a process of its own that plays the one that serves everybody."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.campaign import ROOT
from tests.campaign.table import Table

PART = "Memory"
ATTACK_MIB, ORDINARY_MIB = 400, 1_024
PLAYER = ROOT / "tests/hostile/parent.py"


def attacks() -> dict[str, Callable[[], bytes]]:
    """The files by name."""
    import greedy
    import make

    found: tuple[Any, ...] = (
        *(greedy.letters, greedy.crowded, greedy.rows, greedy.cells, greedy.sentences, greedy.headings),
        *(greedy.different_words, greedy.outline, greedy.long_title, make.text_bomb),
    )
    lines: dict[str, Callable[[], bytes]] = {
        "lines.txt": lambda: b"a\n" * 2_000_000,
        "word.txt": lambda: b"a " * 1_000_000,
    }
    return {f"{one.__name__}.pdf": one for one in found} | lines


def run(table: Table) -> None:
    """The peak of each, in MiB."""
    import greedy

    peaks, wrong = {}, []
    for name, write in attacks().items():
        row = _indexed(name, write())
        peaks[name] = row.get("peak", 0)
        if "peak" not in row or bool(row["passages"]) == bool(row["problems"]):
            wrong.append(f"{name}: {row}")
    table.counts(PART, {f"peak for {name}, MiB": peak for name, peak in peaks.items()})
    table.at_most(PART, "largest peak for an attack file, MiB", max(peaks.values()), ATTACK_MIB)
    long = _indexed("long.pdf", greedy.ordinary())
    table.at_most(PART, "peak for an ordinary file of 2,000 pages, MiB", long.get("peak", 1 << 20), ORDINARY_MIB)
    wrong += [] if long.get("passages") else [f"long.pdf: {long}"]
    table.zero(PART, "neither read nor refused by name", wrong)


def _indexed(name: str, data: bytes) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="campaign-") as scratch:
        file = Path(scratch) / name
        file.write_bytes(data)
        ran = subprocess.run(
            [sys.executable, str(PLAYER), f"{scratch}/library", str(file)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    return dict(rows[0]) if rows else {"error": ran.stderr[-500:]}
