"""Says whether a path is an upright rectangle, also where MuPDF does not see it."""

# mypy: allow-untyped-calls

from __future__ import annotations

from typing import Any

from pymupdf import mupdf


class Corners(mupdf.FzPathWalker2):  # type: ignore[misc]
    """The corners of a path. Some programs draw a rectangle's last side twice, and MuPDF does not know it for a rectangle then."""

    def __init__(self, path: Any, ctm: Any) -> None:
        super().__init__()
        for name in ("moveto", "lineto", "curveto", "closepath"):
            getattr(self, f"use_virtual_{name}")()
        self._upright = not (ctm.b or ctm.c) or not (ctm.a or ctm.d)
        self._points: list[tuple[float, float]] = []
        self._simple = True
        if self._upright:
            mupdf.ll_fz_walk_path(path, self.m_internal, self.m_internal)

    def are_a_rectangle(self) -> bool:
        """Whether they are those of one upright rectangle, in order."""
        points = [point for point, after in zip(self._points, [*self._points[1:], None], strict=True) if point != after]
        if points and points[0] == points[-1]:
            points.pop()
        steps = zip(points, [*points[1:], *points[:1]], strict=True)
        return self._upright and self._simple and len(points) == 4 and all((a[0] == b[0]) != (a[1] == b[1]) for a, b in steps)

    def moveto(self, _ctx: Any, x: float, y: float) -> None:
        """The start of a part."""
        self._simple = self._simple and not self._points
        self._points.append((x, y))

    def lineto(self, _ctx: Any, x: float, y: float) -> None:
        """A side."""
        self._points.append((x, y))

    def curveto(self, *_: Any) -> None:
        """A curve."""
        self._simple = False

    def closepath(self, _ctx: Any) -> None:
        """The way back to the start."""
