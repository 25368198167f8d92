"""The content words of a question that stand in the retrieved passages (by lemma or stem, by synonym, optionally by
cosine), and its names and codes that stand in no searched passage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from rag_core.domain.documents import Document
from rag_core.domain.measurements import KeywordMatch, LibraryFacts
from rag_core.domain.ports import Corpus, Vectors
from rag_core.errors import InvalidSetting
from rag_core.facts.sentence.names import code_stands, codes
from rag_core.language import (
    fold,
    forms,
    synonyms,
    terms,
    word_texts,
    words,
)
from rag_core.library.stored.packed import documents_of
from rag_core.retrieval.acronyms import listed

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
    """The entities in no searched passage, heading, title or name: codes as a whole, else words or long forms."""
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
    return frozenset(term for text in dict.fromkeys(titles) for code in languages for term in terms(text, code))


MAX_WORDS = 400  # distinct words compared by cosine, the most the option may cost


def parse_synonyms(text: str) -> dict[str, tuple[str, ...]]:
    """Read "price=cost,fee; leave=vacation" as {folded word: words}, both ways; raises InvalidSetting."""
    table: dict[str, tuple[str, ...]] = {}
    for row in filter(None, (part.strip() for part in text.split(";"))):
        head, equals, tail = row.partition("=")
        group = [word.strip() for word in (head, *tail.split(",")) if word.strip()]
        if not equals or len(group) < 2:
            raise InvalidSetting(
                f"Synonyms cannot be read: {row!r}.", remedy="Write them as word=synonym,synonym; word=synonym."
            )
        for word in group:
            table[fold(word)] = (*table.get(fold(word), ()), *(other for other in group if other != word))
    return table


def match_keywords(
    keywords: Sequence[str],
    language: str,
    texts: Sequence[str],
    passage_languages: Sequence[str],
    *,
    own_synonyms: str = "",
    semantic: float = 1.0,
    embed: Callable[[Sequence[str]], Vectors] | None = None,
) -> KeywordMatch:
    """Match every keyword against the passages; abstains without one in the question's language."""
    if texts and language not in passage_languages and "und" not in (language, *passage_languages):
        return KeywordMatch(missing=tuple(keywords), abstain="the question and the passages are in different languages")
    mine = [
        text
        for text, lang in zip(texts, passage_languages, strict=True)
        if lang in (language, "und") or language == "und"
    ]
    distinct = list(dict.fromkeys(word.casefold() for text in mine for word in word_texts(text)))
    held = frozenset[str]().union(*(forms(word, language) for word in distinct))
    known, own = synonyms(language), parse_synonyms(own_synonyms)

    def spellings(keyword: str) -> Iterator[str]:
        yield keyword
        for form in sorted({fold(keyword), *forms(keyword, language)}):
            yield from (*known.get(form, ()), *own.get(form, ()))

    matched = [k for k in keywords if any(_stands(spelling, language, held) for spelling in spellings(k))]
    if semantic < 1.0 and embed is not None and distinct:
        missing = [k for k in keywords if k not in matched]
        matched += _similar(missing, distinct[:MAX_WORDS], semantic, embed)
    return KeywordMatch(tuple(k for k in keywords if k in matched), tuple(k for k in keywords if k not in matched))


def _stands(text: str, language: str, held: frozenset[str]) -> bool:
    """Whether every word of a keyword or synonym ("paid leave") stands in the passages in some form."""
    found = words(text)
    return bool(found) and all(forms(word.text, language) & held for word in found)


def _similar(
    missing: Sequence[str], distinct: Sequence[str], least: float, embed: Callable[[Sequence[str]], Vectors]
) -> Iterator[str]:
    if missing:
        cosines = embed(missing) @ embed(distinct).T
        yield from (word for word, row in zip(missing, cosines, strict=True) if float(row.max()) >= least)
