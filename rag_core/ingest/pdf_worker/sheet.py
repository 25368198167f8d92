"""Sets a printed sheet from blocks of plain text, rows and pictures.

Text goes in as text: nothing in it is read as markup.

It runs in the child because PyMuPDF must not run in the threads of a server, and because the texts come from documents.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import base64
import io
import json
from typing import Any

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


def compose(pymupdf: Any, data: bytes) -> bytes:
    """The PDF of a JSON list of blocks.

    Their `kind`: title, head, lead, text, quote or small (`text`), rows (`rows`), picture (`png`).
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
    """Width and height at which a picture is set, in points: as wide as the text, where it is no higher than a page
    then.
    """
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
    """An element with a text in it, which is a node of its own and no markup."""
    element = body.create_element(tag)
    element.append_child(body.create_text_node("".join(one if one.isprintable() else " " for one in text)))
    return element
