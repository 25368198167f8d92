"""Finds rows that are headings, and says which of two headings is the outer one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import regex

from rag_core.domain.documents import Page
from rag_core.ingest.blocks.rows import MAX_HANG, Row, alike_sizes, boilerplate, ends_sentence, is_indented
from rag_core.ingest.blocks.rows import rows as rows_of
from rag_core.ingest.normalise import normalise
from rag_core.language import LANGUAGES, spaced
from rag_core.language.bullets import BULLETS
from rag_core.language.scales import is_scale

MAX_CHARS = 120  # a longer row is text; chosen
MAX_WORDS = 16  # chosen, too
TITLE_WORDS = 8  # in a heading with a full stop
MAX_ROWS = 3  # a heading of more rows is a paragraph in bold
TITLE_SIZE = 1.3  # times the body's, from which a heading is a document's title; chosen
TITLE_PAGES, TITLE_WORD_CHARS = 3, 4  # on which a title is printed, and letters of a word that tells; chosen
PAGE_TITLE_WORDS = 3  # in what a first page prints largest, to be its title: fewer name a firm, or a form; chosen
LARGER = 1.08  # times the body's font size
NEAR = 40  # rows around a question in which another one says that they are questions and answers; chosen
# a row that its paragraph's last row may follow is at least so long as the row below; a heading above a heading is
# shorter
FULL = 0.7
RUN_IN = 0.15  # part of the width of a full row by which one with a heading in it may differ; chosen
CLOSE = 1.5  # times the size from such a row to the next one at most; chosen
BROKEN_WORDS = 5  # at least in such a row: the head of a narrow column has fewer; chosen
BELOW = 2.2  # times the size from a row that breaks off to the next one at most; chosen
FIRST_NUMBERED = 9  # the rank of "1"; that of "1.2" is one more
NO_PATTERN = 20  # the rank of a heading without a number, behind all patterns of numbers

_ADDRESS = re.compile(r"(?:\w+:|www\.)\S+")
_MARKDOWN = re.compile(r"(?:\d{1,3}[.)]\s+)?(#{1,6})\s+\S")  # also in an item of a list: "1. ## Terms"
_MARKDOWN_MARK = re.compile(r"#{1,6}\s+")
_UNDERLINE = re.compile(r"={3,}|-{3,}")
_NUMERAL = r"(?:[IVXLC]{1,6}|\d{1,3})(?:\.\d{1,3})*[A-Z]?"
_PART = re.compile(
    rf"(?:part|teil|hlava|část|titul|book|часть|भाग)\s+(?:{_NUMERAL}|one|two|three|four)\b", re.IGNORECASE
)
_CHAPTER = re.compile(
    rf"(?:item|chapter|section|article|art\.|annex|appendix|schedule|exhibit|note|kapitola|oddíl|článek|čl\.|příloha|kapitel|abschnitt|artikel|anlage|anhang|"
    rf"capítulo|artículo|chapitre|глава|статья|अध्याय|अनुच्छेद|धारा)\s+(?:{_NUMERAL}|[०-९]+|[A-Z])\b|§+\s*\d+",
    re.IGNORECASE,
)
_NUMBERED = regex.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+[\p{Lu}\p{Lo}]|(?P<roman>[IVX]{1,5})\.\s+\p{Lu}")
_LISTED = re.compile(r"[^\W\d]{3,}\W*\s\d{1,3}$")  # a row of a table of contents: "Note 22 Segments 109"
_ENDS_CLAUSE = regex.compile(r"[,،、，][\p{Pe}\p{Pf}“‘\"']*$")
_FIELD = regex.compile(r"\p{L}[^:\n]{0,30}:\s+\S")  # "Date: 9 September"
_CONTENTS = re.compile(  # the title of a list of headings, above none of them
    r"(?:table of )?contents|inhalt(?:sverzeichnis|sübersicht)?|obsah|(?:tabla de |índice de )?contenidos?|índice(?: "
    r"general)?|"
    r"table des matières|sommaire|indice|содержание|оглавление|spis treści|विषय[- ]?सूची|अनुक्रमणिका",
    re.IGNORECASE,
)
_QUESTION = regex.compile(  # "Q3: How long?", "4. How long?"
    r"(?:#{1,6}\s)?[*_]*(?:\(?(?:Q|F|Question|Frage)?\s?\d{0,3}[.:)]\s)?[*_]*[\p{L}\p{N}¿](?:[^.!?？؟]|[.](?!\s+\p{Lu}))*[?？؟][\p{Pe}*_]*",
    regex.IGNORECASE,
)
_CLOSES = re.compile(r"\(|[^(\[]*[)\]]\W*$")  # a remark, or the end of one: "approved 10-8-2013]"
_SENTENCE = re.compile(r"[.!?;](?:\s|$)|:$")
_RUN_IN = regex.compile(r"\p{L}[^:\n]*(?::\s|—)\s*\p{L}")
_EQUATION = re.compile(r"[=≤≥≠≈]")
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*")
_LOWER = regex.compile(r"\p{Ll}[\p{Ll}\p{M}]*+[,;]?(?:\s|$)")  # no address, and no "iPhone"
_STOP = regex.compile(r"\p{Ll}{3}[.!?]\s+\p{Lu}")


class Style(NamedTuple):
    """How a heading is set; of two headings the one with the smaller style is the outer one."""

    # minus the font size in points, so that larger comes first; the body's own size counts as one with slightly larger
    size: float
    pattern: int  # markdown 1-6, "PART II" 7, "Item 7" or "§ 5" 8, "1.2" 9 and deeper, 20 for none
    lower: bool  # not in capitals
    light: bool  # not bold


def marked_rows(row: Row, after: Row | None) -> int:
    """The rows of a heading that a text document marks, by "#" or by the line below it; 0 where it marks none."""
    if row.size > 0 or not _possible(row):
        return 0
    underlined = after and after.block == row.block and _UNDERLINE.fullmatch(after.text)
    return 2 if underlined else int(bool(_MARKDOWN.match(row.text)))


def heading_end(rows: Sequence[Row], start: int, body: float, *, marked: bool = False) -> int:
    """The index after the heading that starts at `rows[start]`, or `start` when none does.

    `body` is the size of most text, in points. Where headings are `marked`, nothing else is one but a question.
    """
    row, before = rows[start], rows[start - 1] if start else None
    after = rows[start + 1] if start + 1 < len(rows) else None
    if (end := _question_end(rows, start)) > start and _is_answered(rows, start, end, body):
        return end
    if (count := marked_rows(row, after)) or marked:
        return start + count
    end = start + 1
    while end < len(rows) and _goes_on(rows[end - 1], rows[end], body):
        end += 1
    whole = " ".join(one.text for one in rows[start:end])
    if row.size > LARGER * body and len(whole.split()) <= MAX_WORDS and not _SENTENCE.search(whole):
        row, after = replace(row, text=whole), rows[end] if end < len(rows) else None
    goes_on = before and (_goes_on(before, row, body) or _open(before, row) or _hangs(before, row))
    if (
        goes_on
        or any(_breaks_off(rows, at, body) for at in (start - 1, end - 1))
        or not _is_heading(before, row, after, body)
    ):
        return start
    return end if end - start <= MAX_ROWS else start


def style(row: Row, after: Row | None, body: float) -> Style:
    """The style of a heading that starts with `row`; `after` is its second row, if it has one."""
    size = -row.size if row.size > LARGER * body else -body
    if after and after.size == 0 and (line := _UNDERLINE.fullmatch(after.text)):
        return Style(size, 1 if line.group().startswith("=") else 2, False, False)
    return Style(size, _pattern(row.text), not _is_caps(row.text), not row.bold)


def is_contents_title(words: str) -> bool:
    """Whether a heading is that of a table of contents, so that what follows the table does not stand under it."""
    return bool(_CONTENTS.fullmatch(words.strip(" :.")))


def title(text: str) -> str:
    """The words of a heading in reading form, without its marks: `## Terms ##` is "Terms"."""
    first, *rest = text.split("\n")
    lines = ["".join(_MARKDOWN_MARK.split(first, 1)).rstrip("#") if _MARKDOWN.match(first) else first]
    return normalise("\n".join(lines + [line for line in rest if not _UNDERLINE.fullmatch(line.strip())])).text


def page_title(page: Page) -> str:
    """The words of the heading at the head of a page that is set largest; empty where none is larger than the text."""
    every = rows_of(page)
    sizes = alike_sizes([every])
    running = boilerplate([every])
    shown = [replace(row, size=sizes[row.size]) for row in every if row not in running]
    body, largest = next(iter(sizes.values()), 0.0), max((row.size for row in shown), default=0.0)
    for start, row in enumerate(shown):
        end = heading_end(shown, start, body) if row.size == largest else start
        if end > start and (largest >= TITLE_SIZE * body > 0 or _pattern(row.text) == 1):
            return title("\n".join(one.text for one in shown[start:end]))
    return ""


def believed_title(stated: str, pages: Sequence[Page]) -> str:
    """The title that a file states, where its first pages print it; else the one that its first page prints.

    A template, a program or whoever hosts the file states others, and they would stand before each passage: "New
    Default Template", "about:blank". A single word ("Contents") is a title only where it is printed as one.
    """
    said, printed = _words_of(stated), {word for page in pages[:TITLE_PAGES] for word in _words_of(page.text)}
    if not (said and printed):
        return stated
    known = [word for word in said if len(word) >= TITLE_WORD_CHARS] or said
    shown = page_title(pages[0])
    if said == _words_of(shown):
        return stated
    if len(said) > 1 and not _ADDRESS.fullmatch(stated) and 3 * len(printed.intersection(known)) >= len({*known}):
        return stated
    named = [word for word in _words_of(shown) if len(word) > 1 and not word[0].isdigit()]
    return shown if len(named) >= PAGE_TITLE_WORDS else ""


def _words_of(text: str) -> list[str]:
    return spaced(text.replace("_", " ")).split()


def _question_end(rows: Sequence[Row], start: int) -> int:
    """The index after the rows from `start` that are one whole question and nothing else, or `start`."""
    if start and not (_is_set_off(rows[start - 1], rows[start]) or ends_sentence(rows[start - 1].text.rstrip("*_"))):
        return start
    for end in range(start + 1, min(start + MAX_ROWS, len(rows)) + 1):
        row = rows[end - 1]
        if row.cells > 2 or (end > start + 1 and (row.cells > 1 or _is_set_off(rows[end - 2], row))):
            return start
        if ends_sentence(row.text.rstrip("*_")):
            words = " ".join(each.text for each in rows[start:end])
            return end if " " in words and not words[0].islower() and _QUESTION.fullmatch(words) else start
    return start


def _is_answered(rows: Sequence[Row], start: int, end: int, body: float) -> bool:
    """Whether a question is set over its answer: it is bold or large, or another one is near, or its row ends where a
    word had room.

    A paragraph may happen to begin with a question that fills its first row. A list of questions has no answers.
    """
    after = rows[end] if end < len(rows) else None
    near = range(max(0, start - NEAR), min(len(rows), end + NEAR))
    ends = {found: at for at in near if not start <= at < end and (found := _question_end(rows, at)) > at}
    if (after and after.text[0].islower()) or start in ends or end in ends.values():
        return False
    if (rows[start].bold and after and not after.bold) or rows[start].size > LARGER * body or ends:
        return True
    widest = max(len(rows[at].text) for at in near)
    room = not after or len(f"{rows[end - 1].text} {after.text.split()[0]}") <= widest
    return room and (not start or _is_set_off(rows[start - 1], rows[start]))


def _is_set_off(row: Row, following: Row) -> bool:
    return following.apart or (row.block, row.bold, row.size) != (following.block, following.bold, following.size)


def _possible(row: Row) -> bool:
    short = row.cells <= 2 and len(row.text) <= MAX_CHARS and len(row.text.split()) <= MAX_WORDS
    return short and bool(_WORD.search(row.text))


def _is_heading(before: Row | None, row: Row, after: Row | None, body: float) -> bool:
    if not _possible(row) or is_scale(row.text) or row.text.endswith(("☐", "☑")):  # a field of a form
        return False
    pattern, caps = _pattern(row.text), _is_caps(row.text)
    if _CLOSES.match(row.text) or (pattern < NO_PATTERN and _LISTED.search(row.text)):
        return False
    if pattern == NO_PATTERN and (row.cells == 2 or (before and is_value(before, row))):
        return False
    if (
        not (_parted(before, row) and _parted(row, after))
        or (before and _is_rest(before, row, after, body))
        or (after and runs_in(row, after))
    ):
        return False
    if any(_are_fields(row, other) for other in (before, after) if other):
        return False
    if _ends(row.text) and not (row.text.endswith(".") and (caps or _titles(row, after, pattern))):
        return False
    if row.size > LARGER * body or row.bold or caps:
        return True
    if 7 <= pattern <= 8:  # a clause is none where the next one has its words on its row, too
        return not (after and _pattern(after.text) == pattern and not _possible(after))
    return _stands_over_text(row, after, pattern)


def _are_fields(row: Row, beside: Row) -> bool:
    """Whether two rows that are set alike each give a value: "Place: Harbour Hall" and "Date: 9 September"."""
    alike = (row.size, row.bold, row.block) == (beside.size, beside.bold, beside.block)
    return alike and all(_FIELD.match(one.text) and _pattern(one.text) == NO_PATTERN for one in (row, beside))


def is_value(label: Row, row: Row) -> bool:
    """Whether a row stands below a label with a colon, is set like it, and begins where it does or further in."""
    alike = (row.size, row.bold) == (label.size, label.bold) and 0 < row.top - label.top <= BELOW * row.size
    return alike and label.text.endswith(":") and 0 <= round(row.left - label.left) < MAX_HANG * row.size


def runs_in(row: Row, after: Row) -> bool:
    """Whether a row begins with a heading and goes on with the text that stands under it: "CONTACT: Ada", "Ray"."""
    close = 0 < after.top - row.top <= CLOSE * after.size and row.size <= after.size and not after.apart
    wide = abs((row.right - row.left) - (after.right - after.left)) <= RUN_IN * (after.right - after.left)
    return close and wide and not _ends(row.text) and _RUN_IN.match(row.text) is not None


def _titles(row: Row, after: Row | None, pattern: int) -> bool:
    """Whether a short row that ends in a full stop is a heading all the same: it has a number, or it alone is bold."""
    alone = row.bold and after is not None and not after.bold
    return len(row.text.split()) <= TITLE_WORDS and (7 <= pattern <= 8 or alone)


def _open(before: Row, row: Row) -> bool:
    """Whether a row in lower case can only go on with the sentence of the row before it."""
    return row.text[0].islower() and row.size == before.size > 0 and not row.apart and not _ends(before.text)


def _breaks_off(rows: Sequence[Row], at: int, body: float) -> bool:
    """Whether a row is full and within a sentence, so that the one right below goes on with it, however it is set.

    Full is a row that has no room for the next word. Within a sentence it is where that word is in lower case or,
    in print no larger than the text, its own last word ends none, or a sentence ends before its last words.
    """
    if not 0 <= at < len(rows) - 1:
        return False
    row, following = rows[at], rows[at + 1]
    step, indent = following.top - row.top, following.left - row.left
    if row.size != following.size or row.cells > 1 or not 0 < step <= BELOW * row.size or _ends(row.text):
        return False
    open_ended = row.text.rsplit(" ", 1)[-1] in _unfinished() or _STOP.search(row.text)
    within = _LOWER.match(following.text) or (open_ended and row.size <= LARGER * body)
    if not within or len(row.text.split()) < BROKEN_WORDS or not -1 < indent < MAX_HANG * row.size:
        return False
    lefts = (row.left, following.left)
    near = (other for other in rows[max(0, at - NEAR) : at + NEAR] if any(abs(other.left - x) < 1 for x in lefts))
    word = len(following.text.split()[0]) * (row.right - row.left) / len(row.text)
    return row.right + word + row.size > max(other.right for other in near)


@cache
def _unfinished() -> frozenset[str]:
    return frozenset().union(*(one.unfinished for one in LANGUAGES.values()))


def _hangs(before: Row, row: Row) -> bool:
    """Whether a row is the second one of an item: set like its first row, and indented below its words."""
    alike = (row.size, row.bold) == (before.size, before.bold)
    return alike and before.text[0] in BULLETS and is_indented(before, row)


def _stands_over_text(row: Row, after: Row | None, pattern: int) -> bool:
    """The weakest sign: a short row that starts like a title, over a row of running text."""
    if after is None or after.cells > 1 or len(after.text) < 1.3 * len(row.text) or _pattern(after.text) < NO_PATTERN:
        return False
    words = _WORD.findall(row.text)
    lower = words[0][0].islower() or after.text[0].islower()  # "6. election of directors; and" is an item
    if lower or len(row.text) > 70 or len(words) > 10 or _EQUATION.search(row.text) or not row.text[0].isalnum():
        return False
    own_block = after.block != row.block
    if pattern < NO_PATTERN:
        return own_block or (pattern > FIRST_NUMBERED and len(row.text) < FULL * len(after.text))
    titled = all(word[0].isupper() for word in words if len(word) > 4) and words[0][0].isupper()
    runs_on = len(after.text) > 50 or _ends(after.text)
    return runs_on and (titled or (own_block and len(words) <= 6))


def _parted(row: Row | None, following: Row | None) -> bool:
    """Whether `following` does not go on with the sentence of `row`."""
    if row is None or following is None or row.block != following.block or row.size != following.size:
        return True
    if row.bold != following.bold and (following.apart or row.size == 0 or not following.text[0].islower()):
        return True
    return _ends(row.text) or not (following.text[0].islower() or row.text.endswith("-"))


def _is_rest(before: Row, row: Row, after: Row | None, body: float) -> bool:
    """Whether `row` ends the sentence of the row before it, which is as long as a row of text and set alike."""
    if (before.block, before.bold, before.size) != (row.block, row.bold, row.size) or ends_sentence(before.text):
        return False
    if before.bold or before.size > LARGER * body or _is_caps(before.text) or _pattern(before.text) < NO_PATTERN:
        return False
    return len(before.text) >= FULL * max(len(row.text), len(after.text) if after else 0)


def _ends(text: str) -> bool:
    """Whether a row ends a sentence or a clause."""
    return ends_sentence(text) or bool(_ENDS_CLAUSE.search(text))


def _goes_on(row: Row, following: Row, body: float) -> bool:
    """Whether a heading runs on in the next row: set alike, standing together, and set unlike the text.

    MuPDF gives each row of large print a block of its own, so that rows of a title are told by how close they stand.
    """
    large, step = row.size > LARGER * body, following.top - row.top
    close = row.size >= TITLE_SIZE * body and step <= CLOSE * row.size
    below = large and step > 0 and (close or following.text[0].islower()) and not ends_sentence(row.text)
    alike = (row.bold, row.size) == (following.bold, following.size) and not following.apart
    short = following.cells == 1 and len(following.text) <= MAX_CHARS
    beside = row.block == following.block or below
    return (row.bold or large) and beside and alike and short and _pattern(following.text) == NO_PATTERN


def _pattern(text: str) -> int:
    if match := _MARKDOWN.match(text):
        return len(match[1])
    if _PART.match(text):
        return 7
    if _CHAPTER.match(text):
        return 8
    if numbered := _NUMBERED.match(text):
        return FIRST_NUMBERED + (numbered["number"] or "").count(".")
    return NO_PATTERN


def _is_caps(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    # a short word in capitals is an abbreviation; letters of a script without capitals are none
    return all(map(str.isupper, letters)) and len(letters) >= (4 if " " in text else 8)
