"""Writes the hostile and broken files of the tests: each function returns the bytes of one file.

`python tests/hostile/make.py FOLDER` writes them all, to try them in the product by hand.
"""

import io
import re
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pymupdf


def document(*texts: str, fontsize: float = 12) -> pymupdf.Document:
    """A document with one text a page."""
    made = pymupdf.open()
    for text in texts:
        made.new_page().insert_text((72, 100), text, fontsize=fontsize)
    return made


def good(pages: int = 3) -> bytes:
    return document(
        *(f"Page {number} says that revenue was {number},500 million." for number in range(1, pages + 1))
    ).tobytes()


def encrypted(user: str = "open sesame", owner: str = "owner") -> bytes:
    return document("The secret is 42.").tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=user, owner_pw=owner)


def truncated() -> bytes:
    """Ends in the middle of its tables, after all the pages: MuPDF repairs it without a word."""
    return good()[:-200]


def truncated_early() -> bytes:
    return good()[:900]


def damaged_page(old: bytes = b"", new: bytes = b"") -> bytes:
    """Three long pages, of which the second one's content is damaged: in its middle, or `old` is changed to `new`
    before it.
    """
    made = document(*("" for _ in range(3)))
    for number, page in enumerate(made, 1):
        page.insert_textbox(
            (72, 72, 540, 780), " ".join(f"word{number}x{n * 7919 % 9973}" for n in range(400)), fontsize=9
        )
    data = bytearray(made.tobytes(deflate=True, garbage=1))
    starts = [
        match.end() for match in re.finditer(rb"stream\r?\n", data) if data[match.start() - 3 : match.start()] != b"end"
    ]
    long_ones = [at for at in starts if data.index(b"endstream", at) - at > 900]
    start = long_ones[1]
    if old:
        place = data.rindex(old, 0, start)
        data[place : place + len(old)] = new
    else:
        middle = (start + data.index(b"endstream", start)) // 2
        data[middle : middle + 8] = b"\xff" * 8
    return bytes(data)


def without_pages() -> bytes:
    return raw_pdf(["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 0/Kids[]>>"])


def scanned(
    text: str = "The quick brown fox jumps over the lazy dog near the river bank.",
    stamp: str = "",
    fontsize: float = 14,
) -> bytes:
    """A picture of `text` that fills the page, and `stamp` as the only real text."""
    picture = document(text, fontsize=fontsize)[0].get_pixmap(dpi=150)
    made = pymupdf.open()
    page = made.new_page()
    page.insert_image(page.rect, pixmap=picture)
    if stamp:
        page.insert_text((500, 820), stamp, fontsize=8)
    return made.tobytes(deflate=True)


def searchable_scan() -> bytes:
    """A picture of text with the same text under it in render mode 3, as scanners write."""
    made = pymupdf.open(stream=scanned("The quick brown fox."))
    made[0].insert_text((72, 100), "The quick brown fox.", fontsize=14, render_mode=3)
    return made.tobytes()


def html() -> bytes:
    return b"<!DOCTYPE html><html><body><p>%PDF-1.7 is what this page says it is.</p></body></html>"


def svg() -> bytes:
    return (
        b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>%PDF-1.7</text></svg>'
    )


