"""Says which letters of a page are crossed out: by a bar through them, a cross over their lines, or an annotation that
strikes them.

`Strokes` notes lines and thin boxes while the painting of a page is walked over. A bar strikes letters out where it
runs through the middle of them and ends about where they end, or through the middle of all cells of a row. Underlines
lie below, rules of tables and lines of charts run on beside the text, and a minus, a leader or a dash stands beside it.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import pymupdf
from pymupdf import mupdf

from ..devices import call_back
from ..words import (
    CELL_GAP_EM,
    SLOPED,
    Ink,
    Kind,
    Rect,
    Run,
    Word,
    band_of,
    is_within,
    meet,
    middle_of,
    overlap,
    turned,
    union,
)

THICK_PT = 8.0  # a thicker bar strikes out nothing but the largest of headlines
COVER_PT = 2.0  # a thinner one covers no other
SLIM = 2.0  # times as long as thick is a bar, at least
SLOPED_PT = 4.0  # a line that rises by less is drawn by hand along a row
LINE_BYTES, BOX_BYTES = 34, 60  # bytes of a single line, and of a box with its four corners, packed
PATH_BYTES = 1_500  # what is walked over of one path of a PDF, packed; charts and maps have longer ones
PAGE_BYTES = 4_000  # the same of all on a page: each corner is a call from MuPDF
ROW_BYTES = 16_000  # the same of those that lie on a row
# the same of pages that MuPDF lays out: it strikes a paragraph out by one path, and draws nothing else
LAID_OUT_BYTES = 1_000_000
FAINT = 0.2  # opacity of what nobody sees over print
PALE = 224  # lowest channel of a colour that does not show on white paper
GAP_PT = 3.0  # between bars on one height that strike out one text: programs draw one for each word, or part of one
DRAWN_BARS, DRAWN_SLOPED = 500, 20  # more are a drawing; the maps tried have 1,000 and 26
MOST = 5_000  # bars, and sloped lines; more are a drawing

# In parts of the font size.
# where a bar through the middle lies above the baseline: the programs tried strike at 0.2 to 0.4
LOW, HIGH = 0.08, 0.56
THICKNESS = 0.3  # a thicker bar covers the text, or is its ground
BEYOND = 1.0  # by which a bar may run on beside the text, twice that where none stands beside it; charts' run further
EXACT = 0.06  # between the end of a bar and the edge of a letter where a program struck out just these letters
DRAWN_BEYOND = 0.1  # the same in a drawing, as of a map, whose lines run through names
ONE_BEYOND, ONE_THICKNESS = 0.3, 0.12  # the same for a single letter, since letters of mathematics have bars
BASELINE = 0.2  # share of a word's height below its baseline
INNER = 0.2  # share of a row's height above and below that no bar through its middle touches
ON_TEXT = 0.35  # share of a bar that must lie on text: one through a row of a table lies on its gaps, too
MOST_OF_WORD, FEW = 0.7, 2  # a bar that leaves out no more than so many letters of a word was drawn by hand
CORNERS = 0.15  # by which the corners of two sloped lines may differ that make a cross, in parts of its size
CROSS_WIDTH, CROSS_HEIGHT = 0.6, 0.5  # shares of a cross that the text under it fills
LINE_WIDTH, LINE_HEIGHT, LINE_FILLED = 0.85, 0.7, 0.35  # shares of what lies under a single line; charts have less
LINE_ROWS = 3  # under a single line at least
OUTSIDE = 0.2  # share of the crossed rows' words that may lie outside
MOST_SLOPED = 100  # lines of a drawing

Segment = tuple[float, float, float, float]
Direction = tuple[int, int]
Colour = tuple[int, int, int]  # red, green and blue, from 0 to 255
Place = tuple[int, int]  # the number of a run, and of a letter in it, blanks not counted, or of a word


class Outline(mupdf.FzPathWalker2):  # type: ignore[misc]
    """The corners of each part of a path, in points of the page as it is shown. Of a curve only the end counts."""

    def __init__(self, path: Any, ctm: Any) -> None:
        super().__init__()
        call_back(self, ("moveto", "lineto", "curveto", "closepath"))
        self._ctm = ctm
        self.parts: list[list[tuple[float, float]]] = []
        self._straight = True
        mupdf.ll_fz_walk_path(path, self.m_internal, self.m_internal)

    def is_rectangle(self) -> bool:
        """Whether it is one upright rectangle, which MuPDF does not say of one whose last side is drawn twice."""
        ctm = self._ctm
        if not self._straight or len(self.parts) != 1 or ((ctm.b or ctm.c) and (ctm.a or ctm.d)):
            return False
        points = [
            point for point, after in zip(self.parts[0], [*self.parts[0][1:], None], strict=True) if point != after
        ]
        if points and points[0] == points[-1]:
            points.pop()
        steps = zip(points, [*points[1:], *points[:1]], strict=True)
        return len(points) == 4 and all((a[0] == b[0]) != (a[1] == b[1]) for a, b in steps)

    def moveto(self, _ctx: Any, x: float, y: float) -> None:
        self.parts.append([self._shown(x, y)])

    def lineto(self, _ctx: Any, x: float, y: float) -> None:
        if self.parts:
            self.parts[-1].append(self._shown(x, y))

    def curveto(self, _ctx: Any, *numbers: float) -> None:
        self._straight = False
        if self.parts:
            self.parts[-1].append(self._shown(*numbers[-2:]))

    def closepath(self, _ctx: Any) -> None:
        if self.parts:
            self.parts[-1].append(self.parts[-1][0])

    def _shown(self, x: float, y: float) -> tuple[float, float]:
        ctm = self._ctm
        return x * ctm.a + y * ctm.c + ctm.e, x * ctm.b + y * ctm.d + ctm.f


class Bar(NamedTuple):
    """A bar along the rows, or the columns where it does not lie; `order` is its place in the order of painting."""

    box: Rect
    lying: bool
    pale: bool
    order: int


class Strokes:
    """Bars, sloped lines and opaque boxes in points of the page as shown; those `striking` strike text out."""

    def __init__(self, *, is_pdf: bool) -> None:
        self._bars: list[Bar] = []
        self.sloped: list[Segment] = []
        self.striking: set[Rect] = set()
        self._covers: list[tuple[int, Rect]] = []
        self._most = PATH_BYTES if is_pdf else LAID_OUT_BYTES
        self._left = {True: ROW_BYTES, False: PAGE_BYTES} if is_pdf else dict.fromkeys((True, False), LAID_OUT_BYTES)

    def note(
        self,
        path: Any,
        ctm: Any,
        box: Rect,
        width: float,
        colour: tuple[int, int, int] | None,
        alpha: float,
        order: int,
    ) -> None:
        """Note a path with this extent; `width` is that of its line as it is shown, 0 where it is filled."""
        if alpha < FAINT or len(self._bars) > MOST or box[0] > box[2] or box[1] > box[3]:
            return
        pale = colour is not None and min(colour) >= PALE
        thickness = min(box[2] - box[0], box[3] - box[1])
        size = mupdf.ll_fz_packed_path_size(path)
        if size <= (LINE_BYTES if width else BOX_BYTES) and (not width or thickness <= THICK_PT):
            if not width and thickness > COVER_PT and alpha > 1 - FAINT:
                self._covers.append((order, box))
            if thickness <= THICK_PT:
                self._bar(box, pale, order)
        elif width and size <= BOX_BYTES and mupdf.ll_fz_path_is_rect(path, ctm):  # a page may have hundreds of cells
            (x0, y0, x1, y1), edge = box, min(width, thickness)
            lying = (x0, y0, x1, y0 + edge), (x0, y1 - edge, x1, y1)
            for side in (*lying, (x0, y0, x0 + edge, y1), (x1 - edge, y0, x1, y1)):
                self._bar(side, pale, order)
        elif size <= min(self._most, self._left[thickness <= THICK_PT]):
            self._left[thickness <= THICK_PT] -= size
            self._parts(Outline(path, ctm).parts, box, width / 2, pale, order)

    def _parts(self, parts: list[list[tuple[float, float]]], box: Rect, half: float, pale: bool, order: int) -> None:
        """Note the bars that a path is made of: of a line, `half` as thick, its sides, and of a shape its parts."""
        around = [union((x, y, x, y) for x, y in part) for part in parts]
        # drawn by hand
        if half and len(parts) == 1 and min(around[0][2] - around[0][0], around[0][3] - around[0][1]) <= SLOPED_PT:
            x0, y0, x1, y1 = around[0]
            self._bar(meet((x0 - half, y0 - half, x1 + half, y1 + half), box), pale, order)
        elif half:
            for (x0, y0), (x1, y1) in (side for part in parts for side in pairwise(part)):
                if min(abs(x1 - x0), abs(y1 - y0)) <= SLOPED_PT:
                    line = min(x0, x1) - half, min(y0, y1) - half, max(x0, x1) + half, max(y0, y1) + half
                    self._bar(meet(line, box), pale, order)
                elif not pale and len(self.sloped) <= MOST:
                    self.sloped.append((x0, y0, x1, y1))
        else:
            for part in around:
                self._bar(meet(part, box), pale, order)

    def _bar(self, box: Rect, pale: bool, order: int) -> None:
        across, down = box[2] - box[0], box[3] - box[1]
        if 0 <= min(across, down) <= THICK_PT and max(across, down) >= SLIM * min(across, down):
            self._bars.append(Bar(box, across >= down, pale, order))

    def bars(self) -> Iterator[Bar]:
        last: Bar | None = None
        for bar in sorted(
            self._bars, key=lambda bar: (bar.lying, bar.pale, _height(bar), bar.box[0] if bar.lying else bar.box[1])
        ):
            if last and _goes_on(last, bar):
                last = Bar(union((last.box, bar.box)), bar.lying, bar.pale, max(last.order, bar.order))
                continue
            if last:
                yield last
            last = bar
        if last:
            yield last

    def are_a_drawing(self) -> bool:
        """Whether they are those of a map or the like: tables have as many bars, and none that slope."""
        return len(self._bars) > DRAWN_BARS and len(self.sloped) > DRAWN_SLOPED

    def stand_in(self, letter: Rect) -> bool:
        """Whether a bar stands within a letter, as those of its outline do."""
        x0, y0, x1, y1 = letter
        return any(
            x0 <= bar.box[0] and bar.box[2] <= x1 and y0 <= bar.box[1] and bar.box[3] <= y1
            for bar in self._bars
            if not bar.lying
        )

    def is_covered(self, bar: Bar) -> bool:
        """Whether an opaque box was painted over the middle of it afterwards."""
        x, y = middle_of(bar.box)
        return any(order > bar.order and box[0] < x < box[2] and box[1] < y < box[3] for order, box in self._covers)


def _height(bar: Bar) -> int:
    return round(2 * (bar.box[1] + bar.box[3] if bar.lying else bar.box[0] + bar.box[2]))


def _goes_on(one: Bar, other: Bar) -> bool:
    """Whether `other` lies on the same height, and begins where `one` ends."""
    same = (one.lying, one.pale, _height(one)) == (other.lying, other.pale, _height(other))
    axis = 0 if one.lying else 1
    return same and other.box[axis] - one.box[axis + 2] <= GAP_PT


class Sign(NamedTuple):
    """A letter, digit or mark: box, origin on its baseline and font size, in points as the page is shown."""

    text: str
    box: Rect
    origin: tuple[float, float]
    size: float


Signs = Mapping[tuple[int, int], Sequence[Sign]]  # for each line of MuPDF, by (block, line)
Line = tuple[int, Sequence[Sign], Run]  # the number of a run, its letters, and the run


def struck(page: Any, runs: Sequence[Run], strokes: Strokes, letters: Callable[[], Signs]) -> set[Place]:
    """The letters that are crossed out; `letters` is only asked where something may cross them out."""
    bars = list(_bars_through(strokes, runs))
    areas = list(_struck_areas(page))
    crossed = set(_crossed(strokes.sloped, runs))
    if not (bars or areas or crossed):
        return set()
    signs = letters()
    own = [_own(run, signs.get(run.place, ())) if run.direction != SLOPED else () for run in runs]
    found = set[Place]()
    for run, index in crossed:
        start = sum(len(word.text) for word in runs[run].words[:index])
        found.update((run, start + n) for n in range(len(runs[run].words[index].text)))
    for bar, near, whole in bars:
        if not strokes.is_covered(bar):
            drawn = strokes.are_a_drawing()
            lines = [(run, own[run], runs[run]) for run in near]
            marked = set(_under(bar, lines, DRAWN_BEYOND if drawn else BEYOND, whole=whole and not drawn))
            if 2 * sum(strokes.stand_in(own[run][at].box) for run, at in marked) > len(marked):
                continue  # the bars are parts of outlined letters
            found |= marked
            if marked:
                strokes.striking.add(bar.box)
    for area in areas:
        found.update(
            (run, at)
            for run, line in enumerate(own)
            for at, sign in enumerate(line)
            if is_within(*middle_of(sign.box), area)
        )
    return found


def parted(words: Sequence[Word], crossed: Sequence[bool]) -> list[Word]:
    """A run's words, parted where some letters are `crossed` out, with why each is not read."""
    parts: list[Word] = []
    start = 0
    for word in words:
        struck_here = crossed[start : start + len(word.text)]
        start += len(word.text)
        if word.kind is not None or not any(struck_here):
            parts.append(word)
        else:
            parts += [word._replace(kind=Kind.STRUCK)] if all(struck_here) else _pieces(word, struck_here)
    # a full stop that was left
    if not any(part.kind is None and any(map(str.isalnum, part.text)) for part in parts):
        parts = [part._replace(kind=part.kind or Kind.STRUCK) for part in parts]
    return parts


