"""Writes a web page anew with what a person sees of it, and counts what is left out, boxes without room or beside the
page among it. Nothing of its own styles is left to MuPDF but how a text is set.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import tinycss2
import tinyhtml5
from cssselect2 import ElementWrapper
from tinycss2.color4 import parse_color

from ..failure import Failure
from ..glyphs.superscript import written
from ..words import Kind
from .cascade import HIGH, USUAL, WIDE, Cascade, Style, Tokens, pixels, word, words
from .equations import in_a_line, name_of
from .left_out import BLACK, LEAST_OPAQUE, WHITE, LeftOut, Shade, over, shows
from .office import MAX_DEPTH, TOO_DEEP
from .tables import said

LEAST_PX = 2 * 4 / 3  # two points: smaller text cannot be read
# drawn by no browser with scripts, or without text; and those that are no text at all, which are not counted
_SILENT = frozenset("base basefont head link meta param script style svg img title".split())
_NEVER = _SILENT | frozenset(
    "area audio canvas datalist embed frameset iframe meter noembed noframes noscript progress rp template "
    "video".split()
)
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup html legend li main menu nav ol p pre search section summary table "
    "tbody td tfoot th thead tr ul".split()
)
_ENDLESS = frozenset("br col hr input wbr".split())
_LOOKS = tuple(
    "font border margin padding list-style page-break width white-space vertical-align text-align "
    "text-transform".split()
)
_BLANK = tinycss2.ast.WhitespaceToken(0, 0, " ")
_DRAWN_AS = frozenset("block inline inline-block list-item table table-row table-cell".split())
_DROPPED = frozenset("id class style hidden color bgcolor background src text link vlink alink".split())
_SIZES = {"xx-small": 0.6, "x-small": 0.75, "small": 0.89, "medium": 1.0, "large": 1.2, "x-large": 1.5}
_SIZES |= {"xx-large": 2.0, "xxx-large": 3.0}


_TURNED = re.compile("\u202e[^\u202c\n]*\u202c?")  # what a mark forces from right to left
LEAST_SCALE = 0.1  # a text shrunk more is not seen; chosen
PERCENT = 0.2  # share of a box that a pixel is; the box is taken to be 500 of them
THIN = 2.0  # pixels that a box is wide or high which hides what it cuts off
FAR = 999.0  # pixels by which nobody moves what is to be seen
LETTER = 0.5  # width of a letter, of the size of its text; about
_ROOMS = {"width": WIDE, "max-width": WIDE, "height": HIGH, "max-height": HIGH}


class _State(NamedTuple):
    """The properties that an element hands down to those in it."""

    style: dict[str, Tokens]
    size: float = USUAL  # text, in pixels
    ground: Shade | None = WHITE  # None where a picture is
    alpha: float = 1.0
    struck: bool = False
    placed: bool = False  # within an element that others are placed by
    turned: str = ""  # the direction that its letters are forced into
    gone: Kind | None = None  # why its own text is not seen


def seen(page: str, left: LeftOut) -> str:
    """The page as plain, well-formed markup, without what is `left` out; raises Failure where it is nested too deep."""
    root = tinyhtml5.parse(page, namespace_html_elements=False)
    sheets = [("".join(one.itertext()), one.get("media", "")) for one in root.iter("style")]
    named = root.find("head/title")
    title = " ".join("".join(named.itertext()).split()) if named is not None else ""
    rules, parts = Cascade(sheets), [f"<html><head><title>{html.escape(title)}</title></head>"]
    top = ElementWrapper.from_html_root(root)
    state = _below(root, rules.style(top, {}), _State({}))
    for child in top.iter_children():
        if child.etree_element.tag == "body":
            parts.extend(_element(child, rules, state, left, 0))
    return "".join((*parts, "</html>"))


def _element(own: ElementWrapper, rules: Cascade, above: _State, left: LeftOut, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        raise Failure(*TOO_DEEP)
    node = own.etree_element
    tag = name_of(node)
    if tag in _SILENT:
        return
    state = _below(node, rules.style(own, above.style), above)
    cut = Kind.NONE if tag in _NEVER else _cut(node, state, above)
    if cut:
        yield left.mark(cut, _chars(node))
        return
    if tag == "math":
        yield from _text(written(in_a_line(node)), state, left)
        return
    if tag == "details" and node.get("open") is None:
        state = state._replace(gone=Kind.NONE)
    looks = _looks(tag, state.style)
    attributes = "".join(
        f' {name}="{html.escape(text)}"'
        for name, text in (*node.attrib.items(), *([("style", looks)] if looks else []))
        if (name == "style" and text is looks) or (str(name).isalpha() and name not in _DROPPED and name[:2] != "on")
    )
    tag = "span" if tag in ("s", "del", "strike", "font") else tag if re.fullmatch("[a-z][a-z0-9]*", tag) else "span"
    yield f"<{tag}{attributes}>"
    yield from _text(node.text, state, left)
    for child in own.iter_children():
        yield from _element(child, rules, state, left, depth + 1)
        yield from _text(child.etree_element.tail, state, left)
    if tag not in _ENDLESS:
        yield f"</{tag}>"


def _chars(node: Any) -> int:
    if str(node.tag) in _SILENT:
        return 0
    return said(node.text or "") + sum(_chars(child) + said(child.tail or "") for child in node)


def _text(text: str | None, state: _State, left: LeftOut) -> Iterator[str]:
    if not text:
        return
    kind = state.gone
    if kind is None and state.turned and _against(text, state.turned):
        kind = Kind.OTHER
    for found in () if kind else _TURNED.finditer(text):
        if _against(found[0], "rtl"):
            yield left.mark(Kind.OTHER, said(found[0].strip("\u202e\u202c")))
            text = text.replace(found[0], "")
    if kind and not text.isspace():
        yield left.mark(kind, said(text))
        text = " " * (text[0].isspace() or text[-1].isspace())
    shown = html.escape(text)
    yield f"<s>{shown}</s>" if state.struck and text.strip() else shown


def _against(text: str, direction: str) -> bool:
    """Whether letters or figures of a text are shown in another order than it says."""
    others = ("L", "EN") if direction == "rtl" else ("R", "AL")
    return any(unicodedata.bidirectional(sign) in others for sign in text)


def _looks(tag: str, style: dict[str, Tokens]) -> str:
    """How the text of an element is set, in words that MuPDF knows."""
    found = {
        name: tinycss2.serialize([*chain.from_iterable((token, _BLANK) for token in value)]).strip()
        for name, value in style.items()
        if name.startswith(_LOOKS) and value
    }
    shown = word(style.get("display", ()))
    if shown and shown != "contents":
        found["display"] = shown if shown in _DRAWN_AS else "inline-block" if shown.startswith("inline") else "block"
    moved = [pixels(token, USUAL, HIGH) or 0 for name in ("top", "bottom") for token in style.get(name, ())[:1]]
    if word(style.get("position", ())) == "relative" and any(moved):
        up = bool(style.get("top")) == (moved[0] < 0)
        found["vertical-align"] = "super" if up else "sub"
    elif tag in ("sub", "sup"):
        found.pop("vertical-align", "")  # what style sheets do to it, to move it in another way
    return "; ".join(f"{name}: {value}" for name, value in found.items())


def _below(node: Any, style: dict[str, Tokens], above: _State) -> _State:
    """The properties that an element hands down, with why its own text is not seen."""
    size = _size(style.get("font-size", ()), above.size)
    zoom = next((token.value for token in style.get("zoom", ()) if token.type == "number"), 1.0)
    share = _share(style.get("opacity", ()))
    for token in style.get("filter", ()):
        if token.type == "function" and token.lower_name == "opacity":
            share *= _share(token.arguments)
    alpha, ground = above.alpha * share, _ground(style, above.ground)
    turned = above.turned
    if words(style.get("unicode-bidi", ())) & {"bidi-override", "isolate-override"}:
        turned = word(style.get("direction", ())) or "ltr"
    state = _State(
        style,
        size * zoom,
        ground,
        alpha,
        above.struck or "line-through" in words(style.get("text-decoration-line", ())),
        above.placed or word(style.get("position", ())) in ("relative", "absolute", "fixed", "sticky"),
        turned,
    )
    return state._replace(gone=_unseen(state))


def _unseen(state: _State) -> Kind | None:
    style = state.style
    if word(style.get("visibility", ())) in ("hidden", "collapse"):
        return Kind.NONE
    if state.size < LEAST_PX:
        return Kind.TINY
    color = _color(style.get("-webkit-text-fill-color", ())) or _color(style.get("color", ())) or (BLACK, 1.0)
    if "text" in words(style.get("background-clip", ())) and _pictures(style):
        return None  # its letters are cut out of a picture
    if color[1] * state.alpha <= LEAST_OPAQUE:
        return Kind.NONE
    if state.ground and not shows(over(color[0], color[1] * state.alpha, state.ground), state.ground):
        return Kind.UNSEEN
    return None


def _size(value: Tokens, above: float) -> float:
    said = word(value)
    if said in ("smaller", "larger"):
        return above / 1.2 if said == "smaller" else above * 1.2
    if said:
        return USUAL * _SIZES.get(said, 1.0)
    found = pixels(value[0], above, above) if value else None
    return above if found is None else found


def _share(value: Tokens) -> float:
    token = value[0] if value else None
    if token is not None and token.type == "function" and (found := pixels(token, 1, 1)) is not None:
        return min(1.0, max(0.0, found))
    if token is None or token.type not in ("number", "percentage"):
        return 1.0
    return min(1.0, max(0.0, float(token.value) / (100 if token.type == "percentage" else 1)))


def _color(value: Tokens) -> tuple[Shade, float] | None:
    found = parse_color(value[0]) if len(value) == 1 else None
    if found is None or isinstance(found, str):
        return None
    try:
        parts = found.to("srgb").coordinates
    except NotImplementedError:  # tinycss2 does not convert the other spaces; most of them begin with the lightness
        light = found.coordinates[0] / (100 if found.space in ("lab", "lch") else 1)
        parts = [light] * 3 if found.space.endswith(("lab", "lch")) else found.coordinates
    red, green, blue = (part or 0.0 for part in parts)
    return (red, green, blue), found.alpha


def _pictures(style: dict[str, Tokens]) -> list[Any]:
    """The pictures behind an element that are in the file; the others are not there to be seen."""
    return [
        token
        for token in style.get("background-image", ())
        if re.match(r"(?i)url\(\W*data\b|[\w-]*gradient\(", tinycss2.serialize([token]))
    ]


def _ground(style: dict[str, Tokens], above: Shade | None) -> Shade | None:
    """The colour that an element's text stands on; None where that is a picture, or runs from one into another."""
    color, pictures = _color(style.get("background-color", ())), _pictures(style)
    if "text" in words(style.get("background-clip", ())):
        return above
    shades = [_color([token]) for one in pictures for token in getattr(one, "arguments", ())]
    known = {shade for shade in shades if shade}
    if pictures:
        return next(iter(known))[0] if len(known) == 1 and next(iter(known))[1] == 1 else None
    if not color or not color[1]:
        return above
    return color[0] if color[1] == 1 else over(*color, above) if above else None


