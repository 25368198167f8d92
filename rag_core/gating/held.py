"""Whether a sentence holds the type of thing that a question asks for: a date, a name, a definition."""

from __future__ import annotations

from rag_core.gating.asked import KEY_CHARS, NAMES, AnswerType, AskedFor
from rag_core.gating.row import UNKNOWN
from rag_core.gating.stated import Stated
from rag_core.language import AskedWords

_MENTIONED = 0.4  # where a sentence defines something, but not in the words asked for; chosen
_WITHIN = 0.8  # where what is asked for is part of what is defined: "the general form of a progression is ..."; chosen
# How much each kind of number is worth as an answer of a type: 1 for its own kind, less for what it may be written as;
# chosen.
_WORTH = {
    AnswerType.MONEY: {"money": 1.0, "count": 0.4, "percentage": 0.2},
    AnswerType.COUNT: {
        "count": 1.0,
        "percentage": 0.6,
        "duration": 0.6,
        "money": 0.6,
        "ordinal": 0.4,
        "date": 0.2,
        "time": 0.2,
        "code": 0.3,
    },
    AnswerType.PERCENTAGE: {"percentage": 1.0, "count": 0.4, "ordinal": 0.3},
    AnswerType.DATE: {"date": 1.0, "time": 0.9, "month": 0.7, "ordinal": 0.3, "count": 0.2},
    AnswerType.DEADLINE: {"date": 1.0, "time": 1.0, "duration": 0.9, "month": 0.7, "ordinal": 0.3, "count": 0.2},
    AnswerType.DURATION: {"duration": 1.0, "count": 0.4, "date": 0.5},
    AnswerType.CODE: {"code": 1.0, "count": 0.5},
}
_MARKED = frozenset({AnswerType.REASON, AnswerType.DEFINITION, AnswerType.PROCEDURE})
_UNCLEAR = 0.4  # for a name that may be an ordinary word; chosen


def held(asked: AskedFor, stated: Stated, words: AskedWords | None, label: tuple[str, ...]) -> float:
    """How well the type is held."""
    if worth := _WORTH.get(asked.type):
        return max(
            (worth.get(number.kind, 0.0) for number in stated.numbers if number.word not in asked.words), default=0.0
        )
    if asked.type in NAMES:
        return _held_names(asked, stated, words)
    if asked.type is AnswerType.DEFINITION and words:
        return _defined(asked, stated, words, label)
    if asked.type in _MARKED and words:
        return float(asked.type in words.markers and words.markers[asked.type].search(stated.spaced) is not None)
    return UNKNOWN


def _defined(asked: AskedFor, stated: Stated, words: AskedWords, label: tuple[str, ...]) -> float:
    """How surely a sentence says what is meant by the words asked for: "X is a ...", "... is called X", "X: ..."."""
    if label and all(map(asked.has, label)):
        return 1.0
    pattern = words.markers.get(AnswerType.DEFINITION)
    if pattern is None or not asked.keys:
        return 0.0
    best, count = 0.0, len(asked.keys)
    for match in pattern.finditer(stated.spaced):
        before = [word[:KEY_CHARS] for word in stated.spaced[: match.start()].split()]
        after = [word[:KEY_CHARS] for word in stated.spaced[match.end() :].split()]
        subject = (
            len(asked.keys.intersection(before[-count - 1 :])) / count
        ) ** 2  # half a name is mostly another thing's
        whole = len(before) <= count + 2
        named = (len(asked.keys.intersection(after[: count + 2])) / count) ** 2
        best = max(best, _MENTIONED + (1 - _MENTIONED) * max(subject * (1.0 if whole else _WITHIN), named))
    return best


def _held_names(asked: AskedFor, stated: Stated, words: AskedWords | None) -> float:
    if not stated.names and not stated.has_capitals:
        return UNKNOWN / 2
    best = 0.0
    for run in stated.names:
        fresh = [at for at in range(run.at, run.end) if not asked.has(stated.words[at])]
        if fresh:
            value = (1.0 if len(fresh) > 1 else 0.8) if run.clear else _UNCLEAR
            best = max(best, value * _of_type(asked.type, stated, run.at, run.end, words))
    return best


def _of_type(kind: AnswerType, stated: Stated, at: int, end: int, words: AskedWords | None) -> float:
    """How much a name looks like a place or an organisation; a person cannot be told from its form."""
    if kind is AnswerType.PLACE and words:
        return 1.0 if set(stated.words[max(0, at - 2) : at]) & words.places else 0.7
    if kind is AnswerType.ORGANISATION and words:
        mine = any(map(words.organisations.fullmatch, stated.words[at : end + 1]))
        return 1.0 if mine or any(len(word) > 1 and word.isupper() for word in stated.raw[at:end]) else 0.8
    return 1.0
