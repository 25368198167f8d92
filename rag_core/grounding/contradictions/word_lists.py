"""The words by which two statements are compared, by language: which may differ, which say the same, and what they
mark.

What each list means stands in `rag_core.language.statement_words.ComparedWords`. A language without them is not
compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import regex

from rag_core.language import LANGUAGES, ComparedWords, Word, fold, term, words

_SHORTEST = 4  # letters of what a compound counts: "Urlaub" in "Urlaubstage"


@dataclass(frozen=True, slots=True)
class Telling:
    """A word that says something, or several that say one thing, where it stands: the word folded, and its term."""

    term: str
    word: str
    start: int
    end: int


@cache
def word_lists() -> Mapping[str, ComparedWords]:
    return {code: info.contradictions for code, info in LANGUAGES.items() if info.contradictions}


@cache
def either() -> regex.Pattern[str]:
    """Matches what stands between two values of which neither is meant, in any language."""
    joints = "|".join(regex.escape(word) for lists in word_lists().values() for word in lists.either)
    return regex.compile(rf"\s*(?:[-–—/]|{joints})\s*")


def telling(text: str, language: str) -> tuple[Telling, ...]:
    """The telling words of a text in one of `word_lists`, in order, wordings of one thing as one."""
    light, (wordings, longest), found = word_lists()[language].light, _wordings(language), [*parted(text, language)]
    terms = [term(word.text, language) for word in found]
    kept, at = [], 0
    while at < len(found):
        ways = (n for n in range(min(longest, len(found) - at), 0, -1) if tuple(terms[at : at + n]) in wordings)
        length, folded = next(ways, 0), fold(found[at].text)
        end = at + max(1, length)
        if length or folded not in light:
            said = wordings[tuple(terms[at:end])] if length else (terms[at], folded)
            kept.append(Telling(*said, found[at].start, found[end - 1].end))
        at = end
    return tuple(kept)


def parted(text: str, language: str) -> Iterator[Word]:
    """The words of a text, a compound that ends in a unit as two: "Urlaubstage" is "Urlaub" and "tage"."""
    endings = word_lists()[language].endings
    for word in words(text):
        folded = word.text.lower()
        ending = next(
            (ending for ending in endings if folded.endswith(ending) and len(folded) - len(ending) >= _SHORTEST), ""
        )
        if not ending:
            yield word
            continue
        cut = len(word.text) - len(ending)
        yield Word(word.text[:cut].removesuffix("s"), word.start, word.start + cut)
        yield Word(word.text[cut:], word.start + cut, word.end)


@cache
def _wordings(language: str) -> tuple[Mapping[tuple[str, ...], tuple[str, str]], int]:
    """Wordings of one thing by terms, with the term and word that stand for them, and the longest."""
    same: dict[tuple[str, ...], tuple[str, str]] = {}
    for group in word_lists()[language].same:
        first = group.split(",")[0].strip()
        for line in group.split(","):
            same[tuple(term(word.text, language) for word in words(line))] = (term(first, language), fold(first))
    return same, max(map(len, same), default=0)
