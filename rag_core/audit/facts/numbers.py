"""Numbers with their unit: "1.250,50", "1 250,50" and "1,250.50" are one value, "1.5 million" and "1,500,000" too, "2½" and "2.5".

A power is a value of its own: "10²" and "10^2" are neither 10 nor 102. Digits are parsed by babel with strict grouping in the text's
language first, then in the others' conventions. A number that cannot be read as one value ("3.2.1", "1,2,3") is compared by its text and
its parts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import regex
from babel.core import UnknownLocaleError
from babel.numbers import NumberFormatError, parse_decimal

from rag_core.audit.facts.lexicon import Lexicon, lexicon
from rag_core.language import Word, fold, words

_LOCALES = ("en", "de", "hi")  # 1,250.50 · 1.250,50 · 1,25,000.50
_SPACE_GROUPS = frozenset({"cs", "sk", "pl", "ru", "uk", "fr", "bg", "sv", "fi", "nb"})  # "12 300" is one number here
_MAX_DIGITS = 24  # more are no quantity, and beyond the precision of a Decimal
_DIGITS = regex.compile(r"\p{Nd}")
_FRACTION = "[¼-¾⅐-⅞]"
_NUMBER = regex.compile(
    rf"(?<![\p{{L}}\p{{M}}\p{{N}}]|\p{{L}}\^)(?P<sign>(?<![\p{{N}})]\s?)[-−](?=\d|{_FRACTION}))?"
    r"(?:(?P<body>\d{1,3}(?:[ '’]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*)"
    rf"(?:(?P<power>\^[-−+]?\d{{1,3}}(?!\d)|[⁺⁻]?[⁰¹²³⁴-⁹]+)|[ \u00A0]?(?P<fraction>{_FRACTION}))?|(?P<fraction>{_FRACTION}))"
    r"(?:(?:st|nd|rd|th)(?!\p{L}))?"
)
_POWER_OF = regex.compile(r"\d{1,3}")  # a raised digit after a year or a figure with separators is the mark of a footnote, and so is ¹
_CURRENCY_BEFORE = regex.compile(r"(?P<unit>\p{Sc}|US\$|\b(?:USD|EUR|GBP|CZK|INR|Rs\.?|Kč))\s?[-−]?$")
_AFTER = regex.compile(
    r"\s?-?\s?(?P<unit>[%‰°\p{Sc}]\p{L}?|(?:per|por|pour) ?c(?:ent|iento)\b|\p{L}[\p{L}\p{M}]*(?:\d|(?<!\p{Ll}{4})\p{No})?)"
)
_NEAR = 4  # words in which a bound ("at least") is looked for


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number where it stands: `source[start:end] == text`, unit and scale word included.

    `value` is canonical ("1250.5", "10^-3"), scale applied; `parts` are its pieces where it may be several numbers ("250 300"); `scale` is
    the scale word's factor (1 without). `unit` is canonical ("%", "eur", "day") or empty. `bound` is ">=", "<=" or empty.
    """

    value: str
    parts: tuple[str, ...]
    scale: int
    unit: str
    bound: str
    text: str
    start: int
    end: int

    @property
    def base(self) -> str:
        """The value without its scale word: of "1.5 million" it is "1.5"."""
        return _canonical(Decimal(self.value) / self.scale) if self.scale > 1 else self.value

    @property
    def is_year(self) -> bool:
        """Whether it looks like a year: four digits from 1500 to 2199, no unit, no separators."""
        return not self.unit and self.text.isdecimal() and len(self.text) == 4 and 1500 <= int(self.text) < 2200


def ascii_digits(text: str) -> str:
    """The text with every decimal digit of any script as 0-9; offsets stay."""
    return text if text.isascii() else _DIGITS.sub(lambda match: str(int(match.group())), text)


def quantities(text: str, lang: str, taken: Iterable[tuple[int, int]] = ()) -> list[Quantity]:
    """The numbers of a text in order, in digits or words, those inside the `taken` ranges left out. Digits must be ASCII."""
    lex, covered = lexicon(lang), bytearray(len(text))
    for start, end in taken:
        covered[start:end] = b"\1" * (end - start)
    found = [_quantity(text, match, lang, lex) for match in _NUMBER.finditer(text) if not covered[match.start()]]
    for quantity in found:
        covered[quantity.start : quantity.end] = b"\1" * (quantity.end - quantity.start)
    found += [_spelled(text, word, lex) for word in words(text) if not covered[word.start] and fold(word.text) in lex.numbers]
    return sorted(found, key=lambda quantity: quantity.start)


