"""Sentences with offsets, for text as it comes out of PDFs: wrapped lines, lists, legal abbreviations, ordinals.

Blank lines and list items divide the text into blocks; sentencex divides a block; then pieces are joined again where
the full stop belonged to an abbreviation, an ordinal or an initial. Joining too much only makes an excerpt longer,
while cutting too early changes what it says: in doubt, pieces stay together.
"""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import regex
import sentencex

from rag_core.language.bullets import BULLETS, counts_on
from rag_core.language.loader import LANGUAGES
from rag_core.language.schema import LanguageInfo

# texts that are remembered, and characters of one; 2 MB as they come, 20 MB at most
_CACHED_TEXTS, _CACHED_CHARS = (
    1 << 11,
    2000,
)
_QUESTION_MARKS = ("?", "？", "؟", "⁇")
_CLOSING = " \t\n\"'”’»“)]"  # may stand behind the mark that ends a sentence

_LINE = regex.compile(r"[^\n\f\u2029]*[\n\f\u2029]?")
_LINE_BREAKS = str.maketrans(
    {"\r": "\n", "\v": "\n", "\x1c": "\n", "\x1d": "\n", "\x1e": "\n", "\x85": "\n", "\u2028": "\n"}
)
_SURROGATE = regex.compile(r"[\uD800-\uDFFF]")

_BULLET = regex.compile(r"\s*(?:[-·*" + BULLETS + r"]|\(?\p{L}\)|\(?\p{Nd}{1,3}\)|\(?[ivx]{1,5}\))\s+\S")
_DASH_BULLET = regex.compile(r"\s*[–—]\s+\S")
_ROMAN_BULLET = regex.compile(r"\s*[ivx]{1,5}\.\s+\S")
_NUMBER_BULLET = regex.compile(r"\s*(\p{Nd}{1,3})(?:\.|(?:\.\p{Nd}{1,3}){1,4}\.?)\s+(\S+)")
_ENDS_CLAUSE = regex.compile(r"[.!?:;,।॥…。？！][\p{Pe}\p{Pf}\"']*\s*$")

_LAST_TOKEN = regex.compile(r"([^\s(\[{\"„“‚‘«]*[^\s.(\[{\"„“‚‘«])\.\s*$")
_FOOTNOTES = regex.compile(r"[⁰¹²³⁴-⁹]+(?:,[⁰¹²³⁴-⁹]+)*(?=\s|$)")  # marks behind a full stop: "within a year.¹"
# other such marks, which sentencex takes for a part of a word
_SIGNS = regex.compile(r"(?<=[.!?])[*†‡]+(?=\s)|(?<=[.!?]\s)[†‡]+(?=\s)")
_DANDA = regex.compile(r"[।॥]\s*$")
_TAIL_CHARS = 80  # before a full stop that are looked at: an abbreviation or the end of a clause is shorter
_CLAUSE_MARK = r"(?:[\p{L}\p{M}]{3,}|§+)\s?(?:\p{Nd}{1,3}|[IVXLC]+)\."  # "Article 3.", "§ 4."
_LIST_MARK = regex.compile(
    r"\s*(?:[-–—·*"
    + BULLETS
    + r"]|\(?[\p{L}\p{Nd}]{1,3}[.)]|\p{Nd}{1,3}(?:\.\p{Nd}{1,3}){1,4}\.?|"
    + _CLAUSE_MARK
    + r")\s*$"
)
_NUMBER = regex.compile(r"\p{Nd}{1,4}$")
_INITIAL = regex.compile(r"(?:\p{Lu}|[^\W\p{Ll}\p{Lu}\d_])$")
_ELIDED = regex.compile(r"^\p{L}{1,6}['’]")  # an article that is joined to the word: "l'art. 12", "dall'Art. 10"
_INITIALS = regex.compile(r"(?:\p{Lu}\.)+\p{Lu}$")  # "Π.Δ."
_NUMBER_NEXT = regex.compile(r"[\p{Nd}§]|[IVXLC]+\b")
_NO_WORD = regex.compile(r"[^\p{L}\p{N}]*$")
# sentencex parts no text that begins with one: "• ", "(4) ", "(1) (a) "
_MARK = regex.compile(r"(?:\s*(?:[-–—·*" + BULLETS + r"]+|\([\p{L}\p{Nd}]{1,5}\))(?=\s))+")
_CLOSES = regex.compile(r"[\p{Pe}\p{Pf}\"']+(?=\s|$)")
# "AMAZON.COM": a full stop ends nothing where no white space follows
_NEEDS_SPACE = regex.compile(r"\.[\p{Pe}\p{Pf}\"']*$")


def ends_in_question(text: str) -> bool:
    """Whether a text ends in a question mark, within quotation marks or brackets too."""
    return text.rstrip(_CLOSING).endswith(_QUESTION_MARKS)


def sentences(text: str, lang: str) -> list[tuple[int, int]]:
    """The sentences of a text as offsets `(start, end)`.

    They are stripped of outer white space, never empty, ascending, do not overlap, and hold every character that is not
    white space. A single line break does not end one; a blank line, a page break and a new list item do. A language
    without a file is split by sentencex's rules for it.
    """
    return list(_parted_short(text, lang)) if len(text) <= _CACHED_CHARS else _parted(text, lang)


