"""Prepares a question for the search: spells out its abbreviations, and sets its instructions aside.

"What is Amazon's FY2017 net income (in USD millions)? Round to one decimal." asks for Amazon, fiscal year 2017 and net income. The rest
tells how to write the answer, and no document needs to hold it.
"""

from __future__ import annotations

import regex

from rag_core.language import ends_in_question, sentences

_FISCAL_YEAR = regex.compile(r"\bFY\s?[-'’]?\s?((?:19|20)\d\d|\d\d)\b")
_QUARTER = regex.compile(r"\b(?:Q([1-4])|([1-4])Q)(?:\s?[-'’]?\s?((?:19|20)\d\d|\d\d)\b)?")
_ORDINALS = {"1": "first", "2": "second", "3": "third", "4": "fourth"}
_BRACKETS = regex.compile(r"\([^()]*\)")
MIN_CORE_CHARS = 10  # a shorter rest asks nothing ("Why?" is four); chosen


def expand(question: str) -> str:
    """The question with fiscal years and quarters in the words and digits that reports use.

    "FY2022" and "FY22" become "fiscal year 2022", "Q2" becomes "second quarter", "2Q23" "second quarter 2023". Nothing else changes.
    """
    spelled: str = _FISCAL_YEAR.sub(lambda m: f"fiscal year {_full_year(m[1])}", question)
    return str(_QUARTER.sub(lambda m: f"{_ORDINALS[m[1] or m[2]]} quarter" + (f" {_full_year(m[3])}" if m[3] else ""), spelled))


def core(question: str, language: str) -> str:
    """The part that asks: of several sentences those that end in a question mark, without what stands in brackets.

    The whole question where that leaves nothing to ask.
    """
    asked = [question[start:end] for start, end in sentences(question, language)]
    kept = [sentence for sentence in asked if ends_in_question(sentence)] or asked
    bare = " ".join(_BRACKETS.sub(" ", sentence) for sentence in kept)
    bare = " ".join(bare.split())
    return bare if len(bare) >= MIN_CORE_CHARS else question


def _full_year(digits: str) -> str:
    """Two digits are of this century up to 50, of the last one after."""
    if len(digits) == 4:
        return digits
    return f"20{digits}" if int(digits) <= 50 else f"19{digits}"
