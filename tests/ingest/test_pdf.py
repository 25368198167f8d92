"""Reading and drawing good PDFs through the real child process, and what happens when the child itself misbehaves."""

from __future__ import annotations

import base64
import json
import math
import os
import shutil
import subprocess
import sys
import textwrap
import time
from array import array
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import pymupdf
import pytest
from folding import each

from rag_core.domain.documents import Box, Metadata, Page, PageSource
from rag_core.errors import Cancelled, DamagedPdf, IngestError, LimitExceeded
from rag_core.ingest.reading import pdf_process
from rag_core.ingest.reading.pdf import Limits, PdfContent, read_pdf, render_page
from rag_core.ingest.reading.pdf_facts import clean_title, foreign_format, iso_date
from rag_core.ingest.reading.pdf_findings import page_list

LANGUAGES = {
    "en": "The quick brown fox: an office of 5 ﬁnal ﬂats.",
    "cs": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "de": "Größe und Übermaß ändern die Verpflichtung nicht.",
    "hi": "यह समझौता दो पक्षों के बीच है और इसकी अवधि चौबीस माह है।",
}


@pytest.fixture(scope="module")
def content() -> PdfContent:
    """A document with prose in four languages, a table of the kind filings have, two columns, and metadata."""
    made = pymupdf.open()
    page = made.new_page()
    writer = pymupdf.TextWriter(page.rect)
    for row, (language, text) in enumerate(LANGUAGES.items()):
        # 9: MuPDF's number of Devanagari
        font = pymupdf.Font(script=9) if language == "hi" else pymupdf.Font(language=language)
        writer.append((72, 100 + 20 * row), text, font=font)
    writer.write_text(page)
    page = made.new_page()
    for y, row in ((100, ("Net income", "$", "596", "$", "2,371")), (114, ("Net sales", "", "1,065", "", "6"))):
        for x, cell in zip((72, 300, 330, 400, 430), row, strict=True):
            page.insert_text((x, y), cell, fontsize=10)
    page = made.new_page()
    page.insert_textbox((50, 72, 280, 700), "left column words " * 20)
    page.insert_textbox((320, 72, 550, 700), "right column words " * 20)
    page.set_rotation(90)
    made.set_metadata({"title": "Annual\nReport 2022", "author": "A. Writer", "creationDate": "D:20230315090000Z"})
    made.set_toc([[1, "A heading", 1], [2, "A table", 2]])
    return read_pdf(made.tobytes(), "a.pdf")


def test_given_four_languages_when_read_then_every_character_survives(content: PdfContent) -> None:
    assert content.pages[0].text.split("\n") == list(LANGUAGES.values())


def test_given_letters_without_unicode_values_when_read_then_none_are_made_up_and_the_page_says_so() -> None:
    made = pymupdf.open()
    # MuPDF shapes these conjuncts into glyphs that stand for no single character, and writes no value for them.
    made.new_page().insert_htmlbox((72, 72, 540, 400), "<p>समझौता दो पक्षों के बीच है</p>")

    page = read_pdf(made.tobytes(), "a.pdf", ocr=False).pages[0]

    assert "\ufffd" in page.text
    assert set(page.text) <= set("समझौता दो पक्षों के बीच है\ufffd\n\t")
    assert page.problem.startswith("Some letters of this page have no value")


def test_given_a_font_with_a_broken_table_of_letters_when_read_then_its_text_is_left_out_and_told() -> None:
    """Issue 47, 8: a manual said "Çrçrà ârvyéüçëhütrà" under letters that were drawn rightly."""
    made = pymupdf.open()
    made.new_page().insert_text((72, 100), "Çrçrà ârvyéüçëhütrà Chüå Srêqràvüx çry üà qvr ivwüh üvrç trqhpuçr")
    made.new_page().insert_text(
        (72, 100), "Ärger über Öl: größere Übergänge für die Bevölkerung wären möglich gewesen."
    )

    content = read_pdf(made.tobytes(), "a.pdf", ocr=False)

    garbled, plain = content.pages
    assert (garbled.source, garbled.text) == (PageSource.UNREADABLE, "")
    assert garbled.hidden_chars > 50
    assert plain.text.startswith("Ärger über Öl")
    assert any("saying other letters than are shown (page 1)" in problem for problem in content.problems)


