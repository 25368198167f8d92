"""Where a run of a Word document stands, and whether a person sees it there as Word shows it in print."""

# mypy: allow-untyped-calls

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..words import Kind
from .left_out import BLACK, LEAST_OPAQUE, WHITE, Shade, over, shade_of, shows
from .numbering import WORD, is_on, value
from .office import ON

if TYPE_CHECKING:
    from .documents import Styles

SPACES = {
    "word": WORD[1:-1],
    "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
}
_OTHERWISE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_W14 = f"{{{SPACES['w14']}}}"
BOX = f"{WORD}txbxContent"
TINY = 4  # half-points of text, or fortieths of a line's height, that nobody reads
NARROW = 10  # per cent of their width that letters keep; chosen
FLAT = 40  # twips: a line or row of two points shows nothing of its text
LEFT, RIGHT, DOWN = -8_000, 16_000, 30_000  # twips of a paragraph or table beside an upright or wide page
EMU = 635  # in a twip
MARGIN = 1_440  # twips: an inch, from which boxes are placed where they do not say "page"
HIGHLIGHTS = dict(
    zip(
        "yellow green cyan magenta blue red darkBlue darkCyan darkGreen darkMagenta darkRed darkYellow darkGray "
        "lightGray black white".split(),
        "ffff00 00ff00 00ffff ff00ff 0000ff ff0000 000080 008080 008000 800080 800000 808000 808080 c0c0c0 000000 "
        "ffffff".split(),
        strict=True,
    )
)
_THEME = {"background1": WHITE, "light1": WHITE, "text1": BLACK, "dark1": BLACK}


class Place(NamedTuple):
    """The things around a run."""

    gone: bool = False  # deleted, or moved away
    kind: Kind | None = None  # why nothing here is seen
    grounds: tuple[Shade, ...] = (WHITE,)  # each that the text may stand on; none where that is a picture
    paragraph: str = ""  # its style
    table: str = ""  # the style of its table
    linked: bool = False

    def lost(self, here: bool) -> Place:
        return self._replace(gone=True) if here else self

    def hidden(self, kind: Kind | None) -> Place:
        return self._replace(kind=self.kind or kind)

    def on(self, ground: Shade | None) -> Place:
        return self._replace(grounds=(ground,)) if ground else self


def shown(parent: ET.Element) -> Iterator[ET.Element]:
    """The children; of what is written in two ways the first, as Word of today takes it."""
    for child in parent:
        if child.tag == f"{_OTHERWISE}AlternateContent":
            yield from shown(child[0] if len(child) else child)
        else:
            yield child


def unseen(own: ET.Element | None, place: Place, styles: Styles) -> Kind | None:
    """Why text of these properties is not seen."""
    # a list of contents hides its page numbers from the web alone
    marks = ("vanish", "specVanish") if place.linked else ("vanish", "specVanish", "webHidden")
    if any(styles.is_on(own, place, mark) for mark in marks):
        return Kind.NONE
    size, width = (_number(styles.run_says(own, place, name)) for name in ("sz", "w"))
    if (size is not None and size <= TINY) or (width is not None and width <= NARROW):
        return Kind.TINY
    fill = styles.run_says(own, place, "textFill")
    if fill is not None:
        alpha = fill.find(".//w14:alpha", SPACES)
        clear = _int(alpha, f"{_W14}val") / 100_000
        if fill.find("w14:noFill", SPACES) is not None or clear > 1 - LEAST_OPAQUE:
            return Kind.NONE
    code = fill.find("w14:solidFill/w14:srgbClr", SPACES) if fill is not None else None
    shade = shade_of(code.get(f"{_W14}val", "")) if code is not None else _color(styles.run_says(own, place, "color"))
    highlight = styles.run_says(own, place, "highlight")
    below = shade_of(HIGHLIGHTS.get(_val(highlight), "")) or _shading(styles.run_says(own, place, "shd"))
    grounds = (below,) if below else place.grounds
    if shade and grounds and not any(shows(shade, ground) for ground in grounds):
        return Kind.UNSEEN
    return None


