"""Facts of a sentence, and which of them its evidence lacks: numbers, dates, names, codes, negation, operators.

Word overlap passes a sentence in which one number or one "not" was changed (S2-17); these comparisons do not. They know no model: a fact
that is stated in other words, or follows by calculation, counts as lacking.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import regex

from rag_core.audit.citations import strip_marks
from rag_core.audit.facts.dates import Date, dates
from rag_core.audit.facts.logic import changed_operators
from rag_core.audit.facts.names import Name, canonical_code, codes, initials, name_stands, names
from rag_core.audit.facts.numbers import Quantity, ascii_digits, quantities, units_in
from rag_core.audit.facts.replaced import replaced_words
from rag_core.ingest.normalise import normalise
from rag_core.language import fold, words

__all__ = ["Entity", "absent_facts", "changed_facts", "entities"]

_ENDS = regex.compile(r"(?:^|[.!?।:;|•…][\"'”“»)\]]*\s*|\]\s*)$")


@dataclass(frozen=True, slots=True)
class Entity:
    """A fact where it stands: `source[start:end] == text`. `kind` is number, year, date, name or code."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Facts:
    dates: tuple[Date, ...]
    codes: tuple[Name, ...]
    quantities: tuple[Quantity, ...]
    names: tuple[Name, ...]


def entities(text: str, lang: str) -> tuple[Entity, ...]:
    """The numbers (with unit, currency or percent), years, dates, codes and names of a text or question, in order.

    Number words ("three") are left out: they are facts of a sentence but no names to look for.
    """
    facts = _facts(ascii_digits(text), lang)
    found = [Entity("date", text[date.start : date.end], date.start, date.end) for date in facts.dates]
    found += [Entity(name.kind, text[name.start : name.end], name.start, name.end) for name in (*facts.codes, *facts.names)]
    found += [
        Entity("year" if number.is_year else "number", text[number.start : number.end], number.start, number.end)
        for number in facts.quantities
        if regex.search(r"\d", number.text)
    ]
    return tuple(sorted(found, key=lambda entity: (entity.start, entity.end)))


def changed_facts(claim_text: str, evidence_text: str, lang: str, evidence_lang: str = "") -> tuple[tuple[str, str], ...]:
    """The facts of a claim that its evidence lacks, as (kind, text); () for a sentence that stands in its evidence.

    Kinds are date, number, unit, code, name, operator, negation, modality, comparison and quantifier. Compared are values, not
    notations: numbers in the conventions of their language, dates in any notation, names in any inflection; small words and the place of
    names against the nearest sentence of evidence in the same language. Citation marks are no facts.

    Args:
        claim_text: one or several sentences.
        evidence_text: reading form or raw text of a page; a tab parts cells.
        lang: of the claim, ISO 639-1 or "und".
        evidence_lang: of the evidence, where it is another language.
    """
    claim, evidence, other = _reading(claim_text), _reading(evidence_text), evidence_lang or lang
    if _stands(claim, evidence):
        return ()
    changed = _absent(claim, evidence, lang, other)
    changed += [("operator", sign) for sign in changed_operators(claim, evidence)]
    if lang == other:
        mine, theirs = ([(name.start, name.end) for name in _facts(text, lang).names] for text in (claim, evidence))
        changed += replaced_words(claim, evidence, lang, mine, theirs)
    return tuple(dict.fromkeys(changed))


def absent_facts(claim_text: str, text: str, lang: str) -> tuple[tuple[str, str], ...]:
    """The dates, numbers, units, codes and names of a claim that stand nowhere in a text of any length, as (kind, text)."""
    return tuple(dict.fromkeys(_absent(_reading(claim_text), _reading(text), lang, lang)))


def _absent(claim: str, evidence: str, lang: str, evidence_lang: str) -> list[tuple[str, str]]:
    mine, theirs = _facts(claim, lang), _facts(evidence, evidence_lang)
    changed = [("date", date.text) for date in mine.dates if not _date_stands(date, theirs)]
    changed += _changed_numbers(mine, theirs, evidence, _units(evidence, evidence_lang))
    return changed + _changed_names(mine, theirs, evidence, evidence_lang)


@lru_cache(maxsize=256)
def _reading(text: str) -> str:
    """The reading form with ASCII digits, without citation marks, cells of a table parted by bars."""
    cells = " | ".join(normalise(cell).text for cell in strip_marks(text).split("\t"))
    return ascii_digits(cells.strip())


