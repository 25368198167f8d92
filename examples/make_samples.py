"""Writes the sample documents of `data/samples/` from the texts in `examples/samples/`.

Run it as `python examples/make_samples.py`. The same texts give the same bytes, so a sample that was indexed stays the
same document. Every text here was written for this project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pymupdf

HERE = Path(__file__).resolve().parent
TEXTS = HERE / "samples"
OUT = HERE.parent / "data" / "samples"

MARGIN = 64.0  # points
FOOTER = 40.0  # points from the lower edge
PAGE_BREAK = "<!-- page -->"
CSS = """
body { font-family: sans-serif; font-size: 10.5pt; line-height: 1.45; }
h1 { font-size: 19pt; margin: 0 0 4pt 0; }
h2 { font-size: 13pt; margin: 13pt 0 4pt 0; }
h3 { font-size: 11pt; margin: 10pt 0 3pt 0; }
p { margin: 0 0 6pt 0; }
.lead { color: #444444; margin-bottom: 10pt; }
.hi { font-size: 12pt; }
.hi h2 { font-size: 15pt; }
.hi h3 { font-size: 13.5pt; }
.formula { margin: 4pt 0 8pt 24pt; }
.footer { font-size: 8.5pt; color: #555555; text-align: center; }
table { border-collapse: collapse; margin: 4pt 0 8pt 0; }
th, td { border: 1px solid #777777; padding: 3pt 8pt; text-align: left; white-space: nowrap; }
th { background-color: #e8eef2; }
pre { font-size: 9pt; margin: 4pt 0 8pt 12pt; }
"""
DEVANAGARI = re.compile(r"[\u0900-\u097f]+")


@dataclass(frozen=True, slots=True)
class Sample:
    """One text: what its head says, and the HTML of each page."""

    title: str
    date: str  # YYYY-MM-DD
    language: str
    pages: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> Sample:
        """A file of `Key: value` lines, an empty line, and pages of HTML."""
        head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
        facts = dict(line.split(": ", 1) for line in head.splitlines())
        return cls(facts["Title"], facts["Date"], facts["Language"], tuple(body.split(PAGE_BREAK)))


def render(sample: Sample) -> bytes:
    """The PDF, with embedded subsets of the fonts that PyMuPDF carries."""
    document = pymupdf.open()
    words: list[list[str]] = []
    for number, html in enumerate(sample.pages, 1):
        page = document.new_page(width=595, height=842)
        footer = f'<p class="footer">{sample.title} · {number} / {len(sample.pages)}</p>'
        area = page.rect
        _fill(
            page,
            pymupdf.Rect(MARGIN, MARGIN, area.x1 - MARGIN, area.y1 - MARGIN - FOOTER),
            f'<div class="{sample.language}">{html}</div>',
        )
        _fill(page, pymupdf.Rect(MARGIN, area.y1 - MARGIN, area.x1 - MARGIN, area.y1 - MARGIN / 2), footer)
        words += [DEVANAGARI.findall(html), DEVANAGARI.findall(footer)]
    if sample.language == "hi":
        _spell_out(document, iter(words))
    stamp = f"D:{sample.date.replace('-', '')}090000Z"
    document.set_metadata(
        {"title": sample.title, "author": "Plumbline", "creationDate": stamp, "modDate": stamp, "producer": "Plumbline"}
    )
    document.set_language(sample.language)
    document.subset_fonts()
    return bytes(document.tobytes(garbage=4, deflate=True, use_objstms=1, no_new_id=True))


def _fill(page: pymupdf.Page, area: pymupdf.Rect, html: str) -> None:
    spare, scale = page.insert_htmlbox(area, html, css=CSS, scale_low=1)
    if spare < 0 or scale != 1:
        raise ValueError(f"the text of page {page.number + 1} does not fit; move the page break")


def _spell_out(document: pymupdf.Document, pages: Iterator[list[str]]) -> None:
    """Say in the file what each Devanagari word is.

    Shaping turns several letters into one glyph and moves some before their neighbours, so that glyphs alone cannot be
    read back. Each word is one run of its font; it gets its text as /ActualText, and its glyphs from left to right.
    """
    for xref in range(1, document.xref_length()):
        if document.xref_get_key(xref, "Subtype")[1] == "/Form" and b"BT" in (stream := document.xref_stream(xref)):
            fonts = _devanagari_fonts(document, xref)
            document.update_stream(xref, _relettered(stream, fonts, next(pages)))


def _relettered(stream: bytes, fonts: dict[str, dict[int, float]], words: list[str]) -> bytes:
    """The content stream with each run of one of `fonts` spelled out as the next of `words`."""
    out: list[bytes] = []
    font, size, x, y = "", 0.0, 0.0, 0.0
    glyphs: list[tuple[float, int]] = []  # the glyphs of the word: where each starts, in points, and its number
    waiting = iter(words)

    def close() -> None:
        if glyphs:
            out.append(_spelled(next(waiting), sorted(glyphs), size, y, fonts[font]))
            glyphs.clear()

    for line in stream.splitlines():
        *numbers, operator = line.split()
        if operator == b"Td" and font in fonts:
            dx, dy = float(numbers[0]), -float(numbers[1])
            if abs(dy) > 1:  # a new line; a smaller step is a mark that the font lifts by a hundredth of a point
                close()
                y += dy
            x += dx
        elif line.endswith(b"]TJ") and font in fonts:
            glyphs += _placed(line, x, size, fonts[font])
        else:
            close()
            if operator == b"Tf":
                font, size = numbers[0].decode()[1:], float(numbers[1])
            elif operator == b"Tm":
                x, y = float(numbers[4]), float(numbers[5])
            out.append(line)
    close()
    if next(waiting, None) is not None:
        raise ValueError("a Devanagari word was not found among the runs of its page")
    return b"\n".join(out)


def _placed(run: bytes, x: float, size: float, widths: dict[int, float]) -> Iterator[tuple[float, int]]:
    """Where the glyphs of a TJ operand start, in points, when the pen stands at `x`."""
    for glyphs, shift in re.findall(rb"<([0-9a-f]+)>|(-?[\d.]+)", run):
        if shift:
            x -= float(shift) * size / 1000
        for code in re.findall(rb"[0-9a-f]{4}", glyphs):
            yield x, int(code, 16)
            x += widths[int(code, 16)] * size / 1000


def _spelled(word: str, glyphs: list[tuple[float, int]], size: float, y: float, widths: dict[int, float]) -> bytes:
    """A run of these glyphs from left to right, with the word as its text."""
    at = start = glyphs[0][0]
    shown = []
    for x, glyph in glyphs:
        shown.append(f"{(at - x) * 1000 / size:.0f}<{glyph:04x}>")
        at = x + widths[glyph] * size / 1000
    text = word.encode("utf-16-be").hex()
    return (
        f"1 0 0 -1 {start:.3f} {y:.3f} Tm\n/Span <</ActualText <feff{text}>>> BDC\n[{''.join(shown)}]TJ\nEMC".encode()
    )


def _devanagari_fonts(document: pymupdf.Document, form: int) -> dict[str, dict[int, float]]:
    """The glyph widths of the form's Devanagari fonts, by resource name; those fonts' own glyph-to-text tables are
    emptied.
    """
    fonts = {}
    resources = int(document.xref_get_key(form, "Resources")[1].split()[0])
    for name, xref in re.findall(r"/(F\d+) (\d+) 0 R", document.xref_get_key(resources, "Font")[1]):
        if "Devanagari" in document.xref_get_key(int(xref), "BaseFont")[1]:
            fonts[name] = _widths(document, int(xref))
            table = int(document.xref_get_key(int(xref), "ToUnicode")[1].split()[0])
            # a reader would mix what a glyph says with what /ActualText says
            document.update_stream(table, NO_TEXT)
    return fonts


def _widths(document: pymupdf.Document, font: int) -> dict[int, float]:
    """Advance widths by glyph, in thousandths of the font size, from the font's /W array."""
    descendant = int(re.findall(r"(\d+) 0 R", document.xref_get_key(font, "DescendantFonts")[1])[0])
    kind, value = document.xref_get_key(descendant, "W")
    array = document.xref_object(int(value.split()[0]), compressed=True) if kind == "xref" else value
    widths: dict[int, float] = {}
    for first, listed, last, width in re.findall(r"(\d+)\s*(?:\[([^\]]*)\]|\s(\d+)\s+([\d.]+))", array.strip()[1:-1]):
        if last:
            widths.update(dict.fromkeys(range(int(first), int(last) + 1), float(width)))
        else:
            widths.update(enumerate(map(float, listed.split()), int(first)))
    return widths


NO_TEXT = b"""/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CMapName /None def
/CMapType 2 def
1 begincodespacerange
<0000> <ffff>
endcodespacerange
1 beginbfrange
<0000> <ffff> <e000>
endbfrange
endcmap
end
end
"""


def main() -> None:
    """Write every sample."""
    OUT.mkdir(parents=True, exist_ok=True)
    for path in sorted(TEXTS.glob("*.html")):
        (OUT / f"{path.stem}.pdf").write_bytes(render(Sample.read(path)))


if __name__ == "__main__":
    main()
