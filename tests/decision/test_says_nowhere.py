"""A refusal names what no document speaks of; what is decided stays as it was."""

from __future__ import annotations

import json
from dataclasses import replace

from builders import HashEmbedder, MemoryCorpus, Text, measurements, settings, tools
from folding import each

from rag_core.decision.decide import decide, replay
from rag_core.decision.measure import measure
from rag_core.decision.notes import MAX_NAME_CHARS, nowhere_in_words
from rag_core.domain.documents import Metadata
from rag_core.domain.measurements import Measurements, Understanding
from rag_core.domain.status import Reason
from rag_core.errors import LibraryDamaged
from rag_core.gating.named import nowhere_spoken_of
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


def refused(question: str = ASKED, *names: str, chosen: bool = False, language: str = "en") -> Measurements:
    """A question that the correctness gate refuses."""
    asked = replace(
        measurements(0.9, of=GATED, correctness=0.01),
        question=question,
        nowhere=names,
        understanding=Understanding(language),
    )
    return replace(asked, library=replace(asked.library, chosen=chosen))


def test_given_a_year_and_a_code_in_no_document_when_refused_then_they_are_named_and_replay_says_the_same() -> None:
    measured = measure(ASKED, GATED, CORPUS, tools())
    decision = decide(replace(measured, correctness=0.1))

    assert measured.nowhere == ("2031", "E7")
    assert decision.reason is Reason.CORRECTNESS
    assert decision.explanation.startswith("No document here speaks of 2031 or E7. Refused: ")
    assert decision.suggestions == ("Add the document that is about it, or check the spelling.",)
    assert decision.to_json()["explanation"] == decision.explanation
    stored = from_record(json.loads(json.dumps(to_record(replace(measured, correctness=0.1)))))
    assert (stored.nowhere, stored.library.chosen) == (measured.nowhere, False)
    assert replay(stored, stored.settings).explanation == decision.explanation


@each(
    "question",
    ["What was the notice period in 2024?", "Did Marie Curie sign it?", "Did Marje Curie?", "What is due in 2022?"],
)
def test_given_what_is_there_when_refused_then_the_text_is_todays(question: str) -> None:
    measured = measure(question, GATED, CORPUS, tools())
    decision = decide(replace(measured, correctness=0.1))

    assert measured.nowhere == ()
    assert decision.explanation.startswith("Refused: correctness did not pass")
    assert decision.suggestions == (
        "Ask with words that the document uses, or add the document that holds the answer.",
    )


def test_given_chosen_documents_then_the_sentence_says_so_and_speaks_of_no_word_that_another_document_has() -> None:
    measured = measure("What was due in 2031 and in 2019?", GATED, CORPUS, tools(), documents=["lease"])

    assert measured.missing_entities == ("2031", "2019")
    assert (measured.nowhere, measured.library.chosen) == (("2031",), True)
    assert decide(replace(measured, correctness=0.1)).explanation.startswith(
        "None of the chosen documents speaks of 2031. "
    )


def test_given_any_language_then_the_sentence_is_in_it_and_names_all() -> None:
    for language in (*LANGUAGES, "xx"):
        for chosen in (False, True):
            said = nowhere_in_words(
                refused(ASKED, "2031", "E7", "Brno", chosen=chosen, language=language), Reason.CORRECTNESS
            )
            assert "2031, E7 " in said, language
            assert "Brno" in said, language
            assert "{" not in said, language
    assert nowhere_in_words(refused(ASKED, "E7", language="de"), Reason.CORRECTNESS) == "Kein Dokument hier erwähnt E7."


def test_given_hostile_names_then_they_are_short_few_and_never_filled_in() -> None:
    names = ("A" * 5000, "{names.__class__}", "[x](http://evil.example)", "Vladivostok")
    said = decide(refused(ASKED, *names)).explanation

    assert f"{'A' * (MAX_NAME_CHARS - 1)}…, {{names.__class__}} or [x](http://evil.example). Refused" in said
    assert "Vladivostok" not in said


def test_given_another_reason_than_a_gate_then_nothing_is_said() -> None:
    measured = refused(ASKED, "2031")

    assert nowhere_in_words(measured, Reason.CITATIONS_VALID) == nowhere_in_words(measured, Reason.FAILURE) == ""
    assert decide(replace(measured, failure="It broke.")).explanation == "It broke."
    assert decide(replace(measured, correctness=0.99)).answered


def test_given_a_page_that_cannot_be_read_or_no_document_then_nothing_is_said() -> None:
    class Damaged(MemoryCorpus):
        def page_text(self, document: str, page: int) -> str:
            raise LibraryDamaged("A page is gone.", remedy="Restore it.")

    hidden = MemoryCorpus([Text("scan", "The notice period.", unreadable=(2,))], HashEmbedder())
    for corpus in (hidden, MemoryCorpus([], HashEmbedder())):
        assert measure("What happened in 2031?", settings(), corpus, tools()).nowhere == ()
    whole = MemoryCorpus([Text("lease", "The notice period.")], HashEmbedder())
    measured = measure("What happened in 2031?", settings(), whole, tools())
    assert measured.nowhere == nowhere_spoken_of(measured, ["2031"], whole, None) == ("2031",)
    assert (
        nowhere_spoken_of(measured, ["2031"], Damaged([Text("lease", "The notice period.")], HashEmbedder()), None)
        == ()
    )


def test_given_a_word_in_a_running_header_alone_then_it_is_there() -> None:
    corpus = MemoryCorpus([Text("report", "Net sales rose.")], HashEmbedder())
    corpus.pages["report"] = "Vladivostok 2031\nNet sales rose."

    measured = measure("What were net sales of Vladivostok in 2031?", settings(), corpus, tools())

    assert measured.missing_entities == ("Vladivostok", "2031")
    assert measured.nowhere == ()
