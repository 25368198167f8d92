"""Finds small words and names that were changed in a sentence that otherwise stands in the evidence, nearly word for
word.

In the gaps between the common words of two sentences a marker against another ("at least" for "at most"), a party or
name for another, a negation that only one of them has, and an added or dropped "only" are changed facts. Of sentences
that have less in common, only the negations are compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import product

from rag_core.facts.differences.align import Aligned, Gap, Sentence, beside, read
from rag_core.facts.differences.entity_swap import Span, entity_swaps
from rag_core.facts.differences.roles import substituted_values
from rag_core.facts.differences.values import values
from rag_core.facts.sentence.lexicon import Lexicon, lexicon
from rag_core.facts.sentence.logic import substituted_operators
from rag_core.facts.sentence.markers import Marker
from rag_core.language import grammar

_TARGETS = 2  # content words after a negation that it is taken to negate; before it when none follow
_MIN_SHARED = 1 / 3  # share of the smaller sentence's words; below it nothing is compared

Change = tuple[str, str]


def substituted_words(
    claim: str, evidence: str, lang: str, mine: Collection[Span], theirs: Collection[Span]
) -> list[Change]:
    """The changes of all sentences of a claim against the evidence, both in reading form and one language, as (kind,
    text).

    Kinds are modality, comparison, quantifier, negation and name, and of values in the place of others role, unit and
    code. `mine` and `theirs` are where names stand.
    """
    held, lex = read(evidence, lang), lexicon(lang)
    terms = frozenset[str]().union(*(sentence.terms for sentence in held))
    found: list[Change] = []
    for sentence in read(claim, lang):
        near = beside(sentence, held)
        if not near:
            found += [("negation", phrase) for phrase in _reworded_negations(sentence, held, lex)]
        each = [
            [
                *_markers(one, lang),
                *_negations(one, lex),
                *_operators(one, claim, evidence),
                *(("name", name) for name in entity_swaps(one, terms, lang, mine, theirs)),
            ]
            for one in near
        ]
        if not any(not changes and one.says_all() for changes, one in zip(each, near, strict=True)):
            found += next((changes for changes in each if changes), [])
        moved = [list(substituted_values(one, values(claim, lang), values(evidence, lang), lang)) for one in near]
        found += moved[0] if near and all(moved) else []
    return found


def _operators(aligned: Aligned, claim: str, evidence: str) -> Iterator[Change]:
    """Signs of the sentence's formulas that the matching part of the other one has otherwise."""
    start, end = aligned.matched()
    found = substituted_operators(claim[aligned.mine.start : aligned.mine.end], evidence[start:end])
    yield from (("operator", sign) for sign in found)


def _markers(aligned: Aligned, lang: str) -> Iterator[Change]:
    """Markers in or around a gap that are against each other, an added or dropped "only", a dropped "seek"."""
    if not any(marker.kind == "sought" for marker in aligned.mine.markers):
        start, end = aligned.matched()
        asked = [marker for marker in aligned.theirs.markers if marker.kind == "sought"]
        inside = (marker for marker in asked if start <= aligned.theirs.tokens[marker.start].start < end)
        # who seeks an approval does not approve
        yield from (("role", f"without {_text(aligned.theirs, marker)}") for marker in inside)
    told_by_endings = grammar(lang).cased and _party_words(aligned.mine) == _party_words(aligned.theirs)
    for gap in aligned.gaps:
        mine, theirs = _in(aligned.mine, gap.i, gap.j), _in(aligned.theirs, gap.k, gap.m)
        if gap.is_long:
            continue
        mine_here = mine or _touching(aligned.mine, gap.i)
        theirs_here = theirs or _touching(aligned.theirs, gap.k)
        for one, other in product(mine_here, theirs_here):
            if one.kind == "party" and told_by_endings:
                continue
            if (
                one.against(other)
                and not any(one.level == also.level for also in theirs_here)
                and (one in mine or other in theirs)
            ):
                yield "name" if one.kind == "party" else one.kind, _text(aligned.mine, one)
        if _clean(aligned, gap):
            if _level(mine, "only") and not theirs:
                yield "quantifier", _text(aligned.mine, mine[0])
            elif _level(theirs, "only") and not mine:
                yield "quantifier", f"without {_text(aligned.theirs, theirs[0])}"


def _party_words(sentence: Sentence) -> set[str]:
    """The forms in which the parties are named: "nájemce" owes, "nájemci" is owed."""
    return {
        sentence.tokens[place].folded
        for one in sentence.markers
        if one.kind == "party"
        for place in range(one.start, one.end)
    }


