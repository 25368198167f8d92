"""Limits that a compression left out, in four languages, and compressions that keep them in their own words."""

from __future__ import annotations

import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import HashEmbedder, draft, hit, measurements, passage, settings
from builders import claim as claim_on
from builders import measured as measured_claim
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.decision.checks import GROUNDING
from rag_core.domain.claims import Claim, Evidence
from rag_core.domain.documents import Span
from rag_core.domain.drafts import ClaimMeasurement
from rag_core.domain.llm_trace import Attempt, Call, Step
from rag_core.domain.status import Reason
from rag_core.grounding.claims import measure_claims
from rag_core.grounding.feedback import findings
from rag_core.grounding.omissions import omissions
from rag_core.language import LANGUAGES as LANGUAGE_FILES
from rag_core.language import LimitRows
from rag_core.settings import Mode

ROWS: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "omissions.yaml").read_text(encoding="utf-8"))
OMISSIONS, HONEST = ROWS["omissions"], ROWS["honest"]
LANGUAGES = ("en", "cs", "de", "hi")


def wrong(row: list[str]) -> tuple[str, ...]:
    lang, question, evidence, claim = row
    return omissions(claim, evidence, lang, question)


def named(rows: list[list[str]]) -> dict[str, Any]:
    return {"argvalues": rows, "ids": [f"{row[0]}: {row[3]}" for row in rows]}


@each("row", **named([row for row in OMISSIONS if row[3] not in ROWS["missed"]]))
def test_given_a_sentence_without_its_limit_when_compared_then_the_limit_is_named_in_the_words_of_the_source(row: list[str]) -> None:
    """S0-26: compression must not change what is meant."""
    found = wrong(row)

    assert found
    assert all(part in row[2] for part in found)


@each("row", **named([row for row in HONEST if row[3] not in ROWS["flagged"]]))
def test_given_a_faithful_compression_when_compared_then_nothing_was_left_out(row: list[str]) -> None:
    assert wrong(row) == ()


def test_given_what_it_gets_wrong_then_it_is_little_and_known() -> None:
    assert [row[3] for row in OMISSIONS if not wrong(row)] == ROWS["missed"]
    assert [row[3] for row in HONEST if wrong(row)] == ROWS["flagged"]
    assert len(ROWS["missed"]) <= 0.1 * len(OMISSIONS)
    assert len(ROWS["flagged"]) <= 0.03 * len(HONEST)


@each("row", **named([row for row in (*OMISSIONS, *HONEST)]))
def test_given_the_whole_sentence_when_compared_then_nothing_was_left_out(row: list[str]) -> None:
    lang, question, evidence, _ = row

    assert omissions(evidence, evidence, lang, question) == omissions(evidence.rstrip(".।"), evidence, lang) == ()


PARKING = "The company pays for parking, except at airports."
LEFT = "The company pays for parking."


