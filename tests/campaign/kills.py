"""Part 2: a process that indexes, resumes, rebuilds, deletes or answers is killed at random moments.

What it confirmed must be there.
"""

from __future__ import annotations

import os
import queue
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from library_kit import SETTINGS, check_whole, library

from rag_core.adapters.records.store import FILE, RecordStore
from tests.campaign import ROOT
from tests.campaign.processes import end, seconds_alive
from tests.campaign.table import Table

PART = "Kills"
ORPHAN_SECONDS = 2.0
MAX_DOCUMENTS = 14
PATIENCE_SECONDS = 300.0  # for an operation that nobody kills


@dataclass
class Known:
    """What the victims confirmed. `may`: names of the operation that was killed, which may be there or not."""

    must: set[str] = field(default_factory=set)
    may: set[str] = field(default_factory=set)
    questions: dict[int, str] = field(default_factory=dict)
    said: set[int] = field(default_factory=set)

    def hear(self, word: str, *rest: str) -> None:
        """One line of a victim."""
        if word in ("add", "delete"):
            self.may = set(rest)
        elif word == "added":
            self.must |= set(rest)
            self.may = set()
        elif word == "deleted":
            self.must -= set(rest)
            self.may = set()
        elif word == "kept":
            self.questions[int(rest[0])] = " ".join(rest[1:])
        elif word == "said":
            self.said.add(int(rest[0]))


class Victims:
    """The process that forks victims, and what they say."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.campaign.victim", str(folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        self._lines: queue.Queue[list[str]] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.put(line.split())

    def run(
        self, operation: str, number: int, known: Known, after: float | None, *, children_too: bool
    ) -> tuple[str, float, float]:
        """Start an operation, and kill it after so many seconds; None lets it end.

        Gives how it ended ("0", "-9", or what failed), how long it ran, and how long its processes lived on.
        """
        assert self._process.stdin
        self._process.stdin.write(f"{operation} {number}\n")
        self._process.stdin.flush()
        word, id = self._lines.get(timeout=PATIENCE_SECONDS)
        assert word == "go"
        started, alive, failed = time.monotonic(), 0.0, ""
        deadline = started + (PATIENCE_SECONDS if after is None else after)
        killed = False
        while True:
            try:
                word, *rest = self._lines.get(
                    timeout=max(0.0, deadline - time.monotonic()) if not killed else PATIENCE_SECONDS
                )
            except queue.Empty:
                below = end(int(id), children_too=children_too)
                alive, killed = seconds_alive(below, ORPHAN_SECONDS), True
                continue
            if word == "exit":
                return failed or rest[0], time.monotonic() - started, alive
            if word == "failed":
                failed = " ".join(rest)
            known.hear(word, *rest)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def run(table: Table, *, kills: int, seed: int, seconds: float) -> None:
    """Kill so often, and look at what is left each time."""
    draw, failures = random.Random(seed), []
    ended: Counter[str] = Counter()
    longest, begun = 0.0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="campaign-") as scratch:
        folder, known = Path(scratch) / "library", Known()
        victims = Victims(folder)
        usual = {
            operation: victims.run(operation, number, known, None, children_too=False)[1]
            for number, operation in enumerate(OPERATIONS)
        }
        number = len(usual)
        while ended.total() < kills and time.monotonic() - begun < seconds:
            number += 1
            if len(known.must) > MAX_DOCUMENTS:
                victims.run("delete", number, known, None, children_too=False)
            operation = draw.choice(OPERATIONS)
            moment = draw.uniform(0, 1.1 * usual[operation])
            how, took, alive = victims.run(operation, number, known, moment, children_too=draw.random() < 0.5)
            if how == "-9":
                ended[operation] += 1
            elif how != "0":
                failures.append(f"{operation} {number}: {how}")
            else:
                usual[operation] = (usual[operation] + took) / 2
            longest = max(longest, alive)
            finish = operation == "resume" or draw.random() < 0.6  # otherwise the next victim finds what this one left
            failures += [
                f"{operation} {number}, killed after {moment:.2f} s: {what}"
                for what in look(folder, known, finish=finish)
            ]
        victims.close()
    table.count(PART, f"kills at random moments (seed {seed})", ended.total())
    table.counts(PART, ended, "of them during: ")
    table.zero(PART, "lost, half there, not opened, not finished, left over", failures)
    table.at_most(PART, "longest life of a child after its parent, seconds", longest, ORPHAN_SECONDS)


def look(folder: Path, known: Known, *, finish: bool) -> list[str]:
    """What is not as it must be; `finish` resumes, as the next writer would. Afterwards `known` is what is there."""
    wrong: list[str] = []
    try:
        opened = library(folder)
        names, waiting = (
            {document.name for document in opened.snapshot.documents},
            {row.name for row in opened.unfinished()},
        )
        if not known.must - known.may <= names:
            wrong.append(f"lost: {sorted(known.must - known.may - names)}")
        if not names <= known.must | known.may:
            wrong.append(f"nobody added: {sorted(names - known.must - known.may)}")
        check_whole(opened)
        known.must, known.may = names, set(waiting)
        if finish:
            report = opened.resume(SETTINGS)
            now = {document.name for document in opened.snapshot.documents}
            wrong += [f"resume: {error.problem}" for _, error in report.problems]
            if opened.unfinished() or now != names | waiting:
                wrong.append(
                    f"resume left {[row.name for row in opened.unfinished()]}, and {sorted(now ^ (names | waiting))} "
                    f"are not right"
                )
            check_whole(opened)
            wrong += [
                f"left over: {path.relative_to(folder)}"
                for path in (*folder.rglob("*.tmp"), *(one for work in folder.glob("*/work") for one in work.glob("*")))
            ]
            known.must, known.may = now, set()
        wrong += _records(folder, known)
    except Exception as error:
        wrong.append(f"{type(error).__name__}: {error}")
    return wrong


def _records(folder: Path, known: Known) -> list[str]:
    store = RecordStore(folder / "default" / FILE)
    try:
        there = {row.id: row.question for row in store.decisions(1_000_000)}
        words = {row.decision for row in store.feedback()}
        lost = [
            f"question {id} is lost or changed" for id, question in known.questions.items() if there.get(id) != question
        ]
        for id in list(there)[:8]:
            store.measurements(id)
        return lost + [f"the word on question {id} is lost" for id in known.said - words]
    finally:
        store.close()


OPERATIONS = ("index", "resume", "rebuild", "delete", "ask")
