"""Looks up the content words of the question in the retrieved passages: by lemma or stem, by synonym, optionally by
cosine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rag_core.domain.measurements import KeywordMatch
from rag_core.domain.ports import Vectors
from rag_core.errors import InvalidSetting
from rag_core.language import fold, forms, synonyms, word_texts, words

MAX_WORDS = 400  # distinct words compared by cosine, the most the option may cost


def parse_synonyms(text: str) -> dict[str, tuple[str, ...]]:
    """Read "price=cost,fee; leave=vacation" into {folded word: words}. Each row works in both directions.

    Raises:
        InvalidSetting: a row without an equals sign.
    """
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
    """Match every keyword against the passages.

    Abstains when no passage is in the question's language: words of one language cannot be looked for in another.
    """
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
