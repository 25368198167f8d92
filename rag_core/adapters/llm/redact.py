"""Takes a key out of a text that a server sent back: a model, or a proxy before it, may repeat what it got."""

from __future__ import annotations

import re
from functools import lru_cache

MIN_CHARS = 8  # a shorter key ("none", "ollama") is a word that a document may hold, and guards nothing
# a part of a key that is taken out by itself; a shorter one may be a word, and tells little of the key
MIN_PART_CHARS = 16
HIDDEN = "[key]"


def without_key(text: str, key: str) -> str:
    """The text with `[key]` for the key, for the key without its label ("sk-", "sk-proj-"), and for its first or last
    three quarters.

    Each character may stand as itself or as JSON escapes it; case does not matter. Other codings (spaces between,
    Base64) are not known.
    """
    return _pattern(key).sub(HIDDEN, text) if len(key) >= MIN_CHARS else text


@lru_cache(maxsize=8)
def _pattern(key: str) -> re.Pattern[str]:
    most = len(key) * 3 // 4
    label = max(key.rfind("-", 0, 12), key.rfind("_", 0, 12)) + 1
    parts = {part for part in (key[label:], key[:most], key[-most:]) if len(part) >= MIN_PART_CHARS}
    longest_first = [key, *sorted(parts, key=len, reverse=True)]
    return re.compile("|".join("".join(map(_letter, part)) for part in longest_first), re.IGNORECASE)


def _letter(letter: str) -> str:
    return rf"(?:\\?{re.escape(letter)}|\\u{ord(letter):04x})"