def _pieces(word: Word, crossed: Sequence[bool]) -> list[Word]:
    """The struck letters of a word, and the others, which are one word; in the order in which they begin."""
    x0, y0, x1, y1 = word.box
    found: list[tuple[int, Word]] = []
    for wanted, kind in ((True, Kind.STRUCK), (False, None)):
        places = [n for n, one in enumerate(crossed) if one is wanted]
        first, last = places[0] / len(crossed), (places[-1] + 1) / len(crossed)
        if x1 - x0 >= y1 - y0:
            box = x0 + first * (x1 - x0), y0, x0 + last * (x1 - x0), y1
        else:
            box = x0, y0 + first * (y1 - y0), x1, y0 + last * (y1 - y0)
        text = "".join(word.text[n] for n in places)
        found.append((places[0], word._replace(text=text, box=box, kind=kind)))
    return [piece for _, piece in sorted(found, key=lambda one: one[0])]


def _own(run: Run, signs: Sequence[Sign]) -> Sequence[Sign]:
    if run.signs == len(signs):
        return signs
    made = []
    for word in run.words:
        x0, y0, x1, y1 = word.box
        step = (x1 - x0) / max(1, len(word.text))
        for n, text in enumerate(word.text):
            box = x0 + n * step, y0, x0 + (n + 1) * step, y1
            made.append(Sign(text, box, (box[0], y1 - BASELINE * (y1 - y0)), word.size))
    return made


