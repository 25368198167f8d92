"""Scans read by the real Tesseract: how sure it is of each word, pages side by side, and pictures that are made to do
harm.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import make
import pymupdf
import pytest

from rag_core.domain.documents import Page, PageSource
from rag_core.errors import Cancelled
from rag_core.ingest.limits import Limits
from rag_core.ingest.reading import pdf_process, recognition
from rag_core.ingest.reading.ocr_engines import find_tessdata
from rag_core.ingest.reading.pdf import read_pdf
from rag_core.library.indexing.reading import RecognisedPages
from rag_core.library.stored.collection import Collection
from rag_core.library.stored.sources import Source

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"

pytestmark = [pytest.mark.ocr, pytest.mark.skipif(not find_tessdata()[0], reason="no Tesseract language data found")]


def picture_of(name: str, number: int, rotate: int = 0) -> tuple[bytes, Page]:
    """A page of a sample as a scan at 200 dots an inch, and the same page as its text layer has it."""
    data = (SAMPLES / name).read_bytes()
    page = pymupdf.open(stream=data)[number]
    scan = pymupdf.open()
    sheet = scan.new_page(width=page.rect.width, height=page.rect.height)
    sheet.insert_image(sheet.rect, pixmap=page.get_pixmap(dpi=200, colorspace=pymupdf.csGRAY), rotate=rotate)
    return scan.tobytes(deflate=True), read_pdf(data, name, ocr=False).pages[number]


def noise(width: int = 3600) -> bytes:
    """A page of print, then one of nothing but specks, in which Tesseract looks for letters for about 12 s where it is
    3,600 points wide, then one of print.
    """
    specks = pymupdf.Pixmap(pymupdf.csGRAY, width, 4800, random.Random(19).randbytes(width * 4800), False)
    made = pymupdf.open(stream=make.scanned())
    sheet = made.new_page(width=width * 0.36, height=1728)
    sheet.insert_image(sheet.rect, pixmap=specks)
    made.insert_pdf(pymupdf.open(stream=make.scanned()))
    return made.tobytes()


def require_words(page: Page, true: Page, least: float, slack: float) -> None:
    """So many of a page's words were recognised, each says how sure it is, and stands where it is printed, within
    `slack` points.
    """
    assert page.source is PageSource.OCR
    wanted = true.text.split()
    assert len(set(wanted) & set(page.text.split())) >= least * len(set(wanted))
    assert all(word.sure is not None and 0 <= word.sure <= 1 for word in page.words)
    once = {
        text: [word for word in true.words if true.text[word.start : word.end] == text]
        for text in wanted
        if len(text) > 3
    }
    found = 0
    for word in page.words:
        text = page.text[word.start : word.end]
        if len(once.get(text, ())) == 1 and page.text.split().count(text) == 1:
            (there,) = once[text]
            found += 1
            assert there.x0 - slack < word.x0 < word.x1 < there.x1 + slack, text
            assert there.y0 - 4 < (word.y0 + word.y1) / 2 < there.y1 + 4, text
            assert 0.5 < (word.y1 - word.y0) / (there.y1 - there.y0) < 2, text
    assert found >= 20


@pytest.mark.parametrize(
    ("name", "number", "least"), [("smlouva-o-dodavce.pdf", 2, 0.95), ("samantar-shreni.pdf", 1, 0.8)], ids=["cs", "hi"]
)
def test_given_a_scan_when_read_then_its_words_are_right_stand_where_they_are_and_say_how_sure_they_are(
    name: str, number: int, least: float
) -> None:
    data, true = picture_of(name, number)

    page = read_pdf(data, name).pages[0]

    # a text layer in Devanagari gives each word the width of its plain letters
    require_words(page, true, least, slack=4 if name.startswith("smlouva") else 40)


@pytest.mark.parametrize("rotate", [90, 180, 270])
def test_given_a_page_on_its_side_or_head_when_read_then_it_is_read_in_its_order(rotate: int) -> None:
    """Of letters on their side Tesseract says "Cyrillic", for which no language data are installed."""
    data, true = picture_of("company-policies.pdf", 1, rotate=rotate)

    page = read_pdf(data, "scan.pdf").pages[0]

    read, wanted = page.text.split(), true.text.split()
    assert (page.problem, read[:4]) == ("", wanted[:4])
    if rotate == 180:
        assert len(set(read) & set(wanted)) >= 0.9 * len(set(wanted))
        assert page.words[0].x0 > page.width / 2
        assert page.words[0].y0 > page.height / 2


def test_given_many_pages_when_read_then_they_come_in_their_order_with_as_many_processes_as_are_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recognition, "cores", lambda: 3)
    made = pymupdf.open()
    for number in range(7):
        made.insert_pdf(pymupdf.open(stream=make.scanned(f"This is page number {number} of the scan.")))
    told: list[int] = []

    content = read_pdf(made.tobytes(), "scan.pdf", progress=lambda _, done, total: told.append(done))

    assert [page.number for page in content.pages] == told == list(range(1, 8))
    assert [page.text for page in content.pages] == [
        f"This is page number {number} of the scan." for number in range(7)
    ]


def test_given_a_picture_on_which_tesseract_does_not_end_when_read_then_that_page_says_so_and_the_others_are_read() -> (
    None
):
    content = read_pdf(noise(), "scan.pdf", limits=Limits(ocr_seconds_per_page=4))

    assert [page.source for page in content.pages] == [PageSource.OCR, PageSource.UNREADABLE, PageSource.OCR]
    assert content.problems == (
        "Page 2: This page is a picture and text recognition failed on it: it took more time or memory than a page is "
        "allowed.",
    )


def test_given_a_picture_that_takes_more_memory_than_allowed_when_read_then_that_page_says_so_and_the_others_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = pdf_process.events

    def less_for_the_large(request: Any, data: Any, **given: Any) -> Any:
        if request.get("recognise", {}).get("height", 0) > 3000:
            request = {**request, "memory_bytes": 150 << 20}  # the language data alone take more
        return real(request, data, **given)

    monkeypatch.setattr(pdf_process, "events", less_for_the_large)

    content = read_pdf(noise(400), "scan.pdf")

    assert [page.source for page in content.pages] == [PageSource.OCR, PageSource.UNREADABLE, PageSource.OCR]
    (problem,) = content.problems
    assert problem.startswith("Page 2: This page is a picture and text recognition failed on it")


def test_given_a_reading_that_was_stopped_when_read_again_then_it_goes_on_at_the_page_it_was_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recognition, "cores", lambda: 1)
    made = pymupdf.open()
    for number in range(4):
        made.insert_pdf(pymupdf.open(stream=make.scanned(f"This is page number {number} of the scan.")))
    data = made.tobytes()
    kept = Collection(tmp_path, "default")
    ((row, _),) = kept.accept([Source("a.pdf", data, "pdf")])
    recognised = RecognisedPages(kept, row.digest)
    done: list[int] = []
    with pytest.raises(Cancelled):
        read_pdf(
            data,
            "a.pdf",
            recognised=recognised,
            progress=lambda *of: done.append(of[1]),
            cancelled=lambda: len(done) >= 2,
        )
    started: list[object] = []
    real = pdf_process.events
    monkeypatch.setattr(
        pdf_process, "events", lambda request, *of, **given: started.append(request) or real(request, *of, **given)
    )

    content = read_pdf(data, "a.pdf", recognised=recognised)

    assert [page.text for page in content.pages] == [
        f"This is page number {number} of the scan." for number in range(4)
    ]
    assert all(word.sure for page in content.pages for word in page.words)
    read_now = sum("recognise" in request for request in started)  # type: ignore[operator]
    assert 1 <= read_now <= 2
    with kept.reading() as db:
        assert db.execute("SELECT count(*) FROM recognised").fetchone() == (4,)


def test_given_no_library_of_tesseract_when_read_then_the_page_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "child.py"
    program.write_text(
        f"import sys; sys.path.append({str(pdf_process.WORKER.parent)!r})\n"
        "from pdf_worker import child\n"
        "from pdf_worker.scans import tesseract\n"
        "tesseract.LIBRARIES = ('libtesseract-that-is-not-there.so',)\n"
        "child.main()\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(pdf_process, "WORKER", program)

    page = read_pdf(make.scanned(), "scan.pdf").pages[0]

    assert (page.source, page.text) == (PageSource.UNREADABLE, "")
    assert page.problem == "This page is a picture and the library of Tesseract (libtesseract.so.5) is not installed."


PARAGRAPHS = {
    "deu": "Die Gebühren für die Küche betragen nach § 5 der Satzung 20 Euro. Für jeden Hund wird die Steuer erhoben, "
    "und die Stadt führt darüber ein Verzeichnis. Über Ausnahmen entscheidet der Rat.",
    "ces": "Dodavatel je povinen dodat zboží do třiceti dnů od objednávky. Kupující zaplatí cenu převodem na účet, "
    "a to nejpozději do čtrnácti dnů po převzetí. Řízení se řídí právem České republiky.",
    "rus": "Поставщик обязан поставить товар в течение тридцати дней. Покупатель оплачивает цену переводом на счёт "
    "не позднее четырнадцати дней после приёмки. Споры решаются в суде по месту нахождения ответчика.",
    "ita": "Il fornitore è obbligato a consegnare la merce entro trenta giorni. Il prezzo può essere pagato con "
    "bonifico, e la qualità della merce è verificata da chi la riceve. Non è permesso l'invio di messaggi.",
}


def scan_of(text: str) -> bytes:
    """A page of this text, four times over, as a picture at 200 dots an inch."""
    written = pymupdf.open()
    page = written.new_page()
    page.insert_htmlbox(page.rect + pymupdf.Rect(60, 60, -60, -60), f"<p>{text}</p>" * 4)
    scan = pymupdf.open()
    sheet = scan.new_page()
    sheet.insert_image(sheet.rect, pixmap=page.get_pixmap(dpi=200, colorspace=pymupdf.csGRAY))
    return scan.tobytes(deflate=True)


@pytest.mark.parametrize("code", ["deu", "ces"])
def test_given_a_scan_in_one_language_when_read_then_no_letter_of_another_stands_in_it(code: str) -> None:
    """Issue 47, 8: "fůr" and "Kůche" in German, as Czech was read with at once."""
    if code not in find_tessdata()[0]:
        pytest.skip(f"{code} is not installed")

    page = read_pdf(scan_of(PARAGRAPHS[code]), "scan.pdf").pages[0]

    accented = {sign for sign in page.text if sign.isalpha() and not sign.isascii()}
    assert accented <= set(PARAGRAPHS[code])
    assert page.problem == ""


def test_given_a_scan_whose_script_or_language_is_not_installed_when_read_then_the_finding_names_it() -> None:
    """Issue 47, 8: Russian was read as Latin and Devanagari letters."""
    russian, italian = (read_pdf(scan_of(PARAGRAPHS[code]), "scan.pdf").pages[0] for code in ("rus", "ita"))

    if "rus" not in find_tessdata()[0]:
        assert (russian.source, russian.text) == (PageSource.UNREADABLE, "")
        assert "in Cyrillic script" in russian.problem
        assert "tesseract-ocr-rus" in russian.problem
    if "ita" not in find_tessdata()[0]:
        assert "giorni" in italian.text
        assert "language data for Italian are not installed" in italian.problem
