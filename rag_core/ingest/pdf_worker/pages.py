"""Reads one page: its visible words in rows, what is hidden on it, and draws its picture where it has no text.

Only the text and, where needed, a capped rendering are asked of MuPDF. Its drawings and tables are never listed: 39 KB
of PDF made that take 18 s and 2.4 GB (measured with PyMuPDF 2.0), while the text of the same page takes 0.4 s.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any

import pymupdf

from .damage import unheard
from .form_fields import beside_labels, drawn_boxes, pictured_boxes, with_boxes, with_bullets
from .glyphs.accents import composed
from .glyphs.baselines import levelled
from .glyphs.corrected import Correction, corrected
from .glyphs.fonts import Fonts
from .glyphs.symbols import drawn_signs
from .grid import in_cells
from .hidden_text.trace import Trace
from .hidden_text.visibility import examined
from .hidden_text.void import is_void
from .order import as_printed
from .render import fitting_zoom
from .rows import Rows, build
from .scans.ocr import Drawer, Unreadable
from .words import SLOPED, UNKNOWN, Ink, Kind, Rect, Run, Word, lines_of, same_row, union

# not clipped to the page: text beside it is counted as hidden
FLAGS = pymupdf.TEXT_PRESERVE_LIGATURES | pymupdf.TEXT_PRESERVE_WHITESPACE
# a page number, a scanner's stamp, a Bates number: fewer letters than that on a picture do not make it a page of text
FEW_CHARS = 50
PICTURE_SHARE = 0.5  # pictures of so much of the page's area are taken for the page's content
# parts of the page: a picture of no more is a logo, and words on less may be all of the page that is text; chosen
LOGO_SHARE, SPARSE_SHARE = 0.05, 0.03
# parts of a picture of print: its ground at least, which a photo has not, and ink as of a line; chosen
PAPER, MIN_INK = 0.7, 0.002
MAX_PARTS = 50  # pictures of a page that are looked at
NOISE, INK_STEP = 24, 48  # grey levels of a ground around its commonest one, and between that and ink
UNKNOWN_SHARE = 0.3  # with so many characters without a Unicode value the text layer is worth less than the picture
# Western Europe's letters with accents in a text: Czech and Vietnamese have a seventh at most, and a font with a broken
# table of letters had 0.42
ACCENTED_SHARE = 0.25
FEW_UNKNOWN_SHARE = 0.01  # from which the user is told; below it they are single signs such as bullets
BLANK_CHECK_PIXELS = 500_000  # an A4 page at about 72 dpi: print of 4 pt still leaves its grey
# part of a line's direction along its second axis, from which it follows no edge of the page; scans are less askew
SLOPE = 0.1
# what is no taller is a rule between sections, as filings leave on otherwise blank pages; letters are taller
RULE_PT = 3.0

TINY_PT = 1.5  # no print is that small; the smallest legal notices are about 4 pt
TRANSPARENT = 12  # steps of 255: under 5 % opacity
PALE = 224  # lowest channel of a colour that is hard to see on white paper

Picture = dict[str, object] | None

_DRAWN_HYPHEN = re.compile("(?<=[0-9])\xad(?=[0-9])")  # a figure is not broken
_SURROGATE = re.compile("[\x00\ud800-\udfff]")
_CLOSING = re.compile(r"[.,;:!?)\]}]+")
_DELIMITERS = dict.fromkeys([*range(33), 160])  # what MuPDF parts words at
NEAR_PT = 0.5  # glyphs of one word abut; a space between words is at least twice as wide, in print of 4 pt too
# between parts of a word that MuPDF parted; where it lays out the page itself, all blanks are written; chosen
NEAR_EM, LAID_OUT_EM = 0.05, 0.6
SHADOW_EM = 0.1  # from a word to the same one over it, or less than twice that; no letter is as narrow; chosen
THIN_PT = 0.1  # what is thinner stands above or below another glyph


class Layers:
    """A second look at a document with all its layers on; one that has none switched off costs nothing."""

    def __init__(self, document: Any, password: str) -> None:
        self._all: Any = None
        if not document.is_pdf:  # a web page has none
            return
        keys = ("OFF", "BaseState", "AS")  # each may switch a layer off
        if any(
            document.xref_get_key(document.pdf_catalog(), f"OCProperties/D/{key}")[1] not in ("null", "[]", "/ON")
            for key in keys
        ):
            self._all = pymupdf.open(stream=document.stream, filetype="pdf")
            if self._all.needs_pass:
                self._all.authenticate(password)
            self._all.xref_set_key(self._all.pdf_catalog(), "OCProperties", "null")  # then no layer is ever off

    def words(self, number: int, read: Iterable[str], flags: int) -> list[str]:
        """The words of page `number` (from 0) that are there only with all layers on; `read` are the others."""
        if self._all is None:
            return []
        page = self._all[number]
        more = Counter(word[4] for word in page.get_textpage(clip=pymupdf.INFINITE_RECT(), flags=flags).extractWORDS())
        return list((more - Counter(read)).elements())


def read(page: Any, drawer: Drawer, fonts: Fonts, layers: Layers) -> dict[str, Any]:
    """The page as the event `page`; `picture` is to be read where it has no text. Raises what MuPDF raises."""
    asked = drawer.request
    text_page = page.get_textpage(clip=pymupdf.INFINITE_RECT(), flags=FLAGS)
    words = text_page.extractWORDS()
    with unheard():
        trace = Trace(page) if words else None
        correction = corrected(page, trace.fonts, trace.spans, fonts, FLAGS) if trace else None
    if correction:
        text_page = correction.text_page
        words = text_page.extractWORDS()
    blocks = text_page.extractDICT()["blocks"]
    hidden: Counter[str] = Counter()  # characters by the value of their Kind
    searchable_scan = _is_searchable_scan(page, blocks)
    runs, bars = list(_runs(page, blocks, words)), list[Rect]()
    with unheard():
        void = is_void([*lines_of(blocks).values()])
        runs = _at_sight(page, runs, keep_invisible=searchable_scan)
        if trace:
            runs, bars = examined(page, text_page, runs, asked["pixels"], fonts, trace, correction)
    if not searchable_scan:
        turn = page.rotation_matrix if page.rotation else None
        runs = levelled(runs, blocks, turn, bars, lambda: text_page.extractRAWDICT()["blocks"])
    runs = composed(runs, lambda: text_page.extractRAWDICT()["blocks"])
    runs = _with_whole_words(runs, blocks, NEAR_EM if page.parent.is_pdf else LAID_OUT_EM)
    if correction:
        runs += _rejected(correction)
    shown, rules = beside_labels(page, list(_once(_visible(runs, hidden, void=void)))), _rules(trace)
    shown = _with_drawn_signs(page, shown, rules, trace) if trace else shown
    rows = build(as_printed(in_cells(shown, rules)), asked["page_chars"], asked["page_words"])
    for word in layers.words(page.number, (word[4] for word in words), FLAGS):
        hidden[Kind.LAYER.value] += len(word)
    rows = rows if searchable_scan else _legible(rows, hidden)
    source, problem, picture = ("ocr" if searchable_scan else "text"), "", None
    is_struck = Kind.STRUCK.value in hidden and not rows.text  # what is left of it is no picture
    if not searchable_scan and not is_struck and _wants_ocr(page, rows.text):
        source, problem, picture = _as_picture(page, drawer, rows)
    else:
        widen(page, rows.text, rows.words)
        if correction:
            _score(rows.words, correction.doubtful)
        if not searchable_scan:
            with unheard():  # a broken picture under text takes none of it away
                problem, picture = _rest_as_picture(page, drawer, list(_known(runs)), rows)
    if source != "unreadable":
        problem = rows.problem or _valueless(rows.text) or problem
    return {
        "w": round(page.rect.width, 2),
        "h": round(page.rect.height, 2),
        "source": source,
        "text": rows.text,
        "lines": rows.lines,
        "words": rows.words,
        "kinds": hidden,
        "problem": problem,
        "picture": picture,
    }


def _with_drawn_signs(page: Any, runs: list[Run], rules: Sequence[Rect], trace: Trace) -> list[Run]:
    boxes = chain(drawn_boxes(rules, trace.strokes.sloped), pictured_boxes(page, trace.pictures))
    return with_bullets(with_boxes(runs, boxes), trace.dots)


def _rules(trace: Trace | None) -> list[Rect]:
    """The lying and the standing bars that a page paints, but for those that strike text out."""
    return [bar.box for bar in trace.strokes.bars() if bar.box not in trace.strokes.striking] if trace else []


def _valueless(text: str) -> str:
    if text.count("\ufffd") > FEW_UNKNOWN_SHARE * len(text):
        return "Some letters of this page have no value in the file, and cannot be found or quoted."
    return ""


def _rejected(correction: Correction) -> Iterator[Run]:
    """The words that the file says and does not show, which are not read."""
    for words, (x, y) in correction.rejected:
        box = x, y, x, y
        yield Run([Word(word, box, 1.0, bold=False, mono=False, kind=Kind.OTHER) for word in words], -1, (1, 0))


def _score(words: list[list[float]], doubtful: Sequence[tuple[float, float]]) -> None:
    """Say of each word, as of one that was recognised, how sure it is: not at all, where a letter of it is doubtful."""
    scores = [float(not any(x0 <= x <= x1 and y0 <= y <= y1 for x, y in doubtful)) for _, _, x0, y0, x1, y1, _ in words]
    if not all(scores):
        for word, score in zip(words, scores, strict=True):
            word[6] = score


def _as_picture(page: Any, drawer: Drawer, rows: Rows) -> tuple[str, str, Picture]:
    """Source, problem and picture of a page whose text layer is empty or next to nothing."""
    if not rows.text and _is_blank(page):
        return "empty", "", None
    return "unreadable", *_drawn(page, drawer, "This page")


def _drawn(page: Any, drawer: Drawer, what: str, known: Sequence[Rect] = ()) -> tuple[str, Picture]:
    """Why the page cannot be read as a picture, as a sentence; the picture where it can."""
    try:
        return "", drawer.draw(page, known)
    except Unreadable as why:
        return f"{what} is a picture {why}", None


def _rest_as_picture(page: Any, drawer: Drawer, known: Sequence[Rect], rows: Rows) -> tuple[str, Picture]:
    """Problem and picture of what is drawn beside `known` words; a figure in a text, mostly a drawing, is not read."""
    if not _has_unread_ink(page, known):
        return "", None
    if not _is_sparse(page, known):
        return "Part of this page is a picture that was not read.", None
    problem, picture = _drawn(page, drawer, "Part of this page", known)
    for word in rows.words if picture else ():
        word[6] = 1.0 if word[6] == UNKNOWN else word[6]
    return problem, picture


def _known(runs: Iterable[Run]) -> Iterator[Rect]:
    """Where words stand that are read, or were struck out and shall not be read from the picture."""
    return (word.box for run in runs for word in run.words if word.kind in (None, Kind.STRUCK))


def _runs(page: Any, blocks: list[dict[str, Any]], words: Iterable[Any]) -> Iterator[Run]:
    """MuPDF's lines in its order, on the page as it is shown."""
    by_line: dict[tuple[int, int], list[Any]] = {}
    for word in words:
        by_line.setdefault((word[5], word[6]), []).append(word)
    turn = page.rotation_matrix if page.rotation else None
    for (block, at), line in lines_of(blocks).items():
        if found := list(_inked(line["spans"], by_line.get((block, at), ()), turn)):
            yield Run(found, block, _direction(line["dir"], turn), at)