def _bars_through(strokes: Strokes, runs: Sequence[Run]) -> Iterator[tuple[Bar, list[int], bool]]:
    """The bars through the middle of runs, with these runs, and whether no others stand at their height."""
    rows = [_inner(run) for run in runs]
    bands: dict[int, list[int]] | None = None
    for bar in strokes.bars():
        if bands is None:
            bands = {}
            for number, row in enumerate(rows):
                for band in range(band_of(row[1]), band_of(row[3]) + 1):
                    bands.setdefault(band, []).append(number)
        around = range(band_of(bar.box[1]), band_of(bar.box[3]) + 1)
        here = {number for band in around for number in bands.get(band, ())}
        level = {number for number in here if bar.box[1] < rows[number][3] > rows[number][1]}
        near = {number for number in level if _crosses(bar, rows[number], runs[number].direction)}
        if near:
            yield bar, sorted(near), all(number in near or rows[number][1] >= bar.box[3] for number in level)


def _inner(run: Run) -> Rect:
    x0, y0, x1, y1 = run.box
    if run.direction[1]:
        margin = INNER * (x1 - x0)
        return x0 + margin, y0, x1 - margin, y1
    margin = INNER * (y1 - y0)
    return x0, y0 + margin, x1, y1 - margin


def _crosses(bar: Bar, row: Rect, way: Direction) -> bool:
    return way != SLOPED and bar.lying == (not way[1]) and overlap(bar.box, row)


