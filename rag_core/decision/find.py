"""Finds the passages for a question: its query, and a search under its settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rag_core.decision.tools import Tools, reranker_for
from rag_core.domain.measurements import Measurements
from rag_core.domain.ports import Corpus, Embedder, Vectors
from rag_core.language import is_time_sensitive, terms
from rag_core.retrieval.acronyms import widened
from rag_core.retrieval.given import in_given_order
from rag_core.retrieval.hybrid import Ranking, Wider, retrieve
from rag_core.retrieval.metrics import reported
from rag_core.retrieval.query import expand, prepared
from rag_core.retrieval.titled import titled_rows

# weight of a metric's words beside the question's vector: the best of 0.3 to 1 on tables of TAT-QA (docs/decisions/15)
METRICS = 0.7


@dataclass(frozen=True, slots=True)
class Query:
    """A question as it is searched for (`prepared`): its text, its unit vector of shape (dim,), its index terms."""

    text: str
    vector: Vectors
    terms: tuple[str, ...]


def read_query(measurements: Measurements, embedder: Embedder) -> Query:
    """The vector of the question, and its terms, also as the documents' languages inflect them."""
    language = measurements.understanding.language
    text = prepared(measurements.question, language)
    return Query(
        text, embedder.embed([text], "query")[0], tuple(_search_terms(text, language, measurements.library.languages))
    )


def find(measurements: Measurements, query: Query, corpus: Corpus, tools: Tools, rows: Sequence[int] | None) -> Ranking:
    """The passages for a question, ranked, of `rows` or all; ready passages keep the order they were given in."""
    language, s = measurements.understanding.language, measurements.settings
    if corpus.given is not None:
        reorders = reranker_for(s.reranker, tools)
        return in_given_order(measurements.question, query.vector, query.terms, corpus, corpus.given, s.top_k, reorders)
    wider = [term for term in widened(query.text, language) if term not in query.terms]
    query = replace(query, terms=(*query.terms, *wider))
    metrics = _metrics(expand(measurements.question), query, language, tools.embedder)
    titled = titled_rows(measurements.understanding.entities, language, corpus, rows)
    # no passage needs to be unpacked to see that it is foreign
    one_language = {*measurements.library.languages} <= {language, "und"}
    return retrieve(
        measurements.question,
        query.vector,
        query.terms,
        corpus,
        s,
        rows,
        reranker=reranker_for(s.reranker, tools),
        language="und" if one_language else language,
        known_language=tools.knows(language),
        time_sensitive=is_time_sensitive(measurements.question, language),
        today=tools.today(),
        wider=metrics,
        titled=titled,
    )


def _metrics(spelled: str, query: Query, language: str, embedder: Embedder) -> Wider | None:
    """The words that reports print for the metrics of a question, and the vector of both; None for none."""
    said = reported(spelled, language)
    if not said:
        return None
    both = query.vector + METRICS * embedder.embed([said], "query")[0]
    length = float(np.linalg.norm(both))  # 0 where the two point apart: then the question alone is searched by
    added = tuple(term for term in dict.fromkeys(terms(said, language)) if term not in query.terms)
    return Wider(added, both / length if length else query.vector)


def _search_terms(question: str, language: str, languages: Sequence[str]) -> list[str]:
    """The question's terms, also as the documents' languages inflect them."""
    found = terms(question, language)
    for other in languages:
        if other != language:
            found += [term for term in terms(question, other) if term not in found]
    return found
