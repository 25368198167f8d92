"""The names and codes of a question that stand in no searched passage, and those that no searched document speaks of in
any form.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from rag_core.domain.documents import Document
from rag_core.domain.indexing import indexing_of
from rag_core.domain.measurements import LibraryFacts, Measurements
from rag_core.domain.ports import Corpus
from rag_core.errors import RagError
from rag_core.facts import entities
from rag_core.facts.sentence.names import code_stands, codes
from rag_core.gating.nowhere import MAX_TEXTS, nowhere
from rag_core.language import terms, words
from rag_core.library.stored.packed import documents_of
from rag_core.retrieval.acronyms import listed
from rag_core.retrieval.query import core, expand

CODE_ROWS = 100  # passages by words in which a code is looked for
# libraries of which the words of all titles are kept: 10 microseconds a title, and each question asks for them; chosen
_KEPT = 8


def searched_documents(corpus: Corpus, rows: Sequence[int] | None) -> list[Document]:
    """The documents that hold any of these rows, in library order."""
    if rows is None:
        return list(corpus.documents)
    ids = documents_of(corpus.passages, rows)
    return [document for document in corpus.documents if document.id in ids]


def missing_entities(
    named: Sequence[str], language: str, corpus: Corpus, rows: Sequence[int] | None, facts: LibraryFacts
) -> tuple[str, ...]:
    """The entities that stand in no searched passage, heading, title or file name: a code as a whole, of anything else
    every word.

    A well-known acronym is there, too, where the words are that it stands for.
    """
    if not named:
        return ()
    languages = tuple(dict.fromkeys((language, *facts.languages)))
    titles = (*facts.names.values(), *facts.titles.values())

    def stands(word: str) -> bool:
        spellings = list(dict.fromkeys(term for code in languages for term in terms(word, code)))
        return not _words_of(titles, languages).isdisjoint(spellings) or bool(corpus.lexical.search(spellings, 1, rows))

    def code_stands_somewhere(code: str) -> bool:
        found = corpus.lexical.search([term for lang in languages for term in terms(code, lang)], CODE_ROWS, rows)
        passages = [corpus.passages[row] for row, _ in found]
        return any(
            code_stands(code, text)
            for text in (*titles, *(f"{p.text}\n{p.section}\n{p.header_text}" for p in passages))
        )

    def all_stand(text: str) -> bool:
        return all(stands(word.text) for word in words(text))

    def is_there(entity: str) -> bool:
        if codes(entity):
            return code_stands_somewhere(entity)
        full = listed(entity, language)
        return all_stand(entity) or bool(full and all_stand(full))

    return tuple(entity for entity in named if not is_there(entity))


@lru_cache(maxsize=_KEPT)
def _words_of(titles: tuple[str, ...], languages: tuple[str, ...]) -> frozenset[str]:
    """The index terms of titles in each of these languages."""
    return frozenset(term for text in dict.fromkeys(titles) for code in languages for term in terms(text, code))


def nowhere_spoken_of(
    measurements: Measurements, missing: Collection[str], corpus: Corpus, rows: Sequence[int] | None
) -> tuple[str, ...]:
    """The missing entities that no searched document names in any form (`rag_core.gating.nowhere`).

    Empty where this cannot be known: nothing was searched, a page could not be read or is still to be read, there is
    too much text to read, or a caller gave only some passages.
    """
    facts, language = measurements.library, measurements.understanding.language
    if (
        not missing
        or indexing_of(measurements.metadata) is not None
        or corpus.given is not None
        or not facts.passages
        or facts.unreadable
        or facts.pages + facts.passages > MAX_TEXTS
    ):
        return ()
    asked = core(expand(measurements.question), language)
    found = [entity for entity in entities(asked, language) if entity.text in missing]
    try:
        return nowhere(found, language, facts.languages, corpus.lexical.vocabulary(), _all_texts(corpus, rows))
    except RagError:  # a page cannot be read: nothing true can be said
        return ()


def _all_texts(corpus: Corpus, rows: Sequence[int] | None) -> Iterator[str]:
    """All that is known of any document, then the passages that were searched, then their pages, with running headers
    too.
    """
    for one in corpus.documents:
        yield "\n".join((one.name, one.title, one.date, *one.metadata.values.values()))
    for passage in corpus.passages if rows is None else (corpus.passages[row] for row in rows):
        yield "\n".join((passage.text, passage.section, passage.header_text))
    for one in searched_documents(corpus, rows):
        for page in range(1, one.page_count + 1):
            yield corpus.page_text(one.id, page)
