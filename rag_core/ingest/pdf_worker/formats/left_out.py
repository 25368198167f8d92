"""Text that is left out of a web page or a Word document: colours that do not show, and marks that tell its page."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..words import Kind

Shade = tuple[float, float, float]  # red, green and blue, from 0 to 1
WHITE, BLACK = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)
LEAST = 1.3  # contrast below which nobody reads; #ddd on white has 1.36; chosen
LEAST_OPAQUE = 0.06  # what is less opaque is not seen; chosen
MAX_MARKS = 500  # looked up one by one; what is left out after those is counted where the last one stands; chosen


def over(shade: Shade, alpha: float, ground: Shade) -> Shade:
    """A colour of so much opacity as it looks on its ground."""
    red, green, blue = (alpha * own + (1 - alpha) * below for own, below in zip(shade, ground, strict=True))
    return red, green, blue


def shows(shade: Shade, ground: Shade) -> bool:
    """Whether text of this colour can be read on this ground, by WCAG's contrast."""
    light, dark = sorted((_light(shade), _light(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05) >= LEAST


def _light(shade: Shade) -> float:
    red, green, blue = (
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4
        for one in (min(max(part, 0.0), 1.0) for part in shade)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def shade_of(code: str) -> Shade | None:
    """The colour that six figures of base sixteen state."""
    try:
        red, green, blue = (int(code[at : at + 2], 16) / 255 for at in (0, 2, 4))
    except ValueError:
        return None
    return (red, green, blue) if len(code) == 6 else None


class LeftOut:
    """How many characters were left out at each mark, by kind."""

    def __init__(self) -> None:
        self._marks: list[Counter[str]] = []

    def mark(self, kind: Kind, chars: int) -> str:
        if not chars:
            return ""
        new = len(self._marks) < MAX_MARKS
        if new:
            self._marks.append(Counter())
        self._marks[-1][kind.value] += chars
        return f'<a id="left-out-{len(self._marks)}"></a>' if new else ""

    def by_page(self, document: Any) -> dict[int, Counter[str]]:
        """The characters left out of each page, counted from 0; a mark not there stands with the one before."""
        found: dict[int, Counter[str]] = {}
        page = 0
        for number, kinds in enumerate(self._marks, 1):
            page = max(page, document.resolve_link(f"#left-out-{number}")[0])
            found.setdefault(page, Counter()).update(kinds)
        return found
