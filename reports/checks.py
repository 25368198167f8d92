"""Writes the table of checks in `docs/checks.md` from the rows of `rag_core.decision.checks`.

    python -m reports.checks

What stands outside the two markers is written by hand and left as it is. A test fails where the page and the rows
differ.
"""

from __future__ import annotations

import sys
from typing import Any

from rag_core.decision.checks import CHECKS, GATING, LLM_DRAFT, SUFFICIENCY, VERIFICATION, Check
from rag_core.domain.trace import Direction
from rag_core.settings import Mode, Settings
from reports import DOCS, as_markdown, between_marks

PAGE = DOCS / "checks.md"
COLUMNS = ("Check", "Stage", "It asks", "Passes", "Scale", "Mode", "Status of a refusal")


def table() -> str:
    """All checks in the order in which they are judged, as Markdown: one row each."""
    return as_markdown(COLUMNS, ([cell.replace("|", "/") for cell in _cells(check)] for check in CHECKS))


def written(page: str) -> str:
    """The page with its table as the rows say it now."""
    return between_marks(page, "checks", table())


def _cells(check: Check[Any]) -> tuple[str, ...]:
    return (
        f"`{check.name}`",
        _stage(check),
        check.asks,
        _passes(check),
        str(check.scale),
        _mode(check),
        f"`{check.status}`",
    )


def _stage(check: Check[Any]) -> str:
    if check in GATING:
        return "gating"
    if check is SUFFICIENCY:
        return "gating, LLM"
    return "grounding, LLM" if check in (*LLM_DRAFT, VERIFICATION) else "grounding"


def _passes(check: Check[Any]) -> str:
    """The values that pass: from or up to a setting with its default, or a number that is no setting."""
    side = "at least" if check.passes is Direction.AT_LEAST else "at most"
    if not isinstance(check.threshold, str):
        return f"{side} {check.threshold:g}"
    return f"{side} `{check.threshold}` ({getattr(Settings.load(), check.threshold):g})"


def _mode(check: Check[Any]) -> str:
    """The setting that says what the check may do, with its default; some checks have none."""
    return f"`{check.mode}` ({Mode(getattr(Settings.load(), check.mode))})" if check.mode else "always enforced"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{len(CHECKS)} checks in {PAGE.name}\n")
