import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.answer import cited_sources, evidence_key, render
from rag_core.domain.claims import Citation, Claim, Evidence
from rag_core.domain.documents import Span
from rag_core.facts.sentence.citation_marks import citation_marks, strip_marks
from rag_core.grounding.citations import fabricated, quote_stands, source_line, sources_list

PAGE = "The notice period is 30 days.\nIt starts on the ﬁrst day."


def page_text(document: str, page: int) -> str:
    return PAGE if (document, page) == ("doc", 1) else ""


def evidence(start: int = 0, end: int = 29, passage: str = "p1", quote: str | None = None) -> Evidence:
    return Evidence(passage, "doc", PAGE[start:end] if quote is None else quote, (Span(1, start, end),))


def citation(number: int, of: Evidence, page: int = 1, section: str = "") -> Citation:
    return Citation(number, "contract.pdf", of.document, "Contract", page, of.passage, of.quote, of.spans, section)


@each(
    ("text", "refs"),
    [
        ("It is so [1].", ["1"]),
        ("It is so [Source 2].", ["2"]),
        ("It is so [source:sha256:ab12:00003].", ["sha256:ab12:00003"]),
        ("Both [1, 2].", ["1", "2"]),
        ("Both [Source 1, Source 3].", ["1", "3"]),
        ("No citation: [sic], a[i], [2019], [], [source:].", []),
    ],
)
def test_given_any_of_the_notations_when_an_answer_is_read_then_its_references_are_found(
    text: str, refs: list[str]
) -> None:
    """S2-9, S3-14, S3-17: `[n]`, `[Source n]` and `[source:chunk_id]` are all parsed."""
    assert [mark.ref for mark in citation_marks(text)] == refs


def test_given_marks_when_they_are_stripped_then_only_the_sentence_is_left() -> None:
    """S2-20: citation marks are not words."""
    assert (
        strip_marks("The period is 30 days [Source 1]. It ends [1][2] soon [source:a:1].")
        == "The period is 30 days. It ends soon."
    )


def test_given_a_quote_that_stands_on_its_page_then_it_is_accepted() -> None:
    """S2-26: an answer is traceable to its page."""
    assert quote_stands(evidence(), page_text)


@each(
    "wrong",
    [
        evidence(quote="The notice period is 31 days."),
        evidence(0, 29, quote=""),
        Evidence("p1", "doc", PAGE[0:29], (Span(2, 0, 29),)),
        Evidence("p1", "doc", PAGE[0:29], (Span(1, 0, 29), Span(1, 10, 999))),
        Evidence("p1", "doc", PAGE, (Span(1, 0, 999),)),
        Evidence("p1", "doc", "", ()),
        evidence(47, 52, quote="first"),
    ],
)
def test_given_a_quote_that_is_not_the_raw_text_at_its_place_then_it_does_not_stand(wrong: Evidence) -> None:
    """S2-26: nothing else is traceable to a page."""
    assert not quote_stands(wrong, page_text)


@given(st.integers(0, len(PAGE)), st.integers(1, len(PAGE)))
def test_given_any_stretch_of_the_page_then_exactly_its_own_text_stands_there(start: int, end: int) -> None:
    if start < end and PAGE[start:end].strip():
        assert quote_stands(evidence(start, end), page_text)
        assert not quote_stands(evidence(start, end, quote=PAGE[start:end] + "x"), page_text)


def test_given_ids_that_were_not_retrieved_then_each_is_named_once_and_none_is_removed() -> None:
    """S2-11: a cited id that is not among the retrieved ones is reported."""
    claim = Claim("x", (evidence(passage="p9"),), cited=("p1", "7", "7", "p9"))
    assert fabricated(claim, {"p1", "p2"}) == ("7", "p9")
    assert fabricated(Claim("x", (evidence(),), cited=("p1",)), {"p1"}) == ()


FIRST, SECOND = evidence(0, 29, "p1"), evidence(30, 56, "p2")
CLAIMS = (Claim("The notice period is 30 days.", (FIRST,)), Claim("It starts on the first day.", (SECOND, FIRST)))
CITATIONS = {evidence_key(FIRST): citation(1, FIRST), evidence_key(SECOND): citation(2, SECOND)}


@each(
    ("style", "form", "text"),
    [
        ("inline", "[{id}]", "The notice period is 30 days. [1] It starts on the first day. [2][1]"),
        (
            "inline",
            "[Source {id}]",
            "The notice period is 30 days. [Source 1] It starts on the first day. [Source 2][Source 1]",
        ),
        (
            "inline",
            "[source:{chunk_id}]",
            "The notice period is 30 days. [source:p1] It starts on the first day. [source:p2][source:p1]",
        ),
        ("end", "[{id}]", "The notice period is 30 days. It starts on the first day. [1][2]"),
        ("none", "[{id}]", "The notice period is 30 days. It starts on the first day."),
    ],
)
def test_given_a_style_and_a_format_when_an_answer_is_composed_then_citations_stand_as_chosen(
    style: str, form: str, text: str
) -> None:
    """S2-22, S3-21, S3-17: after each claim by default, written as the setting says."""
    assert render(CLAIMS, CITATIONS, style, form) == text


@each(
    "claim",
    [Claim("Nobody said this."), Claim("x", (evidence(0, 3, "p3"),)), Claim("x", (FIRST, evidence(0, 3, "p3")))],
)
@each("style", ["inline", "end", "none"])
def test_given_a_claim_without_its_citation_when_an_answer_is_composed_then_it_cannot_be_built(
    claim: Claim, style: str
) -> None:
    """S2-26: every answer is cited."""
    with pytest.raises(ValueError, match="without citations"):
        render((*CLAIMS, claim), CITATIONS, style, "[{id}]")


def test_given_a_text_book_then_its_source_line_reads_as_a_reader_knows_it() -> None:
    """S2-21: "NCERT Mathematics, Class 10, Chapter 5 (…), Page 95"."""
    source = Citation(1, "jemh105.pdf", "d", "NCERT", 95, "p1", "x", FIRST.spans, "Arithmetic Progressions")
    values = {"Subject": "Mathematics", "class": "10", "chapter": "5"}
    assert source_line(source, values) == "NCERT Mathematics, Class 10, Chapter 5 (Arithmetic Progressions), Page 95"
    assert source_line(source) == "NCERT, Arithmetic Progressions, Page 95"
    assert source_line(citation(1, FIRST, 3)) == "Contract, Page 3"
    assert source_line(source, {"subject": "ncert", "class": "Class 10", "chapter": "Chapter 5", "date": " "}) == (
        "NCERT, Class 10, Chapter 5 (Arithmetic Progressions), Page 95"
    )


def test_given_more_sources_than_are_cited_then_only_the_cited_ones_are_listed_in_order_of_use() -> None:
    """S2-21: the list of sources holds only those that the answer cites."""
    used = cited_sources((CLAIMS[1], CLAIMS[0]), {**CITATIONS, "p3@1:0-3": citation(3, evidence(0, 3, "p3"))})
    assert [source.id for source in used] == [2, 1]
    assert sources_list(used) == ["Contract, Page 1"]
    assert sources_list([citation(1, FIRST, 1), citation(2, SECOND, 2)], {"doc": {"class": "10"}}) == [
        "Contract, Class 10, Page 1",
        "Contract, Class 10, Page 2",
    ]
