"""Records of version 6 as records of version 7. Nothing is judged here, and no text is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def upgraded(row: Mapping[str, Any]) -> dict[str, Any]:
    """The record in version 7: it was not kept who stated a date, so that each may be the file's.

    Raises:
        KeyError, TypeError, AttributeError: it is not whole.
    """
    library, trace = row["library"], row["llm_trace"]
    return {
        **row,
        "library": {**library, "date_sources": {id: "file" if date else "" for id, date in library["dates"].items()}},
        "conflicts": [_of_file(one) for one in row["conflicts"]],
        "llm_trace": trace
        and {**trace, "verdicts": [{**one, "conflict": one["conflict"] and _of_file(one["conflict"])} for one in trace["verdicts"]]},
    }


def _of_file(conflict: Mapping[str, Any]) -> dict[str, Any]:
    return {**conflict, "date_sources": ["file" if date else "" for date in conflict["dates"]]}
