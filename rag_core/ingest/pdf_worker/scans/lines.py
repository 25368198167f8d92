"""Finds the lines of a picture of print, and reads each, by two networks.

The first says of each pixel how likely it belongs to a line; each island of such pixels is one. The steps around it are
those of PaddleOCR's detector, for which the weights were trained (arXiv:1911.08947). The second says of each column of
a line which letter it shows; what it says becomes words, each with its columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import cv2
import numpy as np

Array = np.ndarray[Any, Any]
Network = Callable[[Array], Array]

# as RapidOCR 3.10 has them for these weights (its config.yaml, section Det)
LIKELY = 0.3  # a pixel belongs to a line
LIKELY_LINE = 0.5  # so are the pixels of an island on average, or it is none
GROW = 1.6  # a line is wider than its island by this much of the island's area over its girth
# pixels of the picture that the network sees: the longer side at most, the shorter one at least
MOST_SIDE, LEAST_SIDE = 2000, 736
STEP = 32  # both sides are multiples of it
THINNEST = 3  # pixels: what is thinner is no line
MOST_LINES = 3_000  # the fullest page of print tried has 120
HEIGHT = 48  # pixels of a line as the network sees it (RapidOCR 3.10, rec_img_shape)
NARROWEST = 320  # the same: a shorter line is filled up to it
# a line of 130 times its height is longer than any print has, and is pressed together; chosen, as it bounds the memory
WIDEST = 6_400
BLANK = 0  # the network's word for "no letter here"


def lines_of(picture: Array, network: Network) -> list[Array]:
    """The lines of a picture in three colours: four corners each, clockwise from the upper left, in pixels."""
    height, width = picture.shape[:2]
    scale = min(1.0, MOST_SIDE / max(height, width))
    scale *= (
        max(1.0, LEAST_SIDE / (scale * min(height, width)))
        if scale * max(height, width) * LEAST_SIDE < MOST_SIDE**2
        else 1.0
    )
    seen = cv2.resize(picture, (_stepped(width * scale), _stepped(height * scale)))
    likely = network((seen.astype(np.float32).transpose(2, 0, 1)[None] / 255 - 0.5) / 0.5)[0, 0]
    across, down = width / likely.shape[1], height / likely.shape[0]
    islands = cv2.dilate((likely > LIKELY).astype(np.uint8), np.ones((2, 2), np.uint8))
    contours, _ = cv2.findContours(islands, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    found = []
    for corners in _grown(contours[:MOST_LINES], likely):
        placed = np.clip(corners * (across, down), 0, (width - 1, height - 1))
        if min(np.linalg.norm(placed[1] - placed[0]), np.linalg.norm(placed[3] - placed[0])) > THINNEST:
            found.append(placed.astype(np.float32))
    return found


def cut(picture: Array, corners: Array) -> Array:
    """A line by itself, laid straight. It is not turned, however it stands."""
    width = max(1, int(max(np.linalg.norm(corners[0] - corners[1]), np.linalg.norm(corners[2] - corners[3]))))
    height = max(1, int(max(np.linalg.norm(corners[0] - corners[3]), np.linalg.norm(corners[1] - corners[2]))))
    straight = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    turn = cv2.getPerspectiveTransform(corners.astype(np.float32), straight)
    return np.asarray(
        cv2.warpPerspective(picture, turn, (width, height), borderMode=cv2.BORDER_REPLICATE, flags=cv2.INTER_CUBIC)
    )


def _grown(contours: Any, likely: Array) -> Iterator[Array]:
    for contour in contours:
        middle, (width, height), angle = cv2.minAreaRect(contour)
        if (
            min(width, height) < THINNEST
            or _mean(likely, cv2.boxPoints((middle, (width, height), angle))) < LIKELY_LINE
        ):
            continue
        more = GROW * width * height / (width + height)  # area over girth, on both sides
        yield _ordered(cv2.boxPoints((middle, (width + more, height + more), angle)))


def _mean(likely: Array, corners: Array) -> float:
    low = np.maximum(0, np.floor(corners.min(axis=0)).astype(int))
    high = np.ceil(corners.max(axis=0)).astype(int) + 1
    part = likely[low[1] : high[1], low[0] : high[0]]
    mask = np.zeros(part.shape, np.uint8)
    cv2.fillPoly(mask, [(corners - low).astype(np.int32)], 1)
    return float(cv2.mean(part, mask)[0])


def _ordered(corners: Array) -> Array:
    by_x = corners[np.argsort(corners[:, 0], kind="stable")]
    left, right = by_x[:2], by_x[2:]
    (upper_left, lower_left), (upper_right, lower_right) = (
        side[np.argsort(side[:, 1], kind="stable")] for side in (left, right)
    )
    return np.array([upper_left, upper_right, lower_right, lower_left])


def _stepped(side: float) -> int:
    return max(STEP, round(side / STEP) * STEP)


class Letters(NamedTuple):
    """A word of a line: its text, how sure each letter is, and where its first and last one are, as width shares."""

    text: str
    sure: tuple[float, ...]
    first: float
    last: float


def read_line(picture: Array, network: Network, alphabet: Sequence[str]) -> list[Letters]:
    """The words of a line that lies straight; several at once take more memory, and more time for padding."""
    height, width = picture.shape[:2]
    width = min(WIDEST, max(1, math.ceil(HEIGHT * width / height)))
    seen = np.zeros((1, 3, HEIGHT, max(NARROWEST, width)), np.float32)
    seen[0, :, :, :width] = (
        cv2.resize(picture, (width, HEIGHT)).astype(np.float32).transpose(2, 0, 1) / 255 - 0.5
    ) / 0.5
    return list(words_of(network(seen)[0], alphabet, seen.shape[3] / width))


def words_of(likely: Array, alphabet: Sequence[str], stretch: float = 1.0) -> Iterator[Letters]:
    """The words of a line by what the network says (columns, letters); `stretch` is its width over the line's."""
    best = likely.argmax(axis=1)
    shows = np.flatnonzero((best != BLANK) & (np.diff(best, prepend=BLANK) != 0))
    text, sure, places = "", [], []
    for at in [*map(int, shows), None]:
        letter = " " if at is None else alphabet[int(best[at])]
        if not letter.isspace():
            assert at is not None
            text += letter
            sure.append(float(likely[at, best[at]]))
            places.append(min(1.0, (at + 0.5) / len(best) * stretch))
        elif text:
            yield Letters(text, tuple(sure), places[0], places[-1])
            text, sure, places = "", [], []
