"""Writes text that nobody can see in many ways, and text that looks odd and can be seen: one page a form, by name.

`hidden_forms()` and `visible_forms()` give all of them; a campaign may use them as well as the tests. Content streams
are written by hand, since programs that write PDFs do not write such pages.
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

    def state(self, keys: str) -> None:
        self.name("ExtGState", "G", f"<<{keys}>>")

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
    """Operators that show `words`."""
    return f"BT {before} /{font} {size} Tf {x} {y} Td ({words}) Tj ET\n"


WORDS = text(SECRET)
BOX = "70 595 200 16 re f\n"  # over or under WORDS


def hidden_forms() -> Iterator[tuple[str, Form]]:
    """Every form of text that cannot be seen, or that says other than it shows."""
    for name, content in HIDDEN_BY_CONTENT.items():
        yield name, Form(Paper().save(content), SECRET)
    for name, build in HIDDEN_BY_OBJECTS.items():
        paper = Paper()
        yield name, Form(paper.save(build(paper)), SECRET)
    for name, make_form in HIDDEN_BY_PROGRAM.items():
        yield name, make_form()


def visible_forms() -> Iterator[tuple[str, Form]]:
    """Every form of text that is unusual and plain to see."""
    for name, content in VISIBLE_BY_CONTENT.items():
        yield name, Form(Paper().save(content), seen=f"{SHOWN} {SECRET}")
    for name, build in VISIBLE_BY_OBJECTS.items():
        paper = Paper()
        yield name, Form(paper.save(build(paper)), seen=f"{SHOWN} {SECRET}")
    for name, make_form in VISIBLE_BY_PROGRAM.items():
        yield name, make_form()


def hidden(name: str) -> Form:
    """One of `hidden_forms`."""
    return dict(hidden_forms())[name]


def visible(name: str) -> Form:
    """One of `visible_forms`."""
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


def _under_picture(paper: Paper) -> str:
    paper.name(
        "XObject",
        "X",
        paper.stream(
            zlib.compress(bytes(range(256)) * 3),
            "/Type/XObject/Subtype/Image/Width 16/Height 16/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/FlateDecode",
        ),
    )
    return WORDS + "q 220 0 0 30 60 588 cm /X Do Q"


def _on_picture(paper: Paper) -> str:
    paper.name(
        "XObject",
        "X",
        paper.stream(
            bytes((200, 30, 30)) * 16,
            "/Type/XObject/Subtype/Image/Width 4/Height 4/ColorSpace/DeviceRGB/BitsPerComponent 8",
        ),
    )
    return f"q 220 0 0 30 60 588 cm /X Do Q {200 / 255:.3f} {30 / 255:.3f} {30 / 255:.3f} rg " + WORDS


def _form(paper: Paper, content: str, keys: str = "/BBox[0 0 612 792]", name: str = "X") -> str:
    fonts = "/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    paper.name("XObject", name, paper.stream(content, f"/Type/XObject/Subtype/Form{keys}{fonts}"))
    return f"/{name} Do "


def _mask(paper: Paper, content: str, kind: str = "Luminosity") -> None:
    group = "/Group<</S/Transparency/CS/DeviceGray>>/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"  # noqa: E501
    number = paper.stream(content, f"/Type/XObject/Subtype/Form/BBox[0 0 612 792]{group}")
    paper.state(f"/SMask<</S/{kind}/G {number} 0 R>>")


def _masked(paper: Paper) -> str:
    _mask(paper, "0 g 0 0 612 792 re f")
    return "/G gs " + WORDS


def _masked_by_alpha(paper: Paper) -> str:
    _mask(paper, "0 g 10 10 20 20 re f", "Alpha")
    return "/G gs " + WORDS


def _in_mask(paper: Paper) -> str:
    _mask(paper, "0.1 g " + WORDS)
    return "/G gs 1 g 0 500 612 200 re f"


def _state(keys: str, content: str) -> Callable[[Paper], str]:
    def build(paper: Paper) -> str:
        paper.state(keys)
        return "/G gs " + content

    return build


def _group_without_opacity(paper: Paper) -> str:
    paper.state("/ca 0")
    return "/G gs " + _form(paper, WORDS, "/BBox[0 0 612 792]/Group<</S/Transparency>>")


def _shading(colours: str) -> str:
    function = f"<</FunctionType 2/Domain[0 1]{colours}/N 1>>"
    return f"<</ShadingType 2/ColorSpace/DeviceGray/Coords[70 0 270 0]/Extend[true true]/Function{function}>>"


def _under_shading(paper: Paper) -> str:
    paper.name("Shading", "S", _shading("/C0[0.2]/C1[0.9]"))
    return WORDS + "q 70 595 200 16 re W n /S sh Q"


def _tiles(paper: Paper, tile: str) -> None:
    paper.name(
        "Pattern",
        "P",
        paper.stream(tile, "/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 8 8]/XStep 8/YStep 8/Resources<<>>"),
    )


def _under_tiles(paper: Paper) -> str:
    _tiles(paper, "0.3 0.3 0.3 rg 0 0 8 8 re f")
    return WORDS + "/Pattern cs /P scn " + BOX


def _white_tiles_as_ink(paper: Paper) -> str:
    _tiles(paper, "1 g 0 0 8 8 re f")
    return "/Pattern cs /P scn " + WORDS


def _layer(off: str = "/D<</OFF[{0} 0 R]>>", kind: str = "bdc") -> Callable[[Paper], str]:
    def build(paper: Paper) -> str:
        layer = paper.add("<</Type/OCG/Name(Notes)>>")
        paper.catalog = f"/OCProperties<</OCGs[{layer} 0 R]{off.format(layer)}>>"
        if kind == "form":
            return _form(paper, WORDS, f"/BBox[0 0 612 792]/OC {layer} 0 R")
        member = paper.add(f"<</Type/OCMD/OCGs[{layer} 0 R]/P/AnyOn>>") if kind == "ocmd" else layer
        paper.name("Properties", "L", member)
        return "/OC /L BDC " + WORDS + "EMC"

    return build


def _blank_glyphs(paper: Paper) -> str:
    _type3(paper, "600 0 0 0 0 0 d1 ", "F2")
    return text(SECRET, font="F2")


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
        f"<</Type/Font/Subtype/Type3/FontBBox[0 0 600 700]/FontMatrix[0.001 0 0 0.001 0 0]/FirstChar 32/LastChar "
        f"122/Resources<<>>"
        f"/Widths[{'600 ' * len(codes)}]/Encoding<</Differences[32 {names}]>>/CharProcs<<{procedures}>>/ToUnicode "
        f"{to_unicode} 0 R>>",
    )


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


def _box_in_form(paper: Paper) -> str:
    return WORDS + _form(paper, "0 g " + BOX)


def _cut_by_its_form(paper: Paper) -> str:
    return _form(paper, WORDS, "/BBox[0 0 60 60]")


def _replaced(paper: Paper) -> str:
    return (
        text("Settlement unknown at this time", y=620)
        + f"/Span <</ActualText({SECRET})>> BDC "
        + text("Nothing was agreed upon")
        + "EMC"
    )


def _replaced_by_property(paper: Paper) -> str:
    paper.name("Properties", "A", f"<</ActualText({SECRET})>>")
    return "/Span /A BDC " + text("Nothing was agreed upon") + "EMC"


def _replaced_digits() -> Form:
    content = "/Span <</ActualText(Term: 38 days)>> BDC " + text("Term: 28 days") + "EMC"
    return Form(Paper().save(content), "38", SHOWN)


def _replaced_letters() -> Form:
    content = "/Span <</ActualText(The fee is due)>> BDC " + text("No fee was due") + "EMC"
    return Form(Paper().save(content), "is", SHOWN)


HIDDEN_BY_OBJECTS: Mapping[str, Callable[[Paper], str]] = {
    "no opacity": _state("/ca 0/CA 0", WORDS),
    "multiplied white": _state("/BM/Multiply", "0 g " + BOX + "1 g " + WORDS),
    "screened black": _state("/BM/Screen", "1 g " + BOX + "0 g " + WORDS),
    "group without opacity": _group_without_opacity,
    "under a picture": _under_picture,
    "on a picture of its colour": _on_picture,
    "under a shading": _under_shading,
    "under tiles": _under_tiles,
    "ink of white tiles": _white_tiles_as_ink,
    "soft mask of black": _masked,
    "soft mask of alpha": _masked_by_alpha,
    "within a soft mask": _in_mask,
    "layer that is off": _layer(),
    "layer off in a form": _layer(kind="form"),
    "layer off by membership": _layer(kind="ocmd"),
    "layer off by base state": _layer("/D<</BaseState/OFF>>"),
    "glyphs without ink": _blank_glyphs,
    "under a black annotation": _annotation("/Subtype/Square", "0 g 0 0 200 16 re f"),
    "under a white note": _annotation("/Subtype/FreeText/DA(/Helv 9 Tf)", "1 g 0 0 200 16 re f"),
    "under an opaque highlighter": _annotation(
        "/Subtype/Highlight/QuadPoints[70 611 270 611 70 595 270 595]", "1 1 0 rg 0 0 200 16 re f"
    ),
    "under a box in a form": _box_in_form,
    "cut by its form": _cut_by_its_form,
    "replaced by ActualText": _replaced,
    "replaced by a named ActualText": _replaced_by_property,
}


def _turned() -> Form:
    paper = Paper(page="/Rotate 90")
    return Form(paper.save(WORDS + "0 g " + BOX), SECRET)


def _cropped() -> Form:
    paper = Paper(page="/CropBox[0 650 612 792]")
    return Form(paper.save(WORDS), SECRET)


def _one_digit_covered() -> Form:
    return Form(Paper().save(text("Term: 38 days") + "1 g 106.2 597 7 12 re f"), "38", f"{SHOWN} days")


def _one_digit_clipped() -> Form:
    return Form(Paper().save("0 0 106.5 792 re 113.4 0 500 792 re W n " + text("Term: 38 days")), "38", f"{SHOWN} days")


def _both_in_one_place() -> Form:
    return Form(
        Paper().save(text("Term: 38 days") + "1 g 60 590 300 30 re f 0 g " + text("Term: 28 days")),
        "38",
        f"{SHOWN} Term: 28 days",
    )


def _clipped_in_one_place() -> Form:
    content = text("Term: 28 days") + "q 10 10 20 20 re W n " + text("Term: 38 days") + "Q"
    return Form(Paper().save(content), "38", f"{SHOWN} Term: 28 days")


def _swapped(names: bool) -> Callable[[], Form]:
    """The glyph of 2 is said to be a 3, in a standard font or one that names its glyphs otherwise."""

    def build() -> Form:
        paper = Paper()
        mapping = "".join(f"<{code:02x}> <{(0x33 if code == 0x32 else code):04x}>\n" for code in range(32, 127))
        to_unicode = paper.stream(cmap(mapping, 95))
        encoding = "/Encoding<</Differences[1/two]>>" if names else ""
        if names:
            to_unicode = paper.stream(cmap("<01> <0033>\n", 1))
        paper.name(
            "Font", "F2", f"<</Type/Font/Subtype/Type1/BaseFont/Helvetica{encoding}/ToUnicode {to_unicode} 0 R>>"
        )
        return Form(
            paper.save(text("Term") + text("\\0018" if names else "28", x=110, font="F2") + text("days", x=140)),
            "38",
            f"{SHOWN} Term days",
        )

    return build


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


def _swapped_embedded() -> Form:
    return Form(embedded("Term 28 days", {"2": "3"}), "38", f"{SHOWN} Term days")


def _swapped_without_names() -> Form:
    return Form(embedded("Term 28 days", {"2": "3"}, keep_cmap=False), "38", f"{SHOWN} Term days")


def _drawn_in_white() -> Form:
    paper = Paper()
    _type3(paper, "600 0 d0 1 g 100 0 400 700 re f", "F2")
    return Form(paper.save(text(SECRET, font="F2")), SECRET)


def _swapped_letters() -> Form:
    return Form(embedded("The fee is not due", {"n": "h"}), "hot", f"{SHOWN} The fee is due")


def _swapped_sign() -> Form:
    return Form(embedded("Term \u2265 28 days", {"\u2265": "\u2264"}), "\u2264 28", f"{SHOWN} Term days")


def _swapped_hyphen() -> Form:
    return Form(embedded("Term +28 days", {"+": "-"}), "-28", f"{SHOWN} Term days")


def _swapped_percent() -> Form:
    return Form(embedded("Term 28 % days", {"%": "\u2030"}), "28 \u2030", f"{SHOWN} Term days")


def _swapped_sign_without_names() -> Form:
    return Form(embedded("Term >28 days", {">": "<"}, keep_cmap=False), "<28", f"{SHOWN} Term days")


def _swapped_sign_of_own_colour() -> Form:
    paper = Paper()
    _type3(paper, "600 0 d0 0 g 50 100 m 550 350 l 50 600 l 50 540 l 420 350 l 50 160 l f", "F2")
    return Form(
        paper.save(text("Term") + text("<", x=110, font="F2") + text("28 days", x=120)), "< 28", f"{SHOWN} Term days"
    )


def _swapped_sign_of_symbol(said: str) -> Callable[[], Form]:
    """A font called Symbol whose glyph at the place of "≤" is a "≥"."""

    def build() -> Form:
        paper = Paper()
        to_unicode = paper.stream(cmap(f"<a3> <{ord(said):04x}>\n", 1))
        encoding = "/Encoding<</Differences[163/greaterequal]>>"
        paper.name("Font", "F2", f"<</Type/Font/Subtype/Type1/BaseFont/Symbol{encoding}/ToUnicode {to_unicode} 0 R>>")
        return Form(
            paper.save(text("Term") + text("\\243", x=110, font="F2") + text("28 days", x=120)),
            "\u2264 28",
            f"{SHOWN} Term days",
        )

    return build


def _mapped(shown: str, rows: str, hidden: str, seen: str, encoding: str = "/Encoding/WinAnsiEncoding") -> Form:
    """A word in a standard font whose map says other letters than the font shows, or more."""
    paper = Paper()
    to_unicode = paper.stream(cmap(rows, rows.count("\n")))
    paper.name("Font", "F2", f"<</Type/Font/Subtype/Type1/BaseFont/Helvetica{encoding}/ToUnicode {to_unicode} 0 R>>")
    return Form(
        paper.save(text("Term") + text(shown, x=110, font="F2") + text("days", x=160)), hidden, f"{SHOWN} {seen}"
    )


def _many_of_one() -> Form:
    return _mapped("28", "<32> <0032>\n<38> <0038003000300030>\n", "28000", "Term days")


def _word_of_a_letter() -> Form:
    return _mapped(
        "a fee", "<61> <0061>\n<66> <006e006f0020006600650065>\n<65> <0065>\n<20> <0020>\n", "no", "Term days"
    )


def _word_after_a_letter() -> Form:
    return _mapped("due", "<64> <0064>\n<75> <0075>\n<65> <00650020006e0065007600650072>\n", "never", "Term days")


def _digit_of_a_blank() -> Form:
    return _mapped("28\\240", "<32> <0032>\n<38> <0038>\n<a0> <0030>\n", "280", "Term days")


def _blank_hyphen() -> Form:
    """Some fonts have a hyphen without ink."""
    return _mapped("2\\2408", "<32> <0032>\n<38> <0038>\n<a0> <002d>\n", "", "Term 2-8 days")


def _plus_of_a_blank() -> Form:
    return _mapped("\\2408", "<38> <0038>\n<a0> <002b>\n", "+8", "Term days")


def _blank_between() -> Form:
    return _mapped("2\\2408", "<32> <0032>\n<38> <0038>\n<a0> <0039>\n", "298", "Term days")


HIDDEN_BY_PROGRAM: Mapping[str, Callable[[], Form]] = {
    "under a box on a turned page": _turned,
    "outside the crop box": _cropped,
    "one digit under a box": _one_digit_covered,
    "one digit clipped": _one_digit_clipped,
    "other words over them": _both_in_one_place,
    "clipped words over others": _clipped_in_one_place,
    "digits replaced by ActualText": _replaced_digits,
    "letters replaced by ActualText": _replaced_letters,
    "ToUnicode of a font without names swapped": _swapped_without_names,
    "ToUnicode of a standard font swapped": _swapped(names=False),
    "ToUnicode against glyph names": _swapped(names=True),
    "ToUnicode of an embedded font swapped": _swapped_embedded,
    "ToUnicode of letters swapped": _swapped_letters,
    "ToUnicode of a sign swapped": _swapped_sign,
    "ToUnicode of a plus that says a hyphen": _swapped_hyphen,
    "ToUnicode of a sign behind its figure": _swapped_percent,
    "ToUnicode of a sign without names swapped": _swapped_sign_without_names,
    "sign that a font draws in a colour of its own": _swapped_sign_of_own_colour,
    "ToUnicode of a sign of Symbol swapped": _swapped_sign_of_symbol("\u2264"),
    "private sign of Symbol that draws another": _swapped_sign_of_symbol("\uf0a3"),
    "one glyph that says four digits": _many_of_one,
    "one letter that says a word more": _word_of_a_letter,
    "one letter that says a word after it": _word_after_a_letter,
    "blank that says a digit at the end": _digit_of_a_blank,
    "blank that says a digit in between": _blank_between,
    "blank that says a plus": _plus_of_a_blank,
    "letters that the file draws in white": _drawn_in_white,
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


def _photo(paper: Paper) -> str:
    samples = bytes((x * 3 + y * 5 + 7 * c) % 120 for y in range(32) for x in range(32) for c in range(3))
    paper.name(
        "XObject",
        "X",
        paper.stream(samples, "/Type/XObject/Subtype/Image/Width 32/Height 32/ColorSpace/DeviceRGB/BitsPerComponent 8"),
    )
    return "q 300 0 0 80 60 560 cm /X Do Q 1 g " + WORDS


def _see_through_picture(paper: Paper) -> str:
    mask = paper.stream(
        bytes(16), "/Type/XObject/Subtype/Image/Width 4/Height 4/ColorSpace/DeviceGray/BitsPerComponent 8"
    )
    paper.name(
        "XObject",
        "X",
        paper.stream(
            bytes(48),
            f"/Type/XObject/Subtype/Image/Width 4/Height 4/ColorSpace/DeviceRGB/BitsPerComponent 8/SMask {mask} 0 R",
        ),
    )
    return WORDS + "q 300 0 0 80 60 560 cm /X Do Q"


def _on_gradient(paper: Paper) -> str:
    paper.name("Shading", "S", _shading("/C0[0]/C1[0.5]"))
    return "q 70 590 200 24 re W n /S sh Q 1 g " + WORDS


def _soft_edge(paper: Paper) -> str:
    _mask(paper, "0.8 g 0 0 612 792 re f")
    return "/G gs " + WORDS


def _visible_annotation(paper: Paper) -> str:
    fonts = "/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    number = paper.stream(
        "1 1 0.8 rg 0 0 200 16 re f 0 g " + text(SECRET, 2, 4), f"/Type/XObject/Subtype/Form/BBox[0 0 200 16]{fonts}"
    )
    paper.page = (
        f"/Annots[<</Type/Annot/Subtype/FreeText/DA(/Helv 9 Tf)/Rect[70 595 270 611]/F 4/AP<</N {number} 0 R>>>>]"
    )
    return ""


def _bars(paper: Paper) -> str:
    mapping = "750 0 0 0 750 750 d1 100 0 400 700 re f"
    _type3(paper, mapping, "F2")
    return text(SECRET, font="F2")


def _bars_in_black(paper: Paper) -> str:
    _type3(paper, "600 0 d0 0 g 100 0 400 700 re f", "F2")
    return text(SECRET, font="F2")


def _hyphen(paper: Paper) -> str:
    return (
        text("Settlement: 4200000")
        + "/Span <</ActualText(\xad)>> BDC "
        + text("-", 190)
        + "EMC "
        + text("dollars", 196)
    )


def _same_actual_text(paper: Paper) -> str:
    return f"/Span <</ActualText({SECRET})>> BDC " + WORDS + "EMC"


def _glyphs_without_value(paper: Paper) -> str:
    """The f of this font stands for nothing, and the file says what it shows."""
    mapping = "".join(f"<{code:02x}> <{(0xE001 if code == 0x66 else code):04x}>\n" for code in range(32, 127))
    to_unicode = paper.stream(cmap(mapping, 95))
    paper.name("Font", "F2", f"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode {to_unicode} 0 R>>")
    return WORDS + "/Span <</ActualText(office)>> BDC " + text("office", y=560, font="F2") + "EMC"


VISIBLE_BY_OBJECTS: Mapping[str, Callable[[Paper], str]] = {
    "white on a photo": _photo,
    "under a see-through picture": _see_through_picture,
    "on a gradient": _on_gradient,
    "soft mask of light grey": _soft_edge,
    "half opaque": _state("/ca 0.5", WORDS),
    "under a pane of glass": _state("/ca 0.2", WORDS + "0 g " + BOX),
    "under a multiplied highlighter": _state("/BM/Multiply", WORDS + "1 1 0 rg " + BOX),
    "under a transparent watermark": _state(
        "/ca 0.15", WORDS + "0.5 g BT /F1 70 Tf 0.9 0.4 -0.4 0.9 60 560 Tm (dollars) Tj ET"
    ),
    "layer that is on": _layer("/D<</ON[{0} 0 R]>>"),
    "note with a ground": _visible_annotation,
    "highlighted by an annotation": _annotation(
        "/Subtype/Highlight/QuadPoints[70 611 270 611 70 595 270 595]", "/G gs 1 1 0 rg 0 0 200 16 re f", "/BM/Multiply"
    ),
    "glyphs drawn by the file": _bars,
    "glyphs that the file draws in black": _bars_in_black,
    "ActualText that says the same": _same_actual_text,
}


def _turned_visible() -> Form:
    paper = Paper(page="/Rotate 270")
    return Form(paper.save("0 0.1 0.4 rg " + BOX + "1 g " + WORDS), seen=f"{SHOWN} {SECRET}")


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


def _hyphenated() -> Form:
    paper = Paper()
    return Form(paper.save(_hyphen(paper)), seen=f"{SHOWN} Settlement: 4200000 dollars")


def _ligature() -> Form:
    """One glyph that the map reads as two letters, as honest files have it."""
    return Form(embedded("final office", {}), seen=f"{SHOWN} final office")


def _without_names() -> Form:
    return Form(embedded("Term 28 days", {}, keep_cmap=False), seen=f"{SHOWN} Term 28 days")


def _italics_without_names() -> Form:
    words = "The quick brown fox jumps over 1234567890 lazy dogs VWXYZ SPHINX OF BLACK QUARTZ JUDGE MY"
    return Form(embedded(words, {}, keep_cmap=False, font="tiit"), seen=f"{SHOWN} {words}")


def _value_by_file() -> Form:
    paper = Paper()
    return Form(paper.save(_glyphs_without_value(paper)), seen=f"{SHOWN} {SECRET} office")


def _devanagari() -> Form:
    words = "यह समझौता दो पक्षों के बीच है"
    made = pymupdf.open(stream=Paper().save("0.85 g 60 560 300 60 re f"))
    writer = pymupdf.TextWriter(made[0].rect)
    writer.append((72, 200), words, font=pymupdf.Font(script=9))  # 9: MuPDF's number of Devanagari
    writer.write_text(made[0])
    return Form(bytes(made.tobytes()), seen=f"{SHOWN} {words}")


def _signs() -> Form:
    words = (
        "-5 \u22125 \u20135 +5 \u00b15 <5 >5 \u22645 \u22655 \u22605 =5 5% 5\u2030 "
        "\u20ac5 $5 \u00a35 \u00a55 \u00a75 3\u00d75"
    )
    return Form(embedded(words, {}), seen=f"{SHOWN} {words}")


def _dash_for_minus() -> Form:
    """Files say a minus for a dash, and a letter for the sign of multiplication."""
    return Form(embedded("\u20135 3\u00d75", {"\u2013": "\u2212", "\u00d7": "x"}), seen=f"{SHOWN} \u22125 3x5")


def _ligature_of_one_glyph() -> Form:
    return _mapped("of\\001ce", "<01> <00660069>\n", "", "Term office days", "/Encoding<</Differences[1/fi]>>")


def _fraction() -> Form:
    """A fraction of one glyph, as programs give it to the text."""
    return _mapped(
        "1\\001", "<31> <0031>\n<01> <0031002f0032>\n", "", "Term 11/2 days", "/Encoding<</Differences[1/onehalf]>>"
    )


VISIBLE_BY_PROGRAM: Mapping[str, Callable[[], Form]] = {
    "white on blue on a turned page": _turned_visible,
    "field of a form": _field,
    "page with a stamp": _stamp,
    "hyphen with ActualText": _hyphenated,
    "ligature of one glyph": _ligature_of_one_glyph,
    "fraction of one glyph": _fraction,
    "embedded font": _ligature,
    "embedded font without names": _without_names,
    "embedded italics without names": _italics_without_names,
    "glyphs whose value the file says": _value_by_file,
    "Devanagari on a tint": _devanagari,
    "signs of an embedded font": _signs,
    "dash that is said to be a minus": _dash_for_minus,
    "hyphen without ink": _blank_hyphen,
}