@each(
    ("lang", "question", "evidence", "claim", "limits"),
    [
        ("en", "", PARKING, LEFT, ("except at airports",)),
        ("en", "", f"Parking: see below. {PARKING}", LEFT, ("except at airports",)),
        ("en", "Who pays for parking at airports?", PARKING, LEFT, ()),  # it is wrong there, but not by leaving something out
        ("en", "", f"{PARKING} {LEFT}", LEFT, ()),  # another sentence says it without the limit
        ("en", "", "If it rains, the match is moved indoors by noon.", "The match is moved indoors by noon.", ("If it rains",)),
        ("en", "", "If it rains then the match is moved indoors.", "The match is moved indoors.", ("If it rains",)),
        ("en", "", "An order is subject to approval.", "An order has approval.", ()),
        ("en", "", "Fees are waived, subject to approval.", "Fees are waived.", ("subject to approval",)),
        ("en", "", "Paying more than 500 pounds needs approval.", "Paying 500 pounds needs approval.", ("more than 500 pounds",)),
        ("en", "What of more than 500 pounds?", "More than 500 pounds needs approval.", "500 pounds needs approval.", ()),
        ("en", "What of 500 pounds?", "More than 500 pounds needs approval.", "500 pounds needs approval.", ("More than 500 pounds",)),
        ("en", "", "A trip takes up to 120 minutes.", "A trip takes 2 hours.", ("up to 120 minutes",)),
        ("en", "", "The bus runs until 18:00.", "The bus runs at 18:00.", ("until 18:00",)),
        ("en", "", "The bus runs from 9:00 to 18:00.", "The bus runs at 18:00.", ()),  # for others: it has both ends
        ("en", "", "The bus runs from 9:00 daily until 18:00.", "The bus runs at 18:00.", ()),
        ("en", "", "The bus runs from 9:00 on every weekday until 18:00.", "The bus runs at 18:00.", ("until 18:00",)),  # too far apart
        ("en", "", "Fees are waived unless", "Fees are waived.", ()),  # a text cut off there says nothing
        ("hi", "", "50 से अधिक नए कर्मचारियों वाले दफ़्तर बंद हैं।", "दफ़्तर बंद हैं।", ("50 से अधिक नए कर्मचारियों वाले दफ़्तर",)),
        ("hi", "", "50 से अधिक बहुत नए कर्मचारियों वाले दफ़्तर बंद हैं।", "दफ़्तर बंद हैं।", ()),  # four words between: too far
        ("hi", "", "को छोड़कर दफ़्तर खुला है।", "दफ़्तर खुला है।", ()),  # nothing stands before it
        ("en", "", "It dates from the 14th century.", "It is of the 14th century.", ()),
        ("en", "", "Lamps may be red and shine for years.", "Lamps shine for years.", ()),
        ("en", "", "The event in May 2024 was a full success.", "The event in May 2024 was a success.", ()),
        ("en", "", "Every full-time worker gets tea.", "Each worker gets tea.", ("Every full-time worker",)),
        ("en", "", "Every full-time worker gets tea.", "That worker gets tea.", ()),
        ("en", "", "Guests who stay longer get tea.", "Guests get tea.", ("Guests who stay longer",)),
        ("en", "", "Guests, who stay longer, get tea.", "Guests get tea.", ()),
        ("en", "", "All guests who stay longer get tea.", "All guests staying get tea.", ()),
        ("en", "", "Loans above 500 pounds are slow; loans are cheap.", "Loans are slow.", ("Loans above 500 pounds",)),
        ("en", "", "Loans exist; loans above 500 pounds need two guarantors.", "Loans exist.", ()),
        ("en", "", "Every one receives a lamp, which is replaced yearly.", "A lamp is replaced yearly.", ()),
        ("en", "", "Long loans above 500 pounds are slow and dear.", "Long loans are slow and dear.", ("loans above 500 pounds",)),
        ("en", "", "If the pump leaks, the seals are changed.", "Old garden doors had seals changed by careful painters in spring.", ()),
        ("en", "", "Approved if signed by both owners.", "Approved quickly.", ()),
        ("en", "", f"Fees are waived, unless {' '.join(f'item{n}' for n in range(170))} agree.", "Fees are waived.", ()),  # a list
        ("en", "Does it pay for airport parking?", "The company pays for parking, except at airports and crowded railway stations.",
         "The company pays for airport parking.", ("except at airports and crowded railway stations",)),
        ("en", "", "So, if it rains, the match is moved indoors.", "The match is moved indoors.", ("if it rains",)),
        ("en", "", "Note: if it rains, the match is moved indoors.", "The match is moved indoors.", ("if it rains",)),
        ("en", "", "If it rains, the match is moved indoors.", "Only in some weather the match is moved indoors.", ()),
        ("en", "", "Staff may swim if the old lake warden really agrees.", "Staff swim.",
         ("if the old lake warden really agrees", "may")),
        ("en", "", "Gates open early for registered visitors, unless it snows.", "Open gates attract thieves.", ()),
        ("en", "", "Halls are heated, unless 1000 guests attend.", "Halls are heated for 10000.", ("unless 1000 guests attend",)),
        ("en", "", "It is liked in America, with all-star cheerleading.", "Cheerleading is liked in America.", ()),
        ("en", "", "We check all of the stock.", "We check all stock.", ()),
        ("en", "", "We check every item each week.", "Every week we check every item.", ()),
        ("en", "", "All 25 workers get tea.", "All workers get tea.", ()),
        ("en", "What of guests who stay longer?", "Guests who stay longer get tea.", "Guests get tea.", ()),
        ("en", "", "Tell guests who stay longer that tea is served.", "Guests are served tea.", ()),
        ("en", "", "A house with more than 3 lifts has a guard.", "The 3rd lift has a guard.", ()),
        ("en", "", "Up to 3rd grade a guard is there.", "3 guards are there.", ()),
        ("en", "", "The bus runs until 18:00.", "The bus runs at 17:00, 18:00.", ()),
        ("en", "", "The bus runs from 9:00 to 18:00.", "The bus runs at 9:00.", ()),
        ("en", "", "Loans above 500 pounds need three signatures and a guarantor.", "Loans exist.", ()),
        ("en", "", "Loans above 500 pounds are slow and dear.", "Credits are slow and dear.", ()),
        ("en", "", "Tea is served on all long flights above 3 hours.", "Tea is served on long flights.", ("flights above 3 hours",)),
        ("en", "", "A trip takes up to 5 days.", "A trip costs 5 pounds.", ()),
        ("de", "", "Die Prüfung dauert höchstens 5 Tage.", "Die Prüfung endet binnen 5 Tagen.", ()),
        ("cs", "", "Trvá-li oprava déle, platí dodavatel slevu.", "Dodavatel platí slevu.", ("Trvá-li oprava déle",)),
        ("de", "", "Am 3. Mai endet die Frist, außer an Feiertagen.", "Am 3. Mai endet die Frist.", ("außer an Feiertagen",)),
        ("hi", "", "पुस्तकालय सोमवार को छोड़कर रोज़ खुलता है।", "पुस्तकालय रोज़ खुलता है।", ("सोमवार को छोड़कर",)),
        ("en", "", "Petrol is taken on the quay only after an inspection.", "Petrol is taken on the quay.", ("only after an inspection",)),
        ("en", "", "Petrol is taken on the quay only after an inspection.", "Petrol is taken on the quay after an inspection.",
         ("only after",)),
        ("en", "", "The hall is old, and only members enter it.", "The hall is old.", ()),  # another clause
        ("en", "What of an inspection?", "Petrol is taken on the quay only after an inspection.", "Petrol is taken on the quay.", ()),
        ("de", "", "Besucher betreten die Halle nur mit Schleier.", "Besucher betreten die Halle.", ("nur mit Schleier",)),
        ("hi", "", "छात्रों को पास केवल विद्यालय के प्रमाणपत्र पर मिलता है।", "छात्रों को पास मिलता है।", ("केवल विद्यालय के प्रमाणपत्र",)),
        ("en", "", "Tours are only for members.", "Tours.", ()),  # one word states nothing
        ("en", "", "The goods are delivered within 30 days.", "The goods are delivered: 30 days.", ()),  # of a time it goes without saying
        ("en", "", "The goods are delivered within 30 km.", "The goods are delivered: 30 km.", ("within 30 km",)),
        ("en", "", "Trainees are not paid in advance.", "Managers and directors abroad are paid in advance by banks.", ()),  # of others
        ("ru", "", "Кроме понедельника музей открыт.", "Музей открыт.", ()),
        ("und", "", PARKING, LEFT, ()),
        ("en", "", "", LEFT, ()),
        ("en", "", PARKING, "", ()),
    ],
)  # fmt: skip
def test_given_what_a_sentence_leaves_out_then_exactly_that_is_named(
    lang: str, question: str, evidence: str, claim: str, limits: tuple[str, ...]
) -> None:
    assert omissions(claim, evidence, lang, question) == limits


