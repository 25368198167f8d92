"""The parts of passages that a draft's prompt sends: whole sentences around what bears on the question, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from builders import passage

from rag_core.compression.extract import Scored
from rag_core.compression.llm.excerpts import GAP, excerpts, tokens_of
from rag_core.domain.documents import Span
from rag_core.domain.passages import Passage, PassageKind, Piece, Role
from rag_core.grounding.units import units

SENTENCES = [
    f"The {thing} is inspected every {n} years." for n, thing in enumerate(("pump", "valve", "boiler", "tank", "filter", "door"), 2)
]
FIRST, SECOND = passage(1, " ".join(SENTENCES)), passage(2, "The fee is 40 EUR. It is paid in May. Nobody is exempt.")


def read(texts: Mapping[str, str]) -> Callable[[str, int], str]:
    return lambda document, page: texts[document]


def scored(of: Passage, at: int, relevance: float, text: str = "") -> Scored:
    return Scored(units(of, read({of.document: text or of.text}))[at], {}, relevance)


def chosen(*given: Scored, most: int = 1000, label: int = 0) -> Mapping[str, str]:
    pages = {one.unit.passage.document: one.unit.passage.text for one in given}
    return excerpts(given, read(pages), most, lambda _: label)


def test_given_a_sentence_that_bears_then_it_goes_with_its_neighbours_in_the_passages_own_words() -> None:
    assert chosen(scored(FIRST, 2, 0.9)) == {FIRST.id: " ".join(SENTENCES[1:4])}
    assert chosen(scored(FIRST, 0, 0.9)) == {FIRST.id: " ".join(SENTENCES[:2])}
    assert chosen(scored(FIRST, 5, 0.9), scored(FIRST, 0, 0.8)) == {FIRST.id: GAP.join((" ".join(SENTENCES[:2]), " ".join(SENTENCES[4:])))}
    assert chosen(scored(FIRST, 4, 0.9), scored(FIRST, 1, 0.8)) == {FIRST.id: FIRST.text}


def test_given_several_passages_then_the_one_with_the_best_sentence_comes_first() -> None:
    other = passage(2, SECOND.text, document="d2")

    assert list(chosen(scored(FIRST, 0, 0.5), scored(other, 0, 0.9))) == [other.id, FIRST.id]


@pytest.mark.parametrize("most", range(0, 120, 7))
def test_given_any_budget_then_it_is_kept_by_whole_sentences_and_the_best_one_always_goes(most: int) -> None:
    found = chosen(*(scored(FIRST, at, 0.9 - at / 10) for at in range(6)), most=most)
    sent = found[FIRST.id]

    assert SENTENCES[0] in sent
    assert tokens_of(sent) <= max(most, tokens_of(" ".join(SENTENCES[:2])))
    assert "".join(sent.replace(GAP, " ").split()) == "".join("".join(s.split()) for s in SENTENCES if s in sent)


def test_given_what_a_passage_costs_besides_its_text_then_that_counts_once_for_each() -> None:
    other = passage(2, SECOND.text, document="d2")
    both = (scored(FIRST, 0, 0.9), scored(other, 0, 0.8))

    assert len(chosen(*both, most=100, label=10)) == 2
    assert len(chosen(*both, most=100, label=80)) == 1
    assert chosen(*both, scored(FIRST, 3, 0.7), most=100, label=80)[FIRST.id] == " ".join(SENTENCES[:2])


def test_given_an_item_then_the_sentence_that_leads_it_in_goes_along() -> None:
    lines = ["Not covered are the following parts:", "worn seals;", "the battery;", "broken glass;", "the strap."]
    text = "\n".join(lines)
    starts = [text.index(line) for line in lines]
    spans = [Span(1, start, start + len(line)) for start, line in zip(starts, lines, strict=True)]
    pieces = (Piece(Role.TEXT, spans[:1]), *(Piece(Role.ITEM, (span,), lead=(spans[0],)) for span in spans[1:]))
    whole = Passage("d1#9", "d1", " ".join(lines), (Span(1, 0, len(text)),), language="en", kind=PassageKind.LIST, pieces=pieces)
    inside = units(whole, read({"d1": text}))
    item = next(unit for unit in inside if unit.text.startswith("the strap"))

    found = excerpts([Scored(item, {}, 0.9)], read({"d1": text}), 1000, lambda _: 0)

    assert found == {"d1#9": GAP.join((lines[0], " ".join(lines[3:])))}


def test_given_the_rows_of_a_table_then_whole_rows_go_without_its_header() -> None:
    text = "Code\tMeaning\nE1\tempty pipe\nE2\tno signal\nE3\tbattery low\nE4\tcold\nE5\thot"
    table = Passage(
        "d1#3", "d1", " ".join(text.split()), (Span(1, 0, len(text)),), language="en", kind=PassageKind.TABLE,
        header=(Span(1, 0, 12),), header_text="Code Meaning",
    )  # fmt: skip
    found = excerpts([scored(table, 1, 0.9, text)], read({"d1": text}), 1000, lambda _: 0)

    assert found == {"d1#3": "E1 empty pipe E2 no signal E3 battery low"}


def test_given_no_sentences_then_nothing_is_chosen() -> None:
    assert excerpts([], read({}), 350, lambda _: 0) == {}
