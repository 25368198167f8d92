"""The scale of figures, as said of a whole table: "(in millions, except per share data)", "EUR '000", "v tis. Kč"."""

from __future__ import annotations

from functools import cache

import regex

from rag_core.language.loader import LANGUAGES, any_language
from rag_core.language.words import fold

THOUSAND = 1000  # no table is made in hundreds
MAX_NOTE_CHARS = 160  # a longer text says more than that; chosen


@cache
def _scale() -> str:
    known = (listed.scales for row in LANGUAGES.values() for listed in (row.facts, row.values) if listed)
    words = {regex.escape(fold(word)) for scales in known for word, times in scales.items() if times >= THOUSAND}
    return rf"(?:\b(?:{'|'.join(sorted(words | {any_language().scale_words}))})\b|['’]000|(?<=\p{{Sc}}\s?)(?:k|mm?|bn)\b|\b[tkm]\s?\p{{Sc}})"  # noqa: E501


@cache
def _patterns() -> tuple[regex.Pattern[str], regex.Pattern[str], regex.Pattern[str]]:
    known = any_language()
    opens = rf"(?:{known.scale_each})?(?:\b(?:{known.scale_in}|{known.scale_openers})\b|\p{{Sc}})"
    alone = rf"{_scale()}\.?(?:\s?(?:of |de |d['’])?(?:{known.scale_money}))?(?:\sमें)?"
    directly = rf"\b(?:{known.scale_in})\b(?:\W|{known.scale_money})*"
    opened = rf"(?:{directly}|(?:{known.scale_each})?(?:\b(?:{known.scale_openers})\b|\p{{Sc}})[^.\p{{Nd}}]{{0,40}}?)"
    whole = rf"\W*(?:{alone}|{opened}{_scale()}[^\p{{Nd}}]{{0,90}})\W*"
    bracketed = rf"[(\[]\s*(?:{alone}|{opens}[^()\p{{Nd}}]{{0,60}}?{_scale()}[^()]*)\s*[)\]]"
    return regex.compile(whole), regex.compile(bracketed), regex.compile(rf"(?:{opens}|,)\s*(?:\w+\s)?{_scale()}")


def holds_scale(text: str) -> bool:
    """Whether a text has a word or sign for thousand, million and so on."""
    return bool(regex.search(_scale(), fold(text)))


def is_scale(text: str) -> bool:
    """Whether a text says what figures are counted in, and nothing else."""
    return len(text) <= MAX_NOTE_CHARS and bool(_patterns()[0].fullmatch(fold(text)))


def names_scale(text: str, *, title: bool = False) -> bool:
    """Whether a text is, or has in brackets, what figures are counted in; a `title` may also say so: "Revenue in
    millions of euros".
    """
    if len(text) > MAX_NOTE_CHARS:
        return False
    _, bracketed, within = _patterns()
    folded = fold(text)
    return is_scale(text) or bool(bracketed.search(folded) or (title and within.search(folded)))
