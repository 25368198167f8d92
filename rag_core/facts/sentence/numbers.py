"""Numbers with their unit: "1.250,50", "1 250,50" and "1,250.50" are one value, "1.5 million" and "1,500,000" too, "2½"
and "2.5".

A power is a value of its own: "10²" and "10^2" are neither 10 nor 102. Digits are parsed by babel with
strict grouping in the text's language first, then in the others' conventions. A number that cannot be read as one value
("3.2.1", "1,2,3") is compared by its text and its parts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache

import regex
from babel.core import UnknownLocaleError
from babel.numbers import parse_decimal

from rag_core.facts.sentence.lexicon import (
    ValueWords,
    cover,
    dimension,
    exact_units,
    of_any_language,
    value_words,
)
from rag_core.facts.sentence.spelled import Spelled, spelled
from rag_core.facts.sentence.units import after, unit_behind
from rag_core.language import any_language, fold, grammar, words
from rag_core.language.words import CIRCLED

_MAX_DIGITS = 24  # more are no quantity, and beyond the precision of a Decimal
_PLAIN = regex.compile(r"-?\d{1,18}(?:\.\d{1,6})?")  # what a Decimal converts without a rounding
_FRACTION = "[¼-¾⅐-⅞]"
_OF_A_NUMBER = rf"[\p{{N}}--[{CIRCLED}]]"  # a circled number marks an item; it is no part of the figure beside it
# a raised digit after a year or a figure with separators is the mark of a footnote, and so is ¹
_POWER_OF = regex.compile(r"\d{1,3}")
_CENTS = 2  # raised digits of a price


@cache
def _number() -> regex.Pattern[str]:
    return regex.compile(
        rf"(?<![\p{{L}}\p{{M}}]|{_OF_A_NUMBER}|\p{{L}}\^)(?P<sign>(?<!(?:{_OF_A_NUMBER}|\))\s?)[-−](?=\d|{_FRACTION}))?"
        r"(?:(?P<body>\d{1,3}(?:[ '’]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*)"
        rf"(?:(?P<power>\^[-−+]?\d{{1,3}}(?!\d)|[⁺⁻]?[⁰¹²³⁴-⁹]+)|[ "
        rf"\u00A0]?(?P<fraction>{_FRACTION}))?|(?P<fraction>{_FRACTION}))"
        rf"(?:(?P<ordinal>{of_any_language('ordinal_suffixes')})(?!\p{{L}}))?",
        regex.V1,
    )


@cache
def _currency_before() -> regex.Pattern[str]:
    known = [*any_language().currencies_before, *any_language().value_currencies_before]
    names = (regex.escape(name) if regex.search(r"\p{Sc}", name) else rf"\b{regex.escape(name)}" for name in known)
    return regex.compile(rf"(?P<unit>\p{{Sc}}|{'|'.join(names)})\s?[-−]?$")


@cache
def _money_scale(of_money: bool) -> regex.Pattern[str]:
    """A letter that multiplies an amount of money: of "€5m", and before a currency of "5 T€" and "5 TEUR"."""
    letters = any_language().money_scales_behind if of_money else any_language().money_scales
    ends = r"(?![\p{L}\p{M}\p{N}])" if of_money else r"\s?(?=\p{Sc}|(?:EUR|USD|GBP|CHF|CZK)(?!\p{L}))"
    return regex.compile(rf"\s?(?P<scale>{'|'.join(letters)}){ends}")


@cache
def _unit_before() -> regex.Pattern[str]:
    return regex.compile(rf"(?<![\p{{L}}\p{{M}}])(?P<unit>\p{{Lu}}{{3}}|{of_any_language('units_before')})\.?\s?[-−]?$")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number where it stands: `source[start:end] == text`, unit and scale word included.

    `value` is canonical ("1250.5", "10^-3"), scale applied; `parts` are what else it may be ("250 300" two numbers);
    `scale` is the scale word's factor (1 without). `unit` is canonical ("%", "eur", "day") or empty. `ordinal`: whether
    it counts a place, "3rd" or "third".
    """

    value: str
    parts: tuple[str, ...]
    scale: int
    unit: str
    text: str
    start: int
    end: int
    ordinal: bool = False

    @property
    def exact(self) -> tuple[str, str]:
        """The unit it converts to exactly, and how many of that it is; without such a unit its own, and its value."""
        return _exactly(self.unit, self.value)

    @property
    def base(self) -> str:
        """The value without its scale word: of "1.5 million" it is "1.5"."""
        return _canonical(Decimal(self.value) / self.scale) if self.scale > 1 else self.value

    @property
    def is_year(self) -> bool:
        """Whether it looks like a year: four digits from 1500 to 2199, no unit, no separators."""
        return not self.unit and self.text.isdecimal() and len(self.text) == 4 and 1500 <= int(self.text) < 2200


