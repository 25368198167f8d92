"""Runs Plumbline, LangChain and LlamaIndex by turns over the same PDFs, three times, and makes figures of it."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.published import embedded_folder

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / "build" / "peers" / "bin" / "python"  # what `make peers` makes
DONE = ROOT / "build" / "peers" / ".setup-done"
ROUNDS = 3
OURS, PEERS = "plumbline", ("langchain", "llamaindex")
TIMES_AS_FAST = 4.0  # pages a second over those of the faster peer; of the issue that asked for it

Figure = tuple[str, float, float, str]  # name, value, target, unit; the value should be at most the target


@dataclass(frozen=True, slots=True)
class Run:
    """One of them, over all PDFs once: what it took, and the machine's load when it began.

    `cut` passages were longer than the model reads, so that their ends were left out.
    """

    who: str
    pages: int
    passages: int
    seconds: float
    processor: float
    load: float
    cut: int = 0

    @property
    def speed(self) -> float:
        """Pages a second, by the clock on the wall."""
        return self.pages / self.seconds


Runner = Callable[[str, Sequence[Path]], Run]


def run(who: str, pdfs: Sequence[Path]) -> Run:
    """Have one of them index these PDFs in a process of its own.

    Raises:
        RuntimeError: it failed.
    """
    script = [sys.executable, "-m", "tests.bench.peers.ours"]
    if who != OURS:
        script = [str(PYTHON), str(Path(__file__).with_name("frameworks.py")), who, str(embedded_folder())]
    load = os.getloadavg()[0]
    # as Plumbline has it: beside other work, threads that spin while they wait would cost the peers a third more
    calm = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
    ended = subprocess.run([*script, *map(str, pdfs)], cwd=ROOT, env=calm, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"{who} failed:\n{ended.stderr[-2000:]}")
    return Run(who, load=load, **json.loads(ended.stdout.splitlines()[-1]))


def figures(pdfs: Sequence[Path], runner: Runner = run, rounds: int = ROUNDS) -> list[Figure]:
    """Our time for a page over that of the faster peer, which is the target; every run is printed.

    The ratio is that of one round, in which the machine was as busy for all of them as can be; of the rounds the median
    counts. Each round begins with another one.
    """
    everyone = (OURS, *PEERS)
    done: list[dict[str, Run]] = []
    for turn in range(rounds):
        done.append({})
        for who in everyone[turn % 3 :] + everyone[: turn % 3]:
            one = done[-1][who] = runner(who, pdfs)
            print(
                f"  round {turn + 1}, {who:10} {one.speed:6.1f} pages/s, {one.pages} pages, {one.passages} passages, "
                f"{one.cut} cut; "
                f"{one.seconds:6.1f} s, processor time {one.processor:6.1f} s; load {one.load:.1f}",
                flush=True,
            )
    by_clock = statistics.median(max(one[who].speed for who in PEERS) / one[OURS].speed for one in done)
    by_processor = statistics.median(one[OURS].processor / min(one[who].processor for who in PEERS) for one in done)
    print(
        f"  Plumbline is {1 / by_clock:.1f} times as fast as the faster of them, and {1 / by_processor:.1f} times by "
        f"processor time"
    )
    return [("ingest time / the faster of LangChain and LlamaIndex", by_clock, 1 / TIMES_AS_FAST, "x")]
