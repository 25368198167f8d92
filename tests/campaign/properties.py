"""Part 6: the property tests of the suite, each with a thousand examples of its own instead of twenty-five that are
always the same.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.campaign import ROOT
from tests.campaign.table import Table

PART = "Properties"
SECONDS = "7200"  # for one of them: a thousand of the dearest take an hour on a busy core
_GIVEN = re.compile(r"^@given\(", re.MULTILINE)
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def files() -> list[Path]:
    """The test files that hold a property."""
    return [
        path for path in sorted((ROOT / "tests").rglob("test_*.py")) if _GIVEN.search(path.read_text(encoding="utf-8"))
    ]


def run(table: Table, *, workers: int, only: list[Path] | None = None, profile: str = "many") -> None:
    """Play them."""
    chosen = files() if only is None else only
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rfE",
        "-n",
        str(workers),
        f"--hypothesis-profile={profile}",
        f"--timeout={SECONDS}",
    ]
    ran = subprocess.run([*command, *map(str, chosen)], cwd=ROOT, capture_output=True, text=True, check=False)
    table.count(PART, "files of tests with properties", len(chosen))
    failed = _FAILED.findall(ran.stdout)
    table.zero(
        PART,
        "tests that failed",
        failed if failed or not ran.returncode else [ran.stdout[-2_000:] + ran.stderr[-2_000:]],
    )
