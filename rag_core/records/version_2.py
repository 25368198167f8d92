"""Records of version 2 as records of version 3. Nothing is judged here, and no text is read.

What version 2 did not measure yet is unknown, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]

# answers were not judged by their probability to be right, and levels were cut from answerability
_BEFORE = {"correctness_mode": "off", "main_gate": "answerability"}


def upgraded(row: Row) -> dict[str, Any]:
    """The record in version 3.

    Raises:
        KeyError, TypeError, AttributeError: it is not whole.
    """
    trace = row["llm_trace"]
    return {
        **row,
        "correctness": None,
        "settings": {**_BEFORE, **row["settings"]},
        "hits": [_hit(one) for one in row["hits"]],
        "llm_trace": trace and {**trace, "expanded": [[_hit(hit) for hit in hits] for hits in trace["expanded"]]},
    }


def _hit(row: Row) -> Row:
    """Passages were not told apart into pieces; one that was described before is an id."""
    return row if isinstance(row["passage"], str) else {**row, "passage": {"pieces": [], **row["passage"]}}
