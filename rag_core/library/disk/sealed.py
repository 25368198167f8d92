"""JSON objects that carry a checksum of themselves, for files whose checksum stands nowhere else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any

CHECKSUM = "checksum"


def seal(row: Mapping[str, Any]) -> dict[str, Any]:
    """The object with its checksum. How it is written later (spaces, order of keys) makes no difference."""
    return {**row, CHECKSUM: _checksum(row)}


def unseal(row: Any, unsealed: Collection[str] = ()) -> dict[str, Any]:
    """The value that `seal` was given.

    Files of earlier versions have no checksum. `unsealed` are their keys: an object of exactly these is taken as it is; none by default.

    Raises:
        ValueError: it is no object, has no checksum, or another one.
    """
    if not isinstance(row, dict):
        raise ValueError("not an object")
    if unsealed and row.keys() == set(unsealed):
        return row
    rest = {name: value for name, value in row.items() if name != CHECKSUM}
    if row.get(CHECKSUM) != _checksum(rest):
        raise ValueError("its checksum does not fit")
    return rest


def _checksum(row: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(row, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
