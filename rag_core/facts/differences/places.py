"""Finds nouns that have exchanged their parts in a sentence: "the auditor sends the treasurer a list" and the other way round.

A preposition, a postposition, an article's case or an ending says which part a noun has. Of two words of a claim that stand in a sentence
of the evidence, each has the part that the other one has there: "from Oslo to Bergen" for "from Bergen to Oslo", "der Kassenwart ... dem
Prüfer". A passive's doer has the part of a subject, so that a rewording in the active is none. `role_swap`, beside this, sees it where the
order of words alone says who acts. Made for the languages whose files have `places`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, pairwise

from rag_core.facts.differences.align import Sentence, Token, read
from rag_core.facts.differences.values import values
from rag_core.facts.sentence.numbers import Quantity
from rag_core.language import LANGUAGES, fold, words
from rag_core.language.place_words import PlaceRows

_MAX_TOKENS = 80  # words of a sentence; longer ones are tables or lists
_MADE_OF = 2 / 3  # share of a claim's words that the sentence has, at least, by hand: with fewer in common another verb may turn the parts
_MAX_MOVED = 12  # words with another part that are compared with one another; more of them are another statement
_BEFORE, _PREPOSITION = 30, 2  # characters before a value, and words of them of which one may be its preposition: "to about 300"
_OBLIGED = ("obligation", "recommendation")  # levels of a modal at which a Hindi subject has the mark of an object
_SUBJECT, _OBJECT = "N", "A"  # cases; the subject of a passive is the object of what is done
_HALF = ";"  # between two statements of a sentence
_ANY_FORM = frozenset("NADG")
_DOER = "I"  # the case of a doer beside a passive

Parts = frozenset[str]  # what a word may be: a case, with its gender where an article shows it, or a preposition with its case left away


def exchanged_parts(claim: str, evidence: str, lang: str) -> Iterator[str]:
    """Two words of a claim that have each other's part in the evidence's nearest sentence, as "treasurer … auditor".

    Both are reading forms.
    """
    rows = LANGUAGES[lang].places if lang in LANGUAGES else None
    if rows is None:
        return
    whole, halves = _told([evidence], lang), _told(evidence.split(_HALF), lang) if _HALF in evidence else []
    for mine in read(claim, lang):
        said = mine.said
        theirs = halves if any(said <= one.said for one, _ in halves) else whole  # in the other half a word may have another part
        counts = [len(said & one.said) for one, _ in theirs]
        best = max(counts, default=0)
        if len(mine.tokens) > _MAX_TOKENS or best < max(2, _MADE_OF * len(said)):
            continue
        near = [pair for pair, count in zip(theirs, counts, strict=True) if count == best]
        found = [_exchanged(mine, claim, one, text, rows) for one, text in near]
        if all(found):
            yield found[0]


def _told(texts: Iterable[str], lang: str) -> list[tuple[Sentence, str]]:
    """The sentences of texts, each with its text."""
    return [(one, text) for text in texts for one in read(text, lang) if len(one.tokens) <= _MAX_TOKENS]


def changed_directions(claim: str, evidence: str, lang: str) -> Iterator[str]:
    """The values of a claim to which something rose, say, where the evidence says by how much, or the other way round."""
    rows = LANGUAGES[lang].places if lang in LANGUAGES else None
    if rows is None or not rows.to_how_much:
        return
    told: dict[str, set[str]] = {}
    for other in values(evidence, lang).quantities:
        told.setdefault(other.value, set()).add(_direction(evidence, other, rows))
    for one in values(claim, lang).quantities:
        mine, theirs = _direction(claim, one, rows), told.get(one.value)
        if mine and theirs and all(theirs) and mine not in theirs:
            yield one.text


def _direction(text: str, one: Quantity, rows: PlaceRows) -> str:
    """How a value's preposition tells of a change: by how much, or to how much; empty where there is none."""
    before = [fold(word.text) for word in words(text[max(0, one.start - _BEFORE) : one.start])][-_PREPOSITION:]
    return next((name for name, row in (("by", rows.by_how_much), ("to", rows.to_how_much)) if not row.isdisjoint(before)), "")


def _exchanged(mine: Sentence, claim: str, other: Sentence, evidence: str, rows: PlaceRows) -> str:
    """The first two words that have exchanged their parts; empty for none."""
    if rows.behind and (_obliges(mine) or _obliges(other)):
        return ""
    here, there = _parts(mine, claim, rows), _parts(other, evidence, rows)
    both = {word: _of_one_gender(here[word], there[word]) for word in here if word in there}
    moved = {word: pair for word, pair in both.items() if all(pair) and pair[0].isdisjoint(pair[1])}
    if len(moved) > _MAX_MOVED:
        return ""
    for one, two in combinations(moved, 2):
        (one_here, one_there), (two_here, two_there) = moved[one], moved[two]
        if one.lstrip("-")[0].isdecimal() is not two.lstrip("-")[0].isdecimal():
            continue  # a date that was moved has exchanged nothing
        mutual = one_here | two_here <= rows.mutual | {_SUBJECT}
        listed = _is_list(mine, claim, one, two, rows) or _is_list(other, evidence, one, two, rows)
        if not mutual and not listed and one_here & two_there and two_here & one_there:
            return " … ".join(token.text for token in mine.tokens if token.stem in (one, two))
    return ""