def _cut(node: Any, state: _State, above: _State) -> Kind | None:
    style = state.style
    if state.alpha <= LEAST_OPAQUE or "none" in (said_by := words(style.get("display", ()))):
        return Kind.NONE
    if word(style.get("content-visibility", ())) == "hidden":
        return Kind.NONE
    placed = word(style.get("position", ())) in ("absolute", "fixed")
    masks = [token for token in style.get("mask-image", ()) if token.type == "function"]
    shades = [color for one in masks for token in one.arguments if (color := _color([token]))]
    if is_clipped(style, state.size, placed) or (shades and not any(alpha for _, alpha in shades)):
        return Kind.UNSEEN
    if not said_by:
        said_by = {"block" if node.tag in _BLOCKS else "inline"}
    if said_by == {"inline"} and not placed and word(style.get("float", ())) not in ("left", "right"):
        return None  # what a box is set to does not hold of a part of a line
    if has_no_room(style, state.size):
        return Kind.UNSEEN
    if is_flat(style):
        return Kind.TINY
    return Kind.NO_CONTEXT if is_beside(style, state.size, node, by_page=placed and not above.placed) else None


def has_no_room(style: Style, size: float) -> bool:
    """Whether a box that shows nothing beyond itself has no width or height."""
    if not {word(style.get(f"overflow-{axis}", ())) for axis in "xy"} & {"hidden", "clip", "auto", "scroll"}:
        return False

    def length(name: str, whole: float) -> float | None:
        return pixels(value[0], size, whole) if (value := style.get(name, ())) else None

    thin = any((found := length(name, whole)) is not None and found <= THIN for name, whole in _ROOMS.items())
    line = length("line-height", size)
    thin = thin or (line is not None and line <= THIN and not style.get("height"))
    around = [token for name, value in style.items() if name.startswith(("padding", "min-")) for token in value]
    if thin and not any((pixels(token, size, WIDE) or 0.0) > THIN for token in around):
        return True
    return word(style.get("white-space", ())) == "nowrap" and (length("text-indent", WIDE) or 0.0) >= WIDE


