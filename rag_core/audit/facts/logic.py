"""Negation and operators: small words and signs that turn a sentence round while all its other words stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import regex

from rag_core.audit.facts.lexicon import Lexicon, lexicon
from rag_core.language import LANGUAGES, fold, sentences, stem, words

_STOP = regex.compile(r"[.:;!?।]")
_TARGETS = 2  # content words after a negation that it is taken to negate; before it when none follow
_SYMBOL = r"(?:\d{1,24}+(?:[.,]\d{1,24}+){0,4}+(?:\^\d{1,3}+|\p{No}{1,3}+)?+|\p{L}\p{M}*(?:\p{L}|\^\p{Nd}{1,3}+|\p{N})?+)"
_OPERATOR = regex.compile(
    rf"(?<![\p{{L}}\p{{M}}\p{{N}}])(?P<left>{_SYMBOL}|[)\]])\s*(?P<op>[-+−–×*/÷·=<>≤≥≠^]|<=|>=|!=)\s*(?=(?P<right>{_SYMBOL}|[(\[])(?![\p{{L}}\p{{M}}]))"
)
_RAISED = regex.compile(r"\^\p{Nd}|[\p{Decomposition_Type=Super}\p{Decomposition_Type=Sub}]")
_SAME_SIGN = str.maketrans({"−": "-", "–": "-", "·": "×", "*": "×", "÷": "/"})


@dataclass(frozen=True, slots=True)
class Polarity:
    """What one sentence negates: stems of its content words, and among them those that a negation bears on."""

    terms: frozenset[str]
    negated: frozenset[str]
    words: frozenset[str]
    phrases: tuple[str, ...]


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


def changed_negations(claim: str, evidence: str, lang: str, evidence_lang: str) -> list[str]:
    """Negations that stand in only one of a claim's sentences and its nearest sentence of the evidence.

    The nearest is the one with the largest share of common words among all words of both; below a third of the smaller one nothing is
    compared. Across languages nothing is compared.
    """
    if lang != evidence_lang:
        return []
    theirs = _polarities(evidence, lang)
    return [phrase for mine in _polarities(claim, lang) for phrase in _differences(mine, theirs, lexicon(lang))]


def _differences(mine: Polarity, sentences_of_evidence: tuple[Polarity, ...], lex: Lexicon) -> Iterator[str]:
    if not mine.terms or not sentences_of_evidence:
        return
    near = max(sentences_of_evidence, key=lambda other: len(mine.terms & other.terms) / len(mine.terms | other.terms))
    common = mine.terms & near.terms
    if len(common) < 1 or len(common) < min(len(mine.terms), len(near.terms)) / 3:
        return
    if (mine.negated - near.negated) & near.terms:
        yield ", ".join(mine.phrases) or "negation"
    elif (near.negated - mine.negated) & mine.terms:
        yield "without " + (", ".join(near.phrases) or "negation")
    yield from (word for word in mine.words if (positive := _positive(word, lex)) and positive in near.words and word not in near.words)
    yield from (
        f"without {word}" for word in near.words if (positive := _positive(word, lex)) and positive in mine.words and word not in mine.words
    )


def _positive(word: str, lex: Lexicon) -> str:
    """The word that a folded word negates by its form ("nesmi" -> "smi", "invalid" -> "valid"), or empty."""
    if word in lex.negated_words:
        return lex.negated_words[word]
    if word in lex.not_prefixed:
        return ""
    return next((word[len(p) :] for p in lex.negative_prefixes if word.startswith(p) and len(word) - len(p) >= 3), "")


@lru_cache(maxsize=256)
def _polarities(text: str, lang: str) -> tuple[Polarity, ...]:
    return tuple(_polarity(text[start:end], lang) for start, end in sentences(text, lang))


def _polarity(sentence: str, lang: str) -> Polarity:
    lex, info = lexicon(lang), LANGUAGES.get(lang) or LANGUAGES["en"]
    masked = lex.not_negators.sub(lambda match: " " * len(match.group()), sentence)
    negators = [match for match in lex.negators.finditer(masked) if not regex.match(r"\.?\s*\d", masked[match.end() :])]
    spans = [match.span() for match in negators]
    content = [
        (word.start, stem(word.text, lang))
        for word in words(masked)
        if word.text.lower() not in info.function_words and not any(start < word.end and word.start < end for start, end in spans)
    ]
    stops = [match.start() for match in _STOP.finditer(masked)]
    negated: set[str] = set()
    for start, end in spans:
        limit = next((stop for stop in stops if stop >= end), len(masked))
        after = [term for place, term in content if end <= place < limit][:_TARGETS]
        negated |= set(after or [term for place, term in content if place < start][-_TARGETS:])
    plain = frozenset(fold(word.text) for word in words(sentence))
    return Polarity(frozenset(term for _, term in content), frozenset(negated), plain, tuple(match.group() for match in negators))
