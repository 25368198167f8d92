"""Finds an "only" that was moved to another word, and an amount of something that was changed.

"Only keepers may feed the goats" is not "keepers may feed only the goats", and most of the samples are not all of them.

"Only" is about what stands right behind it, in some languages before it. In English it may stand before or behind its verb and be about
anything that follows ("may only be opened by staff"). A claim is wrong where its "only" can be about nothing that the evidence's can be
about, though both have the words of either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_core.facts.differences.align import Sentence, read
from rag_core.facts.sentence.markers import Marker
from rag_core.language import LANGUAGES
from rag_core.language.place_words import PlaceRows

_MAX_TOKENS = 80  # words of a sentence; longer ones are tables or lists
_ONLY, _AMOUNTS = "only", ("no", "few", "some", "many", "most", "all", "not_all")  # levels of a quantifier
_MADE_OF = 2 / 3  # share of a claim's words that the sentence has, at least, as in `rag_core.facts.differences.places`
_FIRST = 2  # words behind an amount, one of which names what it is an amount of: "most samples", "most wet samples"
_NEAR = 10  # words from an amount to what it is an amount of: "alle im Frühjahr aus dem See entnommenen Proben"


def moved_restrictions(claim: str, evidence: str, lang: str) -> Iterator[str]:
    """Each "only" of a claim, with the word it is about, that its evidence has with other words only. Both are reading forms."""
    rows = LANGUAGES[lang].places if lang in LANGUAGES else None
    if rows is None:
        return
    theirs = [one for one in read(evidence, lang) if len(one.tokens) <= _MAX_TOKENS]
    told = [(one, focus) for one in theirs for _, focus in _focuses(one, evidence, rows)]
    for mine in read(claim, lang):
        if len(mine.tokens) > _MAX_TOKENS or not told:
            continue
        words = {token.stem for token in mine.tokens}
        for marker, focus in _focuses(mine, claim, rows):
            near = [(one, other) for one, other in told if other & words and focus & {token.stem for token in one.tokens}]
            if focus and near and not any(focus & other for _, other in told):
                yield next(f"{_text(mine, marker)} {token.text}" for token in mine.tokens if token.stem in focus)


def turned_universals(claim: str, evidence: str, lang: str) -> Iterator[str]:
    """The converse of a rule: "every member is an apprentice" for "every apprentice is a member", as "every member"."""
    held, rows = read(evidence, lang), LANGUAGES[lang].places if lang in LANGUAGES else None
    for mine in read(claim, lang):
        near = _nearest(mine, held) if _universals(mine) else []
        told = [_run(one, evidence, range(marker.end, len(one.tokens))) for one in near for marker in _universals(one)]
        known, words = {stem for of in told for stem in of}, {token.stem for token in mine.tokens}
        runs = [(marker, _run(mine, claim, range(marker.end, len(mine.tokens)))) for marker in _universals(mine)]
        firsts = {of[0] for _, of in runs if of}
        beside = any(other and other[0] in words and other[0] not in firsts for other in told)
        for marker, of in runs if beside else ():
            head_last = not (rows and rows.behind) and not known.isdisjoint(of)  # "every third-floor room" is about rooms
            if not of or of[0] in known or head_last or _opens_list(mine, claim, marker.end, of[-1]):
                continue
            if any(of[0] in {token.stem for token in one.tokens} for one in near):
                yield f"{_text(mine, marker)} {next(token.text for token in mine.tokens if token.stem == of[0])}"


def _opens_list(sentence: Sentence, text: str, start: int, last: str) -> bool:
    """Whether a comma stands behind the first word from a place on that has this stem: the order of a list says nothing."""
    places = range(start, len(sentence.tokens))
    end = next((sentence.tokens[place].end for place in places if sentence.tokens[place].stem == last), len(text))
    return text[end:].lstrip().startswith(",")


def _nearest(mine: Sentence, theirs: Sequence[Sentence]) -> list[Sentence]:
    """The sentences that have most of a claim's words; none where they have less than `_MADE_OF` of them."""
    said = mine.said
    counts = [len(said & one.terms) for one in theirs]
    best = max(counts, default=0)
    return [one for one, count in zip(theirs, counts, strict=True) if count == best] if said and best >= _MADE_OF * len(said) else []


