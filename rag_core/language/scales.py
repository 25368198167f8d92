"""The scale of figures, as it is said of a whole table: "(in millions, except per share data)", "EUR '000", "v tis. Kč"."""

from __future__ import annotations

from functools import cache

import regex

from rag_core.language.loader import LANGUAGES
from rag_core.language.words import fold

THOUSAND = 1000  # no table is made in hundreds
MAX_NOTE_CHARS = 160  # a longer text says more than that; chosen
_OTHERS = (
    "000s|tys|tsd|teur|keur|meur|tchf|tkr|mkr|mln|milliers?|miles de|milhares|milhoes|migliaia|milioni|"
    "miliardi|milliards?|tysiac\\w*|crores?|lakhs?|per share"
)
_OPENS = (
    "figures?|amounts?|values?|numbers?|dollars|shares|expressed|stated|udaje|castky|hodnoty|betrage|angaben|zahlen|werte|"
    "montants?|chiffres|donnees|importes?|cifras|valores|importi|dati|kwoty|dane|суммы|данные|eur|euros?|usd|gbp|chf|czk|inr|rs|kc|u\\.?s\\.?"
)
_EACH = r"(?:all|the|alle|vsechny|все|les|los|tutti)\s"
_IN = "in|en|em|v|ve|w|в"
_MONEY = (
    r"\p{Sc}|(?:eur|euros?|usd|gbp|chf|czk|pln|zl|inr|rs|kc|korun|rub|руб\w*|"
    r"(?:[a-z]\S{0,9} )?dollars?|dolaru|pounds?|franken|francs?|rupees?|yen|yuan)\b"
)


@cache
def _scale() -> str:
    known = (listed.scales for row in LANGUAGES.values() for listed in (row.facts, row.values) if listed)
    words = {regex.escape(fold(word)) for scales in known for word, times in scales.items() if times >= THOUSAND}
    return rf"(?:\b(?:{'|'.join(sorted(words | {_OTHERS}))})\b|['’]000|(?<=\p{{Sc}}\s?)(?:k|mm?|bn)\b|\b[tkm]\s?\p{{Sc}})"


@cache
def _patterns() -> tuple[regex.Pattern[str], regex.Pattern[str], regex.Pattern[str]]:
    opens = rf"(?:{_EACH})?(?:\b(?:{_IN}|{_OPENS})\b|\p{{Sc}})"
    alone = rf"{_scale()}\.?(?:\s?(?:of |de |d['’])?(?:{_MONEY}))?(?:\sमें)?"
    opened = rf"(?:\b(?:{_IN})\b(?:\W|{_MONEY})*|(?:{_EACH})?(?:\b(?:{_OPENS})\b|\p{{Sc}})[^.\p{{Nd}}]{{0,40}}?)"
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
    """Whether a text is, or has in brackets, what figures are counted in; a `title` may also say so: "Revenue in millions of euros"."""
    if len(text) > MAX_NOTE_CHARS:
        return False
    _, bracketed, within = _patterns()
    folded = fold(text)
    return is_scale(text) or bool(bracketed.search(folded) or (title and within.search(folded)))
