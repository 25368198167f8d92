"""The order in which lines of a picture are read, and where the words of a line end. No engine is needed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_core.ingest.pdf_worker.scans.order import Place, in_order

HIGH, PITCH = 30.0, 40.0  # pixels of a line at 200 dots an inch, and from line to line


def column(left: float, lines: int, top: float = 0.0, wide: float = 600.0) -> list[Place]:
    return [Place(left, top + PITCH * row, left + wide, top + PITCH * row + HIGH) for row in range(lines)]


def order(*parts: list[Place]) -> list[int]:
    return [one.at for one in in_order([place for part in parts for place in part])]


def test_given_two_columns_of_prose_when_ordered_then_the_left_one_is_read_first() -> None:
    left, right = column(0, 6), column(650, 6, top=5)

    assert order(right, left) == [6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5]


def test_given_three_columns_when_ordered_then_they_are_read_one_after_the_other() -> None:
    assert order(column(0, 5), column(1300, 5), column(650, 5)) == [*range(5), *range(10, 15), *range(5, 10)]


def test_given_columns_between_lines_across_them_when_ordered_then_what_stands_above_is_read_first_and_what_stands_below_last() -> (  # noqa: E501
    None
):
    title, foot = column(0, 1, wide=1250), column(0, 2, top=400, wide=1250)

    assert order(foot, column(650, 6, top=100), column(0, 6, top=100), title) == [14, *range(8, 14), *range(2, 8), 0, 1]


def test_given_a_table_when_ordered_then_it_is_read_row_by_row() -> None:
    cells = [[Place(x, PITCH * row, x + 120, PITCH * row + HIGH) for x in (0, 400, 800)] for row in range(6)]

    assert order(*cells) == list(range(18))
    assert order(*reversed(cells)) == [at + 3 * row for row in reversed(range(6)) for at in range(3)]


def test_given_a_few_lines_beside_a_picture_text_when_ordered_then_they_are_no_column() -> None:
    assert order(column(0, 3), column(650, 3)) == [0, 3, 1, 4, 2, 5]


def test_given_columns_that_do_not_stand_beside_each_other_when_ordered_then_the_upper_one_is_read_first() -> None:
    assert order(column(650, 5), column(0, 5, top=300)) == list(range(10))


def test_given_a_larger_step_than_usual_when_ordered_then_a_paragraph_starts_there() -> None:
    tops = (0, PITCH, 2 * PITCH, 3.3 * PITCH, 4.3 * PITCH, 5.4 * PITCH)

    found = in_order([Place(0, top, 600, top + HIGH) for top in tops])

    assert [one.starts for one in found] == [True, False, False, True, False, False]
    assert all(one.first for one in found)
    assert [one.first for one in in_order([Place(0, 0, 90, HIGH), Place(400, 0, 490, HIGH)])] == [True, False]


def test_given_no_line_then_there_is_no_order() -> None:
    assert in_order([]) == []


@given(
    places=st.lists(
        st.builds(
            lambda x, y, wide, high: Place(x, y, x + wide, y + high),
            st.floats(0, 2000),
            st.floats(0, 2000),
            st.floats(0, 1500),
            st.floats(0, 60),
        ),
        max_size=24,
    )
)
def test_given_any_lines_when_ordered_then_each_is_read_once(places: list[Place]) -> None:
    assert sorted(one.at for one in in_order(places)) == list(range(len(places)))
