"""References to laws and clauses: "Art. 5(2)", "Article 5, paragraph 2" and "čl. 5 odst. 2" are one place, "§ 12 Abs. 3" is another.

A reference is compared part by part, whatever its language. A place below a named one is not that place; a place above it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import regex

from rag_core.facts.sentence.lexicon import cover
from rag_core.language import LANGUAGES, fold

_MAX_PARTS = 6  # article, paragraph, sentence, letter and two more
_MAX_IN_A_LIST = 20  # references that one word heads, "Art. 5, 6 and 7"; chosen
_VALUE = r"(?:\d{1,4}(?:\.\d{1,3}){0,3}(?:\s?\p{Ll}(?![\p{L}\p{M}]))?|[IVXL]{1,6}|\p{Lu})(?![\p{L}\p{M}\p{N}]|[.,]\d)"
_BRACKETED = regex.compile(r"\s?\((?P<value>\d{1,3}|\p{Ll}{1,4})\)")
_MARKER = regex.compile(r"\((?P<value>\d{1,3}|\p{Ll}{1,2})\)|(?:^|[\n.:;|।])\s*(?P<value>\d{1,3}|\p{Ll})[.)]\s")
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50}  # values of the Roman digits that `_VALUE` reads
_FAMILIES = ("section", "article", "annex", "rule")  # what is numbered in laws and contracts


@dataclass(frozen=True, slots=True)
class LawWords:
    """The words of references to laws and clauses, of all languages together: a contract may cite a law of another country.

    Args:
        families: what is numbered, by each of its spellings, lower case or capitalised: "Article", "čl".
        plurals: those of them that may have a list behind them.
        levels: words for a part below, behind a number: "Absatz", "písm".
        lone: those of them that are a reference by themselves.
        joints: words within a list.
        of: words between a part and what it is a part of.
        number: before the number of a law: "nr.".
    """

    families: Mapping[str, str]
    plurals: frozenset[str]
    levels: tuple[str, ...]
    lone: tuple[str, ...]
    joints: tuple[str, ...]
    of: tuple[str, ...]
    number: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Law:
    """A reference where it stands: `source[start:end] == text`.

    `family` is what is numbered (section, article, annex, rule), empty where only a part below it is named ("odst. 3"); `parts` are folded:
    ("5", "2", "a") for "Art. 5(2)(a)".
    """

    family: str
    parts: tuple[str, ...]
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Patterns:
    head: regex.Pattern[str]
    level: regex.Pattern[str]
    lone: regex.Pattern[str]
    more: regex.Pattern[str]
    of: regex.Pattern[str]


@cache
def law_words() -> LawWords:
    """The words of references to laws and clauses."""
    rows = [info.laws for info in LANGUAGES.values() if info.laws]
    families = {word: name for name in _FAMILIES for row in rows for word in getattr(row, name)}
    families |= {word[0].upper() + word[1:]: name for word, name in families.items()} | {
        word.upper(): name for word, name in families.items()
    }
    plurals = [word for row in rows for word in row.plurals]
    return LawWords(
        families=families,
        plurals=frozenset([*plurals, *(word.capitalize() for word in plurals)]),
        levels=tuple(word for row in rows for word in row.levels),
        lone=tuple(word for row in rows for word in row.lone),
        joints=tuple(word for row in rows for word in row.joints),
        of=tuple(word for row in rows for word in row.of),
        number=tuple(word for row in rows for word in row.number),
    )


@cache
def _patterns() -> _Patterns:
    words = law_words()
    head, level, lone, plural_joints, of = (
        "|".join(regex.escape(word) for word in sorted(row, key=len, reverse=True))
        for row in (words.families, words.levels, words.lone, words.joints, words.of)
    )
    number = "|".join(map(regex.escape, words.number))
    return _Patterns(
        head=regex.compile(
            rf"(?:(?P<head>§{{1,3}})|(?<![\p{{L}}\p{{M}}])(?P<head>{head})(?:\.|\s))\s{{0,2}}(?i:(?:{number})?)\s{{0,2}}(?P<value>{_VALUE})"
        ),
        level=regex.compile(
            rf"\s{{0,2}},?\s{{0,2}}(?:(?:{of})\s{{1,2}})?(?i:{level})(?:\.|\s|(?=\())\s{{0,2}}(?:\((?P<value>\w{{1,4}})\)|(?P<value>\d{{1,3}}\p{{Ll}}?|\p{{L}})\)?)(?![\p{{L}}\p{{N}}])"
        ),
        lone=regex.compile(
            rf"(?<![\p{{L}}\p{{M}}\p{{N}}])(?i:{lone})(?:\.|\s|(?=\())\s{{0,2}}(?:\((?P<value>\w{{1,4}})\)|(?P<value>\d{{1,3}}\p{{Ll}}?|\p{{Ll}}(?=\))))\)?(?![\p{{L}}\p{{N}}]|[.,]\d)"
        ),
        more=regex.compile(rf"\s{{0,2}}(?:[,–-]|(?<=\s)(?:{plural_joints})(?=\s))\s{{0,2}}(?:§\s?)?(?P<value>{_VALUE})(?!\s?[%°\p{{Sc}}])"),
        of=regex.compile(rf"\s{{1,2}}(?:(?:{of})\s{{1,2}})?"),
    )


def laws(text: str) -> list[Law]:
    """The references of a text in order. Digits must be ASCII."""
    patterns, found, place = _patterns(), list[Law](), 0
    for match in patterns.head.finditer(text):
        if match.start() >= place:
            found += _references(text, match)
            place = found[-1].end
    taken = [(law.start, law.end) for law in found]
    covered = cover(text, taken)
    for match in patterns.lone.finditer(text):
        if not any(covered[match.start() : match.end()]):
            found.append(Law("", (fold(match["value"]),), match.group(), *match.span()))
    return list(_merged(text, sorted(found, key=lambda law: law.start)))


def law_stands(law: Law, theirs: Sequence[Law], evidence: str) -> bool:
    """Whether a reference is named in the evidence, or is a part of one that the evidence names and lists below it."""
    same = [other for other in theirs if law.family and other.family == law.family and other.parts[0] == law.parts[0]]
    if any(_within(law.parts[1:], other.parts[1:]) for other in same):
        return True
    below = law.parts[1:] if law.family else law.parts
    if (same or not law.family) and below:
        listed = {fold(match["value"]) for match in _MARKER.finditer(evidence)}
        listed |= {part for other in theirs for part in (other.parts[1:] if other.family else other.parts)}
        return listed.issuperset(below)
    headings = rf"(?:^|[\n.|:।])\s*{regex.escape('.'.join(law.parts))}(?:[.)](?!\d)|(?=\s\p{{Lu}}))" if law.family == "section" else r"(?!)"
    return regex.search(headings, evidence) is not None


def _within(parts: Sequence[str], others: Sequence[str]) -> bool:
    rest = iter(others)
    return all(part in rest for part in parts)


def _references(text: str, match: regex.Match[str]) -> Iterator[Law]:
    """The reference that a match begins, and those that follow it in a list under the same head: "§§ 12 und 13"."""
    words, head = law_words(), match["head"]
    family = "section" if head.startswith("§") else words.families[head]
    plural = len(head) > 1 and (head.startswith("§") or head in words.plurals)
    start, following = match.start(), match
    for _ in range(_MAX_IN_A_LIST):
        parts, end = _parts(text, following)
        yield Law(family, parts, text[start:end], start, end)
        more = _patterns().more.match(text, end) if plural else None
        if not more:
            break
        start, following = more.start("value"), more


def _parts(text: str, match: regex.Match[str]) -> tuple[tuple[str, ...], int]:
    value, end = match["value"], match.end()
    parts = [_number(value)] if not regex.fullmatch(r"[\d.]+", value) else value.split(".")
    for _ in range(_MAX_PARTS):
        below = _BRACKETED.match(text, end) or _patterns().level.match(text, end)
        if not below:
            break
        parts.append(fold(below["value"]))
        end = below.end()
    return tuple(parts), end


def _number(value: str) -> str:
    """A part in one notation: "IV" is 4, "12 a" is "12a"."""
    if not regex.fullmatch(r"[IVXL]+", value):
        return fold(regex.sub(r"\s", "", value))
    digits = [_ROMAN[letter] for letter in value]
    return str(sum(-digit if digit < max(digits[index:]) else digit for index, digit in enumerate(digits)))


def _merged(text: str, found: list[Law]) -> Iterator[Law]:
    """With "paragraph 2 of Article 5" as one reference."""
    rest = found
    while rest:
        law, *rest = rest
        if rest and rest[0].family and _is_part(law) and _patterns().of.fullmatch(text, law.end, rest[0].start):
            whole, *rest = rest
            law = Law(whole.family, whole.parts + law.parts, text[law.start : whole.end], law.start, whole.end)
        yield law


def _is_part(law: Law) -> bool:
    """Whether a reference may be a part of the one behind it; "paragraph" is both."""
    return not law.family or fold(law.text).startswith("para")
