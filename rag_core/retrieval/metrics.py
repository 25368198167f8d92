"""Finds the statements and metrics of financial reports that a question names, and the words that reports print where
they stand.

"What was the capex?" is then also searched by "purchases of property, plant and equipment", and a row under that label
answers it. Reports rarely print the words that people ask with, and a ratio stands in none of them: its line items do.
A question that names none is searched as it is. The list is ours (`data/metrics.yaml`), so no document can add to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import regex
import yaml

from rag_core.language import spaced
from rag_core.settings import DATA

MAX_METRICS = 4  # in one question; each adds about six words to the search; chosen


def reported(question: str, language: str) -> str:
    """The words that reports print for a question's statements and metrics, in the list's order; or ""."""
    said = f" {spaced(question)} "
    found = [row.said for row in _listed().get(language, ()) if row.asked.search(said)]
    return ", ".join(found[:MAX_METRICS])


@dataclass(frozen=True, slots=True)
class _Listed:
    """A pattern of what is asked, over folded words, and what is searched for."""

    asked: regex.Pattern[str]
    said: str


@cache
def _listed() -> dict[str, Sequence[_Listed]]:
    read: dict[str, Any] = yaml.safe_load((DATA / "metrics.yaml").read_text(encoding="utf-8"))
    return {language: [_entry(row) for row in rows] for language, rows in read.items()}


def _entry(row: dict[str, Any]) -> _Listed:
    longest = sorted(row["asked"], key=len, reverse=True)
    asked = regex.compile("|".join(f" {regex.escape(spaced(phrase))} " for phrase in longest))
    return _Listed(asked, str(row["said"]))
