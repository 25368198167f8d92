"""Changed values: another digit, number word, order of magnitude, unit, currency, date or formula sign."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

import regex

from training.mutations.edits import Edit, free, like
from training.mutations.lists import CURRENCY_CODES, Lists, Rows, any_of, forms, others, whole

_DIGITS = regex.compile(r"\p{Nd}+")
_NO_FACT = regex.compile(
    r"\[[\d,\s–-]+\]|^\s*\(?[\p{Nd}.]{1,6}[.)]\s|(?<=\p{L}\p{L}[.,;:)”\"])\p{Nd}{1,3}(?!\p{Nd})|(?<=[\p{L}\p{M}]{3})\p{Nd}{1,2}(?!\p{Nd})"
)
_TIME = regex.compile(r"(?<!\p{Nd})\p{Nd}{1,2}[:.]\p{Nd}\p{Nd}(?!\p{Nd})")
_DECADE = 9  # years by which a year is moved at most, either way: it stays plausible
_SIGNS = ("$", "€", "£", "₹", "¥", "Kč")
_SIGN_OF = {"US$": "$", "Rs.": "₹", "Rs": "₹"}
_OPERAND_BEFORE = r"(?<=(?:(?<![\p{L}\p{M}])(?:\p{Nd}+|[A-Za-z])[²³]?|[)\]])\s?)"
_OPERAND_AFTER = r"(?=\s?(?:[-−]?\p{Nd}|[A-Za-z](?![\p{L}\p{M}])|\p{Nd}+[A-Za-z]|[(\[]))"
_SIGN = regex.compile(rf"{_OPERAND_BEFORE}(?:[+−×÷·=<>≤≥]|(?<=\s)[-–/](?=\s)){_OPERAND_AFTER}")
_OTHER_SIGN = {
    "+": "−",
    "−": "+",
    "-": "+",
    "–": "+",
    "×": "+",
    "·": "+",
    "÷": "×",
    "/": "×",
    "=": "≠",
    "<": ">",
    ">": "<",
    "≤": "≥",
    "≥": "≤",
}
_MINUS = regex.compile(r"(?<=[=×(\[]\s?|\s)−(?=\p{Nd})")
_POWER = regex.compile(r"(?<=[\p{L}\p{Nd})])[²³]")


def digits(text: str, lists: Lists, draw: random.Random) -> Iterator[Edit]:
    """One digit of a number is another one; a number word is another one. Dates have an operator of their own."""
    taken = [*dates_in(text, lists), *(match.span() for match in _NO_FACT.finditer(text))]
    times = {match.span() for match in _TIME.finditer(text)}
    for match in _DIGITS.finditer(text):
        if not free(taken, *match.span()):
            continue
        place = draw.randrange(match.start(), match.end())
        for value in draw.sample(range(10), 10):
            edit = Edit(place, place + 1, _digit(value, text[place]))
            if _is_sound(edit, text, match, times):
                yield edit
                break
    for match in number_words(lists).finditer(text):
        if free(taken, *match.span()):
            own = lists.numbers[match[0].lower()]
            other = draw.choice([word for word, value in lists.numbers.items() if value != own])
            yield Edit.over(match.span(), like(match[0], other))


@cache
def number_words(lists: Lists) -> regex.Pattern[str]:
    """A pattern for the words for numbers."""
    return whole(any_of(lists.numbers))


def _digit(value: int, model: str) -> str:
    """A digit in the script of the model."""
    return chr(ord(model) - int(model) + value)


def _is_sound(edit: Edit, text: str, run: regex.Match[str], times: set[tuple[int, int]]) -> bool:
    if edit.text == text[edit.start] or (int(edit.text) == 0 and edit.start == run.start()):
        return False
    time = next((span for span in times if span[0] <= edit.start < span[1]), None)
    if not time or ":" not in text[slice(*time)]:
        return True
    hour, minute = regex.split("[:.]", (text[: edit.start] + edit.text + text[edit.end :])[slice(*time)])
    return int(hour) < 24 and int(minute) < 60


def magnitudes(text: str, lists: Lists, draw: random.Random) -> Iterator[Edit]:
    """A number is ten times as large, or its scale word another one."""
    taken = [
        *dates_in(text, lists),
        *laws_in(text, lists),
        *(m.span() for m in (*_NO_FACT.finditer(text), *_TIME.finditer(text))),
    ]
    for match in _number(lists).finditer(text):
        if free(taken, *match.span()) and not regex.fullmatch(r"1[5-9]\p{Nd}\p{Nd}|2[01]\p{Nd}\p{Nd}|[0०]", match[0]):
            yield Edit.over(match.span(), _tenfold(match[0], lists))
    scale = regex.compile(rf"(?<=\p{{Nd}}\s?)(?:{any_of(forms(lists.scales))})(?![\p{{L}}\p{{M}}])", regex.IGNORECASE)
    for match in scale.finditer(text):
        yield Edit.over(match.span(), draw.choice(others(lists.scales, match[0])))


def _number(lists: Lists) -> regex.Pattern[str]:
    group = "[ \u00a0\u202f]" if lists.group == " " else regex.escape(lists.group)
    body = rf"\p{{Nd}}{{1,3}}(?:{group}\p{{Nd}}{{2,3}})*{group}\p{{Nd}}{{3}}(?!\p{{Nd}})|\p{{Nd}}+"
    joined = r"[.,:/'’-]"
    return regex.compile(
        rf"(?<![\p{{L}}\p{{M}}\p{{N}}_^]|\p{{N}}{joined}|\p{{L}}[-/.])(?:{body})(?:{regex.escape(lists.decimal)}\p{{Nd}}+)?"
        rf"(?![\p{{N}}_]|[\p{{L}}\p{{M}}]|{joined}[\p{{L}}\p{{N}}]|\.(?=\s\p{{Ll}}))"
    )


def _tenfold(number: str, lists: Lists) -> str:
    """A number with a zero more, or with its decimal mark one place on, grouped as it was."""
    whole_part, mark, rest = number.partition(lists.decimal)
    groups = regex.split(r"\P{Nd}", whole_part)
    plain = "".join(groups) + (rest[0] if rest else _digit(0, whole_part[-1]))
    plain = str(regex.sub(r"^[0०]+(?=\p{Nd})", "", plain))
    tail = mark + rest[1:] if rest[1:] else ""
    if len(groups) == 1 or len(plain) < 4:
        return plain + tail
    size = (
        2
        if any(len(group) == 2 for group in groups[1:])
        or (lists.group == "," and len(groups[1:]) > 1 and len(groups[1]) == 2)
        else 3
    )
    separator: str = regex.search(r"\P{Nd}", whole_part)[0]
    head, last = plain[:-3], plain[-3:]
    pieces = [head[max(0, end - size) : end] for end in range(len(head), 0, -size)][::-1]
    return separator.join([*pieces, last]) + tail


def units(text: str, lists: Lists, draw: random.Random) -> Iterator[Edit]:
    """The unit of a number is another one of its kind: days are weeks, kilograms tonnes, per cent per mille."""
    for group, pattern in _unit_patterns(lists):
        for match in pattern.finditer(text):
            if found := others(group, match["unit"]):
                yield Edit.over(match.span("unit"), draw.choice(found))


@cache
def _unit_patterns(lists: Lists) -> tuple[tuple[Rows, regex.Pattern[str]], ...]:
    """Of each group a pattern for its names, with at most one word before, and one for its symbols."""
    number = rf"(?:(?<![\p{{Nd}}.,])(?![0०]\s)[\p{{Nd}}.,]*\p{{Nd}}|(?<![\p{{L}}\p{{M}}])(?:{any_of(lists.numbers)}))"
    made = []
    for group in lists.unit_groups:
        words = {form for form in forms(group) if len(form) > 3 or not form.isascii()}
        symbols = forms(group) - words
        for names, between, flags in (
            (words, r"(?:\s|\s?-\s?)(?:\p{L}[\p{L}\p{M}]+\s)?", regex.IGNORECASE),
            (symbols, r"\s?", 0),
        ):
            if names:
                pattern = rf"{number}{between}(?P<unit>{any_of(names)})(?![\p{{L}}\p{{M}}\p{{N}}²³/])"
                made.append((group, regex.compile(pattern, flags)))
    return tuple(made)


def currencies(text: str, lists: Lists, draw: random.Random) -> Iterator[Edit]:
    """An amount is in another currency."""
    amount, scale = r"\p{Nd}", rf"(?:\s?(?:{any_of(forms(lists.scales))}))?"
    signs, codes = any_of((*_SIGNS, *_SIGN_OF)), any_of(CURRENCY_CODES)
    around = rf"(?<![\p{{L}}])(?P<c>{signs}|{codes})(?=\s?[-−(]?{amount})|(?<={amount}{scale}\s?)(?P<c>{signs}|{codes})(?![\p{{L}}])"  # noqa: E501
    for match in regex.finditer(around, text):
        family = CURRENCY_CODES if match["c"] in CURRENCY_CODES else _SIGNS[:4]
        own = _SIGN_OF.get(match["c"], match["c"])
        yield Edit.over(match.span("c"), draw.choice([other for other in family if other != own]))
    words = any_of(forms(lists.currency_words))
    number = rf"(?:{amount}|(?<![\p{{L}}\p{{M}}])(?:{any_of(lists.numbers)}))"
    for match in regex.finditer(
        rf"(?<={number}{scale}\s?-?)(?P<c>{words})(?![\p{{L}}\p{{M}}])", text, regex.IGNORECASE
    ):
        yield Edit.over(match.span("c"), draw.choice(others(lists.currency_words, match["c"])))


def dates(text: str, lists: Lists, draw: random.Random) -> Iterator[Edit]:
    """A date has another day, month or year; a weekday is another one."""
    for match in _date_matches(text, lists):
        found = [name for name in ("d", "mon", "m", "y") if name in match.re.groupindex and match[name]]
        for name in found:
            yield Edit.over(match.span(name), _other_part(name, match[name], lists, draw))
    if days := forms(lists.weekdays):
        for match in regex.finditer(rf"(?<![\p{{L}}\p{{M}}])(?:{any_of(days)})(?![\p{{L}}\p{{M}}])", text):
            yield Edit.over(match.span(), draw.choice(others(lists.weekdays, match[0])))


def _other_part(name: str, part: str, lists: Lists, draw: random.Random) -> str:
    if name == "mon":
        return like(part, draw.choice(others(lists.months, part)))
    value = int(part)
    if name == "y":
        other = value + draw.choice([step for step in range(-_DECADE, _DECADE + 1) if step])
    else:
        other = draw.choice([day for day in range(1, 29 if name == "d" else 13) if day != value])
    plain = str(other).zfill(len(part)) if part[0] in "0०" else str(other)
    return "".join(_digit(int(digit), part[0]) for digit in plain)


def dates_in(text: str, lists: Lists) -> list[tuple[int, int]]:
    """Where dates and years stand."""
    return [match.span() for match in _date_matches(text, lists)]


def _date_matches(text: str, lists: Lists) -> Iterator[regex.Match[str]]:
    month, year, day = any_of(forms(lists.months)), r"(?P<y>\p{Nd}{4})(?!\p{Nd})", r"(?<![\p{Nd}.,])(?P<d>\p{Nd}{1,2})"
    end, mon = r"(?![\p{L}\p{M}])", rf"(?<![\p{{L}}\p{{M}}])(?P<mon>{month})"
    patterns = (
        rf"{day}(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<mon>{month}){end}(?:,?\s+{year})?",
        rf"{mon}{end}\s+(?P<d>\p{{Nd}}{{1,2}})(?:st|nd|rd|th)?(?!\p{{Nd}})(?:,?\s+{year})?",
        rf"{mon}{end},?\s+{year}",
        rf"{day}\.\s?(?P<m>\p{{Nd}}{{1,2}})\.\s?{year}",
        r"(?<!\p{Nd})(?P<y>\p{Nd}{4})-(?P<m>\p{Nd}\p{Nd})-(?P<d>\p{Nd}\p{Nd})(?!\p{Nd})",
        rf"{day}/(?P<m>\p{{Nd}}{{1,2}})/{year}",
    )
    taken: list[tuple[int, int]] = []
    for pattern in patterns:
        for match in regex.finditer(pattern, text):
            if free(taken, *match.span()):
                taken.append(match.span())
                yield match
    for match in regex.finditer(
        r"(?<![\p{N}\p{L}.,/-])(?P<y>(?:1[5-9]|2[01])\p{Nd}\p{Nd}|[१२]\p{Nd}{3})(?![\p{N}\p{L}/-]|[.,]\p{N})", text
    ):
        if lists.year_before.search(text[: match.start()]) and free(taken, *match.span()):
            yield match


def laws_in(text: str, lists: Lists) -> list[tuple[int, int]]:
    """Where law references stand."""
    return [match.span() for pattern in lists.laws for match in pattern.finditer(text)]


def signs(text: str, lists: Lists, draw: random.Random) -> Iterator[Edit]:
    """A sign of a formula is another one, a minus is gone, a square is a cube."""
    for match in _SIGN.finditer(text):
        yield Edit.over(match.span(), _OTHER_SIGN[match[0]])
    for match in _MINUS.finditer(text):
        if not _SIGN.match(text, match.start()):
            yield Edit.over(match.span(), "")
    for match in _POWER.finditer(text):
        yield Edit.over(match.span(), "³" if match[0] == "²" else "²")
