"""The corners of a path, and whether it is an upright rectangle, also where MuPDF does not see it."""

# mypy: allow-untyped-calls

from __future__ import annotations

from typing import Any

from pymupdf import mupdf


class Outline(mupdf.FzPathWalker2):  # type: ignore[misc]
    """The corners of each part of a path, in points of the page as it is shown. Of a curve only the end counts."""

    def __init__(self, path: Any, ctm: Any) -> None:
        super().__init__()
        for name in ("moveto", "lineto", "curveto", "closepath"):
            getattr(self, f"use_virtual_{name}")()
        self._ctm = ctm
        self.parts: list[list[tuple[float, float]]] = []
        self._straight = True
        mupdf.ll_fz_walk_path(path, self.m_internal, self.m_internal)

    def is_rectangle(self) -> bool:
        """Whether it is one upright rectangle. Some programs draw a last side twice, and MuPDF does not know it for a rectangle then."""
        ctm = self._ctm
        if not self._straight or len(self.parts) != 1 or ((ctm.b or ctm.c) and (ctm.a or ctm.d)):
            return False
        points = [point for point, after in zip(self.parts[0], [*self.parts[0][1:], None], strict=True) if point != after]
        if points and points[0] == points[-1]:
            points.pop()
        steps = zip(points, [*points[1:], *points[:1]], strict=True)
        return len(points) == 4 and all((a[0] == b[0]) != (a[1] == b[1]) for a, b in steps)

    def moveto(self, _ctx: Any, x: float, y: float) -> None:
        """The start of a part."""
        self.parts.append([self._shown(x, y)])

    def lineto(self, _ctx: Any, x: float, y: float) -> None:
        """A side."""
        if self.parts:
            self.parts[-1].append(self._shown(x, y))

    def curveto(self, _ctx: Any, *numbers: float) -> None:
        """A curve, by two points that it bends to and its end."""
        self._straight = False
        if self.parts:
            self.parts[-1].append(self._shown(*numbers[-2:]))

    def closepath(self, _ctx: Any) -> None:
        """The way back to the start."""
        if self.parts:
            self.parts[-1].append(self.parts[-1][0])

    def _shown(self, x: float, y: float) -> tuple[float, float]:
        ctm = self._ctm
        return x * ctm.a + y * ctm.c + ctm.e, x * ctm.b + y * ctm.d + ctm.f
