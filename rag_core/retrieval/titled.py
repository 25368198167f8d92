"""Finds the long documents that a question names by their title or file name: "Boeing" in "BOEING_2022_10K.pdf".

A report of a firm says its name on few of its pages, so that pages of other firms' reports come before them. The
passages of the documents that are named are ranked once more by themselves. A short document needs none of this: its
passages say what it is about.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import regex

from rag_core.domain.documents import Document
from rag_core.domain.passages import Passage
from rag_core.domain.ports import Corpus
from rag_core.language import LANGUAGES, fold

LONG = 50  # passages of a document from which its title is looked at: about 15 pages; chosen
MIN_LETTERS = 4  # in a name: a shorter one begins too many words; chosen
MIN_CAPITALS = 3  # letters of a name in capitals alone, which may begin a word: "CVS" in "CVSHEALTH"; chosen
_WORD = regex.compile(r"[\p{L}\p{M}]+|\p{N}+")


def titled_rows(named: Sequence[str], language: str, corpus: Corpus, rows: Sequence[int] | None) -> list[int]:
    """The rows of the long documents that a question names, ascending; empty where it names none, or all that is
    searched.

    `named` are the question's names, as `Understanding.entities` has them; `rows` those that may be found, None for
    all.
    """
    found = [row for own in _own_rows(named, language, corpus, rows).values() for row in own]
    return sorted(found) if len(found) < (len(corpus.passages) if rows is None else len(rows)) else []


@dataclass(frozen=True, slots=True)
class Titled:
    """The long documents that a question names, by id, and the names."""

    documents: frozenset[str]
    names: tuple[tuple[str, ...], ...]

    def is_another(self, passage: Passage) -> bool:
        """Whether a passage is of another document than those that are named, and has none of the names either."""
        if not self.documents or passage.document in self.documents:
            return False
        tokens = _words(passage.section, passage.header_text, passage.text)
        return not any(_stands(name, tokens) for name in self.names)


def titled(named: Sequence[str], language: str, corpus: Corpus) -> Titled:
    """The long documents that a question names, whether they are searched or not; arguments as for `titled_rows`."""
    return Titled(frozenset(_own_rows(named, language, corpus, None)), tuple(_names(named, language)))


def _own_rows(named: Sequence[str], language: str, corpus: Corpus, rows: Sequence[int] | None) -> dict[str, list[int]]:
    """For each long document that is named, where there are others, its rows that may be found."""
    names = list(_names(named, language))
    wanted = (
        [document for document in corpus.documents if _is_named(document, names)]
        if names and len(corpus.documents) > 1
        else []
    )
    allowed = None if rows is None else frozenset(rows)
    own = {
        document.id: [row for row in corpus.rows([document.id], {}) or () if allowed is None or row in allowed]
        for document in wanted
    }
    return {id: found for id, found in own.items() if len(found) >= LONG}


def _names(named: Iterable[str], language: str) -> Iterable[tuple[str, ...]]:
    """Each name's words as written, without function words before it; no numbers or short words alone."""
    small = _function_words(language)
    for name in named:
        words = _WORD.findall(name)
        while words and fold(words[0]) in small:
            words = words[1:]
        if words and not any(word.isnumeric() for word in words):
            yield tuple(words)


@cache
def _function_words(language: str) -> frozenset[str]:
    return frozenset(map(fold, LANGUAGES[language].function_words)) if language in LANGUAGES else frozenset()


def _is_named(document: Document, names: Collection[tuple[str, ...]]) -> bool:
    """Whether a name stands in the title or file name as whole words, also where these are written as one."""
    tokens = _title(document.title, document.name)
    return any(_stands(name, tokens) for name in names)


@lru_cache(maxsize=1 << 15)  # documents: with fewer than a library has, none would be found again; 20 MB at most
def _title(title: str, name: str) -> tuple[str, ...]:
    """The words of a document's title and file name: each question asks for those of all documents."""
    return _words(title, name)


def _words(*texts: str) -> tuple[str, ...]:
    return tuple(fold(word) for text in texts for word in _WORD.findall(text))


@lru_cache(maxsize=64)  # names of a question or two: all titles are held against each
def _whole(name: tuple[str, ...]) -> str:
    return "".join(map(fold, name))


def _stands(name: tuple[str, ...], tokens: Sequence[str]) -> bool:
    whole = _whole(name)
    if (
        len(name) == 1
        and name[0].isupper()
        and len(whole) >= MIN_CAPITALS
        and any(token.startswith(whole) for token in tokens)
    ):
        return True
    return len(whole) >= MIN_LETTERS and any(_begins(whole, tokens[at:]) for at in range(len(tokens)))


def _begins(whole: str, tokens: Sequence[str]) -> bool:
    """Whether the first of these words, written as one, are this name."""
    for token in tokens:
        if not whole.startswith(token):
            return False
        whole = whole[len(token) :]
        if not whole:
            return True
    return False
