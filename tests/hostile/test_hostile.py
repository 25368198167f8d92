"""Files that mean harm or are broken: each ends as a typed problem with a remedy, in time, and the next file is read as
ever.
"""

from __future__ import annotations

from collections.abc import Callable

import greedy
import make
import pymupdf
import pytest
from folding import each
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lost_text import damaged_copies

from rag_core.domain.documents import PageSource
from rag_core.errors import (
    Cancelled,
    DamagedPdf,
    EmptyDocument,
    IngestError,
    InvalidInput,
    LimitExceeded,
    NotAPdf,
    PasswordNeeded,
)
from rag_core.ingest.layout import Lines, Words
from rag_core.ingest.reading.ocr_engines import find_tessdata
from rag_core.ingest.reading.pdf import Limits, PdfContent, read_pdf, render_page
from rag_core.ingest.reading.pdf_process import POLL_S

needs_tesseract = pytest.mark.skipif(not find_tessdata()[0], reason="no Tesseract language data found")


@each(
    ("data", "kind", "says"),
    [
        (make.encrypted, PasswordNeeded, "needs a password"),
        (make.truncated, DamagedPdf, "ends too early"),
        (make.truncated_early, DamagedPdf, "ends too early"),
        (make.random_after_header, DamagedPdf, "cannot be read"),
        (make.without_pages, EmptyDocument, "no pages"),
        (make.html, NotAPdf, "HTML"),
        (make.svg, NotAPdf, "SVG"),
        (lambda: b"", EmptyDocument, "empty"),
        (lambda: b"\x89PNG\r\n\x1a\n" + bytes(2000), NotAPdf, "PNG"),
        (lambda: b"PK\x03\x04....[Content_Types].xml", NotAPdf, "Office"),
        (lambda: b"just words", NotAPdf, "does not begin like one"),
        (lambda: make.wrong_count(0), DamagedPdf, "0 pages, but 4"),
        (lambda: make.wrong_count(1), DamagedPdf, "1 pages, but 4"),
        (lambda: make.wrong_count(40), DamagedPdf, "damaged"),
        (lambda: make.wrong_count(50_000_000), DamagedPdf, "damaged"),
        (lambda: blank(3), EmptyDocument, "blank (3)"),
    ],
)
def test_given_a_file_that_cannot_be_read_when_read_then_the_error_is_typed_and_says_what_to_do(
    data: Callable[[], bytes], kind: type[IngestError], says: str
) -> None:
    with pytest.raises(IngestError) as caught:
        read_pdf(data(), "upload.pdf")

    assert type(caught.value) is kind
    assert says in caught.value.problem
    assert caught.value.remedy.endswith(".")


def test_given_an_encrypted_file_when_read_then_its_password_opens_it_and_a_wrong_one_is_not_repeated() -> None:
    content = read_pdf(make.encrypted("open sesame"), "a.pdf", password="open sesame")

    assert content.pages[0].text == "The secret is 42."

    with pytest.raises(PasswordNeeded) as caught:
        read_pdf(make.encrypted(), "a.pdf", password="swordfish")

    assert "does not open" in caught.value.problem
    assert "swordfish" not in str(caught.value)

    assert read_pdf(make.encrypted(user=""), "a.pdf").pages[0].text == "The secret is 42."


def test_given_a_stream_that_inflates_a_thousandfold_when_read_then_its_text_comes_out_in_time() -> None:
    # of its own work, on a busy machine too
    content = read_pdf(make.bomb(), "bomb.pdf", limits=Limits(cpu_seconds=20, cpu_seconds_per_page=1))

    assert content.pages[0].text == "after the bomb"


@pytest.mark.parametrize(
    ("bomb", "limits", "says"),
    [
        (make.drawn_bomb, Limits(cpu_seconds=1, cpu_seconds_per_page=0.1), "computing time"),
        (make.drawn_bomb, Limits(wall_seconds=1.5), "1.5 s"),
        (make.text_bomb, Limits(memory_bytes=320 << 20), "320 MiB"),
    ],
)
def test_given_a_page_that_costs_too_much_when_a_limit_is_reached_then_it_is_named_and_the_next_file_is_read(
    bomb: Callable[[], bytes], limits: Limits, says: str
) -> None:
    with pytest.raises(LimitExceeded, match=says):
        read_pdf(bomb(), "bomb.pdf", limits=limits)

    assert len(read_pdf(make.good(), "good.pdf").pages) == 3


def test_given_a_bomb_between_good_pages_when_read_then_it_costs_its_own_page_alone() -> None:
    made = pymupdf.open(stream=make.good(2))
    made.insert_pdf(pymupdf.open(stream=make.drawn_bomb()), start_at=1)

    content = read_pdf(made.tobytes(), "plan.pdf", limits=Limits(cpu_seconds=2, cpu_seconds_per_page=0.1))

    assert [page.source for page in content.pages] == [PageSource.TEXT, PageSource.UNREADABLE, PageSource.TEXT]
    assert content.problems == ("Page 2: Reading this page took more computing time than allowed.",)


