"""The text of a file's bytes in any usual encoding."""

from __future__ import annotations

import codecs

import regex

from rag_core.language import detect, is_known, word_texts

_OTHER_LETTER = regex.compile(r"[^\P{L}\p{Latin}]")
HEAD = 4000  # bytes by which UTF-16 without a mark, and what is no text, is known; chosen
_EXAMINED = 20_000  # bytes that tell an encoding; chosen


def decoded(data: bytes) -> tuple[str, str]:
    """The text, and the encoding that was guessed; empty where it is certain. A byte-order mark of UTF-8 stays.

    Raises:
        ValueError: it is no text.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16"), ""
    start = data[:HEAD]
    if start[1::2].count(0) > len(start) // 4 or start[::2].count(0) > len(start) // 4:
        return data.decode("utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"), ""
    try:
        return data.decode(), ""
    except UnicodeDecodeError:
        if b"\0" in start or sum(byte < 32 and byte not in b"\t\n\r\f" for byte in start) > len(start) // 100:
            raise ValueError("it holds control characters") from None
    for encoding in _guesses(data):
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1"), "latin-1"


def _guesses(data: bytes) -> list[str]:
    """Encodings to try, the likest first."""
    from charset_normalizer import from_bytes  # rarely needed, and no start has to load it

    examined = data[: data.rfind(b"\n", 0, _EXAMINED) + 1 if len(data) > _EXAMINED else _EXAMINED]
    found = from_bytes(examined).best()
    other = [found.encoding] if found is not None and _OTHER_LETTER.search(str(found)) else []
    return [*other, *sorted(("cp1252", "cp1250"), key=lambda encoding: -_known_words(examined.decode(encoding, "replace")))]


def _known_words(text: str) -> int:
    """How many of the words with other letters than a to z are words of the text's language."""
    language = detect(text)
    return sum(is_known(word, language) for word in set(word_texts(text)) if word.isalpha() and not word.isascii())
