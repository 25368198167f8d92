"""Finds a name in the place of another, in a sentence that otherwise stands in the evidence.

Where capitals mark names, a name in the place of a name is a change. German capitalises every noun and Hindi has no
capitals: there a word counts as a name when it is a known name, follows a title, or stands in no dictionary; and a noun
that the evidence has elsewhere is a change in the place of another noun.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache

from babel import Locale, UnknownLocaleError

from rag_core.facts.differences.align import Aligned, Sentence, Token
from rag_core.facts.sentence.lexicon import lexicon
from rag_core.facts.sentence.names import CLEAR
from rag_core.language import LANGUAGES, fold, grammar, is_known, string_similarity, words

_CASED = frozenset({"Latin", "Cyrillic", "Greek"})  # scripts with capitals
_MAX_ABBREVIATED = 4  # letters
_MIN_LETTERS = 3  # letters of a name that is found by its form alone

Span = tuple[int, int]


def entity_swaps(
    aligned: Aligned, held: Collection[str], lang: str, mine: Collection[Span], theirs: Collection[Span]
) -> Iterator[str]:
    """The names in the place of others, in aligned sentences; `held` are the evidence's stems."""
    moved = {token.stem for gap in aligned.gaps for token in aligned.mine.tokens[gap.i : gap.j]}
    moved &= {token.stem for gap in aligned.gaps for token in aligned.theirs.tokens[gap.k : gap.m]}
    for gap in aligned.gaps:
        here = [place for place in range(gap.i, gap.j) if _is_said(aligned.mine, place, moved, lang)]
        there = [place for place in range(gap.k, gap.m) if _is_said(aligned.theirs, place, moved, lang)]
        if gap.is_long or not here or not there:
            continue
        named = [place for place in here if is_name(aligned.mine, place, lang, mine)]
        replaced = there[-1:] if gap.i == 0 else there[:1] if gap.j == len(aligned.mine.tokens) else there
        if not any(is_name(aligned.theirs, place, lang, theirs) for place in replaced):
            named = []
        known = all(
            aligned.mine.tokens[place].stem in held and _is_noun(aligned.mine, place, lang) for place in here
        ) and any(_is_noun(aligned.theirs, place, lang) for place in there)
        changed = named or (here if known else [])
        if changed and not _say_the_same(aligned, here, there, lang):
            yield " ".join(aligned.mine.tokens[place].text for place in changed)


def is_name(sentence: Sentence, place: int, lang: str, spans: Collection[Span]) -> bool:
    """Whether a word is a part of a name: found as one (`spans`), or by its form where capitals do not tell."""
    token = sentence.tokens[place]
    if any(start <= token.start < end for start, end in spans):
        return True
    if CLEAR.fullmatch(token.text) or (
        lang in LANGUAGES and grammar(lang).script not in _CASED and token.text[0].isupper()
    ):
        # where most words have capitals, these say nothing
        return sum(one.text.isupper() for one in sentence.tokens) <= len(sentence.tokens) / 2
    if not _every_noun_alike(token, lang) or len(token.text) < _MIN_LETTERS:
        return False
    titled = place > 0 and sentence.tokens[place - 1].folded in lexicon(lang).facts.titles
    return titled or token.folded in _known_names(lang) or not is_known(token.text, lang)


def _is_noun(sentence: Sentence, place: int, lang: str) -> bool:
    """Whether a word may be a noun that a name could replace; without capitals, if no auxiliary follows."""
    token = sentence.tokens[place]
    following = sentence.tokens[place + 1].folded if place + 1 < len(sentence.tokens) else ""
    return _every_noun_alike(token, lang) and (
        token.text[0].isupper() or following not in lexicon(lang).facts.auxiliaries
    )


def _every_noun_alike(token: Token, lang: str) -> bool:
    """Whether capitals do not tell a name from another noun here."""
    return (grammar(lang).nouns_capitalised and token.text[0].isupper()) or token.text.lower() == token.text.upper()


def _is_said(sentence: Sentence, place: int, moved: Collection[str], lang: str) -> bool:
    """Whether a word is replaced and no value: values are compared elsewhere."""
    token, lex = sentence.tokens[place], lexicon(lang)
    month = token.folded in lex.months and not token.text.isupper()  # "DEC" is a name
    value = month or token.text[0].isdecimal() or token.folded in lex.facts.numbers or token.folded in lex.scales
    return sentence.says(place) and token.stem not in moved and not value


def _say_the_same(aligned: Aligned, here: list[int], there: list[int], lang: str) -> bool:
    """Whether a word of one side is another form, short for or the initials of the other's, or both are units."""
    mine, theirs = [aligned.mine.tokens[place] for place in here], [aligned.theirs.tokens[place] for place in there]
    units = lexicon(lang).units
    if all(token.folded in units for token in (*mine, *theirs)):
        return True
    initials = {"".join(token.folded[0] for token in tokens) for tokens in (mine, theirs) if len(tokens) > 1}
    if initials.intersection(token.folded for token in (*mine, *theirs)):
        return True
    return any(string_similarity(one.stem, other.stem) or _shortens(one, other) for one in mine for other in theirs)


def _shortens(one: Token, other: Token) -> bool:
    """Whether one word abbreviates the other: "Abs." and "Absatz", "Nr." and "Nummer"."""
    short, whole = sorted((one.folded, other.folded), key=len)
    letters = iter(whole)
    return len(short) <= _MAX_ABBREVIATED and short[0] == whole[0] and all(letter in letters for letter in short)


@cache
def _known_names(lang: str) -> frozenset[str]:
    """The folded words of the names of countries and cities in a language, and the listed names of people."""
    found = set(lexicon(lang).facts.names)
    try:
        locale = Locale.parse(lang)
    except (UnknownLocaleError, ValueError):
        return frozenset(found)
    # a city that is written as in English ("Europe/London") has no name of its own in the locale
    cities = (zone.get("city", key.rsplit("/", 1)[-1].replace("_", " ")) for key, zone in locale.time_zones.items())
    names = [word.text for name in (*locale.territories.values(), *cities) for word in words(name)]
    return frozenset(found.union(fold(name) for name in names if len(name) >= _MIN_LETTERS and not name.islower()))
