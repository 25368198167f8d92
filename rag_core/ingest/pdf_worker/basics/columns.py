"""The words and rows of a page as columns: base64 of float64 as they lie in memory. The parent then holds no Python number for each."""

from __future__ import annotations

import base64
from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any


def packed(words: Sequence[Sequence[float]], lines: Sequence[Sequence[Any]]) -> dict[str, object]:
    """`words`, `lines` and `cells` of the event `page`.

    The arguments are those of `rows.Rows`. Six numbers a word, seven where it was recognised. Eleven a line, the last one says how many
    numbers of `cells` are the line's.
    """
    return {
        "words": _base64(chain.from_iterable(words)),
        "lines": _base64(number for line in lines for number in (*line[:-1], len(line[-1]))),
        "cells": _base64(chain.from_iterable(line[-1] for line in lines)),
    }


def _base64(numbers: Iterable[float]) -> str:
    return base64.b64encode(array("d", numbers).tobytes()).decode("ascii")
