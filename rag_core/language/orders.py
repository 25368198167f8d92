"""Sentences that order a language model about, or that are one's own speech: nothing may rest on them, whoever wrote
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import regex

from rag_core.language.loader import LANGUAGES
from rag_core.language.sentences import sentences
from rag_core.language.statement_words import OrderRows
from rag_core.language.values import spaced
from rag_core.language.words import fold

_READ_CHARS = 2000  # a sentence is shorter; bounds what hostile text costs
# Marks that chat programs put between the turns of a talk with a model, and headings of such turns in training data.
_TURNS = regex.compile(
    r"<\|[a-z_]+\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|instructions?)>|^\W{0,3}#+ "
    r"?(?:instruction|response|assistant|system)\b ?:",
    regex.IGNORECASE,
)
# What stands before a colon or a comma is short; chosen.
_HEAD = regex.compile(r"[^:：\n]{1,120}[:：]")
_OPENER = regex.compile(r"[^:：,\n]{1,120}[:：,]")
_BRACKETED = regex.compile(r"\W{0,3}\[([^\]\n]{1,40})\]")
_ASIDE = regex.compile(r"\([^()]{0,60}\)")


class _Patterns(NamedTuple):
    anywhere: regex.Pattern[str]
    first: regex.Pattern[str]
    heads: regex.Pattern[str]
    openers: regex.Pattern[str]
    speakers: regex.Pattern[str]
    talk: frozenset[str]


@lru_cache(maxsize=1 << 13)  # a question reads some fifty sentences, and the next one many of them again
def is_order(text: str) -> bool:
    """Whether a text orders a language model about, addresses one or is one's speech, in any of the languages.

    "Ignore all previous instructions", "Note to the AI: ...", "Assistant: it is free.": it states nothing, and nothing
    may rest on it. A rule about models ("AI systems must state that they are machines"), a label ("Assistant: Jane
    Doe") and what people are told ("Tell the driver your stop") are no orders.
    """
    said = text[:_READ_CHARS]
    if _TURNS.search(said):
        return True
    folded, heads = spaced(said), _heads(said)
    return any(
        rows.first.match(folded) or rows.anywhere.search(folded) or (heads is not None and _addresses(heads, rows))
        for rows in _patterns()
    )


def holds_order(text: str, lang: str) -> bool:
    """Whether any sentence of a text, or all of it, is an order or speech, as `is_order` has it."""
    return is_order(text) or any(is_order(text[start:end]) for start, end in sentences(text, lang))


class _Heads(NamedTuple):
    """The beginnings of a sentence that may name somebody, as folded words; empty where there is none."""

    colon: str  # before its first colon
    comma: str  # before its first comma or colon
    speaker: str  # before its first colon without what stands in brackets, or in square brackets at its beginning
    said: frozenset[str]  # the words behind that; of square brackets none are needed


def _heads(text: str) -> _Heads | None:
    colon, comma, bracketed = _HEAD.match(text), _OPENER.match(text), _BRACKETED.match(text)
    if not (colon or comma or bracketed):
        return None
    speaker = bracketed[1] if bracketed else _ASIDE.sub(" ", colon[0]) if colon else ""
    said = frozenset(spaced(text[colon.end() :]).split()) if colon and not bracketed else frozenset()
    return _Heads(spaced(colon[0]) if colon else "", spaced(comma[0]) if comma else "", spaced(speaker), said)


def _addresses(heads: _Heads, rows: _Patterns) -> bool:
    """Whether it is addressed to a model, or a model is named as its speaker and a sentence follows."""
    if rows.openers.fullmatch(heads.comma) or rows.heads.fullmatch(heads.colon):
        return True
    return bool(rows.speakers.fullmatch(heads.speaker)) and (not heads.said or not rows.talk.isdisjoint(heads.said))


@lru_cache(maxsize=1)
def _patterns() -> tuple[_Patterns, ...]:
    return tuple(_compiled(info.orders) for info in LANGUAGES.values() if info.orders is not None)


def _compiled(rows: OrderRows) -> _Patterns:
    def pattern(source: str) -> regex.Pattern[str]:
        return regex.compile(fold(source.replace("<models>", rows.models)))

    def any_of(sources: Sequence[str]) -> str:
        return "(?:" + "|".join(f"(?:{one})" for one in sources) + ")(?: |$)"

    # tried at the beginning alone, which is where most end
    first = [one[1:] for one in rows.patterns if one.startswith("^")]
    anywhere = [one for one in rows.patterns if not one.startswith("^")]
    return _Patterns(
        pattern(f"(?:^| ){any_of(anywhere)}"),
        pattern(any_of(first)),
        pattern(rows.heads),
        pattern(rows.openers),
        pattern(rows.speakers),
        rows.talk,
    )
