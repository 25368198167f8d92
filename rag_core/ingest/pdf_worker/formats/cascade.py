"""The style of each element of a web page, as a browser on a desk with scripts computes it: which declaration wins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import tinycss2
from cssselect2 import ElementWrapper, Matcher, SelectorError, compile_selector_list
from tinycss2.color4 import parse_color

WIDE, HIGH, USUAL = 1280.0, 800.0, 16.0  # pixels of the window, and of text that states no size
DEEPEST = 20  # rules within rules, and names that stand for names
MAX_NAMED = 4_000  # characters that a value has after its names are filled in
UNLAYERED = 1 << 30  # declarations outside layers come last; more layers than any sheet has
Tokens = Sequence[Any]
Style = Mapping[str, Tokens]

# what browsers hide, strike out or colour by themselves
BROWSER = """
[hidden], dialog:not([open]), [popover] { display: none }
details:not([open]) > :not(summary:first-of-type) { display: none !important }
s, strike, del { text-decoration-line: line-through }
bdo[dir] { unicode-bidi: bidi-override } [dir=rtl i] { direction: rtl } [dir=ltr i] { direction: ltr }
mark { background-color: #ff0; color: #000 } a[href] { color: #00e }
"""
SIDES = ("top", "right", "bottom", "left")
# a font's, background's or other property that states several at once, by what it says of one that decides
_SHORT = {
    "background": ("background-color", "background-image", "background-clip"),
    "overflow": ("overflow-x", "overflow-y"),
    "text-decoration": ("text-decoration-line",),
    "inset": SIDES,
    "margin": tuple(f"margin-{side}" for side in SIDES),
    "font": ("font-size", "line-height"),
    "mask": ("mask-image",),
}
_OTHER_NAMES = dict(
    pair.split(":")
    for pair in (
        "block-size:height inline-size:width max-block-size:max-height max-inline-size:max-width "
        "inset-inline-start:left inset-inline-end:right inset-block-start:top inset-block-end:bottom "
        "margin-inline-start:margin-left margin-block-start:margin-top overflow-inline:overflow-x "
        "overflow-block:overflow-y"
    ).split()
)
INHERITED = frozenset("color direction line-height text-indent visibility white-space -webkit-text-fill-color".split())
_UNITS = {"px": 1, "pt": 4 / 3, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6}
_UNITS |= {"vw": WIDE / 100, "vh": HIGH / 100, "vmin": HIGH / 100, "vmax": WIDE / 100, "rem": USUAL}
_FEATURE = re.compile(
    r"\(\s*(?:(min|max)-)?(width|height|device-width)\s*(:|[<>]=?)\s*(\d*\.?\d+)(px|r?em)\s*\)|"
    r"\(\s*([\w-]+)\s*(?::\s*([\w-]+)\s*)?\)"
)
_HOLDS = {"prefers-color-scheme": "light", "orientation": "landscape", "hover": "hover", "pointer": "fine"}
_HOLDS |= {"scripting": "enabled", "prefers-reduced-motion": "no-preference", "color": ""}


class _Rule(NamedTuple):
    declarations: Sequence[tuple[str, Tokens, bool]]
    layer: int


class Cascade:
    """The rules of a page's style sheets."""

    def __init__(self, sheets: Sequence[tuple[str, str]]) -> None:
        self._matcher, self._layers = Matcher(), dict[str, int]()
        self._add(tinycss2.parse_stylesheet(BROWSER, True, True), "", -1, 0)
        for text, media in sheets:
            if applies(media):
                self._add(tinycss2.parse_stylesheet(text, True, True), "", UNLAYERED, 0)

    def _add(self, rules: Tokens, around: str, layer: int, depth: int) -> None:
        """Take the rules within those `around`; each may hold others."""
        for rule in rules if depth < DEEPEST else ():
            said = tinycss2.serialize(rule.prelude).strip() if rule.type in ("qualified-rule", "at-rule") else ""
            if rule.type == "qualified-rule":
                if around:
                    said = said.replace("&", f":is({around})") if "&" in said else f":is({around}) :is({said})"
                self._take(said, rule.content, layer, depth)
            elif rule.type == "at-rule" and rule.content is not None and self._holds(rule.lower_at_keyword, said):
                inner = layer
                if rule.lower_at_keyword == "layer" and layer >= 0:
                    inner = self._layers.setdefault(said, len(self._layers))
                if around:
                    self._take(around, rule.content, inner, depth)
                else:
                    self._add(tinycss2.parse_rule_list(rule.content, True, True), "", inner, depth + 1)
            elif rule.type == "at-rule" and rule.lower_at_keyword == "layer":
                for name in said.split(","):
                    self._layers.setdefault(name.strip(), len(self._layers))

    def _take(self, selector: str, content: Tokens, layer: int, depth: int) -> None:
        parsed = tinycss2.parse_blocks_contents(content, True, True)
        rule = _Rule(list(_declared(parsed)), layer)
        try:
            for one in compile_selector_list(selector):
                if one.pseudo_element is None:
                    self._matcher.add_selector(one, rule)
        except SelectorError:
            return  # as browsers do
        self._add([one for one in parsed if one.type != "declaration"], selector, layer, depth + 1)

    @staticmethod
    def _holds(keyword: str, said: str) -> bool:
        if keyword in ("media", "container"):
            return applies(said if keyword == "media" else said[said.find("(") :])
        return keyword in ("layer", "scope") or (keyword == "supports" and not said.lower().startswith("not"))

    def style(self, element: ElementWrapper, above: Style) -> dict[str, Tokens]:
        """The style that an element has by the rules that match it, and by its parent's style."""
        won: dict[str, tuple[tuple[object, ...], Tokens]] = {}
        stated = [
            (specificity, order, rule.layer, rule.declarations)
            for specificity, order, _, rule in self._matcher.match(element)
        ]
        node = element.etree_element
        stated.append(((0, 0, 0), 0, 0, _attributes(node)))
        own = node.get("style", "")
        stated.append(((9, 0, 0), 0, UNLAYERED + 1, _inline(own) if own else ()))
        for specificity, order, layer, declarations in stated:
            for number, (name, value, important) in enumerate(declarations):
                inline = layer > UNLAYERED
                place = important, inline if important else layer, -layer if important else 0
                rank = *place, specificity, order, number
                if name not in won or rank >= won[name][0]:
                    won[name] = rank, value
        style = {name: value for name, value in above.items() if name in INHERITED or name.startswith("--")}
        every = won.pop("all", None)
        if every:
            style = style if word(every[1]) in ("inherit", "unset", "revert") else {}
            won = {name: one for name, one in won.items() if one[0] > every[0] or name.startswith("--")}
        style |= {name: value for name, (_, value) in won.items() if name.startswith("--")}
        for name, (_, value) in won.items():
            if name.startswith("--"):
                continue
            filled = _filled(value, style, 0) if any(map(_names, value)) else value
            said = word(filled or ())
            if name == "font-size":  # what an element hands down of it is a length in pixels, not these words
                style[name] = () if said in ("inherit", "unset", "revert") else filled or ()
            elif said == "inherit" or (said == "unset" and name in INHERITED):
                style[name] = above.get(name, ())
            elif said in ("initial", "unset", "revert", "revert-layer") or filled is None:
                style.pop(name, None)
            else:
                style[name] = filled
        return style


def _declared(parsed: Tokens) -> Iterator[tuple[str, Tokens, bool]]:
    for one in parsed:
        if one.type != "declaration":
            continue
        value = [token for token in one.value if token.type not in ("whitespace", "comment")]
        name = one.name if one.name.startswith("--") else one.lower_name
        if name.startswith("-webkit-") and name != "-webkit-text-fill-color":
            name = name.removeprefix("-webkit-")
        yield _OTHER_NAMES.get(name, name), value, one.important
        for at, part in enumerate(_SHORT.get(name, ())):
            if name in ("inset", "margin"):
                side = value[at % len(value) :][:1] if len(value) < 3 else value[at : at + 1] or value[1:2]
                yield part, side, one.important
            elif name == "font":
                # no length, and so the number of a weight, has no unit but nought
                slash = next((n for n, token in enumerate(value) if token == "/"), 0)
                sizes = [token for token in value if token.type in ("dimension", "percentage", "function")]
                sizes = sizes or [token for token in value if token.type == "number" and not token.value]
                height = value[slash + 1 : slash + 2] if slash else []
                yield part, sizes[:1] if part == "font-size" else height, one.important
            elif part == "background-color":
                yield part, [token for token in value if parse_color(token)][:1], one.important
            else:
                yield part, value, one.important


@lru_cache(maxsize=20_000)
def _inline(text: str) -> Sequence[tuple[str, Tokens, bool]]:
    return list(_declared(tinycss2.parse_blocks_contents(text, True, True)))


def _attributes(node: Any) -> Sequence[tuple[str, Tokens, bool]]:
    """The declarations that the attributes of HTML before style sheets say."""
    said = ""
    if node.get("bgcolor"):
        said += f"background-color: {node.get('bgcolor')};"
    color = node.get("text") if node.tag == "body" else node.get("color") if node.tag == "font" else None
    if color:
        said += f"color: {color};"
    return _inline(re.sub(r":\s*([0-9a-fA-F]{6});", r": #\1;", said)) if said else ()


def _names(token: Any) -> bool:
    inside = token.arguments if token.type == "function" else ()
    return token.type == "function" and (token.lower_name == "var" or any(map(_names, inside)))


def _filled(value: Tokens, style: Style, depth: int) -> Tokens | None:
    """A value with what its names stand for; None where one stands for nothing."""
    found: list[Any] = []
    for token in value:
        if not _names(token):
            found.append(token)
            continue
        inside = [one for one in token.arguments if one.type not in ("whitespace", "comment")]
        if token.lower_name == "var":
            name = getattr(inside[0], "value", "") if inside else ""
            said = style.get(name, inside[2:] if len(inside) > 1 else None)
            part = _filled(said, style, depth + 1) if said is not None and depth < DEEPEST else None
            if part is None:
                return None
            found.extend(part)
        else:
            arguments = _filled(inside, style, depth + 1) if depth < DEEPEST else None
            if arguments is None:
                return None
            found.append(tinycss2.ast.FunctionBlock(0, 0, token.name, list(arguments)))
        if len(found) > MAX_NAMED:
            return None
    return found


def applies(query: str) -> bool:
    """Whether a list of media holds of a window on a desk."""
    return not query.strip() or any(_one(part.strip().lower()) for part in query.split(","))


def _one(query: str) -> bool:
    turned = query.startswith("not ")
    query = query.removeprefix("not ").removeprefix("only ").strip()
    kind = re.match(r"[a-z]+", query)
    holds = kind is None or kind[0] in ("all", "screen")
    rest = query[kind.end() :] if kind else query
    features = [_feature(found) for found in _FEATURE.finditer(rest)]
    holds = holds and (any(features) if " or " in rest else all(features)) and rest.count("(") <= len(features)
    return holds is not turned


def _feature(found: re.Match[str]) -> bool:
    bound, name, sign, number, unit, other, value = found.groups()
    if not name:
        return other in _HOLDS and value in (None, _HOLDS[other])
    size = float(number) * (1 if unit == "px" else USUAL)
    window = HIGH if name == "height" else WIDE
    least = bound == "min" or sign.startswith(">")
    return window >= size if least else window <= size


def word(value: Tokens) -> str:
    """A value that is one word, in small letters; "" for another one."""
    return value[0].lower_value if len(value) == 1 and value[0].type == "ident" else ""


def words(value: Tokens) -> set[str]:
    return {token.lower_value for token in value if token.type == "ident"}


def pixels(token: Any, size: float, whole: float) -> float | None:
    """A length in pixels at this size of text, of a `whole` that percentages are part of; None where it is none."""
    if token.type == "number":
        return float(token.value) if not token.value else None
    if token.type == "percentage":
        return float(token.value) * whole / 100
    if token.type == "dimension":
        unit = token.lower_unit
        of_text = {"em": size, "ic": size, "lh": size, "ex": size / 2, "ch": size / 2}
        each = of_text.get(unit, _UNITS.get(unit.lstrip("sld")))  # svh, lvh and dvh are vh here
        return None if each is None else float(token.value) * each
    if (token.type == "function" and token.lower_name == "calc") or token.type == "() block":
        return _sum(token.arguments if token.type == "function" else token.content, size, whole)
    if token.type == "function" and token.lower_name in ("min", "max", "clamp"):
        parts: list[list[Any]] = [[]]
        for one in token.arguments:
            if one == ",":
                parts.append([])
            else:
                parts[-1].append(one)
        found = [_sum(part, size, whole) for part in parts]
        if any(one is None for one in found):
            return None
        known = [one for one in found if one is not None]
        if token.lower_name == "clamp":
            return max(known[0], min(known[1], known[2])) if len(known) == 3 else None
        return min(known) if token.lower_name == "min" else max(known)
    return None


def _sum(tokens: Tokens, size: float, whole: float) -> float | None:
    """The value that `calc` makes of lengths and numbers, its products before its sums."""
    total, product, sign, times = 0.0, None, 1.0, "*"
    for token in (one for one in tokens if one.type not in ("whitespace", "comment")):
        if token.type == "literal" and token.value in "+-*/":
            if token.value in "+-":
                if product is not None:
                    total += sign * product
                product, sign, times = None, 1.0 if token.value == "+" else -1.0, "*"
            else:
                times = token.value
            continue
        found = float(token.value) if token.type == "number" else pixels(token, size, whole)
        if found is None or (times == "/" and not found):
            return None
        product = found if product is None else product * found if times == "*" else product / found
    return None if product is None else total + sign * product
