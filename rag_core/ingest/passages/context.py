"""The text that is embedded: a line that says where a passage stands, then the passage.

"Net income 596" alone answers nothing; "Amazon 10-K › Consolidated statements of operations › (in millions) 2015 2016
2017" above it does. The line is shortened here, by an estimate that needs no tokenizer, so that a text and its title
always give the same input to the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from rag_core.domain.passages import Passage

SECTION_MARK = " › "
MAX_LEVELS = 3  # the innermost headings say most; chosen
MAX_SECTION_CHARS = 120  # as long as a heading may be
# Widths: about one for a token of the embedded model, which reads 256. Together about 64.
TITLE_WIDTH, SECTION_WIDTH, HEADER_WIDTH = 14.0, 22.0, 28.0

_PLAIN_LETTER, _PLAIN_DIGIT = re.compile("[A-Za-z]"), re.compile("[0-9]")


def embedding_text(passage: Passage, title: str) -> str:
    """The context line of a passage, a line break, and its text; the text alone where there is no context."""
    line = context(title, passage.section, passage.header_text)
    return f"{line}\n{passage.text}" if line else passage.text


@lru_cache(maxsize=4096)  # the passages of a section share it
def context(title: str, section: str, header_text: str) -> str:
    """Title, section and a table's header in one line, each shortened when it is long. Widths above are the limits."""
    path = _innermost(section.split(SECTION_MARK), _width, SECTION_WIDTH)
    parts = (_shorten(title, TITLE_WIDTH), _shorten(path, SECTION_WIDTH), _shorten(header_text, HEADER_WIDTH))
    return SECTION_MARK.join(part for part in parts if part)


def section_path(levels: Sequence[str]) -> str:
    """The innermost levels of a section as one text, outermost first: at most `MAX_LEVELS` and `MAX_SECTION_CHARS`."""
    path = _innermost([" ".join(level.split()) for level in levels[-MAX_LEVELS:]], len, MAX_SECTION_CHARS)
    return path if len(path) <= MAX_SECTION_CHARS else path[: MAX_SECTION_CHARS - 1].rstrip() + "…"


def _innermost(levels: Sequence[str], size: Callable[[str], float], limit: float) -> str:
    kept = list(levels)
    while len(kept) > 1 and size(SECTION_MARK.join(kept)) > limit:
        kept.pop(0)
    return SECTION_MARK.join(kept)


def _shorten(text: str, limit: float) -> str:
    """As many whole words as fit into `limit`; of a single longer word, as many characters."""
    words = text.split()
    if _width(text) <= limit:
        return " ".join(words)
    kept, width = 0, 1.0
    while kept < len(words) and width + _width(words[kept]) <= limit:
        width += _width(words[kept])
        kept += 1
    if kept:
        return " ".join(words[:kept]) + "…"
    characters = 0
    while width + _width(words[0][characters]) <= limit:
        width += _width(words[0][characters])
        characters += 1
    return words[0][:characters] + "…"


def _width(text: str) -> float:
    """About how many tokens a text takes: a quarter for a plain letter, half for a digit, one for another sign."""
    letters, digits = len(_PLAIN_LETTER.findall(text)), len(_PLAIN_DIGIT.findall(text))
    blanks = sum(map(str.isspace, text))
    return 0.25 * letters + 0.5 * digits + (len(text) - letters - digits - blanks)
