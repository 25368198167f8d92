"""The words by which two statements are compared, by language: which may differ, which say the same, and what they mark.

Read from `data/contradictions.json`; what each list means stands there. A language without a row is not compared.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from rag_core.language import Word, fold, term, words
from rag_core.settings import DATA

_SHORTEST = 4  # letters of what a compound counts: "Urlaub" in "Urlaubstage"


@dataclass(frozen=True, slots=True)
class WordLists:
    """One language's row, folded. `same` are the wordings of one thing as their terms, each with the word that stands for them."""

    light: frozenset[str]
    figures: frozenset[str]
    periods: frozenset[str]
    reports: frozenset[str]
    rules: frozenset[str]
    accounts: frozenset[str]
    own: frozenset[str]
    labels: frozenset[str]
    headings: frozenset[str]
    columns: frozenset[str]
    about: frozenset[str]
    examples: frozenset[str]
    deadlines: frozenset[str]
    links: frozenset[str]
    endings: tuple[str, ...]
    same: Mapping[tuple[str, ...], tuple[str, str]]  # its term, and the word folded
    longest: Mapping[str, int]  # by the first term of a wording: how many terms the longest one has


@dataclass(frozen=True, slots=True)
class Telling:
    """A word that says something, or several that say one thing, where it stands: the word folded, and its term."""

    term: str
    word: str
    start: int
    end: int


@cache
def word_lists() -> Mapping[str, WordLists]:
    """The word lists by language."""
    rows = json.loads((DATA / "contradictions.json").read_text(encoding="utf-8"))
    return {code: _lists(row, code) for code, row in rows.items() if code != "note"}


def telling(text: str, language: str) -> tuple[Telling, ...]:
    """The words of a text that say something, in order, wordings of one thing as one. `language` is one of `word_lists`."""
    lists, found = word_lists()[language], tuple(parted(text, language))
    terms = [term(word.text, language) for word in found]
    kept, at = [], 0
    while at < len(found):
        most = min(lists.longest.get(terms[at], 0), len(found) - at)
        length = next((n for n in range(most, 0, -1) if tuple(terms[at : at + n]) in lists.same), 0)
        folded = fold(found[at].text)
        if length:
            kept.append(Telling(*lists.same[tuple(terms[at : at + length])], found[at].start, found[at + length - 1].end))
        elif folded not in lists.light:
            kept.append(Telling(terms[at], folded, found[at].start, found[at].end))
        at += max(1, length)
    return tuple(kept)


def parted(text: str, language: str) -> Iterator[Word]:
    """The words of a text, a compound that ends in a unit as two: "Urlaubstage" is "Urlaub" and "tage"."""
    endings = word_lists()[language].endings
    for word in words(text):
        folded = word.text.lower()
        ending = next((ending for ending in endings if folded.endswith(ending) and len(folded) - len(ending) >= _SHORTEST), "")
        if not ending:
            yield word
            continue
        cut = len(word.text) - len(ending)
        yield Word(word.text[:cut].removesuffix("s"), word.start, word.start + cut)
        yield Word(word.text[cut:], word.start + cut, word.end)


def _lists(row: Mapping[str, str], language: str) -> WordLists:
    plain = {name: frozenset(map(fold, line.split())) for name, line in row.items() if name not in ("same", "endings")}
    same: dict[tuple[str, ...], tuple[str, str]] = {}
    longest: dict[str, int] = defaultdict(int)
    for group in row["same"].split("|"):
        first = group.split(",")[0].strip()
        for line in group.split(","):
            wording = tuple(term(word.text, language) for word in words(line))
            same[wording] = (term(first, language), fold(first))
            longest[wording[0]] = max(longest[wording[0]], len(wording))
    return WordLists(**plain, endings=tuple(row.get("endings", "").split()), same=same, longest=dict(longest))