def of_paragraph(own: ET.Element | None, place: Place, styles: Styles) -> Place:
    place = place._replace(paragraph=value(own, "pStyle")).on(_shading(styles.paragraph_says(own, "word:shd")))
    indent, frame, line = (styles.paragraph_says(own, f"word:{name}") for name in ("ind", "framePr", "spacing"))
    across = [_twips(indent, name) for name in ("left", "start")]
    place = place.hidden(_beside(_twips(frame, "y"), *across, -_twips(indent, "hanging"), _twips(frame, "x")))
    if line is not None and line.get(f"{WORD}lineRule") == "exact" and 0 < _twips(line, "line") <= FLAT:
        place = place.hidden(Kind.UNSEEN)
    return place


def _beside(down: int, *across: int) -> Kind | None:
    """Whether something stands beside the page, by how far it is moved."""
    inside = LEFT < min(across) and max(across) < RIGHT and LEFT < down < DOWN
    return None if inside else Kind.NO_CONTEXT


def of_table(own: ET.Element | None, place: Place, styles: Styles) -> Place:
    """The place within a table of these properties; which of its style's rules hold of a cell is not worked out."""
    style = value(own, "tblStyle")
    at, indent, shade = (own.find(f"{WORD}{name}") if own is not None else None for name in ("tblpPr", "tblInd", "shd"))
    place = place._replace(table=style).hidden(_beside(_twips(at, "tblpY"), _twips(at, "tblpX"), _twips(indent, "w")))
    if ground := _shading(shade):
        return place.on(ground)
    rules = (_shading(one) for row in styles.based(style) for one in row.iter(f"{WORD}shd"))
    return place._replace(grounds=(*place.grounds, *filter(None, rules)) if place.grounds else ())


def of_row(own: ET.Element | None, place: Place) -> Place:
    if own is None:
        return place
    height = own.find(f"{WORD}trHeight")
    if is_on(own, "hidden"):
        place = place.hidden(Kind.NONE)
    elif height is not None and height.get(f"{WORD}hRule") == "exact" and _twips(height, "val") <= FLAT:
        place = place.hidden(Kind.UNSEEN)
    return place.lost(own.find(f"{WORD}del") is not None)


def of_cell(own: ET.Element | None, place: Place) -> Place:
    if own is None:
        return place
    return place.on(_shading(own.find(f"{WORD}shd"))).lost(own.find(f"{WORD}cellDel") is not None)


class Box(NamedTuple):
    """A text box, and what it stands in, from the outermost."""

    content: ET.Element
    around: tuple[ET.Element, ...]


def boxes(paragraph: ET.Element) -> Iterator[Box]:
    """The text boxes of a paragraph, not those within one of them."""
    waiting: list[tuple[ET.Element, tuple[ET.Element, ...]]] = [(paragraph, ())]
    while waiting:
        element, around = waiting.pop()
        if element.tag == BOX:
            yield Box(element, around)
        else:
            waiting.extend((child, (*around, element)) for child in reversed(list(shown(element))))


def of_box(box: Box, place: Place) -> Place:
    kind, grounds = place.kind, place.grounds
    for one in box.around:
        name = one.tag.rpartition("}")[2]
        if name in ("anchor", "inline"):
            known = one.find("wp:docPr", SPACES)
            if one.get("hidden") in ON or (known is not None and known.get("hidden") in ON):
                kind = kind or Kind.NONE
            kind = kind or _anchored(one)
        elif name == "wsp":
            grounds = _filled(one, grounds)
        elif one.get("style") and name in ("shape", "rect", "roundrect", "group", "textbox"):
            kind = kind or _styled(one.get("style", ""))
            grounds = (shade,) if (shade := shade_of(one.get("fillcolor", "").lstrip("#"))) else grounds
    return Place(place.gone, kind, grounds)


