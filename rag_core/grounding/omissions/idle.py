"""The stretches of a sentence that a language model may leave out, because the rest says the same without them.

A stretch may go for its kind (an aside, a reason, a bracket that points elsewhere), and only where no word of it may bear on the rest. The
words are in each language's file; without them nothing may go.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from rag_core.facts.lexicon import lexicon
from rag_core.facts.markers import markers
from rag_core.grounding.omissions.words import limit_words
from rag_core.ingest.normalise import normalise
from rag_core.language import fold

COMMA = regex.compile(r"[,،，]\s+")
_EDGES = ".,:;!?…।。，、；：\"'“”„‚‘’«»‹›()[]{}–—"  # not part of a word; a minus, "%", "€" and "§" belong to it
_OPENING = "\"'“”„‚‘’«»‹›["
_SIGNED = regex.compile(r"\(?([–—]\p{Sc}?\p{Nd}.*)|(\(\p{Sc}?\p{Nd}[\p{Nd}.,]*%?\))")  # a dash for a minus; a loss in an account: "(1,234)"
DIGIT = regex.compile(r"\p{Nd}")
_BESIDE = "party"  # the kind of marker that says who, not how

Words = tuple[str, ...]


def is_clause_of_its_own(text: str, language: str) -> bool:
    """Whether a clause tells of another thing that was spoken of, and says nothing that may bear on the rest.

    "Trainees get time off" may be an exception to it, "the readings are written down" hardly. Where ", and" may also end a list of things,
    a verb must be there.
    """
    limits, (first, *_) = limit_words(language), (*text.split(), "")
    if limits is None or not limits.definite.fullmatch(first):
        return False
    spoken = not limits.predicates or not limits.predicates.isdisjoint(written(text))
    return spoken and says_little(text, language)


def stretches(text: str, language: str) -> Iterator[tuple[str, bool]]:
    """A clause at its commas, as far as a stretch may be left out: an opener, an aside, a reason at its end."""
    limits = limit_words(language)
    comma = COMMA.search(text)
    if limits is None or comma is None:
        yield text, False
        return
    if limits.openers.fullmatch(text[: comma.start()].strip()):
        yield text[: comma.start()], True
        yield from stretches(text[comma.end() :], language)
        return
    first, *rest = COMMA.split(text)
    begins = rest[0].lstrip()
    if len(rest) == 1 and limits.reasons.match(begins) and _bounds_nothing(begins, language) and not _denies(first, language):
        yield from ((first, False), (rest[0], True))
    elif len(rest) == 2 and _is_aside(begins, language) and not any(word in limits.joins for word in map(fold, written(rest[1]))):
        yield from ((first, False), (rest[0], True), (rest[1], False))
    else:
        yield text, False


def _is_aside(text: str, language: str) -> bool:
    """Whether a stretch between commas only says what the thing before it is as well, or what it is called."""
    limits, words = limit_words(language), [fold(word) for word in written(text)]
    titled = (
        len(words) > 1 and words[0].rstrip(".") in lexicon(language).titles and not any(word[:1].islower() for word in text.split()[1:])
    )
    return limits is not None and (titled or bool(limits.asides.match(text))) and says_little(text, language)


def only_points(text: str, language: str) -> bool:
    """Whether a bracket only says where to look."""
    limits = limit_words(language)
    return limits is not None and bool(limits.see.search(text)) and says_little(text, language)


def binds(text: str, language: str) -> bool:
    """Whether a cell denies something or holds a condition; in a language without lists any may."""
    limits = limit_words(language)
    if limits is None:
        return True
    return _denies(text, language) or any(one.search(text) for one in (limits.conditions, limits.behind, limits.kept))


def _denies(text: str, language: str) -> bool:
    words = [fold(word) for word in written(text)]
    return any(map(lexicon(language).positive, words)) or any(one.negates for one in markers(words, language))


def says_little(text: str, language: str) -> bool:
    """Whether a stretch denies and counts nothing, refers to nothing that was stated, and bounds nothing."""
    limits, words = limit_words(language), [fold(word) for word in written(text)]
    if limits is None or limits.refers.search(text) or any(map(lexicon(language).positive, words)):  # "neplatí", "unpaid"
        return False
    return all(one.kind == _BESIDE for one in markers(words, language)) and _bounds_nothing(text, language)


def _bounds_nothing(text: str, language: str) -> bool:
    """Whether a stretch holds no number, no condition and no bound, and no word that may bear on the rest of its sentence."""
    limits, known = limit_words(language), lexicon(language)
    if limits is None or DIGIT.search(text):
        return False
    words = [fold(word) for word in written(text)]
    if any(known.numbers.get(word, 1) != 1 or word in known.months for word in words):  # one is an article in many languages
        return False
    bounding = (limits.conditions, limits.behind, limits.kept, limits.bounded, limits.bounds, limits.modal, limits.bears)
    return not any(pattern.search(text) for pattern in bounding)


def written(text: str, without: frozenset[str] = frozenset()) -> Words:
    """The words of a text as they are written but for their case, and without the stops at their edges."""
    found = (_word(word) for word in normalise(text).text.split())
    return tuple(word for word in found if word and word not in without)


def _word(word: str) -> str:
    """A word without the stops at its edges, but for those that make a number negative."""
    signed = _SIGNED.match(word.lstrip(_OPENING))
    found = word.strip(_EDGES) if signed is None else signed[1].rstrip(_EDGES) if signed[1] else signed[2]
    return found.casefold()
