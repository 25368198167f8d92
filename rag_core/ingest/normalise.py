"""Turns the raw text of a page into the form in which it is read, searched and embedded, and keeps the way back.

Raw text has line breaks inside words, ligatures, soft hyphens and runs of blanks. The reading form has none of them,
and every one of its characters knows the raw range it came from, so that whatever is found in it can be quoted verbatim
from the page. What carries meaning stays: "n²" is not "n2", "2½" is not "21⁄2", and "5①" is not "51". This module knows
nothing about documents, only about text and spans.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from rag_core.domain.documents import Span

# A hyphen at the end of a row. It goes when it parts a word (two letters before it, a lower-case letter after it) and
# stays in "2019-\n2020", "Coca-\nCola", "e-\nmail" and where a compound is plain to see, as in "held-for-\nsale" and
# "risk-\nbased": English filings are full of those and hardly ever part a word. The line break goes in both cases.
_COMPOUND_TAILS = (
    "adjusted|asset|backed|balance|based|cash|dependent|driven|first|free|generated|generating|grade|looking|making|month|only|owned|party|quality|"
    "rated|related|sale|sharing|specific|standing|tax|term|time|to|weighted|wide|year"
)
# So does the hyphen of a number in words, "twenty-\none".
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|vingt|trente|quarante|cinquante|soixante|dix"
# So do the hyphens of an address: of a host, of who gets the mail, and of a part of a path that has another one.
_IN_ADDRESS = r"(?:://|www\.)(?:\S|(?<=-)\n){1,120}"
_KEPT_IN_ADDRESS = (
    r"(?<!(?:@|://|www\.)(?:[\w.-]|(?<=-)\n){0,120})"
    rf"(?<!{_IN_ADDRESS}-\n?\w{{1,60}}-)"
    rf"(?!(?<={_IN_ADDRESS})[^\S\n]*\n\w{{1,60}}-|[^\S\n]*\n(?:[\w.+-]|(?<=-)\n){{1,120}}@)"
)
_BROKEN_WORD = (
    rf"(?<=[\p{{L}}\p{{M}}]{{2}})(?<!\p{{L}}-\p{{L}}{{1,20}})(?<!\b(?i:{_TENS}))"
    rf"[-\u2010]{_KEPT_IN_ADDRESS}[^\S\n]*\n\s*(?=\p{{Ll}})(?!(?:{_COMPOUND_TAILS})\b)"
)
_KEPT_HYPHEN = r"(?P<hyphen>(?<=[\p{L}\p{M}\p{N}])[-\u2010])[^\S\n]*\n\s*(?=[\p{L}\p{N}])"
# What has no width: soft hyphens (with the line break after them), joiners, byte-order marks, direction marks, control
# characters.
_WIDTHLESS = r"[[\p{Default_Ignorable_Code_Point}\p{Cc}]--[\s]]"
_UNSPACED = (
    r"[\p{Han}\p{Hiragana}\p{Katakana}\u3001-\u303F\uFF01-\uFF60]"  # scripts that part no words, and their marks
)
_NOTHING = rf"(?<={_UNSPACED})[^\S\n]*\n\s*(?={_UNSPACED})|\u00AD+[^\S\n]*\n\s*(?=\p{{L}})|{_WIDTHLESS}+|\A\s+|\s+\Z"
_BLANK = r"(?P<blank>\s{2,}|[^\S ])"
# Superscripts, subscripts and fractions: NFKC would write another formula. Of a circled sign it would make a digit of
# the number before it.
_MEANT = regex.compile(
    r"[\p{Decomposition_Type=Super}\p{Decomposition_Type=Sub}\p{Decomposition_Type=Fraction}\p{Decomposition_Type=Circle}]"
)
# The smallest pieces that NFKC changes without looking at their neighbours: a Hangul syllable, any other character with
# its marks.
_CLUSTER = r"(?P<cluster>[\u1100-\u115E\uAC00-\uD7A3][\u1161-\u11FF\p{M}]*+|[^\x00-\x7F]\p{M}*+|[\x21-\x7E]\p{M}++)"

_COMPOSED = regex.compile(f"{_BROKEN_WORD}|{_KEPT_HYPHEN}|{_NOTHING}|{_BLANK}", regex.V1)
_ANY = regex.compile(f"{_BROKEN_WORD}|{_KEPT_HYPHEN}|{_NOTHING}|{_BLANK}|{_CLUSTER}", regex.V1)
_UNSETTLED = regex.compile(rf"{_WIDTHLESS}|[^\S ]|\s\s|\A\s|\s\Z", regex.V1)
# rows of tables that are remembered, and characters of one: 5 MB at most; chosen
CACHED_ROWS, CACHED_CHARS = 1 << 12, 500
MAX_REMEMBERED_CHARS = 8_000  # in a passage: with about 20 bytes a character, 256 of them take 40 MB at most
# what one pass drops can bring blanks or a letter and its mark together for the next; a bound for hostile text
_PASSES = 6


@dataclass(frozen=True, slots=True)
class Normal:
    """A text in its reading form. `text[i]` comes from `raw[starts[i]:ends[i]]`; both arrays ascend (not strictly)."""

    text: str
    starts: array[int]
    ends: array[int]

    def to_raw(self, start: int, end: int) -> tuple[int, int]:
        """The raw half-open range of `text[start:end]`; a ValueError unless 0 <= start < end <= len(text)."""
        if not 0 <= start < end <= len(self.text):
            raise ValueError(f"to_raw needs 0 <= start < end <= {len(self.text)}, got {start}, {end}")
        return self.starts[start], self.ends[end - 1]


def normalise(raw: str) -> Normal:
    """The reading form: NFKC, words joined over line breaks, each other run of white space one space, nothing without
    width, bare ends.

    Normalising twice changes nothing more. Quotes, dashes, superscripts, subscripts, fractions and circled signs stay
    as they are: they are part of what a quotation says.
    """
    out = _one_pass(raw)
    for _ in range(_PASSES):
        if not _UNSETTLED.search(out.text) and _is_composed(out.text):
            break
        again = _one_pass(out.text)
        starts = array("L", (out.starts[start] for start in again.starts))
        ends = array("L", (out.ends[end - 1] for end in again.ends))
        out = Normal(again.text, starts, ends)
    return out


def _is_composed(text: str) -> bool:
    """Whether `text` is in NFKC but for what keeps its meaning only as it is."""
    return unicodedata.is_normalized("NFKC", text) or unicodedata.is_normalized("NFKC", _MEANT.sub("\0", text))


def _composed(cluster: str) -> str:
    """One character with its marks in NFKC; of what keeps its meaning only as it is, the marks alone change."""
    kept = cluster[:1] if _MEANT.match(cluster) else ""
    return kept + unicodedata.normalize("NFKC", cluster[len(kept) :])


def _one_pass(raw: str) -> Normal:
    parts: list[str] = []
    starts, ends = array("L"), array("L")

    def write(text: str, start: int, end: int) -> None:
        parts.append(text)
        starts.extend([start] * len(text))
        ends.extend([end] * len(text))

    def copy(start: int, end: int) -> None:
        parts.append(raw[start:end])
        starts.extend(range(start, end))
        ends.extend(range(start + 1, end + 1))

    done = 0
    pattern = _COMPOSED if _is_composed(raw) else _ANY
    for match in pattern.finditer(raw):
        start, end = match.span()
        copy(done, start)
        match match.lastgroup:
            case "blank":
                write(" ", start, end)
            case "hyphen":
                copy(start, start + 1)
            case "cluster":
                write(_composed(match.group()), start, end)
        done = end
    copy(done, len(raw))
    return Normal("".join(parts), starts, ends)


def join(pages_text: Mapping[int, str], spans: Sequence[Span]) -> str:
    """The raw text of several spans, parted by line breaks: a word broken over a page or row is joined later."""
    return "\n".join(pages_text[span.page][span.start : span.end] for span in spans)


def cut(spans: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """The spans that `join(pages_text, spans)[start:end]` came from; what lies in the joints comes from nowhere."""
    found, offset = [], 0
    for span in spans:
        low, high = max(start, offset), min(end, offset + span.end - span.start)
        if low < high:
            found.append(Span(span.page, span.start + low - offset, span.start + high - offset))
        offset += span.end - span.start + 1
    return tuple(found)


def read_passage_text(pages_text: Mapping[int, str], spans: Sequence[Span]) -> Normal:
    """The reading form of a passage, whose `starts` and `ends` are offsets into `join(pages_text, spans)`."""
    raw = join(pages_text, spans)
    return _remembered(raw) if len(raw) <= MAX_REMEMBERED_CHARS else normalise(raw)


# a question locates each sentence of its passages, and so reads every passage dozens of times
_remembered = lru_cache(maxsize=256)(normalise)


def cells(row: str) -> str:
    """The reading form of a table's row: its cells parted by bars, as they are apart on the page."""
    return (_cells if len(row) <= CACHED_CHARS else _cells.__wrapped__)(row)


@lru_cache(maxsize=CACHED_ROWS)
def _cells(row: str) -> str:
    return " | ".join(normalise(cell).text for cell in row.strip().split("\t"))


def locate(pages_text: Mapping[int, str], spans: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """Where `read_passage_text(pages_text, spans).text[start:end]` stands on its pages, one span per stretch, in
    reading order.

    Empty when the range holds nothing but the space between two spans; a ValueError when it is not within the text.
    """
    return cut(spans, *read_passage_text(pages_text, spans).to_raw(start, end))
