"""Measures everything for one question, in order: understand, retrieve, features, keywords, the extract and its checks.

Expensive stages only measure; nothing here judges. Every measurement that needs no language model is taken for every question, refused
ones too, so that a decision can be replayed under any thresholds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial

import numpy as np

from rag_core.compression.citing import cite
from rag_core.compression.conflicts import between_passages, other_sides
from rag_core.compression.extract import Extract, Read, extract
from rag_core.compression.raw import context_words, first_sentences, short_enough, stays_whole, whole_passages
from rag_core.decision.replies import SETTLED, reply
from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.domain.claims import Claim, Conflict
from rag_core.domain.documents import Document
from rag_core.domain.drafts import Draft
from rag_core.domain.given import GIVEN
from rag_core.domain.indexing import INDEXING, indexing_of
from rag_core.domain.llm_trace import LlmTrace
from rag_core.domain.measurements import LibraryFacts, Measurements, Understanding
from rag_core.domain.passages import Hit, Passage
from rag_core.domain.ports import AnswerabilityModel, Corpus, Embedder, EntailmentModel, LanguageModel, Reranker, Vectors, Waiting
from rag_core.errors import InvalidInput, ModelUnavailable, RagError
from rag_core.facts import entities
from rag_core.facts.names import code_stands, codes
from rag_core.gating.asked import asked_for
from rag_core.gating.features import measure as measure_features
from rag_core.gating.features import weigh
from rag_core.gating.keywords import match_keywords
from rag_core.gating.nowhere import MAX_TEXTS, nowhere
from rag_core.gating.scores import READ, Calibration
from rag_core.grounding.claims import measure_claims
from rag_core.grounding.contradictions.subject import Asked
from rag_core.ingest.context import context
from rag_core.language import intent, is_time_sensitive, keywords, question_language, terms, words
from rag_core.retrieval.acronyms import widened
from rag_core.retrieval.given import in_given_order
from rag_core.retrieval.hybrid import Ranking, retrieve
from rag_core.retrieval.query import core, expand
from rag_core.settings import Settings

CODE_ROWS = 100  # passages by words in which a code is looked for


@dataclass(frozen=True, slots=True)
class Tools:
    """The models and clocks that measuring needs from outside.

    `known_languages` are those the embedding model knows, None for any; `clock` returns seconds. `entailment_model` gives the one that the
    settings name, None where they name none, and loads it when it is first asked. `model` gives the language model that the settings ask
    for, None where none is configured.
    """

    embedder: Embedder
    calibration: Calibration | None = None
    known_languages: frozenset[str] | None = None
    reranker: Callable[[str], Reranker] | None = None
    clock: Callable[[], float] = time.perf_counter
    today: Callable[[], date] = date.today
    answerability_model: AnswerabilityModel | None = None
    entailment_model: Callable[[Settings], EntailmentModel | None] | None = None
    model: Callable[[Settings], LanguageModel | None] | None = None

    def knows(self, language: str) -> bool:
        """Whether the embedding model knows a language; "und" counts as known, since nothing speaks against it."""
        return self.known_languages is None or language in self.known_languages or language == "und"


@dataclass(frozen=True, slots=True)
class Query:
    """A question as it is searched for: abbreviations spelled out, its unit vector of shape (dim,), its index terms."""

    text: str
    vector: Vectors
    terms: tuple[str, ...]


@dataclass(slots=True)
class _Timer:
    clock: Callable[[], float]
    ms: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        started = self.clock()
        yield
        self.ms[stage] = self.ms.get(stage, 0.0) + (self.clock() - started) * 1000


def measure(
    question: str,
    settings: Settings,
    corpus: Corpus,
    tools: Tools,
    *,
    documents: Collection[str] | None = None,
    filters: Mapping[str, str] | None = None,
) -> Measurements:
    """Measure one question against one version of a library.

    Args:
        question: as asked.
        settings: what to retrieve and how to draft; its thresholds only ride along.
        corpus: the version searched; it is held to the end.
        tools: models and clock.
        documents: ids or names to search in; None for all.
        filters: metadata that a document must have.

    Raises:
        InvalidInput: an empty or far too long question, or a document that is not in the library.
    """
    question = question.strip()
    if not question or len(question) > MAX_QUESTION_CHARS:
        raise InvalidInput(
            f"A question has 1 to {MAX_QUESTION_CHARS} characters, got {len(question)}.", remedy="Ask one question in a sentence or two."
        )
    timed = _Timer(tools.clock)
    with timed("understand"):
        rows = corpus.rows(documents, filters or {})
        facts = library_facts(corpus, rows, tools)
        understood = understand(question, facts.languages)
    measurements = Measurements(
        question,
        settings,
        understood,
        facts,
        metadata={
            "asked_on": tools.today().isoformat(),
            "calibration": tools.calibration.id if tools.calibration else "",
            **({GIVEN: corpus.given.to_json()} if corpus.given else {}),
            **({INDEXING: state.to_json()} if (state := corpus.waiting and corpus.waiting.indexing(rows)) else {}),
        },
    )
    if understood.intent in SETTLED and not (corpus.given and understood.intent == "about_library"):  # no library is known there
        return _with(measurements, answer=reply(understood.intent, understood.language, facts), timings=timed.ms)
    try:
        return _measured(measurements, corpus, tools, rows, timed)
    except RagError as error:  # a failure of ours is never an answer: it is decided as an error, with its own words
        return _with(measurements, failure=str(error), timings=timed.ms)


def understand(question: str, document_languages: Collection[str]) -> Understanding:
    """Language, intent, keywords and entities of a question; instructions on how to answer are set aside (`rag_core.retrieval.query`)."""
    language = question_language(question, document_languages)
    asked = core(expand(question), language)
    named = tuple(dict.fromkeys(entity.text for entity in entities(asked, language)))
    return Understanding(language, intent(question, language), tuple(keywords(asked, language)), named)


def library_facts(corpus: Corpus, rows: Sequence[int] | None, tools: Tools) -> LibraryFacts:
    """The facts about the searched documents that a decision needs."""
    searched = searched_documents(corpus, rows)
    languages = tuple(dict.fromkeys(d.language for d in searched))
    return LibraryFacts(
        documents=len(searched),
        passages=len(corpus.passages) if rows is None else len(rows),
        pages=sum(d.page_count for d in searched),
        unreadable={d.id: d.unreadable_pages for d in searched if d.unreadable_pages},
        languages=languages,
        names={d.id: d.name for d in searched},
        titles={d.id: d.title for d in searched},
        dates={d.id: d.date for d in searched if d.date},
        date_sources={d.id: d.date_source for d in searched if d.date},
        authority={d.id: standing for d in searched if (standing := d.metadata.standing) is not None},
        chosen=rows is not None,
        version=corpus.version,
        model=tools.embedder.name,
        unknown_languages=tuple(code for code in languages if not tools.knows(code)),
    )


def searched_documents(corpus: Corpus, rows: Sequence[int] | None) -> list[Document]:
    """The documents that hold any of these rows, in library order."""
    if rows is None:
        return list(corpus.documents)
    ids = {corpus.passages[row].document for row in rows}
    return [document for document in corpus.documents if document.id in ids]


def _measured(measurements: Measurements, corpus: Corpus, tools: Tools, rows: list[int] | None, timed: _Timer) -> Measurements:
    s, language = measurements.settings, measurements.understanding.language
    with timed("embed"):
        query = read_query(measurements, tools.embedder)
        vector = query.vector
    with timed("retrieve"):
        hits = find(measurements, query, corpus, tools, rows).hits
    where = places(hits, measurements.library)
    with timed("read"):
        odds = read_answers(query.text, language, hits, tools.answerability_model)
    with timed("extract"):
        weights = weigh(core(query.text, language), language, corpus.lexical)
        found = extract(
            hits, weights, asked_for(measurements.question, language), vector, tools.embedder.embed, corpus.page_text, s,
            titles=measurements.library.titles, read=reader(query.text, language, tools.answerability_model),
            legible=legible(tools.answerability_model),
        )  # fmt: skip
    with timed("signals"):
        missing = missing_entities(measurements.understanding.entities, language, corpus, rows, measurements.library)
        absent = nowhere_spoken_of(measurements, missing, corpus, rows)
        share = len(missing) / len(measurements.understanding.entities) if measurements.understanding.entities else 0.0
        drafted, others = found.log_odds()
        features = measure_features(
            tools.knows(language), weights, hits, share, found.best_sentence, where=where, searched=measurements.library.passages,
            claims=found.claims, entities=measurements.understanding.entities, answerability_logit=odds,
            drafted=drafted, others=others, fit=found.fit,
        )  # fmt: skip
    with timed("relevance"):
        relevance = _relevance(hits, vector, s, tools.embedder)
    with timed("keywords"):
        match = match_keywords(
            measurements.understanding.keywords, language, [h.passage.text for h in hits], [h.passage.language for h in hits],
            own_synonyms=s.keyword_synonyms, semantic=s.keyword_semantic, embed=tools.embedder.embed,
        )  # fmt: skip
    with timed("conflicts"):
        drafter, claims, conflicts = _drafted(found, hits, corpus, measurements)
    with timed("audit"):
        draft = _draft(drafter, claims, hits, corpus, measurements, tools)
    state = indexing_of(measurements.metadata)
    lower = state.lowered if state else _as_it_is
    return _with(
        measurements,
        hits=hits,
        features=features,
        correctness=lower(_probability(tools.calibration.correctness if tools.calibration else None, features, bool(found.claims))),
        answerability=lower(_probability(tools.calibration, features, bool(hits))),
        relevance=relevance,
        keywords=match,
        missing_entities=missing,
        nowhere=absent,
        draft=draft,
        conflicts=conflicts,
        llm_trace=LlmTrace(context_words(hits)) if s.drafter == "model" else None,
        timings=dict(timed.ms),
    )


def _as_it_is(probability: float | None) -> float | None:
    return probability


def _probability(calibration: Calibration | None, features: Mapping[str, float], found: bool) -> float | None:
    """Of a calibrated score; 0 where nothing was found, None where no calibration fits."""
    if calibration is None:
        return None
    return calibration.probability(features) if found else 0.0


def read_query(measurements: Measurements, embedder: Embedder) -> Query:
    """The query: the vector of the question, and its terms in its own language and as the documents' languages inflect them."""
    spelled = expand(measurements.question)
    return Query(
        spelled,
        embedder.embed([spelled])[0],
        tuple(_search_terms(spelled, measurements.understanding.language, measurements.library.languages)),
    )


