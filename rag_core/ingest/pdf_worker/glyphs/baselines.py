"""Finds what a page shows raised, lowered or stacked, by where it stands: in any direction, in any order of painting.

A sign is raised or lowered against the larger text that it touches, its host. A figure over a bar over a figure is a
fraction where text stands beside the bar, at the height at which print has bars; a rule of a table has none there. A
short rule before a figure is a minus. `superscript` says how each is written.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ..words import Rect, Run, Word, lines_of, turned, union
from .superscript import UNKNOWN, Level, written

# All parts are of the font size of the text that a sign stands at, unless said otherwise.
SMALLER = 0.9  # superscripts are set at 0.5 to 0.83
MUCH_SMALLER = 0.8  # for signs on the line itself
OF_OTHER_LINES = 0.86  # for signs that MuPDF has in another line
RAISED, HIGHEST = 0.15, 0.9  # print raises by 0.2 to 0.5; the next row is at least 1 above
LOWERED, LOWEST = 0.08, 0.5  # print lowers by 0.1 to 0.25, and a denominator by more
TOUCHING = 0.14  # a blank is at least 0.2 wide
NEAR = 0.35  # a blank between a sign and its host, as in "1 ½"
OVERLAP = 0.3  # italics, kerning, and programs that take a sign for narrower than it is
AXIS_LOW, AXIS_HIGH = 0.1, 0.55  # a bar or a minus stands so much above the baseline
# the bar may be so far below a numerator's baseline, and above a denominator's, in their own font sizes
OVER, UNDER = 0.75, 1.35
DASH = (0.15, 1.0)  # the width of a minus, in the font size of its figure
LONGEST_PT = 60.0  # a fraction's bar; longer rules belong to tables
SAME_LINE = 0.06
TALLEST = 1.5  # most fonts reach from 0.2 to 0.3 below the line to 0.8 to 1.2 above it
CLOSING = tuple("/\u2044)]}%.,;:!?\"'”’")
BAND_PT = 24.0  # places are looked for in bands of this height

_BLANKS = re.compile(r"[\s\x00-\x20\xa0]+")
_SIGN = re.compile(
    r"(?=.*[\da-z°º])[-+−–=()\d.,;/\u2044\u2215]*[a-zA-Z°º]?[-+−–=()\d.,;/\u2044\u2215]*|[a-zè]{2}|ème|[-+−–=()/\u2044\u2215*∗†‡§,;]"
)

Step = tuple[float, float]
Line = tuple[int, float, float]  # a run, with a size and a baseline of it
_Place = tuple[int, int]  # block and line of MuPDF


@dataclass(eq=False, slots=True)
class Atom:
    """A piece of a word, of one size and on one baseline; in points along and across its direction."""

    step: Step
    run: int
    word: int
    text: str
    left: float
    right: float
    base: float
    size: float
    level: Level = Level.PLAIN
    changed: bool = False
    host: Atom | None = None


@dataclass(eq=False)
class Piece:
    """A word to be written: its atoms, and the boxes that they came from."""

    word: Word
    atoms: list[Atom]
    boxes: list[Rect]
    way: tuple[int, int]
    run: int

    def __post_init__(self) -> None:
        self.was_read = bool(self.atoms)
        self.moved = False

    def box_of(self, atoms: Sequence[Atom]) -> Rect:
        """The part of the word's box that some of its atoms take up; all of it where it stands aslant."""
        self.moved = True
        if _is_aslant(atoms[0].step):
            return self.word.box
        _, top, _, bottom = turned(self.word.box, self.way)
        left, right = min(atom.left for atom in atoms), max(atom.right for atom in atoms)
        return _turned_back((left, top, right, bottom), self.way)

    def take(self, atoms: Sequence[Atom], boxes: Sequence[Rect]) -> None:
        self.moved = True
        self.atoms, self.boxes = [*self.atoms, *atoms], [*self.boxes, *boxes]


