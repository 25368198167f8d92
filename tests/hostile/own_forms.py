"""More forms of hidden text, and of honest text, than `forms` has: what its author did not think of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from forms import BOX, SECRET, SHOWN, WORDS, Form, Paper, drawn_glyphs, form, text

Build = Callable[[Paper], str]


def hidden_forms() -> Iterator[tuple[str, Form]]:
    """Text that nobody can see, or that says other than it shows."""
    yield from _built(HIDDEN, SECRET, SHOWN)
    yield from ((name, make()) for name, make in HIDDEN_FORMS.items())


def visible_forms() -> Iterator[tuple[str, Form]]:
    """Text that is plain to see."""
    yield from _built(VISIBLE, "", f"{SHOWN} {SECRET}")


def _built(builds: Mapping[str, Build], hidden: str, seen: str) -> Iterator[tuple[str, Form]]:
    for name, build in builds.items():
        paper = Paper()
        yield name, Form(paper.save(build(paper)), hidden, seen)


def _content(content: str) -> Build:
    return lambda paper: content


def _state(keys: str, content: str) -> Build:
    def build(paper: Paper) -> str:
        paper.state(keys)
        return content

    return build


def _colour(space: str, operands: str) -> Build:
    def build(paper: Paper) -> str:
        paper.name("ColorSpace", "C", space)
        return f"/C cs {operands} scn " + WORDS

    return build


def _tint(name: str) -> str:
    return f"[/Separation/{name}/DeviceGray<</FunctionType 2/Domain[0 1]/C0[1]/C1[0]/N 1>>]"


def _shaded(gray: str) -> Build:
    def build(paper: Paper) -> str:
        function = f"<</FunctionType 2/Domain[0 1]{gray}/N 1>>"
        shading = f"<</ShadingType 2/ColorSpace/DeviceGray/Coords[70 0 270 0]/Extend[true true]/Function{function}>>"
        paper.name("Pattern", "P", f"<</PatternType 2/Shading{shading}>>")
        return "/Pattern cs /P scn " + WORDS

    return build


def _layer(state: str) -> Build:
    """A layer that is on, or off, when the page is looked at, as opposed to printed."""

    def build(paper: Paper) -> str:
        usage = f"/Usage<</View<</ViewState/{state}>>/Print<</PrintState/ON>>>>"
        layer = paper.add(f"<</Type/OCG/Name(Notes)/Intent/View{usage}>>")
        event = f"/AS[<</Event/View/Category[/View]/OCGs[{layer} 0 R]>>]"
        paper.catalog = f"/OCProperties<</OCGs[{layer} 0 R]/D<</ON[{layer} 0 R]{event}>>>>"
        paper.name("Properties", "L", layer)
        return "/OC /L BDC " + WORDS + "EMC"

    return build


def _moved(content: str, matrix: str) -> Build:
    return lambda paper: form(paper, content, f"/BBox[-9999 -9999 9999 9999]/Matrix[{matrix}]")


def _dark_form(paper: Paper) -> str:
    return form(paper, "0 0.1 0.4 rg " + BOX) + "1 g " + WORDS


def _note(flags: int) -> Build:
    """An annotation with the words in its own appearance: hidden (2), or not for the screen (32)."""

    def build(paper: Paper) -> str:
        fonts = "/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
        number = paper.stream("0 g " + text(SECRET, 2, 4), f"/Type/XObject/Subtype/Form/BBox[0 0 200 16]{fonts}")
        keys = f"/Subtype/FreeText/DA(/Helv 9 Tf)/Contents(x)/Rect[70 595 270 611]/F {flags}/AP<</N {number} 0 R>>"
        paper.page = f"/Annots[<</Type/Annot{keys}>>]"
        return ""

    return build


def _under_field(paper: Paper) -> str:
    """An empty field of a form, with a ground of its own, over the words."""
    number = paper.stream("0.9 g 0 0 200 16 re f", "/Type/XObject/Subtype/Form/BBox[0 0 200 16]/Resources<<>>")
    field = paper.add(f"<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/Rect[70 595 270 611]/F 4/AP<</N {number} 0 R>>>>")
    paper.page = f"/Annots[{field} 0 R]"
    paper.catalog = f"/AcroForm<</Fields[{field} 0 R]>>"
    return WORDS


HIDDEN: Mapping[str, Build] = {
    "letters that paint themselves white": drawn_glyphs("600 0 d0 1 g 100 0 400 700 re f"),
    "letters without a box": drawn_glyphs("600 0 d0"),
    "spot colour without a tint": _colour(_tint("Gold"), "0"),
    "white of Lab": _colour("[/Lab<</WhitePoint[0.95 1 1.09]/Range[-100 100 -100 100]>>]", "100 0 0"),
    "white of an index": _colour("[/Indexed/DeviceRGB 1<000000FFFFFF>]", "1"),
    "letters of a white shading": _shaded("/C0[1]/C1[1]"),
    "under a lightening box": _state("/BM/Lighten", WORDS + "/G gs 1 g " + BOX),
    "under a dodging box": _state("/BM/Screen", WORDS + "/G gs 1 g " + BOX),
    "under a darkening box": _state("/BM/Darken", WORDS + "/G gs 0 g " + BOX),
    "taken off by a difference": _state("/BM/Difference", "1 g " + BOX + "/G gs " + "0 g " + WORDS),
    "layer for print only": _layer("OFF"),
    "clipped by twice the same path": _content("70 590 300 30 re 70 590 300 30 re W* n " + WORDS),
    "risen off the page": _content(f"BT /F1 12 Tf 5000 Ts 72 600 Td ({SECRET}) Tj ET"),
    "skewed to a line": _content(f"BT /F1 12 Tf 1 1 1 1 72 600 Tm ({SECRET}) Tj ET"),
    "moved off by its form": _moved(WORDS, "1 0 0 1 5000 0"),
    "made small by its form": _moved(WORDS, "0.02 0 0 0.02 72 600"),
    "hidden note": _note(2),
    "note that is not for the screen": _note(32),
    "under an empty field": _under_field,
    "under a dashed marker": _content(WORDS + "16 w 0 G [3 0] 0 d 70 603 m 270 603 l S"),
    "under a fat point": _content(WORDS + "0 G 1 J 300 w 170 603 m 170 603 l S 1 g " + text(SHOWN, 72, 700)),
    "under its own white outline": _content(f"0 g 1 G 9 w BT /F1 12 Tf 2 Tr 72 600 Td ({SECRET}) Tj ET"),
}
VISIBLE: Mapping[str, Build] = {
    "letters that paint themselves black": drawn_glyphs("600 0 d0 0 g 100 0 400 700 re f"),
    "spot colour with its tint": _colour(_tint("Gold"), "1"),
    "black of Lab": _colour("[/Lab<</WhitePoint[0.95 1 1.09]/Range[-100 100 -100 100]>>]", "0 0 0"),
    "under a darkening yellow box": _state("/BM/Darken", WORDS + "/G gs 1 1 0 rg " + BOX),
    "layer for the screen": _layer("ON"),
    "clipped by two cells": _content("70 590 300 30 re 400 590 30 30 re W* n " + WORDS),
    "risen a little": _content(f"BT /F1 12 Tf 4 Ts 72 600 Td ({SECRET}) Tj ET"),
    "moved by its form": _moved(text(SECRET, 0, 0), "1 0 0 1 72 600"),
    "white on a ground in a form": _dark_form,
    "slanted as italics": _content(f"BT /F1 12 Tf 1 0 0.3 1 72 600 Tm ({SECRET}) Tj ET"),
    "over a fat point": _content("0.8 G 1 J 300 w 170 603 m 170 603 l S 0 g " + text(SHOWN, 72, 700) + WORDS),
}


def _tiny_between() -> Form:
    content = "BT /F1 12 Tf 72 600 Td (Term: 2) Tj /F1 0.2 Tf (9) Tj /F1 12 Tf (8 days) Tj ET "
    return Form(Paper().save(content), "298", f"{SHOWN} Term: days")


def _backwards() -> Form:
    """The digits stand in the file as 28 and on the page as 82."""
    content = "BT /F1 12 Tf 72 600 Td (Term) Tj ET BT /F1 12 Tf 117 600 Td (2) Tj -7 0 Td (8) Tj ET " + text(
        "days", 160
    )
    return Form(Paper().save(content), "28", f"{SHOWN} Term days")


HIDDEN_FORMS: Mapping[str, Callable[[], Form]] = {
    "tiny digit between two others": _tiny_between,
    "digits painted backwards": _backwards,
}