def units_in(text: str, lang: str) -> frozenset[str]:
    """Every unit and scale named anywhere in a text: a table names them in its header."""
    lex = lexicon(lang)
    symbols = {lex.units[symbol] for symbol in regex.findall(r"[%‰\p{Sc}]", text) if symbol in lex.units}
    folded = [fold(word.text) for word in words(text)]
    plural = [word.removesuffix("s") for word in folded]
    named = {lex.units[word] for word in folded if word in lex.units}
    return frozenset(symbols | named | {str(lex.scales[word]) for word in (*folded, *plural) if word in lex.scales})


def _quantity(text: str, match: regex.Match[str], lang: str, lex: Lexicon) -> Quantity:
    body, sign = match["body"] or "0", "-" if match["sign"] else ""
    value, parts = _value(body, lang)
    scale, unit, end = _scale_and_unit(text, match.end(), lex)
    start = match.start()
    if match["fraction"] and value.isdecimal():
        value = _canonical(Decimal(value) + Decimal(str(unicodedata.numeric(match["fraction"]))))
    if exponent := _exponent(body, match["power"] or ""):
        value = f"{value}^{exponent}"
    elif match["power"] and end == match.end():
        end = match.end("body")
    if before := _CURRENCY_BEFORE.search(text[max(0, start - 6) : start]):
        unit = lex.units.get(fold(before["unit"]).rstrip("."), unit)
        start -= before.end() - before.start()
    if scale > 1 and value.replace(".", "", 1).isdecimal():
        value = _canonical(Decimal(value) * scale)
    else:
        scale = 1
    return Quantity(sign + value, parts, scale, unit, _bound(text, start, end, lex), text[start:end], start, end)


def _spelled(text: str, word: Word, lex: Lexicon) -> Quantity:
    scale, unit, end = _scale_and_unit(text, word.end, lex)
    value = str(lex.numbers[fold(word.text)] * scale)
    return Quantity(value, (), scale, unit, _bound(text, word.start, end, lex), text[word.start : end], word.start, end)


def _scale_and_unit(text: str, end: int, lex: Lexicon) -> tuple[int, str, int]:
    scale = 1
    if (match := _AFTER.match(text, end)) and (factor := lex.scales.get(fold(match["unit"]))):
        scale, end = factor, match.end() + (text[match.end() : match.end() + 1] == ".")
    if match := _AFTER.match(text, end):
        word, symbol = match["unit"], match["unit"][0]
        if unit := lex.units.get(fold(word)):
            return scale, unit, match.end()
        if not symbol.isalpha() and (unit := lex.units.get(symbol)):
            return scale, unit, match.start("unit") + 1
    return scale, "", end


def _exponent(body: str, power: str) -> str:
    """What a number is raised to, in ASCII, or empty where the raised digits only mark a footnote."""
    plain = unicodedata.normalize("NFKC", power).replace("−", "-").lstrip("^+")
    is_power = power[:1] in "^⁺⁻" or (power != "¹" and _POWER_OF.fullmatch(body))
    return plain if is_power else ""


@lru_cache(maxsize=1 << 14)
def _value(body: str, lang: str) -> tuple[str, tuple[str, ...]]:
    """The canonical value of digits with separators, and the parts they may be instead."""
    groups = regex.split(r"[ '’]", body)
    parts: tuple[str, ...] = ()
    if len(groups) > 1 and " " in body:
        parts = tuple(_value(group, lang)[0] for group in groups)
        if lang not in _SPACE_GROUPS and not regex.search(r"\d{3}[.,]", body) and len(groups[0]) == 3:
            return body, parts  # "250 300": most likely two numbers of a table's row
    digits = "".join(groups)
    for locale in (lang, *_LOCALES) if len(digits) <= _MAX_DIGITS else ():
        try:
            return _canonical(Decimal(parse_decimal(digits, locale=locale, strict=True))), parts
        except (NumberFormatError, UnknownLocaleError):  # not this convention
            continue
    return digits, parts or tuple(regex.findall(r"\d+", digits))


def _canonical(value: Decimal) -> str:
    return format(value.normalize(), "f")


def _bound(text: str, start: int, end: int, lex: Lexicon) -> str:
    """Whether words before a number (in Hindi also after it) make it a lower or an upper bound; the nearest phrase counts."""
    before = " ".join(text[max(0, start - 60) : start].split()[-_NEAR:])
    after = " ".join(text[end : end + 60].split()[:_NEAR]) if lex.bounds_follow else ""
    places: list[tuple[int, int, str]] = []
    for sign, pattern in ((">=", lex.at_least), ("<=", lex.at_most)):
        places += [(len(before) - match.end(), -len(match.group()), sign) for match in pattern.finditer(before)]
        places += [(len(before) + match.start(), -len(match.group()), sign) for match in pattern.finditer(after)]
    return min(places)[2] if places else ""