def test_given_a_table_when_read_then_a_row_is_one_line_with_its_cells(content: PdfContent) -> None:
    page = content.pages[1]

    assert page.text == "Net income\t$\t596\t$\t2,371\nNet sales\t1,065\t6"
    assert [page.text[start:end] for start, end in page.lines[1].cells] == ["Net sales", "1,065", "6"]


def test_given_a_table_on_turned_pages_when_read_then_its_rows_are_those_of_the_upright_one() -> None:
    made = pymupdf.open()
    for rotation in (90, 180, 270):
        page = made.new_page()
        for x, cell in ((72, "Net income"), (300, "596"), (400, "2,371")):
            page.insert_text((x, 100), cell, fontsize=10)
        page.set_rotation(rotation)

    assert [page.text for page in read_pdf(made.tobytes(), "a.pdf").pages] == ["Net income\t596\t2,371"] * 3


def test_given_two_columns_on_a_turned_page_when_read_then_they_stay_apart_and_stand_where_they_are_shown(
    content: PdfContent,
) -> None:
    page = content.pages[2]

    rows = page.text.split("\n")
    assert not any("left" in row and "right" in row for row in rows)
    assert (page.width, page.height) == (842, 595)
    assert all(0 <= word.x0 < word.x1 <= page.width and 0 <= word.y0 < word.y1 <= page.height for word in page.words)


def test_given_any_page_when_read_then_words_lines_and_cells_name_the_text_exactly(content: PdfContent) -> None:
    for page in content.pages:
        assert [page.text[word.start : word.end] for word in page.words] == page.text.split()
        assert [page.text[line.start : line.end] for line in page.lines] == page.text.split("\n")
        for line in page.lines:
            assert [page.text[a:b] for a, b in line.cells] == page.text[line.start : line.end].split("\t")
            assert line.size > 0


def test_given_words_when_read_then_each_stands_where_pymupdf_finds_it() -> None:
    made = pymupdf.open()
    made.new_page().insert_textbox((72, 72, 400, 700), "All work and no play makes Jack a dull boy. " * 5)
    expected = made[0].get_text("words")

    page = read_pdf(made.tobytes(), "a.pdf").pages[0]

    assert len(page.words) == len(expected)
    for word, (x0, y0, x1, y1, text, *_) in zip(page.words, expected, strict=True):
        assert page.text[word.start : word.end] == text
        assert word[2:6] == pytest.approx((x0, y0, x1, y1), abs=0.01)


def test_given_bold_large_and_fixed_width_lines_when_read_then_their_style_is_told() -> None:
    made = pymupdf.open()
    page = made.new_page()
    page.insert_text((72, 100), "Bold heading", fontname="hebo", fontsize=18)
    page.insert_text((72, 140), "def code():", fontname="cour", fontsize=9)

    lines = read_pdf(made.tobytes(), "a.pdf").pages[0].lines

    assert [(line.size, line.bold, line.mono) for line in lines] == [(18, True, False), (9, False, True)]


def test_given_a_word_that_is_half_hidden_when_read_then_only_its_visible_half_is_text() -> None:
    made = pymupdf.open()
    page = made.new_page()
    page.insert_text((72, 100), "vis", fontname="cour", fontsize=10)
    page.insert_text((72 + 3 * 6, 100), "ible ink", fontname="cour", fontsize=10, render_mode=3)
    page.insert_text((72 + 11 * 6, 100), "ed word", fontname="cour", fontsize=10)

    read = read_pdf(made.tobytes(), "a.pdf").pages[0]

    assert (read.text.split(), read.hidden_chars) == (["vis", "ed", "word"], 7)
    assert read.words[0].x1 == pytest.approx(90, abs=0.1)


def test_given_metadata_when_read_then_title_author_and_date_are_told(content: PdfContent) -> None:
    """S3-28."""
    assert content.metadata == Metadata("Annual Report 2022", "2023-03-15", values={"author": "A. Writer"})
    assert content.problems == ()


