"""Finds the statements and metrics of financial reports that a question names, and the words that reports print where they stand.

"What was the capex?" is then also searched by "purchases of property, plant and equipment". Reports rarely print the words that people
ask with, and a ratio stands in none of them: its line items do. A question that names none is searched as it is. The list is ours
(`data/metrics.yaml`), so no document can add to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import regex
import yaml

from rag_core.language import spaced
from rag_core.settings import DATA

MAX_METRICS = 4  # in one question; each adds about six words to the search; chosen


def reported(question: str, language: str) -> str:
    """The words that reports print for the statements and metrics of a question, in the list's order; empty where it names none.

    Args:
        question: as it is searched for.
        language: of the question, ISO 639-1; a language without a list names none.
    """
    said = f" {spaced(question)} "
    found = [text for pattern, text in _listed().get(language, ()) if pattern.search(said)]
    return ", ".join(found[:MAX_METRICS])


@cache
def _listed() -> dict[str, Sequence[tuple[regex.Pattern[str], str]]]:
    """For each language its entries: the pattern of what is asked, over folded words parted by spaces, and what is said."""
    read: dict[str, Any] = yaml.safe_load((DATA / "metrics.yaml").read_text(encoding="utf-8"))
    return {language: [(_pattern(row["asked"]), str(row["said"])) for row in rows] for language, rows in read.items()}


def _pattern(phrases: Sequence[str]) -> regex.Pattern[str]:
    """Any of the phrases, as whole words."""
    return regex.compile("|".join(f" {regex.escape(spaced(phrase))} " for phrase in phrases))
