"""Takes struck-out text out of a text document: `~~…~~` and <del>, <s>, <strike> in Markdown, and letters with a stroke through each.

What stands in code is code, and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# fenced code, up to its fence or the end; code within a paragraph; an escaped tilde
_CODE = re.compile(
    r"^ {0,3}(`{3,}|~{3,})[^`\n]*$(?:\n.*?)??(?:\n {0,3}\1[`~]*[ \t]*$|\Z)|(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)\2(?!`)|\\~",
    re.MULTILINE | re.DOTALL,
)
_TILDES = re.compile(r"(?<!~)~~(?![~\s])(?:(?!\n[ \t]*\n|~~).)+(?<!\s)~~(?!~)", re.DOTALL)
_TAG = re.compile(r"<(/?)(del|s|strike)\b[^<>]{0,500}>", re.IGNORECASE)
_STROKES = re.compile("(?:[^\n]\u0336[ \t]?)*[^\n]\u0336")  # U+0336 draws a line through the letter before it
_MARKS = re.compile(r"~~|\s|\u0336|</?(?:del|s|strike)\b[^<>]*>", re.IGNORECASE)
_SAYS = re.compile(r"[^\W_]|\|")


def without_struck(text: str, *, markdown: bool) -> tuple[str, int]:
    """The text without what is struck out, and how many characters of words that were; a line that loses all of its words is left empty."""
    spans = sorted({*(_markdown(text) if markdown else ()), *(match.span() for match in _STROKES.finditer(text))})
    if not spans:
        return text, 0
    parts, at, struck = [], 0, 0
    for start, end in spans:
        if end <= at:  # within the one before
            continue
        start = max(start, at)
        struck += len(_MARKS.sub("", text[start:end]))
        while start > at and end < len(text) and text[start - 1] == text[end] and text[end] in "*_":
            start, end = start - 1, end + 1
        parts.append(text[at:start])
        # the blanks before and after it one stays
        at = end + 1 if text[end : end + 1] == " " and (not start or text[start - 1].isspace()) else end
        parts.append("\0")
    lines = "".join((*parts, text[at:])).split("\n")
    return "\n".join("" if "\0" in line and not _SAYS.search(line) else line.replace("\0", "") for line in lines), struck


def _markdown(text: str) -> Iterator[tuple[int, int]]:
    prose = _CODE.sub(lambda code: "x" * len(code[0]), text) if "`" in text or "~" in text else text
    yield from (match.span() for match in _TILDES.finditer(prose))
    depth = begun = 0
    for tag in _TAG.finditer(prose):
        if not tag[1]:
            begun = begun if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield begun, tag.end()
