"""Draws a page as a PNG with rectangles marked like with a highlighter pen."""

# mypy: allow-untyped-calls

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pymupdf

PEN = (255, 232, 60)  # a transparent yellow: white paper takes this colour, black ink stays black
DOUBT = (255, 166, 77)  # the same in orange, over words that OCR is not sure of


def draw(page: Any, asked: Mapping[str, Any]) -> bytes:
    """PNG of `page`, or of a `part` of it, with exactly `boxes` (points, origin top left, as the page is shown) marked,
    and `doubted` ones.

    `asked` has these as `rag_core.ingest.reading.pdf.render_page` sends them, with `dpi` and `pixels`.

    It has at most `pixels` pixels. They are multiplied by the pen's colour instead of adding an annotation: that is
    exact, does not depend on the page's own structure, and leaves the ink readable.
    """
    sheet = page.rect
    seen = sheet & pymupdf.Rect(asked["part"]) if asked["part"] else sheet
    if seen.is_empty:  # no part of this page
        seen = sheet
    zoom = fitting_zoom(seen, asked["dpi"] / 72, asked["pixels"])
    picture = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), colorspace=pymupdf.csRGB, alpha=False, clip=seen)
    clean = picture.samples
    pixels = bytearray(clean)
    yellow, orange = ([bytes(value * share // 255 for value in range(256)) for share in pen] for pen in (PEN, DOUBT))
    for (x0, y0, x1, y1), tables in [
        *((box, yellow) for box in asked["boxes"]),
        *((box, orange) for box in asked["doubted"]),
    ]:
        left, right = _clamp(x0 * zoom - picture.x, picture.width), _clamp(x1 * zoom - picture.x, picture.width)
        for y in range(_clamp(y0 * zoom - picture.y, picture.height), _clamp(y1 * zoom - picture.y, picture.height)):
            start, end = y * picture.stride + 3 * left, y * picture.stride + 3 * right
            for channel, table in enumerate(tables):  # from the clean picture, so that rectangles may overlap
                pixels[start + channel : end : 3] = clean[start + channel : end : 3].translate(table)
    return bytes(pymupdf.Pixmap(pymupdf.csRGB, picture.width, picture.height, bytes(pixels), False).tobytes("png"))


def fitting_zoom(seen: Any, zoom: float, max_pixels: int) -> float:
    """`zoom` (pixels per point), or less where this rectangle of a page would otherwise have more than `max_pixels`
    pixels.
    """
    points = max(1.0, seen.width) * max(1.0, seen.height)
    # 2 % of room: MuPDF rounds both sides up to whole pixels.
    return float(min(zoom, math.sqrt(0.98 * max_pixels / points)))


def _clamp(value: float, size: int) -> int:
    return max(0, min(size, round(value)))