@each(
    ("limits", "says"),
    [
        (Limits(pages=2), "3 pages; at most 2"),
        (Limits(chars=100), "more than 100 characters.*page 3"),
        (Limits(file_bytes=500), "at most 500"),
        (Limits(words=20), "more than 20 words.*page 3"),
        (Limits(rows=2), "more than 2 rows.*page 3"),
    ],
)
def test_given_a_limit_below_what_a_good_file_needs_when_read_then_the_limit_is_named(
    limits: Limits, says: str
) -> None:
    with pytest.raises(LimitExceeded, match=says) as caught:
        read_pdf(make.good(3), "a.pdf", limits=limits)

    assert caught.value.remedy.startswith("Split it into parts")


def test_given_a_page_with_more_characters_or_words_than_allowed_when_read_then_it_is_cut_at_a_row() -> None:
    made = pymupdf.open()
    made.new_page().insert_text((72, 100), ["first row", "second row", "third row"])

    content = read_pdf(made.tobytes(), "a.pdf", limits=Limits(page_chars=25))

    assert content.pages[0].text == "first row\nsecond row"
    assert content.problems == ("Page 1: Only the first 25 characters of this page were read.",)

    content = read_pdf(
        greedy.shared(1, b"BT /F1 9 Tf 9 90 Td (first row) Tj 0 -20 Td (second row) Tj ET"),
        "a.pdf",
        limits=Limits(page_words=3),
    )

    assert content.pages[0].text == "first row"
    assert content.problems == ("Page 1: Only the first 3 words of this page were read.",)


