"""Everything measured for one question, and the engine over a real library with the embedded model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

import pytest
from builders import HashEmbedder, MemoryCorpus, Text, calibration, settings, tools
from folding import each
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import cross_encoder

from rag_core import wiring
from rag_core.adapters.embedding.by_name import EMBEDDED
from rag_core.adapters.embedding.cache import CachedEmbedder
from rag_core.adapters.embedding.embedded import LANGUAGES
from rag_core.adapters.embedding.intents import talk_of
from rag_core.compression.scoring import READ_FIRST
from rag_core.decision import find
from rag_core.decision.decide import decide
from rag_core.decision.measure import measure, understand
from rag_core.decision.tools import Tools
from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.domain.documents import Metadata
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import Place, ReadPlace, ReadUnit
from rag_core.domain.ports import TextKind, Vectors
from rag_core.domain.status import AnswerStatus, Reason
from rag_core.engine import Engine
from rag_core.errors import InvalidInput, ModelUnavailable
from rag_core.gating import named
from rag_core.library.stored.sources import text_source
from rag_core.settings import Mode, Settings

TODAY = date(2026, 11, 20)
POLICY = "Employees are entitled to 25 days of paid vacation each calendar year. Remote work is allowed on Fridays."
BANK = "The bank grants loans to companies. The interest rate is reviewed every six months."


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The real thing: the embedded model, FAISS, BM25 and a library on disk.

    The score is ours, so that no refit breaks these tests.
    """
    model = CachedEmbedder(wiring.embedder(EMBEDDED, "auto"))
    library = wiring.open_library(tmp_path_factory.mktemp("library"), "default", model)
    report = library.add(
        [text_source("policy", POLICY, id="policy"), text_source("bank", BANK, id="bank")], Settings.load()
    )
    assert not report.problems
    return Engine(
        library,
        Tools(
            model,
            calibration(weight=12.0, middle=0.55),
            LANGUAGES,
            wiring.reranker,
            lambda: 0.0,
            lambda: TODAY,
            talk=partial(talk_of, embedder=model),
        ),
    )


def test_given_a_question_when_asked_then_what_was_measured_is_judged_again_the_same(engine: Engine) -> None:
    measured: list[Measurements] = []

    decision = engine.ask("How often is the interest rate reviewed?", Settings.load(), on_measured=measured.append)

    (measurements,) = measured
    assert decide(measurements) == decision
    assert decision.answered


@pytest.mark.parametrize(
    ("question", "reason"), [("Hello", Reason.GREETING), ("What documents do you have?", Reason.ABOUT_LIBRARY)]
)
def test_given_small_talk_then_it_is_answered_from_the_records(question: str, reason: Reason, engine: Engine) -> None:
    """S4-19, S4-20: no retrieval, nothing invented."""
    decision = engine.ask(question, Settings.load("compliance"))

    assert (decision.reason, decision.retrieved, decision.citations) == (reason, (), ())
    if reason is Reason.ABOUT_LIBRARY:
        assert "2" in decision.answer.split("\n")[0]
        assert all(name in decision.answer for name in ("policy", "bank"))
        assert "vacation" not in decision.answer


