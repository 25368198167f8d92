"""What stands around a quote: sentences of the same section before and behind it, the rows beside a row, the lead of a
list.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.claims import Evidence
from rag_core.domain.documents import Span
from rag_core.domain.passages import Passage, PassageKind, Piece, Role
from rag_core.grounding.around import AROUND_CHARS, around, further, noted
from rag_core.grounding.units import units
from rag_core.ingest.normalise import cells, read_passage_text

HEAD, OTHER_HEAD = "1 Deposit", "2 Animals"
FIRST, SECOND, THIRD = "Let us imagine a flat.", "The deposit is 900 euros.", "This no longer holds."
BEHIND = "Pets stay free of charge."
PAGE = f"{HEAD}\n\n{FIRST} {SECOND}\n{THIRD}\n\n{OTHER_HEAD}\n\n{BEHIND}\n"
TABLE = "Guest\tPrice\nAdults\t12\nChildren\t6\nDogs\t3\n"
LIST = "The following are excluded:\n\n- dogs\n- cats\n- parrots\n"


def at(text: str, page: str = PAGE) -> Span:
    start = page.index(text)
    return Span(1, start, start + len(text))


def quote(text: str, page: str = PAGE) -> Evidence:
    return Evidence("p", "d", text, (at(text, page),))


def passage(page: str, pieces: tuple[Piece, ...] = (), **fields: object) -> Passage:
    return Passage(
        "p",
        "d",
        read_passage_text({1: page}, [Span(1, 0, len(page))]).text,
        (Span(1, 0, len(page)),),
        "en",
        pieces=pieces,
        **fields,
    )  # type: ignore[arg-type]


SECTION = Span(1, at(FIRST).start, at(THIRD).end)
TEXT = passage(
    PAGE,
    (
        Piece(Role.HEADING, (at(HEAD),)),
        Piece(Role.TEXT, (SECTION,)),
        Piece(Role.HEADING, (at(OTHER_HEAD),)),
        Piece(Role.TEXT, (at(BEHIND),)),
    ),
)


def texts(text: str, of: Passage = TEXT, page: str = PAGE) -> tuple[str, str]:
    before, after = around(quote(text, page), of, lambda document, number: page)
    for one in (before, after):  # what is told stands there, word for word
        assert not one.text or one.text in (
            read_passage_text({1: page}, one.spans).text,
            cells(page[one.spans[0].start : one.spans[0].end]),
        )
    return before.text, after.text


@pytest.mark.parametrize(
    ("asked", "before", "after"),
    [(FIRST, "", f"{SECOND} {THIRD}"), (SECOND, FIRST, THIRD), (THIRD, f"{FIRST} {SECOND}", ""), (BEHIND, "", "")],
)
def test_given_a_sentence_then_its_neighbours_are_those_of_its_own_section(asked: str, before: str, after: str) -> None:
    assert texts(asked) == (before, after)


def test_given_a_row_then_the_rows_beside_it_are_told_by_their_cells() -> None:
    rows = Piece(Role.ROWS, (Span(1, TABLE.index("Adults"), len(TABLE)),))
    table = passage(TABLE, (rows,), kind=PassageKind.TABLE, header=(at("Guest\tPrice", TABLE),))
    assert texts("Children\t6", table, TABLE) == ("Adults | 12", "Dogs | 3")
    assert texts("Adults\t12", table, TABLE) == ("", "Children | 6")


def test_given_a_row_quoted_without_the_head_of_its_group_then_that_stands_before_it() -> None:
    page = "Guest\tPrice\nMembers\nAdults\t12\nChildren\t6\n"
    rows = Span(1, page.index("Members"), len(page))
    table = passage(page, (Piece(Role.ROWS, (rows,)),), kind=PassageKind.TABLE, header=(at("Guest\tPrice", page),))
    assert texts("Children\t6", table, page) == ("Members", "")
    (*_, unit) = units(table, lambda *_: page)
    whole = around(unit.evidence(lambda *_: page)[0], table, lambda *_: page)
    assert [one.text for one in whole] == ["Adults | 12", ""]


@pytest.mark.parametrize(("section", "told"), [("", True), ("Other", False)])
def test_given_a_caption_and_a_note_beside_a_table_then_they_stand_around_each_row(section: str, told: bool) -> None:
    caption, note = "Table 2: guesses, in pounds", "The guesses were wrong."
    page = f"{caption}\n\n{TABLE}\n{note}\n\nThe end.\n"
    rows = Span(1, page.index("Adults"), page.index("\n\n" + note))
    table = Passage("p", "d", "x", (rows,), "en", kind=PassageKind.TABLE, pieces=(Piece(Role.ROWS, (rows,)),))
    above = Passage(
        "q", "d", caption, (at(caption, page),), "en", section, pieces=(Piece(Role.CAPTION, (at(caption, page),)),)
    )
    below = Passage("r", "d", note, (at(note, page),), "en", section, pieces=(Piece(Role.TEXT, (at(note, page),)),))
    for row, beside in (("Children\t6", ("Adults | 12", "Dogs | 3")), ("Adults\t12", ("", "Children | 6"))):
        before, after = around(quote(row, page), table, lambda document, number: page, (below, table, above))
        assert (before.text, after.text) == ((caption, note) if told else beside)
    heading = replace(below, pieces=(Piece(Role.HEADING, (at(note, page),)), Piece(Role.TEXT, (at("The end.", page),))))
    assert around(quote("Dogs\t3", page), table, lambda document, number: page, (heading,))[1].text == (
        "The end." if told else ""
    )


def test_given_the_first_item_of_a_list_then_what_leads_in_stands_before_it() -> None:
    lead = (at("The following are excluded:", LIST),)
    items = tuple(Piece(Role.ITEM, (at(one, LIST),), lead) for one in ("- dogs", "- cats", "- parrots"))
    text = LIST[LIST.index("- dogs") :]
    of = Passage("p", "d", " ".join(text.split()), (Span(1, LIST.index("- dogs"), len(LIST)),), "en", pieces=items)
    assert texts("- dogs", of, LIST)[0] == "The following are excluded:"
    assert texts("- cats", of, LIST) == ("- dogs", "- parrots")


@given(st.lists(st.integers(1, 200), min_size=1, max_size=12), st.data())
def test_given_any_sentences_then_those_told_touch_the_quote_and_are_short_or_one(
    lengths: list[int], data: st.DataObject
) -> None:
    said = [f"S{number} {'a' * length}." for number, length in enumerate(lengths)]
    page = " ".join(said)
    n = data.draw(st.integers(0, len(said) - 1))
    before, after = texts(said[n], passage(page), page)
    assert f"{before} {said[n]} {after}".strip() in page
    assert bool(before) == (n > 0)
    assert bool(after) == (n < len(said) - 1)
    for text, one in ((before, said[n - 1]), (after, said[(n + 1) % len(said)])):
        assert len(text) <= max(AROUND_CHARS, len(one))


def beyond(text: str, of: Passage = TEXT, page: str = PAGE, near: tuple[Passage, ...] = ()) -> tuple[str, str]:
    sides = around(quote(text, page), of, lambda document, number: page)
    before, after = further(sides, quote(text, page), (*near, of), lambda document, number: page)
    return before.text, after.text


def test_given_a_short_section_then_what_stands_beyond_its_heading_is_told_with_the_heading() -> None:
    assert beyond(BEHIND) == (f"{HEAD}\n{FIRST} {SECOND} {THIRD}\n{OTHER_HEAD}", "")
    assert beyond(SECOND)[1] == f"{THIRD}\n{OTHER_HEAD}\n{BEHIND}"


def test_given_a_table_beyond_a_section_then_it_is_not_entered() -> None:
    page = f"The fee is 5 euros.\n\n{TABLE}\nAll prices were made up.\n"
    rows = Span(1, page.index("Guest"), page.index("\n\nAll"))
    head = {"header": (at("Guest\tPrice", page),), "kind": PassageKind.TABLE}
    above, table, below = (
        Passage("p", "d", "x", spans, "en", pieces=(Piece(role, spans),), **fields)  # type: ignore[arg-type]
        for role, spans, fields in (
            (Role.TEXT, (at("The fee is 5 euros.", page),), {}),
            (Role.ROWS, (rows,), head),
            (Role.TEXT, (at("All prices were made up.", page),), {}),
        )
    )
    assert beyond("The fee is 5 euros.", above, page, (table, below)) == ("", "")
    assert beyond("Dogs\t3", table, page, (above, below)) == ("Children | 6", "All prices were made up.")


def test_given_a_quote_with_the_mark_of_a_note_at_the_foot_of_the_page_then_the_note_stands_behind_it() -> None:
    page = "Adults pay 12 euros.† Dogs stay out.\n\nOther things.\n\n† Only in May.\n"
    said, note = (
        passage(page[one.start : one.end]) for one in (Span(1, 0, 36), Span(1, page.index("†", 22), len(page)))
    )
    foot = replace(note, id="q", spans=(Span(1, page.index("†", 22), len(page) - 1),))
    first = quote("Adults pay 12 euros.†", page)
    sides = around(first, said, lambda document, number: page)

    def behind(*near: Passage, of: Evidence = first) -> str:
        return noted(sides, of, (said, *near), lambda document, number: page).text

    assert behind(foot) == "Dogs stay out.\n† Only in May."
    assert behind() == behind(foot, of=quote("Dogs stay out.", page)) == "Dogs stay out."
    assert behind(replace(foot, spans=(replace(foot.spans[0], page=2),))) == "Dogs stay out."  # on another page


@pytest.mark.parametrize("clause", ["§ 4", "Art. 3", "Clause 12.1"])
def test_given_a_clause_that_another_sentence_names_then_that_one_stands_behind_it(clause: str) -> None:
    page = f"{clause} Dogs may swim here. Cats, too.\n\nOther things.\n\nAs of May {clause} no longer holds.\n"
    first, rest = page.index("Other"), page.index("As of")
    said, other = (
        replace(passage(page[one.start : one.end]), id=str(one.start), spans=(one,))
        for one in (Span(1, 0, first - 2), Span(1, rest, len(page) - 1))
    )
    of = Evidence("0", "d", page[: page.index(" Cats")], (Span(1, 0, page.index(" Cats")),))

    def behind(*near: Passage, number: str = clause) -> str:
        text = page.replace(f"May {clause}", f"May {number}")
        sides = around(of, said, lambda *_: text)
        return noted(sides, of, (said, *near), lambda *_: text).text

    assert behind(other) == f"Cats, too.\nAs of May {clause} no longer holds."
    assert behind() == "Cats, too."
    last = replace(other, text=other.text.replace(clause, f"{clause}.5"))
    assert behind(last, number=f"{clause}.5") == "Cats, too."  # another clause
