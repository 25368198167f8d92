"""The parts of passages that a draft's prompt sends: whole sentences around what bears on the question, within a
budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from builders import passage

from rag_core.compression.llm.excerpts import GAP, excerpts, holds, tokens_of
from rag_core.compression.scoring import Scored
from rag_core.domain.claims import Evidence
from rag_core.domain.documents import Span
from rag_core.domain.passages import Passage, PassageKind, Piece, Role
from rag_core.grounding.units import units

SENTENCES = [
    f"The {thing} is inspected every {n} years."
    for n, thing in enumerate(("pump", "valve", "boiler", "tank", "filter", "door"), 2)
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
    assert chosen(scored(FIRST, 5, 0.9), scored(FIRST, 0, 0.8)) == {
        FIRST.id: GAP.join((" ".join(SENTENCES[:2]), " ".join(SENTENCES[4:])))
    }
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
    whole = Passage(
        "d1#9", "d1", " ".join(lines), (Span(1, 0, len(text)),), language="en", kind=PassageKind.LIST, pieces=pieces
    )
    inside = units(whole, read({"d1": text}))
    item = next(unit for unit in inside if unit.text.startswith("the strap"))

    found = excerpts([Scored(item, {}, 0.9)], read({"d1": text}), 1000, lambda _: 0)

    assert found == {"d1#9": GAP.join((lines[0], " ".join(lines[3:])))}


def test_given_what_takes_a_sentence_back_later_on_then_it_goes_along_and_what_is_of_other_things_does_not() -> None:
    rule, *others = "Members may borrow a boat.", *SENTENCES[:3]
    for back in (
        "A boat is not lent in winter.",
        "This holds only if the water is calm.",
        "From 1 May 2031 no boat is lent.",
    ):
        whole = passage(1, " ".join((rule, *others, back, SENTENCES[3])))
        assert chosen(scored(whole, 0, 0.9)) == {whole.id: GAP.join((f"{rule} {others[0]}", back))}


def test_given_a_language_without_words_that_restrict_then_the_whole_passage_goes() -> None:
    whole = replace(
        passage(1, "El plazo es de 14 días. La torre es alta. El pozo es hondo. La casa es vieja."), language="es"
    )

    assert chosen(scored(whole, 0, 0.9), most=1) == {whole.id: whole.text}


def test_given_no_room_for_all_that_belongs_to_a_sentence_then_it_is_left_out_and_not_cut_from_it() -> None:
    other = passage(2, SECOND.text, document="d2")

    assert list(chosen(scored(FIRST, 0, 0.9), scored(other, 1, 0.8), most=tokens_of(" ".join(SENTENCES[:2])) + 8)) == [
        FIRST.id
    ]


def test_given_the_last_sentence_of_a_passage_then_the_first_one_behind_it_goes_along() -> None:
    text = f"{SENTENCES[0]} {SENTENCES[1]} {SENTENCES[2]}"
    edge, last = len(SENTENCES[0]) + 1, len(text) - len(SENTENCES[2])
    first = Passage("d1#1", "d1", text[: last - 1], (Span(1, 0, last - 1),), language="en")
    behind = Passage("d1#2", "d1", text[edge:], (Span(1, edge, len(text)),), language="en")
    page = {"d1": text}
    given = [Scored(units(first, read(page))[1], {}, 0.9), Scored(units(behind, read(page))[1], {}, 0.1)]

    assert SENTENCES[2] in excerpts(given, read(page), 1, lambda _: 0)["d1#2"]


def test_given_a_row_of_a_table_then_the_row_that_says_what_it_is_of_goes_along() -> None:
    text = "Fee\tEUR\nMembers\nboat\t3\nkayak\t2\nGuests\ncanoe\t4\nboat\t9\nraft\t7\nferry\t5"
    table = Passage(
        "d1#3",
        "d1",
        " ".join(text.split()),
        (Span(1, 0, len(text)),),
        language="en",
        kind=PassageKind.TABLE,
        header=(Span(1, 0, 7),),
        header_text="Fee EUR",
    )
    inside = [unit.text for unit in units(table, read({"d1": text}))]

    found = excerpts([scored(table, inside.index("raft | 7"), 0.9, text)], read({"d1": text}), 1000, lambda _: 0)

    assert found == {"d1#3": GAP.join(("Guests", "boat 9 raft 7 ferry 5"))}


def test_given_evidence_then_it_was_sent_only_where_it_stands_in_one_stretch_of_what_was_sent() -> None:
    sent = f"The fee is 40 EUR.{GAP}Nobody is exempt."

    def of(quote: str) -> Evidence:
        return Evidence("d1#1", "d1", quote, (Span(1, 0, len(quote)),))

    assert holds(sent, of("The fee\nis 40 EUR."))
    assert not holds(sent, of("It is paid in May."))
    assert not holds(sent, of("The fee is 40 EUR. Nobody is exempt."))
    assert holds("The rule […] holds.", of("The rule […] holds."))


def test_given_no_sentences_then_nothing_is_chosen() -> None:
    assert excerpts([], read({}), 350, lambda _: 0) == {}


def test_given_many_sentences_of_a_passage_then_its_name_and_page_are_counted_once() -> None:
    asked: list[str] = []
    given = [scored(FIRST, at, 1 - at / 10) for at in range(6)]

    found = excerpts(given, read({FIRST.document: FIRST.text}), 1000, lambda one: asked.append(one.id) or 0)  # type: ignore[func-returns-value]

    assert found == {FIRST.id: FIRST.text}
    assert asked == [FIRST.id]
