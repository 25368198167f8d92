"""Passages: nothing is lost, nothing is larger than the model reads, and each knows exactly where it stands."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from folding import each
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paper import Set, embedder, head, page, prose, quoted

from rag_core.domain.documents import Page, PageSource
from rag_core.domain.passages import Passage, PassageKind
from rag_core.errors import Cancelled, InvalidSetting, LimitExceeded
from rag_core.ingest.blocks.rows import MAX_ROW_CHARS, rows
from rag_core.ingest.blocks.structure import BlockKind, blocks
from rag_core.ingest.normalise import locate, read_passage_text
from rag_core.ingest.passages.chunk import chunk
from rag_core.ingest.passages.context import embedding_text, section_path
from rag_core.ingest.passages.strategies import STRATEGIES

NUMBERS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
SENTENCES = [f"Sentence {word} tells the reader something about the delivery of the goods." for word in NUMBERS]


def cut(
    pages: list[Page], strategy: str = "technical", title: str = "Manual", language: str = "en", **kwargs: object
) -> list[Passage]:
    """Passages of at most 256 tokens, unless told otherwise: small enough for these documents to have several."""
    given = {
        "language": language,
        "title": title,
        "strategy": STRATEGIES[strategy],
        "embedder": embedder(),
        "max_tokens": 256,
        **kwargs,
    }
    return chunk("doc", pages, **given)  # type: ignore[arg-type]


def check(pages: list[Page], passages: list[Passage], title: str = "Manual", limit: int = 256) -> None:
    """What must hold for every document."""
    texts = {each.number: each.text for each in pages}
    sizes = embedder().count_tokens([embedding_text(passage, title) for passage in passages]) if passages else []
    for passage, size in zip(passages, sizes, strict=True):
        assert passage.tokens == size <= limit
        assert passage.text == read_passage_text(texts, passage.spans).text
    covered = {
        (span.page, offset) for passage in passages for span in passage.spans for offset in range(span.start, span.end)
    }
    for block in blocks(pages, "en"):
        if block.kind is not BlockKind.BOILERPLATE:
            text = texts[block.page]
            assert {
                (block.page, at) for at in range(block.start, block.end) if text[at].isprintable() and text[at] != " "
            } <= covered
    assert len({passage.id for passage in passages}) == len(passages)


PRICES = [Set("List of prices\tPrice", bold=True), Set("Screw\t5"), Set("Nut\t7")]
DOCUMENT = [
    page(1, [head("Supply"), *prose(*SENTENCES[:8]), *PRICES]),
    page(2, [head("Warranty"), *prose(*SENTENCES[8:]), Set("• first duty"), Set("• second duty")]),
]


def test_given_a_document_when_cut_then_headings_paragraphs_tables_and_lists_are_kept() -> None:
    """S3-1, S3-3: sections, paragraphs, tables and lists are not mixed up, and each passage says what and where it
    is.
    """
    passages = cut(DOCUMENT)

    check(DOCUMENT, passages)
    assert {passage.section for passage in passages} == {"Supply", "Warranty"}
    assert {passage.kind for passage in passages} >= {PassageKind.PARAGRAPH}
    assert [passage.page for passage in passages] == sorted(passage.page for passage in passages)
    assert all("Supply" not in passage.text for passage in passages if passage.section == "Warranty")
    assert passages[0].text.startswith("Supply Sentence one")


@each(
    ("text", "kind", "lines"),
    [
        (f"{' '.join(SENTENCES[:3])}", PassageKind.PARAGRAPH, (1, 1)),
        ("\n\nPart\tPrice\n" + "\n".join(f"Screw of size {n}\t{n}5" for n in range(9)), PassageKind.TABLE, (3, 12)),
        ("- " + "\n- ".join(SENTENCES[:4]), PassageKind.LIST, (1, 4)),
        (
            "\ndef area(radius):\n    return 3.14159 * radius * radius\n\nprint(area(2), area(3))",
            PassageKind.CODE,
            (2, 5),
        ),
    ],
)
def test_given_a_text_of_one_kind_when_cut_then_kind_page_and_lines_are_said(
    text: str, kind: PassageKind, lines: tuple[int, int]
) -> None:
    """S3-3: chunk type (paragraph, table, code), page and line range."""
    (passage,) = cut([Page(1, text)])

    assert (passage.kind, passage.page, passage.lines, passage.document) == (kind, 1, lines, "doc")


def test_given_more_text_than_fits_when_cut_then_the_last_sentence_is_repeated() -> None:
    """S3-2: overlap in whole sentences, at most 50 tokens, boundaries respected."""
    passages = cut([Page(1, " ".join(SENTENCES * 2))])

    assert len(passages) > 1
    for before, after in pairwise(passages):
        shared = before.spans[-1].end - after.spans[0].start
        repeated = before.text[-shared:]
        assert repeated.startswith("Sentence ")
        assert repeated.endswith("goods.")
        assert embedder().count_tokens([repeated])[0] - 2 <= 50
    # nothing where none is asked for, nor a part of a sentence that was cut
    for passages in (cut([Page(1, " ".join(SENTENCES * 2))], overlap_tokens=0), cut([Page(1, "word " * 1_000)])):
        assert all(before.spans[-1].end < after.spans[0].start for before, after in pairwise(passages))


def test_given_several_paragraphs_when_they_do_not_fit_together_then_none_is_cut() -> None:
    """S3-1, S3-2: boundaries are respected."""
    paragraphs = [" ".join(SENTENCES[start : start + 5]) for start in (0, 5, 10)] * 2
    pages = [Page(1, "\n\n".join(paragraphs))]

    for passage in cut(pages, overlap_tokens=0):
        assert all(part in paragraphs for part in quoted(pages, passage).split("\n\n"))


def test_given_a_few_paragraphs_without_headings_when_cut_then_passages_are_nearly_full() -> None:
    """S3-2: short documents become few passages, not many scraps."""
    passages = cut([Page(1, "\n\n".join(" ".join(SENTENCES[at : at + 2]) for at in range(0, 14, 2)))])

    assert all(passage.tokens > 180 for passage in passages[:-1])


def test_given_a_size_when_cut_then_no_passage_is_larger() -> None:
    """S3-2: the size counts the context line and the special tokens."""
    passages = cut(DOCUMENT, max_tokens=64)

    check(DOCUMENT, passages, limit=64)


def test_given_a_long_table_when_cut_then_every_piece_keeps_the_header_and_whole_rows() -> None:
    """S3-1: tables are kept."""
    rows = [Set(f"Item number {n} of the list of prices\t{n},100\t{n},200\t{n},300") for n in range(1, 60)]
    pages = [page(1, [Set("(in millions)"), Set("2015\t2016\t2017"), *rows[:30]]), page(2, rows[30:])]

    passages = cut(pages)

    check(pages, passages)
    assert len(passages) > 3
    assert {passage.header_text for passage in passages} == {"(in millions) 2015 2016 2017"}
    headers = {" ".join(pages[0].text[span.start : span.end] for span in one.header) for one in passages}
    assert {" ".join(text.split()) for text in headers} == {"(in millions) 2015 2016 2017"}
    assert all("(in millions) 2015 2016 2017" in embedding_text(passage, "Manual") for passage in passages)
    assert all(
        line in pages[passage.page - 1].text.split("\n")
        for passage in passages
        for line in quoted(pages, passage).split("\n")
    )


def test_given_a_paragraph_over_a_page_break_when_cut_then_it_is_one_with_a_span_on_each_page() -> None:
    footer = [Set("Example Corp. 2017")]
    pages = [
        page(1, [*prose("The buyer may withdraw from the agreement when the sup-"), *footer]),
        page(2, [*prose("plier fails to deliver in time."), *prose("Another paragraph begins here."), *footer]),
        page(3, [*prose("And the last one ends the document."), *footer]),
    ]

    first, *_ = cut(pages)

    assert "when the supplier fails to deliver" in first.text
    assert [span.page for span in first.spans[:2]] == [1, 2]
    at = first.text.index("supplier")
    places = locate({each.number: each.text for each in pages}, first.spans, at, at + 8)
    assert [pages[span.page - 1].text[span.start : span.end] for span in places] == ["sup-", "plier"]
    assert all("Example Corp." not in passage.text for passage in cut(pages))


def test_given_a_scanned_page_when_cut_then_its_passages_say_so() -> None:
    pages = [replace(DOCUMENT[0], source=PageSource.OCR), DOCUMENT[1]]

    assert {passage.page: passage.ocr for passage in cut(pages)} == {1: True, 2: False}


def test_given_equal_input_when_cut_twice_then_ids_and_passages_are_equal() -> None:
    arguments = {"language": "en", "title": "", "strategy": STRATEGIES["technical"], "embedder": embedder()}

    first = chunk("sha256:0123456789abcdef", DOCUMENT, **arguments)  # type: ignore[arg-type]

    assert first == chunk("sha256:0123456789abcdef", DOCUMENT, **arguments)  # type: ignore[arg-type]
    assert [passage.id for passage in first] == [f"0123456789ab:{number:05d}" for number in range(len(first))]
    assert {passage.document for passage in first} == {"sha256:0123456789abcdef"}


def test_given_a_user_who_stops_when_cutting_then_it_ends() -> None:
    with pytest.raises(Cancelled):
        cut(DOCUMENT, cancelled=lambda: True)


@pytest.mark.parametrize(("max_tokens", "overlap"), [(8, 0), (256, -1)])
def test_given_sizes_that_cannot_be_when_cutting_then_they_are_refused(max_tokens: int, overlap: int) -> None:
    with pytest.raises(InvalidSetting, match=rf"{max_tokens} tokens.*overlap of {overlap}"):
        cut(DOCUMENT, max_tokens=max_tokens, overlap_tokens=overlap)


def test_given_a_title_that_fills_the_size_when_cutting_then_it_is_said() -> None:
    with pytest.raises(InvalidSetting, match="leave no room"):
        cut(DOCUMENT, title="zqxjwv" * 30, max_tokens=32)


@each(
    "title",
    [
        *("", "x" * 5000, "Наименование документа " * 40, "§$%&/()=?" * 50),
        *("वार्षिक प्रतिवेदन " * 40, "年度報告" * 99, "zq xj wv kf " * 60),
    ],
)
def test_given_any_title_when_cut_then_the_text_is_what_is_read_and_not_the_title(title: str) -> None:
    passages = cut(DOCUMENT, title=title)

    check(DOCUMENT, passages, title=title)
    assert max(len(passage.text) for passage in passages) > 250


HOSTILE = {
    "no pages": [],
    "an empty page": [Page(1, "")],
    "a form feed": [Page(1, "\x0c")],
    "only a soft hyphen": [Page(1, "\u00ad")],
    "only white space": [Page(1, " \n\t \u00a0\n")],
    "one giant line": [Page(1, " ".join(SENTENCES * 100))],
    "a giant sentence": [Page(1, "word " * 6_000)],
    "a giant word": [Page(1, "x" * 100_000)],
    "a giant word with marks": [Page(1, "e\u0301" * 5_000)],
    "only marks": [Page(1, "\u0301" * 3_000)],
    "giant Hindi": [Page(1, "अवधि" * 5_000)],
    "no spaces in Chinese": [Page(1, "年度報告書類" * 1_000)],
    "Hangul": [Page(1, "한국어" * 1_000)],
    "only headings": [Page(1, "# One\n\n## Two\n\n# Three")],
    "only a table": [Page(1, "Part\tPrice\nScrew\t5\nNut\t7")],
    "a giant row": [Page(1, "Part\tPrice\n" + "cell\t" * 2_000 + "\nNut\t7")],
    "a row of dots": [Page(1, "." * 30_000 + "\nText.\n" + ". " * 15_000 + "7\nText.")],
    "a line to sign on": [Page(1, "a_" * 15_000 + "\nText.\n" + "_" * 30_000)],
    "a giant heading": [Page(1, "# " + "word " * 3000 + "\n\nText.")],
    "right to left": [Page(1, "العقد ساري المفعول (12 months) חוזה בתוקף.\n\nمدة الضمان 24 شهرا\u202e hidden \u202c.")],
    "NUL and surrogate-like": [Page(1, "a\x00b \ufffd c\ufeff d")],
    "3,000 short lines": [Page(1, "a b\n" * 3_000)],
    "1,000 headings": [Page(1, "# a\n" * 1_000)],
}


@pytest.mark.slow
@each("name", HOSTILE)
def test_given_a_hostile_document_when_cut_then_nothing_is_lost_and_nothing_too_large(name: str) -> None:
    """S3-2: what the model would cut off silently is never made."""
    pages = HOSTILE[name]

    passages = cut(pages)
    check(pages, passages)
    if name == "a giant word":
        assert sum(len(passage.text) for passage in passages) == 100_000


PARTS = [
    *SENTENCES[:5],
    "# Heading",
    "PART II",
    "Item 7. Discussion",
    "- an item",
    "Part\tPrice",
    "Nut\t7\t8",
    "2016\t2017",
]
PARTS += ["obliga-", "tion goes on", "def f(x):", "    return x", "", "", "ﬁne ﬀ", "12", "§ 5 Záruka", "मूल्य ₹500 है।"]
PARTS += ["2016\t2017", "(in millions)", "a" * 400]
PIECES = st.one_of(st.sampled_from(PARTS), st.text(st.characters(exclude_categories=("Cs",)), max_size=30))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.lists(PIECES, max_size=40), min_size=1, max_size=3),
    st.sampled_from(sorted(STRATEGIES)),
    st.sampled_from([48, 100, 256]),
    st.sampled_from([0, 20, 50]),
)
def test_given_any_document_when_cut_then_nothing_is_lost_and_nothing_too_large(
    documents: list[list[str]], strategy: str, size: int, overlap: int
) -> None:
    """S3-1, S3-2."""
    pages = [Page(number, re.sub(r"\r", "", "\n".join(pieces))) for number, pieces in enumerate(documents, 1)]

    passages = cut(pages, strategy, title="A", max_tokens=size, overlap_tokens=overlap)

    check(pages, passages, title="A", limit=size)


def test_given_paragraphs_that_do_not_fit_together_when_cut_by_sections_then_the_last_sentence_goes_before_the_next() -> (  # noqa: E501
    None
):
    """S3-2: overlap also where a passage ends with its paragraph."""
    paragraphs = [" ".join(SENTENCES[:14]), " ".join(SENTENCES[:8])]

    first, second = cut([Page(1, "\n\n".join(paragraphs))])

    assert first.text == paragraphs[0]
    assert second.text.startswith(("Sentence twelve", "Sentence thirteen", "Sentence fourteen"))
    assert second.text.endswith(paragraphs[1])


def test_given_a_section_of_two_passages_when_cut_then_its_headings_are_not_repeated() -> None:
    paragraph = " ".join([*SENTENCES[:14], "And so on."])

    first, second = cut([Page(1, f"# One of them\n\n## Two of them\n\nShort text.\n\n{paragraph}")])

    assert first.text == "# One of them ## Two of them Short text."
    assert second.text == f"Short text. {paragraph}"


FIVE = " ".join(SENTENCES[:5])
TWO_TABLES = ("(in millions)", "2015\t2016", "Nut\t7\t8", "(in thousands)", "2020\t2021", "Bolt\t7\t8")


@each(
    ("pages", "strategy", "what", "wanted"),
    [
        # a very small leftover joins its neighbour of the section
        (
            [Page(1, f"# One\n\n{FIVE}\n\nA last word.\n\n# Two\n\nShort.\n\n# Three\n\nShort too.")],
            *("technical", "section", ["One", "Two", "Three"]),
        ),
        # a sentence is no row, nor has it a header
        (
            [Page(1, f"# One\n\n{FIVE}\n\nPart\tPrice\nNut\t7\n\nA last word.")],
            *("technical", "kind", ["paragraph", "table", "paragraph"]),
        ),
        (
            [page(1, [Set(row) for row in TWO_TABLES])],
            *("technical", "header_text", ["(in millions) 2015 2016", "(in thousands) 2020 2021"]),
        ),
        # a paragraph that ends with its page, with and without a full stop
        *(
            (
                [page(1, prose(*SENTENCES[:9], *end)), page(2, prose(*start, *SENTENCES[9:]))],
                *("research", "page", [1, 2]),
            )
            for end, start in (((), ("iPhones are named here.",)), (("Signed by",), ()))
        ),
    ],
)
def test_given_small_and_ending_parts_when_cut_then_each_stands_with_its_own(
    pages: list[Page], strategy: str, what: str, wanted: list[object]
) -> None:
    assert [getattr(passage, what) for passage in cut(pages, strategy)] == wanted


def test_given_deep_headings_when_cut_then_the_section_names_the_innermost_three() -> None:
    headings = [f"{'#' * level} Level {level} of the manual" for level in range(1, 7)]
    pages = [Page(1, "\n\n".join([*headings, SENTENCES[0]]))]

    (passage,) = cut(pages)

    assert passage.section == "Level 4 of the manual › Level 5 of the manual › Level 6 of the manual"
    assert embedding_text(passage, "Manual").startswith("Manual › Level ")


def test_given_long_sections_when_they_are_joined_then_outer_levels_go_first() -> None:
    levels = ["a" * 60, "b" * 50, "c" * 40]

    assert section_path(levels) == f"{'b' * 50} › {'c' * 40}"
    assert section_path(["d" * 300]) == "d" * 119 + "…"


def test_given_more_passages_than_allowed_when_cut_then_the_file_is_refused_with_the_page() -> None:
    most = len(cut(DOCUMENT))

    assert len(cut(DOCUMENT, max_passages=most)) == most
    with pytest.raises(LimitExceeded, match=f"more than {most - 1} passages .on page 2") as caught:
        cut(DOCUMENT, max_passages=most - 1)
    assert "Split" in caught.value.remedy


class Watched:
    """Counts like the embedder of these tests, and remembers the most characters that it was given at once."""

    max_tokens = embedder().max_tokens

    def __init__(self) -> None:
        self.most = 0

    def count_tokens(self, texts: list[str]) -> list[int]:
        self.most = max(self.most, sum(map(len, texts)))
        return embedder().count_tokens(texts)


@pytest.mark.slow
@pytest.mark.parametrize(
    "pages",
    [
        # one paragraph that goes on over eleven pages
        [Page(number, " ".join(["a"] * 20_000)) for number in range(1, 12)],
        [Page(1, "\n".join(["a " * 40] * 5_200))],  # one paragraph of many short rows
        [Page(1, "a " * 210_000)],  # one row
    ],
    ids=["pages", "rows", "row"],
)
def test_given_a_paragraph_without_end_when_cut_then_no_more_than_a_part_of_it_is_handled_at_once(
    pages: list[Page],
) -> None:
    watched = Watched()

    passages = chunk("doc", pages, language="en", title="", strategy=STRATEGIES["technical"], embedder=watched)  # type: ignore[arg-type]

    assert watched.most <= 2 * MAX_ROW_CHARS < sum(len(each.text) for each in pages)
    assert sum(passage.text.count("a") for passage in passages) >= sum(each.text.count("a") for each in pages)


def test_given_a_row_of_a_text_that_is_too_long_when_read_then_its_parts_hold_all_of_it() -> None:
    text = f"first\n{'word ' * 100_000}\n{'x' * (MAX_ROW_CHARS + 5)} y"

    found = rows(Page(1, text))

    assert [row.number for row in found] == [1, 2, 2, 2, 3]
    assert all(text[row.start : row.end] == row.text for row in found)
    assert "".join(row.text for row in found).replace(" ", "") == text.replace(" ", "").replace("\n", "")