def _under(bar: Bar, lines: Sequence[Line], most_beyond: float, *, whole: bool) -> Iterator[Place]:
    """The letters that this bar strikes out, of the lines that it crosses; it may run on beside them by `most_beyond`,
    and on where it takes all cells of a row, of which `whole` says that nothing of it stands beside the bar.
    """
    hit: list[tuple[int, int, Rect, float]] = []
    for run, signs, line in lines:
        way = line.direction
        left, top, right, bottom = turned(bar.box, way)
        inks = [word.ink for word in line.words for _ in word.text]
        for at, sign in enumerate(signs):
            box = turned(sign.box, way)
            base = turned((*sign.origin, *sign.origin), way)[1]
            above = (base - (top + bottom) / 2) / max(0.1, sign.size)
            covered = _along(box, left, right)
            shows = not bar.pale or (at < len(inks) and inks[at] is Ink.PALE)
            if covered and shows and LOW <= above <= HIGH:
                hit.append((run, at, box, sign.size))
    texts = {run: signs for run, signs, _ in lines}
    count = sum(texts[run][at].text.isalnum() for run, at, _, _ in hit)
    if not count:
        return
    left, top, right, bottom = turned(bar.box, lines[0][2].direction)
    size = max(size for *_, size in hit)
    beyond = max(min(box[0] for _, _, box, _ in hit) - left, right - max(box[2] for _, _, box, _ in hit))
    on_text = sum(box[2] - box[0] for _, _, box, _ in hit)
    most_beyond, thickness = (min(ONE_BEYOND, most_beyond), ONE_THICKNESS) if count == 1 else (most_beyond, THICKNESS)
    loose = beyond > (1 + whole) * most_beyond * size or on_text < ON_TEXT * (right - left)
    if bottom - top > thickness * size or (loose and not (whole and _are_cells(hit, lines))):
        return
    for run, signs, line in lines:
        struck_here = {at for one, at, _, _ in hit if one == run}
        if not struck_here:
            continue
        # a raised or lowered sign between them goes with them
        struck_here.update(
            at
            for at, sign in enumerate(signs)
            if min(struck_here) < at < max(struck_here) and _along(turned(sign.box, line.direction), left, right)
        )
        for start, end in _word_ranges(line.words, signs):
            yield from ((run, at) for at in _whole(signs, line.direction, start, end, struck_here, (left, right)))


