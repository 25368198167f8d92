"""Says for each word of a page whether it is read, and why not: by its own ink first, then by what was painted, then by
a picture.

Each step costs more than the one before it, and is asked only about the words that the one before it left in doubt.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

import pymupdf

from ..glyphs.actual_text import Glyph
from ..glyphs.corrected import Correction
from ..glyphs.fonts import Fonts, bare_name
from ..words import Bands, Rect, Word, is_within, meet, middle_of
from .hidden import TINY_PT, Ink, InkedRun, InkedWord, Kind
from .rendering import Question, unseen
from .strikethrough import Sign, Signs, parted, struck
from .trace import Trace

MARK_SIZE = 2.0  # times the font size of the words that it stands over
_Place = tuple[int, int]  # the number of a run, and of a word in it
Seen = tuple[list[InkedRun], list[list[Kind | None]]]


def reasons(
    page: Any,
    text_page: Any,
    runs: Sequence[InkedRun],
    max_pixels: int,
    fonts: Fonts,
    trace: Trace | None,
    correction: Correction | None,
    *,
    keep_invisible: bool,
) -> tuple[list[InkedRun], list[list[Kind | None]], list[Rect]]:
    """The runs, why each word is not read, None for what can be seen, and the short bars that are painted.

    Words that are struck out in part are parted. `trace` is None where the page has no words; with `keep_invisible`
    text without ink is what was recognised on a scan.
    """
    width, height = page.rect.width, page.rect.height
    found = [
        [_at_sight(word, ink, way, width, height, keep_invisible) for word, ink in words] for words, _, way in runs
    ]
    if not trace or not any(None in kinds for kinds in found):
        return list(runs), found, []
    letters = cache(partial(_letters, page, text_page))
    places = [(run, index) for run, (words, _, _) in enumerate(runs) for index in range(len(words))]
    for run, index in _otherwise(page, runs, places, trace, fonts, correction):
        found[run][index] = found[run][index] or Kind.OTHER
    doubtful = [
        (run, index) for run, index in places if found[run][index] is None and _is_doubtful(*runs[run][0][index], trace)
    ]
    if doubtful:
        shared = _shared(runs, places, doubtful)
        asked = [_question(runs[run], index, letters(), trace) for run, index in doubtful]
        for question, place in zip(asked, doubtful, strict=True):
            if place in shared:
                rank, words = shared[place]
                question.texts = _texts_of(question.box, rank, words, trace)
        for (run, index), is_unseen in zip(doubtful, unseen(page, asked, max_pixels), strict=True):
            if is_unseen:
                found[run][index] = Kind.UNSEEN
    return *_without_struck(runs, found, struck(page, runs, trace.strokes, letters)), trace.bars


def _without_struck(
    runs: Sequence[InkedRun], found: list[list[Kind | None]], crossed: Collection[tuple[int, int]]
) -> Seen:
    """The same, where these letters are crossed out, each given by its run and its place in it."""
    shown = list(runs)
    for run in {run for run, _ in crossed}:
        words, place, way = runs[run]
        marks = [(run, at) in crossed for at in range(sum(len(word.text) for word, _ in words))]
        parts, found[run] = parted(words, found[run], marks)
        shown[run] = parts, place, way
    return shown, found


def _is_doubtful(word: Word, ink: Ink, trace: Trace) -> bool:
    return ink is Ink.PALE or (ink is Ink.PLAIN and _matters(word.text) and trace.is_suspect(word.box))


def _otherwise(
    page: Any,
    runs: Sequence[InkedRun],
    places: Sequence[_Place],
    trace: Trace,
    fonts: Fonts,
    correction: Correction | None,
) -> Iterator[_Place]:
    """Where words say other letters, digits or signs than are shown."""
    signs = fonts.signs(trace.fonts)
    letters = {
        address: (font, {one for one in used if (address, one) not in signs})
        for address, (font, used) in trace.fonts.items()
    }
    false = fonts.false(letters)
    for address, glyphs in trace.crowded.items():
        if glyphs:
            false.setdefault(bare_name(str(trace.fonts[address][0].m_internal.name)), set()).update(glyphs)
    middles = _false_glyphs(page, false, correction.settled if correction else ()) if false else []
    middles += [(middle, "") for middle in (correction.false if correction else ())]
    for (x, y), said in middles:
        here = [(run, index) for run, index in places if is_within(x, y, runs[run][0][index][0].box)]
        with_it = [(run, index) for run, index in here if _plain(said) in _plain(runs[run][0][index][0].text)]
        for run, index in with_it or here:  # the boxes of words overlap, and a word without the letter is another
            yield run, index
            yield from ((run, beside) for beside in _figures_beside(runs[run][0], index))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKD", text)


def _figures_beside(words: Sequence[InkedWord], index: int) -> list[int]:
    """The figures to which a sign belongs that stands by itself: without it they would say something else."""
    if any(map(str.isalnum, words[index][0].text)):
        return []
    return [
        beside
        for beside in (index - 1, index + 1)
        if 0 <= beside < len(words) and any(map(str.isdigit, words[beside][0].text))
    ]


def _false_glyphs(
    page: Any, false: Mapping[str, set[Glyph]], settled: Sequence[tuple[float, float]]
) -> list[tuple[tuple[float, float], str]]:
    """The middles of these glyphs, as the page is shown, with what they say; but for those that are `settled`."""
    found = []
    for span in page.get_texttrace():
        glyphs = false.get(bare_name(span["font"]), ())
        for code, number, _, box in span["chars"] if glyphs else ():
            if (number, code) in glyphs:
                shown = tuple(pymupdf.Rect(box) * page.rotation_matrix) if page.rotation else box
                if not any(is_within(*middle, shown) for middle in settled):
                    found.append((middle_of(shown), chr(max(0, code))))
    return found


def _at_sight(
    word: Word, ink: Ink, way: tuple[int, int], width: float, height: float, keep_invisible: bool
) -> Kind | None:
    x0, y0, x1, y1 = word.box
    if not (0 <= x0 + x1 <= 2 * width and 0 <= y0 + y1 <= 2 * height):
        return Kind.NO_CONTEXT  # its centre is
    # letters may be pressed flat, too
    if ink is Ink.TINY or (ink is not Ink.NONE and (y1 - y0 if way[0] else x1 - x0) <= TINY_PT):
        return Kind.TINY
    return Kind.NONE if ink is Ink.NONE and not keep_invisible else None


def _shared(
    runs: Sequence[InkedRun], places: Sequence[_Place], doubtful: Sequence[_Place]
) -> dict[_Place, tuple[int, int]]:
    """Of the doubtful words in one place with others, which of how many each is in the order of painting."""
    boxes, at = Bands(), dict[Rect, list[_Place]]()
    for place in places:
        box = runs[place[0]][0][place[1]][0].box
        if box not in at:
            boxes.add(box)
        at.setdefault(box, []).append(place)
    found = {}
    for place in doubtful:
        word = runs[place[0]][0][place[1]][0]
        here = sorted(
            other for box in {word.box, *boxes.near(word.box)} if _in_place(box, word.box) for other in at[box]
        )
        if any(runs[run][0][index][0].text != word.text for run, index in here):
            found[place] = here.index(place), len(here)
    return found


def _texts_of(box: Rect, rank: int, words: int, trace: Trace) -> frozenset[int]:
    """The page's texts that painted the word of this rank among the `words` in its place."""
    texts = [number for number, text in enumerate(trace.texts) if _in_place(text, _middle(box))]
    if len(texts) == words:
        return frozenset(texts[rank : rank + 1])
    # words in several texts, or texts drawn twice: what was painted last is one thing, all that was painted before it
    # another
    return frozenset(texts[-1:] if rank == words - 1 else texts[:-1])


