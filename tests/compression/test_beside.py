"""What an extract's sentence needs beside it: the one that takes it back, that it holds in the case of, or that
announces it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from builders import HashEmbedder, MemoryCorpus, Text, hit
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.compression.conflicts import other_sides
from rag_core.compression.extract import Extract, claim_of, completed, undoing_claims
from rag_core.compression.scoring import Scored
from rag_core.domain.documents import Span
from rag_core.domain.measurements import LibraryFacts
from rag_core.domain.passages import PassageKind, Piece, Role
from rag_core.domain.ports import Undoing
from rag_core.grounding.claims import measure_claims
from rag_core.grounding.contradictions.subject import Asked
from rag_core.grounding.omissions.back import (
    FAR,
    NOTE_WORDS,
    STEPS_WORDS,
    UNDOES,
    UNDOES_BELOW,
    UNDOES_FAR,
    needed_with,
    undone_by,
)
from rag_core.grounding.units import Unit, units

ANIMALS = "Cats stay at home. Dogs may be brought into the garden. This does not apply in July. Birds are fed at noon."
MOTION = (
    "The hall is old. The council rejected the following motion. Parking is free. In that case, the club pays for it."
)


def extracted(body: str, *texts: str, language: str = "en") -> tuple[Extract, MemoryCorpus]:
    """An extract of these sentences of one document, the first the likest."""
    corpus = MemoryCorpus([Text("d", body, language)], HashEmbedder())
    (passage,) = corpus.passages
    by_text = {unit.text: unit for unit in units(passage, corpus.page_text)}
    scored = {text: Scored(unit, {}, 0.1) for text, unit in by_text.items()}
    scored |= {text: Scored(by_text[text], {}, 0.9 - n / 10) for n, text in enumerate(texts)}
    chosen = tuple(one for text, one in scored.items() if text in texts)
    claims = tuple(claim_of(one, corpus.page_text) for one in chosen)
    return Extract(claims, chosen, tuple(scored.values())), corpus


def shown(body: str, *texts: str, most: int = 3, language: str = "en") -> list[str]:
    found, corpus = extracted(body, *texts, language=language)
    whole = completed(found, corpus.page_text, most)
    assert [claim.text for claim in whole.claims] == [one.unit.text for one in whole.chosen]
    assert all(claim.evidence[0].quote == claim.text for claim in whole.claims)
    return [claim.text for claim in whole.claims]


@each(
    ("body", "text", "wanted", "language"),
    [
        (
            ANIMALS,
            "Dogs may be brought into the garden.",
            ["Dogs may be brought into the garden.", "This does not apply in July."],
            "en",
        ),
        (ANIMALS, "Cats stay at home.", ["Cats stay at home."], "en"),
        (ANIMALS, "This does not apply in July.", ["This does not apply in July."], "en"),
        (MOTION, "Parking is free.", ["The council rejected the following motion.", "Parking is free."], "en"),
        (
            MOTION,
            "In that case, the club pays for it.",
            ["Parking is free.", "In that case, the club pays for it."],
            "en",
        ),
        (
            "Hunde sind erlaubt. Das gilt nicht im Juli.",
            "Hunde sind erlaubt.",
            ["Hunde sind erlaubt.", "Das gilt nicht im Juli."],
            "de",
        ),
        (
            "Psi smějí do zahrady. To neplatí v červenci.",
            "Psi smějí do zahrady.",
            ["Psi smějí do zahrady.", "To neplatí v červenci."],
            "cs",
        ),
        # no lists
        (
            "Dogs are allowed. This does not apply in July.",
            "Dogs are allowed.",
            ["Dogs are allowed."],
            "sv",
        ),
    ],
)
def test_given_a_sentence_that_needs_another_then_both(body: str, text: str, wanted: list[str], language: str) -> None:
    assert shown(body, text, language=language) == wanted


@each("change", [{"lead": "Dogs may enter:"}, {"kind": PassageKind.TABLE}, {"kind": PassageKind.CODE}])
def test_given_an_item_that_is_led_in_a_row_or_code_then_nothing_is_added(change: dict[str, Any]) -> None:
    found, corpus = extracted(ANIMALS, "Dogs may be brought into the garden.")
    unit = found.chosen[0].unit
    other = replace(unit, **change) if "lead" in change else replace(unit, passage=replace(unit.passage, **change))
    asked = replace(found, chosen=(replace(found.chosen[0], unit=other),))

    assert completed(asked, corpus.page_text, 3) is asked


def test_given_no_room_for_all_then_what_bears_least_goes_and_the_likest_keeps_what_it_needs() -> None:
    dogs, july, birds = "Dogs may be brought into the garden.", "This does not apply in July.", "Birds are fed at noon."
    assert shown(ANIMALS, dogs, birds) == [dogs, july, birds]
    assert shown(ANIMALS, dogs, birds, most=2) == [dogs, july]
    assert shown(ANIMALS, dogs, most=1) == [dogs, july]
    assert shown(ANIMALS, birds, dogs, most=2) == [birds]
    assert shown(ANIMALS, dogs, july) == [dogs, july]


def test_given_an_item_of_another_list_behind_it_then_it_takes_nothing_back(monkeypatch: pytest.MonkeyPatch) -> None:
    found, corpus = extracted(ANIMALS, "Dogs may be brought into the garden.")
    stated = units(found.chosen[0].unit.passage, corpus.page_text)
    led_in = [
        replace(unit, lead="It is a myth that:") if unit.text.startswith("This does not") else unit for unit in stated
    ]
    monkeypatch.setattr("rag_core.compression.extract.units", lambda *_: led_in)

    assert completed(found, corpus.page_text, 3) is found


def test_given_a_sentence_that_was_not_scored_then_it_is_known_from_then_on() -> None:
    """Contradictions are looked for among the sentences that are known."""
    found, corpus = extracted(ANIMALS, "Dogs may be brought into the garden.")
    whole = completed(replace(found, scored=found.chosen), corpus.page_text, 3)

    assert [one.unit.text for one in whole.scored] == [
        "Dogs may be brought into the garden.",
        "This does not apply in July.",
    ]
    assert other_sides(whole, Asked("Dogs?", "en", LibraryFacts()), corpus.page_text, 3) == (whole.claims, ())


STEPS = (
    "Shut the gas valve off.",
    "Vypněte nejdřív hlavní jistič domu.",
    "Put on your long gloves.",
    "Den grauen Deckel langsam lösen.",
    "Lift the lid with care.",
    "Levante la tapa con cuidado.",
)


@given(st.lists(st.sampled_from(STEPS), min_size=2, max_size=5, unique=True), st.data())
def test_given_any_step_then_those_before_it_are_shown_and_none_behind(steps: list[str], data: st.DataObject) -> None:
    numbered = [f"{n}. {step}" for n, step in enumerate(steps, 1)]
    at = data.draw(st.integers(0, len(steps) - 1))
    before = [
        *data.draw(
            st.sampled_from([[], ["The pump is quite old."], ["1. Read all of this.", "2. Sign it at the end."]])
        ),
        *numbered,
    ]
    assert completed_at(before, len(before) - len(numbered) + at) == numbered[: at + 1]


def test_given_many_words_before_a_step_then_the_first_step_alone_is_shown_with_it() -> None:
    steps = ["1. Shut the valve.", f"2. {'Turn ' * STEPS_WORDS}it.", "3. Lift the lid."]
    assert completed_at(steps, 2) == [steps[0], steps[2]]
    assert completed_at(steps[1:], 1) == [steps[2]]  # its first step stands elsewhere
    assert completed_at([steps[0], steps[2]], 1) == [steps[2]]  # no steps that follow each other


@given(
    st.lists(
        st.sampled_from(["Nothing of this is so.", "Takhle to vůbec není.", "Hallo liebe Ute und Anna,"]),
        max_size=3,
        unique=True,
    ),
    st.booleans(),
)
def test_given_what_a_mail_quotes_then_the_mails_own_words_beside_it_are_shown(own: list[str], above: bool) -> None:
    quoted = ["> The roof costs 9,000 euros.", "> It is red and rather large."]
    before, behind = (own, []) if above else ([], own)
    # a greeting says nothing of what is quoted
    near, far = ([one for one in side if not one.endswith(",")] for side in (before, behind))
    wanted = [*near[-1:], quoted[0], *far[:1]]
    assert completed_at([*before, *quoted, *behind], len(before)) == wanted


@pytest.mark.parametrize("mark", ["*", "†", "1)", "a)", "a"])
@pytest.mark.parametrize("behind", [True, False])
def test_given_a_row_with_a_mark_then_the_note_of_that_mark_is_shown_behind_it(mark: str, behind: bool) -> None:
    row, note = f"Sauna | 12 {mark}", f"{mark if mark != 'a' else 'a)'} only in May"
    other = "b) never" if behind else "12 is a number"
    assert completed_at([row, other, note], 0, row=True) == [row, note]
    assert completed_at(["Sauna | 12", other, note], 0, row=True) == ["Sauna | 12"]


@pytest.mark.parametrize("mark", ["*", "†", "‡", "²", "¹²", "(a)", "[2]"])
@pytest.mark.parametrize("stop", [". ", "."])
def test_given_a_sentence_with_a_mark_then_the_one_note_that_opens_with_it_is_shown_behind_it(
    mark: str, stop: str
) -> None:
    said = f"Boats may do 12 knots{stop}{mark}" if stop.strip() == stop else f"Boats may do 12 knots {mark}."
    note, others = f"{mark} For rescue only.", ["The slip is old.", "‖ Not on Sundays."]
    assert completed_at([said, *others, note], 0) == [said, note]
    assert completed_at([said, *others, note, f"{mark} Or another one."], 0) == [said]  # a bullet, not a note
    inside = f"Boats may do 12 knots{mark} on the lake."
    assert (completed_at([inside, *others, note], 0) == [inside, note]) == (mark[0] in "†‡²¹")
    assert completed_at(["Boats may do 12 knots.", *others, note], 0) == ["Boats may do 12 knots."]


@each(
    ("note", "nth", "kept"),
    [
        (("† For rescue only.", "Others keep to 6 knots."), (0, 1), (2, 3)),
        (("† For rescue only.", "Birds are fed at noon."), (0, 0), (2,)),
        (("† For rescue only.", "Birds are fed at noon."), (), (2,)),
        (("† For rescue only.", "‡ Except in May."), (0, 1), (2,)),
        (("† For rescue only.", f"It was{' often' * NOTE_WORDS} so."), (0, 1), (2,)),
    ],
)
def test_given_a_note_then_it_is_needed_to_the_end_of_its_paragraph(
    note: tuple[str, ...], nth: tuple[int, ...], kept: tuple[int, ...]
) -> None:
    assert needed_with(["Boats may do 12 knots.†", "The slip is old.", *note], 0, (0, 1, *nth) if nth else ()) == kept


def completed_at(texts: list[str], at: int, *, row: bool = False) -> list[str]:
    """What is shown of a passage of these sentences where one is chosen; with `row` the first is the row of a table of
    its own.
    """
    lines = MemoryCorpus([Text("d", " ".join(texts), "en")], HashEmbedder())
    (passage,) = lines.passages
    starts = [passage.text.index(text) for text in texts]
    found = [Unit(passage, text, start, start + len(text)) for text, start in zip(texts, starts, strict=True)]
    if row:
        found[0] = replace(found[0], passage=replace(passage, id="t", kind=PassageKind.TABLE))
    scored = [Scored(unit, {}, 0.9 if n == at else 0.1) for n, unit in enumerate(found)]
    extract = Extract((claim_of(scored[at], lines.page_text),), (scored[at],), tuple(scored))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("rag_core.compression.extract.units", lambda *_: found)
        return [one.unit.text for one in completed(extract, lines.page_text, 3).chosen]


SENTENCES = ANIMALS.replace(". ", ".|").split("|")


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, unique=True), st.integers(1, 4))
def test_given_any_extract_then_nothing_stands_twice_and_no_exception_is_lost(texts: list[str], most: int) -> None:
    found = shown(ANIMALS, *texts[:most], most=most)
    assert texts[0] in found
    assert found == [one for one in SENTENCES if one in found]
    assert SENTENCES[1] not in found or SENTENCES[2] in found


def undone(*texts: str, likely: float = UNDOES) -> Undoing:
    """A model for which these undo what they stand beside."""
    return lambda beside: [likely if text in texts else 0.0 for _, text in beside]


RULES = (
    "Motions lost Cats stay at home. Dogs may enter the garden. Birds are fed at noon. Fish are bought on demand. "
    "Snails live below the hedge."
)


def headed(text: str, heading: str = "Motions lost") -> tuple[Extract, MemoryCorpus]:
    """An extract of this sentence, below the heading."""
    at, body = len(heading), RULES.replace("Motions lost", heading)
    pieces = (Piece(Role.HEADING, (Span(1, 0, at),)), Piece(Role.TEXT, (Span(1, at + 1, len(body)),)))
    corpus = MemoryCorpus([Text("d", body, "en")], HashEmbedder())
    passage = replace(corpus.passages[0], section=f"Rules › {heading}", pieces=pieces)
    scored = {unit.text: Scored(unit, {}, 0.9) for unit in units(passage, corpus.page_text)}
    return Extract((claim_of(scored[text], corpus.page_text),), (scored[text],), tuple(scored.values())), corpus


def under(*texts: str, likely: float = UNDOES) -> list[str]:
    found, corpus = headed("Dogs may enter the garden.")
    return [claim.text for claim in completed(found, corpus.page_text, 1, undone(*texts, likely=likely)).claims]


@each(
    ("text", "likely", "wanted"),
    [
        ("Cats stay at home.", UNDOES, ["Cats stay at home.", "Dogs may enter the garden."]),
        ("Birds are fed at noon.", UNDOES, ["Dogs may enter the garden.", "Birds are fed at noon."]),
        ("Birds are fed at noon.", UNDOES - 0.01, ["Dogs may enter the garden."]),
        ("Fish are bought on demand.", UNDOES, ["Dogs may enter the garden."]),  # with another between it must be surer
        ("Fish are bought on demand.", UNDOES_FAR, ["Dogs may enter the garden.", "Fish are bought on demand."]),
        ("Motions lost", UNDOES_BELOW, ["Motions lost: Dogs may enter the garden."]),
        ("Motions lost", UNDOES_BELOW - 0.01, ["Dogs may enter the garden."]),
    ],
)
def test_given_what_undoes_a_sentence_near_by_then_it_is_said_with_it(
    text: str, likely: float, wanted: list[str]
) -> None:
    assert under(text, likely=likely) == wanted


def test_given_an_item_of_a_list_with_others_between_then_it_undoes_none_outside_of_it() -> None:
    texts = ["Call 4500.", "Faults are mended in a day.", "• One: all is down.", "• Two: there is a way round."]
    sure = undone(*texts, likely=1.0)

    assert undone_by(texts, 0, sure) == (1,)
    assert undone_by(texts, 3, sure) == (0, 1, 2)


@pytest.mark.parametrize("label", ["Example:", "Par exemple :", "例："])
def test_given_a_label_then_it_frames_what_stands_behind_it_alone(label: str) -> None:
    texts = ["You get no other grant.", label, "A club bought chairs.", "This does not hold in May:"]
    sure = undone(*texts, likely=1.0)

    assert undone_by(texts, 0, sure) == (2, 3)
    assert 1 in undone_by(texts, 2, sure)


def test_given_a_sentence_far_away_then_it_undoes_nothing() -> None:
    assert FAR == 3
    found, corpus = headed("Cats stay at home.")
    whole = completed(found, corpus.page_text, 1, undone("Snails live below the hedge.", likely=1.0))
    assert whole is found


def test_given_a_heading_that_asks_then_it_undoes_nothing_of_what_answers_it() -> None:
    found, corpus = headed("Dogs may enter the garden.", "May dogs come in?")
    (claim,) = completed(found, corpus.page_text, 1, undone("May dogs come in?", likely=1.0)).claims

    assert claim.text == "Dogs may enter the garden."


def test_given_a_heading_that_undoes_then_the_claim_rests_on_both() -> None:
    found, corpus = headed("Dogs may enter the garden.")
    (claim,) = completed(found, corpus.page_text, 1, undone("Motions lost")).claims

    assert [one.quote for one in claim.evidence] == ["Motions lost", "Dogs may enter the garden."]
    (measured,) = measure_claims([claim], {}, corpus.page_text, "en", whole=True)
    assert measured.word_for_word


@pytest.mark.parametrize(
    ("text", "likely"), [("Birds are fed at noon.", UNDOES), ("Motions lost", UNDOES_BELOW), ("Motions lost", 0.9)]
)
def test_given_a_models_claim_that_a_sentence_or_heading_undoes_then_that_follows_unless_it_is_said(
    text: str, likely: float
) -> None:
    found, corpus = headed("Dogs may enter the garden.")
    hits, sure = [hit(of=found.chosen[0].unit.passage)], undone(text, likely=likely)

    (more,) = undoing_claims(found.claims, hits, corpus.page_text, sure)
    assert (more.text, more.evidence[0].quote) == (text, text)
    assert undoing_claims((*found.claims, more), hits, corpus.page_text, sure) == ()
    assert undoing_claims(found.claims, hits, corpus.page_text, undone(text, likely=UNDOES_BELOW - 0.01)) == ()
