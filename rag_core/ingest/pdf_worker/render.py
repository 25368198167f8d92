"""Draws a page as a PNG with rectangles marked like with a highlighter pen, and sets a printed sheet of texts and rows.

Sheets are set in the child because PyMuPDF must not run in the threads of a server, and because their texts come from
documents.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import base64
import io
import json
import math
from collections.abc import Mapping
from typing import Any

import pymupdf

PEN = (255, 232, 60)  # a transparent yellow: white paper takes this colour, black ink stays black
DOUBT = (255, 166, 77)  # the same in orange, over words that OCR is not sure of
WIDTH, HEIGHT, MARGIN = 595.0, 842.0, 50.0  # points: A4
PICTURE = WIDTH - 2 * MARGIN  # points: a picture is as wide as the text
# points: a page less a line above the picture; what is higher than a page ends the whole sheet
TALLEST = HEIGHT - 2 * MARGIN - 40.0
TALL = TALLEST / 2  # points of a picture that begins a page together with its line; chosen
MAX_PAGES = 60  # a decision with six pictures has about ten
CSS = (
    "* {font-family: sans-serif; font-size: 10pt; line-height: 1.35} h1 {font-size: 18pt} h2 {font-size: 12pt}"
    " .lead {font-size: 13pt} .quote {margin-left: 12pt} .small {font-size: 8pt; color: #52605a}"
    " td {padding: 2pt 6pt 2pt 0; font-size: 8.5pt; vertical-align: top}"
)


def draw(page: Any, asked: Mapping[str, Any]) -> bytes:
    """PNG of `page`, or of a `part`, with `boxes` marked, and `doubted` ones, as `reading.pdf.render_page` asks.

    Its pixels are multiplied by the pen's colour: that is exact whatever the page's structure, and keeps the ink
    readable.
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
    """`zoom` in pixels per point, or less where this part of a page would have more than `max_pixels`."""
    points = max(1.0, seen.width) * max(1.0, seen.height)
    # 2 % of room: MuPDF rounds both sides up to whole pixels.
    return float(min(zoom, math.sqrt(0.98 * max_pixels / points)))


def _clamp(value: float, size: int) -> int:
    return max(0, min(size, round(value)))


def compose(data: bytes) -> bytes:
    """The PDF of a printed sheet, as a JSON list of blocks: what is in a text is set as it is, and is no markup.

    Their `kind`: title, head, lead, text, quote or small (`text`), rows (`rows`), picture (`png`, base64).
    """
    archive, blocks = pymupdf.Archive(), json.loads(data)
    story = pymupdf.Story(user_css=CSS, archive=archive)
    for number, (block, after) in enumerate(zip(blocks, [*blocks[1:], {"kind": ""}], strict=True)):
        tall = after["kind"] == "picture" and _size(after["png"])[1] > TALL  # then its line does not stay behind alone
        _add(story.body, archive, block, f"picture{number}.png", begins_page=tall)
    out = io.BytesIO()
    writer, more, pages = pymupdf.DocumentWriter(out), True, 0
    while more and pages < MAX_PAGES:
        device = writer.begin_page(pymupdf.Rect(0, 0, WIDTH, HEIGHT))
        more, _ = story.place(pymupdf.Rect(MARGIN, MARGIN, WIDTH - MARGIN, HEIGHT - MARGIN))
        story.draw(device)
        writer.end_page()
        pages += 1
    writer.close()
    made = pymupdf.open(stream=out.getvalue(), filetype="pdf")
    made.subset_fonts()  # else a word of Chinese brings 3 MB
    return bytes(made.tobytes(garbage=4, deflate=True))


def _size(png: str) -> tuple[float, float]:
    """Width and height of a picture in points: as wide as the text, where it is no higher than a page then."""
    start = base64.b64decode(png[:32])  # bytes 16 to 24 of a PNG say how many dots it has
    wide, high = int.from_bytes(start[16:20], "big"), int.from_bytes(start[20:24], "big")
    width = min(PICTURE, TALLEST * wide / max(1, high))
    return width, width * high / max(1, wide)


def _add(body: Any, archive: Any, block: dict[str, Any], name: str, *, begins_page: bool) -> None:
    kind = block["kind"]
    if kind == "picture":
        archive.add(base64.b64decode(block["png"]), name)
        body.add_image(name, width=_size(block["png"])[0])
    elif kind == "rows":
        table = body.create_element("table")
        for row in block["rows"]:
            line = body.create_element("tr")
            for cell in row:
                line.append_child(_holding(body, "td", cell))
            table.append_child(line)
        body.append_child(table)
    else:
        for line in block["text"].split("\n"):
            element = _holding(body, {"title": "h1", "head": "h2"}.get(kind, "p"), line)
            element.set_attribute("class", kind)
            if begins_page:
                element.set_attribute("style", "page-break-before: always")
            body.append_child(element)


def _holding(body: Any, tag: str, text: str) -> Any:
    element = body.create_element(tag)
    element.append_child(body.create_text_node("".join(one if one.isprintable() else " " for one in text)))
    return element
