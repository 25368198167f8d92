"""Operators and raised signs of formulas: what turns a formula into another one while all its letters stay."""

from __future__ import annotations

import regex

from rag_core.language import fold, words

_SYMBOL = r"(?:\d{1,24}+(?:[.,]\d{1,24}+){0,4}+(?:\^\d{1,3}+|\p{No}{1,3}+)?+|\p{L}\p{M}*(?:\p{L}|\^\p{Nd}{1,3}+|\p{N})?+)"
_OPERATOR = regex.compile(
    rf"(?<![\p{{L}}\p{{M}}\p{{N}}])(?P<left>{_SYMBOL}|[)\]])\s*(?P<op>[-+−–×*/÷·=<>≤≥≠^]|<=|>=|!=)\s*(?=(?P<right>{_SYMBOL}|[(\[])(?![\p{{L}}\p{{M}}]))"
)
_RAISED = regex.compile(r"\^\p{Nd}|[\p{Decomposition_Type=Super}\p{Decomposition_Type=Sub}]")
_SAME_SIGN = str.maketrans({"−": "-", "–": "-", "·": "×", "*": "×", "÷": "/"})


def operators(text: str) -> list[tuple[str, str, str]]:
    """(left operand, sign, right operand) of every formula-like place: "n - 1", "a + (", "x ≤ 5". Dashes are one sign."""
    found = []
    for match in _OPERATOR.finditer(text):
        left, sign, right = match["left"], match["op"].translate(_SAME_SIGN), match["right"]
        words_joined = left.isalpha() and right.isalpha() and sign in "-/" and (len(left) > 1 or len(right) > 1)
        if not words_joined:  # "e-mail" and "km/h" are words
            found.append((_symbol(left), sign, _symbol(right)))
    return found


def _symbol(text: str) -> str:
    return fold(text).replace("^", "")


def _raised(text: str) -> list[str]:
    """The words with a raised or lowered part: "n²", "CO₂", "n^2". A number's power is a part of its value."""
    return [word.text for word in words(text) if word.text[0].isalpha() and _RAISED.search(word.text)]


def changed_operators(claim: str, evidence: str) -> list[str]:
    """Operators of the claim that the evidence has not between the same operands, and powers and indices that it has nowhere."""
    theirs = operators(evidence)
    same_operands = {(left, right) for left, _, right in theirs}
    held = {fold(word.text) for word in words(evidence)}
    changed = [word for word in _raised(claim) if fold(word) not in held]
    for left, sign, right in operators(claim):
        # a dash between numbers may be a range, "5-10" for "5 to 10": it is wrong only where the evidence has another sign there
        is_range = sign == "-" and left[0].isdigit() and right[0].isdigit() and (left, right) not in same_operands
        if (left, sign, right) not in theirs and not is_range:
            changed.append(f"{left} {sign} {right}")
    return changed
