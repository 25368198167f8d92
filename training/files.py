"""Shared by the programs here: how they read rows, and the seed that they draw with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Row = dict[str, Any]  # one object of a JSON lines file

SEED = 7  # any number would do; this one drew what is shipped


def rows(path: Path) -> list[Row]:
    """The objects of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