def _negations(aligned: Aligned, lex: Lexicon) -> Iterator[Change]:
    """A negation that one sentence has more, counted in the gaps where nothing else was changed."""
    surplus, phrases = 0, []
    for gap in aligned.gaps:
        mine, theirs = _negated(aligned.mine, gap.i, gap.j), _negated(aligned.theirs, gap.k, gap.m)
        opposite = _opposite(aligned, gap, lex)
        if _clean(aligned, gap):
            surplus += len(mine) - len(theirs)
            phrases += [*mine, *(f"without {phrase}" for phrase in theirs)]
        elif opposite:
            surplus += opposite[0]
            phrases.append(opposite[1])
        elif not mine:
            # "not allowed in" may be said as "forbidden in", which is no lost denial of "in"
            reach = _TARGETS if gap.i == gap.j else 1
            denied = [
                phrase
                for phrase, places in _bearing(aligned.theirs, gap.k, gap.m)
                if not aligned.shared().isdisjoint(places[:reach])
            ]
            surplus -= len(denied)
            phrases += [f"without {phrase}" for phrase in denied]
    if surplus:
        yield "negation", ", ".join(phrases)


def _opposite(aligned: Aligned, gap: Gap, lex: Lexicon) -> tuple[int, str] | None:
    """Whether a word negates its counterpart by its form ("nesmí" for "smí"): +1 or -1 with it."""
    mine = {token.folded for token in aligned.mine.tokens[gap.i : gap.j]}
    theirs = {token.folded for token in aligned.theirs.tokens[gap.k : gap.m]}
    found = [(1, word) for word in _opposites(mine, theirs, lex)]
    found += [(-1, f"without {word}") for word in _opposites(theirs, mine, lex)]
    return next(iter(found), None)


def _in(sentence: Sentence, start: int, end: int) -> list[Marker]:
    return [marker for marker in sentence.markers if marker.start < end and start < marker.end]


def _touching(sentence: Sentence, place: int) -> list[Marker]:
    return [marker for marker in sentence.markers if place in (marker.start, marker.end)]


def _negated(sentence: Sentence, start: int, end: int) -> list[str]:
    """The negations between two places; two markers of the same words are one."""
    found: dict[int, str] = {}
    for marker in _in(sentence, start, end):
        if marker.negates and not any(marker.start < place + 1 and place < marker.end for place in found):
            found[marker.start] = _text(sentence, marker)
    return list(found.values())


def _bearing(sentence: Sentence, start: int, end: int) -> list[tuple[str, list[int]]]:
    """The negations between two places, each with the places of the words it bears on."""
    return [
        (_text(sentence, marker), _targets(sentence, marker))
        for marker in _in(sentence, start, end)
        if marker.kind == "negation"
    ]


def _level(found: list[Marker], level: str) -> bool:
    return any(marker.level == level for marker in found)


def _clean(aligned: Aligned, gap: Gap) -> bool:
    """Whether nothing but markers and light words was changed."""
    return not any(aligned.mine.says(place) for place in range(gap.i, gap.j)) and not any(
        aligned.theirs.says(place) for place in range(gap.k, gap.m)
    )


def _text(sentence: Sentence, marker: Marker) -> str:
    return " ".join(token.text for token in sentence.tokens[marker.start : marker.end])


def _reworded_negations(mine: Sentence, held: tuple[Sentence, ...], lex: Lexicon) -> Iterator[str]:
    """Negations in only one of a claim's sentence and the evidence's nearest, by common words."""
    said = _said(mine)
    if not said or not held:
        return
    near = max(held, key=lambda other: len(said & _said(other)) / len(said | _said(other)))
    theirs = _said(near)
    if not said & theirs or len(said & theirs) < min(len(said), len(theirs)) * _MIN_SHARED:
        return
    (my_negated, my_phrases), (their_negated, their_phrases) = _denied(mine), _denied(near)
    if (my_negated - their_negated) & theirs:
        yield my_phrases
    elif (their_negated - my_negated) & said:
        yield f"without {their_phrases}"
    my_words, their_words = {token.folded for token in mine.tokens}, {token.folded for token in near.tokens}
    yield from _opposites(my_words, their_words, lex)
    yield from (f"without {word}" for word in _opposites(their_words, my_words, lex))


def _opposites(words: set[str], others: set[str], lex: Lexicon) -> list[str]:
    return [word for word in sorted(words - others) if (positive := lex.positive(word)) and positive in others]


def _said(sentence: Sentence) -> frozenset[str]:
    """The stems of the content words, negations left out."""
    denied = {
        place for marker in sentence.markers if marker.kind == "negation" for place in range(marker.start, marker.end)
    }
    return frozenset(
        token.stem for place, token in enumerate(sentence.tokens) if not token.light and place not in denied
    )


def _targets(sentence: Sentence, marker: Marker) -> list[int]:
    """The places of the words that a negation bears on: the next ones in its clause, or the last ones before it."""
    clause = sentence.tokens[marker.end - 1].clause
    said = [place for place, token in enumerate(sentence.tokens) if not token.light]
    after = [place for place in said if place >= marker.end and sentence.tokens[place].clause == clause]
    return after[:_TARGETS] or [place for place in said if place < marker.start][-_TARGETS:]


def _denied(sentence: Sentence) -> tuple[set[str], str]:
    """The stems of the words that a sentence negates, and its negations."""
    found = _bearing(sentence, 0, len(sentence.tokens))
    return {sentence.tokens[place].stem for _, places in found for place in places}, ", ".join(
        phrase for phrase, _ in found
    )