def _with_whole_words(runs: list[Run], blocks: list[dict[str, Any]], near_em: float) -> list[Run]:
    """The runs, those as one between which MuPDF parted a word, as before a vowel sign in Hindi."""
    lines = lines_of(blocks)
    whole: list[Run] = []
    box: Rect = (0, 0, 0, 0)
    for run in runs:
        line, before = lines.get(run.place), lines.get((run.block, run.line - 1))
        if whole and line and before and whole[-1].block == run.block and _is_one_word(before, line, box, near_em):
            (*earlier, last), (first, *later) = whole[-1].words, run.words
            joined = last._replace(text=last.text + first.text, box=union((last.box, first.box)))
            joined = joined._replace(kind=last.kind and first.kind)
            whole[-1] = whole[-1]._replace(words=[*earlier, joined, *later], direction=run.direction)
            box = union((box, line["bbox"]))
        else:
            whole.append(run)
            box = line["bbox"] if line else (0, 0, 0, 0)
    return whole


def _is_one_word(line: dict[str, Any], following: dict[str, Any], box: Rect, near_em: float) -> bool:
    """Whether a line goes on with the word at the end of the one before; `box` is around what that goes on with."""
    letters = line["spans"][-1]["text"][-1:], following["spans"][0]["text"][:1]
    near = near_em * following["spans"][0]["size"]
    return (
        all(one and unicodedata.category(one) in ("Lo", "Mc", "Mn") for one in letters)
        and all(unicodedata.bidirectional(one) in ("L", "NSM") for one in letters)
        and following["bbox"][0] - box[2] < near
        and box[0] - following["bbox"][2] < near
        and same_row(box, following["bbox"])
    )