def find(measurements: Measurements, query: Query, corpus: Corpus, tools: Tools, rows: Sequence[int] | None) -> Ranking:
    """The passages for a question, ranked under its settings; `rows` are those that may be found, None for all.

    Ready passages keep the order in which they were given.
    """
    language, s = measurements.understanding.language, measurements.settings
    if corpus.given is not None:
        reorders = _reranker(s.reranker, tools)
        return in_given_order(measurements.question, query.vector, query.terms, corpus, corpus.given, s.top_k, reorders)
    wider = [term for term in widened(query.text, language, corpus, rows) if term not in query.terms]
    query = replace(query, terms=(*query.terms, *wider))
    if corpus.waiting is not None:
        corpus, rows = _with_vectors(query, corpus, corpus.waiting, s, rows)
    return retrieve(
        measurements.question, query.vector, query.terms, corpus, s, rows,
        reranker=_reranker(s.reranker, tools),
        known_language=tools.knows(language), time_sensitive=is_time_sensitive(measurements.question, language), today=tools.today(),
    )  # fmt: skip


def _with_vectors(
    query: Query, corpus: Corpus, waiting: Waiting, s: Settings, rows: Sequence[int] | None
) -> tuple[Corpus, Sequence[int] | None]:
    """The corpus with vectors of the passages that the words bring first, and the rows that may be found: no hit is without a cosine."""
    by_words = [row for row, _ in corpus.lexical.search(query.terms, s.top_k * s.over_retrieve, rows)]
    corpus = waiting.embedded(by_words)
    if corpus.waiting is None or len(corpus.waiting.with_vectors(by_words)) == len(by_words):
        return corpus, rows
    return corpus, corpus.waiting.with_vectors(rows)  # there was no time for the last ones: they are no candidates


