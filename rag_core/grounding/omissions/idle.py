"""The stretches of a sentence that a language model may leave out, because the rest says the same without them.

A stretch may go only where a list says so of each of its words: "in fact,", "(see the map)", and a name with its title between commas.
Whatever else is added to a statement may undo it, in any words ("the alarm is armed; the alarm was sold", "..., because the inspector
was bribed", "the guard, a dummy, ..."), so it stays. The lists are in each language's file; without them nothing may go.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from rag_core.facts.differences.values import values
from rag_core.facts.sentence.lexicon import lexicon
from rag_core.facts.sentence.markers import markers
from rag_core.grounding.omissions.words import limit_words
from rag_core.ingest.normalise import normalise
from rag_core.language import fold

_COMMA = regex.compile(r"[,،，]\s+")
_EDGES = ".,:;!?…।。，、；：\"'“”„‚‘’«»‹›()[]{}–—"  # not part of a word; a minus, "%", "€" and "§" belong to it
_PARTS = regex.compile(r"[.,:;!?…।。，、；：()\[\]{}–—]")  # what parts two words; quotation marks do not
BAR = "|"
_OPENING = "\"'“”„‚‘’«»‹›["
_SIGNED = regex.compile(r"\(?([–—]\p{Sc}?\p{Nd}.*)|(\(\p{Sc}?\p{Nd}[\p{Nd}.,]*%?\))")  # a dash for a minus; a loss in an account: "(1,234)"
_DIGIT, _LETTER = regex.compile(r"\p{Nd}"), regex.compile(r"\p{L}")
_BARE = regex.compile(r"[^\p{L}\p{Sc}%‰°]*")  # a number that says nothing of its unit

Words = tuple[str, ...]


def stretches(text: str, language: str) -> Iterator[tuple[str, bool]]:
    """A clause at its commas, as far as a stretch may be left out: an opener, a name with its title."""
    limits = limit_words(language)
    comma = _COMMA.search(text)
    if limits is None or comma is None:
        yield text, False
        return
    if limits.openers.fullmatch(text[: comma.start()].strip()):
        yield text[: comma.start()], True
        yield from stretches(text[comma.end() :], language)
        return
    first, *rest = _COMMA.split(text)
    if len(rest) == 2 and _is_named(rest[0], language) and not any(word in limits.joins for word in map(fold, written(rest[1]))):
        yield from ((first, False), (rest[0], True), (rest[1], False))
    else:
        yield text, False


def _is_named(text: str, language: str) -> bool:
    """Whether a stretch between commas is a name behind its title; only a script with capitals shows that nothing but names follows."""
    limits, (title, *names) = limit_words(language), text.split()
    known = limits is not None and bool(limits.titles.fullmatch(title) or fold(title).rstrip(".") in lexicon(language).titles)
    return known and bool(names) and all(word[0].isupper() for word in names)


def only_points(text: str, language: str) -> bool:
    """Whether a bracket only says where to look: "see", with words for places of a document."""
    limits = limit_words(language)
    words = [fold(word) for word in written(text)]
    return limits is not None and any(word in limits.see for word in words) and limits.places.issuperset(set(words) - limits.see)


def is_figure(text: str, language: str) -> bool:
    """Whether a cell holds figures with their units, dates or times, and no other word."""
    found = values(text, language)
    spans = [(one.start, one.end) for one in found.quantities]
    spans += [(one.start, one.end) for one in found.dates] + [(one.start, one.end) for one in found.times]
    rest = list(text)
    for start, end in spans:
        rest[start:end] = " " * (end - start)
    return bool(_DIGIT.search(text)) and not _LETTER.search("".join(rest))


def wants_head(cell: str, head: str) -> bool:
    """Whether a figure has no unit of its own, and the head of its column may say one."""
    return bool(_BARE.fullmatch(cell) and _LETTER.search(head))


def binds(text: str, language: str) -> bool:
    """Whether a text denies something or holds a condition; in a language without lists any may."""
    limits = limit_words(language)
    if limits is None:
        return True
    words = [fold(word) for word in written(text)]
    if any(map(lexicon(language).positive, words)) or any(one.negates for one in markers(words, language)):  # "neplatí", "unpaid"
        return True
    return any(one.search(text) for one in (limits.conditions, limits.behind, limits.kept))


def written(text: str, without: frozenset[str] = frozenset()) -> Words:
    """The words of a text as they are written but for their case, and without the stops at their edges."""
    found = (_word(word) for word in normalise(text).text.split())
    return tuple(word for word in found if word and word not in without)


def parted(text: str) -> Words:
    """The words of a text as `written` has them, a bar behind each that a stop, a dash or a bracket parts from the next one.

    "No, price changes are planned." has the words of "No price changes are planned.", and says the contrary.
    """
    found: list[str] = []
    for token in normalise(text).text.split():
        word = _word(token)
        bare = token.strip(_EDGES)
        head, tail = token.partition(bare)[::2] if bare else (token, "")
        if found and _PARTS.search(head):
            found[-1] = found[-1].rstrip(BAR) + BAR
        if word:
            found.append(word + BAR * bool(_PARTS.search(tail)))
    return tuple(found)


def _word(word: str) -> str:
    """A word without the stops at its edges, but for those that make a number negative."""
    signed = _SIGNED.match(word.lstrip(_OPENING))
    found = word.strip(_EDGES) if signed is None else signed[1].rstrip(_EDGES) if signed[1] else signed[2]
    return found.casefold()