def levelled(
    runs: list[Run],
    blocks: Iterable[dict[str, Any]],
    turn: Any,
    rules: Sequence[Rect],
    raw: Callable[[], Any],
) -> list[Run]:
    """The runs with raised, lowered and stacked signs written as what they are.

    Runs name their lines in `blocks`, of PyMuPDF's `dict` text; `turn` is the page's rotation, or None; `rules` are
    short lines and bars; `raw` gives the `rawdict` blocks, for lines that stand aslant or whose spans mix baselines.
    """
    lines = lines_of(blocks)
    page = _Page(runs, lines, turn, rules, raw)
    page.find(rules)
    return page.rebuilt() if page.changed else runs


def _mixed(lines: Mapping[_Place, dict[str, Any]]) -> set[_Place]:
    """The lines that stand aslant, and those with a span on several baselines: it reaches further than its font."""
    heights: dict[str, list[tuple[float, _Place]]] = {}
    found = set()
    for place, line in lines.items():
        x, y = line["dir"]
        if _is_aslant((x, y)):
            if len(line["spans"]) > 1:
                found.add(place)
            continue
        for span in line["spans"]:
            if any(map(str.isdigit, span["text"])):
                x0, y0, x1, y1 = span["bbox"]
                height = y1 - y0 if abs(x) > abs(y) else x1 - x0
                heights.setdefault(span["font"], []).append((height / span["size"], place))
    for of_font in heights.values():
        usual = min(TALLEST, min(of_font)[0])
        found.update(place for height, place in of_font if height > usual + LOWERED)
    return found


