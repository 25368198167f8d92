"""Finds the day that a document's first page gives as the document's own, and gives none where that is not certain.

A page holds many dates: of meetings, of laws that it cites, of birth. One is the document's own where the page says so:

- A label stands before it, over it or under it ("Date of Report: July 1, 2022", "Stand: März 2024"), and nothing else
  with them, but for a name in a subtitle ("Nordlicht GmbH, Stand 10. Februar 2026"), the number of an edition, or who
  acted ("Adopted by the General Meeting on 1 March 2024"). The day of the last change counts before all others.
- It stands alone on a row near the title, also behind a joining word ("vom 1. März 2024").
- It is the last day of the period that the page says the document is about, and there is none of the other two.

The words are in `dated` of a language's file, names of months and weekdays also in babel. Where two own dates differ,
or one of them is not certain, there is none: a guess would pass for what the page says. A day is not certain that can
be meant in two ways (3/12/2024 in English), that no calendar has, that is too early for a document or still to come. A
page that OCR read gives none, since any digit of it may be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from itertools import islice

import regex
from babel import Locale, UnknownLocaleError

from rag_core.domain.documents import Page, PageSource
from rag_core.language import FALLBACK, LANGUAGES, DatedWords, ascii_digits, dates, fold, months, spaced

FIRST_YEAR = 1900  # earlier years are those of what a document tells about; chosen
_SLACK = timedelta(days=1)  # where it is tomorrow already
_BRACKETS = regex.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])\s*")
_PARTED = regex.compile(r"[\t|•·;]|\s{3,}")
_PLAIN = str.maketrans(dict.fromkeys('«»„“”"*_\u00a0\u2007\u202f\u2009', " ") | {"’": "'"})
# a part of a version, a range or a longer number is no date
_GOES_BEFORE, _GOES_ON = regex.compile(r"[\p{L}\p{N}./:-]$"), regex.compile(r"[\p{N}/-]|[.:,]\p{N}")
MAX_ROWS = 150  # rows of the first page that are looked at; a printed page of small type has about 80
MAX_ROW_CHARS = 300  # a longer row is running text, and has no date alone
NEAR_ROWS = 12  # from the top, where a date may stand alone; chosen: title, subtitle, authors and their house
COVER_ROWS = 30  # a page with no more is a cover or a letter, and a date may stand alone anywhere on it; chosen
FULL_ROW_CHARS = 45  # a row this long may be running text that goes on in the next; chosen
SUBTITLE_WORDS = 8  # that may stand before the clause of a date on its row; chosen: the name of a house and its form
_OWN, _AMENDED, _PERIOD = "own", "amended", "period"
# the stamp on the margin, with the day of this version behind it; its brackets are gone
_ARXIV = regex.compile(r"arXiv:\S+\s*")
_CLOCK = regex.compile(
    r",?\s*(?:at\s)?[0-9]{1,2}[:.][0-9]{2}(?::[0-9]{2})?(?:\s?[ap]\.?m\.?)?(?:\s(?:[A-Z]{2,4}|[+-][0-9]{4}))?",
    regex.IGNORECASE,
)
_CLOCK_NEAR = regex.compile(
    r"(?<![0-9.])[0-9]{1,2}[:.][0-9]{2}(?![0-9]|\.[0-9])|(?<!\p{L})[0-9]{1,2}\s?[ap]\.?m(?!\p{L})", regex.IGNORECASE
)
_ENDED = regex.compile(r"[.:;!?…।]\W*$")
_COLON = regex.compile(r"[:：]\s*$")
_CLAUSE = regex.compile(r"(?<=[.,])\s+")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words around dates of a page: those of its language and English, in the form of `spaced`."""

    language: str
    rows: tuple[DatedWords, ...]
    months: Mapping[str, int]
    weekdays: frozenset[str]
    functions: frozenset[str]

    def has(self, name: str, phrase: str) -> bool:
        """Whether a whole phrase is one of a list."""
        return any(phrase in getattr(row, name) for row in self.rows)

    def meets(self, name: str, phrase: str) -> bool:
        """Whether any word of a phrase is one of a list of patterns."""
        return any(getattr(row, name).fullmatch(word) for row in self.rows for word in phrase.split())


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a row that names one day (ISO as far as stated, or empty), with the text on both sides."""

    before: str
    day: str
    behind: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row without what is in brackets, and the parts that tabs and the like set apart, with the day of each."""

    text: str
    texts: tuple[str, ...]
    parts: tuple[Part | None, ...]

    @property
    def said(self) -> str:
        return spaced(self.text)

    @property
    def only(self) -> Part | None:
        """The day that is all there is on the row; None where there is more, or none."""
        part = self.parts[0] if len(self.parts) == 1 else None
        return part if part and not spaced(part.before + part.behind) else None


