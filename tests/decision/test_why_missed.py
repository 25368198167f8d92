"""Where the right page ranked: every passage by meaning and by words, the final order, and the step that lost it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from builders import HashEmbedder, MemoryCorpus, Text, settings, tools
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.compression.scoring import PASSAGES
from rag_core.decision.measure import measure
from rag_core.decision.why_missed import LostAt, Missed, RankedPassage, why_missed
from rag_core.domain.documents import Metadata, Span
from rag_core.domain.passages import Passage
from rag_core.domain.status import Reason
from rag_core.errors import InvalidInput
from rag_core.language import terms
from rag_core.settings import Mode
from ui.app.texts import tell
from ui.ask.missed import in_words

EMBEDDER = HashEmbedder()
TOOLS = tools(EMBEDDER)
QUESTION = "What is the notice period?"


class PagedCorpus(MemoryCorpus):
    """Every line of a text is a page of its own, with one passage; a line "-" is an empty page, "?" one that could not
    be read.
    """

    def __init__(self, texts: Sequence[Text]) -> None:
        kept = [replace(t, body="\n".join(line for line in t.body.split("\n") if line not in "-?")) for t in texts]
        super().__init__(kept, EMBEDDER)
        self.lines = {t.id: t.body.split("\n") for t in texts}
        self.documents = [
            replace(
                document,
                page_count=len(self.lines[document.id]),
                unreadable_pages=tuple(n for n, line in enumerate(self.lines[document.id], 1) if line == "?"),
            )
            for document in self.documents
        ]
        numbers = {
            id: iter(n for n, line in enumerate(lines, 1) if line not in "-?") for id, lines in self.lines.items()
        }
        self.passages = [
            replace(one, spans=(Span(next(numbers[one.document]), 0, len(one.text)),)) for one in self.passages
        ]

    def page_text(self, document: str, page: int) -> str:
        return self.lines[document][page - 1].strip("?-")


CONTRACT = Text(
    "contract",
    "The notice period is 30 days.\nThe supplier delivers goods to Brno.\n-\n?\nThe price is 500 crowns.\nA notice is "
    "given in writing.",
    metadata=Metadata(values={"class": "law"}),
)
HANDBOOK = Text("handbook", "Employees have 25 days of vacation.\nThe office opens at nine.\nThe canteen serves soup.")
CORPUS = PagedCorpus([CONTRACT, HANDBOOK])


def missed(
    page: int, document: str = "contract", question: str = QUESTION, scope: list[str] | None = None, **values: object
) -> Missed:
    return why_missed(question, settings(**values), CORPUS, TOOLS, document, page, documents=scope)


def ranked(meaning: int, words: int, fused: int = 0, *, kept: bool = False) -> RankedPassage:
    one = Passage("d#1", "d", "Text.", (Span(1, 0, 5),))
    return RankedPassage(one, meaning, words, fused, kept)


def test_given_the_page_that_is_quoted_then_it_was_found_and_quoted() -> None:
    found = missed(1, max_sentences=1)

    assert found.lost_at is LostAt.QUOTED
    assert found.reason is Reason.NONE


def test_given_a_page_far_down_then_both_ranks_and_the_cut_are_named() -> None:
    found = missed(6, question="How many days is the notice period?", top_k=1, over_retrieve=8)
    best = found.passages[0]

    assert (found.lost_at, best.within_top_k, found.top_k) == (LostAt.CUT, False, 1)
    assert best.fused_rank > 1
    assert (best.dense_rank, best.lexical_rank, best.fused_rank) == (2, 2, 2)


def test_given_a_page_that_is_no_candidate_then_how_many_are_looked_at_is_named() -> None:
    found = missed(3, "handbook", top_k=1, over_retrieve=2)
    best = found.passages[0]

    assert found.lost_at is LostAt.NOT_CANDIDATE
    assert (best.fused_rank, found.candidates) == (0, 2)
    assert (best.dense_rank, best.lexical_rank) == (3, 4)


def test_given_a_page_that_shares_no_word_then_that_stands_instead_of_a_rank() -> None:
    found = missed(1, "handbook", question="notice period", top_k=1, over_retrieve=1)

    assert found.passages[0].lexical_rank == 0
    assert found.lost_at is LostAt.NOT_CANDIDATE


def test_given_a_page_that_was_read_then_the_page_whose_sentences_bear_more_is_named() -> None:
    found = missed(5, max_sentences=1)

    assert found.lost_at is LostAt.NOT_CHOSEN
    assert found.quoted == ("contract", 1)
    assert in_words(found) == tell(
        "missed.is_not_chosen", rank=found.passages[0].fused_rank, where=tell("missed.same_document", page=1)
    )


def test_given_a_page_of_another_document_was_quoted_then_no_name_of_a_file_is_in_the_words() -> None:
    found = missed(1, "handbook", question="How many days is the notice period?", max_sentences=1)

    assert found.lost_at is LostAt.NOT_CHOSEN
    assert found.quoted == ("contract", 1)
    assert tell("missed.other_document", page=1) in in_words(found)
    assert "contract" not in in_words(found)


def test_given_a_page_retrieved_behind_the_passages_that_are_read_then_that_is_the_reason() -> None:
    verdicts = {missed(page, document).passages[0].fused_rank: missed(page, document) for page, document in PAGES}

    assert [rank for rank, found in verdicts.items() if found.lost_at is LostAt.NOT_READ] == [
        r for r in verdicts if r > PASSAGES
    ]


def test_given_a_question_that_a_gate_refused_then_the_page_was_drafted_and_refused() -> None:
    found = missed(1, max_sentences=1, min_top_cosine=1.0, top_cosine_mode=Mode.ENFORCE)

    assert (found.lost_at, found.reason) == (LostAt.REFUSED, Reason.TOP_COSINE)


def test_given_a_claim_that_the_distance_cut_dropped_then_the_page_was_drafted_and_dropped() -> None:
    """Two pages are drafted; only the nearer passage lies within the cut."""
    drafted = {
        "question": "notice in writing",
        "max_sentences": 3,
        "extra_sentence_ratio": 0.0,
        "distance_mode": Mode.ENFORCE,
    }
    measurements = measure("notice in writing", settings(), CORPUS, TOOLS)
    far = next(
        hit.distance for hit in measurements.hits if hit.passage.page == 1 and hit.passage.document == "contract"
    )

    found = missed(1, max_distance=far - 0.01, **drafted)  # type: ignore[arg-type]

    assert (found.lost_at, found.reason) == (LostAt.DROPPED, Reason.NONE)


def test_given_the_only_claim_lies_beyond_the_distance_cut_then_the_page_was_dropped_too() -> None:
    """The closest passage, which asks and states nothing, passes the gate; the sentence that was drafted stands in
    another.
    """
    question = "How many crowns is the price?"
    corpus = PagedCorpus([Text("contract", f"{question}\nThe price is 500 crowns.", metadata=Metadata())])
    cut = settings(max_sentences=1, distance_mode=Mode.ENFORCE, max_distance=0.2)

    found = why_missed(question, cut, corpus, TOOLS, "contract", 2)

    assert (found.lost_at, found.reason) == (LostAt.DROPPED, Reason.ALL_CLAIMS_CUT)


def test_given_a_page_without_passages_then_it_says_whether_it_could_be_read() -> None:
    """S3-20: a page that could not be read is said to be one."""
    for page, lost_at in ((3, LostAt.NOT_INDEXED), (4, LostAt.UNREADABLE)):
        found = missed(page)
        assert (found.lost_at, found.passages) == (lost_at, ()), page


def test_given_a_document_outside_the_searched_ones_then_it_was_not_searched() -> None:
    found = missed(1, scope=["handbook"])

    assert (found.lost_at, found.passages) == (LostAt.NOT_SEARCHED, ())


def test_given_filters_then_only_their_documents_are_ranked() -> None:
    found = why_missed(QUESTION, settings(), CORPUS, TOOLS, "contract", 1, filters={"class": "law"})

    assert (found.lost_at, found.searched) == (LostAt.QUOTED, 4)
    assert (
        why_missed(QUESTION, settings(), CORPUS, TOOLS, "handbook", 1, filters={"class": "law"}).lost_at
        is LostAt.NOT_SEARCHED
    )


def test_given_a_greeting_then_nothing_was_searched() -> None:
    assert missed(1, question="Hello").lost_at is LostAt.NOT_ASKED


def test_given_a_failure_of_ours_then_that_is_said_and_nothing_else() -> None:
    found = missed(1, reranker="some-model")

    assert (found.lost_at, found.reason) == (LostAt.NOT_MEASURED, Reason.FAILURE)


@pytest.mark.parametrize(("document", "page"), [("nowhere", 1), ("contract", 0), ("contract", 7)])
def test_given_a_place_that_is_not_there_then_it_is_an_error_with_a_remedy(document: str, page: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        missed(page, document)
    assert caught.value.remedy


@each("lost_at", LostAt)
def test_given_any_verdict_then_it_has_a_sentence(lost_at: LostAt) -> None:
    found = Missed("d", 1, lost_at, (ranked(4, 0, 4, kept=True),), 9, 20, 10, Reason.OVERLAP, "raw", ("d", 3))

    assert in_words(found)


def test_given_a_draft_without_sentences_then_no_page_is_named_instead() -> None:
    found = Missed("d", 1, LostAt.NOT_CHOSEN, (ranked(4, 0, 4, kept=True),))

    assert in_words(found) == tell("missed.is_nothing_drafted", rank=4)


PAGES = [(passage.page, passage.document) for passage in CORPUS.passages]
questions = st.sampled_from([QUESTION, "vacation days", "Who painted the Mona Lisa?", "soup", "How many days?", "Brno"])
retrieval = st.fixed_dictionaries(
    {},
    optional={
        "top_k": st.integers(1, 9),
        "over_retrieve": st.integers(1, 3),
        "semantic_weight": st.sampled_from([0.0, 0.3, 0.5, 1.0]),
        "drafter": st.sampled_from(["extract", "raw"]),
    },
)


@given(question=questions, values=retrieval, scope=st.sampled_from([None, ["contract"], ["handbook.txt"]]))
def test_given_any_question_then_every_page_agrees_with_what_was_retrieved(
    question: str, values: dict[str, object], scope: list[str] | None
) -> None:
    measurements = measure(question, settings(**values), CORPUS, TOOLS, documents=scope)
    found = {
        one.passage.id: one
        for page, document in PAGES
        for one in missed(page, document, question, scope, **values).passages
    }

    assert [id for id, one in found.items() if one.within_top_k] == [
        p.id for p in CORPUS.passages if p.id in {h.passage.id for h in measurements.hits}
    ]
    for place, hit in enumerate(measurements.hits, 1):
        one = found[hit.passage.id]
        assert one.fused_rank == place
        assert hit.dense_rank in (0, one.dense_rank)
        assert hit.lexical_rank in (0, one.lexical_rank)


@given(question=questions, values=retrieval)
def test_given_any_question_then_all_passages_are_ranked_and_not_only_the_candidates(
    question: str, values: dict[str, object]
) -> None:
    found = [missed(page, document, question, **values).passages[0] for page, document in PAGES]
    cosines = EMBEDDER.embed([p.text for p in CORPUS.passages]) @ EMBEDDER.embed([question])[0]
    scores = CORPUS.lexical.scores(terms(question, "en"), range(len(PAGES)))

    assert sorted(one.dense_rank for one in found) == list(range(1, len(PAGES) + 1))
    assert [cosines[i] for i in np.argsort([one.dense_rank for one in found])] == sorted(cosines, reverse=True)
    assert [one.lexical_rank > 0 for one in found] == [score > 0 for score in scores]