def _parted(text: str, lang: str) -> list[tuple[int, int]]:
    plain = _SURROGATE.sub("\ufffd", text.replace("\r\n", " \n").translate(_LINE_BREAKS))
    info = LANGUAGES.get(lang)
    found: list[tuple[int, int]] = []
    for start, end in _blocks(plain, info):
        found.extend(_block_sentences(plain, start, end, lang, info))
    return found


@lru_cache(maxsize=_CACHED_TEXTS)
def _parted_short(text: str, lang: str) -> tuple[tuple[int, int], ...]:
    """A question parts its first passages twice, and the next question many of them again."""
    return tuple(_parted(text, lang))


def _blocks(text: str, info: LanguageInfo | None) -> Iterator[tuple[int, int]]:
    """Stretches no sentence crosses: they start after a blank line or page break, and at a list item."""
    lines = [match.span() for match in _LINE.finditer(text) if match.end() > match.start()]
    numbers = Counter(_number_of(text[start:end]) for start, end in lines)
    block_start = 0
    for (previous_start, start), (_, end) in pairwise(lines):
        previous, line = text[previous_start:start], text[start:end]
        starts_item = _starts_item(line, previous, numbers, info) and not counts_on(line, text[block_start:start])
        if not previous.strip() or previous[-1] in "\f\u2029" or starts_item:
            yield block_start, start
            block_start = start
    yield block_start, len(text)


def _number_of(line: str) -> int | None:
    """The first number of a line that may be a numbered item: 4 of "4. Price" and of "4.2 Price"."""
    match = _NUMBER_BULLET.match(line)
    return int(match[1]) if match else None


def _starts_item(line: str, previous: str, numbers: Counter[int | None], info: LanguageInfo | None) -> bool:
    """Whether a line starts a list item, not a wrapped line; a number has neighbours, or follows a clause."""
    token = _LAST_TOKEN.search(previous[-_TAIL_CHARS:])
    if token and _full_stop_is_part(token[1], line.lstrip(), info):
        return False
    if _BULLET.match(line):
        return True
    if _DASH_BULLET.match(line) or _ROMAN_BULLET.match(line):
        return bool(_ENDS_CLAUSE.search(previous[-_TAIL_CHARS:]))
    numbered = _NUMBER_BULLET.match(line)
    if not numbered or numbered[2][0].islower() or _follows_ordinal(numbered[2], info):
        return False
    number = int(numbered[1])
    in_sequence = numbers[number] > 1 or numbers[number - 1] > 0 or numbers[number + 1] > 0
    return in_sequence or bool(_ENDS_CLAUSE.search(previous[-_TAIL_CHARS:]))


def _block_sentences(
    text: str, start: int, end: int, lang: str, info: LanguageInfo | None
) -> Iterator[tuple[int, int]]:
    # the blocks have decided what line breaks mean; sentencex has other views
    block = text[start:end].replace("\n", " ")
    if not block.strip():
        return
    block = _SIGNS.sub(lambda found: "¹" * len(found[0]), block)
    if mark := _MARK.match(block):
        block = " " * mark.end() + block[mark.end() :]
    pieces = [
        (int(piece["start_index"]), int(piece["end_index"])) for piece in sentencex.get_sentence_boundaries(lang, block)
    ]
    open_start = 0
    for (_, cut), (_, following_end) in pairwise(pieces):
        if closing := _CLOSES.match(block, cut):
            cut = closing.end()
        marks = None if block[:cut].endswith(" ") else _FOOTNOTES.match(block, cut)
        before, cut = block[max(open_start, cut - _TAIL_CHARS) : cut], marks.end() if marks else cut
        following = block[cut:following_end]
        inside = following[:1].strip() and _NEEDS_SPACE.search(before)
        following = following.lstrip()
        if before.strip() and following and not inside and not _joins_on(before, following, info):
            yield _stripped(text, start + open_start, start + cut)
            open_start = cut
    yield _stripped(text, start + open_start, end)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def _follows_ordinal(token: str, info: LanguageInfo | None) -> bool:
    return info is not None and token.lower().rstrip(".,;:)") in info.ordinal_followers


def _joins_on(before: str, following: str, info: LanguageInfo | None) -> bool:
    """Whether the end of `before` is no end of a sentence, seeing what comes after it."""
    if _LIST_MARK.match(before) or _NO_WORD.match(following[:_TAIL_CHARS]):
        return True
    if following[0].islower() and not _DANDA.search(before):
        return True
    token = _LAST_TOKEN.search(before)
    return token is not None and _full_stop_is_part(token[1], following, info)


def _full_stop_is_part(token: str, following: str, info: LanguageInfo | None) -> bool:
    """Whether the full stop after a token belongs to the token."""
    if _INITIAL.match(token):
        return True
    if info is None:
        return bool(_INITIALS.match(token))
    if _NUMBER.match(token):
        following_word = next(iter(following.split(maxsplit=1)), "")
        return info.grammar.ordinal_dot and (following[:1].isdigit() or _follows_ordinal(following_word, info))
    word = _ELIDED.sub("", token.lower())
    if word in info.abbreviations:
        return True
    return word in info.number_abbreviations and _NUMBER_NEXT.match(following) is not None