JUNK = (
    "0001018724-18-000005",
    "Microsoft Word - x.doc",
    "untitled",
    "Untitled-1",
    "report.pdf",
    "Lease 2025.docx - Google Docs",
    "Document1",
    " ",
)
TITLES = ("Amcor 4Q 2023 Exhibit 99.1 - June 30, 2023", "Word Processing in Schools", "2022 Annual Report")


@each(
    ("fact", "raw", "said"),
    [
        *((clean_title, title, "") for title in JUNK),
        *((clean_title, title, title) for title in TITLES),
        (iso_date, "D:20180202090319-05'00'", "2018-02-02"),
        (iso_date, "D:2018", "2018"),
        (iso_date, "20181301", "2018"),
        (iso_date, "D:201802", "2018-02"),
        (iso_date, "yesterday", ""),
        (iso_date, "", ""),
        (foreign_format, b"\xef\xbb\xbf\n <!DOCTYPE html><html>", "a web page (HTML)"),
        (foreign_format, b"PK\x03\x04 anything", "a ZIP archive"),
        (foreign_format, b"%PDF-1.4\n<html>", ""),
        (page_list, [3], "Page 3"),
        (page_list, [1, 2, 3, 7], "Pages 1-3, 7"),
    ],
)
def test_given_what_a_file_states_when_it_is_told_then_it_is_clean(
    fact: Callable[[object], str], raw: object, said: str
) -> None:
    assert fact(raw) == said


def test_given_bytes_before_the_header_when_read_then_it_is_a_pdf_all_the_same() -> None:
    made = pymupdf.open()
    made.new_page().insert_text((72, 100), "Mailed words.")

    assert read_pdf(b"From: a mail program\r\n\r\n" + made.tobytes(), "a.pdf").pages[0].text == "Mailed words."


@pytest.mark.parametrize("rotation", [0, 90])
def test_given_boxes_when_a_page_is_drawn_then_exactly_they_are_yellow_and_the_ink_stays_black(rotation: int) -> None:
    made = pymupdf.open()
    page = made.new_page(width=300, height=200)
    page.insert_text((20, 100), "MARKED plain", fontsize=30)
    page.set_rotation(rotation)
    data = made.tobytes()
    marked = read_pdf(data, "a.pdf").pages[0].words[0]

    picture = pymupdf.Pixmap(render_page(data, 1, [marked.box, marked.box], dpi=72))

    tinted = {
        (x, y)
        for x in range(picture.width)
        for y in range(picture.height)
        if picture.pixel(x, y)[2] < picture.pixel(x, y)[0] - 20
    }
    assert min(x for x, _ in tinted) == round(marked.x0)
    assert max(x for x, _ in tinted) == round(marked.x1) - 1
    assert min(y for _, y in tinted) == round(marked.y0)
    assert max(y for _, y in tinted) == round(marked.y1) - 1
    inside = [
        picture.pixel(x, y)
        for x in range(round(marked.x0), round(marked.x1))
        for y in range(round(marked.y0), round(marked.y1))
    ]
    assert (255, 232, 60) in inside
    assert any(max(pixel) < 40 for pixel in inside)


@pytest.mark.parametrize("rotation", [0, 90])
def test_given_a_part_of_a_page_when_drawn_then_it_is_that_part_of_the_whole_picture(rotation: int) -> None:
    made = pymupdf.open()
    page = made.new_page(width=300, height=200)
    page.insert_text((20, 100), "MARKED plain", fontsize=30)
    page.set_rotation(rotation)
    data = made.tobytes()
    box = read_pdf(data, "a.pdf").pages[0].words[0].box
    part = Box(box.x0 - 10, box.y0 - 20, box.x1 + 30, box.y1 + 5000)  # it ends beyond the page

    whole, cut = (
        pymupdf.Pixmap(render_page(data, 1, [box], dpi=72)),
        pymupdf.Pixmap(render_page(data, 1, [box], dpi=72, part=part)),
    )

    left, top = math.floor(part.x0), math.floor(part.y0)
    assert (cut.width, cut.height) == (math.ceil(part.x1) - left, whole.height - top)
    assert all(cut.pixel(x, y) == whole.pixel(x + left, y + top) for x in range(cut.width) for y in range(cut.height))
    nowhere = pymupdf.Pixmap(render_page(data, 1, dpi=72, part=Box(900, 900, 950, 950)))
    assert (nowhere.width, nowhere.height) == (whole.width, whole.height)


