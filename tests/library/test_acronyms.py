"""What an acronym of a question stands for: by the documents' own definitions, then by a list; and nothing else
changes.
"""

from __future__ import annotations

import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st
from library_kit import HashEmbedder, library, text

from rag_core import Settings
from rag_core.decision.measure import measure
from rag_core.decision.tools import Tools
from rag_core.language import terms
from rag_core.library.stored.snapshot import Snapshot
from rag_core.retrieval.acronyms import MAX_ACRONYMS, acronyms, long_form, widened

SETTINGS = Settings.load("open")
REPAIR = "A broken lift is repaired within two days under the house maintenance framework."
DEFINED = "The house maintenance framework (HMF) was signed in May."


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    made = library(tmp_path_factory.mktemp("acronyms"), "one")
    texts = {
        "repairs": REPAIR,
        "signed": DEFINED,
        "soup": "The canteen serves soup.",
        "german": "Der Anhang über die Siedlung Linden Allee (SLA) ist neu.",
    }
    sources = [text(name, said, language="de" if name == "german" else "en") for name, said in texts.items()]
    assert not made.add(sources, SETTINGS).problems
    return made.snapshot


@each(
    ("acronym", "said", "found"),
    [
        ("SLA", "The service level agreement (SLA) holds.", "service level agreement"),
        ("SLA", "SLA (service level agreement) holds.", "service level agreement"),
        ("AGB", "Es gelten die Allgemeinen Geschäftsbedingungen (AGB).", "Allgemeinen Geschäftsbedingungen"),
        ("DPH", "Cena je bez daně z přidané hodnoty (DPH).", "daně z přidané hodnoty"),
        ("BOSH", "The board of safety and health (BOSH) met.", "board of safety and health"),
        ("SLA", "The bill is due (SLA).", ""),
        ("SLA", "The price (SLA (old)) holds.", ""),
        ("SLA", "SLA (see page 4) holds.", ""),
        ("SLA", "(SLA)", ""),
        ("SLA", "", ""),
    ],
)
def test_given_a_text_then_it_defines_an_acronym_only_by_its_letters(acronym: str, said: str, found: str) -> None:
    """S3-27: acronyms from the documents' own definitions."""
    assert long_form(acronym, said) == found


@each(
    ("asked", "found"),
    [
        ("What does the SLA say?", ("SLA",)),
        ("WHAT DOES THE SLA SAY?", ()),
        ("What is Is?", ()),
        ("AB, AB and AB2", ("AB", "AB2")),
        ("A B C", ()),
        ("AA BB CC DD and so on", ("AA", "BB", "CC")),
        ("", ()),
    ],
)
def test_given_a_question_then_its_acronyms_are_the_first_words_of_capitals(asked: str, found: tuple[str, ...]) -> None:
    assert acronyms(asked) == found
    assert len(found) <= MAX_ACRONYMS


def test_given_a_document_that_defines_an_acronym_then_the_passage_with_its_words_gains(snapshot: Snapshot) -> None:
    """S3-27: the question says HMF, the rule says what that is."""
    asked = "Within how many days does the HMF promise a lift?"

    assert widened(asked, "en", snapshot, None) == tuple(terms("house maintenance framework", "en"))
    hits = measure(asked, SETTINGS, snapshot, Tools(HashEmbedder())).hits
    plain = measure(asked.replace("HMF", "XYZ"), SETTINGS, snapshot, Tools(HashEmbedder())).hits
    found, without = (next(one for one in of if "two days" in one.passage.text).lexical for of in (hits, plain))
    assert found > without


def test_given_an_acronym_that_no_document_defines_then_the_list_says_it(snapshot: Snapshot) -> None:
    assert widened("What is the NDA?", "en", snapshot, None) == tuple(terms("non-disclosure agreement", "en"))
    assert widened("What is the SLA?", "en", snapshot, None) == tuple(terms("Siedlung Linden Allee", "de"))
    assert widened("What is the SLA?", "en", snapshot, snapshot.rows(["soup"], {})) == tuple(
        terms("service level agreement", "en")
    )


@each("asked", ["What is soup?", "What is the XQZ?", "HMF", "the hmf of may"])
def test_given_no_acronym_that_is_known_then_nothing_is_added(snapshot: Snapshot, asked: str) -> None:
    """Such a question is measured as before, so that no calibration changes."""
    assert widened(asked, "en", snapshot, None) == ()


@given(st.text(max_size=80), st.sampled_from(["SLA", "HMF", "AB"]))
def test_given_any_text_then_a_long_form_stands_in_it_and_has_two_words(said: str, acronym: str) -> None:
    for found in (long_form(acronym, f"{said} ({acronym})"), long_form(acronym, f"{acronym} ({said})")):
        assert found == "" or (
            found in " ".join(said.split()) and " " in found and len(found.split()) <= len(acronym) + len(said)
        )
