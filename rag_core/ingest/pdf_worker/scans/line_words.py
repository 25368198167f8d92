"""Reads one line of print: a network says of each column which letter it shows; what it says becomes words, each with its columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import cv2
import numpy as np

from .lines import Array, Network

HEIGHT = 48  # pixels of a line as the network sees it (RapidOCR 3.10, rec_img_shape)
NARROWEST = 320  # the same: a shorter line is filled up to it
WIDEST = 6_400  # a line of 130 times its height is longer than any print has, and is pressed together; chosen, as it bounds the memory
BLANK = 0  # the network's word for "no letter here"


class Letters(NamedTuple):
    """A word of a line: its text, how sure each letter is, and the shares of the line's width where its first and last letter show."""

    text: str
    sure: tuple[float, ...]
    first: float
    last: float


def read_line(picture: Array, network: Network, alphabet: Sequence[str]) -> list[Letters]:
    """The words of a line that lies straight. One at a time: several at once take more memory, and more time for what fills them up."""
    height, width = picture.shape[:2]
    width = min(WIDEST, max(1, math.ceil(HEIGHT * width / height)))
    seen = np.zeros((1, 3, HEIGHT, max(NARROWEST, width)), np.float32)
    seen[0, :, :, :width] = (cv2.resize(picture, (width, HEIGHT)).astype(np.float32).transpose(2, 0, 1) / 255 - 0.5) / 0.5
    return list(words_of(network(seen)[0], alphabet, seen.shape[3] / width))


def words_of(likely: Array, alphabet: Sequence[str], stretch: float = 1.0) -> Iterator[Letters]:
    """The words of one line, by what the network says of each column (columns, letters).

    Args:
        likely: how likely each letter is.
        alphabet: the letters in the network's order, from BLANK on.
        stretch: the width of what the network saw over that of the line.
    """
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
