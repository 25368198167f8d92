"""Deleting a document everywhere: what counts as its words, and what else may hold them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

import regex

from rag_core.library.stored.entry import Accepted, Entry
from rag_core.library.stored.snapshot import Snapshot

WORD_CHARS = 3  # a shorter word tells no document from another
STEM_CHARS = 5  # a word of so many may be the beginning of another form of itself
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")

Mentions = Callable[[str], bool]  # whether a text uses a word that stood in the erased documents alone


@dataclass(frozen=True, slots=True)
class Erased:
    """How many kept questions, results of runs, labels and readers' words went with documents deleted everywhere."""

    decisions: int = 0
    results: int = 0
    labels: int = 0
    feedback: int = 0


# the documents' ids, the last version that has them, their words
OnErase = Callable[[Collection[str], int, Mentions], Erased]


def mentions_of(snapshot: Snapshot, ids: Collection[str], waiting: Iterable[Accepted] = ()) -> Mentions:
    """Whether a text names one of these documents, or uses a word, or a longer form of it, that no other document has.

    A document is known only as long as it is in `snapshot`, the newest version, or among the sources that are
    `waiting`.
    """
    gone = [entry for entry in snapshot.entries if entry.document.id in ids]
    names = {name for entry in gone for name in entry.names} | {
        name for row in waiting if row.id in ids for name in row.names
    }
    texts = ((entry.document.id in ids, text) for entry in snapshot.entries for text in _texts(snapshot, entry))
    return mentions_in(names, texts)


def mentions_in(names: Collection[str], texts: Iterable[tuple[bool, str]]) -> Mentions:
    """The same by the `names` of documents that go, and `texts`, each with whether it is of one that goes."""
    names = {_folded(name) for name in names}
    own: set[str] = set()
    others: set[str] = set()
    for goes, text in texts:
        (own if goes else others).update(_words(text))
    for name in names:
        own.update(_words(name))
    own -= others

    def mentions(text: str) -> bool:
        folded = _folded(text)
        if any(name in folded for name in names):
            return True
        return any(word[:end] in own for word in _words(folded) for end in {len(word), *range(STEM_CHARS, len(word))})

    return mentions


def _texts(snapshot: Snapshot, entry: Entry) -> Iterator[str]:
    metadata = entry.document.metadata
    yield from (*entry.names, entry.document.title, *metadata.values.keys(), *metadata.values.values())
    for passage in snapshot.passages_of(entry.document.id):
        yield from (passage.text, passage.section, passage.header_text)


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(_folded(text)) if len(word) >= WORD_CHARS}


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