def _direction(step: tuple[float, float], turn: Any) -> tuple[int, int]:
    """The nearest of the four main directions of a line as it is shown, or SLOPED."""
    x, y = step
    if min(abs(x), abs(y)) > SLOPE:
        return SLOPED
    if turn is not None:
        x, y = x * turn.a + y * turn.c, x * turn.b + y * turn.d
    if abs(x) >= abs(y):
        return (1 if x >= 0 else -1), 0
    return 0, (1 if y > 0 else -1)


def _ink_of(span: dict[str, Any]) -> Ink:
    if span["alpha"] <= TRANSPARENT:
        return Ink.NONE
    if span["size"] <= TINY_PT:
        return Ink.TINY
    color = span["color"]
    if color and min(color >> 16 & 255, color >> 8 & 255, color & 255) >= PALE:
        return Ink.PALE
    return Ink.PLAIN


def _style_of(span: dict[str, Any]) -> tuple[float, bool, bool]:
    """Font size in points, bold, fixed-width."""
    flags = span["flags"]
    bold = flags & pymupdf.TEXT_FONT_BOLD or "bold" in span["font"].lower()
    return span["size"], bool(bold), bool(flags & pymupdf.TEXT_FONT_MONOSPACED)


def _inked(spans: list[dict[str, Any]], words: Sequence[Any], turn: Any) -> Iterator[Word]:
    """Each word with the style of its span; one that runs through several is parted where the ink changes."""
    inks, styles = [_ink_of(span) for span in spans], [_style_of(span) for span in spans]
    ends = list(accumulate(len(span["text"].translate(_DELIMITERS)) for span in spans))
    others = drawn_signs(spans)
    last = len(spans) - 1
    index = at = 0  # span, and characters before this word in the line, white space not counted
    for x0, y0, x1, y1, text, *_ in words:
        box = (x0, y0, x1, y1) if turn is None else tuple(pymupdf.Rect(x0, y0, x1, y1) * turn)
        for rest, rest_box in _clean(text, box):
            rest = "".join(others.get(at + n, sign) for n, sign in enumerate(rest)) if others else rest
            while index < last and at >= ends[index]:
                index += 1
            first = index
            while index < last and at + len(rest) > ends[index]:
                cut = ends[index] - at
                index += 1
                if inks[index] is not inks[first] and cut:
                    head_box, rest_box = _split(rest_box, cut / len(rest))
                    yield Word(rest[:cut], head_box, *styles[first], ink=inks[first])
                    rest, at, first = rest[cut:], at + cut, index
            yield Word(rest, rest_box, *styles[first], ink=inks[first])
            at += len(rest)


