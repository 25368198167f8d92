"""Versions of one document: those of one title or file name but for its numbers, each with a date of its own."""

from __future__ import annotations

from calendar import monthrange
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import pairwise

import regex

from rag_core.domain.documents import DateSource, Document
from rag_core.domain.ports import Corpus
from rag_core.language import LANGUAGES, fold, words

_SUFFIX = regex.compile(r"\.\p{L}[\p{L}\p{N}]{0,4}$")  # the ending of a file name
YEAR = regex.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
DECEMBER = 12  # ends a year that is named without a month
RUN = 4  # words
SHARED = 0.3  # the least part of the runs of the shorter one that versions have in common; chosen
FIRST_PASSAGES = 100  # that are compared, about 30 pages; chosen


def families(corpus: Corpus, documents: Iterable[Document]) -> list[dict[str, str]]:
    """The groups of at least two documents that are versions of one, each as {id: ISO date}; no two have one date.

    A date is the document's own, or the year in its title; that of the file may be years later and counts for nothing.
    Reports are no versions: each tells of a period of its own. Nor are papers that only share a title, such as minutes.
    """
    by_title: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for document in documents:
        title = plain_title(document.title) or plain_title(document.name)
        stated = _date(document)
        if title and stated and not is_report(f"{document.title} {document.name}", document.language):
            by_title[(document.language, *title)][document.id] = stated
    dated = [group for group in by_title.values() if len(group) > 1 and len({*group.values()}) == len(group)]
    return [group for group in dated if _is_one_text(corpus, sorted(group, key=lambda id: group[id]))]


def in_force(versions: Mapping[str, str], moment: str) -> str:
    """The id of the newest version that is not younger than an ISO day; "" where all are."""
    known = [(stated, id) for id, stated in versions.items() if first_day(stated) <= moment]
    return max(known, default=("", ""))[1]


def last_day(year: int, month: int = 0, day: int = 0) -> str:
    """The last day of a period, ISO: of a year, a month, or that day, or its month's last."""
    month = month or DECEMBER
    last = monthrange(year, month)[1]
    return date(year, month, min(day or last, last)).isoformat()


def first_day(stated: str) -> str:
    """The first day of an ISO date that may be a year or a month alone."""
    return f"{stated}-01-01"[: len("2024-01-01")]


def _is_one_text(corpus: Corpus, ids: Sequence[str]) -> bool:
    """Whether each version has enough runs of words of the one before it."""
    runs = [_runs(corpus, id) for id in ids]
    return all(len(one & next) >= SHARED * min(len(one), len(next)) for one, next in pairwise(runs))


def _runs(corpus: Corpus, id: str) -> set[tuple[str, ...]]:
    """The runs of words of the first passages of a document, folded; all numbers are alike."""
    said = (word for row in (corpus.rows([id], {}) or ())[:FIRST_PASSAGES] for word in words(corpus.passages[row].text))
    folded = ["0" if any(map(str.isdigit, word.text)) else fold(word.text) for word in said]
    return {tuple(folded[at : at + RUN]) for at in range(len(folded) - RUN + 1)}


def _date(document: Document) -> str:
    if document.date_source in (DateSource.GIVEN, DateSource.FIRST_PAGE):
        return document.date
    years = {*YEAR.findall(document.title), *YEAR.findall(document.name)}
    return years.pop() if len(years) == 1 else ""


@lru_cache(maxsize=1 << 15)  # documents: with fewer than a library has, none would be found again
def plain_title(title: str) -> tuple[str, ...]:
    """The words of a title, heading or file name, folded, without those that hold a digit."""
    found = (word.text for word in words(_SUFFIX.sub("", title)))
    return tuple(fold(word) for word in found if not any(map(str.isdigit, word)))


def is_report(called: str, language: str) -> bool:
    """Whether a title is that of a report, all of its period; False in a language without such words."""
    info = LANGUAGES.get(language)
    reports = info.contradictions.reports if info and info.contradictions else frozenset[str]()
    return any(fold(word.text) in reports for word in words(called))