def _uneven(
    lines: Mapping[_Place, dict[str, Any]], turn: Any, rules: Sequence[Rect], mixed: set[_Place]
) -> set[_Place]:
    """The lines near text of two sizes or baselines, or a rule: no other sign is raised, lowered or stacked."""
    bands: defaultdict[tuple[Step, int], list[tuple[_Place, set[Any]]]] = defaultdict(list)
    for place, line in lines.items():
        step, spans = _step(line["dir"], turn), line["spans"]
        bases = {round(_across(_shown(span["origin"], turn), step), 1) for span in spans}
        alike = {round(span["size"], 1) for span in spans} if len(bases) == 1 and place not in mixed else {place, None}
        bands[step, int(min(bases) // BAND_PT)].append((place, alike))
    ruled = set()
    for step in {step for step, _ in bands if rules and not _is_aslant(step)}:
        turned_rules = (turned(rule, (round(step[0]), round(step[1]))) for rule in rules)
        ruled |= {(step, int((y0 + y1) / 2 // BAND_PT)) for _, y0, _, y1 in turned_rules}
    found = set()
    for step, band in list(bands):
        near = [(step, band + away) for away in (-1, 0, 1)]
        rows = [row for key in near for row in bands.get(key, ())]
        if len(set[Any]().union(*(alike for _, alike in rows))) > 1 or not ruled.isdisjoint(near):
            found |= {place for place, _ in rows}
    return found


def _is_aslant(step: Step) -> bool:
    return bool(min(abs(step[0]), abs(step[1])) > 0.01)


class _Page:
    def __init__(
        self, runs: Sequence[Run], lines: Mapping[_Place, Any], turn: Any, rules: Sequence[Rect], raw: Callable[[], Any]
    ) -> None:
        self._runs, self._lines, self._turn, self._mixed = runs, lines, turn, _mixed(lines)
        drawn = lines_of(raw()) if self._mixed else {}
        self._characters = {
            place: [(sign, span["size"]) for span in line["spans"] for sign in span["chars"]]
            for place, line in drawn.items()
        }
        uneven = _uneven(lines, turn, rules, self._mixed)
        self.changed = False
        self._atoms = [
            atom
            for number, run in enumerate(runs)
            if run.place in uneven
            for atom in self._of_run(number, run, lines[run.place])
        ]
        self._bands: defaultdict[tuple[Step, int], list[Atom]] = defaultdict(list)
        for atom in self._atoms:
            self._bands[atom.step, int(atom.base // BAND_PT)].append(atom)

    # Atoms

    def _of_run(self, number: int, run: Run, line: Any) -> Iterator[Atom]:
        """The atoms of a run's words that are read; none where its words are not those of its line."""
        step = _step(line["dir"], self._turn)
        pieces = list(self._pieces(line, run.place, step))
        if sum(len(text) for text, *_ in pieces) != run.signs:
            return
        ends, at = [], 0
        for text, *_ in pieces:
            at += len(text)
            ends.append(at)
        start = index = 0
        for place, word in enumerate(run.words):
            end = start + len(word.text)
            box = turned(word.box, run.direction)
            while start < end:
                while ends[index] <= start:
                    index += 1
                stop = min(end, ends[index])
                _, base, size, left, right = pieces[index]
                if not _is_aslant(step):
                    left, right = max(left, box[0]), min(right, box[2])
                text = word.text[len(word.text) - (end - start) :][: stop - start]
                if word.kind is None:
                    yield Atom(step, number, place, text, left, max(left, right), base, size)
                start = stop

    def _pieces(
        self, line: dict[str, Any], place: tuple[int, int], step: Step
    ) -> Iterator[tuple[str, float, float, float, float]]:
        """Text without blanks, baseline, size, left and right of each stretch of one size and baseline."""
        if place in self._mixed:
            yield from self._by_character(place, step)
            return
        for span in line["spans"]:
            text = _BLANKS.sub("", span["text"])
            if text:
                base = _across(_shown(span["origin"], self._turn), step)
                x0, y0, x1, y1 = span["bbox"]
                ends = [_along(_shown((x, y), self._turn), step) for x, y in ((x0, y0), (x1, y1))]
                yield text, base, span["size"], min(ends), max(ends)

    def _by_character(self, place: tuple[int, int], step: Step) -> Iterator[tuple[str, float, float, float, float]]:
        signs = self._characters[place]
        found: list[tuple[int, str, float, float, float, float]] = []
        word = 0
        for at, (sign, size) in enumerate(signs):
            if _BLANKS.fullmatch(sign["c"]):
                word += 1
                continue
            origin = _shown(sign["origin"], self._turn)
            left = _along(origin, step)
            follows = signs[at + 1 :][:1]
            right = _along(_shown(follows[0][0]["origin"], self._turn), step) if follows else left + 0.5 * size
            found.append((word, sign["c"], _across(origin, step), size, left, right))
        for _, group in groupby(found, key=lambda one: (one[0], round(one[2] / (LOWERED * one[3])), one[3])):
            own = list(group)
            yield "".join(one[1] for one in own), own[0][2], own[0][3], own[0][4], own[-1][5]

    # What stands where

    def _near(self, step: Step, base: float) -> Iterator[Atom]:
        band = int(base // BAND_PT)
        for other in (band - 1, band, band + 1):
            yield from self._bands.get((step, other), ())

    def find(self, rules: Sequence[Rect]) -> None:
        left = self._fractions(rules)
        self._minuses(left)
        largest = {key: max((atom.size for atom in some), default=0.0) for key, some in self._bands.items()}
        bases = {atom.run: atom.base for atom in self._atoms}
        uneven = {atom.run for atom in self._atoms if abs(atom.base - bases[atom.run]) > LOWERED * atom.size}
        prose = {_row(atom) for atom in self._atoms if _SIGN.fullmatch(atom.text) is None}

        def may_be_one(atom: Atom) -> bool:
            band = int(atom.base // BAND_PT)
            smaller = atom.size <= SMALLER * max(largest.get((atom.step, band + away), 0.0) for away in (-1, 0, 1))
            may = (smaller or atom.run in uneven) and atom.level is Level.PLAIN
            return may and _SIGN.fullmatch(atom.text) is not None

        signs = sorted(filter(may_be_one, self._atoms), key=lambda atom: atom.left)
        for atom in signs:
            self._settle(atom, prose)
        for atom in signs:  # the further parts of one sign: "−" and "3" of two fonts
            before = self._beside(atom, left=True) if atom.level is Level.PLAIN else None
            if before and before.host and abs(before.base - atom.base) < SAME_LINE * atom.size:
                atom.level, atom.host, atom.changed = before.level, before.host, True
        self._unbarred([atom for atom in signs if atom.host])

    def _beside(self, atom: Atom, *, left: bool, gap: float = NEAR) -> Atom | None:
        """The nearest atom that ends where this one begins, or begins where it ends, at about its height."""
        found, nearest = None, gap
        for other in self._near(atom.step, atom.base):
            size = max(atom.size, other.size)
            away = (atom.left - other.right if left else other.left - atom.right) / size
            ahead = other.left < atom.left if left else other.right > atom.right
            level = -LOWEST < (other.base - atom.base) / size < HIGHEST and other.level is not Level.STACKED
            if ahead and level and other is not atom and -OVERLAP < away < nearest:
                found, nearest = other, away
        return found

    def _settle(self, atom: Atom, prose: Collection[Line]) -> None:
        """Find the host of a sign, and its level against it; text of a line with `prose` is no sign of another line."""
        for left in (True, False):
            host = self._beside(atom, left=left)
            if host is not None and host.host is not None and host.level is not Level.STACKED:
                host = host.host  # a sign beside a sign: both stand at one text
            if host is None:
                continue
            begins_beside = host.run != atom.run and _row(atom) in prose  # text of its own, as beside a large initial
            level = Level.PLAIN if begins_beside else _level(atom, host, left=left)
            if level is not Level.PLAIN:
                atom.level, atom.host, atom.changed, self.changed = level, host, True, True
                return
            if left and host.size >= SMALLER * atom.size and abs(host.base - atom.base) < SAME_LINE * host.size:
                return  # it stands in a line of its own size

    def _unbarred(self, signs: Sequence[Atom]) -> None:
        """A raised figure over a lowered one without a bar: an ion's or nucleus's at a letter, else unknown."""
        for low in signs:
            if low.level is not Level.LOWERED:
                continue
            for high in signs:
                shared = min(high.right, low.right) - max(high.left, low.left)
                over = shared > 0.5 * min(high.right - high.left, low.right - low.left)
                if over and high.level is Level.RAISED and high.host is low.host:
                    host = low.host
                    touches = host is not None and min(low.left, high.left) - host.right < TOUCHING * host.size
                    if not (touches and host is not None and host.text[-1:].isalpha() and host.left < low.left):
                        low.level, high.level = Level.DOUBTFUL, Level.PLAIN
                        high.text = ""

    def _fractions(self, rules: Sequence[Rect]) -> list[tuple[Step, Rect]]:
        """Make one atom of each drawn fraction; the rules that are no bars, for each direction of text."""
        rest = []
        for step in {atom.step for atom in self._atoms if not _is_aslant(atom.step)}:
            way = round(step[0]), round(step[1])
            for rule in (turned(rule, way) for rule in rules):
                if rule[3] - rule[1] <= rule[2] - rule[0] <= LONGEST_PT and not self._is_bar(step, rule):
                    rest.append((step, rule))
        return rest

    def _is_bar(self, step: Step, rule: Rect) -> bool:
        x0, x1, y = rule[0], rule[2], (rule[1] + rule[3]) / 2
        over: list[Atom] = []
        under: list[Atom] = []
        beside: list[Atom] = []
        for atom in self._near(step, y):
            margin = OVERLAP * atom.size
            within = x0 - margin <= atom.left and atom.right <= x1 + margin and atom.level is Level.PLAIN
            if within and -0.1 * atom.size < y - atom.base < OVER * atom.size:
                over.append(atom)
            elif within and 0.5 * atom.size < atom.base - y < UNDER * atom.size:
                under.append(atom)
            elif AXIS_LOW * atom.size < atom.base - y < AXIS_HIGH * atom.size:
                if any(-margin < gap < 0.6 * atom.size for gap in (x0 - atom.right, atom.left - x1)):
                    beside.append(atom)
        if not (over and under and beside):
            return False
        host = min(beside, key=lambda one: (one.left > x0, abs(x0 - one.right if one.left < x0 else one.left - x1)))
        widest = max(atom.right for atom in over + under) - min(atom.left for atom in over + under)
        if x1 - x0 > widest + 1.2 * host.size or max(atom.size for atom in over + under) > 1.05 * host.size:
            return False
        texts = ["".join(atom.text for atom in sorted(part, key=lambda atom: atom.left)) for part in (over, under)]
        first, *others = sorted(over + under, key=lambda atom: atom.left)
        first.text = "/".join(text if text.isalnum() else f"({text})" for text in texts)
        first.left, first.right, first.level, first.host, first.changed = x0, x1, Level.STACKED, host, True
        for other in others:
            other.text, other.changed = "", True
            self._bands[step, int(other.base // BAND_PT)].remove(other)
        self.changed = True
        return True

    def _minuses(self, rules: Sequence[tuple[Step, Rect]]) -> None:
        for step, rule in rules:
            x0, x1, y = rule[0], rule[2], (rule[1] + rule[3]) / 2
            figures = [
                atom
                for atom in self._near(step, y)
                if atom.text[:1].isdigit()
                and -0.1 < (atom.left - x1) / atom.size < 0.25
                and DASH[0] <= (x1 - x0) / atom.size <= DASH[1]
                and RAISED < (atom.base - y) / atom.size < AXIS_HIGH
            ]
            if not figures or any(
                min(atom.right, x1) - max(atom.left, x0) > OVERLAP * (x1 - x0)
                and -0.3 * atom.size < atom.base - y < 0.9 * atom.size
                for atom in self._near(step, y)
            ):
                continue
            others = [other for way, other in rules if other is not rule and way == step]
            if any(abs(other[1] - rule[1]) < 0.5 and abs(other[0] - x0) < 4 * (x1 - x0) for other in others):
                continue  # a dashed line
            figure = figures[0]
            minus = Atom(step, figure.run, figure.word, "", x0, x1, figure.base, figure.size)
            before = self._beside(minus, left=True, gap=1.2)
            near = before is not None and x0 - before.right < TOUCHING * before.size
            touches = near and before is not None and abs(before.base - figure.base) < SAME_LINE * before.size
            figure.text = (UNKNOWN if before is None else "–" if touches else "−") + figure.text
            figure.left, figure.changed, self.changed = x0, True, True

    # Words anew

    def rebuilt(self) -> list[Run]:
        """The runs with their words written anew where a sign of them has a level, and signs moved to their hosts."""
        own: defaultdict[tuple[int, int], list[Atom]] = defaultdict(list)
        for atom in self._atoms:
            own[atom.run, atom.word].append(atom)
        self._rows = [
            [Piece(word, own[run, at], [word.box], one.direction, run) for at, word in enumerate(one.words)]
            for run, one in enumerate(self._runs)
        ]
        self._piece_of = {atom: piece for row in self._rows for piece in row for atom in piece.atoms}
        for atom in self._atoms:
            if atom.host is not None:
                self._move(atom, atom.host)
        made = [[word for piece in row for word in _words(piece)] for row in self._rows]
        return [run._replace(words=words) for run, words in zip(self._runs, made, strict=True) if words]

    def _move(self, atom: Atom, host: Atom) -> None:
        """Put a sign into the word of its host, or beside that where they stand apart."""
        source, target = self._piece_of[atom], self._piece_of[host]
        if source is target:
            return
        ahead = atom.left > host.left
        first, last = min(one.left for one in target.atoms), max(one.right for one in target.atoms)
        gap = atom.left - last if ahead else first - atom.right
        box = source.box_of([atom])
        source.atoms.remove(atom)
        source.boxes = [source.box_of(source.atoms)] if source.atoms else []
        if gap < TOUCHING * host.size or first < atom.left < last:
            target.take([atom], [box])
        else:
            row = self._rows[target.run]
            word = source.word._replace(box=box, size=host.size)
            target = Piece(word, [atom], [box], source.way, target.run)
            row.insert(row.index(self._piece_of[host]) + ahead, target)
        self._piece_of[atom] = target
        if ahead:
            self._join(target, atom, host)

    def _join(self, piece: Piece, atom: Atom, host: Atom) -> None:
        """Take what touches a moved sign into its word: the full stop of "10⁴."; no word where it stands apart."""
        apart_from_host = piece is not self._piece_of[host]
        for other in self._near(host.step, host.base):
            source = self._piece_of.get(other)
            apart = (other.left - atom.right) / host.size
            if source is None or source is piece or other.host or abs(other.base - host.base) > SAME_LINE * host.size:
                continue
            begins = apart_from_host and other.text[:1].isalnum()
            if -OVERLAP < apart < TOUCHING and other.left > atom.left and not begins:
                self._piece_of.update(dict.fromkeys(source.atoms, piece))
                piece.take(source.atoms, source.boxes)
                source.atoms, source.boxes, source.moved = [], [], True
                return


def _row(atom: Atom) -> Line:
    return atom.run, atom.size, round(atom.base, 1)


def _level(atom: Atom, host: Atom, *, left: bool) -> Level:
    raised = (host.base - atom.base) / host.size
    together = host.run == atom.run
    if not (together or (host.text[-1:] if left else host.text[:1]).isalnum() or host.text[-1:] in CLOSING):
        return Level.PLAIN  # a number beside a mark on a map
    if atom.size > SMALLER * host.size:  # signs of one size are of one line, side by side
        gap = (atom.left - host.right) / host.size
        alike = atom.size < host.size / SMALLER and together and left and gap < TOUCHING
        if not alike or not RAISED <= abs(raised) < LOWEST + 0.1:
            return Level.PLAIN
        return Level.RAISED if raised > 0 else Level.LOWERED
    if not together and atom.size > OF_OTHER_LINES * host.size:
        return Level.PLAIN
    if RAISED <= raised <= HIGHEST:
        return Level.RAISED
    if LOWERED <= -raised <= LOWEST:
        return Level.LOWERED
    of_a_fraction = "/" in atom.text or host.text[-1:] in ("/", "\u2044")
    in_one_word = (host.run, host.word) == (atom.run, atom.word)
    small = atom.size <= MUCH_SMALLER * host.size and abs(raised) < LOWERED
    return Level.SMALL if (in_one_word or of_a_fraction) and small else Level.PLAIN


def _shown(point: tuple[float, float], turn: Any) -> tuple[float, float]:
    x, y = point
    return (x, y) if turn is None else (x * turn.a + y * turn.c + turn.e, x * turn.b + y * turn.d + turn.f)


def _step(step: Step, turn: Any) -> Step:
    x, y = step
    if turn is not None:
        x, y = x * turn.a + y * turn.c, x * turn.b + y * turn.d
    return round(x, 2) + 0.0, round(y, 2) + 0.0


def _along(point: tuple[float, float], step: Step) -> float:
    return point[0] * step[0] + point[1] * step[1]


def _across(point: tuple[float, float], step: Step) -> float:
    return point[1] * step[0] - point[0] * step[1]


def _turned_back(box: Rect, way: tuple[int, int]) -> Rect:
    """`box` out of a reader's coordinates: what `turned` undoes."""
    return turned(box, (way[0], -way[1]))


def _words(piece: Piece) -> Iterator[Word]:
    changed = piece.moved or any(atom.changed for atom in piece.atoms)
    if piece.word.kind is not None or not piece.was_read or not changed:
        yield piece.word
        return
    atoms = sorted(piece.atoms, key=lambda atom: (atom.left, atom.level is Level.RAISED))
    text = written((atom.text, atom.level) for atom in atoms)
    parts = text.split()
    if not parts:
        return
    left, top, right, bottom = turned(union(piece.boxes), piece.way)
    at = left
    for part in parts:
        end = right if part is parts[-1] else at + (right - left) * len(part) / len(text)
        box, size = _turned_back((at, top, end, bottom), piece.way), max(atom.size for atom in atoms)
        yield piece.word._replace(text=part, box=box, size=size)
        at = end
