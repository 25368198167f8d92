"""Records of version 4 as records of version 5. Nothing is judged here, and no text is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def upgraded(row: Mapping[str, Any]) -> dict[str, Any]:
    """The record in version 5: a model could use words of its own wherever the checks passed, and nobody counted them.

    Raises:
        KeyError, TypeError, AttributeError: it is not whole.
    """
    trace = row["llm_trace"]
    return {
        **row,
        "settings": {"rewording": "audited", **row["settings"]},
        "llm_trace": trace and {**trace, "attempts": [{"reworded": None, **one} for one in trace["attempts"]]},
    }
