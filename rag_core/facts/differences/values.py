"""Compares the values of a sentence with its evidence: numbers with their units, dates, times.

Equal values agree in any notation, and in another unit where the conversion is exact. What a value is attached to is
for `rag_core.facts.differences.roles` to compare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from rag_core.facts.sentence.lexicon import cover, value_words
from rag_core.facts.sentence.names import Entity, canonical_code, codes
from rag_core.facts.sentence.numbers import Quantity, quantities
from rag_core.facts.sentence.times import Time, Weekday, times, weekdays
from rag_core.facts.sentence.units import units_in
from rag_core.language import Date, any_language, ascii_digits, dates, fold, stem, words

_AFTER_ORDINAL = 40  # characters in which the word is looked for that an ordinal counts


@dataclass(frozen=True, slots=True)
class Values:
    """The values that a text states; no two of them overlap. `spans` leaves out days of the week: they may be names."""

    dates: tuple[Date, ...]
    times: tuple[Time, ...]
    codes: tuple[Entity, ...]
    quantities: tuple[Quantity, ...]
    weekdays: tuple[Weekday, ...]

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Where they stand, as (start, end)."""
        rows: Sequence[Sequence[Date | Time | Entity | Quantity]] = (
            self.dates,
            self.times,
            self.codes,
            self.quantities,
        )
        return [(value.start, value.end) for row in rows for value in row]


@lru_cache(maxsize=256)
def values(text: str, lang: str) -> Values:
    """The values of a text. Digits must be ASCII."""
    days = dates(text, lang)
    taken = [(date.start, date.end) for date in days]
    hours = times(text, taken)
    taken += [(time.start, time.end) for time in hours]
    covered = cover(text, taken)
    marks = [
        code for code in codes(text) if not any(covered[code.start : code.end]) and not _is_amount(text, code, lang)
    ]
    taken += [(code.start, code.end) for code in marks]
    numbers, named = quantities(text, lang, taken), weekdays(words(text), lang)
    return Values(tuple(days), tuple(hours), tuple(marks), tuple(numbers), tuple(named))


def with_unit(text: str, start: int, end: int, lang: str) -> tuple[int, int]:
    """The characters of a text, widened to each whole quantity: "30 days" for "30"; digits of any script."""
    for one in values(ascii_digits(text), lang).quantities:
        if one.start < end and start < one.end:
            start, end = min(start, one.start), max(end, one.end)
    return start, end


def changed_values(claim: str, evidence: str, lang: str, evidence_lang: str) -> list[tuple[str, str]]:
    """The values a claim's evidence lacks, as (kind, text); reading forms with ASCII digits."""
    mine, theirs = values(claim, lang), values(evidence, evidence_lang)
    changed = [("date", date.text) for date in mine.dates if not _date_stands(date, theirs)]
    changed += [("date", time.text) for time in mine.times if not _time_stands(time, theirs, evidence)]
    if theirs.weekdays and lang == evidence_lang:
        held = {weekday.day for weekday in theirs.weekdays}
        changed += [("date", weekday.text) for weekday in mine.weekdays if weekday.day not in held]
    changed += _changed_numbers(mine, theirs, evidence, _named(evidence, evidence_lang))
    changed += _changed_ordinals(mine, theirs, (claim, lang), (evidence, evidence_lang))
    return changed


# A text is the evidence of many sentences in a row: what is read out of it is kept for the next one.
_named = lru_cache(maxsize=64)(units_in)


def _is_amount(text: str, code: Entity, lang: str) -> bool:
    """Whether what has the form of a code is an amount of money: "EUR 350,000", "5M" of "$5M"."""
    if regex.fullmatch(r"\d+[A-Za-z]", code.text) and code.text[-1] in any_language().money_scales_behind:
        return regex.search(r"\p{Sc}$", text[: code.start]) is not None
    letters = regex.match(r"\p{L}+", code.text)
    return code.kind == "code" and letters is not None and fold(letters.group()) in value_words(lang).units


def _date_stands(date: Date, theirs: Values) -> bool:
    days = [day for other in theirs.dates for day in other.readings]
    bare, years = {number.value for number in theirs.quantities if number.is_year}, _years(theirs)
    # "from August 2, 1777, to August 22"; "Year ended December 31, 2017 2016": the day stands once, its years apart
    return any(
        mine.within(day)
        or (str(mine.year) in years and mine._replace(year=0) == day)
        or (str(mine.year) in bare and mine.month and mine._replace(year=0).within(day))
        for mine in date.readings
        for day in days
    )


