"""Writes files of a few KB that ask for a lot of memory: each function returns the bytes of one file.

See `make` for the others.
"""

from __future__ import annotations

import zlib

import pymupdf
from make import raw_pdf


def shared(pages: int, content: bytes) -> bytes:
    """So many pages that all show this one content stream."""
    packed = zlib.compress(content, 9)
    stream = f"<</Length {len(packed)}/Filter/FlateDecode>>\nstream\n".encode() + packed + b"\nendstream"
    kids = " ".join(f"{number} 0 R" for number in range(5, 5 + pages))
    return raw_pdf(
        [
            "<</Type/Catalog/Pages 2 0 R>>",
            f"<</Type/Pages/Count {pages}/Kids[{kids}]/MediaBox[0 0 612 792]/Resources<</Font<</F1 4 0 R>>>>>>",
            stream,
            "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            *["<</Type/Page/Parent 2 0 R/Contents 3 0 R>>"] * pages,
        ]
    )


def _shown(rows: list[tuple[int, int, bytes]], size: float = 2) -> bytes:
    return b"BT /F1 %.1f Tf\n" % size + b"".join(b"1 0 0 1 %d %d Tm (%s) Tj\n" % row for row in rows) + b"ET"


def letters(pages: int = 40, words: int = 25_000) -> bytes:
    """Pages of single letters: a word, a box, and a token for every two characters; one paragraph that never ends."""
    return shared(pages, _shown([(10, 780 - 3 * row, b" ".join([b"a"] * 100)) for row in range(words // 100)]))


def crowded(words: int = 99_000) -> bytes:
    """One page with far more words than any page has room for."""
    return shared(1, _shown([(10, 780 - 3 * row, b" ".join([b"a"] * 396)) for row in range(words // 396)], 1.6))


def rows(pages: int = 1_000) -> bytes:
    """Pages of rows of one letter."""
    return shared(pages, _shown([(10, 790 - 3 * row, b"a") for row in range(250)]))


def cells(pages: int = 30) -> bytes:
    """Pages that are one table, each letter a cell."""
    return shared(pages, _shown([(10 + 9 * column, 790 - 3 * row, b"a") for row in range(250) for column in range(60)]))


def sentences(pages: int = 40) -> bytes:
    """Pages of sentences of one letter."""
    return shared(pages, _shown([(10, 780 - 3 * row, b" ".join([b"A."] * 70)) for row in range(250)]))


def headings(pages: int = 700) -> bytes:
    """Pages on which every other row is a heading, so that nearly every row is a passage of its own."""
    parts = [b"BT\n"]
    for row in range(48):
        parts.append(b"/F1 9 Tf 1 0 0 1 10 %d Tm (Part %d) Tj\n" % (780 - 16 * row, row + 1))
        parts.append(
            b"/F1 5 Tf 1 0 0 1 10 %d Tm (The words that stand below this heading number %d.) Tj\n"
            % (772 - 16 * row, row)
        )
    return shared(pages, b"".join([*parts, b"ET"]))


def outline(entries: int = 50_000) -> bytes:
    """A table of contents with more rows than any reader would open, each with a long title."""
    made = pymupdf.open()
    made.new_page().insert_text((72, 100), "One page.")
    made.set_toc([[1, f"{number} " + "title " * 40, 1] for number in range(entries)])
    return made.tobytes(deflate=True)


def long_title(chars: int = 3_000_000) -> bytes:
    """A title and an author of megabytes."""
    made = pymupdf.open()
    made.new_page().insert_text((72, 100), "One page.")
    made.set_metadata({"title": "t" * chars, "author": "a" * chars})
    return made.tobytes()


def ordinary(pages: int = 2_000) -> bytes:
    """A long report: 40 rows of running text a page, about 3,000 characters, no two rows alike."""
    objects: list[str | bytes] = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for page in range(pages):
        text = b"BT /F1 9 Tf 50 740 Td\n" + b"".join(_row(page, row) for row in range(40)) + b"ET"
        objects.append(f"<</Type/Page/Parent 2 0 R/Contents {5 + 2 * page} 0 R>>")
        objects.append(f"<</Length {len(text)}>>\nstream\n".encode() + text + b"\nendstream")
    kids = " ".join(f"{4 + 2 * page} 0 R" for page in range(pages))
    objects[1] = f"<</Type/Pages/Count {pages}/Kids[{kids}]/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>>>"
    return raw_pdf(objects)


def _row(page: int, row: int) -> bytes:
    end = b". Costs" if row % 3 else b","
    return b"(In section %d.%d the company reports that revenue of unit %d rose to %d million%s) Tj 0 -16 Td\n" % (
        page,
        row,
        page * row % 977,
        page + row,
        end,
    )