@cache
def vocabulary(language: str) -> Vocabulary:
    """The words of a language with a file, and English; of English alone for any other."""
    codes = dict.fromkeys((language if language in LANGUAGES else FALLBACK, FALLBACK))
    infos = [LANGUAGES[code] for code in codes]
    named, weekdays = dict[str, int](), set[str]()
    functions = frozenset(spaced(word) for info in infos for word in info.function_words)
    # where both have a word, that of the page's own language counts
    for code, info in reversed([*zip(codes, infos, strict=True)]):
        # "pro" is Czech for "for"
        named |= {name: number for name, number in _months_of_babel(code).items() if name not in functions}
        weekdays |= {spaced(name) for name in _names_of_babel(code, "days")}
        weekdays |= {spaced(name) for names in (info.values.weekdays if info.values else ()) for name in names}
    rows = tuple(info.dated for info in infos if info.dated)
    # an unknown language may be written by anybody, as in English
    code = next(iter(codes))
    return Vocabulary(code, rows, {**named, **months(code)}, frozenset(weekdays), functions)


def _names_of_babel(code: str, kind: str) -> list[str]:
    try:
        forms = getattr(Locale.parse(code), kind)
    except (UnknownLocaleError, ValueError):
        return []
    return [
        name
        for use in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for name in forms[use][width].values()
    ]


def _months_of_babel(code: str) -> dict[str, int]:
    names = _names_of_babel(code, "months")
    return {fold(name.rstrip(".॰")): number % 12 + 1 for number, name in enumerate(names)}


def read_row(line: str, known: Vocabulary, today: date) -> Row:
    """A row with its days, none of digits of two scripts; `today` is the last day but one that is believed."""
    whole = line[1:-1] if line.startswith("(") and line.endswith(")") else line
    scripts = {ord(char) - int(char) for char in whole if char.isdecimal()}
    plain = _BRACKETS.sub(" ", ascii_digits(whole).translate(_PLAIN)).strip()
    texts = tuple(part.strip() for part in _PARTED.split(plain) if part.strip())
    return Row(plain, texts, tuple(_part(text, known, today) if len(scripts) < 2 else None for text in texts))


def believed(stated: str, today: date) -> bool:
    """Whether an ISO date (YYYY, YYYY-MM, YYYY-MM-DD) is of the calendar, not too early and not still to come."""
    try:
        year, month, day = [*map(int, stated.split("-")), 1, 1][:3]
        stands = date(year, month, day)
    except (ValueError, OverflowError):
        return False
    return stands.year >= FIRST_YEAR and stands <= today + _SLACK


def _part(text: str, known: Vocabulary, today: date) -> Part | None:
    found = [
        one
        for one in dates(text, known.language, known.months)
        if all(day.year for day in one.readings)
        and not (_GOES_BEFORE.search(text[: one.start]) or _GOES_ON.match(text, one.end))
    ]
    if len(found) != 1:
        return None
    (one,) = found
    days = [f"{day.year:04}-{day.month:02}" + (f"-{day.day:02}" if day.day else "") for day in one.readings]
    told = len(days) == 1 and believed(days[0], today)
    return Part(text[: one.start], days[0] if told else "", text[one.end :])


