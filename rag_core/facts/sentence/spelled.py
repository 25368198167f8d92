"""Whole numbers in words: "two hundred and five", "zweihundertfünf", "pětadvacet", "दो लाख"; ordinals too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag_core.facts.sentence.lexicon import ValueWords
from rag_core.language import Word, fold

_GAPS = frozenset({" ", "-", "\u00a0", "\u2010", "\u2011"})  # between the words of one number
_MAX_WORDS = 16  # words of one number; "nine hundred ninety-nine thousand nine hundred and ninety-nine" has ten
_MAX_CHARS = 64  # a longer run is no word of a language


@dataclass(frozen=True, slots=True)
class Spelled:
    """A number in words: `text[start:end]`. `scale` is the scale word it ends with ("million"), 1 without."""

    value: int
    scale: int
    ordinal: bool
    start: int
    end: int


class _Part(NamedTuple):
    """A part of a compound, and its role: "number", "ordinal", "one", "scale", "join" or "either"."""

    kind: str
    value: int
    word: int


def spelled(text: str, tokens: Sequence[Word], covered: bytearray, words: ValueWords) -> Iterator[Spelled]:
    """The numbers in words among the words of a text, in order; none of them where `covered` is set."""
    place = 0
    while place < len(tokens):
        run = _run(text, tokens[place : place + _MAX_WORDS], covered, words)
        value, scale, ordinal, used = _read(run)
        whole = used and (used == len(run) or run[used].word != run[used - 1].word)
        length = run[used - 1].word + 1 if whole else 1
        if whole:
            yield Spelled(value, scale, ordinal, tokens[place].start, tokens[place + length - 1].end)
        place += length


def _run(text: str, tokens: Sequence[Word], covered: bytearray, words: ValueWords) -> list[_Part]:
    run: list[_Part] = []
    for index, token in enumerate(tokens):
        if covered[token.start] or (index and text[tokens[index - 1].end : token.start] not in _GAPS):
            break
        parts = _parts(fold(token.text), index, words)
        if not parts:
            break
        run += parts
    return run


def _parts(word: str, index: int, words: ValueWords) -> list[_Part]:
    if part := _part(word, index, words):
        return [part]
    if words.compound is None or len(word) > _MAX_CHARS or not words.compound.match(word):
        return []
    pieces = words.compound.findall(word)
    parts = [part for piece in pieces if (part := _part(piece, index, words))]
    return parts if sum(map(len, pieces)) == len(word) else []


def _part(word: str, index: int, words: ValueWords) -> _Part | None:
    if word in words.numbers:
        return _Part("either" if word in words.scales else "number", words.numbers[word], index)
    for kind, values in (("scale", words.scales), ("ordinal", words.ordinals)):
        if word in values:
            return _Part(kind, values[word], index)
    kind = "one" if word in words.ones else "join" if word in words.joins else ""
    return _Part(kind, 1, index) if kind else None


def _read(run: Sequence[_Part]) -> tuple[int, int, bool, int]:
    """The number that a run begins with: value, last scale, whether ordinal, and of how many parts."""
    closed, value, scale, lowest, ordinal, used, whole = 0, 0, 1, 0, False, 0, 0
    for index, part in enumerate(run):
        kinds = [following.kind for following in run[index + 1 : index + 3]]
        kind = _kind(part, closed, value, kinds)
        if kind == "join":
            continue
        if kind in ("number", "ordinal"):
            if (
                value
                and not (part.value < 100 and value % 100 == 0)
                and not (part.value < 10 and value % 10 == 0 and value % 100 >= 20)
            ):
                break
            value, scale, ordinal = value + part.value, 1, kind == "ordinal"
        elif (
            kind == "scale"
            and value
            and not ordinal
            and (value < 100 if part.value == 100 else not lowest or part.value < lowest)
        ):
            scale = part.value
            if scale == 100:
                value *= 100
            else:
                closed, value, lowest, whole = closed + value * scale, 0, scale, index + 1
        elif kind == "scale" and closed and value:
            # "two thousand three million": what stands open belongs to the next number
            return (
                closed,
                lowest,
                False,
                whole,
            )
        else:
            break
        used = index + 1
    return closed + value, scale, ordinal, used


def _kind(part: _Part, closed: int, value: int, following: Sequence[str]) -> str:
    """The role of a part where it stands; empty where it ends the number."""
    if part.kind == "either":
        return "scale" if value else "number"
    if part.kind == "one":
        after_tens = value % 10 == 0 and value % 100 >= 20
        return "number" if after_tens or (not value and following[:1] in (["scale"], ["either"])) else ""
    if part.kind == "join":
        joins = (
            (closed or value)
            and value % 100 == 0
            and following[:1] in (["number"], ["ordinal"])
            and following[1:] != ["scale"]
        )
        return "join" if joins else ""
    return part.kind
