"""The answer on the page: its text, level and probability in words, its sources, both sides of a contradiction, replies
that need none.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from builders import with_outcome
from page_kit import (
    CALIBRATION,
    FRANCE,
    VACATION,
    ask,
    asked_of,
    badges,
    by_key,
    captions,
    field,
    keys_of_containers,
    texts,
)
from streamlit.testing.v1 import AppTest

from rag_core.decision.compose import UNANSWERED
from rag_core.domain.claims import BREAK
from rag_core.domain.documents import DateSource, Span
from rag_core.domain.scanned import Unsure
from rag_core.ingest.passages.context import SECTION_MARK
from rag_core.service.markdown import escaped
from rag_core.settings import Mode
from rag_core.wiring import open_engine
from ui.app import state
from ui.app.scope import shown_date
from ui.app.sheets import to_markdown
from ui.ask import export
from ui.ask.evidence import MAX_CELLS, asked_column, row_of
from ui.ask.refusal import percents
from ui.documents import viewer

PRESSURE = "What is the maximum operating pressure?"


def test_given_an_answer_when_shown_then_level_and_probability_are_said_in_words_with_their_scale(
    page: AppTest,
) -> None:
    """S4-12: how sure, and what that means; no level beside it, which could say another thing of the same figure."""
    ask(page, "How much straight pipe is needed before the meter?")

    assert "Answered from the documents" in badges(page)
    value = asked_of(page).measurements.correctness
    assert f"**{int(100 * value)} % sure that this is right.**\nYou ask for at least 50 %: shown." in badges(page)
    assert f"Reported confidence: {int(100 * value)} %." in captions(page)  # below, on request, and the same number
    assert "Confidence: " not in badges(page)
    assert "Not certain" not in badges(page)


def test_given_an_answer_when_shown_then_its_source_passages_and_surroundings_can_be_seen_and_copied(
    page: AppTest,
) -> None:
    """S3-21, S2-25: citations stand after each sentence; retrieved passages have their scores."""
    ask(page, CALIBRATION)

    one = asked_of(page).decision.citations[0]
    around = [one.heading, one.before.text, one.after.text]
    said = {f"around_{side}" for side, text in zip(("heading", "before", "after"), around, strict=True) if text}
    assert one.heading
    assert {key for key in keys_of_containers(page) if key.startswith("around_")} == said > {"around_heading"}
    own = set(one.heading.split(SECTION_MARK))  # which are not said again in the line above
    beside = [one.heading, one.before.text, one.after.text]
    assert all(line in texts(page) for text in beside for line in text.split(BREAK) if line not in own)
    sent = to_markdown(export.blocks(state.engine(), asked_of(page)))
    assert all(escaped(text) in sent for text in around)

    assert page.code[0].value == (
        "every 5 years\n\nCalibrate the meter every 5 years in an accredited laboratory. [1]\n\nSources:\n"
        "[1] MK-40 Ultrasonic Flow Meter, Technical Manual (flow-meter-manual.pdf), page 3, "
        + shown_date(one.date, one.date_source)
    )

    assert "[1]  MK-40 Ultrasonic Flow Meter, Technical Manual, page 3" in texts(page)
    assert "flow-meter-manual.pdf · MK-40 Ultrasonic Flow Meter › 6 Calibration" in texts(page)
    assert "BM25" not in captions(page)
    assert ["Sources"] == [heading.value for heading in page.header]  # right below the title, and nothing above that
    assert len(page.sidebar.header) == len(page.subheader) == 0

    rows = page.dataframe[0].value

    assert list(rows["rank"]) == list(range(1, 11))
    assert rows["cosine"].between(-1, 1).all()
    assert (rows["bm25"] >= 0).all()
    assert rows["by_meaning"][0] == 1

    asked = asked_of(page)
    cited = asked.decision.citations[0].chunk_id

    for ranks, column in (({"dense_rank": 2}, "by_meaning"), ({"lexical_rank": 3}, "by_words")):
        found = tuple(
            (name, replace(one, cosine=0.5, lexical=1.0, **{"dense_rank": 0, "lexical_rank": 0, **ranks}))
            if one.passage.id == cited
            else (name, one)
            for name, one in asked.decision.retrieved
        )
        asked.decision = replace(asked.decision, retrieved=found)
        page.run()
        (row,) = page.dataframe[0].value.query("became == 'quoted'").to_dict("records")
        assert [name for name in ("by_meaning", "by_words") if row[name] and row[name] > 0] == [column]

    asked = asked_of(page)
    assert "Read by OCR" not in badges(page)
    asked.decision = with_outcome(
        asked.decision, citations=tuple(replace(one, ocr=True) for one in asked.decision.citations)
    )

    page.run()

    assert "Read by OCR" in badges(page)
    assert "The sentence stands in its source as the scan was read." in captions(page)
    assert not any("word for word" in text.casefold() for text in (*texts(page), *captions(page)))


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        (0.77, 0.5, (77, 50)),
        (0.906, None, (90, None)),  # a limit of 91 % would refuse it
        (0.57, 0.57, (57, 57)),  # 56.99… as a float
        (0.496, 0.5, (49, 50)),
        (0.4999, 0.5, (49, 50)),
        (0.5, 0.5, (50, 50)),
        (0.504, 0.5, (50, 50)),
        (0.4849, 0.485, (48, 48.5)),
        (0.9951, 0.995, (99.5, 99.5)),
        (0.0001, 0.0, (0, 0)),
        (0.3, None, (30, None)),
    ],
)
def test_given_a_probability_near_its_limit_when_said_in_percent_then_it_never_stands_on_the_other_side(
    value: float, limit: float | None, shown: tuple[float, float | None]
) -> None:
    assert percents(value, limit) == shown


def test_given_a_probability_or_its_limit_when_changed_then_the_line_follows_and_is_never_certain(
    page: AppTest,
) -> None:
    ask(page, CALIBRATION)

    field(page, "knob_min_correctness").set_value(0.99).run()

    assert (
        "% sure that the best sentence found is the answer.**\nYou ask for at least 99 %: shown as a maybe."
        in badges(page)
    )
    field(page, "knob_min_correctness").set_value(0.3).run()
    assert "You ask for at least 30 %: shown." in badges(page)

    asked = asked_of(page)

    for probability, said in (
        (0.9996, "**99 % sure that this is right.**"),
        (0.0001, "**Less than 1 % sure that "),
    ):
        asked.measurements = replace(asked.measurements, correctness=probability)
        page.run()
        assert said in badges(page)

    asked = asked_of(page)
    asked.measurements = replace(asked.measurements, correctness=None)

    page.run()

    assert "There is no probability for this answer." in captions(page)
    assert "% sure" not in badges(page)


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("Part | Value: Pump | 16 bar", (("Part", "Pump"), ("Value", "16 bar"))),
        ("Part | Value: Pump | 16 bar | x", ()),
        ("Part | Value; bar | x: Pump | 16", ()),
        ("Pump | 16", ()),
        ("Note: all is well.", ()),
        (" | ".join("x" * (MAX_CELLS + 1)) + ": " + " | ".join("1" * (MAX_CELLS + 1)), ()),
    ],
)
def test_given_the_text_of_a_claim_when_it_is_a_row_then_each_cell_has_its_head(
    text: str, row: tuple[tuple[str, str], ...]
) -> None:
    assert row_of(text) == row


def test_given_an_answer_from_a_table_when_shown_then_its_cells_stand_under_their_heads(
    page: AppTest,
) -> None:
    ask(page, "What is the maximum operating pressure?")

    shown = [text.value for text in page.text]
    at = shown.index("Parameter")
    assert shown[at : at + 8] == [
        "Parameter",
        "Maximum operating pressure",
        "Symbol",
        "pmax",
        "Value",
        "16",
        "Unit",
        "bar",
    ]
    assert any(">[1]</a>" in one.proto.body for one in page.get("html"))
    assert " | " not in texts(page)

    cited = asked_of(page).decision.citations[0].excerpt
    assert cited in [code.value for code in page.code]


def test_given_a_check_that_may_not_refuse_when_answered_then_its_limit_is_said_to_keep_nothing_back_and_cannot_be_moved(  # noqa: E501
    page: AppTest,
) -> None:
    page.session_state["plumbline"].values["correctness_mode"] = Mode.OBSERVE

    ask(page, CALIBRATION)

    assert (
        "% sure that this is right.**\n50 % would be asked for, but these settings keep nothing back for it."
        in badges(page)
    )
    assert "knob_min_correctness" not in [slider.key for slider in page.slider]


def test_given_an_answer_of_low_confidence_when_shown_then_it_says_so_in_words_with_an_icon(page: AppTest) -> None:
    """S4-14, S4-18: low confidence is a warning in words and with an info icon, not by colour alone."""
    field(page, "knob_min_correctness").set_value(0.0).run()

    ask(page, "How many parking spaces does the office have?")

    assert ":yellow-badge[:material/help: Maybe]" in badges(page)
    assert any("Decide: maybe" in one.label for one in page.expander)
    assert ":material/info: **Probably not the answer.** " in badges(page)
    assert "Answered from the documents" not in badges(page)
    assert "low" in keys_of_containers(page)

    asked, note = asked_of(page), "You asked two things, and one is answered."
    asked.decision = replace(asked.decision, notes=(note,), metadata={**asked.decision.metadata, UNANSWERED: "When?"})
    page.run()

    assert "One of two questions answered" in badges(page)
    assert "Probably not the answer" not in badges(page)
    assert texts(page).count(note) == 1  # on the card


def test_given_contradicting_documents_when_answered_then_both_sides_and_the_newer_one_are_shown(
    page: AppTest,
) -> None:
    """S4-21: both perspectives, which of them is newer, and low confidence at most."""
    ask(page, VACATION)

    shown = texts(page)
    assert "The documents contradict each other" in badges(page)
    assert "company-policies.pdf, page 1, 2026-03-01" in shown
    assert "company-policies-2024.pdf, page 1, 2024-03-01" in shown
    assert badges(page).count("Newer") == 1
    assert ":yellow-badge[:material/help: Maybe]" in badges(page)
    assert "**The sources contradict each other.**" in badges(page)
    assert "Note: The documents contradict" not in shown  # said once

    assert (
        "% sure that this is what was asked for, and the documents disagree on it.**\nYou ask for at least 50 %: shown."
        in badges(page)
    )
    assert "sure that this is right" not in badges(page)

    asked = asked_of(page)
    for sources in ((DateSource.GIVEN, DateSource.FILE), (DateSource.FILE, DateSource.FILE)):
        by_file = tuple(replace(one, date_sources=sources) for one in asked.decision.conflicts)
        asked.decision = with_outcome(asked.decision, conflicts=by_file)
        page.run()
        assert ":gray-badge[:material/update: Newer by the file date]" in badges(page)
        assert badges(page).count("Newer") == 1
        side = asked.decision.conflicts[0].documents[sources.index(DateSource.FILE)]
        name = asked.measurements.library.names[side]
        assert f"{name}, page 1, {asked.measurements.library.dates[side]} (file date)" in texts(page)

    asked = asked_of(page)
    undated = tuple(replace(one, dates=("", "")) for one in asked.decision.conflicts)
    asked.decision = with_outcome(asked.decision, conflicts=undated)

    page.run()

    assert "Newer" not in badges(page)
    assert "company-policies.pdf, page 1, no date" in texts(page)

    asked = asked_of(page)
    within = tuple(replace(one, documents=(one.documents[0], one.documents[0])) for one in asked.decision.conflicts)
    asked.decision = with_outcome(asked.decision, conflicts=within)

    page.run()

    assert "The document contradicts itself" in badges(page)


def test_given_words_of_a_scan_that_ocr_is_not_sure_of_when_cited_then_card_export_and_picture_tell_and_mark_them(
    page: AppTest, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[tuple[object, ...]] = []
    real = viewer.render_page
    monkeypatch.setattr(
        viewer, "render_page", lambda *of, **given: drawn.append(given["doubted"]) or real(*of, **given)
    )
    ask(page, CALIBRATION)
    asked = asked_of(page)
    (first, *rest) = asked.decision.citations
    span = first.spans[0]
    doubt = Unsure(first.document_id, Span(span.page, span.start, span.start + 2), 0.4, first.boxes[0][1], "12")
    told = [
        replace(first, ocr=True, unsure=(doubt,), doubtful=True),
        *(replace(one, ocr=True, unsure=None) for one in rest),
    ]
    asked.decision = with_outcome(asked.decision, citations=tuple(told))

    page.run()

    said = (
        "Given as the scan was read, by OCR. Not sure of: “12” (1/l/I, 2/Z?). Compare them "
        "with the page, where they are marked in orange."
    )
    assert said in texts(page)
    assert (doubt.box,) in drawn
    exported = to_markdown(export.blocks(open_engine(library, "default"), asked))
    assert "Not sure of: “12”" in exported
    assert "word for word" not in exported.casefold()


def test_given_a_greeting_or_a_question_about_the_library_when_asked_then_nothing_is_claimed(
    page: AppTest,
) -> None:
    """S4-19, S4-20: a greeting bypasses retrieval; the scope is told without invention."""
    ask(page, "Hello")

    assert "A greeting, no document was searched" in badges(page)
    assert "Of 100 answers" not in captions(page)
    assert "Reported confidence" not in captions(page)
    assert len(page.dataframe) == len(page.image) == 0
    assert by_key(page, "show_") == []

    ask(page, "What documents do you have?")

    assert "About the library, not from a document" in badges(page)
    assert "flow-meter-manual.pdf" in asked_of(page).decision.answer or "MK-40" in asked_of(page).decision.answer
    assert asked_of(page).decision.answer in texts(page)
    assert "Answered from the documents" not in badges(page)
    assert "Sources" not in [heading.value for heading in page.header]


def test_given_a_note_when_shown_then_it_is_plain_text(page: AppTest) -> None:
    ask(page, FRANCE)
    asked = asked_of(page)
    asked.decision = replace(asked.decision, notes=("![x](http://203.0.113.9/a.png)",))

    page.run()

    assert "Note: ![x](http://203.0.113.9/a.png)" in texts(page)


def test_given_a_row_of_several_years_when_shown_then_its_signs_are_joined_to_their_figures() -> None:
    row = row_of("January 28, 2023 | January 29, 2022: Total revenue | $ | 46,298 | $ | 51,761")

    assert row == (("", "Total revenue"), ("January 28, 2023", "$46,298"), ("January 29, 2022", "$51,761"))
    assert asked_column(row, "51,761") == 2
    assert asked_column(row, "") is asked_column(row, "Total revenue") is None
