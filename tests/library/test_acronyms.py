"""What an acronym of a question stands for, by a list; and nothing else changes."""

from __future__ import annotations

from pathlib import Path

from folding import each
from library_kit import HashEmbedder, library, text

from rag_core import Settings
from rag_core.decision.measure import measure
from rag_core.decision.tools import Tools
from rag_core.language import terms
from rag_core.retrieval.acronyms import widened

SLA, NDA, VAT = "service level agreement", "non-disclosure agreement", "value added tax"


@each(
    ("asked", "language", "found"),
    [
        ("What does the SLA say?", "en", SLA),
        ("What do the SLA, the SLA and the NDA say?", "en", f"{SLA} {NDA}"),
        ("Is XA, XB, VAT or NDA due?", "en", VAT),  # three are looked up
        ("Kolik je DPH?", "cs", "daň z přidané hodnoty"),
        ("WHAT DOES THE SLA SAY?", "en", ""),
        ("What is the sla, or SLAs?", "en", ""),
        ("What is the XQZ?", "en", ""),
        ("What is soup?", "en", ""),
    ],
)
def test_given_a_question_then_its_first_words_of_capitals_are_looked_up(asked: str, language: str, found: str) -> None:
    """S3-27: acronyms."""
    assert widened(asked, language) == tuple(dict.fromkeys(terms(found, language)))


def test_given_an_acronym_of_the_list_when_asked_then_the_passage_with_its_words_ranks_higher(tmp_path: Path) -> None:
    """S3-27: the question says SLA, the rule says what that is."""
    settings, made = Settings.load("open"), library(tmp_path, "one")
    rule = "A broken lift is repaired within two days under the service level agreement."
    assert not made.add([text("repairs", rule), text("soup", "The canteen serves soup.")], settings).problems

    asked = [f"Within how many days does the {name} promise a lift?" for name in ("SLA", "XYZ")]
    hits = [measure(one, settings, made.snapshot, Tools(HashEmbedder())).hits for one in asked]
    found, without = (next(one for one in of if "two days" in one.passage.text).lexical for of in hits)
    assert found > without
