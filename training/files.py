"""Shared by the programs here: how they read rows, draw, hold out, and write a question or what they fitted."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

Row = dict[str, Any]  # one object of a JSON lines file

SEED = 7  # any number would do; this one drew what is shipped


def rows(path: Path) -> list[Row]:
    """The objects of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def split_of(key: str, share: float) -> str:
    """The split that a text falls into by its hash, in every run the same: held for about such a share of all texts,
    else train.
    """
    return "held" if int(sha256(key.encode()).hexdigest()[:8], 16) / 0xFFFFFFFF < share else "train"


def asking(question: str) -> str:
    """A question as the answerability model reads it: it ends in one question mark."""
    return question.strip().rstrip("? ") + "?"


def write_rows(path: Path, found: Iterable[Row]) -> None:
    """Write rows as `rows` reads them."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found), encoding="utf-8")


def write(path: Path, body: Row) -> None:
    """Write what was fitted, as the files of `data/` have it: one number a line, so that a difference can be read."""
    path.write_text(json.dumps(body, indent=1, sort_keys=True) + "\n", encoding="utf-8")
