"""Damaged and crafted copies of PDFs.

The same seed files, seed and number give the same bytes; nothing is parsed here, bytes are changed.

Kinds of `DAMAGE` are what a disk or a transfer does: text that they take away should be missed. Kinds of `CRAFT` make
another document, of which nobody can say what it should hold.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.campaign import lost_text

Kind = Callable[[random.Random, bytearray], None]
OBJECT = re.compile(rb"(?<=\n)\d+ 0 obj\b.*?endobj", re.DOTALL)
NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
KEY = re.compile(rb"/[A-Z][A-Za-z0-9]{1,15}")
LARGE_BYTES = 3_000_000  # what a copy may grow to
EXTREME = (
    b"0",
    b"-1",
    b"1",
    b"65536",
    b"2147483647",
    b"-2147483648",
    b"99999999999999999999",
    b"1e38",
    b"0.000001",
    b"(",
    b"null",
    b"[]",
)


@dataclass(frozen=True, slots=True)
class Copy:
    """A damaged copy.

    `whole` is the seed whose text it should still have, None where it was made into another document.
    """

    name: str
    kinds: tuple[str, ...]
    data: bytes
    whole: Path | None


def copy_of(seeds: Sequence[Path], seed: int, number: int) -> Copy:
    """The copy of this number, of one of the seed files."""
    draw = random.Random(f"{seed}:{number}")
    file = draw.choice(seeds)
    data = bytearray(file.read_bytes())
    kinds = [draw.choice(DAMAGE if draw.random() < 0.6 else CRAFT) for _ in range(draw.choice((1, 1, 1, 2, 3)))]
    if draw.random() < 0.1:
        kinds = [splice]
        other = draw.choice(seeds).read_bytes()
        data = bytearray(_spliced(draw, bytes(data), other))
    else:
        for kind in kinds:
            try:
                kind(draw, data)
            except (ValueError, IndexError):  # too small a file, or nothing of the kind in it
                lost_text.flip(draw, data)
    whole = file if all(kind in DAMAGE for kind in kinds) else None
    return Copy(f"{number}-{file.name}", tuple(kind.__name__ for kind in kinds), bytes(data[:LARGE_BYTES]), whole)


def xref(draw: random.Random, data: bytearray) -> None:
    """Other digits in the table of offsets, or in `startxref`."""
    start = draw.choice([match.start() for match in re.finditer(rb"startxref|\d{10} \d{5} n|/Prev|/Size|/Index", data)])
    for _ in range(draw.choice((1, 3, 12))):
        at = draw.randrange(start, min(start + 60, len(data)))
        data[at] = draw.choice(b"0123456789")


def length(draw: random.Random, data: bytearray) -> None:
    """A stream that says another length than it has."""
    match = draw.choice(list(re.finditer(rb"/Length (\d+)", data)))
    data[match.start(1) : match.end(1)] = draw.choice((b"0", b"1", b"-5", b"99999999", b"%d" % (int(match[1]) // 2)))


def splice(draw: random.Random, data: bytearray) -> None:
    """The beginning of one file and the end of another; see `copy_of`."""


def _spliced(draw: random.Random, first: bytes, second: bytes) -> bytes:
    if draw.random() < 0.3:  # as two revisions of one file
        return first + second[draw.randrange(len(second)) :]
    return first[: draw.randrange(1, len(first))] + second[draw.randrange(len(second)) :]


def references(draw: random.Random, data: bytearray) -> None:
    """References that lead to other objects: loops, pages as fonts, fonts as pages."""
    numbers = [match[1] for match in re.finditer(rb"(\d+) 0 obj", data)]
    for match in sorted(
        draw.sample(list(re.finditer(rb"(\d+) 0 R", data)), draw.choice((1, 2, 5))), key=lambda m: -m.start()
    ):
        data[match.start(1) : match.end(1)] = draw.choice(numbers)


def numbers(draw: random.Random, data: bytearray) -> None:
    """Numbers at the ends of their range, in dictionaries and in page contents that are not packed."""
    for match in sorted(draw.sample(list(NUMBER.finditer(data)), draw.choice((1, 3, 8))), key=lambda m: -m.start()):
        data[match.start() : match.end()] = draw.choice(EXTREME)


def keys(draw: random.Random, data: bytearray) -> None:
    """A key under the name of another one."""
    found = list(KEY.finditer(data))
    for match in sorted(draw.sample(found, draw.choice((1, 2, 5))), key=lambda m: -m.start()):
        data[match.start() : match.end()] = draw.choice(found)[0]


def objects(draw: random.Random, data: bytearray) -> None:
    """Whole objects exchanged, doubled, or taken out."""
    found = list(OBJECT.finditer(data))
    first, second = sorted(draw.sample(found, 2), key=lambda m: m.start())
    what = draw.choice(("exchange", "double", "drop"))
    if what == "drop":
        del data[first.start() : first.end()]
    elif what == "double":
        data[second.end() : second.end()] = b"\n" + first[0] + b"\n"
    else:
        head_a, head_b = (match[0][: match[0].index(b"obj") + 3] for match in (first, second))
        data[second.start() : second.end()] = head_b + first[0][len(head_a) :]
        data[first.start() : first.end()] = head_a + second[0][len(head_b) :]


def nesting(draw: random.Random, data: bytearray) -> None:
    """Thousands of brackets in the place of a value."""
    match = draw.choice(list(re.finditer(rb"[\[<]", data)))
    many = draw.choice((100, 5_000, 100_000))
    data[match.start() : match.start()] = draw.choice((b"[", b"<<", b"<</A ", b"(", b"q ")) * many


def stream(draw: random.Random, data: bytearray) -> None:
    """Random operators in the place of a stream, which keeps its dictionary."""
    start = draw.choice([match.end() for match in re.finditer(rb"(?<!end)stream\r?\n", data)])
    end = max(data.index(b"endstream", start), start)
    operators = b"q Q BT ET Tj TJ Tf Td Tm cm re f W n sh Do gs BI ID EI BDC EMC scn d0 d1".split()
    words = [
        draw.choice((draw.choice(operators), draw.choice(EXTREME), b"/F1", b"(text)"))
        for _ in range(draw.choice((20, 2_000)))
    ]
    data[start:end] = b" ".join(words)


DAMAGE: tuple[Kind, ...] = (*lost_text.KINDS, xref, length)
CRAFT: tuple[Kind, ...] = (references, numbers, keys, objects, nesting, stream)
