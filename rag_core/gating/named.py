"""The content words of a question that stand in the retrieved passages (by lemma or stem, by synonym, optionally by
cosine), its names and codes that stand in no searched passage, and those that no searched document speaks of in any
form, so that a refusal can say so.

What a refusal says must be true, so whatever leaves a doubt is left out: a word that is like a term of the library, an
acronym, a name in another language than the documents' or in another script than Latin, a number that may be written in
words or rounded, a year within a span ("2018-2020").
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from rag_core.domain.documents import Document
from rag_core.domain.indexing import indexing_of
from rag_core.domain.measurements import KeywordMatch, LibraryFacts, Measurements
from rag_core.domain.ports import Corpus, Vectors
from rag_core.errors import InvalidSetting, RagError
from rag_core.facts import Entity, entities
from rag_core.facts.sentence.names import code_stands, codes
from rag_core.language import (
    alike,
    any_language,
    ascii_digits,
    fold,
    forms,
    grammar,
    is_known,
    synonyms,
    terms,
    word_texts,
    words,
)
from rag_core.library.stored.packed import documents_of
from rag_core.retrieval.acronyms import listed
from rag_core.retrieval.query import core, expand

# pages and passages that are read for it; 160 take 20 ms on a busy core; of a larger search nothing is said; chosen
MAX_TEXTS = 2000
_SCRIPT = "Latin"  # texts in another script leave foreign names in it, or spell them by sound
_MIN_LETTERS = 4  # in each word of a name: shorter ones are like too many others; chosen
_MIN_DIGITS = 3  # significant ones of a number: shorter numbers may be written in words; chosen
_SLIPS = 2  # letters by which a name may differ and be the same, misspelt or inflected; chosen
_SAME_ROOT = 4  # first letters that a name and its adjective share ("China", "Chinese"); chosen
_BETWEEN = r"[\s\-\u2010-\u2015/.:]{0,3}"  # what the parts of a code may be written with
_DASH = r"\s?[-\u2010-\u2015/]\s?"
_PARTS = regex.compile(r"\p{L}+|\p{Nd}+")
_YEAR = regex.compile(r"(?<!\d)[12]\d{3}(?!\d)")
_SPAN_OF_YEARS = regex.compile(rf"(?<!\d)([12]\d{{3}})(?:{_DASH}|\s\p{{L}}{{1,8}}\s)([12]\d{{3}}|\d\d)(?!\d)")
_PERIOD = regex.compile(r"[hq][1-4]|[1-4][hq]")


@dataclass(frozen=True, slots=True)
class _Sought:
    """One thing to look for: its words, the terms that are or resemble it, whether a folded text holds it."""

    text: str
    is_term: Callable[[Collection[str]], bool]
    stands: Callable[[str], bool]


def nowhere(
    found: Iterable[Entity],
    language: str,
    languages: Collection[str],
    vocabulary: Collection[str],
    texts: Iterable[str],
) -> tuple[str, ...]:
    """The entities of a question that stand nowhere, in the question's words and order, each once.

    Names are looked for only where `languages`, the documents', are just the question's. `vocabulary` has all index
    terms, `texts` all that was read, as long as an entity is left to look for.
    """
    sought = [one for entity in found if (one := _sought(entity, language, languages))]
    left = [one for one in sought if not one.is_term(vocabulary)]
    for text in texts if left else ():
        folded = _folded(text)
        left = [one for one in left if not one.stands(folded)]
        if not left:
            break
    return tuple(dict.fromkeys(one.text for one in left))


@lru_cache(maxsize=MAX_TEXTS)
def _folded(text: str) -> str:
    return fold(ascii_digits(text))


def _sought(entity: Entity, language: str, languages: Collection[str]) -> _Sought | None:
    """How an entity is looked for; None where nothing could be said of it."""
    plain = ascii_digits(entity.text)
    if entity.kind in ("year", "date"):
        return _year(match[0]) if (match := _YEAR.search(plain)) else None
    if entity.kind == "code":
        return _code(entity.text, fold(plain), languages)
    if entity.kind == "number":
        return _number(plain)
    if entity.kind != "name" or set(languages) != {language} or grammar(language).script != _SCRIPT:
        return None
    return _name(entity.text, language)


def _year(year: str) -> _Sought:
    short, decade = year[2:], year[:3]
    decades = rf"{decade}0['’-]?\p{{L}}|['’]{decade[2]}0\p{{L}}"
    forms = regex.compile(rf"{year}|{decades}|(?:['’]|fy\s?-?|\d{_DASH}|\d\.\s?\d{{1,2}}\.\s?){short}(?!\d)")

    def stands(text: str) -> bool:
        spans = ((int(one), int(one[: 4 - len(other)] + other)) for one, other in _SPAN_OF_YEARS.findall(text))
        return forms.search(text) is not None or any(first < int(year) < last for first, last in spans)

    return _Sought(year, lambda vocabulary: any(year in term for term in vocabulary), stands)


def _code(text: str, code: str, languages: Collection[str]) -> _Sought | None:
    """A code with digits: a section by its number alone, anything else by letters and digits, with or without zeros
    before them.

    No compound of ordinary words ("60-Hertz-Strom") is a code, and no period ("Q3"). Letters of another script may be
    written in Latin ones, and the other way round.
    """
    parts = _PARTS.findall(code)
    numbers = [part.lstrip("0") or "0" for part in parts if part.isdecimal()]
    letters = [part for part in parts if not part.isdecimal()]
    compound = len(parts) > 2 and max(map(len, letters), default=0) >= _MIN_LETTERS
    if not numbers or compound or _PERIOD.fullmatch(code) or not all(map(str.isascii, letters)):
        return None
    by_number = "§" in code or max(map(len, numbers)) >= _MIN_DIGITS  # "ISO 9001" stands as "ISO/IEC 9001" too
    by_number = by_number or any(grammar(one).script != _SCRIPT for one in languages)
    ways = [
        _BETWEEN.join(rf"0*{part.lstrip('0') or '0'}" if part.isdecimal() else regex.escape(part) for part in parts)
    ]
    ways += [f"0*{max(numbers, key=len)}"] if by_number else []
    edge = r"\d" if by_number else r"[\p{L}\p{N}]"
    pattern = regex.compile(rf"(?<!{edge})(?:{'|'.join(ways)})(?!{edge})")
    before = _BETWEEN.join(map(regex.escape, parts[: -1 if parts[-1].isdecimal() else None]))
    span = regex.compile(rf"{before}{_BETWEEN}(\d{{1,6}}){_DASH}(?:{before}{_BETWEEN})?(\d{{1,6}})(?!\d)")
    last = int(numbers[-1][:6])

    def stands(folded: str) -> bool:
        # "E5 to E9" is written "E5-E9"
        within = any(int(first) <= last <= int(end) for first, end in span.findall(folded))
        return within or pattern.search(folded) is not None

    joined = "".join(parts)
    return _Sought(text, lambda vocabulary: joined in vocabulary, stands)


def _number(text: str) -> _Sought | None:
    """A number by its significant digits, in any notation: 1,250 stands as "1.25 million" too."""
    match = regex.search(r"\d[\d.,]*", text)
    shown = match[0].rstrip(".,") if match else ""
    digits = regex.sub(r"\D", "", shown).strip("0")
    if len(digits) < _MIN_DIGITS:
        return None
    pattern = regex.compile(r"[.,\s'’]?".join(digits))

    def stands(text: str) -> bool:
        return pattern.search(text) is not None

    return _Sought(shown, lambda vocabulary: any(map(stands, vocabulary)), stands)


def _name(name: str, language: str) -> _Sought | None:
    """A name by all its words: where one of them stands, or one like it, somebody or something like it may be meant."""
    known, small = any_language(), frozenset(map(fold, any_language().legal_forms))
    parts = [word for word in words(name) if fold(word.text) not in known.connectors]
    while parts and (fold(parts[-1].text) in small or (len(parts) > 1 and parts[-1].text.isupper())):  # "Siemens AG"
        parts.pop()
    if not parts or any(len(word.text) < _MIN_LETTERS or _is_acronym(word.text) for word in parts):
        return None
    if grammar(language).nouns_capitalised and all(is_known(word.text, language) for word in parts):
        return None  # an ordinary noun, which other words may stand for
    folded = [fold(word.text) for word in parts]
    spelled = [{word, *terms(word, language)} for word in folded]
    initials = "".join(word[0] for word in folded) if len(folded) > 1 else ""

    def is_term(vocabulary: Collection[str]) -> bool:
        return initials in vocabulary or any(_is_like(form, vocabulary) for forms in spelled for form in forms)

    def stands(text: str) -> bool:
        squeezed = regex.sub(r"[^\p{L}\p{N}]+", "", text)  # "Ado-be", "Market Star"
        return any(form in squeezed for forms in spelled for form in forms)

    return _Sought(name[: parts[-1].end], is_term, stands)


def _is_acronym(word: str) -> bool:
    """Whether it is in capitals but for one letter at most: "MSPs"."""
    return sum(map(str.islower, word)) <= 1


def _is_like(word: str, vocabulary: Collection[str]) -> bool:
    """Whether a term is this word, inflected, of its root, a part of it, or misspelt by a letter or two."""
    if word in vocabulary or alike(word, vocabulary) or any(term.startswith(word[:_SAME_ROOT]) for term in vocabulary):
        return True
    letters = sorted(word)
    misspelt = regex.compile(rf"(?:{regex.escape(word)}){{e<={_SLIPS}}}")
    near = (
        term for term in vocabulary if abs(len(term) - len(word)) <= _SLIPS and len(set(word) ^ set(term)) <= 2 * _SLIPS
    )
    return any(sorted(term) == letters or misspelt.fullmatch(term) for term in near)


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


def nowhere_spoken_of(
    measurements: Measurements, missing: Collection[str], corpus: Corpus, rows: Sequence[int] | None
) -> tuple[str, ...]:
    """The missing entities that no document names in any form; empty where that cannot be known."""
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
    """All that is known of any document, then the searched passages, then their pages."""
    for one in corpus.documents:
        yield "\n".join((one.name, one.title, one.date, *one.metadata.values.values()))
    for passage in corpus.passages if rows is None else (corpus.passages[row] for row in rows):
        yield "\n".join((passage.text, passage.section, passage.header_text))
    for one in searched_documents(corpus, rows):
        for page in range(1, one.page_count + 1):
            yield corpus.page_text(one.id, page)


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