def test_given_citation_marks_and_digits_of_another_script_then_they_change_nothing() -> None:
    assert omissions(f"{LEFT[:-1]} [1].", PARKING, "en") == ("except at airports",)
    assert omissions("लिफ्ट में ८ व्यक्ति आते हैं।", "लिफ्ट में अधिकतम 8 व्यक्ति आते हैं।", "hi") == ("अधिकतम 8",)


def test_every_language_has_the_same_rows_and_says_what_they_are() -> None:
    """That each key is there is for the loader to see."""
    found = {code: info.limits for code, info in LANGUAGE_FILES.items() if info.limits}

    assert set(found) == set(LANGUAGES)
    for row in found.values():
        rows = {one.name: getattr(row, one.name) for one in fields(row) if one.name != "modal_before_verb"}
        assert all(len(set(phrases)) == len(phrases) for phrases in rows.values())
        assert all(f"{name}:" in LimitRows.__doc__ or f"`{name}`:" in LimitRows.__doc__ for name in rows)


def measured(text: str, *, whole: bool = False, question: str = "", **languages: str) -> ClaimMeasurement:
    evidence = Evidence("p1", "d1", PARKING, (Span(1, 0, len(PARKING)),))
    said = Claim(text, (evidence,), ("p1",))
    retrieved = {"p1": PARKING}
    return measure_claims(
        [said], retrieved, lambda document, page: PARKING, "en", HashEmbedder(), whole=whole, question=question, languages=languages
    )[0]