def read_answers(question: str, language: str, hits: Sequence[Hit], answerability_model: AnswerabilityModel | None) -> list[float]:
    """The log odds that each of the first passages holds the answer; none where nobody reads, or not these languages."""
    read, languages = reader(question, language, answerability_model), legible(answerability_model)
    return list(read([hit.passage.text for hit in hits[:READ] if hit.passage.language in languages])) if read else []


def places(hits: Sequence[Hit], library: LibraryFacts) -> list[str]:
    """For each hit the line that says where it stands: title, section and table header."""
    return [context(library.titles.get(hit.passage.document, ""), hit.passage.section, hit.passage.header_text) for hit in hits]


def reader(question: str, language: str, answerability_model: AnswerabilityModel | None) -> Read | None:
    """Reads texts together with the question; None where nobody reads, or not this language."""
    if answerability_model is None or language not in answerability_model.languages:
        return None
    asked = question.rstrip("? ") + "?"  # it learned from questions that end so; people type them without
    return partial(answerability_model.answers, asked)


def legible(answerability_model: AnswerabilityModel | None) -> frozenset[str]:
    """The languages of passages that the answerability model reads, with the unknown one, against which nothing speaks."""
    return frozenset({*answerability_model.languages, "und"}) if answerability_model else frozenset()


