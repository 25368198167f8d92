"""Records of version 7 as records of version 8. Nothing is judged here, and no text is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def upgraded(row: Mapping[str, Any]) -> dict[str, Any]:
    """The record in version 8: no score was taken of a draft of a language model, so that the extract's stands for it as before.

    Raises:
        KeyError, TypeError, AttributeError: it is not whole.
    """
    trace = row["llm_trace"]
    return {**row, "llm_trace": trace and {**trace, "attempts": [{**one, "correctness": None} for one in trace["attempts"]]}}
