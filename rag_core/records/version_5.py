"""Records of version 5 as records of version 6. Nothing is judged here, and no text is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def upgraded(row: Mapping[str, Any]) -> dict[str, Any]:
    """The record in version 6: how sure OCR was of a word was not kept, so nothing is known of citations that it read.

    Raises:
        KeyError, TypeError, AttributeError: it is not whole.
    """
    trace = row["llm_trace"]
    return {
        **row,
        "draft": _known(row["draft"]),
        "llm_trace": trace
        and {
            **trace,
            "attempts": [{**one, "draft": _known(one["draft"])} for one in trace["attempts"]],
            "verdicts": [{**one, "sides": one["sides"] and _known(one["sides"])} for one in trace["verdicts"]],
        },
    }


def _known(draft: Mapping[str, Any]) -> dict[str, Any]:
    citations = {key: {**one, "unsure": None if one["ocr"] else [], "doubtful": False} for key, one in draft["citations"].items()}
    return {**draft, "citations": citations}
