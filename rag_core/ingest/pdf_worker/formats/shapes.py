"""Boxes of a web page of which nothing is seen: cut off, cut out, shrunk, or beside the page."""

# mypy: allow-untyped-calls

from __future__ import annotations

from typing import Any

from .cascade import HIGH, WIDE, Style, Tokens, pixels, word

LEAST_SCALE = 0.1  # a text shrunk more is not seen; chosen
PERCENT = 0.2  # share of a box that a pixel is; the box is taken to be 500 of them
THIN = 2.0  # pixels that a box is wide or high which hides what it cuts off
FAR = 999.0  # pixels by which nobody moves what is to be seen
LETTER = 0.5  # width of a letter, of the size of its text; about
_ROOMS = {"width": WIDE, "max-width": WIDE, "height": HIGH, "max-height": HIGH}


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

    right = down = 0.0
    placed = word(style.get("position", ())) in ("absolute", "fixed")
    indent = sum(length(token, WIDE) for token in style.get("text-indent", ())[:1])
    wide = len("".join(node.itertext())) * LETTER * size if placed or indent <= -FAR / 5 else WIDE
    if indent <= -FAR / 5 and wide <= -indent:
        return True
    if placed or word(style.get("position", ())) == "relative":
        for name, sign in (("left", 1), ("right", -1)):
            right += sign * sum(length(token, WIDE) for token in style.get(name, ())[:1])
        for name, sign in (("top", 1), ("bottom", -1)):
            down += sign * sum(length(token, HIGH) for token in style.get(name, ())[:1])
    right += sum(length(token, WIDE) for token in style.get("margin-left", ())[:1])
    down += sum(length(token, WIDE) for token in style.get("margin-top", ())[:1])
    for token in (*style.get("transform", ()), *style.get("translate", ())):
        name = getattr(token, "lower_name", "").removesuffix("3d")
        parts = [one for one in getattr(token, "arguments", (token,)) if one.type in ("dimension", "function")]
        if name in ("translate", "translatex", "") and parts:
            right += length(parts[0], wide)
        if name == "translatey" or (name == "translate" and len(parts) > 1):
            down += length(parts[-1], HIGH)
    return (
        right <= -FAR
        or down <= -FAR
        or right >= 2 * WIDE
        or (placed and down >= 10 * FAR)
        or (by_page and right <= -wide)
    )


def is_flat(style: Style) -> bool:
    """Whether an element is shrunk to nothing, or turned so that it is seen from its edge."""
    sizes = [*style.get("scale", ()), *style.get("zoom", ())]
    if any(token.type in ("number", "percentage") and abs(token.value) < LEAST_SCALE for token in sizes):
        return True
    for token in (*style.get("transform", ()), *style.get("rotate", ())):
        if token.type != "function":
            continue
        numbers = [one.value for one in token.arguments if one.type in ("number", "percentage", "dimension")]
        name = token.lower_name
        if name.startswith("scale") and any(abs(one) < LEAST_SCALE for one in numbers[: 2 if name == "scale3d" else 3]):
            return True
        if name == "matrix" and len(numbers) == 6:
            first, second, third, fourth = numbers[:4]
            if abs(first * fourth - second * third) < LEAST_SCALE**2:
                return True
        if name in ("rotatex", "rotatey") and numbers and abs(numbers[0]) % 180 == 90:
            return True
    return False


def is_clipped(style: Style, size: float, placed: bool) -> bool:
    """Whether a shape that an element is cut to leaves nothing of it."""
    return _leaves_nothing(style.get("clip-path", ()), size) or (
        placed and _leaves_nothing(style.get("clip", ()), size)
    )


def _leaves_nothing(value: Tokens, size: float) -> bool:
    token = value[0] if value else None
    if token is None or token.type != "function":
        return False
    inside = [one for one in token.arguments if one.type not in ("whitespace", "comment")]
    ends = next(
        (at for at, one in enumerate(inside) if getattr(one, "lower_value", "") in ("at", "round")), len(inside)
    )
    found = [
        pixels(one, size, 100.0) if one.type == "percentage" else (pixels(one, size, 0.0) or 0.0) * PERCENT
        for one in inside[:ends]
        if one.type in ("percentage", "dimension", "number", "function")
    ]
    lengths = [one or 0.0 for one in found]
    if token.lower_name == "polygon":
        corners = list(zip(lengths[::2], lengths[1::2], strict=False))
        area = sum(x * b - a * y for (x, y), (a, b) in zip(corners, corners[1:] + corners[:1], strict=True))
        return abs(area) < 1
    return _is_empty(token.lower_name, lengths) if lengths else False


def _is_empty(name: str, lengths: list[float]) -> bool:
    if name in ("circle", "ellipse"):
        return min(lengths) <= 0
    if name not in ("rect", "inset") or len(lengths) > 4:
        return False
    top, right, bottom, left = (lengths * 4)[:4] if len(lengths) != 3 else (*lengths, lengths[1])
    if name == "rect":
        return min(right - left, bottom - top) <= THIN * PERCENT
    return top + bottom >= 100 or left + right >= 100
