"""Reads a picture by the weights of RapidOCR (PP-OCRv6): words with their boxes and how sure it is of each.

OpenCV runs the two networks, in this process. The steps around them are in `lines` and `order`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np

from .lines import Array, Letters, Network, cut, lines_of, read_line
from .order import Place, in_order
from .tesseract import Found

FINDS_LINES, READS_LINES = "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"
ALPHABET = b"\n\x09character\x12"  # where the second one's file names the letters, one a line
# percentiles of a page's greys without their noise: a page of one line has about one part in two hundred of ink
INK_AND_PAPER = (0.5, 95)
PALE, BLANK = 160, 20  # how far apart both are: less is pale print, of 255; still less is an empty page; chosen
STANDS = 1.5  # a line so many times as high as wide runs up or down
# heights of small letters without strokes up or down, and of capitals, in font sizes: most fonts
X_HEIGHT, CAPITALS = 0.55, 0.72
# lines whose sizes differ by less are set in one size: measured are 2 % up or down in one size, also on pages that lie
# askew
ALIKE = 1.06


# in a line with a lower score letters are doubtful; of print that they know, the weights give fewer than one line in
# fifty such a score
SURE_LINE = 0.90


class Line(NamedTuple):
    """A line as it was found: its corners, the picture of it, and its words."""

    corners: Array
    picture: Array
    words: list[Letters]

    @property
    def sure(self) -> float:
        return float(np.mean([one for word in self.words for one in word.sure]))

    @property
    def letters(self) -> int:
        return sum(len(word.text) for word in self.words)

    @property
    def stands(self) -> bool:
        """Whether it runs up or down."""
        height, width = self.picture.shape[:2]
        return self.letters > 1 and height > STANDS * width


class RapidOcr:
    """The engine, one network of it loaded at a time; raises OSError or KeyError where its weights are not right."""

    def __init__(self, folder: str) -> None:
        cv2.setNumThreads(1)
        self._finds, self._reads = (Path(folder) / name for name in (FINDS_LINES, READS_LINES))
        self._alphabet = ["", *_alphabet(self._reads.read_bytes()).splitlines(), " "]
        self.letters = frozenset(self._alphabet)

    def lines(self, grey: bytes, width: int, height: int) -> list[Line]:
        """The lines of a picture of one byte a pixel, in no order; raises cv2.error where OpenCV gives up."""
        picture = cv2.cvtColor(in_contrast(np.frombuffer(grey, np.uint8).reshape(height, width)), cv2.COLOR_GRAY2BGR)
        corners = lines_of(picture, _network(self._finds))
        network = _network(self._reads)
        cuts = [cut(picture, one) for one in corners]
        lines = (
            Line(where, seen, read_line(seen, network, self._alphabet))
            for where, seen in zip(corners, cuts, strict=True)
        )
        return [line for line in lines if line.words]

    def read(self, lines: Sequence[Line]) -> Iterator[Found]:
        """The words of lines that stand upright, in reading order."""
        slope = _slope(lines)
        edges = [letter_edges(line.picture) for line in lines]
        sizes = set_in(
            [_size(line, *edge) for line, edge in zip(lines, edges, strict=True)], [line.letters for line in lines]
        )
        before = 0.0
        for one in in_order([_place(line.corners, slope) for line in lines]):
            size = sizes[one.at]
            yield from _found(lines[one.at], one.starts or (one.first and size != before), edges[one.at][1], size)
            before = size


def in_contrast(grey: Array) -> Array:
    """A pale picture from black to white, as the network leaves out pale lines; any other as it is."""
    ink, paper = np.percentile(cv2.GaussianBlur(grey, (3, 3), 0), INK_AND_PAPER)
    if not BLANK < paper - ink < PALE:
        return grey
    return np.asarray(np.clip((grey - ink) * (255 / (paper - ink)), 0, 255), np.uint8)


def doubtful(lines: Sequence[Line]) -> float:
    """The share of letters in lines with a low score, as in a script not known, or up or down; 1 for none."""
    letters = sum(line.letters for line in lines)
    return sum(line.letters for line in lines if line.sure < SURE_LINE or line.stands) / letters if letters else 1.0


def letter_edges(picture: Array) -> tuple[float, float]:
    """The rows, from above, between which a line has half as much ink as in its fullest: its small letters."""
    grey = cv2.GaussianBlur(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), (3, 3), 0).astype(np.float64)
    dark = np.clip(np.percentile(grey, 90) - grey, 0, None).sum(axis=1)
    half = 0.5 * float(np.percentile(dark, 95))
    rows = np.flatnonzero(dark >= half)
    first, last = int(rows[0]), int(rows[-1])
    above = (dark[first] - half) / (dark[first] - dark[first - 1]) if first and dark[first] > dark[first - 1] else 0.0
    below = (
        (dark[last] - half) / (dark[last] - dark[last + 1])
        if last + 1 < len(dark) and dark[last] > dark[last + 1]
        else 0.0
    )
    return first - float(above), last + float(below)


def set_in(sizes: Sequence[float], weights: Sequence[int]) -> list[float]:
    """The sizes of lines, nearly alike ones as one: that of most letters, then of most of the rest, and so on."""
    found = list(sizes)
    left = set(range(len(found)))
    while left:
        near = {at: [one for one in left if 1 / ALIKE < sizes[one] / sizes[at] < ALIKE] for at in left}
        best = max(sorted(left), key=lambda at: sum(weights[one] for one in near[at]))
        middle = float(
            np.median(np.repeat([sizes[one] for one in near[best]], [max(1, weights[one]) for one in near[best]]))
        )
        for one in near[best]:
            found[one] = middle
        left -= set(near[best])
    return found


def _size(line: Line, above: float, below: float) -> float:
    small = any(sign.islower() for word in line.words for sign in word.text)
    return max(1.0, below - above) / (X_HEIGHT if small else CAPITALS)


def _found(line: Line, starts: bool, base: float, size: float) -> Iterator[Found]:
    height, width = line.picture.shape[:2]
    ink = _ink(line.picture)
    outside = _around(line.corners)
    for at, (word, (left, right)) in enumerate(
        zip(line.words, spans(np.asarray(ink.any(axis=0)), line.words), strict=True)
    ):
        rows = np.flatnonzero(ink[:, left:right].any(axis=1))
        top, bottom = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, height)
        middle = _on_page(line.corners, (left + right) / 2 / width, base / height)
        yield Found(
            text=word.text,
            sure=min(1.0, max(0.0, float(np.mean(word.sure)))),
            box=_around(
                np.array([_on_page(line.corners, x / width, y / height) for x in (left, right) for y in (top, bottom)])
            ),
            line=outside,
            base=float(middle[1]),
            size=size,
            turn=0,
            starts=(starts and at == 0, at == 0),
        )


def spans(ink: Array, words: Sequence[Letters]) -> list[tuple[int, int]]:
    """First and last column of each word of a line: the widest white parts letters that the network tells apart."""
    width = len(ink)
    edges = [(0, 0)]
    for one, two in pairwise(words):
        edges.append(_white(ink, int(one.last * width), int(two.first * width)))
    edges.append((width, width))
    found = []
    for (_, begin), (end, _) in pairwise(edges):
        inside = np.flatnonzero(ink[begin:end])
        found.append(
            (begin + int(inside[0]), begin + int(inside[-1]) + 1) if len(inside) else (begin, max(begin + 1, end))
        )
    return found


def _white(ink: Array, begin: int, end: int) -> tuple[int, int]:
    best = ((begin + end) // 2,) * 2
    start = begin
    for at in range(begin, end + 1):
        if at == end or ink[at]:
            if at - start > best[1] - best[0]:
                best = start, at
            start = at + 1
    return best


def _ink(picture: Array) -> Array:
    grey = cv2.GaussianBlur(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), (3, 3), 0)
    _, dark = cv2.threshold(grey, 0, 1, cv2.THRESH_BINARY_INV + cv2.THRESH_OTSU)
    # print that is light on dark has more paper than ink too
    return np.asarray(dark if 2 * dark.sum() <= dark.size else 1 - dark, bool)


def _slope(lines: Sequence[Line]) -> float:
    """How much a line goes down a pixel to the right, of a page that lies askew."""
    along = [line.corners[1] - line.corners[0] for line in lines]
    long = [float(one[1] / one[0]) for one in along if one[0] > 0 and one[0] >= np.median([one[0] for one in along])]
    return float(np.median(long)) if long else 0.0


def _place(corners: Array, slope: float) -> Place:
    """Where a line would stand if the page lay straight."""
    x, y = corners[:, 0] + slope * corners[:, 1], corners[:, 1] - slope * corners[:, 0]
    return Place(float(x[[0, 3]].mean()), float(y[:2].mean()), float(x[1:3].mean()), float(y[2:].mean()))


def _on_page(corners: Array, across: float, down: float) -> Array:
    above = corners[0] + across * (corners[1] - corners[0])
    below = corners[3] + across * (corners[2] - corners[3])
    return np.asarray(above + down * (below - above))


def _around(corners: Array) -> tuple[int, int, int, int]:
    (left, top), (right, bottom) = np.floor(corners.min(axis=0)), np.ceil(corners.max(axis=0))
    return int(left), int(top), int(right), int(bottom)


def _alphabet(file: bytes) -> str:
    """The letters that an ONNX file names beside its network: a key and its value in protobuf's wire format."""
    at = file.index(ALPHABET) + len(ALPHABET)
    length = shift = 0
    while not shift or file[at - 1] & 0x80:  # seven bits a byte, the lowest first
        length |= (file[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return file[at : at + length].decode()


def _network(path: Path) -> Network:
    network = cv2.dnn.readNetFromONNX(str(path), engine=cv2.dnn.ENGINE_NEW)

    def run(seen: Array) -> Array:
        network.setInput(seen)
        return np.asarray(network.forward())

    return run
