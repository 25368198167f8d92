"""Says in sentences what was found in a file: its pages' problems, and its hidden text by kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from rag_core.domain.documents import Page

MAX_NAMES, NAME_CHARS = 5, 80  # attached files that a sentence names
STRUCK_OUT = "crossed out or marked as void"
# why text is not read, by the child's word for it
HIDDEN_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "none": "transparent or not painted",
        "tiny": "too small to read",
        "beside": "beside the page",
        "unseen": "covered, cut away, masked or in the colour of their ground",
        "other": "saying other letters than are shown",
        "layer": "in a layer that is switched off",
        "struck": STRUCK_OUT,
    }
)


def page_problems(pages: Sequence[Page]) -> Iterator[str]:
    by_problem: dict[str, list[int]] = {}
    for page in pages:
        if page.problem:
            by_problem.setdefault(page.problem, []).append(page.number)
    for problem, numbers in by_problem.items():
        yield f"{page_list(numbers)}: {problem}"


def hidden_text(kinds: Mapping[str, Sequence[tuple[int, int]]]) -> Iterator[str]:
    """The text that was left out, with its kinds and pages. `kinds`: (page, characters) by kind."""
    if STRUCK_OUT in kinds:
        yield struck_out(kinds[STRUCK_OUT])
    hidden = {kind: found for kind, found in kinds.items() if kind != STRUCK_OUT}
    if hidden:
        parts = []
        for kind, found in hidden.items():
            where = page_list([page for page, _ in found])
            parts.append(f"{_characters(found):,} {kind} ({where[0].lower()}{where[1:]})")
        pages = page_list(sorted({page for found in hidden.values() for page, _ in found}))
        chars = sum(map(_characters, hidden.values()))
        yield f"{pages}: {chars:,} characters of hidden text were left out: {'; '.join(parts)}."


def struck_out(found: Sequence[tuple[int, int]]) -> str:
    """How much text is crossed out, as (page, characters), and was left out."""
    pages = page_list(sorted({page for page, _ in found}))
    return f"{pages}: {_characters(found):,} characters of text that is {STRUCK_OUT} were left out."


def _characters(found: Sequence[tuple[int, int]]) -> int:
    return sum(chars for _, chars in found)


def attached_files(names: Sequence[str]) -> str:
    """That these files in a file were not read."""
    said = ", ".join(" ".join(name.split())[:NAME_CHARS] for name in names[:MAX_NAMES])
    were = f"{len(names):,} attached files were" if len(names) > 1 else "1 attached file was"
    return f"{were} not read: {said}{'…' * (len(names) > MAX_NAMES)}."


def commented(pages: Sequence[int]) -> str:
    """That what somebody put on these pages, such as a sticky note, was not read."""
    return f"{page_list(pages)}: notes, text boxes or comments that were put on the page were not read."


def page_list(numbers: Sequence[int]) -> str:
    """Ascending page numbers for a sentence: "Page 3", "Pages 1-3, 7"."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ("Page " if len(numbers) == 1 else "Pages ") + ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
