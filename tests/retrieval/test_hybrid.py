"""Hybrid retrieval: fused by reciprocal rank, restricted before ranking, stable on ties, optionally reranked and
weighted.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest
from builders import HashEmbedder, MemoryCorpus, Text, settings
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.documents import Metadata
from rag_core.language import terms
from rag_core.library.stored.sources import described
from rag_core.retrieval.hybrid import Ranking, Wider, age_in_days, recency_of, reciprocal_rank_fusion, retrieve

TODAY = date(2026, 11, 20)
EMBEDDER = HashEmbedder()
LINES = (
    "The notice period is thirty days.",
    "The supplier delivers the goods.",
    "The price is five hundred crowns.",
    "The contract ends in December.",
    "Employees have vacation.",
)
CORPUS = MemoryCorpus(
    [Text("a", "\n".join(LINES)), Text("b", "The notice period of a lease is ninety days.")], EMBEDDER
)


def ask(
    question: str, corpus: MemoryCorpus = CORPUS, allowed: Sequence[int] | None = None, **options: object
) -> Ranking:
    call = {
        name: options.pop(name)
        for name in ("reranker", "language", "known_language", "time_sensitive", "today")
        if name in options
    }
    vector = EMBEDDER.embed([question])[0]
    return retrieve(question, vector, terms(question, "en"), corpus, settings(**options), allowed, **call)  # type: ignore[arg-type]


def test_given_two_rankings_then_a_row_scores_the_sum_of_weight_over_rank_plus_sixty() -> None:
    """S3-6, S3-7: 1 / (rank + 60), ranks from 1, weights 0.7 and 0.3."""
    fused = reciprocal_rank_fusion([(0.7, {4: 1, 9: 2}), (0.3, {9: 1, 5: 2})])

    assert fused == {4: 0.7 / 61, 9: 0.7 / 62 + 0.3 / 61, 5: 0.3 / 62}


def test_given_a_question_then_its_hits_carry_fused_score_ranks_cosine_and_bm25() -> None:
    """S3-6: hybrid, vector and BM25."""
    found = ask("notice period", semantic_weight=0.7)
    top = found.hits[0]

    assert found.rows[0] == 0
    assert (top.dense_rank, top.lexical_rank) == (1, 1)
    assert top.score == pytest.approx(0.7 / (60 + top.dense_rank) + 0.3 / (60 + top.lexical_rank))
    assert top.cosine == pytest.approx(
        float(EMBEDDER.embed([LINES[0]])[0] @ EMBEDDER.embed(["notice period"])[0]), abs=1e-6
    )
    assert top.lexical == CORPUS.lexical.scores(terms("notice period", "en"), [0])[0]
    assert [hit.passage for hit in found.hits] == [CORPUS.passages[row] for row in found.rows]


def test_given_a_row_of_one_ranking_only_then_its_other_rank_is_zero() -> None:
    hits = {hit.passage.id: hit for hit in ask("vacation").hits}

    assert hits["a#5"].lexical_rank == 1
    assert hits["a#1"].lexical_rank == 0
    assert hits["a#1"].lexical == 0
    assert all(hit.dense_rank for hit in hits.values())


class Watched:
    """An index that notes how many candidates were asked for."""

    def __init__(self, inner: object) -> None:
        self.inner, self.asked = inner, []

    def search(self, query: object, k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        self.asked.append(k)
        return self.inner.search(query, k, allowed)  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


def test_given_top_k_then_twice_as_many_candidates_are_taken_and_top_k_returned() -> None:
    """S3-6: twice as many of either ranking, top_k returned."""
    corpus = MemoryCorpus([Text("a", "\n".join(LINES))], EMBEDDER)
    corpus.vectors = Watched(corpus.vectors)  # type: ignore[assignment]
    corpus.lexical = Watched(corpus.lexical)  # type: ignore[assignment]

    found = ask("the price", corpus, top_k=3)

    assert corpus.vectors.asked == corpus.lexical.asked == [6]  # type: ignore[attr-defined]
    assert len(found.hits) == len(found.rows) == 3


@pytest.mark.parametrize(("weight", "first"), [(1.0, "dense"), (0.0, "lexical")])
def test_given_the_whole_weight_on_one_ranking_then_its_order_wins(weight: float, first: str) -> None:
    """S3-7: the weights decide."""
    found = ask("The supplier and the price and December", semantic_weight=weight)

    assert getattr(found.hits[0], f"{first}_rank") == 1


def test_given_a_language_the_model_does_not_know_then_its_words_alone_count() -> None:
    strange = ask("the price december", known_language=False, semantic_weight=1.0)

    assert strange == ask("the price december", semantic_weight=0.0)
    assert strange.hits != ask("the price december", semantic_weight=1.0).hits


def test_given_passages_in_another_language_then_their_rank_by_meaning_counts_for_both() -> None:
    """S3-32: across languages."""
    mixed = MemoryCorpus(
        [
            Text("own", "The deposit is two rents.\nThe garden is open."),
            Text("foreign", "Die Kaution ist the deposit.\nDer Garten.", "de"),
        ],
        EMBEDDER,
    )
    found = ask("the deposit", mixed, language="en", semantic_weight=0.7)
    foreign = next(hit for hit in found.hits if hit.passage.text.startswith("Die Kaution"))

    for hit in found.hits:
        assert hit.passage.document == "own" or hit.score == pytest.approx(1 / (60 + hit.dense_rank))
    assert foreign.lexical_rank  # measured all the same
    # a language that nobody knows: words count everywhere
    assert ask("the deposit", mixed, semantic_weight=0.7).hits != found.hits
    assert (
        ask("the deposit", mixed, language="en", known_language=False, semantic_weight=0.7).hits
        == ask("the deposit", mixed, known_language=False, semantic_weight=0.7).hits
    )


def test_given_passages_of_which_nobody_knows_the_language_then_their_words_count_as_those_of_the_question() -> None:
    unknown = MemoryCorpus(
        [
            Text("own", "The deposit is two rents.\nThe garden is open."),
            Text("short", "Die Kaution ist the deposit.\nDer Garten.", "und"),
        ],
        EMBEDDER,
    )

    assert ask("the deposit", unknown, language="en").hits == ask("the deposit", unknown).hits
    assert ask("the deposit", unknown, language="und").hits == ask("the deposit", unknown).hits


@given(
    st.sampled_from(["notice period", "price", "unknown words", "the"]), st.sets(st.integers(0, 5)), st.integers(1, 6)
)
def test_given_a_restriction_then_it_ranks_before_it_cuts(question: str, allowed: set[int], top_k: int) -> None:
    """Restriction happens before ranking: a permitted row is found however many others are better."""
    found = ask(question, allowed=sorted(allowed), top_k=top_k)

    assert set(found.rows) <= allowed
    assert len(found.rows) == min(top_k, len(allowed))
    assert set(found.candidates) <= allowed


def test_given_a_restriction_then_word_weights_are_still_those_of_the_whole_collection() -> None:
    everywhere = {hit.passage.id: hit.lexical for hit in ask("notice period").hits}

    assert {hit.passage.id: hit.lexical for hit in ask("notice period", allowed=[0]).hits} == {"a#1": everywhere["a#1"]}


def test_given_equal_passages_then_they_keep_their_order_whatever_top_k_is() -> None:
    """S3-6: a stable order on ties."""
    corpus = MemoryCorpus([Text("a", "\n".join(["The same line."] * 60))], EMBEDDER)

    for top_k in (1, 7, 50):
        assert list(ask("same line", corpus, top_k=top_k).rows) == list(range(top_k))


def test_given_an_empty_library_then_nothing_is_found() -> None:
    assert ask("anything", MemoryCorpus([], EMBEDDER)).hits == ()
    assert ask("anything", allowed=[]).hits == ()


AGED = MemoryCorpus(
    [
        Text("old", "The tariff is four.", metadata=Metadata(date="2020-01-01", authority=0.1)),
        Text("new", "The tariff is four.", metadata=Metadata(date="2026-11-20", authority=0.9)),
        Text("none", "The tariff is four."),
    ],
    EMBEDDER,
)


def order(**options: object) -> list[str]:
    return [hit.passage.document for hit in ask("tariff", AGED, today=TODAY, **options).hits]


def test_given_no_weights_then_age_and_authority_do_nothing() -> None:
    assert order(time_sensitive=True) == ["old", "new", "none"]


def test_given_a_weight_on_authority_then_a_stated_authority_raises_and_a_missing_one_does_nothing() -> None:
    """S3-8, S3-28: source authority."""
    boosted = ask("tariff", AGED, today=TODAY, authority_weight=0.5)
    plain = {hit.passage.document: hit.score for hit in ask("tariff", AGED).hits}

    assert order(authority_weight=0.5) == ["new", "old", "none"]
    assert {hit.passage.document: hit.score / plain[hit.passage.document] for hit in boosted.hits} == pytest.approx(
        {"new": 1.45, "old": 1.05, "none": 1.0}
    )


def test_given_a_weight_on_recency_then_it_counts_for_time_sensitive_questions_only() -> None:
    """S3-8: recency, only where the question asks for the present."""
    assert order(recency_weight=0.5, time_sensitive=True) == ["new", "old", "none"]
    assert order(recency_weight=0.5, time_sensitive=False) == ["old", "new", "none"]
    both = ask("tariff", AGED, today=TODAY, recency_weight=0.5, authority_weight=0.1)
    assert [hit.score for hit in both.hits] == [
        hit.score for hit in ask("tariff", AGED, today=TODAY, authority_weight=0.1).hits
    ]


def test_given_the_documents_of_the_source_then_a_name_of_authority_and_a_verified_mark_raise_them() -> None:
    """S3-28, S3-8: "authority": "high", "verified": true; a verified document whose authority nobody stated counts as
    much.
    """
    said = {
        "official": {"authority": "high", "verified": "true"},
        "checked": {"verified": "true"},
        "draft": {"authority": "Low"},
    }
    texts = [Text(name, "The tariff is four.", metadata=described(Metadata(), values)) for name, values in said.items()]
    corpus = MemoryCorpus([*texts, Text("none", "The tariff is four.")], EMBEDDER)
    plain, weighed = (ask("tariff", corpus, authority_weight=weight) for weight in (0.0, 0.5))
    raised = {hit.passage.document: hit.score for hit in weighed.hits}

    before = {hit.passage.document: hit.score for hit in plain.hits}
    assert {name: round(raised[name] / before[name], 6) for name in raised} == {
        "official": 1.5,
        "checked": 1.5,
        "draft": 1.0,
        "none": 1.0,
    }
    assert texts[0].metadata.standing == 1.0
    assert described(Metadata(), {"authority": "medium", "verified": "true"}).standing == 0.5


def test_given_recency_and_authority_then_a_hit_is_raised_by_both_as_of_the_day_given() -> None:
    """S3-8: 1 + authority + recency, each by its weight."""
    later = date(2030, 11, 20)
    weighed = ask(
        "tariff",
        AGED,
        today=later,
        recency_weight=0.5,
        authority_weight=0.1,
        recency_half_life_days=1461,
        time_sensitive=True,
    )
    plain = {hit.passage.document: hit.score for hit in ask("tariff", AGED).hits}

    raised = {hit.passage.document: hit.score / plain[hit.passage.document] for hit in weighed.hits}
    old = 0.5 ** ((later - date(2020, 1, 1)).days / 1461)
    assert raised == pytest.approx({"new": 1 + 0.1 * 0.9 + 0.5 * 0.5, "old": 1 + 0.1 * 0.1 + 0.5 * old, "none": 1.0})


@each(
    ("stated", "days"),
    [
        ("2026-11-20", 0),
        ("2026-11-19", 1),
        ("2025-11-20", 365),
        ("2026-10", 23),
        ("2025", 327),
        ("2030", 0),
        ("", None),
        ("soon", None),
        ("2026-13", None),
        ("0000", None),
        ("9" * 30, None),
        ("2026-02-31", None),
        ("-5", None),
        ("9" * 5000, None),
    ],
)
def test_given_a_date_then_its_age_is_counted_from_the_end_of_what_it_states(stated: str, days: int | None) -> None:
    assert age_in_days(stated, TODAY) == days


def test_given_an_age_of_one_half_life_then_recency_is_one_half() -> None:
    assert recency_of("2025-11-20", 365, TODAY) == 0.5
    assert recency_of("2026-11-20", 365, TODAY) == 1.0
    assert recency_of("", 365, TODAY) is None


@given(st.dates(date(1990, 1, 1), TODAY), st.dates(date(1990, 1, 1), TODAY), st.integers(1, 3650))
def test_given_two_dates_then_the_newer_one_is_never_less_recent(one: date, other: date, half_life: int) -> None:
    older, newer = sorted((one, other))

    assert 0 <= recency_of(older.isoformat(), half_life, TODAY) <= recency_of(newer.isoformat(), half_life, TODAY) <= 1  # type: ignore[operator]


class ByLength:
    """A reranker that prefers long texts."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return [len(text) / 100 for text in texts]


