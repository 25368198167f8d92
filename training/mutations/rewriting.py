"""Harmless changes of a sentence: case, punctuation, notation, order of a list, a synonym. Its facts stay."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

import regex

from training.mutations.edits import Edit, like
from training.mutations.lists import Lists, any_of, lists, whole
from training.mutations.operators import Mutation
from training.mutations.values import dates_in, laws_in, number_words

REWRITES = ("case", "punctuation", "notation", "order", "synonym")
MAX_COUNT = {"case": 1, "punctuation": 1}  # changes of a kind for one sentence; else 2
_QUOTES = {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "’": "'", "–": "-", "…": "..."}
_DEVANAGARI = "०१२३४५६७८९"
_LARGEST_WORD = 12  # larger numbers are written in digits


def rewrites(sentence: str, lang: str, draw: random.Random) -> list[Mutation]:
    """The harmless changes of a sentence, which still says the same: one or two of each kind.

    Args:
        sentence: any sentence.
        lang: one of `lists.LANGUAGES`.
        draw: decides which place and which replacement.
    """
    known, made = lists(lang), []
    for kind, found in (
        ("case", _cases(sentence)),
        ("punctuation", _punctuation(sentence)),
        ("notation", _notations(sentence, lang, known, draw)),
        ("order", _orders(sentence, known)),
        ("synonym", _synonyms(sentence, known, draw)),
    ):
        texts = list(dict.fromkeys(text for text in found if text != sentence))
        made += [Mutation(kind, text) for text in draw.sample(texts, min(MAX_COUNT.get(kind, 2), len(texts)))]
    return made


def _cases(text: str) -> Iterator[str]:
    first = regex.match(r"\p{Lu}\p{Ll}+(?=\s)", text)
    if first:
        yield first[0].lower() + text[first.end() :]
    if not regex.search(r"\d|ß|(?<!\p{L})(?![aAiI]\s)[A-Za-z](?![\p{L}'’])|\p{Ll}\p{Lu}", text):
        yield text.upper()


def _punctuation(text: str) -> Iterator[str]:
    if text.endswith((".", "।")) and not text.endswith(".."):
        yield text[:-1]
    plain = "".join(_QUOTES.get(sign, sign) for sign in text)
    yield plain
    yield regex.sub(r"(?<=\p{L}),(?= \p{L})", ";", text, count=1)
    yield regex.sub(r"(?<=\p{L}\p{L}) (?=\p{L}\p{L})", "  ", text)


def _notations(text: str, lang: str, known: Lists, draw: random.Random) -> Iterator[str]:
    for pattern, template in known.notations:
        for match in pattern.finditer(text):
            yield Edit.over(match.span(), match.expand(template)).of(text)
    yield from _other_dates(text, lang, known)
    taken = [*dates_in(text, known), *laws_in(text, known)]
    group = "[ \u00a0]" if known.group == " " else regex.escape(known.group)
    for match in regex.finditer(
        rf"(?<![\p{{Nd}}.,])[1-9१-९]\p{{Nd}}{{0,2}}(?:{group}\p{{Nd}}{{2,3}})*{group}\p{{Nd}}{{3}}(?![\p{{Nd}}])", text
    ):
        if known.group != "," or not regex.search(r",\s*\p{Nd}{1,3}(?!\p{Nd})", text[: match.start()][-4:]):
            yield Edit.over(match.span(), regex.sub(r"\P{Nd}", "", match[0])).of(text)
    for match in number_words(known).finditer(text):
        if regex.match(r"\s\p{L}", text[match.end() :]) and int(known.numbers[match[0].lower()]) <= _LARGEST_WORD:
            yield Edit.over(match.span(), known.numbers[match[0].lower()]).of(text)
    words = {value: word for word, value in reversed(list(known.numbers.items()))}
    for match in regex.finditer(
        r"(?<![\p{N}\p{L}.,:/=(×+−–§-]|\p{N}\s|[=×÷+−–<>≤≥-]\s)(?:[2-9]|1[0-2])(?=\s\p{L}{3})", text
    ):
        if match[0] in words and all(match.end() <= start or end <= match.start() for start, end in taken):
            yield Edit.over(match.span(), like(text if not match.start() else "", words[match[0]])).of(text)
    if known.own_digits and regex.search(r"[0-9]", text):
        yield regex.sub(r"[0-9]", lambda match: _DEVANAGARI[int(match[0])], text)


def _other_dates(text: str, lang: str, known: Lists) -> Iterator[str]:
    """Full dates in ISO form, and from words to figures and back as the language writes them."""
    months = {form: number for number, row in enumerate(known.months, 1) for form in row.forms}
    pattern = rf"(?<![\p{{N}}.])(?P<d>\d{{1,2}})\.? (?P<mon>{any_of(months)}) (?P<y>\d{{4}})(?!\d)"
    for match in regex.finditer(pattern, text):
        day, month, year = int(match["d"]), months[match["mon"]], int(match["y"])
        yield Edit.over(match.span(), f"{year}-{month:02}-{day:02}").of(text)
        if known.dotted_dates:
            yield Edit.over(match.span(), f"{day}. {month}. {year}").of(text)
        if known.month_first:
            yield Edit.over(match.span(), f"{match['mon']} {day}, {year}").of(text)
    if known.dotted_dates:
        for match in regex.finditer(r"(?<![\p{N}.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)", text):
            if 1 <= int(match[2]) <= 12:
                names = known.months[int(match[2]) - 1].forms
                yield Edit.over(match.span(), f"{match[1]}. {names[min(1, len(names) - 1)]} {match[3]}").of(text)


def _orders(text: str, known: Lists) -> Iterator[str]:
    """Lists of single words: "A, B and C" becomes "B, A and C".

    Figures keep their order, which may be what they say.
    """
    item = r"[\p{L}\p{M}]{3,}"
    pattern = (
        rf"(?<![\p{{L}}\p{{M}}'’-]|\p{{N}}\s)(?P<a>{item}), (?P<b>{item}),? (?:{any_of(known.conjunctions)}) {item}"
    )
    for match in regex.finditer(pattern, text):
        first, second = match["a"], match["b"]
        if match.start() and not {first.lower(), second.lower()} & known.no_items:
            yield Edit(match.start("a"), match.end("b"), f"{second}, {first}").of(text)


def _synonyms(text: str, known: Lists, draw: random.Random) -> Iterator[str]:
    for group, pattern in _synonym_patterns(known):
        for match in pattern.finditer(text):
            # a capital may make it part of a name
            if match[0] in group or (not match.start() and match[0].lower() in group):
                other = draw.choice([word for word in group if word.lower() != match[0].lower()])
                yield Edit.over(match.span(), like(match[0], other)).of(text)


@cache
def _synonym_patterns(known: Lists) -> tuple[tuple[tuple[str, ...], regex.Pattern[str]], ...]:
    return tuple((group, whole(any_of(group))) for group in known.synonyms)
