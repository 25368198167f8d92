"""An answer from a scan: it is never called word for word, says which words OCR is not sure of, and is not of the
highest level on them.
"""

from __future__ import annotations

import json
from dataclasses import replace

from builders import claim, draft, hit, measured, measurements, passage
from folding import each

from rag_core.decision.decide import decide
from rag_core.decision.notes import MAX_UNSURE
from rag_core.domain.documents import Box, Span
from rag_core.domain.measurements import Measurements
from rag_core.domain.scanned import Unsure
from rag_core.domain.status import ConfidenceLevel, Reason
from rag_core.domain.trace import CheckResult
from rag_core.records import from_record, to_record

TEXT = "The fee is 40 Kč a year under § 14."


def unsure(word: str, sure: float = 0.5) -> Unsure:
    start = TEXT.index(word)
    return Unsure("d1", Span(1, start, start + len(word)), sure, Box(1, 2, 3, 4), word)


def scanned(*words: Unsure, known: bool = True, ocr: bool = True) -> Measurements:
    """A question that is answered by one sentence of a scan."""
    found = hit(0.99, of=passage(text=TEXT, ocr=ocr))
    one = claim(found.passage, TEXT)
    drafted = draft([one], [measured(word_for_word=True, support=1.0)])
    cited = {
        key: replace(
            citation, ocr=ocr, unsure=words if known else None, doubtful=any(word.figure for word in words) or not known
        )
        for key, citation in drafted.citations.items()
    }
    return measurements(hits=(found,), correctness=0.99, answerability=0.99, draft=replace(drafted, citations=cited))


def check(of: Measurements, name: str) -> CheckResult:
    return next(one for one in decide(of).trace.checks if one.stage == name)


def test_given_a_sentence_of_a_scan_then_nothing_calls_it_word_for_word() -> None:
    said = json.dumps(decide(scanned(unsure("40"))).to_json())

    (told,) = decide(scanned()).to_json()["claims"]
    assert (told["word_for_word"], told["as_the_scan_was_read"]) == (False, True)
    assert "word for word" not in said
    assert check(scanned(), Reason.SUPPORT).found == "every claim stands in its source as the scan was read"


def test_given_a_word_of_a_text_layer_in_two_readings_then_it_is_named_beside_the_answer() -> None:
    decision = decide(scanned(unsure("40", 0.0), ocr=False))

    (note,) = [note for note in decision.notes if "two readings" in note]
    assert "[1] The file has two readings of these words, and may show other letters: “40”" in note
    assert "OCR" not in note
    assert decision.confidence_level is ConfidenceLevel.MEDIUM
    assert not any("two readings" in note for note in decide(scanned(ocr=False)).notes)


def test_given_a_sentence_of_a_text_layer_then_it_is_word_for_word_and_nothing_is_said_of_ocr() -> None:
    decision = decide(scanned(ocr=False))

    (told,) = decision.to_json()["claims"]
    assert (told["word_for_word"], told["as_the_scan_was_read"]) == (True, False)
    assert not any("OCR" in note for note in decision.notes)
    assert decision.confidence_level is ConfidenceLevel.HIGH


@each(
    ("of", "level", "note"),
    [
        (scanned(), ConfidenceLevel.HIGH, "[1] read by OCR, and given as the scan was read."),
        (
            scanned(unsure("Kč")),
            ConfidenceLevel.HIGH,
            "[1] read by OCR, and given as the scan was read; not sure of: “Kč”.",
        ),
        (
            scanned(unsure("40"), unsure("§")),
            ConfidenceLevel.MEDIUM,
            "[1] read by OCR, and given as the scan was read; not sure of: “40” (0/O?), “§” (§/$/S?). "
            "The confidence level is medium at most.",
        ),
        (
            scanned(known=False),
            ConfidenceLevel.MEDIUM,
            "[1] read by OCR, and given as the scan was read; how sure it was of each word is not known. "
            "The confidence level is medium at most.",
        ),
    ],
)
def test_given_a_scan_then_a_note_says_what_is_not_sure(of: Measurements, level: ConfidenceLevel, note: str) -> None:
    decision = decide(of)

    assert decision.confidence_level is level
    assert note in decision.notes


def test_given_many_unsure_words_then_a_note_names_some_and_counts_the_rest() -> None:
    many = [replace(unsure("40"), text=f"4{number}") for number in range(MAX_UNSURE + 2)]

    (note,) = (note for note in decide(scanned(*many)).notes if "OCR" in note)

    assert note.count("“") == MAX_UNSURE
    assert "and 2 more" in note


def test_given_a_citation_of_a_scan_when_written_as_json_then_each_unsure_word_is_there_with_its_place() -> None:
    (cited,) = decide(scanned(unsure("14"))).to_json()["citations"]
    (unknown,) = decide(scanned(known=False)).to_json()["citations"]

    assert cited["ocr"] is True
    assert cited["unsure"] == [
        {
            "text": "14",
            "page": 1,
            "start": 32,
            "end": 34,
            "sure": 0.5,
            "figure": True,
            "alike": ["1/l/I"],
            "box": {"x0": 1, "y0": 2, "x1": 3, "y1": 4},
        }
    ]
    assert unknown["unsure"] is None


def test_given_unsure_words_when_recorded_then_their_text_is_not_in_the_record_and_they_come_back() -> None:
    of = scanned(unsure("§"))
    row = json.loads(json.dumps(to_record(of), ensure_ascii=False))

    assert "§" not in json.dumps(row, ensure_ascii=False)
    assert from_record(row, lambda document, page: TEXT).draft.citations == of.draft.citations
    # the figure's place is known, its text deleted
    assert decide(from_record(row)).confidence_level is ConfidenceLevel.MEDIUM
