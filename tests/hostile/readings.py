"""Writes pages on which a file has two readings of what it draws: one for each glyph (ToUnicode), one for several
(ActualText).

`wrong_values`: ActualText is right. `wrong_texts`: ToUnicode is right. `untold`: neither can be told. `bulleted`: lists
    whose bullets are
letters of a font of signs. Each is a page in bytes with what it shows; `fonts` are those of MuPDF, embedded whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pymupdf
from forms import Paper, cmap

FACES = ("helv", "hebo", "heit", "tiro", "tibo", "cour")
LINE = "Die Mitgliederversammlung findet einmal statt"
LISTED = ("improper operation by the user", "wrong pressure of the pump", "lack of water")
Piece = tuple[str | None, str]  # what is said for all of it, if anything; what is drawn


class Readings(NamedTuple):
    """A page. `shown`: what a person sees. `hidden`: words that the file says and does not show."""

    name: str
    data: bytes
    shown: str
    hidden: str = ""


def written(pieces: Sequence[Piece], values: Mapping[str, str], font: str, name: str = "") -> bytes:
    """A line of `pieces` in an embedded font whose map gives `values` to some of the glyphs.

    `name`: for ZapfDingbats, as long.
    """
    made = pymupdf.open(stream=Paper().save("", shown=False))
    page, face = made[0], pymupdf.Font(font)
    page.insert_font("E", fontbuffer=face.buffer.replace(b"Dingbats", name.encode()) if name else face.buffer)
    page.insert_text((72, 100), "x", fontname="E", fontsize=12)
    xref = next(row[0] for row in page.get_fonts() if row[4] == "E")
    drawn = sorted({sign for _, text in pieces for sign in text})
    said = {sign: values.get(sign, sign) for sign in drawn}
    rows = "".join(f"<{face.has_glyph(ord(sign)):04x}> <{_utf16(text)}>\n" for sign, text in said.items() if text)
    made.update_stream(
        int(made.xref_get_key(xref, "ToUnicode")[1].split()[0]), cmap(rows, rows.count("\n"), 2).encode()
    )
    content = "BT /E 12 Tf 72 700 Td " + "".join(_shown(text, drawn, face) for text, drawn in pieces) + "ET"
    first, *others = page.get_contents()
    made.update_stream(first, content.encode())
    for other in others:
        made.update_stream(other, b" ")
    return bytes(made.tobytes())


def _utf16(text: str) -> str:
    return text.encode("utf-16-be").hex()


def _shown(text: str | None, drawn: str, face: pymupdf.Font) -> str:
    glyphs = f"<{''.join(f'{face.has_glyph(ord(sign)):04x}' for sign in drawn)}> Tj "
    return glyphs if text is None else f"/Span <</ActualText <feff{_utf16(text)}>>> BDC {glyphs}EMC "


def _over(text: str, drawn: str) -> Iterator[tuple[str, list[Piece]]]:
    """The same two readings with ActualText over the line, over each word, and over those parts of words that
    differ.
    """
    yield "line", [(text, drawn)]
    words = list(zip(text.split(), drawn.split(), strict=True))
    yield "words", [piece for said, shown in words for piece in ((said, shown), (None, " "))]
    parts: list[Piece] = []
    for sign in drawn:
        said = {"ﬁ": "fi", "ﬂ": "fl"}.get(sign)
        parts.append((said, sign))
    yield "parts", parts


def wrong_values() -> Iterator[Readings]:
    """Ligatures, and all letters, whose own value is wrong or missing, and whose ActualText is right.

    Each font has each wrong value, and each font and each value have each of the three ways of `_over`.
    """
    for turn, font in enumerate(FACES):
        for at, wrong in enumerate(("ß", "f", "!", "b", "\ufffd", "\uf001")):
            ways = list(_over(LINE, LINE.replace("fi", "ﬁ")))
            over, pieces = ways[(turn + at) % len(ways)]
            yield Readings(f"{font} {wrong!r} {over}", written(pieces, {"ﬁ": wrong}, font), LINE)
        shifted = {sign: chr(ord(sign) + 1) for sign in LINE if sign.isalpha()}
        for over, pieces in _over(LINE, LINE):
            if over != "parts":
                yield Readings(f"{font} all {over}", written(pieces, shifted, font), LINE)
        yield Readings(
            f"{font} digit", written([(None, "Term "), ("28", "28"), (None, " days")], {"2": "3"}, font), "Term 28 days"
        )


def wrong_texts() -> Iterator[Readings]:
    """Words, parts of words and lines for which ActualText says other letters, digits or signs than are drawn."""
    for font in FACES:
        for said, drawn, hidden in (
            ("The fee is 38 euros", "The fee is 28 euros", "38"),
            ("The fee is not due", "The fee is due", "not"),
            ("Nothing is owed", "Everything is due", "owed"),
            ("Term < 28 days", "Term > 28 days", "<"),
        ):
            yield Readings(f"{font} line {said}", written([(said, drawn)], {}, font), drawn, hidden)
        yield Readings(
            f"{font} digit",
            written([(None, "It costs 2"), ("9", "8"), (None, "0 euros")], {}, font),
            "It costs 280 euros",
            "290",
        )
        yield Readings(
            f"{font} nothing", written([(None, "It is "), ("", "not"), (None, " due")], {}, font), "It is not due"
        )


def bulleted() -> Iterator[Readings]:
    """Lists whose bullets are triangles, discs, ticks and squares of fonts of signs, said to be letters or nothing,
    near and far in turn.
    """
    fonts = (
        ("ZapfDingbats", 0xE4),
        ("ZapfDingbats", 0x6C),
        ("ZapfDingbats", 0x33),
        ("Wingdings", 0xD8),
        ("Symbol", 0xDE),
    )
    for turn, (font, code) in enumerate(fonts):
        for at, value in enumerate(("X", "3", "\uf058", "\ufffd", "§", "")):
            gap, text = (9.5, 18)[(turn + at) % 2], (None, "X", "•")[(turn + at) % 3]
            name = f"{font} {code:x} {value!r} {gap} {text}"
            yield Readings(name, _list(font, code, value, gap, text), "\n".join(LISTED))


def _list(font: str, code: int, value: str, gap: float, text: str | None) -> bytes:
    paper = Paper()
    to_unicode = f"/ToUnicode {paper.stream(cmap(f'<{code:02x}> <{_utf16(value)}>' + chr(10), 1))} 0 R" if value else ""
    paper.name("Font", "F2", f"<</Type/Font/Subtype/Type1/BaseFont/{font}{to_unicode}>>")
    rows = []
    for number, item in enumerate(LISTED):
        bullet = f"BT /F2 11 Tf 72 {600 - 16 * number} Td (\\{code:03o}) Tj ET "
        said = bullet if text is None else f"/Span <</ActualText <feff{_utf16(text)}>>> BDC {bullet}EMC "
        rows.append(f"{said}BT /F1 11 Tf {72 + gap} {600 - 16 * number} Td ({item}) Tj ET\n")
    return paper.save("".join(rows), shown=False)
