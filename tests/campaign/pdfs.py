"""Part 1: damaged and crafted PDFs through the real path: child process, passages, library.

A reader plays the process that serves all.
"""

from __future__ import annotations

import json
import selectors
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.campaign import ROOT
from tests.campaign.seeds import write_seeds
from tests.campaign.table import Table

PART = "PDFs"
HANG_SECONDS = 1_200.0  # the reader's own limit is 900 s of wall time
LOST = 0.1  # share of the words
PEAK_MIB = 400


class Reader:
    """A reader process; started again when it ended or hung."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._command = [sys.executable, "-m", "tests.campaign.reader", str(folder), str(seed)]
        self._process: subprocess.Popen[str] | None = None

    def read(self, number: int) -> dict[str, Any]:
        """What became of the copy of this number; `crash` or `hang` where the reader did not say."""
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        process = self._process
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"{number}\n")
        process.stdin.flush()
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ)
            said = process.stdout.readline() if ready.select(HANG_SECONDS) else None
        if said:
            return dict(json.loads(said))
        self.close()
        return {"number": number, "hang" if said is None else "crash": True}

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process = None


def read_all(folder: Path, seed: int, count: int, workers: int, seconds: float) -> Iterator[dict[str, Any]]:
    """The copies 0 to `count`, by so many readers at once; no new one is begun after `seconds`."""
    deadline = time.monotonic() + seconds
    numbers, drawing = iter(range(count)), threading.Lock()

    def share(_: int) -> list[dict[str, Any]]:
        reader, rows = Reader(folder, seed), []
        while time.monotonic() < deadline:
            with drawing:
                number = next(numbers, None)
            if number is None:
                break
            rows.append(reader.read(number))
            if number % 100 == 0:
                print(f"{number} of {count} copies, {time.monotonic() - deadline + seconds:.0f} s", flush=True)
        reader.close()
        return rows

    with ThreadPoolExecutor(workers) as pool:
        for rows in pool.map(share, range(workers)):
            yield from rows


def run(table: Table, *, count: int, seed: int, more: Path | None, workers: int, seconds: float) -> None:
    """Count what became of so many copies."""
    folder = ROOT / "build/campaign/seeds"
    seeds = write_seeds(folder, more)
    rows = list(read_all(folder, seed, count, workers, seconds))
    log = ROOT / "build/campaign/pdfs.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    table.count(PART, f"copies of {len(seeds)} files (seed {seed})", len(rows))
    table.count(PART, "read", sum("read" in row for row in rows))
    table.counts(PART, Counter(row["refused"] for row in rows if "refused" in row), "refused: ")
    table.counts(PART, Counter(row["limit"] for row in rows if row.get("limit")), "ended by a limit: ")
    for what in ("raw", "crash", "hang"):
        table.zero(
            PART,
            MUST_NOT[what],
            [f"{row['number']} {row.get('name')} {row.get('kinds')}: {row[what]}" for row in rows if what in row],
        )
    table.count(
        PART, "longest reading, seconds", max((row["seconds"] for row in rows if "seconds" in row), default=0.0)
    )
    peaks = [row["peak"] for row in rows if "peak" in row]
    table.at_most(PART, "peak of the process that serves all, MiB", max(peaks, default=0), PEAK_MIB)
    known = [row for row in rows if "lost" in row]
    lost = [row for row in known if row["lost"] > LOST]
    silent = [f"{row['number']} {row['name']} {row['kinds']}: {row['lost']:.0%}" for row in lost if not row["noted"]]
    table.count(PART, "read, damaged by bytes only, text of the original known", len(known))
    table.count(PART, "of them lost more than a tenth of their words", len(lost))
    table.count(PART, "of them without a note", len(silent))
    table.notes.extend(f"lost without a note: {line}" for line in silent[:20])


MUST_NOT = {"raw": "raw exceptions of the process that serves all", "crash": "crashes of it", "hang": "hangs of it"}
