"""Places that say the same of several things, made by a program: a question asks for one of them, which may not be
there.

    python -m training.reader.alike OUT.jsonl [--rows 6000]

"The fee for zone 2 is 40 euros." answers nothing about zone 3, nor does "The fee is 40 euros." under the heading "Zone
2". Questions that people wrote hold few such pairs, and a reader of those took the one for the other. The wordings, in
eight languages and by the same names, are our own (alike.json): statement, question, the statement without its thing,
and the heading or label that names the thing.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from training.files import SEED, Row, write_rows

KINDS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
LANGUAGES = ("en", "de", "fr", "es", "cs", "pl", "ru", "hi")
# shares: the thing is not there, two languages, one thing in the place; chosen
ABSENT, CROSSED, ALONE = (
    0.45,
    0.35,
    0.35,
)
MOST, OTHERS = 5, 2  # things of a place, and statements of another kind in it
WAYS = ("sentences", "sentences", "rows", "heading")  # how a place tells the things apart; sentences half the time
_PEOPLE = (
    "Anna Meyer,Jon Berg,Marie Dubois,Pavel Novák,Lucía Ortega,Olga Petrova,Ravi "
    "Sharma,Ewa Kowalska,Tom Hill,Nina Costa"
).split(",")
_UNITS = {
    "money": "euros Euro euros euros eur euro евро यूरो",
    "days": "days Tage jours días dní dni дней दिन",
    "millions": "million Millionen millions millones milionů mln млн लाख",
}


def _value(kind: str, language: str, draw: random.Random) -> str:
    number = draw.randint(2, 99)
    made: dict[str, Callable[[], str]] = {
        "time": lambda: f"{draw.randint(6, 21)}:{draw.choice(('00', '10', '15', '25', '30', '45'))}",
        "person": lambda: draw.choice(_PEOPLE),
        "pressure": lambda: f"{number} bar",
        "degrees": lambda: f"{number * 5} °C",
        "volts": lambda: f"{number} V",
        "count": lambda: str(number),
        "date": lambda: f"{draw.randint(1, 28)}. {draw.randint(1, 12)}. {draw.randint(2005, 2026)}",
    }
    return made[kind]() if kind in made else f"{number} {_UNITS[kind].split()[LANGUAGES.index(language)]}"


def _things(kind: str, count: int, draw: random.Random) -> list[dict[str, str]]:
    """So many different things of a kind, each by language; figures lie close to one another, as those of one document
    do.
    """
    ids = KINDS[kind]["id"]
    if isinstance(ids, dict):
        numbers = draw.sample(range(len(ids["en"])), min(count, len(ids["en"])))
        return [{language: names[number] for language, names in ids.items()} for number in numbers]
    first = draw.choice((draw.randint(1, 9), draw.randint(10, 60), draw.randint(100, 900)))
    near = sorted({first, first + 1, first + 2, first + 3, first + 10, first * 10, int(str(first)[::-1])} - {0})
    if ids == "year":
        near = list(range(start := draw.randint(1995, 2020), start + 7))
    letters = f"{draw.choice('ABCDKMPTX')}-" if ids == "code" else ""
    found = [f"{letters}{number}" for number in draw.sample(near, min(count, len(near)))]
    return [dict.fromkeys(LANGUAGES, one) for one in found]


def _said(kind: str, language: str, part: int, **parts: str) -> str:
    text: str = KINDS[kind]["says"][language][part].format(**parts)
    return text[:1].upper() + text[1:]


def alike(draw: random.Random) -> Row:
    """One question over a place that says the same of several things."""
    kind, way = draw.choice(list(KINDS)), draw.choice(WAYS)
    language = asked_in = draw.choice(LANGUAGES)
    if draw.random() < CROSSED:
        asked_in = draw.choice(LANGUAGES)
    count = 1 if way == "heading" or draw.random() < ALONE else draw.randint(2, MOST)
    asked, *there = _things(kind, count + 1, draw)
    absent = draw.random() < ABSENT
    there = there[:count] if absent else [asked, *there[: count - 1]]
    draw.shuffle(there)
    told = [(one[language], _value(KINDS[kind]["value"], language, draw)) for one in there]
    if way == "rows":
        units = [f"{_said(kind, language, 3, id=id, value='')} | {value}" for id, value in told]
    elif way == "heading":
        units = [_said(kind, language, 2, id=id, value=value) for id, value in told]
    else:
        units = [_said(kind, language, 0, id=id, value=value) for id, value in told]
    gold = [] if absent else [there.index(asked)]
    for _ in range(draw.randint(0, OTHERS)):
        units, gold = _beside(units, gold, kind, asked[language], language, draw)
    return {
        "question": _said(kind, asked_in, 1, id=asked[asked_in], value=""),
        "units": units,
        "gold": gold,
        "place": _said(kind, language, 3, id=told[0][0], value="") if way == "heading" else "",
        "answers": [] if absent else [told[there.index(asked)][1]],
        "answerable": not absent,
        "lang": asked_in,
        "context_lang": language,
        "source": "alike",
    }


def _beside(
    units: list[str], gold: list[int], kind: str, id: str, language: str, draw: random.Random
) -> tuple[list[str], list[int]]:
    """With a statement of another kind, about the thing that is asked for where both kinds number theirs."""
    other = draw.choice([one for one in KINDS if one != kind])
    numbered = KINDS[kind]["id"] == KINDS[other]["id"] == "number"
    said = _said(
        other,
        language,
        0,
        id=id if numbered else _things(other, 1, draw)[0][language],
        value=_value(KINDS[other]["value"], language, draw),
    )
    at = draw.randint(0, len(units))
    return [*units[:at], said, *units[at:]], [number + (number >= at) for number in gold]


def made(count: int, draw: random.Random) -> Iterator[Row]:
    """So many of them."""
    for _ in range(count):
        yield alike(draw)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--rows", type=int, default=6000)
    given = arguments.parse_args()
    write_rows(given.out, made(given.rows, random.Random(SEED)))
