"""Records: measurements without any text of a document, and the measurements again, which replay as those they were
made of.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import replace

import pytest
from any_measurements import any_measurements, chosen_settings
from builders import (
    SENTENCE,
    HashEmbedder,
    MemoryCorpus,
    Text,
    citation,
    claim,
    contradicted,
    draft,
    hit,
    measured_again,
    measurements,
    passage,
    settings,
    tools,
)
from folding import each
from hypothesis import given

from rag_core.decision.decide import decide, replay
from rag_core.decision.measure import measure
from rag_core.domain.answer import evidence_key
from rag_core.domain.decision import Decision
from rag_core.domain.documents import Span
from rag_core.domain.measurements import LibraryFacts, Measurements
from rag_core.domain.passages import Passage, PassageKind
from rag_core.errors import InvalidInput
from rag_core.library.stored.typed_json import reader
from rag_core.records import DELETED, SCHEMA_VERSION, from_record, to_record
from rag_core.settings import Cost, Settings

COSTLY = [knob.name for knob in Settings.knobs() if knob.cost is not Cost.REPLAY]


def sentence(number: int) -> str:
    """What the pages of these tests hold: everything that `any_case` says of its claims is made of it."""
    return f"The notice period number {number} was lost: it is 30 days, not 31 days."


def on_pages(drawn: Measurements) -> Measurements:
    """The same measurements with texts that stand on pages, each passage on its own: what was drawn has none."""
    new: dict[str, Passage] = {}
    for number, one in enumerate(drawn.hits, 1):
        text = sentence(number)
        new[one.passage.id] = replace(one.passage, text=text, spans=(Span(number, 0, len(text)),))
    claims, citations = [], {}
    for number, one in enumerate(drawn.draft.claims):
        source = new[one.evidence[0].passage]
        whole, stop = source.text, len(source.text) - number  # no two claims rest on the same stretch
        evidence = replace(one.evidence[0], quote=whole[:stop], spans=(Span(source.page, 0, stop),))
        value = one.value and Span(source.page, one.value.start, one.value.end)
        claims.append(replace(one, text=whole[:stop], evidence=(evidence,), value=value))
        citations[evidence_key(evidence)] = citation(evidence)
    hits = tuple(replace(one, passage=new[one.passage.id]) for one in drawn.hits)
    return replace(drawn, hits=hits, draft=replace(measured_again(drawn.draft, claims), citations=citations))


def page_text(document: str, page: int) -> str:
    return sentence(page)


def through_json(measurements: Measurements) -> dict:
    return json.loads(json.dumps(to_record(measurements), allow_nan=False))


def numbers(decision: Decision) -> object:
    """Everything of a decision that is no text of a document."""
    checks = [
        (one.stage, one.state, one.mode, one.value, one.threshold, one.note, one.remedy)
        for one in decision.trace.checks
    ]
    kept = (
        decision.status,
        decision.reason,
        decision.reasons,
        decision.confidence,
        decision.confidence_level,
        decision.scores,
    )
    shown = [(one.document, one.page, one.spans, one.boxes) for one in decision.citations]
    values = [(one.value, one.value_probability) for one in decision.claims]
    return (
        kept,
        checks,
        shown,
        values,
        decision.metadata,
        decision.suggestions,
        [hit.passage.id for _, hit in decision.retrieved],
    )


@given(drawn=any_measurements(), other=chosen_settings)
def test_given_any_case_restored_with_its_pages_then_it_replays_alike(drawn: Measurements, other: Settings) -> None:
    original = on_pages(drawn)
    target = other.changed(**{name: getattr(original.settings, name) for name in COSTLY})

    row = through_json(original)
    restored = from_record(row, page_text)

    assert "was lost" not in json.dumps(row), "no text of a page"
    assert restored.draft == original.draft
    assert restored.hits == original.hits
    assert replay(restored, target) == replay(original, target)
    assert decide(restored) == decide(original)


@given(drawn=any_measurements(), other=chosen_settings)
def test_given_any_case_without_its_texts_then_its_numbers_replay_alike(drawn: Measurements, other: Settings) -> None:
    original = on_pages(drawn)
    target = other.changed(**{name: getattr(original.settings, name) for name in COSTLY})

    restored = from_record(through_json(original))

    assert {one.text for one in restored.draft.claims} <= {DELETED}
    assert {one.passage.text for one in restored.hits} <= {DELETED}
    assert numbers(replay(restored, target)) == numbers(replay(original, target))


TABLE = "Unit\tPrice in €\nPump A\t1,200.50\nPump B\t900"
TEXTS = (
    Text(
        "contract",
        "The notice period is 30 days.\nThe supplier delivers the goods to Brno, but not on a holi-\nday. The price is "
        "500 crowns.",
    ),
    Text("rules", "Employees have 20 days of vacation a year.\nThe canteen serves soup."),
    Text("handbook", "Employees have 25 days of vacation a year.\nThe office opens at nine."),
)
QUESTIONS = (
    "What is the notice period?",
    "How many days of vacation do employees have?",
    "Who painted it?",
    "Hello",
    "Where are goods delivered?",
)


@each("question", QUESTIONS)
@each("drafter", ["extract", "raw"])
def test_given_a_measured_question_when_restored_then_nothing_is_missing(question: str, drafter: str) -> None:
    corpus = MemoryCorpus(TEXTS, HashEmbedder())
    original = measure(question, settings(drafter=drafter), corpus, tools())

    restored = from_record(through_json(original), corpus.page_text)

    assert restored.draft == original.draft
    assert restored.conflicts == original.conflicts
    assert json.dumps(decide(restored).to_json()) == json.dumps(decide(original).to_json())


@each("question", QUESTIONS)
def test_given_a_record_when_read_as_text_then_no_sentence_of_a_document_stands_in_it(question: str) -> None:
    original = measure(question, settings(), MemoryCorpus(TEXTS, HashEmbedder()), tools())

    stored = json.dumps(to_record(original))

    for text in TEXTS:
        for row in text.body.split("\n"):
            assert row not in stored
    assert not any(len(one.text) > 3 and one.text in stored for one in original.draft.claims)


def test_given_a_claim_of_a_tables_row_when_recorded_then_it_is_read_again_from_its_cells() -> None:
    """A row is quoted with its header, its cells parted by bars: such a text stands nowhere as it is."""
    start = TABLE.index("Pump A")
    row = Span(1, start, TABLE.index("\nPump B"))
    table = Passage(
        "t",
        "d1",
        "Unit Price in € Pump A 1,200.50 Pump B 900",
        (Span(1, 0, len(TABLE)),),
        kind=PassageKind.TABLE,
        header=(Span(1, 0, start - 1),),
        header_text="Unit Price in €",
    )
    said = claim(table, "Unit | Price in €: Pump A | 1,200.50")
    evidence = replace(said.evidence[0], quote=TABLE[row.start : row.end], spans=(row, *table.header))
    original = measurements(hits=(hit(of=table),), draft=draft([replace(said, evidence=(evidence,))]))

    restored = from_record(through_json(original), lambda *_: TABLE)

    assert restored.draft == original.draft
    assert restored.hits == original.hits


def test_given_a_page_that_changed_when_restored_then_the_text_counts_as_deleted_and_never_as_the_new_one() -> None:
    original = on_pages(measurements(0.9, 0.8))

    restored = from_record(
        through_json(original),
        lambda _, page: page_text("", page).replace("30", "90") if page == 1 else page_text("", page),
    )

    assert restored.hits[0].passage.text == DELETED
    assert restored.draft.claims[0].text == DELETED
    assert restored.draft.citations[next(iter(original.draft.citations))].excerpt == DELETED
    assert restored.hits[1] == original.hits[1]


def gone(*_: object) -> str:
    raise InvalidInput("There is no document.", remedy="List them.")


def empty(*_: object) -> str:
    return ""


@pytest.mark.parametrize("reader", [gone, empty], ids=["raises", "empty"])
def test_given_a_deleted_document_when_restored_then_its_texts_are_marked(reader: Callable[..., str]) -> None:
    original = on_pages(measurements(0.9))

    decision = decide(from_record(through_json(original), reader, gone))  # type: ignore[arg-type]

    assert decision.answered
    assert decision.answer == f"{DELETED} [1]"
    assert decision.citations[0].document == "contract.pdf"
    assert decision.trace["length_ratio"].value == decide(original).trace["length_ratio"].value


def test_given_the_librarys_passages_when_restored_then_their_section_titles_come_back_if_they_are_the_same() -> None:
    titled = replace(passage(), section="1 Notice")
    original = measurements(hits=(hit(of=titled),), draft=draft([claim(titled)]))
    row = through_json(original)

    assert "1 Notice" not in json.dumps(row)
    assert from_record(row, lambda *_: SENTENCE).hits[0].passage.section == ""
    assert from_record(row, lambda *_: SENTENCE, lambda *_: titled).hits == original.hits
    assert (
        from_record(row, lambda *_: SENTENCE, lambda *_: replace(titled, section="2 Price")).hits[0].passage.section
        == ""
    )


def test_given_names_of_many_documents_when_recorded_then_only_those_that_a_decision_can_name_are_kept() -> None:
    names = {f"d{n}": f"{n}.pdf" for n in range(1000)}
    original = measurements(
        0.9, library=LibraryFacts(1000, 5000, 9000, unreadable={"d5": (1, 2, 3, 7)}, names=names, titles=names)
    )

    row = through_json(original)

    assert row["library"]["names"] == {"d1": "1.pdf"}
    assert len(zlib.compress(json.dumps(row).encode())) < 4_000
    assert from_record(row).library.unreadable == {"d5": (1, 2, 3, 7)}
    assert numbers(decide(from_record(row))) == numbers(decide(original))


def test_given_a_refusal_that_names_a_document_that_was_read_in_part_when_restored_then_it_names_it_again() -> None:
    facts = LibraryFacts(2, 2, 2, names={"d1": "a.pdf", "d9": "b.pdf"}, partly=("d9",))
    asked = measurements(0.1, of=Settings.load("compliance"), library=facts)
    assert "b.pdf" in decide(asked).explanation
    assert decide(from_record(through_json(asked))).explanation == decide(asked).explanation


@each("version", [None, 0, 1, SCHEMA_VERSION - 1, SCHEMA_VERSION + 1, str(SCHEMA_VERSION), True])
def test_given_a_record_of_another_version_when_restored_then_one_clear_error(version: object) -> None:
    row = {**through_json(measurements(0.9)), "schema_version": version}

    with pytest.raises(InvalidInput, match=rf"version {SCHEMA_VERSION} is known here") as caught:
        from_record(row)
    assert caught.value.remedy


def test_given_a_value_when_recorded_then_its_place_is_kept_and_none_of_its_text() -> None:
    place = Span(1, SENTENCE.index("30"), SENTENCE.index("30") + 7)
    original = measurements(0.9, draft=draft([replace(claim(passage()), value=place, value_probability=0.75)]))
    row = through_json(original)

    restored = from_record(row, lambda *_: SENTENCE)

    assert "30 days" not in json.dumps(row)
    assert decide(restored).value == decide(original).value
    assert decide(restored).value["text"] == "30 days"


def test_given_a_value_whose_document_was_deleted_when_restored_then_it_says_nothing_of_it() -> None:
    """What stands for a deleted text is no text to read a value from."""
    original = measurements(0.9, draft=draft([replace(claim(passage()), value=Span(1, 4, 10), value_probability=0.75)]))

    decision = decide(from_record(through_json(original), empty))

    assert decision.answered
    assert (decision.value or {}).get("text", "") in ("", DELETED)


@each(
    "spoil",
    [
        lambda row: row["library"].update(date_sources={"d1": "papers"}),
        lambda row: row["library"].update(date_sources={"d1": None}),
        lambda row: row["hits"][0].update(cosine=3.0),
        lambda row: row["settings"].update(dropped_knob=3),
        lambda row: row.pop("question"),
    ],
)
def test_given_a_record_that_is_not_whole_then_one_clear_error(spoil: Callable[[dict], object]) -> None:
    row = through_json(contradicted())
    spoil(row)

    with pytest.raises(InvalidInput, match="cannot be read: its record is not whole") as caught:
        from_record(row)
    assert "Ask the question again" in caught.value.remedy


def broken(row: dict) -> list[tuple[str, dict]]:
    """The record with one field more, less or of another type, somewhere in it."""
    found = []
    for what, change in (
        ("a field too many", lambda one: one.update(made_up=1)),
        ("a field too few", lambda one: one.popitem()),
        ("another type", lambda one: one.update({next(iter(one)): {"a": 1}})),
    ):
        for where in (
            lambda row: row,
            lambda row: row["hits"][0],
            lambda row: row["hits"][0]["passage"],
            lambda row: row["draft"],
            lambda row: row["draft"]["claims"][0],
            lambda row: row["draft"]["measured"][0],
            lambda row: row["understanding"],
            lambda row: row["draft"]["claims"][0]["evidence"][0],
            lambda row: next(iter(row["draft"]["citations"].values())),
        ):
            other = json.loads(json.dumps(row))
            change(where(other))
            found.append((what, other))
    return found


def test_given_a_row_with_a_field_too_many_too_few_or_of_another_type_then_it_is_one_clear_error() -> None:
    row = through_json(on_pages(measurements(0.9)))
    assert from_record(row).hits

    for what, other in broken(row):
        with pytest.raises(InvalidInput) as caught:
            from_record(other)
        assert caught.value.remedy, what


def test_given_a_plain_form_then_a_truth_value_is_no_number_and_a_row_has_just_its_length() -> None:
    for hint, right, wrong in (
        (int, 1, True),
        (float, 1, True),
        (int | None, None, False),
        (tuple[int, int], [1, 2], [1, 2, 3]),
        (tuple[int, ...], [1, 2, 3], [1, True]),
        (tuple[int, int], [1, 2], [1]),
    ):
        read = reader(hint)
        read(right)
        with pytest.raises(ValueError, match=r"wanted|zip"):
            read(wrong)
