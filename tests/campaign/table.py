"""What was counted: rows of one Markdown table, and whether all that must be zero is zero."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Table:
    """Rows of (part, what, figure, limit), in the order in which they were added, and examples of what went wrong."""

    rows: list[tuple[str, str, str, str]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def count(self, part: str, what: str, figure: object) -> None:
        """A figure that may be anything."""
        self.rows.append((part, what, _figure(figure), ""))

    def counts(self, part: str, found: Mapping[str, int], before: str = "") -> None:
        """One row for each kind, the most frequent first."""
        for what, number in Counter(found).most_common():
            self.count(part, f"{before}{what}", number)

    def at_most(self, part: str, what: str, figure: float, limit: float = 0, examples: tuple[str, ...] = ()) -> None:
        """A figure with a limit. Where it is over the limit, the campaign fails, and `examples` are shown."""
        over = figure > limit
        self.rows.append((part, what, _figure(figure), f"{'FAILED, ' if over else ''}at most {_figure(limit)}"))
        if over:
            self.failures.append(f"{part}: {what}: {_figure(figure)}")
            self.failures.extend(f"    {example}" for example in examples[:20])

    def zero(self, part: str, what: str, examples: list[str]) -> None:
        """One example for each time that something happened which must not happen."""
        self.at_most(part, what, len(examples), 0, tuple(examples))

    def markdown(self, heading: str) -> str:
        """The table, then what failed."""
        lines = [heading, "", "| Part | What was counted | Figure | Must be |", "|---|---|---|---|"]
        lines += [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in self.rows]
        failed = (
            ["", "Failed:", "", *(f"- {line}" for line in self.failures)] if self.failures else ["", "Nothing failed."]
        )
        noted = ["", "To look at:", "", *(f"- {line}" for line in self.notes)] if self.notes else []
        return "\n".join([*lines, *failed, *noted]) + "\n"


def _figure(value: object) -> str:
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.1f}"
    return f"{int(value):,}" if isinstance(value, (int, float)) else str(value)
