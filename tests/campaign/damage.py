"""Part 3: every stored file of a library is damaged in four ways; `tests/damage.py` knows how, and what is right.

Here it is counted.

Wherever the damage is told, one copy for each file and way is rebuilt and given its files again: it must be whole then.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from pathlib import Path

from tests import damage as kit
from tests.campaign.table import Table

PART = "Damaged files"


def run(table: Table, *, positions: int, seed: int, seconds: float) -> None:
    """Damage every file, so many changed bytes each, and count how it was taken."""
    begun, counts, failures = time.monotonic(), Counter[str](), []
    healed: set[tuple[str, str]] = set()
    with tempfile.TemporaryDirectory(prefix="campaign-") as scratch:
        folder, copies = kit.a_library(Path(scratch) / "library"), Path(scratch) / "copies"
        files = kit.stored(folder)
        for done in kit.damaged(folder, copies, files, per_file=positions, seed=seed):
            problem = done.problem()
            way = done.harm.split()[0]
            counts["wrong" if problem else _taken(done)] += 1
            if problem:
                failures.append(problem)
            elif done.told and (done.name, way) not in healed and Path(done.name).name not in kit.OPTIONAL:
                healed.add((done.name, way))
                if problem := kit.healing_problem(copies / "copy"):
                    failures.append(f"{done}: {problem}")
            if time.monotonic() - begun > seconds:
                table.count(PART, "ended before its end, at", done.name)
                break
    table.count(PART, f"stored files (seed {seed})", len(files))
    table.count(PART, "ways in which they were damaged, each by itself", counts.total())
    table.counts(PART, counts)
    table.count(PART, "of them rebuilt and given their files again", len(healed))
    table.zero(PART, "raw exceptions, other bytes believed, not whole after the remedies", failures)


def _taken(done: kit.Done) -> str:
    if done.told:
        return "told, with a remedy"
    if all(value == done.whole[part] for part, value in done.after.items()):
        return "read as before"
    return "begun anew: a file that may be missing"