def _clean(text: str, box: Rect) -> Iterable[tuple[str, Rect]]:
    """`text` without lone surrogates and soft hyphens in figures, parted at the white space that MuPDF takes for
    letters.
    """
    if text.isascii():
        return ((text, box),)
    return _parts(_DRAWN_HYPHEN.sub("-", _SURROGATE.sub("\ufffd", text)), box)


def _parts(text: str, box: Rect) -> Iterator[tuple[str, Rect]]:
    for match in re.finditer(r"\S+", text):
        _, right = _split(box, match.start() / len(text))
        left, _ = _split(right, (match.end() - match.start()) / (len(text) - match.start()))
        yield match.group(), left


def _split(box: Rect, share: float) -> tuple[Rect, Rect]:
    middle = box[0] + share * (box[2] - box[0])
    return (box[0], box[1], middle, box[3]), (middle, box[1], box[2], box[3])


def _at_sight(page: Any, runs: Sequence[Run], *, keep_invisible: bool) -> list[Run]:
    """The runs, with why words are not read that their place, size or ink alone tells of.

    With `keep_invisible` text without ink is what was recognised on a scan.
    """
    wide, high = 2 * page.rect.width, 2 * page.rect.height

    def kind(word: Word, lying: bool) -> Kind | None:
        x0, y0, x1, y1 = word.box
        if not (0 <= x0 + x1 <= wide and 0 <= y0 + y1 <= high):
            return Kind.NO_CONTEXT  # its centre is
        # letters may be pressed flat, too
        if word.ink is Ink.TINY or (word.ink is not Ink.NONE and (y1 - y0 if lying else x1 - x0) <= TINY_PT):
            return Kind.TINY
        return Kind.NONE if word.ink is Ink.NONE and not keep_invisible else None

    return [
        run._replace(words=[word._replace(kind=kind(word, bool(run.direction[0]))) for word in run.words])
        for run in runs
    ]


