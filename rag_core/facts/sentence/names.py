"""Names and codes, found by their form alone: no list of names, no model.

A name is a run of capitalised words that is not merely the beginning of a sentence. German capitalises every noun, so
that there only runs of several words, acronyms and CamelCase count; scripts without case have no names that could be
seen. A code mixes capitals and digits ("A-123"), follows an acronym ("ISO 9001") or a section sign.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

import regex

from rag_core.facts.sentence.lexicon import cover, lexicon
from rag_core.language import FALLBACK, LANGUAGES, Word, any_language, fold, forms, grammar, sentences, words

_HYPHEN = "[-/\u2010\u2011]"
_NO_DIGIT, _NO_CAPITAL = r"(?:\p{L}|[^\P{N}\d])*+", r"(?:\p{N}|[^\P{L}\p{Lu}])*+"  # runs in a code
_CODE = regex.compile(
    rf"(?<![\p{{L}}\p{{M}}\p{{N}}])(?:(?<!§)§++\s?\d+\p{{Ll}}?(?!\p{{L}})"
    rf"|\p{{Lu}}{{2,6}}[\s-](?!(?:19|20)\d\d(?!\d))\d{{2,}}(?:[-:.]\d+)*"
    rf"|(?={_NO_DIGIT}(?:{_HYPHEN}{_NO_DIGIT})?\d)(?={_NO_CAPITAL}(?:{_HYPHEN}{_NO_CAPITAL})?\p{{Lu}})"
    rf"[\p{{L}}\p{{N}}]+(?:{_HYPHEN}[\p{{L}}\p{{N}}]+)*)(?![\p{{L}}\p{{M}}\p{{N}}])"
)
_NOT_A_CODE = regex.compile(r"\d+(?P<unit>\p{L}{2,})")  # "5GB": a number with its unit, but "3M"
_FISCAL_YEAR = regex.compile(r"FY\s?['’]?(?P<year>\d{4}|\d{2})")
_ACRONYM = regex.compile(r"\p{Lu}[\p{Lu}\p{N}]+")
_CAMEL = regex.compile(r"\p{Lu}?\p{Ll}+\p{Lu}\w*")
CLEAR = regex.compile(rf"{_ACRONYM.pattern}|{_CAMEL.pattern}")  # "NATO", "SpaceX": a name by its form
_OPENING = regex.compile(r"[:;•|\"“„»«(\[]\s*$|[\n\r]\s*$")
_SEPARATORS = regex.compile(r"[^\p{L}\p{N}§]")
_PARTS = regex.compile(r"§+|\p{L}+|\p{N}+")
_BETWEEN = rf"(?:\s|{_HYPHEN}|[.:])?"  # what the parts of a code may be written with
_SHOUTING = 0.6  # above this share of all-capital words, capitals say nothing


@dataclass(frozen=True, slots=True)
class Entity:
    """A fact where it stands: `source[start:end] == text`. `kind` is name, code, year ("FY2022"), number or date."""

    kind: str
    text: str
    start: int
    end: int


def codes(text: str) -> list[Entity]:
    """Codes in order. "FY2022" is a year."""
    found = []
    for match in _CODE.finditer(text):
        unit = _NOT_A_CODE.fullmatch(match.group())
        if unit and fold(unit["unit"]) in lexicon(FALLBACK).units:
            continue
        kind = "year" if _FISCAL_YEAR.fullmatch(match.group()) else "code"
        found.append(Entity(kind, match.group(), *match.span()))
    return found


def canonical_code(text: str) -> str:
    """A code without separators and case; of a fiscal year its four digits."""
    if match := _FISCAL_YEAR.fullmatch(text):
        year = match["year"]
        return year if len(year) == 4 else f"20{year}"
    return str(_SEPARATORS.sub("", fold(text)))


def code_stands(code: str, text: str) -> bool:
    """Whether a code stands in a text as a whole: "MK-80" as "MK 80" too, and not because "MK-40" and "80 °C" do."""
    return _standing(code).search(text) is not None


@lru_cache(maxsize=1 << 10)
def _standing(code: str) -> regex.Pattern[str]:
    parts = [regex.escape(part) for part in _PARTS.findall(code)]
    return regex.compile(rf"(?<![\p{{L}}\p{{N}}]){_BETWEEN.join(parts)}(?![\p{{L}}\p{{N}}])", regex.IGNORECASE)


def names(text: str, lang: str, taken: Collection[tuple[int, int]] = ()) -> list[Entity]:
    """Names in order, those that touch a `taken` range (dates, codes, numbers) left out."""
    tokens = words(text)
    if not tokens or sum(1 for word in tokens if word.text.isupper() and len(word.text) > 1) > _SHOUTING * len(tokens):
        return []
    firsts = {start for start, _ in sentences(text, lang)}
    repeated = {word.text for word in tokens if _capital(word) and not _starts(text, word, firsts)}
    found = []
    for run in _runs(text, tokens, cover(text, taken)):
        if kept := _trim(text, run, firsts, lang, repeated):
            start, end = kept[0].start, kept[-1].end
            found.append(Entity("name", text[start:end], start, end))
    return found


def name_stands(name: str, evidence_words: Collection[str], lang: str) -> bool:
    """Whether every word of a name is among a text's folded words, in any inflection, or its initials are."""
    parts = [word for word in words(name) if fold(word.text) not in any_language().connectors]
    if len(parts) > 1 and fold("".join(part.text[0] for part in parts)) in evidence_words:
        return True
    return all(_word_stands(part.text, evidence_words, lang) for part in parts)


