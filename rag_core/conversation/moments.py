"""The days that a question asks about: "as of March 2026", "What changed from 2024 to 2026?"."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import regex

from rag_core.conversation.halves import capital
from rag_core.domain.documents import Document
from rag_core.domain.ports import Corpus
from rag_core.language import LANGUAGES, LanguageInfo, Word, dates, fold, words
from rag_core.retrieval.query import core
from rag_core.retrieval.versions import families, first_day, in_force, last_day

MARKS = " ,;:"
_YEAR = regex.compile(r"(?<![\p{N}.,/-])(?:19|20)\d\d(?![\p{N}%]|[.,/-]\d)")


@dataclass(frozen=True, slots=True)
class Moments:
    """A question without its words of time, and the days that it asks about, ISO, ascending.

    `compared` says that it asks what changed between two of them; with one day, since then, or, if that is today, since
    the version before.
    """

    question: str
    days: tuple[str, ...]
    compared: bool = False


@dataclass(frozen=True, slots=True)
class AskedOf:
    """A question to ask of some documents, by ids or names; None for all.

    `day` is the ISO day on which these are the versions in force, and `left_out` says how many others there are.
    """

    question: str
    documents: Collection[str] | None
    day: str = ""
    left_out: int = 0


def at_their_time(asked: Moments, corpus: Corpus, documents: Sequence[Document], today: date) -> tuple[AskedOf, ...]:
    """The questions to ask of versions: one, or two for a change; empty where there are none, or too young."""
    groups = families(corpus, documents)
    if not groups:
        return ()
    days = _two_days(asked.days, groups, today) if asked.compared else asked.days
    found = [_of_day(asked.question, day, documents, groups) for day in days]
    if asked.compared and len({one.documents for one in found if one}) < 2:
        return ()
    return tuple(one for one in found if one)


def _two_days(days: Sequence[str], groups: Sequence[Mapping[str, str]], today: date) -> tuple[str, str]:
    """The first and last day; one of the past and today; for today alone, the day before the newest version."""
    if len(days) > 1:
        return days[0], days[-1]
    if days[0] < today.isoformat():
        return days[0], today.isoformat()
    newest = max(first_day(stated) for versions in groups for stated in versions.values())
    return (date.fromisoformat(newest) - timedelta(days=1)).isoformat(), days[0]


def _of_day(
    question: str, day: str, documents: Sequence[Document], groups: Sequence[Mapping[str, str]]
) -> AskedOf | None:
    valid = [in_force(versions, day) for versions in groups]
    out = {id for versions, one in zip(groups, valid, strict=True) if one for id in versions if id != one}
    return AskedOf(question, tuple(one.id for one in documents if one.id not in out), day, len(out)) if out else None


def moments(question: str, language: str, today: date) -> Moments | None:
    """The days that a question names, the present among them; None where it names none, or one of a year to come."""
    info = LANGUAGES.get(language)
    if info is None:
        return None
    asked = core(question, language)
    tokens = words(asked)
    named = list(_named(asked, language))
    days = {day for _, _, day in named}
    if any(int(day[:4]) > today.year for day in days):
        return None  # nobody knows what will be in force then
    changed = set(_matched(tokens, info.changed))
    taken = {
        at for start, end, _ in named for at in _with_the_word_before(tokens, start, end, info, any_word=bool(changed))
    }
    if present := set(_matched(tokens, info.present)):
        days.add(today.isoformat())
        taken |= present
    if changed and days:
        subject = _subject(tokens, taken | changed, info)
        return Moments(_joined(asked, tokens, subject), tuple(sorted(days)), compared=True) if subject else None
    if len(days) != 1:
        return None
    return Moments(_without(asked, tokens, taken), tuple(days))


def _named(asked: str, language: str) -> Iterable[tuple[int, int, str]]:
    """Start, end and last day of each date that has a year."""
    found = [(one.start, one.end, one.readings) for one in dates(asked, language)]
    for start, end, readings in found:
        if len(readings) == 1 and (day := next(iter(readings))).year:
            yield start, end, last_day(day.year, day.month, day.day)
    for match in _YEAR.finditer(asked):
        if not any(start <= match.start() < end for start, end, _ in found):
            yield match.start(), match.end(), last_day(int(match[0]))


def _with_the_word_before(
    tokens: Sequence[Word], start: int, end: int, info: LanguageInfo, *, any_word: bool
) -> Iterable[int]:
    """The numbers of a date's words and of a small or uncapitalised word before it ("in 2024")."""
    of_date = [at for at, word in enumerate(tokens) if word.start < end and word.end > start]
    yield from of_date
    before = of_date[0] - 1 if of_date else -1
    if before >= 0:
        text = tokens[before].text
        small = text.lower() in info.function_words and text.lower() not in info.question_words
        if small or (any_word and text.islower()):
            yield before


def _matched(tokens: Sequence[Word], pattern: regex.Pattern[str] | None) -> Iterable[int]:
    said, starts = "", list[int]()
    for word in tokens:
        starts.append(len(said) + bool(said))
        said += f"{' ' if said else ''}{fold(word.text)}"
    for match in pattern.finditer(said) if pattern else ():
        yield from (at for at, start in enumerate(starts) if match.start() <= start < match.end())


def _subject(tokens: Sequence[Word], taken: set[int], info: LanguageInfo) -> list[int]:
    """The words asked about: all that stands between its first and its last word that says something."""
    small = info.function_words | info.question_words
    telling = [at for at, word in enumerate(tokens) if at not in taken and word.text.lower() not in small]
    return [at for at in range(telling[0], telling[-1] + 1) if at not in taken] if telling else []


def _without(asked: str, tokens: Sequence[Word], taken: set[int]) -> str:
    kept = [at for at in range(len(tokens)) if at not in taken]
    return capital(f"{_joined(asked, tokens, kept)}{asked[tokens[-1].end :].strip()}") if kept else asked


def _joined(asked: str, tokens: Sequence[Word], kept: Sequence[int]) -> str:
    """The words of these numbers with what stands between neighbours."""
    parts = list[str]()
    for before, at in zip([-1, *kept], kept, strict=False):
        between = asked[tokens[before].end : tokens[at].start] if before == at - 1 and before >= 0 else " "
        parts.append((between if parts else "") + asked[tokens[at].start : tokens[at].end])
    return "".join(parts).strip(MARKS)
