"""Finds role swaps: the same words, but who acts and who is acted on have changed places ("X sued Y", "Y sued X").

Only where the order of words decides that (`WordOrder`: in English), and where a claim is made of nothing but words of one sentence of its
evidence, in the same forms. A passive has another form of the verb, and an adverbial that moved to the front changes places with nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

import regex

from rag_core.facts.differences.align import Sentence, read
from rag_core.language import LANGUAGES
from rag_core.language.fact_words import WordOrder

_MAX_TOKENS = 80  # words of a sentence; longer ones are tables or lists
_CLOSE = 5  # words
_DOER_WITHIN = 3  # words after a verb in the passive


def role_swaps(claim: str, evidence: str, lang: str) -> Iterator[str]:
    """The words of a claim around which others have changed places, as "manager informs employee". Both are reading forms."""
    order = LANGUAGES[lang].word_order if lang in LANGUAGES else None
    if order is None:
        return
    theirs = [sentence for sentence in read(evidence, lang) if len(sentence.tokens) <= _MAX_TOKENS]
    for sentence in read(claim, lang):
        near = [other for other in theirs if _made_of(sentence, other, order)] if len(sentence.tokens) <= _MAX_TOKENS else []
        turned = [_turned(sentence, claim, other, evidence, order) for other in near]
        if near and all(turned):
            yield turned[0]
        yield from _doers_acted_on(sentence, theirs, order)


def _made_of(sentence: Sentence, other: Sentence, order: WordOrder) -> bool:
    """Whether all words of a sentence, articles left out, stand in the other one in the same form."""
    mine, theirs = (Counter(token.folded for token in one.tokens if token.folded not in order.articles) for one in (sentence, other))
    return mine <= theirs


def _turned(sentence: Sentence, claim: str, other: Sentence, evidence: str, order: WordOrder) -> str:
    """Two words that have changed places around the one between them; all say something. Empty where none have."""
    mine, theirs = _places(sentence), _places(other)
    for word, at in mine.items():
        if (
            word not in theirs
            or _is_passive(sentence, at, order) != _is_passive(other, theirs[word], order)
            or _is_listed(sentence, at, claim, order)
            or _is_listed(other, theirs[word], evidence, order)
        ):
            continue
        beside = [max((n for n in mine.values() if n < at), default=-1), min((n for n in mine.values() if n > at), default=-1)]
        before, after = (next((one for one, n in mine.items() if n == place), "") for place in beside)
        if _changed_places(theirs, before, word, after):
            return " ".join(sentence.tokens[mine[one]].text for one in (before, word, after))
    return ""


def _doers_acted_on(sentence: Sentence, theirs: Sequence[Sentence], order: WordOrder) -> Iterator[str]:
    """The words "apprentice examines master", where the evidence has "the apprentice is examined by the master"."""
    folded = [token.folded for token in sentence.tokens]
    if order.doer in folded or len(folded) > _MAX_TOKENS:
        return
    said = {token.stem: place for place, token in enumerate(sentence.tokens) if sentence.says(place)}
    for other in theirs:
        tokens = other.tokens
        for place in (n for n, token in enumerate(tokens) if token.folded == order.doer):
            before = [n for n in range(max(0, place - _CLOSE), place) if other.says(n) and tokens[n].stem in said]
            doer = next((n for n in range(place + 1, min(place + 1 + _DOER_WITHIN, len(tokens))) if other.says(n)), None)
            if doer is None or tokens[doer].stem not in said or len(before) < 2:
                continue
            subject, verb, who = (said[tokens[n].stem] for n in (before[-2], before[-1], doer))
            if subject < verb < who <= verb + _DOER_WITHIN and all(
                sentence.tokens[n].folded in order.articles for n in range(verb + 1, who)
            ):
                yield " ".join(sentence.tokens[n].text for n in (subject, verb, who))


def _changed_places(theirs: dict[str, int], before: str, word: str, after: str) -> bool:
    """Whether what stands before a word here stands close behind it there, and the other way round."""
    if before not in theirs or after not in theirs:
        return False
    return 0 < theirs[before] - theirs[word] <= _CLOSE and 0 < theirs[word] - theirs[after] <= _CLOSE


def _places(sentence: Sentence) -> dict[str, int]:
    """Where each word stands that says something and stands once."""
    counts = Counter(token.folded for token in sentence.tokens)
    return {token.folded: n for n, token in enumerate(sentence.tokens) if sentence.says(n) and counts[token.folded] == 1}


def _is_passive(sentence: Sentence, place: int, order: WordOrder) -> bool:
    """Whether a doer follows a word: "directed by"."""
    return order.doer in {token.folded for token in sentence.tokens[place + 1 : place + 1 + _DOER_WITHIN]}


def _is_listed(sentence: Sentence, place: int, text: str, order: WordOrder) -> bool:
    """Whether a word stands in a list, where the order says nothing."""
    tokens = sentence.tokens
    before = text[tokens[place - 1].start if place else sentence.start : tokens[place].start]
    after = text[tokens[place].end : tokens[place + 1].end if place + 1 < len(tokens) else sentence.end]
    joined = _joined(order.list_joints)
    return bool(joined.search(before) or joined.search(after))


@cache
def _joined(joints: tuple[str, ...]) -> regex.Pattern[str]:
    """Finds what stands between the items of a list."""
    return regex.compile(rf"[,;:|()/•]|\b(?:{'|'.join(map(regex.escape, joints))})\b", regex.IGNORECASE)
