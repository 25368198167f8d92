"""The order in which lines of a picture are read, and where the words of a line end. No engine is needed."""

from __future__ import annotations

from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.ingest.pdf_worker.scans.ocr import with_bullets
from rag_core.ingest.pdf_worker.scans.order import Place, in_order
from rag_core.ingest.pdf_worker.words import Run, Word

HIGH, PITCH = 30.0, 40.0  # pixels of a line at 200 dots an inch, and from line to line


def column(left: float, lines: int, top: float = 0.0, wide: float = 600.0) -> list[Place]:
    return [Place(left, top + PITCH * row, left + wide, top + PITCH * row + HIGH) for row in range(lines)]


def order(*parts: list[Place]) -> list[int]:
    return [one.at for one in in_order([place for part in parts for place in part])]


CELLS = [[Place(x, PITCH * row, x + 120, PITCH * row + HIGH) for x in (0, 400, 800)] for row in range(6)]


@each(
    ("parts", "wanted"),
    [
        ([column(650, 6, top=5), column(0, 6)], [*range(6, 12), *range(6)]),  # the left one is read first
        ([column(0, 5), column(1300, 5), column(650, 5)], [*range(5), *range(10, 15), *range(5, 10)]),
        # between lines across them
        (
            [column(0, 2, top=400, wide=1250), column(650, 6, top=100), column(0, 6, top=100), column(0, 1, wide=1250)],
            [14, *range(8, 14), *range(2, 8), 0, 1],
        ),
        (CELLS, list(range(18))),  # a table is read row by row
        (CELLS[::-1], [at + 3 * row for row in reversed(range(6)) for at in range(3)]),
        ([column(0, 3), column(650, 3)], [0, 3, 1, 4, 2, 5]),  # too few lines for a column
        ([column(650, 5), column(0, 5, top=300)], list(range(10))),  # not beside each other
        ([], []),
    ],
)
def test_given_lines_when_ordered_then_columns_are_read_one_by_one_and_the_rest_row_by_row(
    parts: list[list[Place]], wanted: list[int]
) -> None:
    assert order(*parts) == wanted


def test_given_a_larger_step_than_usual_when_ordered_then_a_paragraph_starts_there() -> None:
    tops = (0, PITCH, 2 * PITCH, 3.3 * PITCH, 4.3 * PITCH, 5.4 * PITCH)

    found = in_order([Place(0, top, 600, top + HIGH) for top in tops])

    assert [one.starts for one in found] == [True, False, False, True, False, False]
    assert all(one.first for one in found)
    assert [one.first for one in in_order([Place(0, 0, 90, HIGH), Place(400, 0, 490, HIGH)])] == [True, False]


@given(
    places=st.lists(
        st.builds(
            lambda x, y, wide, high: Place(x, y, x + wide, y + high),
            *(st.floats(0, most) for most in (2000, 2000, 1500, 60)),
        ),
        max_size=24,
    )
)
def test_given_any_lines_when_ordered_then_each_is_read_once(places: list[Place]) -> None:
    assert sorted(one.at for one in in_order(places)) == list(range(len(places)))


def rows_of(signs: list[str], gap: float = 20.0) -> list[Run]:
    """Rows one below the other, each of a sign and, so far from it, two words."""
    found = []
    for at, sign in enumerate(signs):
        edges = (50.0, 50 + 5 * len(sign), 50 + 5 * len(sign) + gap)
        words = [
            Word(text, (x, 100 + 14 * at, x + 5 * len(text), 110 + 14 * at), 10, False, False)
            for text, x in zip((sign, "lamps", "burn"), (edges[0], edges[2], edges[2] + 30), strict=True)
        ]
        found.append(Run(words, 0, (1, 0)))
    return found


@each(
    ("signs", "gap", "found"),
    [
        (["e", "©", "*®", "e"], 20.0, "••••"),
        (["e", "1", "e", "©"], 20.0, "•1••"),  # a number is none
        (["a", "b", "c", "d"], 20.0, "abcd"),  # a list with letters
        (["Q", "A", "Q", "A"], 20.0, "QAQA"),  # speakers
        (["e", "e"], 20.0, "ee"),  # two are chance
        (["e", "e", "e"], 3.0, "eee"),  # words of a text
        (["the", "the", "the"], 20.0, "thethethe"),
    ],
)
def test_given_rows_that_begin_with_a_small_sign_when_recognised_then_bullets_are_bullets(
    signs: list[str], gap: float, found: str
) -> None:
    assert "".join(run.words[0].text for run in with_bullets(rows_of(signs, gap))) == found