def _middle(box: Rect) -> Rect:
    x, y = middle_of(box)
    return x - 0.5, y - 0.5, x + 0.5, y + 0.5


def _in_place(one: Rect, other: Rect) -> bool:
    """Whether two boxes cover each other by half of the smaller one."""
    if one == other:
        return True
    width, height = min(one[2], other[2]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[1], other[1])
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return width > 0 and height > 0 and width * height > 0.5 * min(areas)


def _matters(text: str) -> bool:
    """Whether `text` says anything: dashes, dots and lines to write on do not, and rules often stand in for them."""
    return any(sign.isalnum() or sign == "%" or unicodedata.category(sign) in ("Sc", "Sm") for sign in text)


def _letters(page: Any, text_page: Any) -> Signs:
    """The characters of each line but blanks, as the page is shown."""
    turn = page.rotation_matrix if page.rotation else None
    found: dict[tuple[int, int], list[Sign]] = {}
    for block in text_page.extractRAWDICT()["blocks"]:
        for index, line in enumerate(block.get("lines", ())):
            found[block["number"], index] = [
                Sign(sign["c"], *_shown(sign["bbox"], sign["origin"], turn), span["size"])
                for span in line["spans"]
                for sign in span["chars"]
                if sign["c"].strip()
            ]
    return found


def _shown(box: Rect, origin: tuple[float, float], turn: Any) -> tuple[Rect, tuple[float, float]]:
    return (box, origin) if turn is None else (tuple(pymupdf.Rect(box) * turn), tuple(pymupdf.Point(origin) * turn))


def _question(run: InkedRun, index: int, letters: Signs, trace: Trace) -> Question:
    words, place, _ = run
    word = words[index][0]
    signs = letters.get(place, ())
    start = sum(len(other.text) for other, _ in words[:index])
    own = signs[start : start + len(word.text)]
    if "".join(sign.text for sign in own) != word.text:  # a sign that is no letter to the one list and is to the other
        own = ()
    boxes = [sign.box for sign in own if sign.text.isalnum()]
    return Question(word.box, boxes, word.size, under_mark=_is_under_mark(word, trace.marks))


def _is_under_mark(word: Word, marks: Sequence[tuple[Rect, float]]) -> bool:
    """Whether a watermark's letters stand over a word without digits, which can be made out all the same."""
    if any(map(str.isdigit, word.text)):
        return False
    return any(
        size >= MARK_SIZE * word.size and (both := meet(word.box, box))[0] < both[2] and both[1] < both[3]
        for box, size in marks
    )
