"""Rectangles that are found by where they lie, without looking at all of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..basics.rows import Rect

BAND_PT = 16.0  # about a row of print
TALL = 100  # bands; what touches more is looked at each time


class Bands:
    """Rectangles, found by the horizontal bands that they touch."""

    def __init__(self) -> None:
        self._bands: dict[int, list[Rect]] = {}
        self._tall: list[Rect] = []

    def add(self, box: Rect) -> None:
        """Keep `box`."""
        first, last = band_of(box[1]), band_of(box[3])
        if last - first > TALL:
            self._tall.append(box)
            return
        for band in range(first, last + 1):
            self._bands.setdefault(band, []).append(box)

    def near(self, box: Rect) -> Iterator[Rect]:
        """The rectangles that `box` overlaps, some of them twice."""
        x0, y0, x1, y1 = box
        yield from (other for other in self._tall if other[0] < x1 and x0 < other[2] and other[1] < y1 and y0 < other[3])
        first, last = band_of(y0), band_of(y1)
        bands: Iterable[int] = range(first, last + 1) if last - first < len(self._bands) else [b for b in self._bands if first <= b <= last]
        for band in bands:
            for other in self._bands.get(band, ()):
                if other[0] < x1 and x0 < other[2] and other[1] < y1 and y0 < other[3]:
                    yield other


def band_of(y: float) -> int:
    """The number of the band that `y` lies in, in points; far off the page, that of the farthest."""
    return int(min(max(y, -1e6), 1e6) // BAND_PT)
