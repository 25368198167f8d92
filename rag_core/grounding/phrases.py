"""Indicator phrases: turns of speech by which a model speaks from its own knowledge ("as we know", "typically")."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import regex

from rag_core.ingest.normalise import normalise
from rag_core.language import FALLBACK, LANGUAGES


def indicators(claim_text: str, evidence_text: str, languages: Iterable[str]) -> tuple[str, ...]:
    """The indicator phrases of a claim that its own evidence does not hold, each once.

    Whole phrases count, whatever their case and white space. English phrases are looked for beside those of
    `languages`.
    """
    claim, evidence = normalise(claim_text).text, normalise(evidence_text).text
    phrases = dict.fromkeys(
        phrase for lang in (*languages, FALLBACK) for phrase in LANGUAGES.or_fallback(lang).indicator_phrases
    )
    return tuple(
        phrase for phrase in phrases if _pattern(phrase).search(claim) and not _pattern(phrase).search(evidence)
    )


@cache
def _pattern(phrase: str) -> regex.Pattern[str]:
    words = r"\s+".join(regex.escape(word) for word in phrase.split())
    return regex.compile(rf"(?<![\p{{L}}\p{{M}}\p{{N}}]){words}(?![\p{{L}}\p{{M}}\p{{N}}])", regex.IGNORECASE)
