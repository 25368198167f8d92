"""A refusal on the page: why, by how much, what would have to change; and what a moved
setting changed.
"""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from builders import matched, measurements, settings, with_outcome
from folding import each
from hypothesis import given
from hypothesis import strategies as st
from page_kit import ask, asked_of, badges, captions, field, keys_of_containers, texts
from streamlit.testing.v1 import AppTest

from rag_core.decision.checks.gating import NEAR
from rag_core.decision.decide import decide, replay
from rag_core.decision.what_if import flips
from rag_core.domain.decision import Decision
from rag_core.domain.drafts import Draft
from rag_core.domain.measurements import UNREAD, LibraryFacts
from rag_core.domain.status import Reason
from rag_core.domain.trace import Direction, judge
from rag_core.ingest.normalise import cells
from rag_core.language import refusal as refusal_text
from rag_core.settings import Mode, Settings
from ui.app.asked import Asked
from ui.app.scope import Scope
from ui.app.texts import say, screen
from ui.ask import refusal
from ui.ask.changes import outcome
from ui.ask.checks import meter
from ui.settings.wording import value_in_words

FRANCE = "What is the capital of France?"
CALIBRATION = "How often does the flow meter have to be calibrated?"


def at_rest(counted: list[int]) -> int:
    """How many calls there were, once questions to try are no longer looked for beside the page."""
    calls = -1
    while calls != len(counted):
        calls = len(counted)
        time.sleep(0.5)
    return calls


JARGON = ("threshold", "gate", "cosine", "embedding", "retrieval", "query", "BM25", "hallucinat", "_")
STYLE = (Path(__file__).resolve().parents[2] / "ui" / "style.css").read_text(encoding="utf-8")
BLAME = ("you ", "your ", "wrong question", "invalid", "mistake")


def test_given_a_refusal_when_shown_then_one_plain_sentence_says_why_before_any_number(page: AppTest) -> None:
    """S4-14, S3-20: refused in words and with an icon, with suggestions.

    In grey, and not in amber as S4-14 has it: amber is a place that may be the answer.
    """
    ask(page, FRANCE)

    shown = texts(page)
    assert ":gray-badge[:material/do_not_disturb_on: No answer]" in badges(page)
    assert "refusal" in keys_of_containers(page)  # by which its style finds it
    kinds = ("refusal", r"refusal:has\(\.st-key-quote_place\)", "low")
    assert [
        re.findall(rf"^\.st-key-{kind} {{.* border-left.*: .*(#\w{{6}})", STYLE, re.MULTILINE) for kind in kinds
    ] == [["#7b8682"], ["#eab308"], ["#eab308"]]  # grey; amber, where a place may be the answer; a low level
    card = "\n".join(str(getattr(element, "value", "")) for element in page.main)
    number = card.index("% sure that the best sentence found is the answer.**\nYou ask for at least 50 %: not shown.")
    assert card.index("The best sentence that was found is probably not the answer") < number
    assert "Measured " not in shown  # one number, once
    assert "I cannot answer this question based on the provided documents." in shown
    assert "**What you can do**" in badges(page)
    assert "•  Ask with words that the document uses" in shown
    decision = asked_of(page).decision
    asked_of(page).decision = replace(
        decision, outcome=replace(decision.outcome, suggestions=("One.", "Two.", "Three."))
    )
    page.run()
    assert [line for line in texts(page).splitlines() if line.startswith("•")] == ["•  One.", "•  Two."]


def test_given_a_place_that_may_be_the_answer_when_refused_then_it_is_shown_in_its_place_with_its_probability(
    page: AppTest,
) -> None:
    ask(page, CALIBRATION)
    asked = asked_of(page)
    asked.measurements = replace(asked.measurements, correctness=0.3)
    asked.decision = decide(asked.measurements)
    page.run()

    place, shown = asked.decision.places[0], texts(page)
    assert ":yellow-badge[:material/help: Maybe]" in badges(page)
    assert "**30 % sure that the best sentence found is the answer.**" in badges(page)
    assert place.excerpt in shown
    assert place.heading in shown
    assert place.after.text in shown
    assert place.after.text
    assert refusal_text("en") not in shown
    assert "The place that may be the answer." in captions(page)


def test_given_a_wish_for_a_summary_then_the_headings_are_listed_with_their_pages_and_nothing_is_written(
    page: AppTest,
) -> None:
    ask(page, "What is this document about?")

    decision = asked_of(page).decision
    assert (decision.reason, decision.is_safe(), decision.claims) == (Reason.SUMMARY, False, ())
    listed = page.dataframe[0].value
    assert list(zip(listed["text"], listed["number"], strict=True))[:3] == [
        (cells(one.excerpt), one.page) for one in decision.places[:3]
    ]
    assert [one.id for one in decision.places] == list(range(1, len(decision.places) + 1))
    assert {"Company Policies 2024", "MK-40 Ultrasonic Flow Meter"} <= set(listed["text"])
    assert say("evidence.outline_page") in captions(page)
    assert say("refusal.contents_badge") in badges(page)
    assert say("refusal.badge") not in badges(page)
    assert f"pages: {asked_of(page).measurements.library.pages}." in texts(page)
    assert replay(asked_of(page).measurements, asked_of(page).settings).places == decision.places