def bomb(megabytes: int = 24) -> bytes:
    """About 1/1000 of `megabytes` on disk: a page that draws the same small square millions of times, then says a
    word.
    """
    squares = b"0 0 1 1 re f\n" * (megabytes * 1_000_000 // 13)
    return raw_page(squares + b"BT /F1 12 Tf 72 700 Td (after the bomb) Tj ET")


def drawn_bomb(megabytes: int = 24) -> bytes:
    """The same without text, so that the page has to be looked at: curves all over it, each dear to draw."""
    curve = b"0 0 m 600 800 0 800 600 0 c 300 900 900 300 0 0 c S\n"
    return raw_page(curve * (megabytes * 1_000_000 // len(curve)))


def text_bomb(characters: int = 20_000_000) -> bytes:
    """One page with far more text than any page has room for."""
    return raw_page(b"BT /F1 1 Tf 2 700 Td " + b"(words of no use) Tj\n" * (characters // 15) + b"ET")


def wrong_count(count: int, pages: int = 4) -> bytes:
    return good(pages).replace(b"/Count %d" % pages, b"/Count %d" % count)


def giant_page() -> bytes:
    """200,000 pt (70 m) square, more than any viewer accepts; it has something to draw and no text."""
    return raw_page(b"1 0 0 rg 1000 1000 150000 150000 re f", width=200_000, height=200_000)


def page_tree_loop() -> bytes:
    return re.sub(rb"/Kids ?\[([^\]]*)\]", rb"/Kids[\1 2 0 R]", good())


def many_pages(pages: int = 2_000) -> bytes:
    """Pages of a line each. PyMuPDF would take a minute to write them: each new page costs more than the one before."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    for number in range(1, pages + 1):
        text = f"BT /F1 12 Tf 72 692 Td (Page {number} says that revenue was {number},500 million.) Tj ET"
        objects.append(f"<</Type/Page/Parent 2 0 R/Contents {2 * number + 3} 0 R>>")
        objects.append(f"<</Length {len(text)}>>\nstream\n{text}\nendstream")
    kids = " ".join(f"{2 * number + 2} 0 R" for number in range(1, pages + 1))
    objects[1] = f"<</Type/Pages/Count {pages}/Kids[{kids}]/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>>>"
    return raw_pdf(objects)


def random_after_header() -> bytes:
    return b"%PDF-1.7\n" + bytes((number * 7919 + number // 251) % 256 for number in range(20_000))


def hidden_text() -> bytes:
    """One visible line, and one hidden line of each kind; each hidden line begins with its kind."""
    made = pymupdf.open()
    page = made.new_page()
    page.insert_text((72, 100), "Visible: revenue was 5 million.")
    page.insert_text((72, 140), "mode3: revenue was 9 million.", render_mode=3)
    page.insert_text((72, 180), "transparent: revenue was 9 million.", fill_opacity=0, stroke_opacity=0)
    page.insert_text((72, 220), "tiny: revenue was 9 million.", fontsize=1)
    page.insert_text((72, 260), "white: revenue was 9 million.", color=(1, 1, 1))
    page.insert_text((-400, 300), "beside: revenue was 9 million.")
    return made.tobytes()


def raw_page(content: bytes, width: int = 612, height: int = 792) -> bytes:
    """A one-page PDF with this content stream, compressed."""
    packed = zlib.compress(content, 9)
    stream = f"<</Length {len(packed)}/Filter/FlateDecode>>\nstream\n".encode() + packed + b"\nendstream"
    return raw_pdf(
        [
            "<</Type/Catalog/Pages 2 0 R>>",
            "<</Type/Pages/Count 1/Kids[3 0 R]>>",
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {width} {height}]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",  # noqa: E501
            stream,
            "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        ]
    )


def raw_pdf(objects: list[str | bytes]) -> bytes:
    """A PDF of these objects, numbered from 1, with a right cross-reference table."""
    out = io.BytesIO(b"%PDF-1.7\n")
    out.seek(0, io.SEEK_END)
    places = []
    for number, value in enumerate(objects, 1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n".encode() + (value.encode() if isinstance(value, str) else value) + b"\nendobj\n")
    start = out.tell()
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    out.write(b"".join(f"{place:010d} 00000 n \n".encode() for place in places))
    out.write(f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


BOMBS = (bomb, drawn_bomb, text_bomb, giant_page, page_tree_loop, many_pages, random_after_header, hidden_text)
BROKEN = (encrypted, truncated, truncated_early, without_pages, scanned, searchable_scan, html, svg)
ALL: tuple[Callable[[], bytes], ...] = (*BROKEN, *BOMBS)

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in ALL:
        (folder / f"{make.__name__}.pdf").write_bytes(make())