def _are_cells(hit: Sequence[tuple[int, int, Rect, float]], lines: Sequence[Line]) -> bool:
    """Whether all letters of the lines are hit, and stand in cells apart."""
    spans = sorted((box[0], box[2]) for _, _, box, _ in hit)
    gaps = (begin - end for (_, end), (begin, _) in pairwise(spans))
    return len(hit) == sum(len(signs) for _, signs, _ in lines) and any(gap > CELL_GAP_EM * hit[0][3] for gap in gaps)


def _along(box: Rect, left: float, right: float) -> bool:
    return min(right, box[2]) - max(left, box[0]) >= 0.5 * (box[2] - box[0])


def _word_ranges(words: Sequence[Word], signs: Sequence[Sign]) -> Iterator[tuple[int, int]]:
    start = 0
    for word in words:
        end = min(start + len(word.text), len(signs))
        yield start, end
        start = end


def _whole(
    signs: Sequence[Sign], way: Direction, start: int, end: int, hit: set[int], ends: tuple[float, float]
) -> Iterator[int]:
    """The struck letters of a word: those under the bar where it ends at their edges, else all or none."""
    inside = [at for at in range(start, end) if at in hit]
    rest = [at for at in range(start, end) if at not in hit]
    if not inside or not rest:
        yield from inside
        return
    letters = [at for at in rest if signs[at].text.isalnum()]
    most = len(inside) >= MOST_OF_WORD * (end - start) and len(letters) <= FEW
    nearly = most and all(signs[at].text.isalpha() for at in letters)
    if letters and not nearly and not _is_exact(signs, way, start, end, ends):
        nearly = 2 * len(inside) >= end - start
        inside = inside if nearly else []
    yield from range(start, end) if nearly and letters else inside


