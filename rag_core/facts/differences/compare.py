"""Facts of a sentence, and those that its evidence lacks: values, names, codes, small words, operators."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import regex

from rag_core.facts.differences.roles import wrong_roles
from rag_core.facts.differences.substitution import substituted_words
from rag_core.facts.differences.values import changed_values, values
from rag_core.facts.sentence.citation_marks import strip_marks
from rag_core.facts.sentence.logic import changed_operators
from rag_core.facts.sentence.names import Entity, canonical_code, codes, name_stands, names
from rag_core.facts.sentence.numbers import quantities
from rag_core.ingest.normalise import normalise
from rag_core.language import ascii_digits, dates, fold, words
from rag_core.language.words import places

_ENDS = regex.compile(r"(?:^|[.!?।:;|•…][\"'”“»)\]]*\s*|\]\s*)$")


def entities(text: str, lang: str) -> tuple[Entity, ...]:
    """The numbers, years, dates, codes and names of a text in order, without number words."""
    plain = ascii_digits(text)
    days = dates(plain, lang)
    taken = [(date.start, date.end) for date in days]
    marks = [code for code in codes(plain) if not any(code.start < end and start < code.end for start, end in taken)]
    taken += [(code.start, code.end) for code in marks]
    numbers = quantities(plain, lang, taken)
    taken += [(number.start, number.end) for number in numbers]
    found = [Entity("date", text[date.start : date.end], date.start, date.end) for date in days]
    found += [
        Entity(name.kind, text[name.start : name.end], name.start, name.end)
        for name in (*marks, *names(plain, lang, taken))
    ]
    found += [
        Entity("year" if number.is_year else "number", text[number.start : number.end], number.start, number.end)
        for number in numbers
        if regex.search(r"\d", number.text)
    ]
    return tuple(sorted(found, key=lambda entity: (entity.start, entity.end)))


def changed_facts(
    claim_text: str, evidence_text: str, lang: str, evidence_lang: str = ""
) -> tuple[tuple[str, str], ...]:
    """The facts of a claim that its evidence lacks, as (kind, text); () for a sentence that stands in its evidence.

    Kinds are date (of times too), number, year, unit, code, name, role, operator, negation, modality, comparison and
    quantifier. Compared are values, not notations: numbers in the conventions of their language, dates in any notation,
    names in any inflection; in the same language, against the evidence's nearest sentence: small words, the place of
    names, and what a value is attached to (role). In `evidence_text`, raw or reading form, a tab parts cells;
    `evidence_lang` is another language.
    """
    claim, evidence, other = _reading(claim_text), _reading(evidence_text), evidence_lang or lang
    if _stands(claim, evidence):
        return ()
    return _once([*_absent(claim, evidence, lang, other), *_otherwise(claim, evidence, lang, other)])


def replaced_facts(claim_text: str, evidence_text: str, lang: str) -> tuple[tuple[str, str], ...]:
    """The `changed_facts` that the evidence, in the same language, states otherwise in the claim's words."""
    claim, evidence = _reading(claim_text), _reading(evidence_text)
    return () if _stands(claim, evidence) else _once(_otherwise(claim, evidence, lang, lang))


def absent_facts(claim_text: str, text: str, lang: str) -> tuple[tuple[str, str], ...]:
    """The dates, numbers, units, codes and names of a claim that stand nowhere in a text."""
    return tuple(dict.fromkeys(_absent(_reading(claim_text), _reading(text), lang, lang)))


def _once(changed: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Each fact once. A fact that has another kind is not listed as a role as well."""
    found = [*changed]
    named = {text for kind, text in found if kind != "role"}
    return tuple(dict.fromkeys((kind, text) for kind, text in found if kind != "role" or text not in named))


@lru_cache(maxsize=64)
def _otherwise(claim: str, evidence: str, lang: str, evidence_lang: str) -> tuple[tuple[str, str], ...]:
    changed = [("operator", sign) for sign in changed_operators(claim, evidence)]
    if lang == evidence_lang:
        mine, theirs = ([(name.start, name.end) for name in _names(text, lang)] for text in (claim, evidence))
        changed += substituted_words(claim, evidence, lang, mine, theirs)
        changed += [("role", text) for text in wrong_roles(claim, evidence, lang)]
    return tuple(changed)


def _absent(claim: str, evidence: str, lang: str, evidence_lang: str) -> list[tuple[str, str]]:
    changed = changed_values(claim, evidence, lang, evidence_lang)
    return changed + _changed_names(claim, evidence, lang, evidence_lang)


@lru_cache(maxsize=256)
def _reading(text: str) -> str:
    """The reading form with ASCII digits, without citation marks, cells of a table parted by bars."""
    cells = " | ".join(normalise(cell).text for cell in strip_marks(text).split("\t"))
    return ascii_digits(cells.strip())


def _stands(claim: str, evidence: str) -> bool:
    for place in places(claim, evidence):
        after = evidence[place + len(claim) :]
        ends = claim[-1] in ".!?।…" or not after.strip() or after.lstrip()[0] in ".!?।|"
        if ends and _ENDS.search(evidence[:place]) and not regex.match(r"[\p{L}\p{M}\p{N}]", after):
            return True
    return False


@lru_cache(maxsize=64)  # a text is the evidence of many sentences in a row
def _word_set(text: str) -> frozenset[str]:
    return frozenset(fold(word.text) for word in words(text))


@lru_cache(maxsize=256)
def _names(text: str, lang: str) -> tuple[Entity, ...]:
    return tuple(names(text, lang, values(text, lang).spans))


def _changed_names(claim: str, evidence: str, lang: str, evidence_lang: str) -> list[tuple[str, str]]:
    theirs, their_words = values(evidence, evidence_lang), _word_set(evidence)
    their_codes = {canonical_code(code.text) for code in theirs.codes}
    years = {number.value for number in theirs.quantities} | {
        str(day.year) for date in theirs.dates for day in date.readings
    }
    changed = []
    for code in values(claim, lang).codes:
        known = years | their_codes if code.kind == "year" else their_codes | their_words
        if canonical_code(code.text) not in known:
            changed.append((code.kind, code.text))
    changed += [
        ("name", name.text) for name in _names(claim, lang) if not name_stands(name.text, their_words, evidence_lang)
    ]
    return changed
