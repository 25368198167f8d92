"""A refusal names what was not found; what is decided stays as it was."""

from __future__ import annotations

import json
from dataclasses import replace

from builders import HashEmbedder, MemoryCorpus, Text, measurements, settings, tools
from folding import each

from rag_core.decision.decide import decide, replay
from rag_core.decision.measure import measure
from rag_core.decision.notes import MAX_NAME_CHARS, missing_in_words
from rag_core.domain.documents import Metadata
from rag_core.domain.measurements import Measurements, Understanding
from rag_core.domain.status import Reason
from rag_core.language import LANGUAGES
from rag_core.records import from_record, to_record
from rag_core.settings import Mode

CORPUS = MemoryCorpus(
    [
        Text(
            "lease",
            "The notice period of the lease is 30 days.\nMarie Curie signed it in 2024.",
            metadata=Metadata(date="2022-03"),
        ),
        Text("deed", "The deed of 2019 names the MK-40."),
    ],
    HashEmbedder(),
)
GATED = settings(correctness_mode=Mode.ENFORCE)
ASKED = "What was the notice period in 2031 for E7?"


def refused(*names: str, language: str = "en") -> Measurements:
    """A question that the correctness gate refuses."""
    return replace(
        measurements(0.9, of=GATED, correctness=0.01),
        question=ASKED,
        missing_entities=names,
        understanding=Understanding(language),
    )


def test_given_a_year_and_a_code_in_no_document_when_refused_then_they_are_named_and_replay_says_the_same() -> None:
    measured = measure(ASKED, GATED, CORPUS, tools())
    decision = decide(replace(measured, correctness=0.1))

    assert decision.reason is Reason.CORRECTNESS
    assert decision.explanation.startswith("Not found in the documents: 2031, E7. Refused: ")
    assert decision.suggestions == ("Add the document that is about it, or check the spelling.",)
    assert decision.to_json()["explanation"] == decision.explanation
    stored = from_record(json.loads(json.dumps(to_record(replace(measured, correctness=0.1)))))
    assert replay(stored, stored.settings).explanation == decision.explanation


@each("question", ["What was the notice period in 2024?", "Did Marie Curie sign it?"])
def test_given_what_is_there_when_refused_then_the_text_is_todays(question: str) -> None:
    decision = decide(replace(measure(question, GATED, CORPUS, tools()), correctness=0.1))

    assert decision.explanation.startswith("Refused: correctness did not pass")
    assert decision.suggestions == (
        "Ask with words that the document uses, or add the document that holds the answer.",
    )


def test_given_any_language_then_the_sentence_is_in_it_and_names_all() -> None:
    for language in (*LANGUAGES, "xx"):
        said = missing_in_words(refused("2031", "E7", "Brno", language=language), Reason.CORRECTNESS)
        assert "2031, E7, Brno" in said, language
        assert "{" not in said, language
    said = missing_in_words(refused("E7", language="de"), Reason.CORRECTNESS)
    assert said == "In den Dokumenten nicht gefunden: E7."


def test_given_hostile_names_then_they_are_short_few_and_never_filled_in() -> None:
    names = ("A" * 5000, "{names.__class__}", "[x](http://evil.example)", "Vladivostok")
    said = decide(refused(*names)).explanation

    assert f"{'A' * (MAX_NAME_CHARS - 1)}…, {{names.__class__}}, [x](http://evil.example). Refused" in said
    assert "Vladivostok" not in said


def test_given_another_reason_than_a_gate_then_nothing_is_said() -> None:
    measured = refused("2031")

    assert missing_in_words(measured, Reason.CITATIONS_VALID) == missing_in_words(measured, Reason.FAILURE) == ""
    assert decide(replace(measured, failure="It broke.")).explanation == "It broke."
    assert decide(replace(measured, correctness=0.99)).answered