def _universals(sentence: Sentence) -> list[Marker]:
    return [one for one in _amounts(sentence) if one.level == "all"]


def changed_amounts(claim: str, evidence: str, lang: str) -> Iterator[str]:
    """The words for an amount of a claim ("all") that the evidence has otherwise before the same word ("most"), wherever that stands."""
    held = read(evidence, lang)
    for mine in read(claim, lang):
        near = _nearest(mine, held) if _amounts(mine) else []
        told = [(marker, _run(one, evidence, range(marker.end, len(one.tokens)))) for one in near for marker in _amounts(one)]
        for marker in _amounts(mine):
            words = _within(mine, marker)
            same = [other for other, of in told if not words.isdisjoint(of[:_FIRST])]
            if any(map(marker.against, same)) and not any(other.level == marker.level for other in same):
                yield _text(mine, marker)


def _amounts(sentence: Sentence) -> list[Marker]:
    listed = len(sentence.tokens) > _MAX_TOKENS
    return [] if listed else [one for one in sentence.markers if one.kind == "quantifier" and one.level in _AMOUNTS]


def _within(sentence: Sentence, marker: Marker) -> frozenset[str]:
    """The words close behind a marker, up to the next one of its kind or a stop."""
    end = min([one.start for one in sentence.markers if one.kind == marker.kind and one.start >= marker.end], default=len(sentence.tokens))
    near = [token for token in sentence.tokens[marker.end : min(end, marker.end + _NEAR)]]
    return frozenset(token.stem for token in near if token.clause == sentence.tokens[marker.end - 1].clause)


def _text(sentence: Sentence, marker: Marker) -> str:
    return " ".join(token.text for token in sentence.tokens[marker.start : marker.end])


def _focuses(sentence: Sentence, text: str, rows: PlaceRows) -> Iterator[tuple[Marker, frozenset[str]]]:
    """Each "only" of a sentence with the stems of the words that it may be about."""
    tokens = sentence.tokens
    for marker in sentence.markers:
        if marker.kind != "quantifier" or marker.level != _ONLY or _before_clause(sentence, marker, rows):
            continue
        if tokens[marker.start].folded in rows.only_behind:
            yield marker, _before(sentence, marker.start)
            continue
        behind = range(marker.end, len(tokens))
        last = marker.start - 1
        floats = bool(rows.only_floats) and last >= 0 and (tokens[last].folded in rows.only_floats or sentence.says(last))
        found = frozenset(tokens[n].stem for n in behind if sentence.says(n)) if floats else frozenset(_run(sentence, text, behind))
        yield marker, found or _before(sentence, marker.start)


def _before_clause(sentence: Sentence, marker: Marker, rows: PlaceRows) -> bool:
    """Whether an "only" is about a condition: "members may vote only if they live abroad" is "only members who live abroad may vote"."""
    word = sentence.tokens[marker.end].folded if marker.end < len(sentence.tokens) else ""
    return word in rows.clause_ends or any(words.fullmatch(word) for words in rows.clauses.values())


def _before(sentence: Sentence, place: int) -> frozenset[str]:
    """The last word before a place that says something."""
    return frozenset([sentence.tokens[n].stem for n in range(place - 1, -1, -1) if sentence.says(n)][:1])


def _run(sentence: Sentence, text: str, places: range) -> tuple[str, ...]:
    """The next words that say something, up to a small word behind them or a stop."""
    found, tokens = list[str](), sentence.tokens
    for place in places:
        stops = any(sign in text[tokens[place - 1].end : tokens[place].start] for sign in ",;:.")
        if found and (stops or not sentence.says(place)):
            break
        if sentence.says(place):
            found.append(tokens[place].stem)
    return tuple(found)
