"""Prepares a question for the search: spells out its abbreviations, and sets its instructions aside.

"What is Amazon's FY2017 net income (in USD millions)? Round to one decimal." asks for Amazon, fiscal year 2017 and net
income. The rest tells how to write the answer or where to look, and no document needs to hold it.
"""

from __future__ import annotations

from functools import lru_cache

import regex

from rag_core.language import LANGUAGES, AskedWords, ends_in_question, sentences, spaced

_FISCAL_YEAR = regex.compile(r"\bFY\s?[-'’]?\s?((?:19|20)\d\d|\d\d)\b")
_QUARTER = regex.compile(r"\b(?:Q([1-4])|([1-4])Q)(?:\s?[-'’]?\s?((?:19|20)\d\d|\d\d)\b)?")
_ORDINALS = {"1": "first", "2": "second", "3": "third", "4": "fourth"}
_BRACKETS = regex.compile(r"\([^()]*\)")
# "in 2023?Round your answer", "in 2023? round your answer": two sentences without a space, or without a capital
_JOINED = regex.compile(r"(?<=[?？؟।])(?:(?=\p{Lu})|\s+(?=\p{Ll}))")
_CLAUSE = regex.compile(r"(?<=[,:])\s")
MIN_CORE_CHARS = 10  # a shorter rest asks nothing ("Why?" is four); chosen
MAX_CHARS = 4000  # in a question that is looked at; a longer one stays whole; chosen


def expand(question: str) -> str:
    """The question with fiscal years and quarters in the words and digits that reports use.

    "FY2022" and "FY22" become "fiscal year 2022", "Q2" becomes "second quarter", "2Q23" "second quarter 2023". A
    question that is all in capitals is read in small letters. Nothing else changes.
    """
    question = question.capitalize() if question.isupper() and " " in question else question
    spelled: str = _FISCAL_YEAR.sub(lambda m: f"fiscal year {_full_year(m[1])}", question)
    return str(
        _QUARTER.sub(lambda m: f"{_ORDINALS[m[1] or m[2]]} quarter" + (f" {_full_year(m[3])}" if m[3] else ""), spelled)
    )


def prepared(question: str, language: str) -> str:
    """The question as it is searched for and read: abbreviations spelled out, instructions set aside."""
    return without_instructions(expand(question), language)


@lru_cache(maxsize=1 << 8)
def without_instructions(question: str, language: str) -> str:
    """The question without what tells how to write its answer ("Round to one decimal", "(in millions)") or where to
    look.

    Sentences and brackets of a language's `instructions` go, and a clause before or behind the question that only names
    the place to look (`sources`): "Using the income statement, what ...". A question that has none of these stays to
    the letter, as does one of which nothing would be left.
    """
    info = LANGUAGES.get(language)
    words = info.asked if info else None
    if words is None or len(question) > MAX_CHARS:
        return question
    parts = [part for start, end in sentences(question, language) for part in _JOINED.split(question[start:end])]
    kept = [bare for part in parts if (bare := _bare(part, words))]
    left = " ".join(kept)
    if kept == parts or not any(map(str.isalnum, left)) or len(left) < MIN_CORE_CHARS:
        return question
    return left


def core(question: str, language: str) -> str:
    """The part that asks: sentences that end in a question mark, without brackets; all where nothing is left."""
    plain = without_instructions(question, language)
    asked = [plain[start:end] for start, end in sentences(plain, language)]
    kept = [sentence for sentence in asked if ends_in_question(sentence)] or asked
    bare = " ".join(_BRACKETS.sub(" ", sentence) for sentence in kept)
    bare = " ".join(bare.split())
    return bare if len(bare) >= MIN_CORE_CHARS else question


def _bare(sentence: str, words: AskedWords) -> str:
    """A sentence without its instructions; empty where it is one."""
    if _says(words.instructions, sentence) and not ends_in_question(sentence):
        return ""
    bracket = next((match for match in _BRACKETS.finditer(sentence) if _says(words.instructions, match[0][1:-1])), None)
    if bracket:
        sentence = f"{sentence[: bracket.start()].rstrip()}{sentence[bracket.end() :]}"
    clauses = _CLAUSE.split(sentence)
    kept = [clause for clause in clauses if not _says(words.sources, clause)]
    if not kept or len(kept) == len(clauses):
        return sentence
    left = " ".join(kept).rstrip(" ,:")
    return f"{left}?" if ends_in_question(sentence) and not ends_in_question(left) else left


def _says(pattern: regex.Pattern[str] | None, text: str) -> bool:
    return pattern is not None and pattern.search(spaced(text)) is not None


def _full_year(digits: str) -> str:
    """Two digits are of this century up to 50, of the last one after."""
    if len(digits) == 4:
        return digits
    return f"20{digits}" if int(digits) <= 50 else f"19{digits}"
