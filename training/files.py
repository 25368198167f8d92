"""What the programs here share: how they read rows, and the seed they draw with."""

from __future__ import annotations

import json
from pathlib import Path

SEED = 7


def rows(path: Path) -> list[dict]:
    """The objects of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