def test_given_a_check_other_than_the_probability_when_it_refuses_then_it_is_named_measured_and_drawn(
    page: AppTest,
) -> None:
    """S3-20: the gate, its value, and by how much it missed."""
    field(page, "preset").set_value("compliance").run()

    ask(page, FRANCE)

    check = asked_of(page).decision.trace["top_cosine"]
    assert say("checks.title_top_cosine") in badges(page)
    assert f"Measured {check.value:.2f}, required ≥ 0.53 " in texts(page)
    assert "Too low by " in texts(page)
    assert any(one.proto.body == meter(check) for one in page.get("html"))


def test_given_no_document_when_asked_then_the_refusal_says_that_there_is_none(
    empty_library: Path, app: AppTest
) -> None:
    empty_library.mkdir()
    (empty_library / ".samples-offered").touch()
    app.run()

    ask(app, FRANCE)

    assert "There are no documents to search yet, so there is nothing to answer from." in texts(app)
    assert "best sentence found" not in badges(app)


@each(
    ("unread", "says"), [({}, "There are no documents to search yet"), ({UNREAD: 1}, "Your documents are not read yet")]
)
def test_given_nothing_to_search_then_a_file_that_is_being_read_is_told_from_none(
    unread: dict[str, int], says: str
) -> None:
    of = measurements(hits=(), library=LibraryFacts(), metadata=unread)
    assert refusal.why(Asked(of.question, Scope(), of, decide(of), of.settings)).startswith(says)


@each("reason", [reason for reason in Reason if reason not in (Reason.NONE, Reason.GREETING, Reason.ABOUT_LIBRARY)])
def test_given_any_reason_when_a_refusal_is_explained_then_the_sentence_is_plain_and_blames_nobody(
    reason: Reason,
) -> None:
    """S3-20: the reason, in words that a reader knows."""
    said = screen()[f"refusal.why_{reason}"]

    assert said.endswith(".")
    assert [word for word in (*JARGON, *BLAME) if word.casefold() in f"{said} ".casefold()] == []


def refused(**values: object) -> Decision:
    return decide(measurements(0.3, 0.2, of=settings(**values), keywords=matched(1, 2)))


def test_given_words_that_are_missing_when_refused_for_them_then_they_are_named(page: AppTest) -> None:
    ask(page, FRANCE)
    asked = asked_of(page)
    asked.decision = refused(keywords_mode=Mode.ENFORCE)

    page.run()

    assert "Measured 1, required ≥ 2 (Count, from 0). Too low by 1." in texts(page)
    assert "In detail: 1 of 3 keywords found, 2 required; missing: lost0, lost1" in texts(page)


def test_given_a_year_that_no_document_has_when_refused_then_the_page_says_so_as_inert_text(page: AppTest) -> None:
    ask(page, FRANCE)
    asked = asked_of(page)
    asked.measurements = replace(asked.measurements, nowhere=("2031", "**bold** <b>"), correctness=0.0)
    asked.decision = decide(asked.measurements)

    page.run()

    said = "No document here speaks of 2031 or **bold** <b>."
    assert said in [element.value for element in page.text]
    assert all("**bold**" not in element.value for element in page.markdown)


@each(
    ("gate", "told"),
    [
        ("correctness", "A sentence was found that is probably the answer, but you ask to be surer than that."),
        ("answerability", "The documents probably answer this question, but you ask to be surer than that."),
    ],
)
def test_given_a_likely_answer_below_the_limit_when_refused_then_the_words_do_not_deny_the_number(
    gate: str, told: str
) -> None:
    limits = {"main_gate": gate, f"min_{gate}": 1.0, f"{gate}_mode": Mode.ENFORCE}

    decision = decide(measurements(0.9, 0.9, of=settings(**limits), correctness=0.9, answerability=0.9))

    assert refusal.why_refused(decision) == told
    assert decision.suggestions == (NEAR,)  # other words are no help where the answer was found


VALUES = st.floats(0, 1).map(lambda value: round(value, 6))


@given(VALUES, VALUES, st.sampled_from(Direction))
def test_given_any_failed_check_when_its_gap_is_said_then_a_gap_is_never_shown_as_zero(
    value: float, limit: float, direction: Direction
) -> None:
    check = judge("correctness", value, limit, direction, "correctness", Reason.CORRECTNESS, Mode.ENFORCE)

    said = refusal.missed_by(check)

    if value == limit or (value > limit) is (direction is Direction.AT_LEAST):
        assert said == ""
    else:
        assert said.startswith("Too low by " if direction is Direction.AT_LEAST else "Too high by ")
        gap = float(said.removesuffix(" %.").split()[-1]) / 100
        assert abs(gap - abs(value - limit)) <= 0.005 + 1e-9
        assert round(abs(value - limit), 4) == 0 or gap > 0