def _word_stands(word: str, evidence_words: Collection[str], lang: str) -> bool:
    folded = fold(word)
    if folded in evidence_words:
        return True
    mine = forms(word, lang)
    return any(other[:2] == folded[:2] and mine & forms(other, lang) for other in evidence_words)


def _capital(word: Word) -> bool:
    return word.text[0].isupper() or bool(_CAMEL.fullmatch(word.text))


def _starts(text: str, word: Word, firsts: set[int]) -> bool:
    """Whether a word begins a sentence, a quotation, a list item or a cell."""
    return word.start in firsts or bool(_OPENING.search(text[max(0, word.start - 4) : word.start]))


def _runs(text: str, tokens: list[Word], covered: bytearray) -> Iterator[list[Word]]:
    """Maximal runs of capitalised words, connectors inside them included."""
    run: list[Word] = []
    for word, after in pairwise([*tokens, Word("", len(text), len(text))]):
        goes_on = False
        if (_capital(word) and not covered[word.start]) or (
            run and _connects(run, word, after) and not covered[after.start]
        ):
            run.append(word)
            gap = text[word.end : after.start]
            initial = len(word.text) == 1 or not gap.startswith(".")
            goes_on = bool(after.text and _gap().fullmatch(gap) and initial)
        if not goes_on:
            while run and not _capital(run[-1]):
                run.pop()
            if run:
                yield run
            run = []


@cache
def _gap() -> regex.Pattern[str]:
    joint, forms = any_language().company_joint, "|".join(any_language().legal_forms)
    return regex.compile(
        rf"[ \u00A0]+(?:&|{joint}(?=[ ]\p{{Lu}}\w*[ ](?:{forms})))?[ \u00A0]*|[-’'&\u2010\u2011]|\.[ \u00A0]?"
    )


def _connects(run: list[Word], word: Word, after: Word) -> bool:
    """Whether "of" binds two parts of one name: "Bank of England", but not "CEO of Boeing"."""
    return (
        fold(word.text) in any_language().connectors
        and bool(after.text)
        and _capital(after)
        and not _ACRONYM.fullmatch(run[-1].text)
    )


def _trim(text: str, run: list[Word], firsts: set[int], lang: str, repeated: Collection[str]) -> list[Word]:
    first, plain = run[0], LANGUAGES.or_fallback(lang).function_words
    if _starts(text, first, firsts) and not CLEAR.fullmatch(first.text) and first.text not in repeated:
        ordinary = len(run) == 1 or first.text.lower() in plain or grammar(lang).nouns_capitalised
        run = run[1:] if ordinary else run
        while run and not _capital(run[0]):
            run = run[1:]
    if len(run) != 1:
        return run
    (word,) = run
    ordinary = word.text.lower() in plain or (grammar(lang).nouns_capitalised and not CLEAR.fullmatch(word.text))
    return [] if ordinary or len(word.text) == 1 or fold(word.text) in lexicon(lang).units else run