def first_page_date(page: Page, language: str, today: date) -> str:
    """The day by which a document's first page, or a text document, dates it: YYYY-MM-DD or YYYY-MM; empty where none
    is certain.

    `language` is ISO 639-1 or "und"; no day behind tomorrow is believed.
    """
    if page.number != 1 or page.source is not PageSource.TEXT:
        return ""
    known = vocabulary(language)
    rows = [read_row(line, known, today) for line in _lines(page.text)]
    told = [one for at in range(len(rows)) for one in _told(rows, at, known)]
    if changes := [day for kind, day in told if kind == _AMENDED]:
        return max(changes) if all(changes) else ""
    own = [day for kind, day in told if kind == _OWN]
    return _agreed(own or [day for _, day in told])


def _agreed(days: Sequence[str]) -> str:
    """The most exact of days that agree as far as stated; empty where they differ, or one is not certain."""
    longest = max(days, key=len, default="")
    return longest if all(day and longest.startswith(day) for day in days) else ""


def _lines(text: str) -> list[str]:
    lines = filter(None, map(str.strip, text.split("\n", 4 * MAX_ROWS)[: 4 * MAX_ROWS]))
    return [line[:MAX_ROW_CHARS] for line in islice(lines, MAX_ROWS)]


def _told(rows: Sequence[Row], at: int, known: Vocabulary) -> Iterator[tuple[str, str]]:
    """The dates of a row that are the document's own or end its period; an empty day is one that is not certain."""
    row = rows[at]
    if len(row.text) >= MAX_ROW_CHARS:
        return
    for number, part in enumerate(row.parts):
        if part and (kind := _labelled(rows, at, number, part, known)):
            yield kind, part.day
        elif at < NEAR_ROWS and _is_change(row, known):
            yield _AMENDED, ""  # it names several days or none, or says in other words which it means
        elif part and _stands_alone(rows, at, part, known):
            yield _OWN, part.day


def _labelled(rows: Sequence[Row], at: int, number: int, part: Part, known: Vocabulary) -> str:
    """Whether a label makes a date the document's own or the end of its period; empty for no label."""
    row = rows[at]
    if _ARXIV.fullmatch(part.before) and not spaced(part.behind):
        return _OWN
    before = _said_before(part, known)
    if not before and known.has("after", spaced(part.behind)):
        return _OWN
    if not _nothing(_CLOCK.sub("", part.behind, count=1), known):
        return ""
    if before:
        colon = bool(_COLON.search(part.before))
        kind = _kind_of(before, known, colon=colon)
        if not kind and at < NEAR_ROWS:
            kind = _acted(before, known)
        if kind:
            other = kind == _AMENDED and _amends(rows[:at], "", known)
            return "" if other or (not colon and _runs_into(rows, at, known, part.before)) else kind
        return _ends_a_subtitle(rows, at, part, known)
    if number:
        return _kind_of(spaced(row.texts[number - 1]), known, colon=True)
    if row.only is None:
        return ""
    over = _kind_of(rows[at - 1].said, known, colon=True) if at else ""
    under = rows[at + 1] if at + 1 < len(rows) else None
    # a label over another date is that one's
    mine = under is not None and (at + 2 == len(rows) or rows[at + 2].only is None)
    return over or (_kind_of(under.said, known, colon=True) if under and mine else "")


def _acted(label: str, known: Vocabulary) -> str:
    """The kind of a label that names in its middle who acted: "Adopted by the General Meeting on"."""
    words = label.split()[: SUBTITLE_WORDS + 1]
    begins = range(
        1, len(words) - 1 if " ".join(words) == label and not known.meets("amends", " ".join(words[1:])) else 1
    )
    kinds = [_kind_of(" ".join((*words[:begin], words[-1])), known, colon=False) for begin in begins]
    return next(filter(None, kinds), "")


def _is_edition(label: str, known: Vocabulary) -> bool:
    """Whether a label is the name and the number of an edition: "Version 2.1", "3rd edition", "Rev. B"."""
    words = label.split()
    named = [word for word in words if not any(map(str.isdigit, word)) and len(word) > 1]
    return 0 < len(named) < len(words) and known.has("editions", " ".join(named))


