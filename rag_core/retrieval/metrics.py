"""Finds the statements and metrics of financial reports that a question names, and the words that reports print where
they stand.

"What was the capex?" is then also searched by "purchases of property, plant and equipment", and a row under that label
answers it. Reports rarely print the words that people ask with, and a ratio stands in none of them: its line items do.
A question that names none is searched as it is. The list is ours (`data/metrics.yaml`), so no document can add to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import regex
import yaml

from rag_core.language import fold, spaced
from rag_core.settings import DATA

MAX_METRICS = 4  # in one question; each adds about six words to the search; chosen


@dataclass(frozen=True, slots=True)
class NamedMetric:
    """A metric of a question: its folded words, and those of each label that reports print it under."""

    words: frozenset[str]
    labels: tuple[frozenset[str], ...]


def reported(question: str, language: str) -> str:
    """The words that reports print for a question's statements and metrics, in the list's order; or ""."""
    found = [row.said for row, _ in _named(question, language) if row.said]
    return ", ".join(found[:MAX_METRICS])


def named_metrics(question: str, language: str) -> tuple[NamedMetric, ...]:
    """The metrics of a question that reports print as a row of their own, in the list's order."""
    found = [
        NamedMetric(frozenset(map(fold, words)), row.rows) for row, words in _named(question, language) if row.rows
    ]
    return tuple(found[:MAX_METRICS])


@dataclass(frozen=True, slots=True)
class _Listed:
    """A pattern of what is asked, over folded words, what is searched for, and the labels of its rows."""

    asked: regex.Pattern[str]
    said: str
    rows: tuple[frozenset[str], ...]


def _named(question: str, language: str) -> Iterator[tuple[_Listed, list[str]]]:
    """The entries of which a question has a phrase, each with the words of that phrase."""
    said = f" {spaced(question)} "
    for row in _listed().get(language, ()):
        if match := row.asked.search(said):
            yield row, match[0].split()


@cache
def _listed() -> dict[str, Sequence[_Listed]]:
    read: dict[str, Any] = yaml.safe_load((DATA / "metrics.yaml").read_text(encoding="utf-8"))
    return {language: [_entry(row) for row in rows] for language, rows in read.items()}


def _entry(row: dict[str, Any]) -> _Listed:
    rows = tuple(frozenset(map(fold, spaced(label).split())) for label in row.get("rows", ()))
    longest = sorted(row["asked"], key=len, reverse=True)
    asked = regex.compile("|".join(f" {regex.escape(spaced(phrase))} " for phrase in longest))
    return _Listed(asked, str(row.get("said", "")), rows)