def test_given_a_draft_of_a_model_when_a_limit_is_left_out_then_its_source_does_not_support_it() -> None:
    audit = measured(LEFT)

    assert (audit.support, "limit_left_out" in audit.flags) == (0.0, True)
    assert measured(PARKING).flags == ()
    for kept in (measured(LEFT, whole=True), measured(LEFT, question="Who pays at airports?"), measured(LEFT, p1="cs")):
        assert "limit_left_out" not in kept.flags
        assert kept.support


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        (PARKING, 'it leaves out "except at airports": keep that, or leave the statement away'),
        ("[text deleted]", "a condition, exception or limit of the evidence was left out"),
    ],
)
def test_given_a_draft_that_leaves_a_limit_out_then_the_next_one_is_told_which(quote: str, words: str) -> None:
    source = passage(1, quote)
    audit = measured_claim(overlap=1.0, similarity=1.0, support=0.0, flags=("limit_left_out",))
    view = measurements(
        hits=(hit(0.9, of=source),), draft=draft((claim_on(source, LEFT),), (audit,), 1000), of=settings(support_mode=Mode.ENFORCE)
    )
    checks = [check for check in (judge(view) for judge in GROUNDING) if check.blocks]

    found = findings(view, checks, Attempt((), Call(Step.DRAFT), language="en", sentences=1, tokens=8))

    assert [(one.reason, one.claim, one.text) for one in found] == [(Reason.SUPPORT, 0, f'"{LEFT}": {words}.')]


@given(st.text(max_size=120), st.text(max_size=60), st.sampled_from([*LANGUAGES, "und"]))
def test_given_any_text_then_its_whole_leaves_nothing_out_and_nothing_breaks(text: str, other: str, lang: str) -> None:
    assert omissions(text, text, lang) == ()
    omissions(other, text, lang, text)


@each(
    "text",
    ["if " * 3000, "if a, " * 3000, "more than 5 " * 2000, "every full time " * 2000, "may go and " * 2000, "until 18:00 " * 1500,
     "a" * 50_000, "If it rains, a may go. " * 800, "who " * 5000, ", " * 20_000, "loans above 5 pounds " * 1500],
)  # fmt: skip
def test_given_hostile_text_then_it_is_read_in_time_that_grows_with_its_length(text: str) -> None:
    omissions(text[:100], text[:1000], "en")
    started = time.process_time()

    omissions(f"{text[:1500]} ends.", text, "en", text[:1500])

    assert time.process_time() - started < 10
