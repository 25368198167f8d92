"""Writes a cell's number as its sheet prints it, by the cell's number format: "12.50 €", "8%", "05.03.2026".

Separators are the format's own, a comma for thousands and a point for decimals: a file does not say whose a sheet is
printed with. A date that is printed as the machine has it set is ISO. Names of months are English, or in the language
that the format states. A number whose format has a condition, an exponent or a fraction is printed as without a format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from functools import lru_cache
from locale import windows_locale
from typing import NamedTuple

GENERAL = "General"
MAX_CODE_CHARS = 255  # Excel's own limit
DIGITS = 10  # that Excel shows of a number without a format, beside the point
_WIDE = Context(prec=700)  # digits of the largest number, with the decimals of the longest format
DAYS = 2_958_466  # the first that is later than 9999
EPOCH, APPLE = datetime(1899, 12, 30), datetime(1904, 1, 1)  # from which Excel counts days; its two calendars
FALSE_LEAP_DAY = 60  # Excel has a 29 February 1900
_ISO, _TIME = "yyyy-mm-dd", "hh:mm:ss"
# formats that a file need not spell out; a currency among them is that of the machine, and is left out
USUAL: Mapping[int, str] = {
    **{1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??"},
    **{14: _ISO, 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm"},
    **{21: "h:mm:ss", 22: f"{_ISO} hh:mm", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@"},
    **dict.fromkeys((5, 6, 37, 38, 41, 42), "#,##0;-#,##0"),
    **dict.fromkeys((7, 8, 39, 40, 43, 44), "#,##0.00;-#,##0.00"),
}
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<room>.)|\*(?P<fill>.)|\[(?P<said>[^\]]*)\]?|(?P<general>General)|'
    r"(?P<exponent>E[+-])|(?P<half>AM/PM|A/P)|(?P<date>y+|m+|d+|h+|s+|(?<=s)\.0+)|(?P<digit>[0#?])|(?P<sign>.)",
    re.IGNORECASE | re.DOTALL,
)
_LANGUAGE = re.compile(r"\$[^-]*-[0-9A-F]*?([0-9A-F]{3,4})", re.IGNORECASE)
_MACHINE = {"$-F800": _ISO, "$-F400": _TIME}  # the date and the time that a machine is set to


class Token(NamedTuple):
    """A part of a format, by its kind in `_TOKEN`."""

    kind: str
    text: str


class Section:
    """One of the sections of a format: for positive numbers, negative ones, zero, or texts.

    Of its `tokens`, `digits` are the places of all figures, `places` those before the point and `decimals` the signs
    behind it; `point` says where the point stands, or the end. `commas` part thousands, or divide by them where they
    stand behind the last figure.
    """

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tuple(tokens)
        brackets = [token.text for token in tokens if token.kind == "said"]
        self.language = next((met[1] for text in brackets if (met := _LANGUAGE.match(text))), "0")
        self.is_date = any(token.kind in ("date", "half") or _is_elapsed(token) for token in tokens)
        digits = [at for at, token in enumerate(tokens) if token.kind == "digit"]
        self.digits, end = digits, len(tokens)
        self.point = next((at for at, token in enumerate(tokens) if token == ("sign", ".")), end)
        bar = any(tokens[at - 1] == ("sign", "/") for at in digits[1:])
        self.is_other = (
            bar
            or any(token.kind == "exponent" for token in tokens)
            or any(text[:1] in "<>=" for text in brackets if text)
        )
        self.is_plain = any(map(_is_place, tokens))
        self.places = [at for at in digits if at < self.point]
        self.decimals = [tokens[at].text for at in digits if self.point < at]
        self.percent = sum(token == ("sign", "%") for token in tokens)
        figures = range(digits[0] + 1, end) if digits else range(0)
        self.commas = [at for at in figures if tokens[at] == ("sign", ",")]
        last = max(digits, default=-1)
        self.thousands = sum(at > last for at in self.commas)
        self.parted = len(self.commas) > self.thousands


def printed(value: str, code: str, *, apple: bool = False) -> str:
    """The number as the format prints it, a ValueError where it is none; `apple` counts days from 1904."""
    number = float(value)
    if not abs(number) < float("inf"):
        raise ValueError(value)
    if code == GENERAL:
        return _general(number)
    sections = _sections(code)
    if any(section.is_other and not section.is_date for section in sections):
        return _general(number)
    section, shown = _chosen(sections, number)
    if section.is_date:
        days = number + (APPLE - EPOCH).days if apple else number
        return _one_line(_date(section, days)) if 0 <= days < DAYS else _general(number)
    if section.is_plain:
        return _one_line("".join(_general(shown) if _is_place(one) else _literal(one) for one in section.tokens))
    return _one_line(_figure(section, shown))


def is_date(code: str) -> bool:
    return _sections(code)[0].is_date


def printed_text(text: str, code: str) -> str:
    """A text as the format prints it; the format may hide it, or set words beside it."""
    if code == GENERAL:
        return text
    sections = _sections(code)
    tokens = (sections[3] if len(sections) > 3 else sections[-1]).tokens
    if len(sections) < 4 and ("sign", "@") not in tokens:
        return text
    return _one_line("".join(text if token.text == "@" else _literal(token) for token in tokens))


@lru_cache(maxsize=1000)
def _sections(code: str) -> Sequence[Section]:
    found: list[list[Token]] = [[]]
    for match in _TOKEN.finditer(code if len(code) <= MAX_CODE_CHARS else GENERAL):
        token = Token(str(match.lastgroup), match[str(match.lastgroup)])
        if token == ("sign", ";"):
            found.append([])
        elif token.kind == "said" and token.text.upper() in _MACHINE:
            return _sections(_MACHINE[token.text.upper()])
        else:
            found[-1].append(token)
    return [Section(tokens) for tokens in found]


def _chosen(sections: Sequence[Section], number: float) -> tuple[Section, float]:
    """The section for a number, and the number that it shows: one for negative numbers states its sign itself."""
    if number < 0 and len(sections) > 1:
        return sections[1], -number
    return sections[2 if number == 0 and len(sections) > 2 else 0], number


def _literal(token: Token) -> str:
    if token.kind in ("quoted", "escaped") or (token.kind == "sign" and token.text != "@"):
        return token.text
    if token.kind == "said" and token.text.startswith("$"):
        return token.text[1:].partition("-")[0]
    return " " if token.kind == "room" else ""


def _is_place(token: Token) -> bool:
    return token.kind == "general" or token == ("sign", "@")


def _is_elapsed(token: Token) -> bool:
    return token.kind == "said" and token.text.lower() in ("h", "hh", "m", "mm", "s", "ss")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _general(number: float) -> str:
    if number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    return f"{number:.{DIGITS}g}".upper()


def _figure(section: Section, number: float) -> str:
    if not section.digits:
        words = "".join(map(_literal, section.tokens))
        return f"-{words}" if number < 0 and words else words
    with localcontext(_WIDE):
        size = abs(Decimal(repr(number))).scaleb(2 * section.percent - 3 * section.thousands)
        rounded = size.quantize(Decimal(1).scaleb(-len(section.decimals)), ROUND_HALF_UP)
    whole, _, part = f"{rounded:f}".partition(".")
    while part and section.decimals[len(part) - 1] != "0" and part.endswith("0"):
        part = part[:-1]
    before = _filled(section, whole.lstrip("0"))
    return (f"-{before}" if number < 0 and rounded else before) + "".join(_behind(section, part))


def _filled(section: Section, whole: str) -> str:
    """The figures before the point: its last place takes the last digit, its first one all that are left."""
    out, written = list[str](), 0
    for at in range(section.places[-1] if section.places else -1, -1, -1):
        token = section.tokens[at]
        if token.kind != "digit":
            out.append("" if at in section.commas else _literal(token))
            continue
        taken = whole if at == section.places[0] else whole[-1:]
        whole = whole[: len(whole) - len(taken)]
        for digit in reversed(taken or "0" * (token.text == "0")):
            out += [","] * (section.parted and written > 0 and written % 3 == 0) + [digit]
            written += 1
    return "".join(reversed(out)) or whole


def _behind(section: Section, part: str) -> Iterator[str]:
    """The rest behind the last place before the point; `part` are the decimals."""
    decimals = iter(part)
    for at in range(section.places[-1] + 1 if section.places else 0, len(section.tokens)):
        token = section.tokens[at]
        if at == section.point:
            yield "." * (bool(part) or "0" in section.decimals)
        elif token.kind == "digit":
            yield next(decimals, "")
        elif at not in section.commas:
            yield _literal(token)


def _date(section: Section, days: float) -> str:
    exact = any(token.text.startswith(".0") for token in section.tokens if token.kind == "date")
    seconds = round(days * 86_400, 3 if exact else 0)
    day = EPOCH + timedelta(seconds=seconds) + timedelta(days=days < FALSE_LEAP_DAY)
    halves = any(token.kind == "half" for token in section.tokens)
    dated = any(token.kind == "date" and token.text.lower() in ("d", "dd") for token in section.tokens)
    out = []
    for token, before, after in _with_neighbours(section.tokens):
        name, size = token.text.lower()[:1], len(token.text)
        if _is_elapsed(token):
            out.append(f"{int(seconds // {'h': 3600, 'm': 60, 's': 1}[name]):0{size}}")
        elif token.kind == "half":
            out.append("PM" if day.hour >= 12 else "AM")
        elif token.kind != "date":
            out.append(token.text if token.kind == "digit" else _literal(token))
        elif name == "m" and (before == "h" or after == "s"):
            out.append(f"{day.minute:0{min(size, 2)}}")
        elif name == "m":
            out.append(
                _named("M" if dated else "L", size, day, section.language) if size > 2 else f"{day.month:0{size}}"
            )
        elif name == "d":
            out.append(_named("E", size, day, section.language) if size > 2 else f"{day.day:0{size}}")
        elif name == "y":
            out.append(f"{day.year:04}" if size > 2 else f"{day.year % 100:02}")
        elif name == ".":
            out.append(f"{day.microsecond / 1e6:.{min(size - 1, 3)}f}"[1:])
        else:
            hour = (day.hour % 12 or 12) if halves else day.hour
            out.append(f"{hour if name == 'h' else day.second:0{min(size, 2)}}")
    return "".join(out)


def _with_neighbours(tokens: Sequence[Token]) -> Iterator[tuple[Token, str, str]]:
    """Each token with the first letters of the parts of a date before and after it."""
    letters = [token.text.lower()[0] if token.kind == "date" or _is_elapsed(token) else "" for token in tokens]
    for at, token in enumerate(tokens):
        before = next((one for one in letters[:at][::-1] if one), "")
        yield token, before, next((one for one in letters[at + 1 :] if one and one != "."), "")


def _named(what: str, size: int, day: datetime, language: str) -> str:
    """The name of a month or a weekday in the language that Windows has under this number."""
    from babel import UnknownLocaleError  # few sheets need it
    from babel.dates import format_date

    pattern = what * (size if size in (3, 5) else 4)
    try:
        return format_date(day, pattern, locale=windows_locale.get(int(language, 16), "en_US"))
    except UnknownLocaleError:
        return format_date(day, pattern, locale="en_US")