def _years(theirs: Values) -> set[str]:
    years = {number.value for number in theirs.quantities if number.is_year}
    return years | {str(day.year) for date in theirs.dates for day in date.readings if day.year}


def _time_stands(time: Time, theirs: Values, evidence: str) -> bool:
    if any(time.agrees(other) for other in theirs.times):
        return True
    digits = regex.findall(r"\d+", time.text)
    if len(digits) == 1 and any(number.value == digits[0] and not number.unit for number in theirs.quantities):
        return True  # "Let's make it 7."
    return (
        len(digits) > 1
        and not time.halves
        and regex.search(rf"(?<![\d.,]){digits[0]}[.:]{digits[1]}(?!\d)", evidence) is not None
    )


def _changed_numbers(mine: Values, theirs: Values, evidence: str, known: frozenset[str]) -> Iterator[tuple[str, str]]:
    places = _by_value(theirs.quantities)
    converted = {number.exact for number in theirs.quantities if number.unit}
    loose = _loose(theirs)
    for number in mine.quantities:
        here = places.get(number.value, [])
        if number.unit and number.exact in converted:
            here = [other for other in theirs.quantities if other.exact == number.exact]
        if not here and number.scale > 1 and str(number.scale) in known:
            here = places.get(number.base, [])
        if not here:
            in_cells = number.parts and _digits_stand(number.text, evidence)
            if number.value not in loose and not in_cells and (not number.ordinal or _in_digits(number)):
                yield "number", number.text
        elif not any(_unit_stands(number, other, known) for other in here):
            yield "unit", number.text


def _by_value(quantities: Sequence[Quantity]) -> Mapping[str, list[Quantity]]:
    places: dict[str, list[Quantity]] = {}
    for number in quantities:
        for value in (number.value, *number.parts):
            places.setdefault(value, []).append(number)
    return places


def _loose(theirs: Values) -> frozenset[str]:
    """The numbers that stand within dates, times, and behind an acronym ("AD 997"), without leading zeros."""
    texts = [value.text for row in (theirs.dates, theirs.times) for value in row]
    texts += [code.text for code in theirs.codes if " " in code.text]
    found = {number for text in texts for pattern in (r"\d+", r"\d+\.\d+") for number in regex.findall(pattern, text)}
    years = {canonical_code(code.text) for code in theirs.codes if code.kind == "year"}
    return frozenset(years.union(number.lstrip("0") or "0" for number in found))


def _digits_stand(text: str, evidence: str) -> bool:
    """Whether the pieces of what may be several numbers stand side by side: "250 300" in two cells of a row."""
    pieces = regex.findall(r"\d+", text)
    return bool(regex.search(r"(?<!\d)" + r"\D{1,3}".join(pieces) + r"(?!\d)", evidence))


def _unit_stands(number: Quantity, other: Quantity, known: frozenset[str]) -> bool:
    """Whether the evidence's occurrence has the unit, or has none while it stands elsewhere, in a header."""
    if not number.unit or other.unit == number.unit or other.exact == number.exact:
        return True
    return not other.unit and number.unit in known


def _changed_ordinals(
    mine: Values, theirs: Values, claim: tuple[str, str], evidence: tuple[str, str]
) -> Iterator[tuple[str, str]]:
    """Ordinals in words that stand nowhere, while another one stands before the same word."""
    counted = [number for number in mine.quantities if number.ordinal and not _in_digits(number)]
    if not counted or claim[1] != evidence[1]:
        return
    held = {number.value for number in theirs.quantities} | _loose(theirs)
    of_theirs = {_counted(number, *evidence) for number in theirs.quantities if number.ordinal}
    yield from (
        ("number", number.text)
        for number in counted
        if number.value not in held and _counted(number, *claim) in of_theirs - {""}
    )


def _counted(number: Quantity, text: str, lang: str) -> str:
    following = words(text[number.end : number.end + _AFTER_ORDINAL])
    return stem(following[0].text, lang) if following else ""


def _in_digits(number: Quantity) -> bool:
    return regex.search(r"\d", number.text) is not None
