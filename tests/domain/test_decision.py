"""The one JSON form of a decision: every field always there, of the right type, with finite numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any

import pytest
from builders import claim, contradicted, draft, hit, hits, measurements, passage, settings
from builders import measured as measured_claim
from folding import each
from hypothesis import example, given
from hypothesis import strategies as st

from rag_core.decision.compose import compose
from rag_core.decision.decide import decide
from rag_core.domain.answer import Answer, Refusal, Reply, render
from rag_core.domain.claims import Claim, Conflict, Evidence
from rag_core.domain.decision import AttemptView, Decision, citation_coverage
from rag_core.domain.documents import Metadata, Page, Span
from rag_core.domain.drafts import ClaimMeasurement, Draft, taken_of
from rag_core.domain.llm_trace import Attempt, Call, Step
from rag_core.domain.measurements import LibraryFacts, Measurements, Understanding
from rag_core.domain.passages import Hit, Passage
from rag_core.domain.replies import SETTLED, reply
from rag_core.domain.status import AnswerStatus, ConfidenceLevel, Reason
from rag_core.domain.trace import Trace
from rag_core.settings import Mode, Settings

ROOT = Path(__file__).resolve().parents[2]
STYLES, FORMATS = ("inline", "end", "none"), ("[{id}]", "[Source {id}]", "[source:{chunk_id}]")
GREETED = measurements(answer="Hello.", understanding=Understanding("en", "greeting"))
DECISIONS = {
    "answer": decide(measurements(0.9, 0.8, correctness=0.7, answerability=0.8, features={"draft_cosine": 0.7})),
    "answer with both sides": decide(contradicted(settings(contradictions_mode=Mode.OBSERVE))),
    "contradicted": decide(contradicted(settings(contradictions_mode=Mode.ENFORCE))),
    "refusal before generation": decide(measurements(0.3, of=Settings.load("compliance"))),
    "refusal by an audit": decide(
        measurements(
            0.9,
            of=settings(facts_mode=Mode.ENFORCE),
            draft=draft([claim(passage())], [measured_claim(overlap=1.0, changed_facts=(("number", "31"),))]),
        )
    ),
    "nothing retrieved": decide(measurements()),
    "nothing drafted": decide(measurements(0.9, draft=Draft())),
    "failure": decide(measurements(failure="The model could not be loaded.")),
    "not run": decide(measurements(0.9, of=Settings.load())),
    "greeting": decide(GREETED),
    "about the library": decide(
        measurements(answer="One document.", understanding=Understanding("en", "about_library"))
    ),
    "not even measured": Decision.failed("What?", "The question is empty."),
}

CONTRACT: Mapping[str, type | tuple[type, ...]] = {
    "schema_version": int,
    "id": str,
    "status": str,
    "reason": str,
    "answer": str,
    "confidence": float,
    "confidence_basis": str,
    "confidence_level": str,
    "scores": dict,
    "citations": list,
    "retrieved": list,
    "trace": list,
    "judgements": list,
    "attempts": list,
    "suggestions": list,
    "metadata": dict,
    "question": str,
    "language": str,
    "reasons": list,
    "is_safe": bool,
    "is_refusal": bool,
    "hallucination": bool,
    "explanation": str,
    "claims": list,
    "conflicts": list,
    "notes": list,
    "places": list,
    "value": (dict, NoneType),
    "may_be": (dict, NoneType),
}
CITATION = {"id", "document", "page", "chunk_id", "excerpt", "spans", "boxes", "heading", "before", "after"}
RETRIEVED = {"document", "page", "chunk_id", "score", "text"}
TRACE = {"stage", "state", "mode", "value", "threshold", "direction", "scale", "reason", "ms"}


def sent(decision: Decision) -> dict[str, Any]:
    """As another program receives it; a number that JSON does not know is an error."""
    return dict(json.loads(json.dumps(decision.to_json("q1"), allow_nan=False)))


@each("decision", DECISIONS.values(), ids=DECISIONS)
def test_given_any_outcome_then_every_field_of_the_contract_is_there_with_its_type(decision: Decision) -> None:
    """S2-4: answer, status, confidence, hallucination flag and its reason, is_safe."""
    row = sent(decision)

    assert set(row) == set(CONTRACT)
    assert {name for name, kind in CONTRACT.items() if not isinstance(row[name], kind)} - {"confidence"} == set()
    assert (row["schema_version"], row["id"]) == (1, "q1")
    assert 0 <= row["confidence"] <= 1
    assert row["status"] in set(AnswerStatus)
    assert row["reason"] in set(Reason)
    assert row["confidence_level"] in set(ConfidenceLevel)
    assert row["confidence_basis"] in {"correctness", "answerability", "weighted", "mean", "top", "none"}
    assert 0 <= row["scores"]["correctness"] <= 1
    assert 0 <= row["scores"]["answerability"] <= 1
    assert -1 <= row["scores"]["top_cosine"] <= 1
    assert row["metadata"]["drafter"] in {"extract", "model", "raw", "none"}
    assert {"library_generation", "settings_hash"} <= set(row["metadata"])
    assert all(TRACE <= set(check) for check in row["trace"])
    assert all(CITATION <= set(one) for one in row["citations"])
    assert all(RETRIEVED <= set(one) for one in row["retrieved"])


@each("decision", DECISIONS.values(), ids=DECISIONS)
def test_given_any_outcome_then_only_success_is_safe_and_only_an_answer_has_sources(decision: Decision) -> None:
    """S2-3: only SUCCESS is safe, and that where its checks have judged. S0-7: a refusal has no sources."""
    row = sent(decision)

    assert row["is_safe"] is decision.is_safe() is (row["status"] == "success" and "unjudged" not in row["metadata"])
    assert row["is_refusal"] is (not decision.answered) is (row["status"] != "success")
    assert row["hallucination"] is (row["status"] == "hallucination_detected")
    assert bool(row["citations"]) is bool(row["claims"]) is (row["reason"] == "none")
    assert bool(row["reasons"]) is bool(row["explanation"]) is row["is_refusal"]


def test_given_an_answer_then_its_citations_say_where_and_what() -> None:
    """S3-19: answer, confidence, citations with id, source, page and excerpt, and the counts and times of the run."""
    row = sent(DECISIONS["answer"])

    assert row["citations"] == [
        {
            "id": 1,
            "document": "contract.pdf",
            "title": "Contract",
            "page": 1,
            "page_label": "",
            "chunk_id": "d1#1",
            "excerpt": "The notice period is 30 days.",
            "spans": [{"page": 1, "start": 0, "end": 29}],
            "boxes": [],
            "heading": "",
            "before": "",
            "after": "",
            "date": "",
            "date_source": "",
            "ocr": False,
            "ocr_engine": None,
            "unsure": [],
        }
    ]
    assert row["answer"] == "The notice period is 30 days. [1]"
    assert row["claims"] == [
        {
            "text": "The notice period is 30 days.",
            "cited": ["d1#1"],
            "relevance": 0.8,
            "word_for_word": True,
            "as_the_scan_was_read": False,
            "support": 1.0,
            "flags": [],
            "read": True,
        }
    ]
    assert {"chunks_retrieved": 2, "chunks_used": 1, "total_tokens": 0}.items() <= row["metadata"].items()
    assert {"retrieval_time_ms", "generation_time_ms"} <= set(row["metadata"])
    assert row["scores"]["draft_cosine"] == 0.7


@each(
    ("cited", "share"),
    [((True, True), 1.0), ((True, False), 0.5), ((False, True, False), 0.3333), ((False,), 0.0), ((), 0.0)],
)
def test_given_sentences_then_the_coverage_is_the_share_with_evidence(cited: tuple[bool, ...], share: float) -> None:
    """S3-19, S3-30: of an answer and of a rejected draft; a source that is only named counts for nothing."""
    whole = claim(passage())
    claims = tuple(whole if one else replace(whole, evidence=()) for one in cited)
    made = Draft("model", claims, tuple(measured_claim() for _ in claims))

    assert citation_coverage(claims) == share
    assert AttemptView(1, "rejected", Attempt((), Call(Step.DRAFT), made)).to_json()["citation_coverage"] == share


def test_given_contradicting_sources_then_both_sides_are_there_by_the_places_of_their_claims() -> None:
    """S4-21: both perspectives, for another program to read."""
    row = sent(DECISIONS["answer with both sides"])

    assert row["conflicts"] == [
        {
            "claims": [0, 1],
            "values": ["30 days", "60 days"],
            "documents": ["contract.pdf", "policy.pdf"],
            "pages": [1, 1],
            "dates": ["2024-03-01", "2026-03-01"],
            "date_sources": ["given", "given"],
            "newer": "policy.pdf",
            "newer_by_file_date": False,
        }
    ]
    assert sent(DECISIONS["contradicted"])["conflicts"] == []


def test_given_a_question_that_was_not_even_measured_then_its_scores_are_the_least_there_are() -> None:
    row = sent(DECISIONS["not even measured"])

    assert row["scores"] == {"correctness": 0.0, "answerability": 0.0, "top_cosine": -1.0}
    assert (row["status"], row["explanation"], row["language"]) == ("error", "The question is empty.", "und")
    assert row["metadata"] == {"drafter": "none", "library_generation": 0, "settings_hash": ""}


def test_given_long_fractions_then_numbers_are_rounded_to_six_and_four_places() -> None:
    third = 1 / 3
    drafted = draft([replace(claim(passage()), relevance=third)])
    of = measurements(hits=(hit(third, lexical=third),), correctness=third, answerability=third, draft=drafted)
    row = sent(decide(of))

    assert row["scores"]["correctness"] == row["scores"]["answerability"] == 0.333333
    assert (row["retrieved"][0]["cosine"], row["retrieved"][0]["lexical"], row["claims"][0]["relevance"]) == (
        0.333333,
        0.3333,
        0.3333,
    )


def test_given_an_answer_then_what_was_retrieved_is_listed_best_first_with_names() -> None:
    row = sent(DECISIONS["answer"])

    assert [(one["document"], one["chunk_id"], one["cosine"]) for one in row["retrieved"]] == [
        ("contract.pdf", "d1#1", 0.9),
        ("contract.pdf", "d1#2", 0.8),
    ]
    assert row["retrieved"][0]["text"] == "The notice period is 30 days."


def test_given_a_passage_over_two_pages_when_listed_then_both_pages_are_named() -> None:
    crossing = Passage("d1#1", "d1", "text", (Span(8, 0, 2), Span(1, 5, 9), Span(8, 3, 4)))

    row = sent(decide(measurements(hits=(hit(of=crossing),))))["retrieved"][0]

    assert (row["page"], row["pages"]) == (8, [1, 8])


@given(data=st.data())
def test_given_whatever_is_taken_from_or_invented_in_an_answer_then_it_cannot_be_built(data: st.DataObject) -> None:
    """S2-26: every answer is cited. Neither an uncited nor an invented answer can be constructed, in any way."""
    good = DECISIONS["answer"].outcome
    assert isinstance(good, Answer)
    one, measured = good.claims[0], good.measured[0]
    forged = Evidence("p9", "d9", data.draw(st.text(min_size=1)), (Span(1, 0, data.draw(st.integers(1, 99))),))
    invented = Claim(data.draw(st.text(min_size=1)))
    wrong: dict[str, dict[str, Any]] = {
        "no claim": {"claims": (), "measured": ()},
        "an invented sentence": {"claims": (*good.claims, invented), "measured": (*good.measured, measured)},
        "an invented sentence alone": {"claims": (invented,), "measured": (measured,)},
        "a forged place": {"claims": (replace(one, evidence=(forged,)),)},
        "a place more": {"claims": (replace(one, evidence=(*one.evidence, forged)),)},
        "another quote": {
            "claims": (replace(one, evidence=(replace(one.evidence[0], quote=one.evidence[0].quote + "x"),)),)
        },
        "no text": {"claims": (replace(one, text=" "),)},
        "no citation": {"citations": ()},
        "a citation of another place": {"citations": (replace(good.citations[0], chunk_id="p9"),)},
        "a citation of another document": {"citations": (replace(good.citations[0], document_id="d9"),)},
        "nothing measured": {"measured": (taken_of(one, ClaimMeasurement()),)},
        "no measurement": {"measured": ()},
        "a source that was not retrieved": {"measured": (taken_of(one, replace(measured, fabricated=("9",))),)},
        "a quote that stands nowhere": {"measured": (taken_of(one, replace(measured, quotes_missing=("x",))),)},
        "the measurements of another claim": {"claims": (replace(one, text=one.text + "x"),)},
        "measurements of nobody knows what": {"measured": (replace(measured),)},
        "a citation that nothing rests on": {
            "citations": (*good.citations, replace(good.citations[0], id=2, chunk_id="p9"))
        },
        "a citation twice": {"citations": (*good.citations, replace(good.citations[0], id=2))},
        "a citation of another page": {"citations": (replace(good.citations[0], page=good.citations[0].page + 1),)},
        "words for a number": {"citations": (replace(good.citations[0], id=data.draw(st.text())),)},
        "a style of nobody": {"style": data.draw(st.text().filter(lambda text: text not in ("inline", "end", "none")))},
        "a format that says something": {"format": data.draw(st.text()) + "{id}."},
        "a conflict of no claims": {"conflicts": (Conflict(0, 1, ("1", "2"), ("d1", "d2"), (1, 1)),)},
        "claims that can be changed later": {"claims": list(good.claims)},
    }
    what = data.draw(st.sampled_from(sorted(wrong)))

    with pytest.raises(ValueError, match="refuse instead"):
        replace(good, **wrong[what])


def answers() -> Mapping[str, Answer]:
    """An extract, a row of a table, and a draft that a model put into words of its own, as `compose` built them."""
    row = "Parameter | Value | Unit: Pressure | 16 | bar"
    own = draft(
        [claim(passage(), "You must give 30 days of notice.")],
        [measured_claim(overlap=0.6, similarity=0.8, support=0.9)],
    )
    table = draft([claim(passage(text="Pressure | 16 | bar"), row)])
    built = {"extract": None, "row": table, "model": replace(own, drafter="model")}
    found = {name: compose(measurements(0.9, **({"draft": one} if one else {}))) for name, one in built.items()}
    return {name: one for name, one in found.items() if one is not None}


def forgeries(good: Answer, invented: str) -> Iterator[tuple[str, Callable[[], Answer]]]:
    """Each field of an answer and of all that it is made of, told to say something else, by `replace` and by building
    anew.
    """
    whole = {one.name: getattr(good, one.name) for one in fields(Answer)}
    for name, value in whole.items():
        parts = [value] if isinstance(value, tuple) else []
        others: list[Any] = [
            invented,
            f"{invented} {value}",
            (invented,),
            [invented],
            None,
            0,
            (Claim(invented),),
            (ClaimMeasurement(),),
        ]
        for one in parts[0] if parts else ():
            for part in fields(one):
                for text in (invented, (invented,), (), None, ((invented, invented),)):
                    others.append(partial(_with, one, part.name, text))
            others.append(lambda one=one: (one, one))
        if name == "claims":
            others += [lambda: (replace(good.claims[0], text=invented, evidence=good.claims[0].evidence),)]
            others += [lambda: (*good.claims, replace(good.claims[0], text=invented))]
        for other in others:
            made = other if callable(other) else partial(lambda it: it, other)
            yield name, lambda name=name, made=made: replace(good, **{name: made()})
            yield name, lambda name=name, made=made: Answer(**{**whole, name: made()})


def _with(one: Any, name: str, value: Any) -> tuple[Any, ...]:
    return (replace(one, **{name: value}),)


@given(words=st.text("abcdefghij ", min_size=3).filter(str.strip))
@example(words="The moon is made of cheese.")
def test_given_any_field_of_an_answer_told_to_say_something_else_then_it_is_not_said(words: str) -> None:
    """S2-26: whatever is built or replaced, the text is made of the claims that were measured, in their words."""
    invented = f"Qx {words.strip()}"
    for kind, good in answers().items():
        honest = {replace(good, style=style, format=shown).text for style in STYLES for shown in FORMATS}
        tried = 0
        for name, forge in forgeries(good, invented):
            try:
                forged = forge()
            except (ValueError, TypeError, AttributeError):
                tried += 1
                continue
            assert forged.text in honest, f"{kind}: {name} says {forged.text!r}"
        assert tried > 100, "hardly anything was refused, so hardly anything was tried"


def test_given_measurements_with_another_number_then_they_are_of_no_claim_any_more() -> None:
    good = DECISIONS["answer"].outcome
    assert isinstance(good, Answer)
    one = good.measured[0]

    assert one.of == good.claims[0]
    assert replace(one, support=1.0).of is None
    with pytest.raises((TypeError, ValueError)):
        replace(one, of=Claim("The moon is made of cheese."))
    with pytest.raises(TypeError):
        ClaimMeasurement(of=Claim("The moon is made of cheese."))  # type: ignore[call-arg]


def test_given_the_code_then_only_measuring_and_reading_records_bind_measurements_to_a_claim() -> None:
    importing = re.compile(r"import .*\btaken_of\b")
    named = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "rag_core").rglob("*.py")
        if importing.search(path.read_text("utf-8"))
    }

    assert named == {
        "rag_core/compression/llm/drafting.py",
        "rag_core/grounding/claims.py",
        "rag_core/records/shapes.py",
    }


def test_given_an_answer_then_its_text_is_its_claims_with_their_citations_and_nothing_else() -> None:
    good = DECISIONS["answer"].outcome
    assert isinstance(good, Answer)

    assert good.text == " ".join(f"{claim.text} [1]" for claim in good.claims)
    assert replace(good, style="none").text == " ".join(claim.text for claim in good.claims)
    with pytest.raises((AttributeError, TypeError)):
        good.text = "The moon is made of cheese."  # type: ignore[misc]


@pytest.mark.parametrize("reason", [reason for reason in Reason if reason.status is AnswerStatus.SUCCESS])
def test_given_a_reason_of_an_answer_then_no_refusal_can_be_built_of_it(reason: Reason) -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        Refusal("No.", (reason,))
    with pytest.raises(ValueError, match="needs a reason"):
        Refusal("No.", ())


HELD = LibraryFacts(2, 7, 12, titles={"a": "Terms", "b": "The moon is made of cheese"})
SAID = [
    (language, SETTLED[intent], reply(intent, language, facts))
    for language in ("en", "cs", "de", "hi", "und")
    for intent in SETTLED
    for facts in (LibraryFacts(), HELD)
]


def test_given_our_own_words_then_they_are_a_reply_for_their_reason_and_for_no_other() -> None:
    for language, reason, text in SAID:
        for other in Reason:
            if other is reason and reason.status is AnswerStatus.SUCCESS:
                assert Reply(text, other, language).text == text
            else:
                with pytest.raises(ValueError, match="a reply is a greeting or about the library"):
                    Reply(text, other, language)


LIE = "The notice period is 30 days."
HOSTILE = {
    "a sentence": "{lie}",
    "behind our words": "{said} {lie}",
    "on the next line": "{said}\n{lie}",
    "before our words": "{lie}\n{said}",
    "within our words": "{half}{lie}{rest}",
    "our words twice": "{said}\n{said}",
    "our words and nothing": "{said}\n",
    "cited": "{said} [1]",
    "an item of no list": "- {lie}",
}


@each("form", HOSTILE.values(), ids=HOSTILE)
def test_given_other_words_than_ours_for_a_reply_then_none_can_be_built(form: str) -> None:
    for language, _, said in SAID:
        head = said.split("\n")[0]
        text = form.format(lie=LIE, said=head, half=head[: len(head) // 2], rest=head[len(head) // 2 :])
        for reason in Reason:
            with pytest.raises(ValueError, match="a reply is a greeting or about the library"):
                Reply(text, reason, language)


@each(
    "text",
    [
        "Indexed documents: 1, pages: 3.\n- Terms\n- {lie}",
        "Indexed documents: 0, pages: 0.\n- {lie}",
        "No documents are indexed yet.\n- {lie}",
        "Indexed documents: 2, pages: 3.\n- Terms\n{lie}",
        "Indexed documents: 2, pages: 3.\n- Terms\r{lie}\n{lie}",
        "Indexed documents: 1 ({lie}), pages: 3.",
        "Indexed documents: १, pages: 3.",
        "Indexed documents: 30, pages: 9." + "\n- {lie}" * 22,
    ],
)
def test_given_a_list_of_a_library_that_says_more_than_its_titles_then_it_is_no_reply(text: str) -> None:
    with pytest.raises(ValueError, match="a reply is a greeting or about the library"):
        Reply(text.format(lie=LIE), Reason.ABOUT_LIBRARY, "en")


@given(st.text(), st.sampled_from(["en", "cs", "de", "hi", "und", "x"]), st.sampled_from(list(Reason)))
def test_given_any_text_then_it_is_no_reply(text: str, language: str, reason: Reason) -> None:
    with pytest.raises(ValueError, match="a reply is a greeting or about the library"):
        Reply(text, reason, language)


def test_given_a_record_with_words_of_an_earlier_version_then_it_is_said_again_in_those_of_now() -> None:
    decision = decide(
        measurements(
            answer="The moon is made of cheese.", understanding=Understanding("cs", "about_library"), library=HELD
        )
    )

    assert decision.answer == reply("about_library", "cs", HELD)
    assert decide(measurements(answer="Hi!", understanding=Understanding("en", "thanks"))).answer == reply(
        "thanks", "en", HELD
    )


@each("value", [-0.01, 1.01, math.nan, math.inf])
def test_given_a_confidence_that_is_none_then_no_decision_can_be_built(value: float) -> None:
    with pytest.raises(ValueError, match=r"Decision\.confidence must be in \[0, 1\]"):
        Decision("?", "en", Refusal("", (Reason.FAILURE,)), Trace(), confidence=value)


@each("value", [math.nan, math.inf, -math.inf, 1.5])
def test_given_a_measurement_that_is_no_number_of_its_range_then_it_is_rejected_where_it_is_born(value: float) -> None:
    builders = {
        "Hit.cosine": lambda: hit(value),
        "Hit.rerank": lambda: hit(rerank=value),
        "Metadata.authority": lambda: Metadata(authority=value),
        "Claim.relevance": lambda: Claim("x", relevance=value),
        "ClaimMeasurement.overlap": lambda: measured_claim(overlap=value),
        "ClaimMeasurement.similarity": lambda: measured_claim(similarity=value),
        "Measurements.correctness": lambda: measurements(0.5, correctness=value),
        "Measurements.answerability": lambda: measurements(0.5, answerability=value),
        "Measurements.relevance": lambda: measurements(0.5, relevance=value),
    }
    for name, build in builders.items():
        with pytest.raises(ValueError, match=name.replace(".", r"\.")):
            build()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_given_a_score_that_is_not_finite_then_it_is_rejected_where_it_is_born(value: float) -> None:
    for build in (
        lambda: Hit(passage(), value, 0.5, 1.0),
        lambda: Hit(passage(), 1.0, 0.5, value),
        lambda: Measurements("?", settings(), features={"top_cosine": value}),
    ):
        with pytest.raises(ValueError, match="finite"):
            build()
    with pytest.raises(ValueError, match="lexical >= 0"):
        Hit(passage(), 1.0, 0.5, -0.1)


@each("cosine", [n / 100 for n in range(-100, 101)])
def test_given_a_cosine_of_two_decimals_then_its_distance_is_exact(cosine: float) -> None:
    """S4-7: distance 0.8 is cosine 0.2, and 0.28 is 0.72; a rounding error must not decide at the limit."""
    assert hit(cosine).distance == (100 - round(cosine * 100)) / 100


def test_given_parts_that_cannot_be_then_they_are_rejected() -> None:
    for build in (
        lambda: Span(0, 0, 1),
        lambda: Span(1, 1, 1),
        lambda: Span(1, -1, 1),
        lambda: Passage("p", "d", "", (Span(1, 0, 1),)),
        lambda: Passage("p", "d", "text", ()),
    ):
        with pytest.raises(ValueError, match=r"needs"):
            build()
    with pytest.raises(ValueError, match=r"Page\.number must be >= 1"):
        Page(0, "text")
    with pytest.raises(ValueError, match="without citations"):
        render([claim(passage())], {}, "inline", "[{id}]")


def test_given_a_draft_whose_text_was_deleted_then_its_length_is_the_one_that_was_stored() -> None:
    assert Draft(stored_chars=0, text="Four").chars == 0
    assert Draft(text="Four").chars == 4


def test_given_the_facts_of_a_library_then_they_ride_in_the_metadata() -> None:
    decision = decide(measurements(0.9, library=LibraryFacts(version=7, model="m@float32"), hits=hits(0.9)))

    assert decision.metadata["library_generation"] == 7
    assert decision.metadata["embedding_model"] == "m@float32"
    assert decision.retrieved[0][0] == "d1"