def _stands(claim: str, evidence: str) -> bool:
    """Whether a claim stands in the evidence word for word, as whole sentences."""
    place = evidence.find(claim)
    while claim and place >= 0:
        after = evidence[place + len(claim) :]
        ends = claim[-1] in ".!?।…" or not after.strip() or after.lstrip()[0] in ".!?।|"
        if ends and _ENDS.search(evidence[:place]) and not regex.match(r"[\p{L}\p{M}\p{N}]", after):
            return True
        place = evidence.find(claim, place + 1)
    return False


# A text is the evidence of many sentences in a row: what is read out of it is kept for the next one.
_units = lru_cache(maxsize=64)(units_in)
_initials = lru_cache(maxsize=64)(initials)


@lru_cache(maxsize=64)
def _word_set(text: str) -> frozenset[str]:
    return frozenset(fold(word.text) for word in words(text))


@lru_cache(maxsize=256)
def _facts(text: str, lang: str) -> _Facts:
    days = dates(text, lang)
    taken = [(date.start, date.end) for date in days]
    marks = [code for code in codes(text) if not any(code.start < end and start < code.end for start, end in taken)]
    taken += [(code.start, code.end) for code in marks]
    numbers = quantities(text, lang, taken)
    taken += [(number.start, number.end) for number in numbers]
    return _Facts(tuple(days), tuple(marks), tuple(numbers), tuple(names(text, lang, taken)))


def _date_stands(date: Date, theirs: _Facts) -> bool:
    days = [day for other in theirs.dates for day in other.readings]
    if any(mine.within(day) for mine in date.readings for day in days):
        return True
    years = {number.value for number in theirs.quantities if number.is_year}
    # "Year ended December 31, 2017 2016": the day stands once, its years apart
    return any(str(mine.year) in years and mine._replace(year=0).within(day) for mine in date.readings if mine.month for day in days)


def _changed_numbers(mine: _Facts, theirs: _Facts, evidence: str, units: frozenset[str]) -> list[tuple[str, str]]:
    places: dict[str, list[Quantity]] = {}
    for number in theirs.quantities:
        for value in (number.value, *number.parts):
            places.setdefault(value, []).append(number)
    loose = {value for date in theirs.dates for value in regex.findall(r"[1-9]\d*", date.text)}
    loose |= {canonical_code(code.text) for code in theirs.codes if code.kind == "year"}
    changed = []
    for number in mine.quantities:
        here = places.get(number.value, [])
        if not here and number.scale > 1 and str(number.scale) in units:
            here = places.get(number.base, [])
        if not here and number.parts and _digits_stand(number.text, evidence):
            continue
        if not here:
            changed += [("number", number.text)] if number.value not in loose else []
        elif not _unit_stands(number, here, units):
            changed.append(("unit", number.text))
        elif number.bound and all(other.bound not in ("", number.bound) for other in here):
            changed.append(("comparison", f"{number.bound} {number.text}"))
    return changed


def _digits_stand(text: str, evidence: str) -> bool:
    """Whether the pieces of what may be several numbers stand side by side: "250 300" in two cells of a row."""
    pieces = regex.findall(r"\d+", text)
    return bool(regex.search(r"(?<!\d)" + r"\D{1,3}".join(pieces) + r"(?!\d)", evidence))


def _unit_stands(number: Quantity, here: list[Quantity], units: frozenset[str]) -> bool:
    """Whether one occurrence has the unit, or has none while the unit stands elsewhere, in a table's header."""
    return not number.unit or any(other.unit == number.unit or (not other.unit and number.unit in units) for other in here)


def _changed_names(mine: _Facts, theirs: _Facts, evidence: str, lang: str) -> list[tuple[str, str]]:
    their_codes = {canonical_code(code.text) for code in theirs.codes}
    their_words = _word_set(evidence)
    years = {number.value for number in theirs.quantities} | {str(day.year) for date in theirs.dates for day in date.readings}
    changed = []
    for code in mine.codes:
        known = years | their_codes if code.kind == "year" else their_codes | their_words
        if canonical_code(code.text) not in known:
            changed.append((code.kind, code.text))
    short_forms = _initials(evidence) if mine.names else frozenset()
    changed += [
        ("name", name.text) for name in mine.names if not name_stands(name.text, their_words, lang) and fold(name.text) not in short_forms
    ]
    return changed