def _is_list(sentence: Sentence, text: str, one: str, two: str, rows: PlaceRows) -> bool:
    """Whether nothing but other items stands between two words of a sentence: there the order says nothing."""
    first, last = sorted(place for place, token in enumerate(sentence.tokens) if token.stem in (one, two))
    between = sentence.tokens[first + 1 : last]
    parted = any(sign in text[sentence.tokens[first].end : sentence.tokens[last].start] for sign in ",;/|")
    joined = any(token.folded in rows.joins for token in between)
    plain = all(sentence.says(place) or sentence.tokens[place].folded in (*rows.joins, *rows.articles) for place in range(first + 1, last))
    return (parted or joined) and plain


def _obliges(sentence: Sentence) -> bool:
    return any(marker.kind == "modality" and marker.level in _OBLIGED for marker in sentence.markers)


def _of_one_gender(here: Parts, there: Parts) -> tuple[Parts, Parts]:
    """The parts of a word in two sentences, as cases without genders: only of genders that it may have in both."""
    genders = [{part[0] for part in parts if len(part) == 2 and part[0].islower() and part[1].isupper()} for parts in (here, there)]
    kept = genders[0] & genders[1] if all(genders) else genders[0] | genders[1]
    return _forms(here, kept), _forms(there, kept)


def _forms(parts: Parts, genders: set[str]) -> Parts:
    bare = {part for part in parts if not (len(part) == 2 and part[0].islower() and part[1].isupper())}
    return frozenset(bare | {part[1] for part in parts - bare if part[0] in genders})


def _parts(sentence: Sentence, text: str, rows: PlaceRows) -> Mapping[str, Parts]:
    """The parts that each word of a sentence may have, by its stem, of the words that stand there once."""
    tokens = sentence.tokens
    counts = Counter(token.stem for token in tokens)
    passive = any(token.folded in rows.passives for token in tokens)
    found = _behind(sentence, rows) if rows.behind else _before(sentence, text, rows, passive)
    return {tokens[place].stem: parts for place, parts in found.items() if counts[tokens[place].stem] == 1}


def _behind(sentence: Sentence, rows: PlaceRows) -> dict[int, Parts]:
    """Each word with the postposition right behind it; a word with none may be a subject."""
    tokens, found = sentence.tokens, {}
    for place, (token, after) in enumerate(pairwise((*tokens, None))):
        if token is not None and sentence.says(place) and token.folded not in rows.behind:
            mark = after.folded if after is not None and after.folded in rows.behind else _SUBJECT
            found[place] = frozenset({_SUBJECT if mark in rows.doers else mark})
    return found


def _before(sentence: Sentence, text: str, rows: PlaceRows, passive: bool) -> dict[int, Parts]:
    """Each noun with its preposition, else with the cases that its article or its ending shows."""
    found: dict[int, Parts] = {}
    articles = {fold(word): frozenset(forms.split()) for word, forms in rows.articles.items()}
    mark, forms, last = "", frozenset[str](), None
    for place, token in enumerate(sentence.tokens):
        apart = last is not None and (last.clause != token.clause or text[last.end : token.start].strip() not in ("", "-"))
        if apart:
            mark, forms = "", frozenset()
        if token.folded in rows.before:
            mark, forms = token.folded, frozenset()
        elif token.folded in articles:
            forms = articles[token.folded]
            mark = mark if last is not None and last.folded in rows.before and not apart else ""
        elif not sentence.says(place):
            mark, forms = "", frozenset()
        elif _is_of_date(sentence, text, place):
            mark, forms = "", frozenset()
        elif not rows.nouns_capitalised or token.text[0].isupper() or token.text[0].isdecimal():
            found[place] = _of_word(token, mark, forms, rows, passive)
            if rows.nouns_capitalised or rows.endings:
                mark, forms = "", frozenset()  # what comes next has a mark of its own; without cases a name may have several words
        last = token
    return found


def _is_of_date(sentence: Sentence, text: str, place: int) -> bool:
    """Whether a word is a number that a sign joins to another number, as those of "2023-04-14" are: it has no part of its own."""
    tokens = sentence.tokens
    if not tokens[place].text.lstrip("-")[:1].isdecimal():
        return False
    joined = (
        tokens[n + 1].text.lstrip("-")[:1].isdecimal() and text[tokens[n].end : tokens[n + 1].start] in ("", "-", ".", "/")
        for n in (place - 1, place)
        if 0 <= n < len(tokens) - 1 and tokens[n].text[-1:].isdecimal()
    )
    return any(joined)


def _of_word(token: Token, mark: str, forms: Parts, rows: PlaceRows, passive: bool) -> Parts:
    if mark:
        return frozenset({_SUBJECT if mark in rows.doers and (passive or not rows.passives) else mark})
    if forms:
        return frozenset(part.replace(_SUBJECT, _OBJECT) for part in forms) if passive else forms
    if rows.nouns_capitalised:
        return _ANY_FORM  # a noun without an article shows none
    shown = next((name for name, endings in rows.endings.items() if endings.fullmatch(token.folded)), _SUBJECT)
    return frozenset({_SUBJECT if shown == _DOER and passive else shown})
