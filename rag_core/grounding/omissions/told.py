"""Words without which a draft says more than its source: who says so, that it is still to come, only then, or all of it together.

"The council denies that the spillway is cracked" is no crack, and a roof that will be replaced has not been. What is looked for are
words of the nearest sentence that the claim does without, though nearly all of the claim stands there.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from rag_core.facts.differences.align import Sentence, Token
from rag_core.facts.differences.values import values
from rag_core.grounding.omissions.bounds import equal
from rag_core.grounding.omissions.said import Said
from rag_core.grounding.omissions.words import LimitWords
from rag_core.language import fold, words

_OF_CLAIM = 2 / 3  # share of a claim's words that stand in the sentence, or in what somebody says, at least
_MAX_TOKENS = 40  # words of a sentence in which one "will" tells of the rest
_ABOUT = 0.6  # share of them where the tense of its verb was changed, so that the verb may be another word
_SOURCE_WORDS = 5  # words of a name behind "according to", at most, where no comma ends it
_FIRST_WORDS = 3  # words of a condition of which the claim has one
_AS_STRICT = ("only", "obligation", "recommendation")  # levels of markers that say what has to be; in Hindi "चाहिए" is one
_ONLY = "only"  # a level of quantifiers
_ABOUT_WORDS = 2  # words behind an "only" that it is about
_AROUND = 60  # characters around a value in which "together" stands
_BOUNDARY = regex.compile(r"[,;:|()!?।\n]|\.\s")
_BEGINS = regex.compile(r"(?:^|[,.;:!?।\n(])\s*$")  # before a word that begins a sentence or stands behind a comma


def dropped_words(mine: Said, asked: Said, sentence: Sentence, told: str, lang: str, limits: LimitWords) -> Iterator[str]:
    """These words of a sentence of the evidence `told` that a claim does without, unless the question has them."""
    text = told[sentence.start : sentence.end]
    said = [token for one in mine.sentences for place, token in enumerate(one.tokens) if one.says(place)]
    if not said:
        return
    yield from _tense(mine.text, text, said, sentence, limits)
    yield from _shares(mine.text, text, lang, limits)
    if _share(said, sentence.tokens) < _OF_CLAIM:
        return
    yield from _exclusive(mine, sentence, told, limits)
    yield from _restricted(mine, asked, sentence, told, limits)
    if not any(
        pattern.search(mine.text) or pattern.search(asked.text) for pattern in (limits.reporting, limits.source, limits.source_behind)
    ):
        yield from _reported(said, sentence, told, limits)
        yield from _sources(said, sentence, told, limits)


def _share(said: list[Token], tokens: tuple[Token, ...]) -> float:
    stems = {token.stem for token in tokens}
    return sum(token.stem in stems for token in said) / len(said)


def _tense(claim: str, text: str, said: list[Token], sentence: Sentence, limits: LimitWords) -> Iterator[str]:
    """The word for what is still to come, where the claim says that it has been."""
    coming = limits.coming.search(text)
    if coming and not limits.past.search(text) and limits.past.search(claim) and not limits.coming.search(claim):
        if _share(said, sentence.tokens) >= _ABOUT and len(sentence.tokens) <= _MAX_TOKENS:
            yield coming.group()


def _shares(claim: str, text: str, lang: str, limits: LimitWords) -> Iterator[str]:
    """The word that says whether a value is of several things together or of each, where the claim has the other one."""
    for one in values(claim, lang).quantities:
        mine = _around(claim, one.start, one.end, limits)
        for other in values(text, lang).quantities:
            if not equal(one, other):
                continue
            theirs = _around(text, other.start, other.end, limits)
            for left, put in ((limits.together, limits.each), (limits.each, limits.together)):
                found = left.search(theirs)
                if found and not put.search(theirs) and put.search(mine) and not left.search(mine):
                    yield found.group()


def _around(text: str, start: int, end: int, limits: LimitWords) -> str:
    """The statement around a value, as far as it is near: up to a stop or a word that joins statements."""
    before = _BOUNDARY.split(text[max(0, start - _AROUND) : start])[-1]
    behind = _BOUNDARY.split(text[end : end + _AROUND])[0]
    joins = [word.start for word in words(behind) if fold(word.text) in limits.joins]
    return f"{before} {behind[: min(joins, default=len(behind))]}"


def _exclusive(mine: Said, sentence: Sentence, told: str, limits: LimitWords) -> Iterator[str]:
    """The only condition on which something holds, where the claim makes it one of several."""
    markers = [marker for one in mine.sentences for marker in one.markers]
    if any(one.negates or one.level in _AS_STRICT for one in markers) or limits.exclusive.search(mine.text):
        return
    for match in limits.exclusive.finditer(told, sentence.start, sentence.end):
        behind = [token for place, token in enumerate(sentence.tokens) if token.start >= match.end() and sentence.says(place)][
            :_FIRST_WORDS
        ]
        if any(map(mine.has, behind)):
            yield match.group()


def _restricted(mine: Said, asked: Said, sentence: Sentence, told: str, limits: LimitWords) -> Iterator[str]:
    """An "only" with the words that it is about, where the claim has the rest of the clause and neither of them: "only with a veil"."""
    markers = [marker for one in mine.sentences for marker in one.markers]
    if any(one.negates or one.level in _AS_STRICT for one in markers) or limits.exclusive.search(mine.text):
        return
    for marker in sentence.markers:
        if marker.kind != "quantifier" or marker.level != _ONLY or any(other.negates for other in sentence.markers):
            continue
        end = told.find(",", sentence.tokens[marker.start].end)  # a clause behind a comma is another one
        behind = [
            token
            for place, token in enumerate(sentence.tokens)
            if place >= marker.end and sentence.says(place) and (end < 0 or token.start < end)
        ]
        about, rest = behind[:_ABOUT_WORDS], [*_before(sentence, marker.start, told, limits), *behind[_ABOUT_WORDS:]]
        if len(rest) > 1 and about and mine.share(rest) >= _OF_CLAIM and not any(mine.has(one) or asked.has(one) for one in about):
            yield told[sentence.tokens[marker.start].start : about[-1].end]


def _before(sentence: Sentence, end: int, told: str, limits: LimitWords) -> list[Token]:
    """The words that say something before a place, back to a comma or a word that joins statements."""
    found: list[Token] = []
    for place in range(end - 1, -1, -1):
        token, after = sentence.tokens[place], sentence.tokens[place + 1]
        if token.folded in limits.joins or any(sign in told[token.end : after.start] for sign in ",;:"):
            break
        if sentence.says(place):
            found.append(token)
    return found


def _reported(said: list[Token], sentence: Sentence, told: str, limits: LimitWords) -> Iterator[str]:
    """That somebody says or believes it: what the claim states stands behind it, or before it where that ends its sentence."""
    for match in limits.reporting.finditer(told, sentence.start, sentence.end):
        behind = tuple(token for token in sentence.tokens if token.start >= match.end())
        before = tuple(token for token in sentence.tokens if token.end <= match.start())
        ends = all(token.light for token in behind)
        if _share(said, before if ends else behind) >= _OF_CLAIM:
            yield match.group()
            return


def _sources(said: list[Token], sentence: Sentence, told: str, limits: LimitWords) -> Iterator[str]:
    """Who says it, where it is no text that binds: at the beginning of a sentence or behind a comma."""
    for match in limits.source.finditer(told, sentence.start, sentence.end):
        name = _BOUNDARY.split(told[match.end() : sentence.end])[0]
        near = [token for token in sentence.tokens if match.end() <= token.start < match.end() + len(name)][:_SOURCE_WORDS]
        if _BEGINS.search(told[: match.start()]) and _is_source(said, near, told, limits):
            yield told[match.start() : near[-1].end]
    for match in limits.source_behind.finditer(told, sentence.start, sentence.end):
        near = [token for token in sentence.tokens if token.end <= match.start()]
        if len(near) <= _SOURCE_WORDS and _is_source(said, near, told, limits):
            yield told[near[0].start : match.end()]


def _is_source(said: list[Token], name: list[Token], told: str, limits: LimitWords) -> bool:
    """Whether a name is somebody, and the claim does without him."""
    if not name or any(token.text[0].isdecimal() for token in name):
        return False
    known = {token.stem for token in said}
    first = next((token for token in name if not token.light), name[0])
    return not limits.binding.search(told[name[0].start : name[-1].end]) and first.stem not in known
