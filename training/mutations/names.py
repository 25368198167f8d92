"""Names swapped within the page: one name-like run of a sentence becomes another one that stands elsewhere on its
page.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import regex

from training.mutations.edits import Edit
from training.mutations.lists import CURRENCY_CODES, LANGUAGES, Lists, lists

_CAPITAL = regex.compile(
    r"(?<![\p{L}\p{M}\p{N}@/-])\p{Lu}[\p{L}\p{M}]*(?:[’'-](?!s(?!\p{L}))\p{L}[\p{L}\p{M}]*)*(?![\p{L}\p{M}\p{N}@/-]|\.[\p{L}\p{N}])"
)
_WORD = regex.compile(r"[\p{L}\p{M}]+")
_BREAK = regex.compile(r"(?:^|[.!?:;•·|„“”\"«»(\[\n\t–—]|\p{N}[.)]?)\s*$")
_JOINED = {"names": regex.compile(r"[ ](?:(?:of|nad|van|de)[ ])?"), "nouns": regex.compile(r"[ ]")}
_ROMAN = regex.compile(r"[IVXLC]+")
_SHARED = 4  # letters at the start of two words that make them forms of one


@dataclass(frozen=True, slots=True)
class Run:
    """A name-like run of words: `text[start:end] == words`."""

    start: int
    end: int
    words: str


def names(text: str, page: str, lang: str, draw: random.Random) -> Iterator[Edit]:
    """Each name of the sentence becomes one of the page that shares no word with the sentence and is as long, in words:
    one or several.
    """
    elsewhere, parties = sorted({run.words for run in name_runs(page, page, lang)}), lists(lang).parties
    mine = [word.lower() for word in _WORD.findall(text)]
    for run in name_runs(text, page, lang):
        fitting = [
            other
            for other in elsewhere
            if (" " in other, other in parties) == (" " in run.words, run.words in parties)
            and not _shares(other, mine)
            and not _abbreviates(run.words, other)
            and not _abbreviates(other, run.words)
        ]
        if fitting:
            yield Edit(run.start, run.end, draw.choice(fitting))


def _shares(name: str, words: list[str]) -> bool:
    """Whether a word of the name is a form of one of the words."""
    mine = [word.lower() for word in _WORD.findall(name)]
    return any(
        one == other or (len(one) >= _SHARED and one[:_SHARED] == other[:_SHARED]) for one in mine for other in words
    )


def _abbreviates(short: str, name: str) -> bool:
    return short.isupper() and short[:1] == name[:1] and len(short) <= 6


@lru_cache(maxsize=256)
def name_runs(text: str, page: str, lang: str) -> tuple[Run, ...]:
    """The names of a text, by capitals that the page never has in lower case, or from the list of names.

    Unknown languages have none.
    """
    if lang not in LANGUAGES:
        return ()
    known = lists(lang)
    if known.capitals == "none":
        return tuple(_listed(text, known))
    lower = frozenset(word for word in _WORD.findall(page) if word.islower())
    return tuple(
        run for run in _capitalised(text, lower, known) if known.capitals == "names" or _is_german_name(run, known)
    )


def _capitalised(text: str, lower: frozenset[str], known: Lists) -> Iterator[Run]:
    runs: list[list[regex.Match[str]]] = []
    for match in _CAPITAL.finditer(text):
        if runs and _JOINED[known.capitals].fullmatch(text, runs[-1][-1].end(), match.start()):
            runs[-1].append(match)
        else:
            runs.append([match])
    for run in runs:
        initial = bool(_BREAK.search(text[max(0, run[0].start() - 6) : run[0].start()]))
        if initial and run[0][0] not in known.names:  # its capital may be that of the sentence
            run = run[1:]
        while run and run[0][0].lower() in known.common:
            run = run[1:]
        while run and run[-1][0].lower() in known.common:
            run = run[:-1]
        if (
            not run
            or run[0][0] in CURRENCY_CODES
            or (len(run) == 1 and (len(run[0][0]) < 2 or run[0][0].lower() in lower or _ROMAN.fullmatch(run[0][0])))
        ):
            continue
        yield Run(run[0].start(), run[-1].end(), text[run[0].start() : run[-1].end()])


def _is_german_name(run: Run, known: Lists) -> bool:
    """Nouns are capitalised too: a name is listed, an abbreviation, or several words of which none is an everyday
    noun.
    """
    found = _WORD.findall(run.words)
    return (
        any(word in known.names | known.parties for word in found)
        or (run.words.isupper() and len(run.words) <= 5)
        or " " in run.words
    )


def _listed(text: str, known: Lists) -> Iterator[Run]:
    """Words of the list, and words that follow a title; neighbours are one name."""
    runs: list[tuple[int, int]] = []
    after_title = False
    for match in _WORD.finditer(text):
        word = match[0]
        if (
            word in known.names | known.parties
            or (after_title and word not in known.common)
            or (word[0].isupper() and len(word) > 2 and word not in CURRENCY_CODES)
        ):
            if runs and text[runs[-1][1] : match.start()] == " ":
                runs[-1] = (runs[-1][0], match.end())
            else:
                runs.append(match.span())
        after_title = word in known.titles
    yield from (Run(start, end, text[start:end]) for start, end in runs)
