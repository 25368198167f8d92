"""Which quotes stand in the passage that they cite, which in another, and which nowhere; and how much of the page is
their evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.documents import Span
from rag_core.domain.passages import Passage, PassageKind, Piece, Role
from rag_core.grounding.citations import quote_stands
from rag_core.grounding.quotes import Quote, Sources, Standing
from rag_core.ingest.normalise import normalise, read_passage_text

LEASE = (
    "The notice period is two months. The tenant shall not keep dogs in the ﬂat. It is – as agreed – “quiet” after "
    "22:00, and he\n"
    "is re-\nsponsible for the tenant's guests. The deposit was paid in 21 days."
)
HOUSE = "The canteen opens at noon. The notice period is six weeks. Nobody may smoke here."
TABLE = "(in millions)\t2024\t2023\nNet sales\t1,250\t1,100\nOperating income\t320\t280"


def passage(
    *texts: str,
    id: str = "d#1",
    lang: str = "en",
    kind: PassageKind = PassageKind.PARAGRAPH,
    header: Sequence[Span] = (),
) -> Passage:
    """A passage that is the whole of pages 1, 2, … with these texts."""
    spans = tuple(Span(number, 0, len(text)) for number, text in enumerate(texts, 1))
    return Passage(
        id,
        id,
        read_passage_text(dict(enumerate(texts, 1)), spans).text,
        spans,
        lang,
        kind=kind,
        header=tuple(header),
    )


def look_up(
    quote: str, *texts: str, of: Passage | None = None, others: Sequence[Passage] = (), claim: str = ""
) -> Quote:
    """What becomes of a quote of a passage of these pages; `others` are passages of one page, which is their text."""
    cited = of or passage(*texts)
    pages = {cited.id: texts, **{other.id: (other.text,) for other in others}}

    def page_text(document: str, page: int) -> str:
        return pages[document][page - 1]

    found = Sources([cited, *others], page_text).find(quote, cited.id, claim)
    assert all(quote_stands(evidence, page_text) for evidence in found.evidence)
    return found


def quoted(found: Quote) -> list[str]:
    return [evidence.quote for evidence in found.evidence]


@each(
    ("quote", "sentence"),
    [
        ("The notice period is two months.", "The notice period is two months."),
        ("notice period is two", "The notice period is two months."),
        ('"The notice period is two months."', "The notice period is two months."),
        ("The notice period is two months [1].", "The notice period is two months."),
        ("keep dogs in the flat", "The tenant shall not keep dogs in the ﬂat."),
        ("paid in 21 days", "The deposit was paid in 21 days."),
    ],
)
def test_given_a_quote_that_stands_there_then_its_whole_sentence_is_the_evidence(quote: str, sentence: str) -> None:
    """S2-26: what is quoted stands on the page, and is read with what stands around it in its sentence."""
    found = look_up(quote, LEASE)

    assert (found.standing, quoted(found), found.certain) == (Standing.FOUND, [sentence], True)


@pytest.mark.parametrize(
    "quote", ['it is - as agreed - "quiet" after 22:00'.replace("it", "It"), "It is — as agreed — «quiet» after 22:00"]
)
def test_given_other_quotation_marks_and_dashes_then_they_are_the_same_and_the_evidence_has_those_of_the_page(
    quote: str,
) -> None:
    assert "“quiet” after 22:00" in quoted(look_up(quote, LEASE))[0]
    assert quoted(look_up("responsible for the tenant’s guests.", LEASE)) == quoted(look_up(quote, LEASE))


@each(
    "quote",
    [
        "The notice period is three months.",
        "the notice period is two months.",
        "The tenant shall keep dogs in the flat.",
        "The notice period … two months.",
        "The notice period is two months. The deposit was paid in 21 days.",
        "1 days",
        "paid in 21 day",
        "otice period is two",
        "The noticeperiod is two",
    ],
)
def test_given_a_word_changed_left_out_joined_or_cut_then_the_quote_stands_nowhere(quote: str) -> None:
    """A misquote by one word, and a quote put together from two places, are none."""
    assert look_up(quote, LEASE) == Quote(Standing.NOWHERE)


@each("nothing", ["", " ", "months", "Notice", "…", "“”", "[1]", ". ,", "- -", "?!"])
def test_given_less_than_two_words_then_a_quote_proves_nothing(nothing: str) -> None:
    assert look_up(nothing, LEASE) == Quote(Standing.NOWHERE)


def test_given_a_script_that_parts_no_words_then_its_letters_count() -> None:
    assert quoted(look_up("通知期为两个月", "通知期为两个月。")) == ["通知期为两个月。"]
    assert look_up("มานา", "เขามานาทุกวัน").standing is Standing.FOUND
    assert look_up("มาน", "เขามานาทุกวัน").standing is Standing.NOWHERE, "three letters prove nothing"


def test_given_a_quote_of_another_passage_then_it_is_misattributed_and_no_evidence() -> None:
    """S2-26: traceable to the page that is named, not to any page."""
    found = look_up("The notice period is six weeks.", LEASE, others=[passage(HOUSE, id="h#1")])

    assert found == Quote(Standing.ELSEWHERE)


def test_given_a_sentence_over_a_page_break_then_both_pages_are_evidence() -> None:
    pages = (
        "The tenant returns the keys on the last day, or where he is pre-",
        "vented from it, on the next. Then he pays.",
    )

    found = look_up("he is prevented from it", *pages)

    assert quoted(found) == [pages[0], "vented from it, on the next."]
    assert [evidence.spans[0].page for evidence in found.evidence] == [1, 2]


def test_given_a_heading_then_it_is_quoted_by_itself_and_with_its_sentence() -> None:
    heading = "Notice to the tenant"
    text = f"{heading}\nThe notice period is two months."
    pieces = [
        Piece(Role.HEADING, (Span(1, 0, len(heading)),)),
        Piece(Role.TEXT, (Span(1, len(heading) + 1, len(text)),)),
    ]
    titled = replace(passage(text), pieces=tuple(pieces))

    assert quoted(look_up("Notice to the tenant", text, of=titled)) == ["Notice to the tenant"]
    assert quoted(look_up("the tenant The notice period", text, of=titled)) == [
        "the tenant\nThe notice period is two months."
    ]


def table() -> Passage:
    return passage(TABLE, kind=PassageKind.TABLE, header=[Span(1, 0, TABLE.index("\n"))])


@pytest.mark.parametrize("quote", ["Operating income 320", "Operating income\t320\t280", "320 280"])
def test_given_cells_of_a_table_then_their_row_is_the_evidence_with_its_header(quote: str) -> None:
    found = look_up(quote, TABLE, of=table())

    assert quoted(found) == ["Operating income\t320\t280"]
    assert [TABLE[span.start : span.end] for span in found.evidence[0].spans] == [
        "Operating income\t320\t280",
        "(in millions)\t2024\t2023",
    ]


def test_given_cells_of_two_rows_then_each_row_is_evidence_and_a_header_by_itself_too() -> None:
    assert quoted(look_up("1,100 Operating income", TABLE, of=table())) == [
        "Net sales\t1,250\t1,100",
        "Operating income\t320\t280",
    ]
    assert quoted(look_up("(in millions) 2024", TABLE, of=table())) == ["(in millions)\t2024"]


TWICE = "The deposit for a flat is 30 days of rent. The period for a complaint is 30 days after delivery."


def test_given_a_quote_that_stands_twice_then_the_claim_decides_and_else_nothing_is_certain() -> None:
    """Of two equal places none is marked unless the claim tells which is meant."""
    complaint = look_up("30 days", TWICE, claim="A complaint must be made within 30 days of delivery.")
    either = look_up("30 days", TWICE, claim="It is 30 days.")

    assert (quoted(complaint), complaint.certain) == (["The period for a complaint is 30 days after delivery."], True)
    assert (quoted(either), either.certain) == (["The deposit for a flat is 30 days of rent."], False)


def test_given_evidence_then_its_reading_form_is_the_sentence_or_the_row_under_its_header() -> None:
    sources = Sources([table()], lambda *_: TABLE)
    assert (
        sources.reading(sources.find("Operating income 320", "d#1").evidence)
        == "(in millions) | 2024 | 2023: Operating income | 320 | 280"
    )
    flat = Sources([passage(LEASE)], lambda *_: LEASE)
    assert flat.reading(flat.find("keep dogs", "d#1").evidence) == "The tenant shall not keep dogs in the flat."


words_of_pages = st.text("ab .-'’“\n\u00ad\tﬁ1n", min_size=1, max_size=60)


@given(
    pages=st.lists(words_of_pages, min_size=1, max_size=3),
    quote=words_of_pages,
    at=st.tuples(st.integers(0, 60), st.integers(0, 60)),
)
def test_given_any_pages_and_any_quote_then_what_is_found_holds_the_quote_and_stands_on_its_pages(
    pages: list[str], quote: str, at: tuple[int, int]
) -> None:
    """S2-26: nothing is evidence that is not on the page, whatever the quote."""
    if not read_passage_text(
        dict(enumerate(pages, 1)), [Span(n, 0, len(text)) for n, text in enumerate(pages, 1)]
    ).text:
        return
    cited = passage(*pages)
    for one in (quote, cited.text[min(at) : max(at)]):
        found = look_up(one, *pages, of=cited)
        assert bool(found.evidence) is (found.standing is Standing.FOUND)
        assert not found.evidence or _bare(one) in _bare("\n".join(quoted(found)))


def _bare(text: str) -> str:
    """Letters and digits in reading form: signs may be set otherwise, and a hyphen at a line's end goes."""
    return "".join(sign for sign in normalise(text).text if sign.isalnum())
