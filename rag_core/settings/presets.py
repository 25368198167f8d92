"""Presets, the named sets of values, as `data/presets.yaml` has them; and where the data of the product lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_CORE = Path(__file__).resolve().parents[1]
# inside it in a wheel (setup.py), beside it here
DATA = _CORE / "data" if (_CORE / "data").is_dir() else _CORE.parent / "data"
DEFAULT_PRESET = "balanced"


@dataclass(frozen=True, slots=True)
class Preset:
    """A named set of values with the document it comes from."""

    name: str
    title: str
    help: str
    values: Mapping[str, Any]


@cache
def presets() -> Mapping[str, Preset]:
    """The presets of `data/presets.yaml`, by name, in the file's order."""
    raw = yaml.safe_load((DATA / "presets.yaml").read_text(encoding="utf-8"))
    return {name: Preset(name, row["title"], row["help"], row.get("values") or {}) for name, row in raw.items()}