def _is_exact(signs: Sequence[Sign], way: Direction, start: int, end: int, ends: tuple[float, float]) -> bool:
    """Whether each end of the bar that lies in the word lies at the edge of a letter."""
    boxes = [turned(signs[at].box, way) for at in range(start, end)]
    edges = [edge for box in boxes for edge in (box[0], box[2])]
    inner = [one for one in ends if min(edges) < one < max(edges)]
    return all(min(abs(one - edge) for edge in edges) <= EXACT * signs[start].size for one in inner)


def _struck_areas(page: Any) -> Iterator[Rect]:
    """Where annotations strike text out, or are to redact it and were not applied; as the page is shown."""
    kinds = (mupdf.PDF_ANNOT_STRIKE_OUT, mupdf.PDF_ANNOT_REDACT)
    if not getattr(page.parent, "is_pdf", False) or not page.first_annot:
        return
    for annotation in page.annots(types=kinds):
        if annotation.flags & (mupdf.PDF_ANNOT_IS_HIDDEN | mupdf.PDF_ANNOT_IS_NO_VIEW):
            continue
        points = annotation.vertices or []
        quads = [points[at : at + 4] for at in range(0, len(points) - 3, 4)]
        for box in [union((x, y, x, y) for x, y in quad) for quad in quads] or [tuple(annotation.rect)]:
            yield tuple(pymupdf.Rect(box) * page.rotation_matrix)


def _crossed(sloped: Sequence[Segment], runs: Sequence[Run]) -> Iterator[Place]:
    """The words, as (run, word), under a cross of two sloped lines, or one from corner to corner of several rows."""
    if not sloped or len(sloped) > MOST_SLOPED:
        return
    boxes = [(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)) for x0, y0, x1, y1 in sloped]
    rising = [(x1 - x0) * (y1 - y0) < 0 for x0, y0, x1, y1 in sloped]
    for one, other in combinations(range(len(sloped)), 2):
        if rising[one] != rising[other] and _is_cross(boxes[one], boxes[other]):
            yield from _filling(union((boxes[one], boxes[other])), runs, single=False)
    for box in boxes:
        yield from _filling(box, runs, single=True)


def _is_cross(one: Rect, other: Rect) -> bool:
    across, down = (CORNERS * max(box[axis + 2] - box[axis] for box in (one, other)) for axis in (0, 1))
    return all(abs(a - b) <= max(2.0, by) for a, b, by in zip(one, other, (across, down, across, down), strict=True))


def _filling(area: Rect, runs: Sequence[Run], *, single: bool) -> list[Place]:
    """The words that fill the area; under a single line only where their rows do not run on beside it."""
    width, height = area[2] - area[0], area[3] - area[1]
    inside = [
        (run, index)
        for run, one in enumerate(runs)
        if one.direction != SLOPED
        for index, word in enumerate(one.words)
        if is_within(*middle_of(word.box), area)
    ]
    boxes = [runs[run].words[index].box for run, index in inside]
    if not boxes:
        return []
    rows = {run for run, _ in inside}
    filled = sum((box[2] - box[0]) * (box[3] - box[1]) for box in boxes) / (width * height)
    words = sum(len(runs[run].words) for run in rows)
    if single and (len(rows) < LINE_ROWS or filled < LINE_FILLED or words > (1 + OUTSIDE) * len(boxes)):
        return []
    text = meet(union(boxes), area)
    across, down = (LINE_WIDTH, LINE_HEIGHT) if single else (CROSS_WIDTH, CROSS_HEIGHT)
    return inside if text[2] - text[0] >= across * width and text[3] - text[1] >= down * height else []
