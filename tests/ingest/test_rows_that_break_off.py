"""A row that breaks off within its sentence is text, however it is set; a heading is complete."""

from __future__ import annotations

import random

import pymupdf
import pytest

from rag_core.domain.documents import Page
from rag_core.ingest.blocks.structure import BlockKind, blocks
from rag_core.ingest.reading.pdf import read_pdf

WIDTH = 210.0  # of the column, in points
WORDS = "berth crane sluice ferry harbour mill anchor quay lantern rudder".split()
PLAIN, BOLD = "helv", "hebo"
Line = tuple[str, str, float, float]  # words, font, white space above, and from the left


def wrapped(text: str, font: str = PLAIN, size: float = 10.0) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if pymupdf.get_text_length(longer, font, size) > WIDTH:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def sentence(draw: random.Random, words: int) -> str:
    return f"The {' '.join(draw.choice(WORDS) for _ in range(words))}."


def read(lines: list[Line]) -> tuple[Page, list[tuple[BlockKind, str]]]:
    with pymupdf.open() as document:
        sheet, y = document.new_page(width=595, height=842), 80.0
        for text, font, above, left in lines:
            y += 12 + above
            sheet.insert_text((72 + left, y), text, fontname=font, fontsize=10)
        page = read_pdf(document.tobytes(), "a.pdf", ocr=False).pages[0]
    found = blocks([page], "en")
    return page, [(block.kind, " ".join(page.text[start:end].split())) for block in found for start, end in block.parts]


@pytest.mark.parametrize("seed", range(8))
def test_given_a_bold_first_row_that_breaks_off_when_read_then_its_sentence_stands_in_one_text(seed: int) -> None:
    draw = random.Random(seed)
    mark, indent = draw.choice([("2. ", 18.0), ("", 0.0)])
    text = f"{mark}Use the {draw.choice(WORDS)} of the harbour. {sentence(draw, 16).replace('The', 'Keys can')}"
    first, *rest = wrapped(text, BOLD)
    item: list[Line] = [(first, BOLD, 8, 0), *((line, PLAIN, 6.0 * (at == 0), indent) for at, line in enumerate(rest))]
    others: list[Line] = [(line, PLAIN, 8.0 * (at == 0), 0) for at, line in enumerate(wrapped(sentence(draw, 40)))]

    _, found = read([*others, *item, *others])

    assert [words for _, words in found if words.startswith(text[:12])] == [text]
    assert BlockKind.HEADING not in {kind for kind, _ in found}


@pytest.mark.parametrize("heading", ["Fees", "2. Use of the crane", "Masks and other covers of the face"])
def test_given_a_bold_row_that_has_room_for_the_next_word_when_read_then_it_is_a_heading(heading: str) -> None:
    lines = wrapped("anyone who comes by boat pays " + sentence(random.Random(1), 40).lower())

    _, found = read([(heading, BOLD, 8, 0), *((line, PLAIN, 9.0 * (at == 0), 0) for at, line in enumerate(lines))])

    assert (BlockKind.HEADING, heading) in found


@pytest.mark.parametrize("font", [PLAIN, BOLD])
def test_given_labels_with_values_below_when_read_then_each_value_stands_with_its_label(font: str) -> None:
    asked = [
        ("Amount payable under the contract:", "$3,148,800.00"),
        ("Method of tendering:", "Open Tender"),
        ("Term:", "15 Weeks"),
    ]
    lines: list[Line] = []
    for number, (label, value) in enumerate(asked, 1):
        lines += [(f"{number}. {label}", font, 8, 0), (value, font, 8, 18)]

    _, found = read(lines)

    assert [words for _, words in found] == [
        f"{number}. {label} {value}" for number, (label, value) in enumerate(asked, 1)
    ]
    assert {kind for kind, _ in found} == {BlockKind.LIST}


def test_given_a_clause_in_one_short_row_between_others_when_read_then_it_is_text() -> None:
    clauses = [
        "Section 21: No person shall moor a boat at the steps of the market or of the mill.",
        "Section 22: (Was not approved by the county)",
        "Section 23: No person shall feed the swans on the quay or at the steps of the mill.",
    ]
    lines = [(clause, PLAIN, 11.0, 0.0) for clause in clauses]

    _, found = read(lines)

    assert [kind for kind, words in found if words == clauses[1]] == [BlockKind.PARAGRAPH]