def test_given_a_refusal_when_a_change_is_tried_then_the_slider_stands_there_and_the_question_is_answered(
    page: AppTest, embedded: list[int]
) -> None:
    ask(page, "How much does the company pay into the pension scheme?")
    flip = next(one for one in flips(asked_of(page).measurements) if one.name == "min_correctness")
    calls = at_rest(embedded)
    assert f"How sure: {100 * flip.before:.0f} % → {100 * flip.after:.0f} %" in texts(page)
    assert "Each of these alone would answer the question." in captions(page)
    sure = round(100 * (asked_of(page).measurements.correctness or 0.0))
    right = f"about {sure} are right." if sure else "fewer than one is right."
    assert any(
        caption.startswith("What they would show is probably wrong: of 100 answers with this number")
        and right in caption
        for caption in captions(page).split("\n")
    )

    page.button(key="try_min_correctness").click().run()

    assert asked_of(page).decision.answered
    assert field(page, "knob_min_correctness").value == flip.after
    assert re.search(r"Result: (no answer|maybe) → (maybe|answered)|Result: still a maybe", texts(page))
    assert len(embedded) == calls


def test_given_a_judged_question_when_a_setting_was_moved_then_the_changes_start_from_where_it_stands_now(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are looked for once for what is judged, however often the page is drawn."""
    found: list[float] = []
    monkeypatch.setattr("ui.app.asked.flips", lambda of: (found.append(of.settings.min_correctness), flips(of))[1])
    ask(page, CALIBRATION)
    field(page, "knob_min_correctness").set_value(1.0).run()
    page.run()

    assert re.search(r"How sure: 100 % → \d\d %", texts(page))
    assert found == [Settings.load().min_correctness, 1.0]


def asked(decision: Decision, before: Decision, now: Settings, then: Settings) -> Asked:
    return Asked("q", Scope(), measurements(), decision, now, (before, then))


LOOSE, STRICT = (
    settings(top_cosine_mode=Mode.ENFORCE, min_top_cosine=0.2),
    settings(top_cosine_mode=Mode.ENFORCE, min_top_cosine=0.9),
)


def judged(of: Settings, **fields: object) -> Decision:
    return decide(measurements(0.5, of=of, **fields))


HIGH = settings(main_gate="cosine", high_distance=0.9)
LOW = settings(main_gate="cosine", high_distance=0.1, medium_distance=0.2, low_distance=0.9)
FAR = settings(max_distance=0.1, distance_mode=Mode.ENFORCE)
UNMEASURED = settings(correctness_mode=Mode.ENFORCE, min_correctness=0.56)
CLOSEST, DISTANCE = "“Closest passage”", "“Distance of the closest passage”"


@each(
    ("before", "after", "said"),
    [
        (
            judged(LOOSE),
            judged(STRICT),
            f"answered → no answer, because {CLOSEST} does not pass: measured 0.50, required ≥ 0.90.",
        ),
        (
            judged(STRICT),
            judged(LOOSE),
            f"no answer → answered, because {CLOSEST} passes now: measured 0.50, required ≥ 0.20.",
        ),
        (
            judged(STRICT),
            judged(FAR),
            f"still no answer, now because {DISTANCE} does not pass: measured 0.50, required ≤ 0.10.",
        ),
        (judged(STRICT), judged(STRICT), "still no answer."),
        (judged(HIGH), judged(LOW), "answered → maybe."),
        (
            judged(HIGH),
            with_outcome(judged(HIGH), format="[Source {id}]"),
            "still answered, in other words than before.",
        ),
        (judged(HIGH), judged(HIGH), "still answered."),
        (
            judged(LOOSE),
            judged(LOOSE, draft=Draft()),
            "answered → no answer, because no sentence could be taken as an answer.",
        ),
        (
            judged(LOOSE),
            judged(UNMEASURED),
            "answered → no answer, because “Answer is right” could not be measured, and ≥ 56 % is required.",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_given_two_decisions_of_a_question_when_compared_then_the_change_says_what_made_it(
    before: Decision, after: Decision, said: str
) -> None:
    assert outcome(before, after) == said


@each(
    ("name", "value", "said"),
    [
        ("min_correctness", 0.6, "60 %"),
        ("min_correctness", 1.0, "100 %"),
        ("min_top_cosine", 0.6, "0.60"),
        ("max_length_ratio", 2.0, "2.0"),
        ("top_k", 10, "10"),
        ("correctness_mode", Mode.OBSERVE, "only shown"),
        ("strict_summary", True, "on"),
        ("strict_summary", False, "off"),
        ("refusal_text", "", "none"),
        ("drafter", "raw", "raw"),
    ],
)
def test_given_a_value_when_said_then_it_has_the_decimals_of_its_slider(name: str, value: object, said: str) -> None:
    assert value_in_words(name, value) == said
