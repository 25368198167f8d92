"""Reads JSON lines. A bad line is reported with its number, and the others are read."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_core.errors import InvalidInput

_HALF = re.compile("[\ud800-\udfff]")  # one half of a pair that JSON can write apart; no file and no model takes it


@dataclass(frozen=True, slots=True)
class Bad:
    """A line that cannot be used, and why."""

    path: str
    number: int
    problem: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.number}: {self.problem}"


def read_rows(path: Path, required: Sequence[str]) -> list[dict[str, Any] | Bad]:
    """The objects of a JSON lines file in order; empty lines are skipped.

    Raises:
        InvalidInput: the file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}.", remedy="Give a UTF-8 file of JSON lines.") from error
    lines = enumerate(text.split("\n"), 1)
    return [_row(path.name, number, line, required) for number, line in lines if line.strip()]


def _row(name: str, number: int, line: str, required: Sequence[str]) -> dict[str, Any] | Bad:
    try:
        row = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        return Bad(name, number, f"not JSON ({error})")
    if not isinstance(row, dict):
        return Bad(name, number, "not an object")
    missing = [field for field in required if not isinstance(row.get(field), str) or (field == "id" and not row[field])]
    if missing:
        return Bad(name, number, f"needs text in {', '.join(missing)}")
    halves = [field for field in required if _HALF.search(row[field])]
    return Bad(name, number, f"holds half a character in {', '.join(halves)}") if halves else row