def _anchored(anchor: ET.Element) -> Kind | None:
    extent = anchor.find("wp:extent", SPACES)
    for axis, size, most in (("H", "cx", RIGHT), ("V", "cy", DOWN)):
        long = _int(extent, size) / EMU
        if extent is not None and long <= FLAT:
            return Kind.UNSEEN
        position = anchor.find(f"wp:position{axis}", SPACES)
        offset = position.find("wp:posOffset", SPACES) if position is not None else None
        if position is None or offset is None:
            continue
        start = _as_int(offset.text or "") / EMU + (0 if position.get("relativeFrom") == "page" else MARGIN)
        if start + long <= 0 or start >= most:
            return Kind.NO_CONTEXT
    return None


def _filled(shape: ET.Element, grounds: tuple[Shade, ...]) -> tuple[Shade, ...]:
    """The ground that a shape gives its text; none where it is a picture, or a colour of the theme."""
    own = shape.find("wps:spPr", SPACES)
    fill = next((one for one in own if one.tag.endswith("Fill")), None) if own is not None else None
    if fill is None:
        given = shape.find("wps:style/a:fillRef", SPACES)
        return grounds if given is None or given.get("idx") == "0" else ()
    if fill.tag.endswith("}noFill"):
        return grounds
    code = fill.find("a:srgbClr", SPACES)
    if code is None:
        theme = fill.find("a:schemeClr", SPACES)
        return (WHITE,) if theme is not None and theme.get("val") in ("bg1", "lt1") else ()
    shade = shade_of(code.get("val", ""))
    return (shade,) if shade else ()


def _styled(style: str) -> Kind | None:
    """Why a shape of VML of this style is not seen."""
    said = dict(re.findall(r"([\w-]+)\s*:\s*([^;]+)", style.lower()))
    if said.get("visibility", "").strip() == "hidden" or said.get("display", "").strip() == "none":
        return Kind.NONE
    lengths = {
        name: float(found[1]) * {"in": 72, "px": 0.75}.get(found[2], 1)
        for name, text in said.items()
        if (found := re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*(pt|in|px)?\s*", text))
    }
    if any(lengths.get(name, FLAT) <= 2 for name in ("width", "height")):
        return Kind.UNSEEN
    for start, size in (("margin-left", "width"), ("left", "width"), ("margin-top", "height")):
        at, most = lengths.get(start, 0.0), DOWN if size == "height" else RIGHT
        if at + lengths.get(size, 0.0) <= -MARGIN / 20 or at >= most / 20:
            return Kind.NO_CONTEXT
    return None


def _val(element: ET.Element | None) -> str:
    return "" if element is None else element.get(f"{WORD}val", "")


def _number(element: ET.Element | None) -> float | None:
    said = _val(element).removesuffix("%")
    return float(said) if re.fullmatch(r"\d{1,6}(\.\d{1,4})?", said) else None


def _twips(element: ET.Element | None, name: str) -> int:
    return _int(element, f"{WORD}{name}")


def _int(element: ET.Element | None, name: str) -> int:
    return 0 if element is None else _as_int(element.get(name, ""))


def _as_int(said: str) -> int:
    return int(said) if re.fullmatch(r"\s*-?[0-9]{1,10}\s*", said) else 0


def _color(element: ET.Element | None) -> Shade | None:
    """The colour that is stated; None for none, or for the one that shows on any ground."""
    if element is None:
        return None
    theme = element.get(f"{WORD}themeColor", "")
    if theme in _THEME and not element.get(f"{WORD}themeShade") and not element.get(f"{WORD}themeTint"):
        return _THEME[theme]
    return shade_of(_val(element))


def _shading(element: ET.Element | None) -> Shade | None:
    if element is None or _val(element) == "nil":
        return None
    theme = element.get(f"{WORD}themeFill", "")
    plain = not element.get(f"{WORD}themeFillShade") and not element.get(f"{WORD}themeFillTint")
    fill = _THEME[theme] if theme in _THEME and plain else shade_of(element.get(f"{WORD}fill", ""))
    color, part = shade_of(element.get(f"{WORD}color", "")) or BLACK, _val(element)
    if part == "solid":
        return color
    if found := re.fullmatch(r"pct(\d{1,3})", part):
        return over(color, int(found[1]) / 100, fill or WHITE)
    return fill
