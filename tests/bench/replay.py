"""Judging 5,000 recorded questions again under other thresholds, as a slider of the lab does."""

from __future__ import annotations

import itertools
import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from rag_core.decision.batch import ReplaySet, replay_many
from rag_core.domain.measurements import Measurements
from rag_core.engine import Engine
from rag_core.settings import Settings

QUESTIONS = Path(__file__).resolve().parents[2] / "data" / "questions.jsonl"
MANY, MEASURED, TIMES = 5000, 50, 40


def measured(engine: Engine, settings: Settings) -> list[Measurements]:
    """Cases of labelled questions in all their languages, taken evenly from the file."""
    rows = QUESTIONS.read_text(encoding="utf-8").splitlines()
    return [engine.measure(json.loads(row)["question"], settings) for row in rows[:: max(1, len(rows) // MEASURED)]]


def figures(records: Sequence[Measurements], settings: Settings) -> list[tuple[str, float, float, str]]:
    """Median milliseconds of judging `MANY` questions, over and over, each time at another threshold; and of building
    their columns.
    """
    many = list(itertools.islice(itertools.cycle(records), MANY))
    started = time.perf_counter()
    of = ReplaySet.of(many)
    built = (time.perf_counter() - started) * 1000
    taken = []
    for step in range(TIMES):
        other = settings.changed(min_correctness=step / TIMES, max_distance=2 * step / TIMES, distance_mode="enforce")
        started = time.perf_counter()
        replay_many(of, other)
        taken.append((time.perf_counter() - started) * 1000)
    return [
        (f"replay of {MANY:,} recorded questions, median", statistics.median(taken), 100.0, "ms"),
        ("their columns, once", built, 2000.0, "ms"),
    ]
