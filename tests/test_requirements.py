"""`docs/requirements.md` is true: every number once, every path there, and a test that names the number."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"\bS[0-4]-[0-9]+\b")
MOST = {"S0": 38, "S1": 20, "S2": 31, "S3": 32, "S4": 25}  # points of each of the five documents
KNOWN = [f"{source}-{number}" for source, most in MOST.items() for number in range(1, most + 1)]
BY_PAGE = {
    "S0-33",
    "S0-38",
    "S1-8",
    "S1-19",
    "S2-5",
    "S2-28",
    "S2-29",
    "S4-23",
}
MAX_NUMBERS = 3  # a test names: one that shows more shows none of them well


def rows() -> Iterator[tuple[str, str, str]]:
    """Each point of the lists: its number, or "" for one without; done by; tested by, for one without a number."""
    for point in re.findall(r"^- (.+(?:\n  .+)*)", PAGE.partition("## S0")[2], flags=re.MULTILINE):
        number = NUMBER.match(point)
        by, _, tests = point.partition("Tested by")
        yield (number[0] if number else ""), by, tests


def paths(text: str) -> list[str]:
    return re.findall(r"`([^`\s]*/[^`\s]*)`", text)


@cache
def named() -> tuple[tuple[str, str, list[str]], ...]:
    """File, name and numbers of each test, from the files that name a number at all: a tree costs a hundred times as
    much as a look.
    """
    texts = (
        (str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "tests").rglob("*.py"))
    )
    return tuple(
        (file, node.name, sorted(set(NUMBER.findall(ast.get_docstring(node) or ""))))
        for file, text in texts
        if NUMBER.search(text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def test_given_the_page_then_every_number_stands_there_once() -> None:
    assert [number for number, _, _ in rows() if number] == KNOWN


def test_given_the_page_then_every_file_and_heading_that_it_names_is_there() -> None:
    named_paths = {path for _, by, tests in rows() for path in (*paths(by), *paths(tests))}
    links = re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", PAGE)
    headings = {
        page: {
            re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-")
            for line in text.splitlines()
            if line.startswith("#")
        }
        for page, _ in links
        if page.endswith(".md") and (text := (ROOT / "docs" / page).read_text(encoding="utf-8"))
    }

    assert sorted(path for path in named_paths if not (ROOT / path).exists()) == []
    assert [page for page, _ in links if not (ROOT / "docs" / page).exists()] == []
    assert [f"{page}#{heading}" for page, heading in links if heading and heading not in headings[page]] == []


def test_given_a_number_then_code_does_it_and_a_test_names_it_or_a_page_shows_it() -> None:
    tested = {number for _, _, numbers in named() for number in numbers}

    assert [by for _, by, _ in rows() if not paths(by)] == []
    assert [by for number, by, tests in rows() if not number and not paths(tests)] == []
    assert {number for number in KNOWN if number not in tested} <= BY_PAGE
    assert [number for number, by, _ in rows() if number in BY_PAGE and "](" not in by] == []


def test_given_the_tests_then_none_names_a_number_that_is_not_there_or_more_than_three() -> None:
    tests = named()

    assert [(file, name) for file, name, numbers in tests if set(numbers) - set(KNOWN)] == []
    assert [(file, name) for file, name, numbers in tests if len(numbers) > MAX_NUMBERS] == []


def test_given_code_screens_and_texts_then_no_number_of_a_requirement_is_in_them() -> None:
    """They mean nothing to somebody who reads a screen or the code."""
    folders = ("rag_core", "ui", "pages", "training", "examples", "reports", "data")
    files = [
        ROOT / "app.py",
        ROOT / "README.md",
        *(path for folder in folders for path in sorted((ROOT / folder).rglob("*"))),
    ]
    texts = (path for path in files if path.suffix in {".py", ".yaml", ".json", ".md", ".css"})

    assert [str(path.relative_to(ROOT)) for path in texts if NUMBER.search(path.read_text(encoding="utf-8"))] == []
    screens = [ROOT / "data" / "presets.yaml", *sorted((ROOT / "data" / "screens").rglob("*.yaml"))]
    assert [
        str(path.relative_to(ROOT)) for path in screens if re.search(r"\bS[0-4]\b", path.read_text(encoding="utf-8"))
    ] == []