@each("languages, asked", [(["en"], "und"), (["en", "und"], "und"), (["en", "de"], "en"), (["de"], "en")])
def test_given_documents_in_another_language_then_alone_the_search_looks_at_the_language_of_passages(
    languages: list[str], asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a large library each passage that is looked at has to be unpacked."""
    corpus = MemoryCorpus([Text(one, "The notice period is 30 days.", one) for one in languages], HashEmbedder())
    told: list[str] = []
    really = find.retrieve
    monkeypatch.setattr(find, "retrieve", lambda *a, **k: told.append(k["language"]) or really(*a, **k))

    measure("What is the notice period?", settings(), corpus, tools())

    assert told == [asked]


def test_given_a_question_then_its_score_is_the_cosine_of_the_model_to_the_stored_passage(engine: Engine) -> None:
    """S0-6: cosine similarity on a sentence-transformers model."""
    question = "How many days of vacation do employees have?"
    decision = engine.ask(question, settings(), documents=["policy"])
    snapshot = engine.library.snapshot
    stored = snapshot.vectors.vectors(snapshot.rows(["policy"]) or [])

    best = float((stored @ engine.tools.embedder.embed([question], "query")[0]).max())
    assert decision.scores["top_cosine"] == pytest.approx(best, abs=1e-5)
    assert 0.3 < best <= 1.0


def test_given_an_empty_library_then_a_question_is_refused_and_a_greeting_answered() -> None:
    """S2-1, S1-5, S4-19: no chunks, no answer."""
    empty = MemoryCorpus([], HashEmbedder())

    refused = decide(measure("What is the notice period?", settings(), empty, tools()))
    about = decide(measure("What documents do you have?", settings(), empty, tools()))

    assert (refused.reason, refused.suggestions) == (Reason.NOTHING_RETRIEVED, ("Add documents first.",))
    assert decide(measure("Hello", settings(), empty, tools())).reason is Reason.GREETING
    assert about.answer == "No documents are indexed yet."


TEXTS = (
    Text("contract", "The notice period is 30 days.\nMarie Curie signed in 2024.\nThe price is 500 crowns."),
    Text(
        "lease",
        "The notice period of a lease is 90 days.",
        metadata=Metadata(title="Lease of 1999", date="2024", authority=0.5),
    ),
)
CORPUS = MemoryCorpus(TEXTS, HashEmbedder(), version=3)


@pytest.mark.parametrize("question", ["", "   ", "x" * (MAX_QUESTION_CHARS + 1)])
def test_given_no_question_or_far_too_long_a_one_then_it_is_a_typed_problem(question: str) -> None:
    with pytest.raises(InvalidInput, match="1 to 2000 characters"):
        measure(question, settings(), CORPUS, tools())


def test_given_a_question_of_the_greatest_length_then_it_is_measured_and_surrounding_blanks_do_not_count() -> None:
    assert measure(f"  {'x' * MAX_QUESTION_CHARS} ", settings(), CORPUS, tools()).question == "x" * MAX_QUESTION_CHARS


def test_given_a_document_that_is_not_there_then_it_is_a_typed_problem() -> None:
    with pytest.raises(InvalidInput, match="no document 'missing'"):
        measure("notice", settings(), CORPUS, tools(), documents=["missing"])


def test_given_a_question_then_everything_that_needs_no_model_is_measured_also_when_it_will_be_refused() -> None:
    measured = measure("Who signed on the Moon in 2031?", Settings.load("compliance"), CORPUS, tools())

    assert not decide(measured).answered
    assert measured.answerability is not None
    assert measured.relevance is not None
    assert measured.features
    assert measured.draft.claims
    assert len(measured.draft.measured) == len(measured.draft.claims)
    assert {*measured.keywords.matched, *measured.keywords.missing} == {"signed", "Moon", "2031"}
    assert {
        "understand",
        "embed",
        "retrieve",
        "extract",
        "conflicts",
        "signals",
        "relevance",
        "keywords",
        "audit",
    } == set(measured.timings)


def test_given_a_calibration_then_the_answerability_is_its_probability_of_the_measured_signals() -> None:
    measured = measure("What is the notice period?", settings(), CORPUS, tools())

    assert measured.answerability == measured.correctness == calibration().probability(measured.features)
    assert measured.answerability > 0.5


@each(
    ("values", "drafter"),
    [
        ({}, "extract"),
        ({"drafter": "raw"}, "raw"),
        ({"return_short_context": True}, "raw"),
        ({"return_short_context": True, "short_context_words": 10}, "extract"),
    ],
)
def test_given_the_drafting_settings_then_the_draft_says_how_made(values: dict[str, object], drafter: str) -> None:
    """S0-19, S0-21: the raw context where asked for, or where it is short and short ones stay whole."""
    drafted = measure("What is the notice period?", settings(**values), CORPUS, tools()).draft

    assert drafted.drafter == drafter
    assert drafted.context_chars == sum(len(passage.text) for passage in CORPUS.passages)
    assert (len(drafted.claims) == len(CORPUS.passages)) is (drafter == "raw")
    assert measure("notice", settings(**values), CORPUS, tools(), documents=[]).draft.drafter == "none"


def test_given_documents_in_another_language_then_the_question_s_words_are_looked_for_in_its_inflections_too() -> None:
    """A German plural in an English question meets its singular in a German document."""
    corpus = MemoryCorpus([Text("de", "Der Vertrag endet bald.\nEtwas anderes steht hier.", "de")], HashEmbedder())

    found = measure("What do the Verträge say?", settings(), corpus, tools()).hits

    assert [hit.lexical_rank for hit in found if "Vertrag" in hit.passage.text] == [1]


def test_given_no_calibration_then_there_is_no_answerability_to_judge() -> None:
    none, empty = (
        measure("notice", settings(), CORPUS, tools(calibration=None)),
        measure("notice", settings(), CORPUS, tools(), documents=[]),
    )

    assert (none.answerability, none.correctness) == (None, None)
    assert (empty.answerability, empty.correctness) == (0.0, 0.0)


def test_given_two_scores_then_each_is_of_its_own_coefficients_and_one_alone_leaves_the_other_unknown() -> None:
    apart = replace(calibration(), correctness=calibration(middle=0.9))

    both = measure("notice period", settings(), CORPUS, tools(calibration=apart))
    one = measure("notice period", settings(), CORPUS, tools(calibration=replace(apart, correctness=None)))

    assert both.correctness == calibration(middle=0.9).probability(both.features) != both.answerability
    assert (one.correctness, one.answerability) == (None, both.answerability)


def test_given_searched_documents_then_their_facts_are_those_of_the_selection() -> None:
    """S2-25, S2-27: how many documents and passages there are to search."""
    everything = measure("notice", settings(), CORPUS, tools(known_languages=frozenset({"cs"}))).library
    one = measure("notice", settings(), CORPUS, tools(), documents=["lease"]).library

    assert (everything.documents, everything.passages, everything.pages, everything.version) == (2, 4, 2, 3)
    assert everything.unknown_languages == ("en",)
    assert (one.documents, one.passages, one.pages, one.unknown_languages) == (1, 1, 1, ())
    assert (one.names, one.titles) == ({"lease": "lease.txt"}, {"lease": "Lease of 1999"})
    assert (one.dates, one.authority, one.model) == ({"lease": "2024"}, {"lease": 0.5}, "hash@float32")


@each(
    ("question", "missing"),
    [
        ("What did Marie Curie sign in 2024?", ()),
        ("What did Pierre Curie sign in 2024?", ("Pierre Curie",)),
        ("What happened in 2031?", ("2031",)),
        ("What does the lease of 1999 say?", ()),
        ("What is the period?", ()),
    ],
)
def test_given_names_and_years_then_those_that_stand_nowhere_miss(question: str, missing: tuple[str, ...]) -> None:
    assert measure(question, settings(), CORPUS, tools()).missing_entities == missing


def test_given_names_when_one_document_is_searched_then_another_does_not_hold_them_for_it() -> None:
    assert measure("What did Marie Curie sign?", settings(), CORPUS, tools(), documents=["lease"]).missing_entities == (
        "Marie Curie",
    )


def test_given_an_acronym_whose_words_stand_there_then_it_is_not_missing() -> None:
    corpus = MemoryCorpus([Text("report", "Our chief executive officer joined in 2019.")], HashEmbedder())

    assert measure("Who is the CEO?", settings(), corpus, tools()).missing_entities == ()
    assert measure("Who is the CFO?", settings(), corpus, tools()).missing_entities == ("CFO",)


CODES = MemoryCorpus(
    [
        Text(
            "manual",
            "The MK-40 runs at 80 °C, the MK 90 does not.\nSee §14 of the law and error E7.",
            metadata=Metadata(title="Pump P-12"),
        )
    ],
    HashEmbedder(),
)


@each(
    ("question", "missing"),
    [
        ("How hot may the MK-40 get?", ()),
        ("How hot may the MK-90 get?", ()),  # written otherwise
        ("How hot may the MK-80 get?", ("MK-80",)),  # "MK" and "80" each stand there
        ("What does § 14 say?", ()),
        ("What does § 40 say?", ("§ 40",)),
        ("What does error code E9 mean?", ("E9",)),
        ("Who built the P-12?", ()),  # the title names it
        ("Who built the P-13?", ("P-13",)),
    ],
)
def test_given_codes_then_each_must_stand_somewhere_as_a_whole(question: str, missing: tuple[str, ...]) -> None:
    assert measure(question, settings(), CODES, tools()).missing_entities == missing


class Reader:
    """An answerability model that finds some words; it remembers what it was asked: question and places."""

    version = "test"

    def __init__(self, *found: str) -> None:
        self.found, self.asked = found, list[tuple[str, list[Place]]]()

    def read(self, question: str, places: Sequence[Place]) -> list[ReadPlace]:
        self.asked.append((question, [*places]))
        odds = [[5.0 if any(word in text for word in self.found) else -5.0 for text in place.units] for place in places]
        return [ReadPlace(max(units, default=-5.0) / 2, tuple(map(ReadUnit, units))) for units in odds]

    @property
    def units(self) -> list[list[tuple[str, ...]]]:
        """The units of the places, each time that it was asked."""
        return [[place.units for place in places] for _, places in self.asked]


def test_given_an_answerability_model_then_it_reads_the_first_passages_whole_and_its_odds_are_signals() -> None:
    reader = Reader("period")

    measured = measure("What is the notice period?", settings(), CORPUS, tools(answerability_model=reader))

    ((question, places),) = reader.asked
    assert question == "What is the notice period?"
    where = {"contract": "contract.txt", "lease": "Lease of 1999"}
    assert places == [Place(where[hit.passage.document], (hit.passage.text,)) for hit in measured.hits[:READ_FIRST]]
    assert [measured.features[name] for name in ("unit_best", "answer_first")] == [5.0, 2.5]
    assert all("period" in claim.text for claim in measured.draft.claims)


def test_given_first_passages_that_do_not_answer_then_the_others_are_read_and_the_best_of_all_counts() -> None:
    corpus = MemoryCorpus([Text(name, f"The notice period of {name} counts.") for name in "abcd"], HashEmbedder())
    everywhere, last = Reader("period"), Reader()
    order = [hit.passage.text for hit in measure("What is the notice period?", settings(), corpus, tools()).hits]
    last.found = (order[-1],)

    first, deep = (
        measure("What is the notice period?", settings(), corpus, tools(answerability_model=one))
        for one in (everywhere, last)
    )

    at_once = [(text,) for text in order[:READ_FIRST]]
    assert everywhere.units == [at_once]
    assert last.units == [at_once, [(order[-1],)]]
    assert (first.features["answer_first"], deep.features["answer_first"]) == (2.5, -2.5)
    assert [claim.text for claim in deep.draft.claims][:1] == [order[-1]]


def test_given_a_reader_that_points_at_a_value_then_it_stands_in_the_decision() -> None:
    class Pointing(Reader):
        def read(self, question: str, places: Sequence[Place]) -> list[ReadPlace]:
            found = super().read(question, places)
            return [
                replace(one, units=tuple(replace(unit, value=(21, 28), sure=0.8) for unit in one.units))
                for one in found
            ]

    measured = measure(
        "What is the notice period?", settings(max_sentences=1), CORPUS, tools(answerability_model=Pointing("30 days"))
    )

    (claim,) = measured.draft.claims
    assert (claim.value_text, claim.value_probability) == ("30 days", 0.8)
    assert decide(measured).value == {
        "text": "30 days",
        "citation": 1,
        "page": 1,
        "start": 21,
        "end": 28,
        "probability": 0.8,
    }
    assert measured.features["unit_best"] == 5.0


@each("end", ["", "?", " ??", "？"])
def test_given_a_question_with_or_without_its_mark_then_a_reader_is_asked_with_one(end: str) -> None:
    """It learned from questions that end so."""
    reader = Reader("period")

    measure(f"What is the notice period{end}", settings(), CORPUS, tools(answerability_model=reader))

    assert {asked for asked, *_ in reader.asked} == {"What is the notice period?"}


def test_given_a_question_then_it_is_embedded_as_a_query_and_what_it_is_compared_with_as_passages() -> None:
    kinds: dict[str, set[str]] = {}

    class Kinds(HashEmbedder):
        def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
            kinds.setdefault(kind, set()).update(texts)
            return super().embed(texts, kind)

    found = measure("What is the notice period?", settings(), CORPUS, tools(Kinds()))

    assert kinds["query"] == {"What is the notice period?"}
    assert {hit.passage.text for hit in found.hits[:3]} <= kinds["passage"]
    assert "What is the notice period?" not in kinds["passage"]


def test_given_no_passage_or_no_answerability_model_then_nothing_is_read() -> None:
    reader = Reader("period")

    none = measure("xyzzy plugh", settings(), MemoryCorpus([], HashEmbedder()), tools(answerability_model=reader))
    bare = measure("What is the notice period?", settings(), CORPUS, tools())

    assert reader.asked == []
    assert (none.features["answer_first"], bare.features["unit_best"]) == (0.0, 0.0)


def test_given_a_name_asked_in_another_language_then_it_is_found_word_by_word() -> None:
    """A Czech stem of an English name must not make the name missing."""
    measured = measure("Kdy podepsala Marie Curie smlouvu?", settings(), CORPUS, tools())

    assert "Marie Curie" in measured.understanding.entities
    assert measured.missing_entities == ()


def test_given_contexts_then_relevance_reads_the_beginnings_of_the_top_ones_only() -> None:
    """S1-6: the mean over the top 3, each cut to 500 characters."""
    lines = ["match " * 80 + "other " * 200, "match two", "match three", "match four"]
    corpus, model = MemoryCorpus([Text("a", "\n".join(lines))], HashEmbedder()), HashEmbedder()

    measured = measure("match", settings(), corpus, tools())

    expected = (model.embed([hit.passage.text[:500] for hit in measured.hits[:3]]) @ model.embed(["match"])[0]).mean()
    assert measured.relevance == pytest.approx(float(expected), abs=1e-6)


class NoEmbedder(HashEmbedder):
    """A model whose server has gone."""

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        raise ModelUnavailable("The model cannot be reached.", remedy="Start it.")


def test_given_a_model_that_fails_then_the_decision_is_an_error_with_its_words_and_never_an_answer() -> None:
    """S2-3: a failure of ours has the status error."""
    decision = decide(measure("What is the notice period?", settings(), CORPUS, tools(NoEmbedder())))

    assert (decision.status, decision.reason) == (AnswerStatus.ERROR, Reason.FAILURE)
    assert decision.explanation == "The model cannot be reached. Start it."


@pytest.mark.slow
def test_given_a_reranker_by_folder_then_it_reorders_and_none_to_load_is_an_error(tmp_path: Path) -> None:
    """S3-7: the reranker is chosen by name; one that is asked for is never left out silently."""
    folder = str(cross_encoder(tmp_path))
    asked = settings(reranker=folder)

    ranked = measure("notice period", asked, CORPUS, tools(reranker=wiring.reranker))
    failed = decide(measure("notice period", asked, CORPUS, tools()))

    scores = [hit.rerank for hit in ranked.hits]
    assert None not in scores
    assert scores == sorted(scores, reverse=True)  # type: ignore[type-var]
    assert (failed.status, folder in failed.explanation) == (AnswerStatus.ERROR, True)


class ByLength:
    """A reranker that prefers long texts."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return [min(1.0, len(text) / 1000) for text in texts]


def test_given_a_reranker_then_it_is_loaded_by_its_name_and_orders_the_passages() -> None:
    named: list[str] = []
    use = tools(reranker=lambda name: named.append(name) or ByLength())  # type: ignore[func-returns-value]

    found = measure("notice period", settings(reranker="by-length"), CORPUS, use).hits

    assert named == ["by-length"]
    assert [len(hit.passage.text) for hit in found] == sorted((len(hit.passage.text) for hit in found), reverse=True)


def test_given_synonyms_that_cannot_be_read_then_the_decision_is_an_error_that_says_so() -> None:
    decision = decide(measure("notice period", settings(keyword_synonyms="price"), CORPUS, tools()))

    assert decision.status is AnswerStatus.ERROR
    assert "Synonyms cannot be read" in decision.explanation


def test_given_the_keyword_options_then_they_reach_the_guard() -> None:
    """S0-35, S0-36: synonyms and meaning."""
    model = HashEmbedder(alike={"fare": "price"})
    corpus = MemoryCorpus(TEXTS, model)

    assert measure("fare", settings(), corpus, tools(model)).keywords.matched == ()
    assert measure("fare", settings(keyword_synonyms="fare=crowns"), corpus, tools(model)).keywords.matched == ("fare",)
    assert measure("fare", settings(keyword_semantic=0.9), corpus, tools(model)).keywords.matched == ("fare",)


def test_given_a_time_sensitive_question_then_recency_counts_and_today_is_the_tools() -> None:
    """S3-8: recency only for the present."""
    old, new = Metadata(date="2020"), Metadata(date="2026")
    corpus = MemoryCorpus(
        [Text("old", "The tariff is four.", metadata=old), Text("new", "The tariff is four.", metadata=new)],
        HashEmbedder(),
    )
    s = settings(recency_weight=1.0)
    used = tools(today=lambda: TODAY)

    assert [hit.passage.document for hit in measure("What is the current tariff?", s, corpus, used).hits] == [
        "new",
        "old",
    ]
    assert [hit.passage.document for hit in measure("What is a tariff?", s, corpus, used).hits] == ["old", "new"]
    assert measure("tariff", s, corpus, used).metadata["asked_on"] == "2026-11-20"


class NeverAsked:
    """A verifier that must not be asked."""

    version = "never"
    languages = frozenset({"en"})

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        raise AssertionError("a model was asked about a quote")


@pytest.mark.parametrize("drafter", ["extract", "raw"])
def test_given_a_draft_of_quotes_then_every_claim_is_supported_and_no_verifier_is_asked(drafter: str) -> None:
    never = tools(entailment_model=lambda of: NeverAsked())
    found = measure("What is the notice period?", settings(drafter=drafter), CORPUS, never)

    assert found.draft.claims
    assert {(audit.support, audit.word_for_word, audit.read, audit.flags) for audit in found.draft.measured} == {
        (1.0, True, True, ())
    }


def test_given_a_model_that_cannot_tell_small_talk_then_it_is_an_error_and_nothing_is_searched() -> None:
    def broken(text: str) -> str:
        raise ModelUnavailable("The model ended.", remedy="Start it again.")

    found = measure("Hello", settings(), CORPUS, tools(talk=broken))

    assert (found.failure.startswith("The model ended."), found.hits, found.answer) == (True, (), "")
    assert decide(found).status is AnswerStatus.ERROR


def test_given_a_clock_then_each_stage_is_timed_in_milliseconds() -> None:
    ticks = iter(range(1000))

    timings = measure("notice", settings(), CORPUS, replace(tools(), clock=lambda: float(next(ticks)))).timings

    assert set(timings.values()) == {1000.0}


def test_given_a_library_of_many_titles_then_their_words_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, read = (
        MemoryCorpus([Text(f"report-{number}", f"Item {number} is due.") for number in range(5)], HashEmbedder()),
        [],
    )
    terms = named.terms
    monkeypatch.setattr(named, "terms", lambda text, code: read.append(text) or terms(text, code))
    titles = {text for document in corpus.documents for text in (document.name, document.title)}

    assert measure("what is due?", settings(), corpus, tools()).missing_entities == ()
    assert read == []
    for question, missing in (
        ("What did Marie Curie sign?", ("Marie Curie",)),
        ("What did Report 3 say to Pierre?", ("Pierre",)),
    ):
        assert measure(question, settings(), corpus, tools()).missing_entities == missing
    assert sorted(text for text in read if text in titles) == sorted(titles)


def test_given_a_question_then_language_intent_keywords_and_entities_are_understood() -> None:
    understood = understand("How do I reach Brno and Brno in 2031?", ["en"])

    assert (understood.language, understood.intent) == ("en", "procedural")
    assert understood.keywords == ("reach", "Brno", "2031")
    assert set(understood.entities) == {"Brno", "2031"}
    assert len(understood.entities) == 2


words = st.sampled_from(["notice", "period", "price", "Brno", "2024", "is", "not", "the", "30", "days", "Lhůta", "dní"])
sentences = st.lists(words, min_size=1, max_size=9).map(lambda found: " ".join(found).capitalize() + ".")
documents = st.lists(st.lists(sentences, min_size=1, max_size=4).map("\n".join), min_size=0, max_size=3)


@each(
    "values",
    [
        {"drafter": "extract"},
        {"drafter": "raw"},
        {"drafter": "raw", "strict_summary": True},
        {"return_short_context": True},
    ],
)
def test_given_contradicting_documents_then_every_draft_has_both_sides(values: dict[str, object]) -> None:
    """S3-9, S4-21: both perspectives, each with its citation."""
    texts = [
        Text(id, f"Every employee has {days} vacation days.", metadata=Metadata(date=date))
        for id, days, date in VERSIONS
    ]
    measured = measure("How many vacation days?", settings(**values), MemoryCorpus(texts, HashEmbedder()), tools())

    assert len(measured.conflicts) == 1
    assert len(measured.draft.claims) == len(measured.draft.measured) == len(measured.draft.citations) == 2
    assert [one.newer for one in measured.conflicts] == ["newer"]


VERSIONS = (("older", 20, "2024-03-01"), ("newer", 25, "2026-03-01"))


@given(documents, sentences, st.sampled_from(["extract", "raw"]), st.booleans(), st.integers(1, 4))
def test_given_any_documents_and_question_then_an_answer_is_cited_verbatim_and_bounded_and_a_refusal_has_no_sources(
    bodies: list[str], question: str, drafter: str, strict: bool, most: int
) -> None:
    """S0-23, S2-26: at most so many sentences, only from the sources, each with its citation."""
    corpus = MemoryCorpus([Text(f"d{n}", body) for n, body in enumerate(bodies)], HashEmbedder())
    s = settings(
        drafter=drafter, strict_summary=strict, max_sentences=most, facts_mode=Mode.ENFORCE, overlap_mode=Mode.ENFORCE
    )

    decision = decide(measure(question, s, corpus, tools()))

    json.dumps(decision.to_json(), allow_nan=False)
    assert decision.answered is bool(corpus.passages)
    assert bool(decision.citations) is decision.answered
    for citation in decision.citations:
        (span,) = citation.spans
        assert corpus.page_text(citation.document_id, citation.page)[span.start : span.end] == citation.excerpt
    if drafter == "extract" or strict:
        assert len(decision.claims) <= most


def test_given_a_contradicted_sentence_that_is_taken_back_then_both_are_shown_whatever_the_most_sentences() -> None:
    corpus = MemoryCorpus(
        [
            Text("old", "The deposit for a garden key is 30 euros. This does not apply to members of the board."),
            Text("new", "The deposit for a garden key is 40 euros. This does not apply to members of the board."),
        ],
        HashEmbedder(),
    )
    found = measure(
        "How high is the deposit for a garden key?", settings(max_sentences=1), corpus, tools(HashEmbedder())
    )
    texts = [claim.text for claim in found.draft.claims]

    assert sorted(texts[:2]) == [
        "The deposit for a garden key is 30 euros.",
        "The deposit for a garden key is 40 euros.",
    ]
    assert texts[2:] == ["This does not apply to members of the board."]
    assert [(one.claim, one.other) for one in found.conflicts] == [(0, 1)]
