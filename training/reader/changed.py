"""A question changed so that its sentence no longer answers it: another number, another name, or the opposite.

Not part of the product.

The model learns from these what people's questions to be nearly answered teach in SQuAD 2, of which there are few.
"""

from __future__ import annotations

import random

import regex

AWAY = (-20, -10, -5, -3, -2, -1, 1, 2, 3, 5, 10)  # where no other number of the text can stand in; chosen
_NUMBER = regex.compile(r"\b\d[\d.,]*\b")
_NAME = regex.compile(r"(?<![.!?¿\"“] )(?<!^)\b\p{Lu}[\w’'-]+(?: \p{Lu}[\w’'-]+){0,2}")
_ASKING = frozenset({"what", "who", "when", "where", "which", "how", "in", "the"})
_PAIRS = (
    "largest smallest,first last,before after,highest lowest,most least,increase decrease,increased decreased,north "
    "south,east west,"
    "oldest youngest,maximum minimum,more less,earliest latest,beginning end,began ended,gained lost,won lost,inside "
    "outside,above below,"
    "northern southern,eastern western,longest shortest,men women,allowed forbidden,cause prevent,caused "
    "prevented,major minor,best worst,"
    "internal external,upper lower,erste letzte,ersten letzten,größte kleinste,vor nach,höchste niedrigste,primera "
    "última,primer último,"
    "mayor menor,antes después"
)
OPPOSITES = {
    a: b for one, other in (pair.split() for pair in _PAIRS.split(",")) for a, b in ((one, other), (other, one))
}


def changed(question: str, context: str, answering: str, language: str, draw: random.Random) -> str | None:
    """The question in a form that the answering sentence does not hold; None where nothing in it can be changed.

    Figures are changed in every language, and across languages (`language` is empty there); names where nothing else is
    capitalised within a sentence, so not in German; opposites in English, German and Spanish.
    """
    return (
        _another_number(question, context, answering, draw)
        or (_another_name(question, context, answering, draw) if language not in ("", "de") else None)
        or (_the_opposite(question, answering, draw) if language else None)
    )


def _another_number(question: str, context: str, answering: str, draw: random.Random) -> str | None:
    found = list(_NUMBER.finditer(question))
    if not found:
        return None
    match = draw.choice(found)
    number = match[0].rstrip(".,")
    others = {one.rstrip(".,") for one in _NUMBER.findall(context)}
    fit = sorted(one for one in others if one != number and len(one) == len(number) and one not in answering)
    if not fit and number.isdecimal():
        near = max(1, int(number) + draw.choice(AWAY))
        fit = [one for one in (str(near),) if one != number and one not in answering]
    return question[: match.start()] + draw.choice(fit) + question[match.start() + len(number) :] if fit else None


def _another_name(question: str, context: str, answering: str, draw: random.Random) -> str | None:
    names = [match for match in _NAME.finditer(question) if match[0].lower() not in _ASKING]
    if not names:
        return None
    match = draw.choice(names)
    others = {one[0] for one in _NAME.finditer(context)}
    alike = (one for one in others if abs(len(one.split()) - len(match[0].split())) < 2)
    fit = sorted(one for one in alike if one not in question and one not in answering and one not in match[0])
    return question[: match.start()] + draw.choice(fit) + question[match.end() :] if fit else None


def _the_opposite(question: str, answering: str, draw: random.Random) -> str | None:
    words = [word for word in regex.findall(r"\w+", question) if word.lower() in OPPOSITES]
    if not words:
        return None
    word = draw.choice(words)
    other = OPPOSITES[word.lower()]
    if other in answering.lower() or other in question.lower():
        return None
    return str(regex.sub(rf"\b{regex.escape(word)}\b", other, question, count=1))