def _visible(runs: Iterable[Run], hidden: Counter[str], *, void: bool) -> Iterator[Run]:
    """The runs without the words that are not read, which are counted in `hidden`; on a `void` page none are."""
    for run in runs:
        shown: list[Word] = []
        before: Kind | None = None
        for word in run.words:
            kind = word.kind or (Kind.STRUCK if void else None)
            if kind is not None:
                hidden[kind.value] += len(word.text)
            elif before is not Kind.STRUCK:
                shown.append(word)
            elif shown and _CLOSING.fullmatch(word.text):  # it closes what is left
                shown[-1] = shown[-1]._replace(text=shown[-1].text + word.text)
                continue
            else:
                shown.append(word._replace(gap=" "))
            before = kind
        if shown:
            yield run._replace(words=shown)


def _once(runs: Iterable[Run]) -> Iterator[Run]:
    """The runs without the words that are printed over themselves, to be bold or to have a shadow."""
    printed: set[tuple[str, int, int]] = set()
    for run in runs:
        words = []
        for word in run.words:
            x, y = (round(edge / (SHADOW_EM * word.size)) for edge in word.box[:2])
            near = ((word.text, x + right, y + down) for right in (-1, 0, 1) for down in (-1, 0, 1))
            if printed.isdisjoint(near):
                words.append(word)
            printed.add((word.text, x, y))
        if words:
            yield run._replace(words=words)


def _is_searchable_scan(page: Any, blocks: list[dict[str, Any]]) -> bool:
    """Whether recognised text lies invisibly under a picture over the page, as scanners make it."""
    spans = [span for line in lines_of(blocks).values() for span in line["spans"]]
    invisible = sum(len(span["text"]) for span in spans if _ink_of(span) is Ink.NONE)
    if 2 * invisible <= sum(len(span["text"]) for span in spans):
        return False
    return _picture_share(page) >= PICTURE_SHARE


def _wants_ocr(page: Any, text: str) -> bool:
    letters = len(text) - text.count(" ") - text.count("\n") - text.count("\t")
    if letters == 0 or text.count("\ufffd") > UNKNOWN_SHARE * letters:
        return True
    return letters < FEW_CHARS and _picture_share(page) >= PICTURE_SHARE


def _legible(rows: Rows, hidden: Counter[str]) -> Rows:
    """The rows; none where no language is written so, as then a font draws other letters than the file names."""
    text = "".join(rows.text.split())
    if len(text) < FEW_CHARS or sum("\xc0" <= sign <= "\xff" for sign in text) <= ACCENTED_SHARE * len(text):
        return rows
    hidden[Kind.OTHER.value] += len(text)
    return build([], FEW_CHARS, FEW_CHARS)


def _picture_share(page: Any) -> float:
    """The share of the page that its pictures cover together, a scan in strips too."""
    return sum(_share(page, box) for box in _pictures(page))


def _pictures(page: Any) -> list[Any]:
    return [pymupdf.Rect(info["bbox"]) & page.rect for info in page.get_image_info()]


def _share(page: Any, box: Any) -> float:
    return float(abs(pymupdf.Rect(box)) / max(1.0, abs(page.rect)))