def is_beside(style: Style, size: float, node: Any, *, by_page: bool) -> bool:
    """Whether a box stands far beside the page, or, placed by the page, wholly at its left."""

    def length(token: Any, whole: float) -> float:
        return pixels(token, size, whole) or 0.0

    def first(name: str, whole: float) -> float:
        return sum(length(token, whole) for token in style.get(name, ())[:1])

    position, indent = word(style.get("position", ())), first("text-indent", WIDE)
    placed = position in ("absolute", "fixed")
    wide = len("".join(node.itertext())) * LETTER * size if placed or indent <= -FAR / 5 else WIDE
    if indent <= -FAR / 5 and wide <= -indent:
        return True
    right, down = first("margin-left", WIDE), first("margin-top", WIDE)
    if placed or position == "relative":
        right += first("left", WIDE) - first("right", WIDE)
        down += first("top", HIGH) - first("bottom", HIGH)
    for token in (*style.get("transform", ()), *style.get("translate", ())):
        name = getattr(token, "lower_name", "").removesuffix("3d")
        parts = [one for one in getattr(token, "arguments", (token,)) if one.type in ("dimension", "function")]
        if name in ("translate", "translatex", "") and parts:
            right += length(parts[0], wide)
        if name == "translatey" or (name == "translate" and len(parts) > 1):
            down += length(parts[-1], HIGH)
    far = right <= -FAR or down <= -FAR or right >= 2 * WIDE
    return far or (placed and down >= 10 * FAR) or (by_page and right <= -wide)