def quantities(text: str, lang: str, taken: Iterable[tuple[int, int]] = ()) -> list[Quantity]:
    """The numbers of a text, in ASCII digits or words, in order, but those in the `taken` ranges."""
    covered, vocabulary = cover(text, taken), value_words(lang)
    found = [
        _quantity(text, match, lang, vocabulary) for match in _number().finditer(text) if not covered[match.start()]
    ]
    for quantity in found:
        covered[quantity.start : quantity.end] = b"\1" * (quantity.end - quantity.start)
    found += [_spelled(text, number, vocabulary) for number in spelled(text, words(text), covered, vocabulary)]
    return sorted(found, key=lambda quantity: quantity.start)


def _quantity(text: str, match: regex.Match[str], lang: str, vocabulary: ValueWords) -> Quantity:
    body, sign = match["body"] or "0", "-" if match["sign"] else ""
    value, parts = _value(body, lang)
    start = match.start()
    before = _currency_before().search(text[max(0, start - 6) : start])
    scale, unit, end = _scale_and_unit_behind(text, match.end(), vocabulary, before is not None)
    if match["fraction"] and value.isdecimal():
        value = _canonical(Decimal(value) + Decimal(str(unicodedata.numeric(match["fraction"]))))
    if exponent := _exponent(body, match["power"] or ""):
        is_money = before is not None or dimension(unit) == "currency"
        if not is_money or body == "10" or not exponent.isdecimal():
            value = f"{value}^{exponent}"
        elif len(exponent) == _CENTS and value.isdecimal():
            value = f"{value}.{exponent}"  # "4⁹⁹ euros"; one raised digit is the mark of a footnote
    elif match["power"] and end == match.end():
        end = match.end("body")
    if before:
        unit = vocabulary.units.get(fold(before["unit"]).rstrip("."), "") or unit
        start -= before.end() - before.start()
    elif not unit and (before := _unit_before().search(text[max(0, start - 8) : start])):
        unit = vocabulary.units.get(fold(before["unit"]), "")
        start -= before.end() - before.start() if unit else 0
    if scale > 1 and regex.fullmatch(r"\d{3}(?: \d{3})+", value):
        value, parts = value.replace(" ", ""), ()  # with a scale word behind it, it is one number
    if scale > 1 and value.replace(".", "", 1).isdecimal():
        value = _canonical(Decimal(value) * scale)
    else:
        scale = 1
    ordinal = match["ordinal"] is not None
    return Quantity(sign + value, parts, scale, unit, text[start:end], start, end, ordinal)


def _spelled(text: str, number: Spelled, vocabulary: ValueWords) -> Quantity:
    unit, end = ("", number.end) if number.ordinal else unit_behind(text, number.end, vocabulary)
    told = text[number.start : end]
    return Quantity(str(number.value), (), number.scale, unit, told, number.start, end, number.ordinal)


def _scale_and_unit_behind(text: str, end: int, vocabulary: ValueWords, of_money: bool) -> tuple[int, str, int]:
    """The scale and the unit behind a number, and where they end. `of_money`: whether a currency stands before it."""
    scale = 1
    if match := _money_scale(of_money).match(text, end):
        letters = any_language().money_scales_behind if of_money else any_language().money_scales
        scale, end = letters[match["scale"]], match.end()
    elif (match := after().match(text, end)) and (factor := vocabulary.scales.get(fold(match["unit"]))):
        behind = match.end() + (text[match.end() : match.end() + 1] == ".")
        unit, last = unit_behind(text, behind, vocabulary)
        return factor, unit, last
    return scale, *unit_behind(text, end, vocabulary)


def _exponent(body: str, power: str) -> str:
    """The exponent of a number, in ASCII, or empty where the raised digits only mark a footnote."""
    plain = unicodedata.normalize("NFKC", power).replace("−", "-").lstrip("^+")
    is_power = power[:1] in "^⁺⁻" or (power != "¹" and _POWER_OF.fullmatch(body))
    return plain if is_power else ""


@lru_cache(maxsize=1 << 12)
def _value(body: str, lang: str) -> tuple[str, tuple[str, ...]]:
    """The canonical value of digits with separators, and the parts they may be instead."""
    groups = regex.split(r"[ '’]", body)
    parts: tuple[str, ...] = ()
    if len(groups) > 1 and " " in body:
        parts = tuple(_value(group, lang)[0] for group in groups)
        if not grammar(lang).groups_by_space and not regex.search(r"\d{3}[.,]", body) and len(groups[0]) == 3:
            return body, parts  # "250 300": most likely two numbers of a table's row
    digits = "".join(groups)
    for locale in (lang, *any_language().number_locales) if len(digits) <= _MAX_DIGITS else ():
        try:
            return _canonical(Decimal(parse_decimal(digits, locale=locale, strict=True))), parts
        # not this convention, or a language such as "en-US" that babel writes otherwise
        except (
            ValueError,
            UnknownLocaleError,
        ):
            continue
    return digits, parts or tuple(regex.findall(r"\d+", digits))


@lru_cache(maxsize=1 << 14)
def _exactly(unit: str, value: str) -> tuple[str, str]:
    """`Quantity.exact`, remembered: each number of a claim is compared with each of its evidence."""
    if not _PLAIN.fullmatch(value):
        return unit, value
    base, factor = exact_units().get(unit, (unit, Decimal(1)))
    return base, _canonical(Decimal(value) * factor)


def _canonical(value: Decimal) -> str:
    return format(value.normalize(), "f")
