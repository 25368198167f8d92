"""Operators and raised signs of formulas. They can turn a formula into another one while all its letters stay.

A formula is a run of operands with signs between them: "S = n/2 [2a + (n - 1)d]". It is held against those of the
evidence that have the same operands in the same order; where there is none, each sign between its two neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from rag_core.language import fold, words

_MARK = r"\p{L}\p{M}*(?:\p{L}|\^\p{Nd}{1,3}+|\p{N})?+(?![\p{L}\p{M}])"  # a variable: "n", "d", "x2"
_NUMBER = r"\d{1,24}+(?:[.,]\d{1,24}+){0,4}+(?:\^[-−+]?\d{1,3}+|\p{No}{1,3}+)?+"
_TOKEN = regex.compile(
    rf"(?P<operand>(?<![\p{{L}}\p{{M}}\p{{N}}])(?:{_NUMBER}(?:{_MARK})?+|{_MARK})|(?<=[)\]]){_MARK})"
    r"|(?P<open>[(\[])|(?P<close>[)\]])|(?P<sign><=|>=|!=|[-+−–×*/÷·=<>≤≥≠^])|(?P<gap>\s++)|(?P<other>\p{L}[\p{L}\p{M}]*+|.)",
    regex.DOTALL,
)
_LONGEST = 60  # operands; what is longer is compared sign by sign
_RAISED = regex.compile(r"\^\p{Nd}|[\p{Decomposition_Type=Super}\p{Decomposition_Type=Sub}]")
_SAME_SIGN = str.maketrans({"−": "-", "–": "-", "·": "×", "*": "×", "÷": "/"})

Triple = tuple[str, str, str]  # left operand, sign, right operand


@dataclass(frozen=True, slots=True)
class Formula:
    """Operands and brackets in order, and the sign before each; empty where none stands there."""

    operands: tuple[str, ...]
    signs: tuple[str, ...]

    @property
    def triples(self) -> Iterator[Triple]:
        """(left, sign, right) of every sign between two operands."""
        for place in range(1, len(self.operands)):
            if self.signs[place]:
                yield self.operands[place - 1], self.signs[place], self.operands[place]


@lru_cache(maxsize=256)
def formulas(text: str) -> tuple[Formula, ...]:
    """The formulas of a text that have a sign; dashes are one, and signs of multiplication or division."""
    found: list[Formula] = []
    operands: list[str] = []
    signs: list[str] = []
    sign = ""
    apart = parted = False  # whether white space stands before what follows, and whether it stood before the sign
    for match in [*_TOKEN.finditer(text), None]:
        kind = match.lastgroup if match else "other"
        if match and kind == "gap":
            apart = True
            continue
        if match and kind == "sign":
            parted = apart if not sign else parted
            sign += match.group().translate(_SAME_SIGN)
        elif match and kind != "other" and not (operands and _begins(kind, operands[-1], sign, parted, apart)):
            operands.append(fold(match.group()).replace("^", ""))
            signs.append(sign)
            sign = ""
        else:
            if len(operands) > 1:
                found += _formula(operands, signs)
            operands, signs, sign = ([fold(match.group())], [""], "") if match and kind == "operand" else ([], [], "")
        apart = False
    return tuple(found)


def _begins(kind: str | None, last: str, sign: str, parted: bool, apart: bool) -> bool:
    """Whether an operand begins another formula: white space alone, or its own sign, parts it."""
    if sign:
        return parted and not apart and len(last) > 1 and last.isalpha()
    return apart and kind == "operand"


def _formula(operands: list[str], signs: list[str]) -> list[Formula]:
    one = Formula(tuple(operands), tuple(signs))
    words_joined = (
        len(operands) == 2
        and all(part.isalpha() for part in operands)
        and signs[1] in ("-", "/")
        and max(map(len, operands)) > 1
    )
    return [one] if any(signs[1:]) and not words_joined else []  # "e-mail" and "km/h" are words


def _raised(text: str) -> list[str]:
    """The words with a raised or lowered part: "n²", "CO₂", "n^2". A number's power is a part of its value."""
    if not _RAISED.search(text):
        return []
    return [word.text for word in words(text) if word.text[0].isalpha() and _RAISED.search(word.text)]


def changed_operators(claim: str, evidence: str) -> list[str]:
    """Operators of the claim that the evidence has not there, and powers it has nowhere."""
    raised = _raised(claim)
    held = {fold(word.text) for word in words(evidence)} if raised else set()
    changed = [word for word in raised if fold(word) not in held]
    mine = formulas(claim)
    theirs = formulas(evidence) if mine else ()
    between = _signs_between(theirs)
    for formula in mine:
        misplaced = _misplaced(formula, theirs)
        lacking = (
            [triple for triple in formula.triples if not _stands(triple, between)] if misplaced is None else misplaced
        )
        changed += [" ".join(triple) for triple in lacking]
    return changed


def substituted_operators(claim: str, evidence: str) -> list[str]:
    """Operators of a sentence that the formula with the same operands in its nearest sentence has not."""
    mine = formulas(claim)
    theirs = formulas(evidence) if mine else ()
    return [" ".join(triple) for formula in mine for triple in _misplaced(formula, theirs) or ()]


def _misplaced(mine: Formula, theirs: Sequence[Formula]) -> list[Triple] | None:
    """The sign that the likest formula with the same operands has otherwise; None where no formula has them."""
    beside = [signs for other in theirs for signs in _beside(mine, other)] if len(mine.operands) <= _LONGEST else []
    if not beside:
        return None
    near = min(beside, key=lambda signs: sum(one != other for one, other in zip(mine.signs[1:], signs, strict=True)))
    triples = zip(mine.operands, mine.signs[1:], mine.operands[1:], strict=False)
    return [triple for triple, sign in zip(triples, near, strict=False) if triple[1] != sign]


def _beside(mine: Formula, other: Formula) -> Iterator[tuple[str, ...]]:
    """The signs of every place of the other formula that has the same operands, the sign before the first left out."""
    length = len(mine.operands)
    for start in range(len(other.operands) - length + 1):
        if other.operands[start] == mine.operands[0] and other.operands[start : start + length] == mine.operands:
            yield other.signs[start + 1 : start + length]


def _signs_between(theirs: Sequence[Formula]) -> Mapping[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for formula in theirs:
        for left, sign, right in formula.triples:
            found.setdefault((left, right), set()).add(sign)
    return found


def _stands(triple: Triple, between: Mapping[tuple[str, str], set[str]]) -> bool:
    """Whether the sign stands between the same two, or is none: "5-10" for "5 to 10"."""
    left, sign, right = triple
    signs = between.get((left, right), set())
    return sign in signs or (sign in ("-", "/") and left[0].isdigit() and right[0].isdigit() and not signs)
