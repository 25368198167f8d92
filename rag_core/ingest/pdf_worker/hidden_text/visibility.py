"""Says for each word of a page whether it is read, and why not: by its own ink first, then by what was painted, then by
a picture.

Each step costs more than the one before it, and is asked only about the words that the one before it left in doubt.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

import pymupdf

from ..glyphs.actual_text import Glyph
from ..glyphs.corrected import Correction
from ..glyphs.fonts import Fonts, bare_name
from ..words import Bands, Ink, Kind, Rect, Run, Word, is_within, lines_of, middle_of, overlap
from .rendering import Question, unseen
from .strikethrough import Sign, Signs, parted, struck
from .trace import Trace

MARK_SIZE = 2.0  # times the font size of the words that it stands over
_Place = tuple[int, int]  # the number of a run, and of a word in it


def examined(
    page: Any,
    text_page: Any,
    runs: list[Run],
    max_pixels: int,
    fonts: Fonts,
    trace: Trace,
    correction: Correction | None,
) -> tuple[list[Run], list[Rect]]:
    """The runs, with why words are not read that could be so at sight, and the short bars that are painted.

    Words that are struck out in part are parted.
    """
    found = [[word.kind for word in run.words] for run in runs]
    if not any(None in kinds for kinds in found):
        return runs, []
    letters = cache(partial(_letters, page, text_page))
    places = [(run, index) for run, line in enumerate(runs) for index in range(len(line.words))]
    for run, index in _otherwise(page, runs, places, trace, fonts, correction):
        found[run][index] = found[run][index] or Kind.OTHER
    doubtful = [
        (run, index)
        for run, index in places
        if found[run][index] is None and _is_doubtful(runs[run].words[index], trace)
    ]
    shared = _shared(runs, places, doubtful) if doubtful else {}
    asked = [_question(runs[run], index, letters(), trace) for run, index in doubtful]
    for question, place in zip(asked, doubtful, strict=True):
        if place in shared:
            question.texts = _texts_of(question.box, *shared[place], trace)
    for (run, index), is_unseen in zip(doubtful, unseen(page, asked, max_pixels), strict=True):
        found[run][index] = Kind.UNSEEN if is_unseen else None
    seen = [
        line._replace(words=[word._replace(kind=kind) for word, kind in zip(line.words, kinds, strict=True)])
        for line, kinds in zip(runs, found, strict=True)
    ]
    crossed = struck(page, seen, trace.strokes, letters)
    for number in {run for run, _ in crossed}:
        line = seen[number]
        seen[number] = line._replace(words=parted(line.words, [(number, at) in crossed for at in range(line.signs)]))
    return seen, trace.bars


def _is_doubtful(word: Word, trace: Trace) -> bool:
    return word.ink is Ink.PALE or (word.ink is Ink.PLAIN and _matters(word.text) and trace.is_suspect(word.box))


def _otherwise(
    page: Any,
    runs: Sequence[Run],
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
        here = [(run, index) for run, index in places if is_within(x, y, runs[run].words[index].box)]
        with_it = [(run, index) for run, index in here if _plain(said) in _plain(runs[run].words[index].text)]
        for run, index in with_it or here:  # the boxes of words overlap, and a word without the letter is another
            yield run, index
            yield from ((run, beside) for beside in _figures_beside(runs[run].words, index))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKD", text)


def _figures_beside(words: Sequence[Word], index: int) -> list[int]:
    """The figures to which a sign belongs that stands by itself: without it they would say something else."""
    if any(map(str.isalnum, words[index].text)):
        return []
    return [
        beside
        for beside in (index - 1, index + 1)
        if 0 <= beside < len(words) and any(map(str.isdigit, words[beside].text))
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


def _shared(runs: Sequence[Run], places: Sequence[_Place], doubtful: Sequence[_Place]) -> dict[_Place, tuple[int, int]]:
    """Of the doubtful words in one place with others, which of how many each is in the order of painting."""
    boxes, at = Bands(), dict[Rect, list[_Place]]()
    for place in places:
        box = runs[place[0]].words[place[1]].box
        if box not in at:
            boxes.add(box)
        at.setdefault(box, []).append(place)
    found = {}
    for place in doubtful:
        word = runs[place[0]].words[place[1]]
        here = sorted(
            other for box in {word.box, *boxes.near(word.box)} if _in_place(box, word.box) for other in at[box]
        )
        if any(runs[run].words[index].text != word.text for run, index in here):
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
    return {
        place: [
            Sign(sign["c"], *_shown(sign["bbox"], sign["origin"], turn), span["size"])
            for span in line["spans"]
            for sign in span["chars"]
            if sign["c"].strip()
        ]
        for place, line in lines_of(text_page.extractRAWDICT()["blocks"]).items()
    }


def _shown(box: Rect, origin: tuple[float, float], turn: Any) -> tuple[Rect, tuple[float, float]]:
    return (box, origin) if turn is None else (tuple(pymupdf.Rect(box) * turn), tuple(pymupdf.Point(origin) * turn))


def _question(run: Run, index: int, letters: Signs, trace: Trace) -> Question:
    word = run.words[index]
    signs = letters.get(run.place, ())
    start = sum(len(other.text) for other in run.words[:index])
    own = signs[start : start + len(word.text)]
    if "".join(sign.text for sign in own) != word.text:  # a sign that is no letter to the one list and is to the other
        own = ()
    boxes = [sign.box for sign in own if sign.text.isalnum()]
    return Question(word.box, boxes, word.size, under_mark=_is_under_mark(word, trace.marks))


def _is_under_mark(word: Word, marks: Sequence[tuple[Rect, float]]) -> bool:
    """Whether a watermark's letters stand over a word without digits, which can be made out all the same."""
    if any(map(str.isdigit, word.text)):
        return False
    return any(size >= MARK_SIZE * word.size and overlap(word.box, box) for box, size in marks)
