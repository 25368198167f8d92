"""Citations of a draft: where each quote stands, and the rectangles that mark it, or none when the place is not
certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from builders import HashEmbedder, MemoryCorpus, Text, claim, hit
from folding import each

from rag_core.compression.citing import boxes_of, cite
from rag_core.domain.answer import evidence_key
from rag_core.domain.claims import Claim, Evidence
from rag_core.domain.documents import Box, Metadata, Span, WordBox
from rag_core.domain.passages import Passage
from rag_core.domain.scanned import Unsure

BODY = "The notice period is 30 days and more."
# rows of 10 points: "The notice period" on the first, "is 30 days" on the second, "and more." on the third, which no
# word box covers
WORDS = (
    WordBox(0, 3, 10, 10, 30, 20),
    WordBox(4, 10, 32, 9, 60, 20),
    WordBox(11, 17, 62, 10, 90, 21),
    WordBox(18, 20, 10, 22, 20, 32),
    WordBox(21, 23, 22, 22, 32, 32),
    WordBox(24, 28, 34, 22, 60, 32),
)


def placed(*words: WordBox, title: str = "", **pages: tuple[int, ...]) -> MemoryCorpus:
    """A corpus whose page has these words, and whose document these lists of pages."""

    class Placed(MemoryCorpus):
        def words(self, document: str, page: int) -> tuple[WordBox, ...]:
            return words if page == 1 else ()

    corpus = Placed([Text("d1", BODY, metadata=Metadata(title=title))], HashEmbedder())
    corpus.documents = [replace(one, **pages) for one in corpus.documents]
    return corpus


CORPUS = placed(*WORDS, title="Contract")


def evidence(*spans: Span, passage: str = "d1#1") -> Evidence:
    return Evidence(passage, "d1", BODY[spans[0].start : spans[0].end], spans)


def test_given_a_quote_then_each_visual_row_of_it_is_one_rectangle() -> None:
    assert boxes_of(evidence(Span(1, 4, 23)), CORPUS.words) == ((1, Box(32, 9, 90, 21)), (1, Box(10, 22, 32, 32)))


@each("span", [Span(1, 5, 8), Span(1, 3, 10), Span(1, 4, 11)])
def test_given_a_quote_that_ends_inside_a_word_then_that_word_is_marked_and_its_neighbours_are_not(span: Span) -> None:
    assert boxes_of(evidence(span), CORPUS.words) == ((1, Box(32, 9, 60, 20)),)


@each("elsewhere", [Span(1, 29, 38), Span(2, 0, 4)])
def test_given_a_quote_of_which_a_part_has_no_place_then_nothing_is_marked(elsewhere: Span) -> None:
    assert boxes_of(evidence(Span(1, 0, 3), elsewhere), CORPUS.words) == ()


FIRST, SECOND, NOTE = WordBox(0, 3, 10, 10, 30, 20), WordBox(4, 10, 40, 10, 60, 20), WordBox(30, 31, 32, 8, 37, 14)


@each(
    ("words", "end", "boxes"),
    [
        # a word that starts left of the row begins a new one, though their heights meet
        (
            [WordBox(0, 3, 200, 10, 230, 20), WordBox(4, 10, 10, 10, 40, 20), WordBox(11, 17, 42, 16, 90, 26)],
            17,
            [Box(200, 10, 230, 20), Box(10, 10, 40, 20), Box(42, 16, 90, 26)],
        ),
        # words that overlap by half their height or less are on two rows
        (
            [WordBox(0, 3, 10, 10, 30, 20), WordBox(4, 10, 10, 14, 60, 24), WordBox(11, 17, 62, 19, 90, 29)],
            17,
            [Box(10, 10, 60, 24), Box(62, 19, 90, 29)],
        ),
        # a row is parted around a word that is not quoted
        ([FIRST, SECOND, NOTE], 10, [Box(10, 10, 30, 20), Box(40, 10, 60, 20)]),
        ([FIRST, SECOND, NOTE], 38, [Box(10, 8, 60, 20)]),
        ([FIRST, SECOND, WordBox(30, 31, 58, 8, 64, 14)], 10, [Box(10, 10, 60, 20)]),  # its middle is outside
        ([FIRST, SECOND, WordBox(30, 31, 32, 2, 37, 12)], 10, [Box(10, 10, 60, 20)]),  # above the row
        # rows beside a large initial that are not quoted stay unmarked
        (
            [WordBox(0, 1, 10, 10, 30, 40), WordBox(1, 3, 32, 10, 60, 20), WordBox(29, 38, 32, 24, 60, 34)],
            3,
            [Box(10, 10, 30, 40), Box(32, 10, 60, 20)],
        ),
    ],
)
def test_given_words_of_a_page_then_each_row_is_one_box(words: Sequence[WordBox], end: int, boxes: list[Box]) -> None:
    assert [box for _, box in boxes_of(evidence(Span(1, 0, end)), placed(*words).words)] == boxes


def test_given_a_text_document_then_there_are_no_rectangles() -> None:
    assert boxes_of(evidence(Span(1, 0, 3)), MemoryCorpus([Text("d1", BODY)], HashEmbedder()).words) == ()


def test_given_claims_then_each_place_is_cited_once_with_all_that_is_known_of_it() -> None:
    """S0-28, S3-19: file, page, chunk id and excerpt."""
    passage = Passage("d1#1", "d1", BODY, (Span(1, 0, 38),), section="Notice", ocr=True)
    quote = evidence(Span(1, 4, 28))
    claims = [Claim("A.", (quote,), ("d1#1",)), Claim("B.", (quote,), ("d1#1",))]

    (found,) = cite(claims, [hit(of=passage)], CORPUS).values()

    assert (found.id, found.document, found.document_id, found.title, found.page, found.chunk_id) == (
        0,
        "d1.txt",
        "d1",
        "Contract",
        1,
        "d1#1",
    )
    assert (found.excerpt, found.spans, found.heading, found.ocr) == (
        "notice period is 30 days",
        quote.spans,
        "Notice",
        True,
    )
    assert list(cite(claims, [hit(of=passage)], CORPUS)) == [evidence_key(quote)]
    assert found.boxes


def test_given_words_read_from_a_picture_then_the_unsure_ones_of_the_quote_are_cited_with_their_places() -> None:
    passage = Passage("d1#1", "d1", BODY, (Span(1, 0, 38),), ocr=True)
    claims = [Claim("A.", (evidence(Span(1, 4, 28)),), ("d1#1",))]

    def unsure_of(*sures: float | None) -> tuple[tuple[Unsure, ...] | None, bool]:
        words = (word._replace(sure=sure) for word, sure in zip(WORDS, sures, strict=True))
        corpus = placed(*words, ocr_pages=(1,))
        (found,) = cite(claims, [hit(of=passage)], corpus).values()
        return found.unsure, found.doubtful

    assert unsure_of(0.1, 0.9, 0.9, 0.9, 0.8, 0.9) == (
        (Unsure("d1", Span(1, 21, 23), 0.8, Box(22, 22, 32, 32), "30"),),
        True,
    )
    assert unsure_of(0.1, 0.1, 0.9, 0.9, 0.9, 0.9) == (
        (Unsure("d1", Span(1, 4, 10), 0.1, Box(32, 9, 60, 20), "notice"),),
        False,
    )
    assert unsure_of(*[0.95] * 6) == ((), False)
    assert unsure_of(*[None] * 6) == (None, True)


def test_given_a_page_that_was_read_from_a_picture_then_its_engine_is_cited_and_its_limits_hold() -> None:
    passage = Passage("d1#1", "d1", BODY, (Span(1, 0, 38),), ocr=True)

    def cited(sure: float | None, **pages: tuple[int, ...]) -> tuple[str, int]:
        corpus = placed(*(word._replace(sure=sure) for word in WORDS), ocr_pages=(1,), **pages)
        (found,) = cite([Claim("A.", (evidence(Span(1, 4, 28)),), ("d1#1",))], [hit(of=passage)], corpus).values()
        return found.read_by, len(found.unsure or ())

    assert cited(0.93) == ("tesseract", 0)
    assert cited(0.93, rapidocr_pages=(1,))[0] == "rapidocr"
    assert cited(0.93, rapidocr_pages=(1,))[1] > 0
    assert cited(0.93, rapidocr_pages=(2,)) == ("tesseract", 0)
    assert cited(None) == ("", 0)  # a scanner made the text layer


def test_given_a_claim_on_a_passage_that_was_not_retrieved_then_it_gets_no_citation() -> None:
    invented = claim(Passage("other#9", "d1", BODY, (Span(1, 0, 38),)))

    assert cite([invented], [hit(of=CORPUS.passages[0])], CORPUS) == {}


def test_given_a_word_of_a_text_layer_with_two_readings_then_it_alone_is_cited_as_unsure() -> None:
    scored = placed(*(word._replace(sure=float(word.start != 21)) for word in WORDS))
    claims = [Claim("A.", (evidence(Span(1, 4, 28)),), ("d1#1",))]

    (found,) = cite(claims, [hit(of=Passage("d1#1", "d1", BODY, (Span(1, 0, 38),)))], scored).values()

    assert found.unsure == (Unsure("d1", Span(1, 21, 23), 0.0, Box(22, 22, 32, 32), "30"),)
    assert (found.ocr, found.doubtful, found.read_by) == (False, True, "")