def _kind_of(label: str, known: Vocabulary, *, colon: bool) -> str:
    if known.has("amended", label):
        return _AMENDED
    if known.has("labels", label) or _is_edition(label, known) or (colon and known.has("joins", label)):
        return _OWN
    return _PERIOD if known.has("periods", label) else ""


def _ends_a_subtitle(rows: Sequence[Row], at: int, part: Part, known: Vocabulary) -> str:
    """The kind of a label that begins a clause at the end of a subtitle: "Brightwater Ltd. Valid from 1 March 2024"."""
    *rest, label = _CLAUSE.split(part.before)
    said = _without_weekday(spaced(label), known).split()
    begins = {0} if rest and label[:1].isupper() else set() if at else set(range(len(said) - 1))
    if at >= NEAR_ROWS or len(spaced(" ".join(rest)).split()) > SUBTITLE_WORDS:
        return ""
    for begin in sorted(begins):
        kind = _kind_of(" ".join(said[begin:]), known, colon=False)
        before = part.before if kind == _OWN else " ".join((*rest, *said[:begin]))
        if kind in (_OWN, _AMENDED) and not _amends(rows[:at], before, known):
            return kind
    return ""


def _amends(above: Sequence[Row], before: str, known: Vocabulary) -> bool:
    """Whether rows of a title say that a date below them may be that of what is amended, cited or enclosed."""
    titles = [row.said for row in above[-NEAR_ROWS:] if not _is_change(row, known)]
    return any(known.meets("amends", said) for said in (spaced(before), *titles))


def _is_change(row: Row, known: Vocabulary) -> bool:
    return any(f"{row.said} ".startswith(f"{label} ") for words in known.rows for label in words.amended)


def _stands_alone(rows: Sequence[Row], at: int, part: Part, known: Vocabulary) -> bool:
    row, near = rows[at], at < NEAR_ROWS or len(rows) <= COVER_ROWS
    if not _nothing(part.behind, known) or _of_something_else(rows, at, known):
        return False
    before = _said_before(part, known)
    if len(row.parts) > 1 or (before and not known.has("joins", before)):
        return False
    if not near or (row.text.endswith(".") and not spaced(part.behind)) or _open_ended(rows, at, known):
        return False
    return not before or not _amends(rows[:at], "", known)


def _said_before(part: Part, known: Vocabulary) -> str:
    """The words before a date, without the day of the week."""
    return _without_weekday(spaced(part.before), known)


def _without_weekday(said: str, known: Vocabulary) -> str:
    head, _, last = said.rpartition(" ")
    return head if last in known.weekdays else said


def _nothing(behind: str, known: Vocabulary) -> bool:
    """Whether what stands behind a date belongs to it, or is no word."""
    said = spaced(behind)
    return not said or known.has("behind", said)


def _runs_into(rows: Sequence[Row], at: int, known: Vocabulary, before: str) -> bool:
    """Whether a row may go on with the sentence above ("dated March 1, 2020"); a label with a capital does not."""
    if before.strip()[:1].isupper() or not at:
        return False
    above = rows[at - 1].text
    return _open_ended(rows, at, known) or (len(above) >= FULL_ROW_CHARS and not _ENDED.search(above))


def _open_ended(rows: Sequence[Row], at: int, known: Vocabulary) -> bool:
    """Whether the row above ends with a word that something follows ("held on"), or with a label's colon."""
    if not at:
        return False
    above = rows[at - 1]
    open_word = above.said.rpartition(" ")[2] in known.functions and not _ENDED.search(above.text)
    return open_word or bool(_COLON.search(above.text))


def _of_something_else(rows: Sequence[Row], at: int, known: Vocabulary) -> bool:
    """Whether a row above or below makes the date that of a deadline, a meeting or the like."""
    beside = [rows[one] for one in (at - 1, at + 1) if 0 <= one < len(rows)]
    return any(
        known.meets("others", row.said) or (len(row.text) < FULL_ROW_CHARS and _CLOCK_NEAR.search(row.text))
        for row in beside
    )