def _drafted(
    found: Extract, hits: Sequence[Hit], corpus: Corpus, measurements: Measurements
) -> tuple[str, tuple[Claim, ...], tuple[Conflict, ...]]:
    """Who drafts under the settings, the claims, and which of them contradict each other."""
    s, page_text = measurements.settings, corpus.page_text
    asked = Asked(measurements.question, measurements.understanding.language, measurements.library)
    if not hits or not (s.drafter == "raw" or (s.return_short_context and short_enough(hits, s))):
        return "extract", *other_sides(found, asked, page_text, s.max_sentences, hits)
    if stays_whole(hits, s):
        return "raw", whole_passages(hits, page_text), between_passages(hits, asked, page_text)
    return "raw", *other_sides(first_sentences(hits, page_text, s), asked, page_text, s.max_sentences)


def _draft(drafter: str, claims: tuple[Claim, ...], hits: Sequence[Hit], corpus: Corpus, measurements: Measurements, tools: Tools) -> Draft:
    """A draft with the measurements of its claims."""
    s = measurements.settings
    retrieved = {hit.passage.id: _text_of(hit.passage) for hit in hits}
    measured = measure_claims(
        claims, retrieved, corpus.page_text, measurements.understanding.language, tools.embedder, entailment_model_for(s, tools),
        whole=True, supported_from=s.min_support,
    )  # fmt: skip
    citations = cite(claims, hits, corpus)
    return Draft(drafter if claims else "none", claims, measured, citations, context_chars=sum(len(hit.passage.text) for hit in hits))


def _text_of(passage: Passage) -> str:
    """A table is read with the header it stands under."""
    apart = passage.header_text and passage.header_text not in passage.text
    return f"{passage.header_text}\n{passage.text}" if apart else passage.text


def _relevance(hits: Sequence[Hit], vector: Vectors, settings: Settings, embedder: Embedder) -> float | None:
    """Mean cosine of the question to the beginnings of the top passages."""
    tops = [hit.passage.text[: settings.relevance_chars] for hit in hits[: settings.relevance_passages]]
    return float(np.clip((embedder.embed(tops) @ vector).mean(), -1.0, 1.0)) if tops else None


