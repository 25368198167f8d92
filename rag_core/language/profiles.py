"""The facts that are written down about each language: one JSON file in `data/languages`, one `LanguageInfo`.

A new language is a new file there. The lists are our own; every pattern is matched against folded words joined by single
spaces, so it needs neither case nor punctuation, and user text never becomes part of a pattern.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import regex

from rag_core.errors import InvalidSetting
from rag_core.language.words import fold, words

_FOLDER = Path(__file__).resolve().parents[2] / "data" / "languages"


@dataclass(frozen=True, slots=True)
class LanguageInfo:
    """The word lists and phrases of one language.

    `question_words` and `stop_words` are lower case, not folded. They hold no negation and no modal of obligation or
    permission, because these decide what a clause says; `function_words` is both together.
    Patterns are None where the language's file has none.
    """

    code: str
    name: str
    script: str
    question_words: frozenset[str]
    stop_words: frozenset[str]
    function_words: frozenset[str]
    refusal: str
    refusal_phrases: tuple[str, ...]
    conditionals: frozenset[str]
    indicator_phrases: tuple[str, ...]
    orders: regex.Pattern[str] | None
    greetings: tuple[str, ...]
    greeting_fillers: tuple[str, ...]
    about_library: regex.Pattern[str] | None
    comparative: regex.Pattern[str] | None
    procedural: regex.Pattern[str] | None
    asks_number: regex.Pattern[str] | None
    time_sensitive: regex.Pattern[str] | None
    abbreviations: frozenset[str]
    number_abbreviations: frozenset[str]
    ordinal_dot: bool
    ordinal_followers: frozenset[str]
    synonym_groups: tuple[tuple[str, ...], ...]


def spaced(text: str) -> str:
    """The folded words of a text joined by single spaces: what phrases and patterns are compared with."""
    return " ".join(fold(word.text) for word in words(text))


def _search_pattern(source: str) -> regex.Pattern[str] | None:
    return regex.compile(rf"(?:^| )(?:{fold(source)})(?: |$)") if source else None


def _whole_pattern(sources: list[str]) -> regex.Pattern[str] | None:
    return regex.compile("|".join(f"(?:{fold(source)})" for source in sources)) if sources else None


def _word_set(record: Mapping[str, Any], key: str) -> frozenset[str]:
    return frozenset(record.get(key, "").split())


def _info(record: Mapping[str, Any]) -> LanguageInfo:
    return LanguageInfo(
        code=record["code"],
        name=record["name"],
        script=record["script"],
        question_words=_word_set(record, "question_words"),
        stop_words=_word_set(record, "stop_words"),
        function_words=_word_set(record, "question_words") | _word_set(record, "stop_words"),
        refusal=record["refusal"],
        refusal_phrases=tuple(spaced(phrase) for phrase in [record["refusal"], *record["refusal_phrases"]]),
        conditionals=frozenset(fold(word) for word in _word_set(record, "conditionals")),
        indicator_phrases=tuple(record["indicator_phrases"]),
        orders=_search_pattern(record.get("orders", "")),
        greetings=tuple(spaced(phrase) for phrase in record["greetings"]),
        greeting_fillers=tuple(spaced(phrase) for phrase in record["greeting_fillers"]),
        about_library=_whole_pattern(record["about_library"]),
        comparative=_search_pattern(record.get("comparative", "")),
        procedural=_search_pattern(record.get("procedural", "")),
        asks_number=_search_pattern(record.get("asks_number", "")),
        time_sensitive=_search_pattern(record.get("time_sensitive", "")),
        abbreviations=_word_set(record, "abbreviations"),
        number_abbreviations=_word_set(record, "number_abbreviations"),
        ordinal_dot=bool(record.get("ordinal_dot", False)),
        ordinal_followers=_word_set(record, "ordinal_followers"),
        synonym_groups=tuple(tuple(group.split()) for group in record.get("synonyms", [])),
    )


def load_languages(folder: Path) -> Mapping[str, LanguageInfo]:
    """Read every language file of a folder, by language code.

    Raises:
        InvalidSetting: the folder holds no file, or a file is not valid JSON or lacks a list or has a broken pattern.
    """
    languages: dict[str, LanguageInfo] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            info = _info(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, AttributeError, TypeError, regex.error) as problem:
            raise InvalidSetting(
                f"The language file {path.name} cannot be used ({type(problem).__name__}: {problem}).",
                remedy="Restore it from the repository, or give it the keys that data/languages/en.json has.",
            ) from problem
        languages[info.code] = info
    if "en" not in languages:
        raise InvalidSetting(
            f"No English language file among the {len(languages)} found in data/languages.",
            remedy="Restore the folder data/languages from the repository; English is the fallback of every phrase.",
        )
    return MappingProxyType(languages)


LANGUAGES: Mapping[str, LanguageInfo] = load_languages(_FOLDER)