def test_given_a_page_of_many_words_when_read_then_its_boxes_and_rows_are_columns() -> None:
    page = read_pdf(greedy.crowded(20_000), "a.pdf").pages[0]

    assert isinstance(page.words, Words)
    assert isinstance(page.lines, Lines)
    assert (len(page.words), page.words.table.nbytes) == (20_000 // 396 * 396, 56 * len(page.words))
    assert [page.text[word.start : word.end] for word in page.words] == page.text.split()


def test_given_a_page_tree_that_holds_itself_when_read_then_each_page_is_read_once() -> None:
    content = read_pdf(make.page_tree_loop(), "loop.pdf")

    assert [page.text[:6] for page in content.pages] == ["Page 1", "Page 2", "Page 3"]
    assert "repaired" in content.problems[0]


def test_given_a_page_of_70_metres_or_none_when_read_or_drawn_then_no_more_pixels_are_made_than_allowed() -> None:
    content = read_pdf(make.giant_page(), "giant.pdf")
    picture = pymupdf.Pixmap(render_page(make.giant_page(), 1, max_pixels=100_000))

    assert content.pages[0].source is PageSource.UNREADABLE
    assert "too large" in content.pages[0].problem
    assert picture.width * picture.height <= 100_000
    with pytest.raises(InvalidInput, match="no page 9; the file has 3"):
        render_page(make.good(3), 9)


def test_given_many_pages_when_read_then_all_come_in_order_with_progress() -> None:
    seen: list[tuple[str, int, int]] = []

    content = read_pdf(make.many_pages(300), "long.pdf", progress=lambda *step: seen.append(step))

    assert [page.number for page in content.pages] == list(range(1, 301))
    assert content.pages[-1].text.startswith("Page 300 ")
    assert seen == [("long.pdf", number, 300) for number in range(1, 301)]


def test_given_a_file_that_takes_long_when_cancelled_then_reading_ends_when_it_first_looks_as_it_does_ten_times_a_second() -> (  # noqa: E501
    None
):
    looked: list[int] = []

    def cancelled() -> bool:
        looked.append(len(looked))
        return len(looked) > 10

    with pytest.raises(Cancelled):
        read_pdf(make.drawn_bomb(), "bomb.pdf", cancelled=cancelled)

    assert len(looked) == 11
    assert POLL_S <= 0.1


def test_given_hidden_text_of_each_kind_when_read_then_it_is_counted_and_left_out() -> None:
    content = read_pdf(make.hidden_text(), "a.pdf")
    page = content.pages[0]

    assert page.text == "Visible: revenue was 5 million."
    assert page.hidden_chars == sum(len("".join(f"{kind}: revenue was 9 million.".split())) for kind in KINDS)
    assert content.problems == (
        f"Page 1: {page.hidden_chars} characters of hidden text were left out: 56 transparent or not painted (page 1); "
        "24 too small to read (page 1); 25 covered, cut away, masked or in the colour of their ground (page 1); "
        "26 beside the page (page 1).",
    )


KINDS = ("mode3", "transparent", "tiny", "white", "beside")


@pytest.mark.ocr
@needs_tesseract
def test_given_a_picture_of_text_when_read_then_its_words_are_recognised_and_a_stamp_does_not_pass_for_them() -> None:
    """S2-27."""
    page = read_pdf(make.scanned(), "scan.pdf").pages[0]

    assert page.source is PageSource.OCR
    assert page.text == "The quick brown fox jumps over the lazy dog near the river bank."
    quick = page.words[1]
    assert page.text[quick.start : quick.end] == "quick"
    assert quick.x0 == pytest.approx(72 + 27, abs=4)  # "The " in 14-pt Helvetica is 28 pt wide
    assert quick.y0 < 100 < quick.y1 + 3

    page = read_pdf(make.scanned(stamp="page 7"), "scan.pdf").pages[0]
    assert (page.source, "lazy dog" in page.text) == (PageSource.OCR, True)


def test_given_no_recognition_when_a_picture_is_read_then_the_page_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    scan = make.scanned()

    without = read_pdf(scan, "scan.pdf")
    off = read_pdf(scan, "scan.pdf", ocr=False)
    stamped = read_pdf(make.scanned(stamp="page 7"), "scan.pdf").pages[0]

    assert without.pages[0].source is PageSource.UNREADABLE
    assert without.problems == ("Page 1: This page is a picture and no language data of Tesseract are installed.",)
    assert off.problems == ("Page 1: This page is a picture and reading pictures is switched off.",)
    assert (stamped.source, stamped.text) == (PageSource.UNREADABLE, "page 7")


@pytest.mark.ocr
@needs_tesseract
def test_given_a_spent_budget_when_pictures_are_read_then_the_rest_is_unreadable_and_the_file_goes_on() -> None:
    made = pymupdf.open()
    for _ in range(2):
        made.insert_pdf(pymupdf.open(stream=make.scanned()))
    made.new_page().insert_text((72, 100), "A last page with text of its own.")

    content = read_pdf(made.tobytes(), "scan.pdf", limits=Limits(ocr_seconds=0.001))

    assert [page.source for page in content.pages] == [PageSource.OCR, PageSource.UNREADABLE, PageSource.TEXT]
    assert "0.001 s" in content.pages[1].problem


def test_given_recognised_text_under_a_scan_or_nothing_but_a_rule_when_read_then_there_is_no_problem() -> None:
    page = read_pdf(make.searchable_scan(), "scan.pdf").pages[0]
    assert (page.source, page.text, page.hidden_chars) == (PageSource.OCR, "The quick brown fox.", 0)

    made = make.document("Words.")
    made.new_page().draw_line((72, 72), (500, 72), width=0.7)
    made.new_page()
    content = read_pdf(made.tobytes(), "a.pdf")
    assert [page.source for page in content.pages] == [PageSource.TEXT, PageSource.EMPTY, PageSource.EMPTY]
    assert content.problems == ()


DAMAGED = "Page 2: This page is damaged, and some of its text may be missing or wrong."


def test_given_a_page_whose_content_breaks_off_when_read_then_the_page_is_named_and_the_others_are_not() -> None:
    good = make.damaged_page(b"/Filter", b"/Filter")
    whole = read_pdf(good, "a.pdf")
    assert whole.problems == ()
    tables = read_pdf(good.replace(b"\nxref", b"\nxxxx").replace(b"startxref", b"startxxxx"), "a.pdf")
    assert tables.problems == ("The file is damaged and was repaired while reading; something may be missing.",)

    for what, data in {
        "damaged in its middle": make.damaged_page(),
        "a filter that there is not": make.damaged_page(b"FlateDecode", b"FlbteDecode"),
        "an object that is none": make.damaged_page(b"obj", b"obx"),
        "a dictionary that is none": make.damaged_page(b"<<", b"<["),
    }.items():
        content = read_pdf(data, "a.pdf")
        assert DAMAGED in content.problems, (what, content.problems)
        assert len(content.pages[1].text) < 0.9 * len(whole.pages[1].text), what
        assert content.pages[1].source is not PageSource.EMPTY, what
        assert [content.pages[at].text for at in (0, 2)] == [whole.pages[at].text for at in (0, 2)], what


def test_given_damaged_copies_of_the_samples_when_they_lose_text_then_each_says_so() -> None:
    lost = 0
    for row in damaged_copies(range(100, 116)):
        lost += row.lost > 0.01
        assert row.refused or row.notes or row.lost <= 0.01, row
    assert lost > 3


SEED = make.document("Net income was 596 million in 2017.", "Revenue grew.").tobytes(deflate=True)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(changes=st.lists(st.tuples(st.integers(9, len(SEED) - 1), st.integers(0, 255)), min_size=1, max_size=30))
def test_given_any_bytes_of_a_good_file_changed_when_read_then_it_is_content_or_a_typed_error(
    changes: list[tuple[int, int]],
) -> None:
    data = bytearray(SEED)
    for place, value in changes:
        data[place] = value

    outcome: PdfContent | IngestError
    try:
        outcome = read_pdf(bytes(data), "mutant.pdf", limits=Limits(wall_seconds=20), ocr=False)
    except IngestError as error:
        outcome = error

    assert outcome.remedy if isinstance(outcome, IngestError) else outcome.pages


def blank(pages: int) -> bytes:
    made = pymupdf.open()
    for _ in range(pages):
        made.new_page()
    return made.tobytes()