def is_flat(style: Style) -> bool:
    """Whether an element is shrunk to nothing, or turned so that it is seen from its edge."""
    sizes = [*style.get("scale", ()), *style.get("zoom", ())]
    if any(token.type in ("number", "percentage") and abs(token.value) < LEAST_SCALE for token in sizes):
        return True
    return any(map(_flattens, (*style.get("transform", ()), *style.get("rotate", ()))))


def _flattens(token: Any) -> bool:
    if token.type != "function":
        return False
    numbers = [one.value for one in token.arguments if one.type in ("number", "percentage", "dimension")]
    name = token.lower_name
    if name == "matrix" and len(numbers) == 6:
        return bool(abs(numbers[0] * numbers[3] - numbers[1] * numbers[2]) < LEAST_SCALE**2)
    if name in ("rotatex", "rotatey", "skew", "skewx", "skewy"):
        return bool(numbers) and abs(numbers[0]) % 180 == 90
    return name.startswith("scale") and any(abs(one) < LEAST_SCALE for one in numbers[: 2 if name == "scale3d" else 3])


def is_clipped(style: Style, size: float, placed: bool) -> bool:
    """Whether a shape that an element is cut to leaves nothing of it."""
    shapes = (*style.get("clip-path", ())[:1], *(style.get("clip", ())[:1] if placed else ()))
    return any(_leaves_nothing(shape, size) for shape in shapes)


def _leaves_nothing(shape: Any, size: float) -> bool:
    if shape.type != "function":
        return False
    lengths = []
    for one in shape.arguments:
        if getattr(one, "lower_value", "") in ("at", "round"):
            break
        if one.type in ("percentage", "dimension", "number", "function"):
            share = 1.0 if one.type == "percentage" else PERCENT
            lengths.append((pixels(one, size, 100.0 if share == 1.0 else 0.0) or 0.0) * share)
    if shape.lower_name == "polygon":
        corners = list(zip(lengths[::2], lengths[1::2], strict=False))
        return abs(sum(x * b - a * y for (x, y), (a, b) in zip(corners, corners[1:] + corners[:1], strict=True))) < 1
    if shape.lower_name in ("circle", "ellipse"):
        return bool(lengths) and min(lengths) <= 0
    if shape.lower_name not in ("rect", "inset") or not 0 < len(lengths) <= 4:
        return False
    top, right, bottom, left = (lengths * 4)[:4] if len(lengths) != 3 else (*lengths, lengths[1])
    if shape.lower_name == "rect":
        return min(right - left, bottom - top) <= THIN * PERCENT
    return top + bottom >= 100 or left + right >= 100