def _has_unread_ink(page: Any, known: Sequence[Rect]) -> bool:
    """Whether most of the ink of the page, or of a picture on it, is no ink of its `known` words, and may be print.

    A picture over a page of few words is read whatever its ground: a scan may have black edges.
    """
    parts = [box for box in _pictures(page) if _share(page, box) > LOGO_SHARE][:MAX_PARTS]
    if _is_sparse(page, known):  # a stamp, and the rest may be drawn letter by letter
        if sum(_share(page, box) for box in parts) >= PICTURE_SHARE:
            return True
        parts.append(page.rect)
    if not parts:
        return False
    picture, zoom = _grey(page)
    bare, ground = pymupdf.Pixmap(picture), _ground(picture.samples)
    for box in known:
        bare.clear_with(ground, (pymupdf.Rect(box) * zoom).irect & picture.irect)
    return any(_is_print(*(_cut(one, pymupdf.Rect(part) * zoom) for one in (picture, bare))) for part in parts)


def _is_sparse(page: Any, known: Sequence[Rect]) -> bool:
    return sum(_share(page, box) for box in known) < SPARSE_SHARE


def _is_print(whole: bytes, bare: bytes) -> bool:
    ground = _ground(whole)
    paper, near = (bytes(range(max(0, ground - step), min(255, ground + step) + 1)) for step in (NOISE, INK_STEP))
    ink, rest = (len(samples.translate(None, near)) for samples in (whole, bare))
    is_paper = len(whole.translate(None, paper)) < (1 - PAPER) * len(whole)
    return is_paper and rest > max(MIN_INK * len(whole), ink / 2)


def _ground(samples: bytes) -> int:
    return Counter(samples).most_common(1)[0][0] if samples else 255


def _cut(picture: Any, part: Any) -> bytes:
    (x0, y0, x1, y1), samples, wide = part.irect & picture.irect, picture.samples_mv, picture.stride
    return b"".join(samples[y * wide + x0 : y * wide + x1] for y in range(y0, y1))


def _grey(page: Any) -> tuple[Any, Any]:
    """A small picture of the page in grey, and how much larger than points it is."""
    zoom = fitting_zoom(page.rect, 1.0, BLANK_CHECK_PIXELS)
    matrix = pymupdf.Matrix(zoom, zoom)
    return page.get_pixmap(matrix=matrix, colorspace=pymupdf.csGRAY, alpha=False), matrix


def _is_blank(page: Any) -> bool:
    """Whether nothing but its ground, and perhaps thin horizontal rules, can be seen."""
    picture, matrix = _grey(page)
    samples = picture.samples
    empty = samples[:1] * picture.width
    inked_in_a_row = 0
    for start in range(0, picture.height * picture.stride, picture.stride):
        inked_in_a_row = 0 if samples[start : start + picture.width] == empty else inked_in_a_row + 1
        if inked_in_a_row > RULE_PT * matrix.a:
            return False
    return True


def widen(page: Any, text: str, words: Sequence[list[float]]) -> None:
    """Move the right edges of `words` with combining marks to their last glyph's end, unless the page is turned."""
    marks = {sign for sign in set(text) if unicodedata.category(sign).startswith("M")}
    if not marks or page.rotation:
        return
    marked = [word for word in words if not marks.isdisjoint(text[int(word[0]) : int(word[1])])]
    glyphs: dict[int, list[Rect]] = {}
    for span in page.get_texttrace():
        for code, _, _, box in span["chars"]:
            if box[2] - box[0] > THIN_PT and chr(max(code, 0)).strip():
                glyphs.setdefault(int(box[0]), []).append(box)
    for word in marked:
        word[4] = round(_end(word, glyphs), 2)


def _end(word: Sequence[float], glyphs: dict[int, list[Rect]]) -> float:
    """The right edge of the glyphs that follow one another from the word's own."""
    _, _, _, top, right, bottom, _ = word
    while True:
        near = [
            box for column in range(int(right - NEAR_PT), int(right + NEAR_PT) + 1) for box in glyphs.get(column, ())
        ]
        ends = [
            x1 for x0, y0, x1, y1 in near if abs(x0 - right) < NEAR_PT < x1 - right and top < (y0 + y1) / 2 < bottom
        ]
        if not ends:
            return right
        right = max(ends)