def _reranker(name: str, tools: Tools) -> Reranker | None:
    """The reranker that the settings name; one that is asked for and cannot be had is an error, never silently left out."""
    if not name:
        return None
    if tools.reranker is None:
        raise ModelUnavailable(f"No reranker can be loaded here, and {name!r} is asked for.", remedy="Leave `reranker` empty.")
    return tools.reranker(name)


def entailment_model_for(settings: Settings, tools: Tools) -> EntailmentModel | None:
    """The entailment model that the settings name; None where claims are checked by facts and overlap only."""
    return tools.entailment_model(settings) if tools.entailment_model else None


def _search_terms(question: str, language: str, languages: Sequence[str]) -> list[str]:
    """The question's terms in its own language and, where they differ, as the documents' languages would inflect them."""
    found = terms(question, language)
    for other in languages:
        if other != language:
            found += [term for term in terms(question, other) if term not in found]
    return found


def missing_entities(
    named: Sequence[str], language: str, corpus: Corpus, rows: Sequence[int] | None, facts: LibraryFacts
) -> tuple[str, ...]:
    """The entities that stand in no searched passage, heading, title or file name: a code as a whole, of anything else every word."""
    languages = dict.fromkeys((language, *facts.languages))
    titles = (*facts.names.values(), *facts.titles.values())
    words_of_titles = {term for text in titles for code in languages for term in terms(text, code)}

    def stands(word: str) -> bool:
        spellings = list(dict.fromkeys(term for code in languages for term in terms(word, code)))
        return not words_of_titles.isdisjoint(spellings) or bool(corpus.lexical.search(spellings, 1, rows))

    def code_stands_somewhere(code: str) -> bool:
        found = corpus.lexical.search([term for lang in languages for term in terms(code, lang)], CODE_ROWS, rows)
        passages = [corpus.passages[row] for row, _ in found]
        return any(code_stands(code, text) for text in (*titles, *(f"{p.text}\n{p.section}\n{p.header_text}" for p in passages)))

    def is_there(entity: str) -> bool:
        return code_stands_somewhere(entity) if codes(entity) else all(stands(word.text) for word in words(entity))

    return tuple(entity for entity in named if not is_there(entity))


def nowhere_spoken_of(measurements: Measurements, missing: Collection[str], corpus: Corpus, rows: Sequence[int] | None) -> tuple[str, ...]:
    """The missing entities that no searched document names in any form (`rag_core.gating.nowhere`).

    Empty where this cannot be known: nothing was searched, a page could not be read, there is too much text to read, or a caller gave only
    some passages.
    """
    facts, language = measurements.library, measurements.understanding.language
    if not missing or corpus.given is not None or not facts.passages or facts.unreadable or facts.pages + facts.passages > MAX_TEXTS:
        return ()
    asked = core(expand(measurements.question), language)
    found = [entity for entity in entities(asked, language) if entity.text in missing]
    try:
        return nowhere(found, language, facts.languages, corpus.lexical.vocabulary(), _all_texts(corpus, rows))
    except RagError:  # a page cannot be read: nothing true can be said
        return ()


def _all_texts(corpus: Corpus, rows: Sequence[int] | None) -> Iterator[str]:
    """All that is known of any document, then the passages that were searched, then their pages, with running headers too."""
    for one in corpus.documents:
        yield "\n".join((one.name, one.title, one.date, *one.metadata.values.values()))
    for passage in corpus.passages if rows is None else (corpus.passages[row] for row in rows):
        yield "\n".join((passage.text, passage.section, passage.header_text))
    for one in searched_documents(corpus, rows):
        for page in range(1, one.page_count + 1):
            yield corpus.page_text(one.id, page)


def _with(measurements: Measurements, **values: object) -> Measurements:
    return replace(measurements, **values)  # type: ignore[arg-type]