def test_given_a_reranker_then_all_candidates_are_reordered_by_it_and_keep_its_score() -> None:
    """S3-6, S3-7: then rerank."""
    found = ask("notice period", reranker=ByLength(), top_k=3)

    longest = sorted(CORPUS.passages, key=lambda one: -len(one.text))[:3]
    assert [hit.passage for hit in found.hits] == longest
    assert [hit.rerank for hit in found.hits] == [len(one.text) / 100 for one in longest]
    assert all(hit.rerank is None for hit in ask("notice period").hits)


class Undecided:
    """A reranker to which all texts are the same."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return [0.5] * len(texts)


def test_given_a_reranker_that_ties_then_the_fused_order_stays() -> None:
    assert ask("notice period", reranker=Undecided()).rows == ask("notice period").rows


def test_given_more_to_search_by_then_both_rankings_take_it_and_a_hit_is_measured_by_the_question_alone() -> None:
    """S3-27: what reports print for a metric orders the passages; cosine and BM25 stay those of the question."""
    question, more = "notice period", "Employees have vacation."
    wider = Wider(tuple(terms(more, "en")), EMBEDDER.embed([more])[0])
    vector, words = EMBEDDER.embed([question])[0], terms(question, "en")
    plain, other = ask(question), ask(more)
    found = retrieve(question, vector, words, CORPUS, settings(), wider=wider)

    def ranks(of: Ranking, name: str) -> dict[int, int]:
        return {row: getattr(hit, f"{name}_rank") for row, hit in zip(of.rows, of.hits, strict=True)}

    assert ranks(found, "dense") == ranks(other, "dense") != ranks(plain, "dense")
    row = LINES.index(more)
    assert ranks(found, "lexical")[row]
    assert not ranks(plain, "lexical").get(row)
    for number, hit in zip(found.rows, found.hits, strict=True):
        assert hit.cosine == pytest.approx(float(CORPUS.vectors.vectors([number])[0] @ vector), abs=1e-6)
        assert hit.lexical == CORPUS.lexical.scores(words, [number])[0]