def test_given_more_pixels_than_allowed_when_drawn_then_the_picture_is_smaller() -> None:
    made = pymupdf.open()
    made.new_page()

    picture = pymupdf.Pixmap(render_page(made.tobytes(), 1, dpi=600, max_pixels=50_000))

    assert 40_000 < picture.width * picture.height <= 50_000


def test_given_a_nonsensical_limit_when_made_then_it_is_refused() -> None:
    for wrong in ({"pages": 0}, {"wall_seconds": float("nan")}, {"memory_bytes": 1 << 20}, {"pixels": float("inf")}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Limits(**wrong)  # type: ignore[arg-type]


def test_given_a_request_when_the_child_starts_then_its_resources_are_limited_for_good() -> None:
    program = """
        import json, resource, sys
        from rag_core.ingest.pdf_worker.child import set_limits
        set_limits(
            {"memory_bytes": 400 << 20, "cpu_seconds": 3, "cpu_seconds_per_page": 0.5, "pages": 10, "ocr_seconds": 2}
        )
        names = ("CORE", "FSIZE", "NOFILE", "AS", "CPU")
        print(json.dumps({name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in names}))
    """

    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, check=True, cwd=Path(__file__).parents[2]
    )

    memory = 400 << 20
    assert json.loads(said.stdout) == {
        "CORE": [0, 0],
        "FSIZE": [0, 0],
        "NOFILE": [64, 64],
        "AS": [memory, memory],
        "CPU": [3, 11],
    }


