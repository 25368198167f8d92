"""Finds rows that are program code, and where in it a function or class starts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence

from rag_core.ingest.blocks.rows import Row

ALL_CODE_SHARE = 0.4  # where so many rows look like code, the document is a source file, comments and all
BLOCK_SHARE = 0.5  # share of the rows of one block
TYPEWRITTEN_SHARE = 0.8  # with so many rows in a fixed-width font, the font says nothing

_CODE = re.compile(
    r"(?:async def|def|class|import|from [\w.]+ import|return|elif|else:|try:|except|raise|assert|with .+:$|for "
    r".+:$|while .+:$|if .+:$|"
    r"@\w+|#include|#define|public|private|protected|static|function|const|let|var|fn|func|impl|struct|enum|package|using|namespace|"
    r"SELECT|INSERT|UPDATE|CREATE TABLE|echo|export|fi|done|end)\b.*(?:[(){}\[\]=;:<>]|\Z)|"
    r"[)}\]]+[;,)]*\Z|//|/\*|\*/|[\w.\]\[]+ (?:[-+*/|&]?=|:=) "
    r"\S|[\w.]+\(.*\)[;:]?\Z|.*[{;]\Z|.*(?:=>|->|\S::\S|!=|==|&&|\|\|)"
)
# how a function, a class or the like starts, and what belongs to the definition that follows it
DEFINITION = re.compile(
    r"(?:export |default |public |private |protected |static |abstract |final |async |pub |unsafe |inline |virtual )*"
    r"(?:def|class|function|func|fn|impl|struct|enum|interface|trait|type|module|namespace|record|"
    r"CREATE (?:TABLE|FUNCTION|PROCEDURE|VIEW))\b"
    r"|(?:[\w<>\[\],*&]+ )+\w+\([^;]*\)\s*\{?\Z|(?:const|let|var) \w+ = (?:async )?(?:function|\()"
)
DECORATOR = re.compile(r"@\w|#\[|template\s*<|///|/\*\*")
_FENCE = re.compile(r"```|~~~")


def _looks_like_code(text: str) -> bool:
    """Whether one row reads like a line of a program: weak evidence, where a share of rows is strong."""
    # a row of "=" underlines a title
    return bool(_CODE.match(text)) and not text.endswith((".", "?", "!")) and bool(text.strip("="))


def code_rows(everything: Sequence[Row]) -> set[Row]:
    """The rows that are code: fenced, in a fixed-width font where most rows are not, or of a block that reads so."""
    found = _fenced(everything)
    other = [row for row in everything if row not in found]
    if sum(_looks_like_code(row.text) for row in other) >= ALL_CODE_SHARE * len(other):
        return set(everything) if other else found
    if sum(row.mono for row in everything) < TYPEWRITTEN_SHARE * len(everything):
        found.update(row for row in everything if row.mono)
    standing_together: defaultdict[tuple[int, int], list[Row]] = defaultdict(list)
    for row in other:
        if row.size == 0:  # a text document; a PDF shows its code by the font
            standing_together[row.page, row.block].append(row)
    for block in standing_together.values():
        if len(block) > 1 and sum(_looks_like_code(row.text) for row in block) >= BLOCK_SHARE * len(block):
            found.update(block)
    return found


def _fenced(everything: Sequence[Row]) -> set[Row]:
    found, opened = set[Row](), list[Row]()
    for row in everything:
        fence = bool(_FENCE.match(row.text)) and row.size == 0  # a mark of text documents
        if fence or opened:
            opened.append(row)
        if fence and len(opened) > 1:
            found.update(opened)
            opened = []
    return found


def code_end(rows: Sequence[Row], start: int, code: Collection[Row]) -> int:
    """The index after the code that starts at `rows[start]`; `start` when it is one row, as a name in a sentence."""
    end = start
    while end < len(rows) and rows[end] in code:
        end += 1
    return end if end - start > 1 else start
