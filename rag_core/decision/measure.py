"""Measures everything for one question, in order: understand, retrieve, features, keywords, the extract and its checks.

Expensive stages only measure; nothing here judges. Every measurement that needs no language model is taken for every
question, refused ones too, so that a decision can be replayed under any thresholds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from rag_core.compression.citing import cite, outline
from rag_core.compression.clauses import Clause, clause_of, page_asked
from rag_core.compression.conflicts import between_passages, other_sides
from rag_core.compression.extract import (
    Extract,
    as_they_stand,
    completed,
    context_words,
    extract,
    first_sentences,
    short_enough,
    stays_whole,
    whole_passages,
)
from rag_core.compression.scoring import PASSAGES, Scored
from rag_core.decision.find import find, read_query
from rag_core.decision.tools import Tools, entailment_model_for
from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.domain.claims import Claim, Conflict
from rag_core.domain.drafts import Draft
from rag_core.domain.given import GIVEN
from rag_core.domain.indexing import INDEXING, Indexing, indexing_of
from rag_core.domain.llm_trace import LlmTrace
from rag_core.domain.measurements import BESIDE, CLAUSE, LibraryFacts, Measurements, Understanding
from rag_core.domain.passages import TOP_CHARS, TOP_PASSAGES, Hit
from rag_core.domain.ports import Corpus, Embedder, Vectors
from rag_core.domain.replies import SETTLED, reply, settled
from rag_core.errors import InvalidInput, RagError
from rag_core.facts import entities
from rag_core.gating.asked import asked_for
from rag_core.gating.features import nearness, reader
from rag_core.gating.named import match_keywords, missing_entities, nowhere_spoken_of, searched_documents
from rag_core.gating.scores import Calibration
from rag_core.grounding.claims import measure_claims
from rag_core.grounding.contradictions.subject import Asked
from rag_core.grounding.units import with_header
from rag_core.language import LANGUAGES, greeting_language, intent, keywords, question_language
from rag_core.retrieval.query import core, expand
from rag_core.retrieval.titled import titled
from rag_core.settings import Settings


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
    scores: dict[tuple[Hit, ...], Sequence[Scored]] | None = None,
) -> Measurements:
    """Measure one question against one version of a library, which is held to the end.

    Args:
        question: as asked.
        settings: what to retrieve and how to draft; its thresholds only ride along.
        corpus: the version searched.
        tools: models and clock.
        documents: ids or names to search in; None for all.
        filters: metadata that a document must have.
        scores: takes the sentences that the extract was chosen from, by the passages that were read for them.

    Raises:
        InvalidInput: an empty or far too long question, or a document that is not in the library.
    """
    question = question.strip()
    if not question or len(question) > MAX_QUESTION_CHARS:
        raise InvalidInput(
            f"A question has 1 to {MAX_QUESTION_CHARS} characters, got {len(question)}.",
            remedy="Ask one question in a sentence or two.",
        )
    timed = _Timer(tools.clock)
    with timed("understand"):
        rows = corpus.rows(documents, filters or {})
        facts = library_facts(corpus, rows, tools)
        talk, failure = _talk(question, facts, tools)
        if corpus.given and talk == "about_library":  # no library is known there
            talk = ""
        understood = understand(question, facts.languages, talk)
    measurements = Measurements(
        question,
        settings,
        understood,
        facts,
        metadata={
            "asked_on": tools.today().isoformat(),
            "calibration": tools.calibration.id if tools.calibration else "",
            **({GIVEN: corpus.given.to_json()} if corpus.given else {}),
            **({INDEXING: being_read.to_json()} if (being_read := _being_read(corpus, facts)) else {}),
        },
    )
    if failure:
        return _with(measurements, failure=failure, timings=timed.ms)
    if understood.intent in SETTLED:
        drafted = Draft(citations=outline(corpus, rows)) if understood.intent == "summary" else Draft()
        return _with(
            measurements, answer=reply(understood.intent, understood.language, facts), draft=drafted, timings=timed.ms
        )
    try:
        return _measured(measurements, corpus, tools, rows, timed, {} if scores is None else scores)
    except RagError as error:  # a failure of ours is never an answer: it is decided as an error, with its own words
        return _with(measurements, failure=str(error), timings=timed.ms)


def _being_read(corpus: Corpus, facts: LibraryFacts) -> Indexing | None:
    """How far the searched documents are that are still being read; None where all are read."""
    found = [one for one in corpus.documents if one.id in corpus.reading and one.id in facts.names]
    pages, read = sum(corpus.reading[one.id] for one in found), sum(one.page_count for one in found)
    return Indexing(len(found), facts.documents, pages, read) if found else None


def _talk(question: str, facts: LibraryFacts, tools: Tools) -> tuple[str, str]:
    """The intent of `SETTLED` that a text has which asks nothing of the contents, or "", and why nobody could tell."""
    try:
        talk = tools.talk(question)
        if talk == "summary" and page_asked(question, question_language(question, facts.languages)):
            talk = ""  # what a page says can be quoted
        return settled(talk, facts), ""
    except RagError as error:
        return "", str(error)


def understand(question: str, document_languages: Collection[str], talk: str = "") -> Understanding:
    """Language, intent (`talk` or its own), keywords and entities of a question, without how to answer it."""
    greeted = greeting_language(question) if talk == "greeting" else ""
    language = greeted or question_language(question, document_languages)
    asked = core(expand(question), language)
    named = tuple(dict.fromkeys(entity.text for entity in entities(asked, language)))
    kind = talk or intent(question, language)
    return Understanding(language, kind, tuple(keywords(asked, language, asking=False)), named)


def library_facts(corpus: Corpus, rows: Sequence[int] | None, tools: Tools) -> LibraryFacts:
    """The facts about the searched documents that a decision needs."""
    searched = searched_documents(corpus, rows)
    languages = tuple(dict.fromkeys(d.language for d in searched))
    return LibraryFacts(
        documents=len(searched),
        passages=len(corpus.passages) if rows is None else len(rows),
        pages=sum(d.page_count for d in searched),
        unreadable={d.id: d.unreadable_pages for d in searched if d.unreadable_pages},
        partly=tuple(d.id for d in searched if d.is_partly_read),
        languages=languages,
        names={d.id: d.name for d in searched},
        headings={d.id: d.heading for d in searched if d.heading},
        page_counts={d.id: d.page_count for d in searched},
        written_in={d.id: d.language for d in searched if d.language in LANGUAGES},
        titles={d.id: d.title for d in searched},
        dates={d.id: d.date for d in searched if d.date},
        date_sources={d.id: d.date_source for d in searched if d.date},
        authors={d.id: author for d in searched if (author := d.metadata.values.get("author"))},
        authority={d.id: standing for d in searched if (standing := d.metadata.standing) is not None},
        chosen=rows is not None,
        version=corpus.version,
        model=tools.embedder.name,
        unknown_languages=tuple(code for code in languages if not tools.knows(code)),
    )


def _measured(
    measurements: Measurements,
    corpus: Corpus,
    tools: Tools,
    rows: Sequence[int] | None,
    timed: _Timer,
    scores: dict[tuple[Hit, ...], Sequence[Scored]],
) -> Measurements:
    s, language = measurements.settings, measurements.understanding.language
    measurements, clause = _about_clause(measurements, corpus, rows)
    rows = clause.rows if clause else rows
    quoted = clause if clause and not clause.question else None  # what it says is no answer to a reader
    with timed("embed"):
        query = read_query(measurements, tools.embedder)
        vector = query.vector
    with timed("retrieve"):
        hits = find(measurements, query, corpus, tools, rows).hits
    read = reader(query.text, tools.answerability_model)
    with timed("extract"):
        found = extract(
            hits,
            asked_for(measurements.question, language),
            corpus.page_text,
            s,
            titles=measurements.library.titles,
            named=titled(measurements.understanding.entities, language, corpus),
            near=nearness(query.text, tools.embedder),
            read=read,
            among={unit.key for unit in clause.units} if clause else None,
        )
    scores[tuple(hits[:PASSAGES])] = found.scored
    with timed("signals"):
        missing = missing_entities(measurements.understanding.entities, language, corpus, rows, measurements.library)
        absent = nowhere_spoken_of(measurements, missing, corpus, rows)
        features = found.features(tools.knows(language), hits, language, measurements.library.passages)
    with timed("relevance"):
        relevance = _relevance(hits, vector, tools.embedder)
    with timed("keywords"):
        match = match_keywords(
            measurements.understanding.keywords,
            language,
            [h.passage.text for h in hits],
            [h.passage.language for h in hits],
            own_synonyms=s.keyword_synonyms,
            semantic=s.keyword_semantic,
            embed=tools.embedder.embed,
        )
    with timed("conflicts"):
        drafter, claims, conflicts = (
            ("extract", as_they_stand(quoted.units, corpus.page_text), ())
            if quoted
            else _drafted(found, hits, corpus, measurements, tools)
        )
    with timed("audit"):
        draft = _draft(drafter, claims, hits, corpus, measurements, tools)
    state = indexing_of(measurements.metadata)
    if drafter == "extract" and not quoted and not set(claims) <= set(found.claims):
        measurements = replace(measurements, metadata={**measurements.metadata, BESIDE: True})

    def probability(calibration: Calibration | None, found: bool) -> float | None:
        """Of a calibrated score; 0 where nothing was found, None where no calibration fits."""
        if calibration is None:
            return None
        if quoted:
            return quoted.probability
        value = calibration.probability(features) if found else 0.0
        return state.lowered(value) if state else value

    return _with(
        measurements,
        hits=hits,
        features=features,
        correctness=probability(tools.calibration.correctness if tools.calibration else None, bool(found.claims)),
        answerability=probability(tools.calibration, bool(hits)),
        relevance=relevance,
        keywords=match,
        missing_entities=missing,
        nowhere=absent,
        draft=draft,
        conflicts=conflicts,
        llm_trace=LlmTrace(context_words(hits)) if s.drafter == "model" else None,
        timings=dict(timed.ms),
    )


def _about_clause(
    measurements: Measurements, corpus: Corpus, rows: Sequence[int] | None
) -> tuple[Measurements, Clause | None]:
    """The clause that the question names, and the question without it; None where it cannot be told."""
    language = measurements.understanding.language
    clause = clause_of(measurements.question, language, corpus, rows)
    if clause is not None and (not clause.units or clause.too_long):
        why = "long" if clause.units else "missing"
        return replace(measurements, metadata={**measurements.metadata, CLAUSE: why}), None
    if clause is None or not clause.question:
        return measurements, clause
    understood = replace(understand(clause.question, measurements.library.languages), language=language)
    return replace(measurements, question=clause.question, understanding=understood), clause


def _drafted(
    found: Extract, hits: Sequence[Hit], corpus: Corpus, measurements: Measurements, tools: Tools
) -> tuple[str, tuple[Claim, ...], tuple[Conflict, ...]]:
    """Who drafts under the settings, the claims, and which of them contradict each other."""
    s, page_text = measurements.settings, corpus.page_text
    asked = Asked(measurements.question, measurements.understanding.language, measurements.library)
    if not hits or not (s.drafter == "raw" or (s.return_short_context and short_enough(hits, s))):
        whole = completed(found, page_text, s.max_sentences, tools.undoing)
        return "extract", *other_sides(whole, asked, page_text, max(s.max_sentences, len(whole.claims)), hits)
    if stays_whole(hits, s):
        claims = whole_passages(hits, page_text)
        return "raw", claims, between_passages(hits, asked, page_text, claims)
    return "raw", *other_sides(first_sentences(hits, page_text, s), asked, page_text, s.max_sentences)


def _draft(
    drafter: str,
    claims: tuple[Claim, ...],
    hits: Sequence[Hit],
    corpus: Corpus,
    measurements: Measurements,
    tools: Tools,
) -> Draft:
    s = measurements.settings
    retrieved = {hit.passage.id: with_header(hit.passage) for hit in hits}
    measured = measure_claims(
        claims,
        retrieved,
        corpus.page_text,
        measurements.understanding.language,
        tools.embedder,
        entailment_model_for(s, tools),
        whole=True,
        supported_from=s.min_support,
    )
    citations = cite(claims, hits, corpus)
    return Draft(
        drafter if claims else "none",
        claims,
        measured,
        citations,
        context_chars=sum(len(hit.passage.text) for hit in hits),
    )


def _relevance(hits: Sequence[Hit], vector: Vectors, embedder: Embedder) -> float | None:
    """Mean cosine of the question to the beginnings of the top passages."""
    tops = [hit.passage.text[:TOP_CHARS] for hit in hits[:TOP_PASSAGES]]
    return float(np.clip((embedder.embed(tops) @ vector).mean(), -1.0, 1.0)) if tops else None


def _with(measurements: Measurements, **values: object) -> Measurements:
    return replace(measurements, **values)  # type: ignore[arg-type]
