"""Titles of collections: what people write is shown as they wrote it, and a name that folders and addresses can have is
made from it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.acts import Action, Actor, acting
from rag_core.errors import InvalidInput
from rag_core.library.stored import titles
from rag_core.library.stored.named import collections, is_name
from rag_core.wiring import make_collection, make_titled


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Smlouvy 2024 – Praha", "smlouvy-2024-praha"),
        ("Příručka: žluťoučký kůň", "prirucka-zlutoucky-kun"),
        ("Straßenbau GmbH & Co. KG", "strassenbau-gmbh-co-kg"),
        ("Łódź", "lodz"),
        ("law_2026-a", "law_2026-a"),
        ("../../etc/passwd", "etc-passwd"),
        ("<b>x</b>", "b-x-b"),
    ],
)
def test_given_a_title_then_the_name_can_stand_in_an_address(tmp_path: Path, title: str, name: str) -> None:
    assert make_titled(tmp_path, f"  {title} ") == name
    assert titles.title_of(tmp_path, name) == title
    assert collections(tmp_path) == (name,)


def test_given_another_script_or_digits_alone_then_the_name_says_that_it_is_a_collection(tmp_path: Path) -> None:
    hindi, year = make_titled(tmp_path, "अनुबंध २०२४"), make_titled(tmp_path, "2024!")

    assert hindi.startswith("collection-")
    assert year.startswith("collection-2024-")
    assert titles.title_of(tmp_path, hindi) == "अनुबंध २०२४"


def test_given_two_titles_with_one_name_then_both_are_made_and_each_is_one_collection(tmp_path: Path) -> None:
    first = make_titled(tmp_path, "Plány")
    second = make_titled(tmp_path, "Plany!")

    assert (first, second) == ("plany", "plany-2")
    assert make_titled(tmp_path, "PLÁNY") == first
    assert collections(tmp_path) == ("plany", "plany-2")


def test_given_a_collection_not_theirs_when_somebody_writes_its_title_then_they_get_another(tmp_path: Path) -> None:
    make_titled(tmp_path, "Board Minutes")

    with acting(Actor("user:eda", frozenset({Action.COLLECTION}), {})):
        assert make_titled(tmp_path, "Board Minutes") == "board-minutes"  # may do things everywhere: it is theirs too
    with acting(Actor("user:eva", frozenset(), {"board-minutes-2": frozenset(Action)})):
        assert make_titled(tmp_path, "board minutes") == "board-minutes-2"


@pytest.mark.parametrize("title", ["", "   ", "\u200b\u202e\n", "x" * 81])
def test_given_a_title_that_nobody_could_read_then_nothing_is_made(tmp_path: Path, title: str) -> None:
    with pytest.raises(InvalidInput):
        make_titled(tmp_path, title)

    assert collections(tmp_path) == ()


@pytest.mark.parametrize("data", [b"\xff\xfe", b"", b"\n", b"x" * 10_000])
def test_given_a_title_that_cannot_be_read_then_the_name_is_shown(tmp_path: Path, data: bytes) -> None:
    make_collection(tmp_path, "plans", "Plány")
    (tmp_path / "plans" / titles.FILE).write_bytes(data)

    assert titles.title_of(tmp_path, "plans") == "plans"


def test_given_a_collection_that_is_there_when_it_is_made_again_then_its_title_stays(tmp_path: Path) -> None:
    make_collection(tmp_path, "plans", "Plány")
    make_collection(tmp_path, "plans", "Another")

    assert titles.title_of(tmp_path, "plans") == "Plány"


@given(st.text(max_size=90), st.integers(0, 3))
def test_given_any_text_then_its_name_can_be_one_and_is_free_and_its_title_is_one_line(text: str, taken: int) -> None:
    try:
        title = titles.cleaned(text)
    except InvalidInput:
        return
    before = list[str]()
    for _ in range(taken + 1):
        name = titles.name_for(title, before)
        assert is_name(name)
        assert name not in before
        before.append(name)
    assert titles.cleaned(title) == title
    assert title.splitlines() == [title]
