"""Writes text that nobody can see in many ways, and text that looks odd and can be seen: one page a form, by name.

`hidden_forms()` and `visible_forms()` give all of them. Content streams are written by hand, since programs that write
PDFs do not write such pages.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import make
import pymupdf

SHOWN = "Visible: revenue was 5 million."
SECRET = "Settlement: 4200000 dollars"


@dataclass(frozen=True)
class Form:
    """One file. `hidden`: words that must not be read.

    `seen`: words that must be read; the rest of the page says SHOWN.
    """

    data: bytes
    hidden: str = ""
    seen: str = SHOWN


@dataclass
class Paper:
    """A page in the making: objects beside the page's own, what its dictionaries name, and keys of the catalogue and
    the page.
    """

    objects: list[str | bytes] = field(default_factory=list)
    resources: dict[str, list[str]] = field(default_factory=dict)
    catalog: str = ""
    page: str = ""

    def add(self, value: str | bytes) -> int:
        """The number that `value` gets as an object; the first four are the catalogue, the pages, the page and its
        contents.
        """
        self.objects.append(value)
        return 4 + len(self.objects)

    def stream(self, content: str | bytes, keys: str = "") -> int:
        data = content.encode("latin-1") if isinstance(content, str) else content
        return self.add(f"<</Length {len(data)}{keys}>>\nstream\n".encode() + data + b"\nendstream")

    def name(self, kind: str, name: str, value: str | int) -> None:
        self.resources.setdefault(kind, []).append(
            f"/{name} {value} 0 R" if isinstance(value, int) else f"/{name} {value}"
        )

    def state(self, keys: str) -> str:
        self.name("ExtGState", "G", f"<<{keys}>>")
        return "/G gs "

    def picture(self, data: bytes, side: int, keys: str = "") -> str:
        """The name of a square picture in three colours."""
        looks = f"/Width {side}/Height {side}/ColorSpace/DeviceRGB/BitsPerComponent 8{keys}"
        self.name("XObject", "X", self.stream(data, f"/Type/XObject/Subtype/Image{looks}"))
        return "/X Do Q"

    def font(self, name: str = "Helvetica", keys: str = "", rows: str = "") -> None:
        """A standard font as F2, with rows of a map to Unicode."""
        said = f"/ToUnicode {self.stream(cmap(rows, rows.count(chr(10))))} 0 R"
        self.name("Font", "F2", f"<</Type/Font/Subtype/Type1/BaseFont/{name}{keys}{said}>>")

    def words(self) -> str:
        return "<<" + "".join(f"/{kind}<<{' '.join(values)}>>" for kind, values in self.resources.items()) + ">>"

    def save(self, content: str | bytes, *, shown: bool = True) -> bytes:
        if "Font" not in self.resources or not any(value.startswith("/F1 ") for value in self.resources["Font"]):
            self.name("Font", "F1", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
        data = content.encode("latin-1") if isinstance(content, str) else content
        data = (text(SHOWN, 72, 700).encode() if shown else b"") + b"\nq\n" + data + b"\nQ\n"
        page = f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources{self.words()}{self.page}>>"
        stream = f"<</Length {len(data)}>>\nstream\n".encode() + data + b"\nendstream"
        catalog = f"<</Type/Catalog/Pages 2 0 R{self.catalog}>>"
        return make.raw_pdf([catalog, "<</Type/Pages/Count 1/Kids[3 0 R]>>", page, stream, *self.objects])


def text(words: str, x: float = 72, y: float = 600, size: float = 12, before: str = "", font: str = "F1") -> str:
    return f"BT {before} /{font} {size} Tf {x} {y} Td ({words}) Tj ET\n"


WORDS = text(SECRET)
BOX = "70 595 200 16 re f\n"  # over or under WORDS


def hidden_forms() -> Iterator[tuple[str, Form]]:
    """Every form of text that cannot be seen, or that says other than it shows."""
    yield from _forms(HIDDEN_BY_CONTENT, HIDDEN_BY_OBJECTS, HIDDEN_BY_PROGRAM, SECRET, SHOWN)


def visible_forms() -> Iterator[tuple[str, Form]]:
    """Every form of text that is unusual and plain to see."""
    yield from _forms(VISIBLE_BY_CONTENT, VISIBLE_BY_OBJECTS, VISIBLE_BY_PROGRAM, "", f"{SHOWN} {SECRET}")


def _forms(
    by_content: Mapping[str, str],
    by_objects: Mapping[str, Callable[[Paper], str]],
    by_program: Mapping[str, Callable[[], Form]],
    *said: str,
) -> Iterator[tuple[str, Form]]:
    for name, content in by_content.items():
        yield name, Form(Paper().save(content), *said)
    for name, build in by_objects.items():
        paper = Paper()
        yield name, Form(paper.save(build(paper)), *said)
    for name, make_form in by_program.items():
        yield name, make_form()


def hidden(name: str) -> Form:
    return dict(hidden_forms())[name]


def visible(name: str) -> Form:
    return dict(visible_forms())[name]


def _lines(step: float, width: float) -> str:
    return f"{width} w " + "".join(
        f"70 {596 + step * n:.2f} m 270 {596 + step * n:.2f} l S\n" for n in range(int(15 / step))
    )


HIDDEN_BY_CONTENT: Mapping[str, str] = {
    "render mode 3": text(SECRET, before="3 Tr"),
    "one point high": text(SECRET, size=1),
    "flattened by a matrix": f"BT /F1 12 Tf 1 0 0 0.02 72 600 Tm ({SECRET}) Tj ET",
    "squeezed to nothing": f"BT /F1 12 Tf 1 Tz 72 600 Td ({SECRET}) Tj ET",
    "white on paper": "1 g " + WORDS,
    "nearly white on paper": "0.98 0.97 0.98 rg " + WORDS,
    "white outline on paper": "1 G 0.3 w " + text(SECRET, before="1 Tr"),
    "beside the page": text(SECRET, x=-400),
    "above the page": text(SECRET, y=900),
    "under a black box": WORDS + "0 g " + BOX,
    "under a white box": WORDS + "1 g " + BOX,
    "under a grey box": WORDS + "0.5 g " + BOX,
    "under a box of two triangles": WORDS + "0 g 70 595 m 270 595 l 270 611 l f 70 595 m 70 611 l 270 611 l f",
    "under an ellipse": WORDS + "0 g 40 603 m 40 640 300 640 300 603 c 300 566 40 566 40 603 c f",
    "under a marker line": WORDS + "16 w 0 G 70 603 m 270 603 l S",
    "under a slanted marker line": WORDS + "30 w 0 G 60 598 m 290 608 l S",
    "under many thin lines": WORDS + _lines(0.5, 0.7),
    "under many thin boxes": WORDS + "0 g " + "".join(f"{70 + n * 0.5} 595 0.6 16 re f\n" for n in range(400)),
    "under a box in letters": WORDS
    + "0 g BT /F1 30 Tf 5 Tz 70 594 Td "
    + "(HHHHHHHHHH) Tj " * 18
    + "ET\n"
    + "0 g "
    + BOX,
    "under a box with other text on it": WORDS + "1 g " + BOX + "0 g " + text("Nothing was agreed upon."),
    "under a page of white": text(SECRET) + "1 g 0 0 612 792 re f 0 g " + text(SHOWN, 72, 700),
    "under an inline picture": WORDS + "q 200 0 0 16 70 595 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q",
    "under a stencil": WORDS + "0 g q 200 0 0 16 70 595 cm BI /W 8 /H 1 /IM true /BPC 1 ID \x00 EI Q",
    "clipped away": "10 10 20 20 re W n " + WORDS,
    "clipped to nothing": "72 600 0 0 re W n " + WORDS,
    "clipped by a triangle": "10 10 m 600 10 l 10 500 l h W n " + WORDS,
    "clipped to its feet": "70 590 300 9.6 re W n " + WORDS,
    "clipped by letters": text("x", 300, 300, 20, "7 Tr") + WORDS,
    "black on black": "0 g " + BOX + WORDS,
    "blue on blue": "0.1 0.2 0.7 rg " + BOX + WORDS,
    "nearly the colour of its ground": "0.10 0.20 0.30 rg " + BOX + "0.14 0.24 0.34 rg " + WORDS,
    "black ink on black light": "0 0 0 rg " + BOX + "0.9 0.9 0.9 1 k " + WORDS,
    "white on a white box": "0 g 60 585 300 40 re f 1 g " + BOX + WORDS,
    "on a stroked ground": "16 w 0 G 70 603 m 270 603 l S 0 g " + WORDS,
    "shows on part of its ground only": "0 g 120 590 300 25 re f 0 g " + WORDS,
}


def form(paper: Paper, content: str, keys: str = "/BBox[0 0 612 792]", name: str = "X") -> str:
    fonts = "/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    paper.name("XObject", name, paper.stream(content, f"/Type/XObject/Subtype/Form{keys}{fonts}"))
    return f"/{name} Do "


def _mask(paper: Paper, content: str, kind: str = "Luminosity") -> str:
    fonts = "/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    group = f"/Group<</S/Transparency/CS/DeviceGray>>{fonts}"
    number = paper.stream(content, f"/Type/XObject/Subtype/Form/BBox[0 0 612 792]{group}")
    return paper.state(f"/SMask<</S/{kind}/G {number} 0 R>>")


def _shading(paper: Paper, colours: str) -> str:
    function = f"<</FunctionType 2/Domain[0 1]{colours}/N 1>>"
    coordinates = f"/Coords[70 0 270 0]/Extend[true true]/Function{function}"
    paper.name("Shading", "S", f"<</ShadingType 2/ColorSpace/DeviceGray{coordinates}>>")
    return "/S sh Q"


def _tiles(paper: Paper, tile: str) -> str:
    looks = "/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 8 8]/XStep 8/YStep 8/Resources<<>>"
    paper.name("Pattern", "P", paper.stream(tile, looks))
    return "/Pattern cs /P scn "


def _layer(off: str = "/D<</OFF[{0} 0 R]>>", kind: str = "bdc") -> Callable[[Paper], str]:
    def build(paper: Paper) -> str:
        layer = paper.add("<</Type/OCG/Name(Notes)>>")
        paper.catalog = f"/OCProperties<</OCGs[{layer} 0 R]{off.format(layer)}>>"
        if kind == "form":
            return form(paper, WORDS, f"/BBox[0 0 612 792]/OC {layer} 0 R")
        member = paper.add(f"<</Type/OCMD/OCGs[{layer} 0 R]/P/AnyOn>>") if kind == "ocmd" else layer
        paper.name("Properties", "L", member)
        return "/OC /L BDC " + WORDS + "EMC"

    return build


def _type3(paper: Paper, glyph: str, name: str) -> None:
    """A font with the same drawing for every letter from space to z."""
    codes = range(32, 123)
    procedure = paper.stream(glyph)
    names = " ".join(f"/g{code}" for code in codes)
    procedures = "".join(f"/g{code} {procedure} 0 R" for code in codes)
    mapping = "".join(f"<{code:02x}> <{code:04x}>\n" for code in codes)
    to_unicode = paper.stream(cmap(mapping, len(codes)))
    paper.name(
        "Font",
        name,
        "<</Type/Font/Subtype/Type3/FontBBox[0 0 600 700]/FontMatrix[0.001 0 0 0.001 0 0]/FirstChar 32/LastChar 122"
        f"/Resources<<>>/Widths[{'600 ' * len(codes)}]/Encoding<</Differences[32 {names}]>>/CharProcs<<{procedures}>>"
        f"/ToUnicode {to_unicode} 0 R>>",
    )


def drawn_glyphs(glyph: str) -> Callable[[Paper], str]:
    def build(paper: Paper) -> str:
        _type3(paper, glyph, "F2")
        return text(SECRET, font="F2")

    return build


def cmap(mapping: str, count: int, code_bytes: int = 1) -> str:
    """A ToUnicode map with `mapping` as its single characters."""
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def /CMapName /X def\n"
        f"1 begincodespacerange <{'00' * code_bytes}> <{'ff' * code_bytes}> endcodespacerange\n"
        f"{count} beginbfchar\n{mapping}endbfchar endcmap end end"
    )


def _annotation(keys: str, appearance: str, state: str = "") -> Callable[[Paper], str]:
    def build(paper: Paper) -> str:
        number = paper.stream(
            appearance, f"/Type/XObject/Subtype/Form/BBox[0 0 200 16]/Resources<</ExtGState<</G<<{state}>>>>>>"
        )
        paper.page = f"/Annots[<</Type/Annot{keys}/Rect[70 595 270 611]/F 4/AP<</N {number} 0 R>>>>]"
        return WORDS

    return build


def _instead(said: str, shown: str) -> str:
    """Text that the file says for what is shown."""
    return f"/Span <</ActualText({said})>> BDC {shown}EMC"


def _named_instead(paper: Paper) -> str:
    paper.name("Properties", "A", f"<</ActualText({SECRET})>>")
    return "/Span /A BDC " + text("Nothing was agreed upon") + "EMC"


HIDDEN_BY_OBJECTS: Mapping[str, Callable[[Paper], str]] = {
    "no opacity": lambda paper: paper.state("/ca 0/CA 0") + WORDS,
    "multiplied white": lambda paper: paper.state("/BM/Multiply") + "0 g " + BOX + "1 g " + WORDS,
    "screened black": lambda paper: paper.state("/BM/Screen") + "1 g " + BOX + "0 g " + WORDS,
    "group without opacity": lambda paper: (
        paper.state("/ca 0") + form(paper, WORDS, "/BBox[0 0 612 792]/Group<</S/Transparency>>")
    ),
    "under a picture": lambda paper: (
        WORDS
        + "q 220 0 0 30 60 588 cm "
        + paper.picture(zlib.compress(bytes(range(256)) * 3), 16, "/Filter/FlateDecode")
    ),
    "on a picture of its colour": lambda paper: (
        f"q 220 0 0 30 60 588 cm {paper.picture(bytes((200, 30, 30)) * 16, 4)} 0.784 0.118 0.118 rg {WORDS}"
    ),
    "under a shading": lambda paper: WORDS + "q 70 595 200 16 re W n " + _shading(paper, "/C0[0.2]/C1[0.9]"),
    "under tiles": lambda paper: WORDS + _tiles(paper, "0.3 0.3 0.3 rg 0 0 8 8 re f") + BOX,
    "ink of white tiles": lambda paper: _tiles(paper, "1 g 0 0 8 8 re f") + WORDS,
    "soft mask of black": lambda paper: _mask(paper, "0 g 0 0 612 792 re f") + WORDS,
    "soft mask of alpha": lambda paper: _mask(paper, "0 g 10 10 20 20 re f", "Alpha") + WORDS,
    "within a soft mask": lambda paper: _mask(paper, "0.1 g " + WORDS) + "1 g 0 500 612 200 re f",
    "layer that is off": _layer(),
    "layer off in a form": _layer(kind="form"),
    "layer off by membership": _layer(kind="ocmd"),
    "layer off by base state": _layer("/D<</BaseState/OFF>>"),
    "glyphs without ink": drawn_glyphs("600 0 0 0 0 0 d1 "),
    "under a black annotation": _annotation("/Subtype/Square", "0 g 0 0 200 16 re f"),
    "under a white note": _annotation("/Subtype/FreeText/DA(/Helv 9 Tf)", "1 g 0 0 200 16 re f"),
    "under an opaque highlighter": _annotation(
        "/Subtype/Highlight/QuadPoints[70 611 270 611 70 595 270 595]", "1 1 0 rg 0 0 200 16 re f"
    ),
    "under a box in a form": lambda paper: WORDS + form(paper, "0 g " + BOX),
    "cut by its form": lambda paper: form(paper, WORDS, "/BBox[0 0 60 60]"),
    "replaced by ActualText": lambda _: (
        text("Settlement unknown at this time", y=620) + _instead(SECRET, text("Nothing was agreed upon"))
    ),
    "replaced by a named ActualText": _named_instead,
}


TERM = text("Term: 38 days")
SHORT = f"{SHOWN} Term days"


def _form_of(content: str, hidden: str = SECRET, seen: str = SHOWN, page: str = "") -> Callable[[], Form]:
    return lambda: Form(Paper(page=page).save(content), hidden, seen)


def embedded(shown: str, said: Mapping[str, str], *, keep_cmap: bool = True, font: str = "helv") -> bytes:
    """A page that shows `shown` in an embedded subset of a font, whose text says `said` for some of its letters."""
    made = pymupdf.open(stream=Paper().save(""))
    page = made[0]
    buffer = pymupdf.Font(font).buffer
    page.insert_font("E", fontbuffer=buffer)
    page.insert_text((72, 200), shown, fontname="E", fontsize=12)
    xref = next(row[0] for row in page.get_fonts() if row[4] == "E")
    face = pymupdf.Font(fontbuffer=buffer)
    rows = "".join(
        f"<{face.has_glyph(ord(sign)):04x}> <{ord(said.get(sign, sign)):04x}>\n" for sign in sorted(set(shown))
    )
    to_unicode = int(made.xref_get_key(xref, "ToUnicode")[1].split()[0])
    made.update_stream(to_unicode, cmap(rows, len(set(shown)), 2).encode())
    if not keep_cmap:
        made.subset_fonts()
    return bytes(made.tobytes(deflate=True))


def _embedded(
    shown: str, said: Mapping[str, str], hidden: str = "", seen: str = SHORT, *, named: bool = True
) -> Callable[[], Form]:
    return lambda: Form(embedded(shown, said, keep_cmap=named), hidden, seen)


def _drawn(glyph: str, before: str, word: str, hidden: str, seen: str) -> Callable[[], Form]:
    """A word in a font whose letters all have this drawing, behind others in a font for text."""

    def build() -> Form:
        paper = Paper()
        _type3(paper, glyph, "F2")
        return Form(paper.save(before + word), hidden, seen)

    return build


def _mapped(
    shown: str, rows: str, hidden: str, seen: str = SHORT, encoding: str = "/Encoding/WinAnsiEncoding"
) -> Callable[[], Form]:
    """A word in a standard font whose map, as "61:0061 …", says other letters than the font shows, or more."""

    def build() -> Form:
        paper = Paper()
        paper.font(keys=encoding, rows="".join(f"<{row.replace(':', '> <')}>\n" for row in rows.split()))
        return Form(paper.save(text("Term") + text(shown, x=110, font="F2") + text("days", x=160)), hidden, seen)

    return build


def _all_mapped(code: int, said: int) -> str:
    return " ".join(f"{one:02x}:{said if one == code else one:04x}" for one in range(32, 127))


def _sign_of_symbol(said: str) -> Callable[[], Form]:
    """A font called Symbol whose glyph at the place of "≤" is a "≥"."""

    def build() -> Form:
        paper = Paper()
        paper.font("Symbol", "/Encoding<</Differences[163/greaterequal]>>", f"<a3> <{ord(said):04x}>\n")
        content = text("Term") + text("\\243", x=110, font="F2") + text("28 days", x=120)
        return Form(paper.save(content), "\u2264 28", SHORT)

    return build


DIGITS = "32:0032 38:0038"
HIDDEN_BY_PROGRAM: Mapping[str, Callable[[], Form]] = {
    "under a box on a turned page": _form_of(WORDS + "0 g " + BOX, page="/Rotate 90"),
    "outside the crop box": _form_of(WORDS, page="/CropBox[0 650 612 792]"),
    "one digit under a box": _form_of(TERM + "1 g 106.2 597 7 12 re f", "38", f"{SHOWN} days"),
    "one digit clipped": _form_of("0 0 106.5 792 re 113.4 0 500 792 re W n " + TERM, "38", f"{SHOWN} days"),
    "other words over them": _form_of(
        TERM + "1 g 60 590 300 30 re f 0 g " + text("Term: 28 days"), "38", f"{SHOWN} Term: 28 days"
    ),
    "clipped words over others": _form_of(
        text("Term: 28 days") + f"q 10 10 20 20 re W n {TERM}Q", "38", f"{SHOWN} Term: 28 days"
    ),
    "digits replaced by ActualText": _form_of(_instead("Term: 38 days", text("Term: 28 days")), "38"),
    "letters replaced by ActualText": _form_of(_instead("The fee is due", text("No fee was due")), "is"),
    "ToUnicode of a font without names swapped": _embedded("Term 28 days", {"2": "3"}, "38", named=False),
    "ToUnicode of a standard font swapped": _mapped("28", _all_mapped(0x32, 0x33), "38", encoding=""),
    "ToUnicode against glyph names": _mapped("\\0018", "01:0033", "38", encoding="/Encoding<</Differences[1/two]>>"),
    "ToUnicode of an embedded font swapped": _embedded("Term 28 days", {"2": "3"}, "38"),
    "ToUnicode of letters swapped": _embedded("The fee is not due", {"n": "h"}, "hot", f"{SHOWN} The fee is due"),
    "ToUnicode of a sign swapped": _embedded("Term \u2265 28 days", {"\u2265": "\u2264"}, "\u2264 28"),
    "ToUnicode of a plus that says a hyphen": _embedded("Term +28 days", {"+": "-"}, "-28"),
    "ToUnicode of a sign behind its figure": _embedded("Term 28 % days", {"%": "\u2030"}, "28 \u2030"),
    "ToUnicode of a sign without names swapped": _embedded("Term >28 days", {">": "<"}, "<28", named=False),
    "sign that a font draws in a colour of its own": _drawn(
        "600 0 d0 0 g 50 100 m 550 350 l 50 600 l 50 540 l 420 350 l 50 160 l f",
        *(text("Term"), text("<", x=110, font="F2") + text("28 days", x=120), "< 28", SHORT),
    ),
    "ToUnicode of a sign of Symbol swapped": _sign_of_symbol("\u2264"),
    "private sign of Symbol that draws another": _sign_of_symbol("\uf0a3"),
    "one glyph that says four digits": _mapped("28", "32:0032 38:0038003000300030", "28000"),
    "one letter that says a word more": _mapped("a fee", "61:0061 66:006e006f0020006600650065 65:0065 20:0020", "no"),
    "one letter that says a word after it": _mapped("due", "64:0064 75:0075 65:00650020006e0065007600650072", "never"),
    "blank that says a digit at the end": _mapped("28\\240", f"{DIGITS} a0:0030", "280"),
    "blank that says a digit in between": _mapped("2\\2408", f"{DIGITS} a0:0039", "298"),
    "blank that says a plus": _mapped("\\2408", "38:0038 a0:002b", "+8"),
    "letters that the file draws in white": _drawn(
        "600 0 d0 1 g 100 0 400 700 re f", "", text(SECRET, font="F2"), SECRET, SHOWN
    ),
}

_SHADE = "0.85 g " + BOX + "0 g "

VISIBLE_BY_CONTENT: Mapping[str, str] = {
    "white on blue": "0 0.1 0.4 rg " + BOX + "1 g " + WORDS,
    "white on a black page": "0 g 0 0 612 690 re f 1 g " + WORDS,
    "light grey footer": "0.73 g " + text(SECRET, y=30, size=7),
    "small grey print": "0.6 g " + text(SECRET, size=4),
    "yellow on white": "0.8 0.7 0 rg " + WORDS,
    "red on green": "0 0.5 0 rg " + BOX + "1 0 0 rg " + WORDS,
    "ink of four colours": "0.6 0.4 0.4 1 k " + WORDS,
    "yellow ground": "1 1 0 rg " + BOX + "0 g " + WORDS,
    "shaded row of a table": _SHADE + WORDS,
    "underlined": WORDS + "0.8 w 70 598 m 270 598 l S",
    "grid in one path": WORDS + "0.5 w 60 590 300 24 re 60 614 300 24 re 60 566 300 24 re S",
    "grid of thin boxes": WORDS + "0 g 60 590 300 0.6 re f 60 614 300 0.6 re f 60 590 0.6 24 re f 360 590 0.6 24 re f",
    "frame as a hollow shape": WORDS + "0 g 60 585 300 40 re 62 587 296 36 re f*",
    "grey watermark behind": "0.85 g BT /F1 70 Tf 0.9 0.4 -0.4 0.9 60 560 Tm (Settlement:) Tj ET 0 g " + WORDS,
    "drawn twice": WORDS + text(SECRET, x=72.3),
    "with a shadow": "0.7 g " + text(SECRET, x=73, y=599) + "0 g " + WORDS,
    "filled and outlined": "0.2 w " + text(SECRET, before="2 Tr"),
    "outlined": "0.4 w " + text(SECRET, before="1 Tr", size=14),
    "white outlined in black": "1 g 0 G 0.5 w " + text(SECRET, before="2 Tr", size=14),
    "light letters on a dark photo of one colour": "0.2 0.25 0.2 rg 0 500 612 150 re f 0.45 0.5 0.45 rg " + WORDS,
    "turned upwards": f"BT /F1 12 Tf 0 1 -1 0 300 300 Tm ({SECRET}) Tj ET",
    "upside down": f"BT /F1 12 Tf -1 0 0 -1 300 300 Tm ({SECRET}) Tj ET",
    "clipped by its own cell": "70 596 200 12 re W n " + WORDS,
    "clipped by a rounded cell": "60 590 m 60 620 80 625 90 625 c 300 625 l 300 585 l 60 585 l h W n " + WORDS,
    "white box before": "1 g " + BOX + "0 g " + WORDS,
    "black box that was painted over": "0 g " + BOX + "1 g " + BOX + "0 g " + WORDS,
    "box beside it": WORDS + "0 g 60 612.5 300 20 re f 60 570 300 26 re f",
    "wide letters": f"BT /F1 12 Tf 1.5 Tc 72 600 Td ({SECRET}) Tj ET",
    "narrow letters": f"BT /F1 12 Tf 45 Tz 72 600 Td ({SECRET}) Tj ET",
}


PHOTO = bytes((x * 3 + y * 5 + 7 * c) % 120 for y in range(32) for x in range(32) for c in range(3))
OVER = "q 300 0 0 80 60 560 cm "


def _see_through_picture(paper: Paper) -> str:
    looks = "/Type/XObject/Subtype/Image/Width 4/Height 4/ColorSpace/DeviceGray/BitsPerComponent 8"
    return WORDS + OVER + paper.picture(bytes(48), 4, f"/SMask {paper.stream(bytes(16), looks)} 0 R")


def _visible_annotation(paper: Paper) -> str:
    fonts = "/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    number = paper.stream(
        "1 1 0.8 rg 0 0 200 16 re f 0 g " + text(SECRET, 2, 4), f"/Type/XObject/Subtype/Form/BBox[0 0 200 16]{fonts}"
    )
    paper.page = (
        f"/Annots[<</Type/Annot/Subtype/FreeText/DA(/Helv 9 Tf)/Rect[70 595 270 611]/F 4/AP<</N {number} 0 R>>>>]"
    )
    return ""


def _glyphs_without_value() -> Form:
    """The f of this font stands for nothing, and the file says what it shows."""
    paper = Paper()
    rows = _all_mapped(0x66, 0xE001)
    paper.font(rows="".join(f"<{row.replace(':', '> <')}>\n" for row in rows.split()))
    content = WORDS + _instead("office", text("office", y=560, font="F2"))
    return Form(paper.save(content), seen=f"{SHOWN} {SECRET} office")


VISIBLE_BY_OBJECTS: Mapping[str, Callable[[Paper], str]] = {
    "white on a photo": lambda paper: OVER + paper.picture(PHOTO, 32) + " 1 g " + WORDS,
    "under a see-through picture": _see_through_picture,
    "on a gradient": lambda paper: f"q 70 590 200 24 re W n {_shading(paper, '/C0[0]/C1[0.5]')} 1 g {WORDS}",
    "soft mask of light grey": lambda paper: _mask(paper, "0.8 g 0 0 612 792 re f") + WORDS,
    "half opaque": lambda paper: paper.state("/ca 0.5") + WORDS,
    "under a pane of glass": lambda paper: paper.state("/ca 0.2") + WORDS + "0 g " + BOX,
    "under a multiplied highlighter": lambda paper: paper.state("/BM/Multiply") + WORDS + "1 1 0 rg " + BOX,
    "under a transparent watermark": lambda paper: (
        f"{paper.state('/ca 0.15')}{WORDS}0.5 g BT /F1 70 Tf 0.9 0.4 -0.4 0.9 60 560 Tm (dollars) Tj ET"
    ),
    "layer that is on": _layer("/D<</ON[{0} 0 R]>>"),
    "note with a ground": _visible_annotation,
    "highlighted by an annotation": _annotation(
        "/Subtype/Highlight/QuadPoints[70 611 270 611 70 595 270 595]", "/G gs 1 1 0 rg 0 0 200 16 re f", "/BM/Multiply"
    ),
    "glyphs drawn by the file": drawn_glyphs("750 0 0 0 750 750 d1 100 0 400 700 re f"),
    "glyphs that the file draws in black": drawn_glyphs("600 0 d0 0 g 100 0 400 700 re f"),
    "ActualText that says the same": lambda _: _instead(SECRET, WORDS),
}


def _field() -> Form:
    made = pymupdf.open(stream=Paper().save(""))
    widget = pymupdf.Widget()
    widget.rect, widget.field_name, widget.field_type = (
        pymupdf.Rect(72, 180, 300, 200),
        "sum",
        pymupdf.PDF_WIDGET_TYPE_TEXT,
    )
    widget.field_value, widget.fill_color, widget.border_color = SECRET, (0.9, 0.9, 1), (0, 0, 0)
    made[0].add_widget(widget)
    return Form(bytes(made.tobytes()), seen=f"{SHOWN} {SECRET}")


def _stamp() -> Form:
    made = pymupdf.open(stream=Paper().save(WORDS))
    made[0].add_stamp_annot(pymupdf.Rect(300, 300, 500, 360), stamp=0)
    return Form(bytes(made.tobytes()), seen=f"{SHOWN} {SECRET} APPROVED")


def _devanagari() -> Form:
    words = "यह समझौता दो पक्षों के बीच है"
    made = pymupdf.open(stream=Paper().save("0.85 g 60 560 300 60 re f"))
    writer = pymupdf.TextWriter(made[0].rect)
    writer.append((72, 200), words, font=pymupdf.Font(script=9))  # 9: MuPDF's number of Devanagari
    writer.write_text(made[0])
    return Form(bytes(made.tobytes()), seen=f"{SHOWN} {words}")


SIGNS = "-5 \u22125 \u20135 +5 \u00b15 <5 >5 \u22645 \u22655 \u22605 =5 5% 5\u2030 \u20ac5 $5 \u00a35 \u00a55 \u00a75"
SIGNS += " 3\u00d75"
PANGRAM = "The quick brown fox jumps over 1234567890 lazy dogs VWXYZ SPHINX OF BLACK QUARTZ JUDGE MY"
VISIBLE_BY_PROGRAM: Mapping[str, Callable[[], Form]] = {
    "white on blue on a turned page": _form_of(
        "0 0.1 0.4 rg " + BOX + "1 g " + WORDS, "", f"{SHOWN} {SECRET}", page="/Rotate 270"
    ),
    "field of a form": _field,
    "page with a stamp": _stamp,
    "hyphen with ActualText": _form_of(
        text("Settlement: 4200000") + _instead("\xad", text("-", 190)) + " " + text("dollars", 196),
        *("", f"{SHOWN} Settlement: 4200000 dollars"),
    ),
    # one glyph that the map reads as two letters, as honest files have it
    "ligature of one glyph": _mapped(
        "of\\001ce", "01:00660069", "", f"{SHOWN} Term office days", "/Encoding<</Differences[1/fi]>>"
    ),
    "fraction of one glyph": _mapped(
        "1\\001", "31:0031 01:0031002f0032", "", f"{SHOWN} Term 11/2 days", "/Encoding<</Differences[1/onehalf]>>"
    ),
    "embedded font": _embedded("final office", {}, seen=f"{SHOWN} final office"),
    "embedded font without names": _embedded("Term 28 days", {}, seen=f"{SHOWN} Term 28 days", named=False),
    "embedded italics without names": lambda: Form(
        embedded(PANGRAM, {}, keep_cmap=False, font="tiit"), seen=f"{SHOWN} {PANGRAM}"
    ),
    "glyphs whose value the file says": _glyphs_without_value,
    "Devanagari on a tint": _devanagari,
    "signs of an embedded font": _embedded(SIGNS, {}, seen=f"{SHOWN} {SIGNS}"),
    # files say a minus for a dash, and a letter for the sign of multiplication
    "dash that is said to be a minus": _embedded(
        "\u20135 3\u00d75", {"\u2013": "\u2212", "\u00d7": "x"}, seen=f"{SHOWN} \u22125 3x5"
    ),
    "hyphen without ink": _mapped("2\\2408", f"{DIGITS} a0:002d", "", f"{SHOWN} Term 2-8 days"),
}
