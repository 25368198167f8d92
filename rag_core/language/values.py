"""How a value of a language file is read, by the type of its key: words, phrases, numbers, tables, patterns.

Words are parted by white space, phrases by bars or as an array. A star in a pattern stands for the rest of a word or
its beginning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import regex

from rag_core.language.words import fold, word_texts


def spaced(text: str) -> str:
    """The folded words of a text joined by single spaces: what phrases and patterns are compared with."""
    return " ".join(map(fold, word_texts(text)))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is needed, not {value!r}")
    return " ".join(value.split())


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"true or false is needed, not {value!r}")
    return value


def _words(value: Any) -> tuple[str, ...]:
    return tuple(_text(value).split())


def _phrases(value: Any) -> tuple[str, ...]:
    found = map(_text, value if isinstance(value, list) else _text(value).split("|"))
    return tuple(phrase for phrase in map(str.strip, found) if phrase)


def _numbers(value: Any) -> Mapping[str, int]:
    parts = _words(value)
    return {word: int(number) for word, number in zip(parts[::2], parts[1::2], strict=True)}


def _search_pattern(value: Any) -> regex.Pattern[str] | None:
    return regex.compile(rf"(?:^| )(?:{fold(_text(value))})(?: |$)") if value else None


def _whole_pattern(value: Any) -> regex.Pattern[str] | None:
    return regex.compile("|".join(f"(?:{fold(source)})" for source in _phrases(value))) if value else None


def _star_pattern(value: Any) -> regex.Pattern[str]:
    """Matches a whole folded word; a star stands for the rest of one or its beginning."""
    ways = (regex.escape(fold(word)).replace(r"\*", "[^ ]*") for word in _words(value))
    return regex.compile("|".join(ways) or NEVER.pattern)


_GAP = r"[\s,]{1,3}+"  # between two words of a phrase


def _phrase_pattern(value: Any) -> regex.Pattern[str]:
    """Matches any phrase, the longest first; a comma before one stands for a stop or the beginning."""
    phrases = sorted(dict.fromkeys(_phrases(value)), key=len, reverse=True)
    stop = r"(?<=^|[,;:.(]\s)"
    found = (
        (stop if phrase[0] == "," else "") + _GAP.join(map(_word, phrase.replace(",", "").split()))
        for phrase in phrases
    )
    ways = "|".join(found) or NEVER.pattern
    return regex.compile(rf"(?<![\p{{L}}\p{{M}}\p{{N}}])(?:{ways})(?![\p{{L}}\p{{M}}\p{{N}}])", regex.IGNORECASE)


def _word(word: str) -> str:
    """A word in which a star stands for some letters, before it for at least one."""
    beginning, star, end = word.partition("*")
    letters = rf"[\p{{L}}\p{{M}}]{{{0 if beginning else 1},40}}" if star else ""
    return f"{regex.escape(beginning)}{letters}{regex.escape(end)}"


Text = Annotated[str, _text]
Flag = Annotated[bool, _flag]
Words = Annotated[tuple[str, ...], _words]
WordSet = Annotated[frozenset[str], lambda value: frozenset(_words(value))]
FoldedSet = Annotated[frozenset[str], lambda value: frozenset(map(fold, _words(value)))]
FoldedWords = Annotated[tuple[str, ...], lambda value: tuple(map(fold, _words(value)))]
Phrases = Annotated[tuple[str, ...], _phrases]
PhrasePattern = Annotated[regex.Pattern[str], _phrase_pattern]
SpacedPhrases = Annotated[tuple[str, ...], lambda value: tuple(map(spaced, _phrases(value)))]
Groups = Annotated[
    tuple[tuple[str, ...], ...], lambda value: tuple(tuple(phrase.split()) for phrase in _phrases(value))
]
Numbers = Annotated[Mapping[str, int], _numbers]
FoldedNumbers = Annotated[
    Mapping[str, int], lambda value: {fold(word): number for word, number in _numbers(value).items()}
]
Table = Annotated[Mapping[str, str], lambda value: {name: _text(text) for name, text in value.items()}]
Spellings = Annotated[
    Mapping[str, tuple[str, ...]],
    lambda value: {name: tuple(word.replace("_", " ") for word in _words(row)) for name, row in value.items()},
]
Levels = Annotated[
    Mapping[str, Mapping[str, tuple[str, ...]]],
    lambda value: {kind: {level: _phrases(row) for level, row in rows.items()} for kind, rows in value.items()},
]
SearchPattern = Annotated[regex.Pattern[str] | None, _search_pattern]
WholePattern = Annotated[regex.Pattern[str] | None, _whole_pattern]
StarPattern = Annotated[regex.Pattern[str], _star_pattern]
NEVER = regex.compile("(?!)")  # a pattern that nothing matches
SearchPatterns = Annotated[
    Mapping[str, regex.Pattern[str]],
    lambda value: {name: pattern for name, source in value.items() if (pattern := _search_pattern(source))},
]
