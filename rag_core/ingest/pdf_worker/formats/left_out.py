"""Text that is left out of a web page or a Word document: a mark where it would stand tells its page."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..hidden_text.hidden import Kind

MAX_MARKS = 500  # looked up one by one; what is left out after those is counted where the last one stands; chosen


class LeftOut:
    """How many characters were left out at each mark, by kind."""

    def __init__(self) -> None:
        self._marks: list[Counter[str]] = []

    def mark(self, kind: Kind, chars: int) -> str:
        """Count characters as left out; the markup to write in their place."""
        if not chars:
            return ""
        new = len(self._marks) < MAX_MARKS
        if new:
            self._marks.append(Counter())
        self._marks[-1][kind.value] += chars
        return f'<a id="left-out-{len(self._marks)}"></a>' if new else ""

    def by_page(self, document: Any) -> dict[int, Counter[str]]:
        """The counts of text left out of each page of the laid-out document, counted from 0; a mark that is not there
        stands with the one before.
        """
        found: dict[int, Counter[str]] = {}
        page = 0
        for number, kinds in enumerate(self._marks, 1):
            page = max(page, document.resolve_link(f"#left-out-{number}")[0])
            found.setdefault(page, Counter()).update(kinds)
        return found
