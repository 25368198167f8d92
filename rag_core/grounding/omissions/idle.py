"""The stretches of a sentence that a language model may leave out, because the rest says the same without them.

A stretch may go only where a list says so of each of its words: "in fact,", "(see the map)", and a name with its title
between commas. Whatever else is added to a statement may undo it, in any words ("the alarm is armed; the alarm was
sold", "..., because the inspector was bribed", "the guard, a dummy, ..."), so it stays. The lists are in each
language's file; without them nothing may go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

import regex

from rag_core.facts.differences.values import values
from rag_core.facts.sentence.lexicon import cover, lexicon
from rag_core.facts.sentence.markers import markers
from rag_core.ingest.normalise import normalise
from rag_core.language import fold, limit_words

_COMMA = regex.compile(r"[,،，]\s+")
_POINTS = regex.compile(r"\s*[(\[]([^()\[\]]*+)[)\]]")  # a bracket with the blank before it
_EDGES = ".,:;!?…।。，、；：\"'“”„‚‘’«»‹›()[]{}–—"  # not part of a word; a minus, "%", "€" and "§" belong to it
STOPS = ".,:;।。，、；： "
_DIGIT, _LETTER = regex.compile(r"\p{Nd}"), regex.compile(r"\p{L}")
_BARE = regex.compile(r"[^\p{L}\p{Sc}%‰°]*")  # a number that says nothing of its unit


def only_deleted(said: str, told: str, language: str) -> bool:
    """Whether a text is a sentence without stretches that may go; what follows an opener may be capitalised."""
    said, pieces = said.strip().rstrip(STOPS), [*_stretches(told.strip().rstrip(STOPS), language)]
    openers = len([*takewhile(lambda piece: piece[1], pieces)])
    begun = said[:1].lower() + said[1:]
    return any(_joins_to(said if not gone else begun, pieces[gone:]) for gone in range(openers + 1))


def _joins_to(said: str, pieces: Sequence[tuple[str, bool]]) -> bool:
    """Whether a text is these pieces in their order, each that is free there or not."""
    places = {0}
    for piece, free in pieces:
        places = {place + len(piece) for place in places if said.startswith(piece, place)} | (places if free else set())
    return bool(said) and len(said) in places


def _stretches(text: str, language: str) -> Iterator[tuple[str, bool]]:
    """A sentence as stretches, each with whether it may go: an opener, a name's title, a pointing bracket."""
    limits = limit_words(language)
    while limits and (comma := _COMMA.search(text)) and limits.openers.fullmatch(text[: comma.start()].strip()):
        yield text[: comma.end()], True
        text = text[comma.end() :]
    first, *rest = _COMMA.split(text)
    named = len(rest) == 2 and _is_named(rest[0], language)
    if limits is None or not named or any(word in limits.joins for word in map(fold, written(rest[1]))):
        yield from _parted(text, language)
        return
    behind = len(text) - len(rest[1]) - 1
    yield from _parted(text[: len(first)], language)
    yield text[len(first) : behind], True
    yield from _parted(text[behind:], language)


def _parted(text: str, language: str) -> Iterator[tuple[str, bool]]:
    end = 0
    for bracket in _POINTS.finditer(text):
        yield text[end : bracket.start()], False
        yield bracket[0], only_points(bracket[1], language)
        end = bracket.end()
    yield text[end:], False


def _is_named(text: str, language: str) -> bool:
    """Whether a stretch between commas is a name behind its title, as only capitals show."""
    limits, found = limit_words(language), text.split()
    if limits is None or len(found) < 2 or not all(word[0].isupper() for word in found[1:]):
        return False
    title = found[0]
    return bool(limits.titles.fullmatch(title)) or fold(title).rstrip(".") in lexicon(language).facts.titles


def only_points(text: str, language: str) -> bool:
    """Whether a bracket only says where to look: "see", with words for places of a document."""
    limits = limit_words(language)
    words = [fold(word) for word in written(text)]
    return (
        limits is not None
        and any(word in limits.see for word in words)
        and limits.places.issuperset(set(words) - limits.see)
    )


def is_figure(text: str, language: str) -> bool:
    """Whether a cell holds figures with their units, dates or times, and no other word."""
    found = values(text, language)
    spans = [(one.start, one.end) for one in found.quantities]
    spans += [(one.start, one.end) for one in found.dates] + [(one.start, one.end) for one in found.times]
    covered = cover(text, spans)
    rest = "".join(sign for sign, held in zip(text, covered, strict=True) if not held)
    return bool(_DIGIT.search(text)) and not _LETTER.search(rest)


def wants_head(cell: str, head: str) -> bool:
    """Whether a figure has no unit of its own, and the head of its column may say one."""
    return bool(_BARE.fullmatch(cell) and _LETTER.search(head))


def binds(text: str, language: str) -> bool:
    """Whether a text denies something or holds a condition; in a language without lists any may."""
    limits = limit_words(language)
    if limits is None:
        return True
    words = [fold(word) for word in written(text)]
    # "neplatí", "unpaid"
    if any(map(lexicon(language).positive, words)) or any(one.negates for one in markers(words, language)):
        return True
    return any(one.search(text) for one in (limits.conditions, limits.behind, limits.kept))


def written(text: str) -> tuple[str, ...]:
    """The words of a text as they are written but for their case, and without the stops at their edges."""
    found = (word.strip(_EDGES).casefold() for word in normalise(text).text.split())
    return tuple(word for word in found if word)


def exact(text: str, without: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The words of a text, sign for sign but for the stops behind them."""
    found = (word.rstrip(STOPS) for word in normalise(text).text.split())
    return tuple(word for word in found if word and word not in without)