# A child that a hostile file has taken over or brought down.


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Puts a program of the test's in the child's place."""

    def put(program: str) -> None:
        path = tmp_path / "child.py"
        path.write_text("import json, os, signal, subprocess, sys, time\n" + textwrap.dedent(program), encoding="utf-8")
        monkeypatch.setattr(pdf_process, "WORKER", path)

    return put


def columns(*numbers: float) -> str:
    return base64.b64encode(array("d", numbers).tobytes()).decode()


def page_event(**changed: str) -> str:
    """A program that sends a page of one letter."""
    page = {"event": "page", "n": 1, "w": 1, "h": 1, "source": "text", "text": "x", "hidden": 0}
    event = page | dict.fromkeys(("lines", "words", "cells", "problem"), "") | changed
    return f"print({json.dumps(event)!r}); print({json.dumps({'event': 'done'})!r})"


@pytest.mark.parametrize(
    ("program", "kind", "says"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", DamagedPdf, "crash at page 1"),
        ("os.kill(os.getpid(), signal.SIGKILL)", LimitExceeded, "memory"),
        ("os.kill(os.getpid(), signal.SIGXCPU)", LimitExceeded, "computing time"),
        ("pass", DamagedPdf, "crash"),
        ("print('not json')", DamagedPdf, "never should"),
        ("print('[1, 2]')", DamagedPdf, "never should"),
        ('print(\'{"event": "page", "n": 1}\')', DamagedPdf, "never should"),
        ('print(\'{"event": "failed", "kind": "RagError"}\')', DamagedPdf, "never should"),
        (page_event(words="AAAA"), DamagedPdf, "never should"),  # three bytes are no number
        (page_event(words=columns(0, 2, 1, 1, 2, 2, -1)), DamagedPdf, "never should"),  # the page has one character
        (page_event(words=columns(0, 0.5, 1, 1, 2, 2, -1)), DamagedPdf, "never should"),
        (page_event(lines=columns(0, 1, 1, 1, 2, 2, 9, 0, 0, 0, 2)), DamagedPdf, "never should"),  # without its cells
        ("sys.stdout.write('x' * (1 << 21)); sys.stdout.flush(); time.sleep(60)", DamagedPdf, "never should"),
        ("time.sleep(60)", LimitExceeded, "1 s"),
    ],
)
def test_given_a_child_that_misbehaves_when_read_then_it_is_a_typed_error(
    child, monkeypatch: pytest.MonkeyPatch, program: str, kind: type[IngestError], says: str
) -> None:
    monkeypatch.setattr(pdf_process, "MAX_LINE_BYTES", 1 << 20)
    child(program)

    with pytest.raises(kind, match=says):
        read_pdf(b"%PDF-1.7" + bytes(1_000_000), "a.pdf", limits=Limits(wall_seconds=1 if says == "1 s" else 60))


def test_given_a_word_behind_the_file_when_the_child_is_at_work_then_it_reads_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The kernel may tell of a write after what was written has been read; that was taken for the end of this
    process.
    """
    program, blocks = tmp_path / "child.py", pdf_process._blocks
    program.write_text(
        f"import sys; sys.path.append({str(pdf_process.WORKER.parent)!r})\n"
        "from pdf_worker import child\n"
        "serve = child.serve\n"
        "child.serve = lambda *of: (sys.stdin.buffer.read(1), serve(*of))\n"
        "child.main()\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(pdf_process, "WORKER", program)
    monkeypatch.setattr(pdf_process, "_blocks", lambda *of: chain(blocks(*of), late()))

    def late() -> Iterator[bytes]:
        time.sleep(1)  # by then the child has the file
        yield b"."

    with pymupdf.open() as made:
        made.new_page().insert_text((72, 72), "a word")
        assert read_pdf(made.tobytes(), "a.pdf").pages[0].text == "a word"


@pytest.mark.parametrize("unwanted", [True, False])
def test_given_a_child_whose_modules_are_not_compiled_when_read_then_this_process_does_it_unless_told_to_write_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, unwanted: bool
) -> None:
    worker = shutil.copytree(pdf_process.WORKER, tmp_path / "pdf_worker", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(pdf_process, "WORKER", worker)
    monkeypatch.setattr(sys, "dont_write_bytecode", unwanted)

    with pymupdf.open() as made:
        made.new_page()
        render_page(made.tobytes(), 1)

    compiled = {path.parent.parent / f"{path.name.split('.')[0]}.py" for path in worker.rglob("*.pyc")}
    assert compiled == (set() if unwanted else set(worker.rglob("*.py")))


@pytest.mark.parametrize(("rows", "refused"), [(300_000, False), (400_001, True)])
def test_given_a_line_of_many_small_objects_when_read_then_it_is_refused_unread(
    child, rows: int, refused: bool
) -> None:
    opened = f"print(json.dumps({{'event': 'open', 'count': 1, 'meta': {{}}, 'more': [[1, 't', 1]] * {rows}}})); "
    child(opened + page_event())

    if refused:
        with pytest.raises(DamagedPdf, match="never should"):
            read_pdf(b"%PDF-1.7", "a.pdf")
    else:
        assert len(read_pdf(b"%PDF-1.7", "a.pdf").pages) == 1


def reading(pages: int, ends: dict[int, str]) -> str:
    """A program that reads a file of so many pages from the one it is told, and does at some of them what ends it."""
    return f"""
        told = json.loads(sys.stdin.buffer.readline())
        print(json.dumps({{"event": "open", "count": {pages}, "meta": {{}}}}), flush=True)
        for n in range(told["first"], {pages} + 1):
            exec({ends!r}.get(n, ""))
            page = {{"event": "page", "n": n, "w": 1, "h": 1, "source": "text", "text": "x", "hidden": 0}}
            print(json.dumps(page | dict.fromkeys(("lines", "words", "cells", "problem"), "")), flush=True)
        print(json.dumps({{"event": "done"}}))
    """


CRASH, SPENT = "os.abort()", "os.kill(os.getpid(), signal.SIGXCPU)"
FULL = "print(json.dumps({'event': 'failed', 'kind': 'memory', 'problem': '', 'remedy': ''}), flush=True); sys.exit()"


@pytest.mark.parametrize(
    ("number", "at", "says"),
    [
        (1, CRASH, "This page made the reader crash."),
        (2, SPENT, "Reading this page took more computing time than allowed."),
        (4, FULL, "Reading this page took more memory than allowed."),
    ],
)
def test_given_a_page_that_ends_the_reader_when_read_then_it_alone_is_unreadable(
    child, number: int, at: str, says: str
) -> None:
    child(reading(4, {number: at}))
    seen: list[int] = []

    content = read_pdf(b"%PDF-1.7", "a.pdf", progress=lambda name, page, pages: seen.append(page))

    assert seen == [1, 2, 3, 4]
    assert [page.number for page in content.pages if page.source is PageSource.UNREADABLE] == [number]
    assert content.problems == (f"Page {number}: {says}",)


def test_given_pages_that_end_the_reader_again_and_again_when_read_then_the_rest_is_left_and_what_was_read_is_kept(
    child,
) -> None:
    child(reading(20, dict.fromkeys(range(3, 20, 2), CRASH)))

    content = read_pdf(b"%PDF-1.7", "a.pdf")

    assert [page.number for page in content.pages] == list(range(1, 21))
    assert [page.number for page in content.pages if page.source is PageSource.TEXT] == [1, 2, 4, 6, 8, 10, 12]
    assert content.problems == (
        "Pages 3, 5, 7, 9, 11, 13: This page made the reader crash.",
        "Pages 14-20: This page was not read, since too many pages before it made the reader end.",
    )


def test_given_no_page_that_can_be_read_when_read_then_it_is_told_how_the_first_one_ended_the_reader(child) -> None:
    child(reading(3, {1: SPENT, 2: CRASH, 3: CRASH}))

    with pytest.raises(LimitExceeded, match="computing time"):
        read_pdf(b"%PDF-1.7", "a.pdf")


def test_given_a_reader_that_begins_at_another_page_than_told_when_read_then_it_is_not_believed(child) -> None:
    child(reading(4, {2: CRASH}).replace('told["first"]', "1"))

    with pytest.raises(DamagedPdf, match="never should"):
        read_pdf(b"%PDF-1.7", "a.pdf")


def test_given_readers_that_end_when_read_then_the_characters_of_all_of_them_count_together(child) -> None:
    child(reading(6, {2: CRASH, 4: CRASH}).replace('"text": "x"', '"text": "x" * 40'))

    with pytest.raises(LimitExceeded, match=r"more than 100 characters \(reached on page 5\)"):
        read_pdf(b"%PDF-1.7", "a.pdf", limits=Limits(chars=100))


def test_given_a_child_with_children_when_stopped_then_none_of_them_lives_on(child, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    child(f"open({str(note)!r}, 'w').write(str(subprocess.Popen(['sleep', '60']).pid)); time.sleep(60)")

    with pytest.raises(Cancelled):
        read_pdf(b"%PDF-1.7", "a.pdf", cancelled=lambda: note.exists() and note.read_text() != "")

    grandchild = int(note.read_text())
    deadline = time.monotonic() + 50  # it would live for 60
    while _lives(grandchild) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _lives(grandchild)


def test_given_keys_in_the_environment_and_a_password_when_read_then_the_child_is_told_neither_but_by_the_pipe(
    child, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    child(
        """
        told = json.loads(sys.stdin.buffer.readline())
        seen = json.dumps([sys.argv, dict(os.environ)])
        print(json.dumps({"event": "note", "problem": f"{'swordfish' in seen} {'sk-very' in seen} {told['password'] == 'swordfish'}"}))
        print(json.dumps({"event": "open", "count": 1, "meta": {}}))
        none = dict.fromkeys(("lines", "words", "cells", "problem"), "")
        page = none | {"w": 1, "h": 1, "source": "text", "text": "x", "hidden": 0}
        print(json.dumps({"event": "page", "n": 1, **page}))
        print(json.dumps({"event": "done"}))
        """
    )

    content = read_pdf(b"%PDF-1.7", "a.pdf", password="swordfish")

    assert content.problems == ("False False True",)
    assert content.pages == (Page(1, "x", PageSource.TEXT, width=1.0, height=1.0),)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
