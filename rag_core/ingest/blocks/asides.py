"""Finds rows that state nothing by themselves: lines of a table of contents, and captions.

They stay in their passages, where they help to find and to understand; they are context, never an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import regex

from rag_core.ingest.blocks.rows import Row, ends_sentence
from rag_core.language import any_language

MIN_CONTENTS = 4  # rows; fewer with page numbers behind them may be a small table
ROW_SHARE = 0.6  # part of a table's rows of several cells that end in a page number; long titles take two rows
MORE_PAGES = 20  # that a document may have before the number that its pages show
# at the end of a row, where a leader with its page number stands; a row of 100,000 dots is not read for one
LEADER_CHARS = 100

_LEADER = regex.compile(r"(?:[.…_·][ \t]*){4,}(?:\p{L}{1,2}-)?(?:\p{Nd}{1,4}|[ivxlc]{1,6})\s*$")
_PAGE = regex.compile(r"\t(?:\p{L}{1,2}-)?(\p{Nd}{1,4})(?:[-–]\p{Nd}{1,4})?$")
_NUMBERED = regex.compile(
    r"(?:\p{L}+\.? )?(?:\p{Nd}{1,2}(?:\.\p{Nd}{1,2})*\p{Lu}?|[IVXLC]+|\p{Lu})[.):]?\t", regex.IGNORECASE
)


def contents_end(rows: Sequence[Row], start: int) -> int:
    """The index after the table of contents with leaders that starts at `rows[start]`, or `start`."""
    end = index = start
    while index < len(rows) and index - end <= 1:
        if _LEADER.search(rows[index].text[-LEADER_CHARS:]):
            end = index + 1
        index += 1
    return end


def is_contents(table: Sequence[Row], pages: int) -> bool:
    """Whether the rows of a table are titles with page numbers, which never go down and fit the document's `pages`."""
    several = [row for row in table if row.cells > 1]
    numbers = [int(match[1]) for row in several if (match := _PAGE.search(row.text))]
    if len(numbers) < max(MIN_CONTENTS, ROW_SHARE * len(several)) or not all(map(_is_title, several)):
        return False
    return numbers[0] < numbers[-1] <= pages + MORE_PAGES and all(one <= two for one, two in pairwise(numbers))


def _is_title(row: Row) -> bool:
    """Whether a row is a title, perhaps with its number before it, and at most one more cell."""
    before, *_ = row.text.rsplit("\t", 1)
    return any(map(str.isalpha, before)) and (row.cells == 2 or (row.cells == 3 and bool(_NUMBERED.match(row.text))))


def caption_end(rows: Sequence[Row], start: int) -> int:
    """The index after the caption that starts at `rows[start]` ("Figure 3: …"), or `start`."""
    if not _caption().match(rows[start].text):
        return start
    end = start + 1
    while end < len(rows) and _continues(rows[end - 1], rows[end]):
        end += 1
    return end


def _continues(row: Row, following: Row) -> bool:
    alike = following.cells == 1 and following.size == row.size and not following.apart
    return alike and (following.block == row.block or (not ends_sentence(row.text) and following.text[0].islower()))


@cache
def _caption() -> regex.Pattern[str]:
    names = "|".join(map(regex.escape, any_language().captions))
    return regex.compile(
        rf"(?:{names})\.?\s*(?:\p{{Nd}}{{1,3}}+|[A-Z]\b)(?:[.-]\p{{Nd}}{{1,3}}+)*+\p{{Ll}}?\s*(?:[:.|—–-]\s*\S|$|\t)",
        regex.IGNORECASE,
    )
