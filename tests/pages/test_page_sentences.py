"""How the sentences of an answer were checked, and what was wrong with those of a rejected draft, part by part, as
inert text.
"""

from __future__ import annotations

from dataclasses import replace

from builders import GOOD_AUDIT, claim, draft, hit, measurements, passage, settings
from builders import measured as measured_claim
from folding import each
from page_kit import badges, captions, texts
from streamlit.testing.v1 import AppTest

from rag_core.decision.decide import decide
from rag_core.domain.claims import Claim
from rag_core.domain.drafts import ClaimMeasurement
from rag_core.domain.measurements import Measurements
from rag_core.grounding.wording import FACTS, FLAGS
from rag_core.settings import Mode, Settings
from ui.app.texts import screen
from ui.ask import drafts

HOSTILE = "![x](http://203.0.113.9/a.png) <b>40</b> :red[days]"
CHANGED = measured_claim(
    overlap=0.8,
    similarity=0.9,
    support=0.04,
    flags=("comparison_changed", "contradicted"),
    changed_facts=(("comparison", "at least 40 days"),),
)
REPHRASED = measured_claim(overlap=0.5, similarity=0.9, support=0.93)
UNREAD = replace(REPHRASED, support=0.8, read=False)


def drafted(
    *audits: ClaimMeasurement, text: str = "The notice period is at least 40 days.", of: Settings | None = None
) -> Measurements:
    """Measurements whose draft says the text once for each of these measurements."""
    found = hit(of=passage())
    claims = [claim(found.passage, f"{number}: {text}") for number in range(len(audits))]
    return measurements(
        hits=(found,), of=of or settings(support_mode=Mode.ENFORCE), draft=draft(claims, audits), correctness=0.99
    )


def script(held) -> None:  # type: ignore[no-untyped-def]  # its source is run by itself, without imports
    from ui.app.asked import Asked
    from ui.app.scope import Scope
    from ui.ask import drafts
    from ui.ask.refusal import show_refusal
    from ui.ask.stages import show_stages

    judged, decision = held["measurements"], held["decision"]
    asked = Asked(judged.question, Scope(), judged, decision, judged.settings)
    if decision.answered:
        drafts.show_checked(decision)
    else:
        show_refusal(asked)
    show_stages(asked)


def show(judged: Measurements) -> AppTest:
    page = AppTest.from_function(
        script, default_timeout=60, kwargs={"held": {"measurements": judged, "decision": decide(judged)}}
    ).run()
    return page


def test_given_a_quote_or_a_row_when_shown_then_one_line_says_that_it_stands_word_for_word() -> None:
    page = show(drafted(GOOD_AUDIT, GOOD_AUDIT))

    assert "Each of the 2 sentences stands word for word in its source." in captions(page)
    assert "The sentence stands word for word in its source." in captions(show(drafted(GOOD_AUDIT)))
    assert texts(page).count("✓ Word for word in its source.") == 2

    page = show(drafted(GOOD_AUDIT, text="Item | 2031: Rents | 812"))

    assert "Each cell of the row stands word for word in its source." in captions(page)


def test_given_an_answer_in_other_words_when_shown_then_each_sentence_says_how_well_it_is_supported() -> None:
    page = show(drafted(GOOD_AUDIT, REPHRASED, UNREAD))

    assert "1 of 3 sentences stand word for word in their sources, the others say it in other words." in captions(page)
    shown = texts(page)
    assert "✓ Word for word in its source." in shown
    assert "Supported by its source with a probability of 0.93; 50 % of its words stand there." in shown
    assert "0.80, by facts and overlap only, for no model here has read it" in shown
    assert "The draft that was not shown" not in badges(page)


def test_given_a_rejected_draft_when_shown_then_each_part_is_marked_by_what_is_wrong_with_it() -> None:
    page = show(drafted(GOOD_AUDIT, CHANGED))

    shown = texts(page)
    assert (
        "An answer was drafted, but its sources probably do not say what a sentence of it says, so it is not shown."
        in shown
    )
    assert shown.count("✗ “at least 40 days”: the comparison was changed") == 2  # why it was refused, and in the trace
    assert "✗ its source says otherwise" in shown
    assert "Supported by its source with a probability of 0.04" in shown
    assert "1.  0: The notice period is at least 40 days." in shown
    assert [one.value for one in page.header] == ["The draft that was not shown"]

    refused = drafted(
        CHANGED, of=settings(correctness_mode=Mode.ENFORCE, support_mode=Mode.ENFORCE, min_correctness=1.0)
    )

    page = show(refused)

    assert "at least 40 days" not in texts(page)
    assert page.header.len == 0


def test_given_hostile_text_in_a_rejected_draft_when_shown_then_it_is_inert() -> None:
    audit = replace(
        CHANGED,
        changed_facts=(("number", HOSTILE),),
        indicators=(HOSTILE,),
        fabricated=(HOSTILE,),
        quotes_missing=(HOSTILE,),
    )

    page = show(drafted(audit, text=HOSTILE))

    assert HOSTILE in texts(page)
    interpreted = [*page.markdown, *page.caption, *page.header, *page.button, *page.expander]
    assert [
        one for one in interpreted if "203.0.113.9" in str(getattr(one, "value", "")) + str(getattr(one, "label", ""))
    ] == []


def test_given_what_is_wrong_with_a_draft_then_it_is_said_once_cut_and_in_the_order_of_its_headline() -> None:
    one = Claim("The notice period is at least 40 days.")
    changed = (("comparison", "at least 40 days"), ("year", "2031"), ("code", "E9"))
    audit = measured_claim(
        changed_facts=changed, flags=("comparison_changed", "number_changed", "code_absent", "not_entailed")
    )

    found = drafts.findings(one, audit)

    assert found == [
        ("at least 40 days", "comparison_changed"),
        ("2031", "number_changed"),
        ("E9", "code_absent"),
        ("", "not_entailed"),
    ]

    long = tuple(("number", f"{number} " + "9" * 500) for number in range(5))
    refused = drafted(replace(CHANGED, changed_facts=long))

    lines = drafts.flagged(decide(refused), refused)

    assert len(lines) == drafts.MAX_FLAGGED
    assert max(map(len, lines)) < 200

    refused = drafted(CHANGED, replace(CHANGED, fabricated=("9",)))

    assert drafts.flagged(decide(refused), refused)[0].startswith("✗ “9”")


@each("flag", [*FLAGS, *(f"{kind}_changed" for kind in FACTS if kind not in ("year", "code", "name"))])
def test_given_a_flag_then_the_screen_has_words_for_it(flag: str) -> None:
    assert screen()[f"sentences.flag_{flag}"]


def test_given_an_uncited_sentence_and_one_that_could_not_be_measured_when_shown_then_they_say_so() -> None:
    judged = drafted(replace(REPHRASED, support=None, read=False), GOOD_AUDIT)
    uncited = replace(judged.draft.claims[1], evidence=(), cited=())
    judged = replace(judged, draft=replace(judged.draft, claims=(judged.draft.claims[0], uncited)))

    shown = texts(show(judged))

    assert "Names no source." in shown
    assert "Whether its source supports it could not be measured." in shown
