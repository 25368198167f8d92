"""The numbers that pages print: read from the file, and never markup."""

from __future__ import annotations

import pymupdf
import pytest

from rag_core.ingest.reading.pdf import read_pdf

RULES = [
    {"startpage": 0, "prefix": "Cover", "firstpagenum": 1},
    {"startpage": 1, "prefix": "", "style": "r", "firstpagenum": 2},
    {"startpage": 3, "prefix": "A-", "style": "D", "firstpagenum": 1},
]


def labelled(rules: list[dict[str, object]], pages: int = 5) -> bytes:
    made = pymupdf.open()
    for number in range(pages):
        made.new_page().insert_text((72, 100), f"Sentence {number + 1} of this file stands here.")
    if rules:
        made.set_page_labels(rules)
    return bytes(made.tobytes())


@pytest.mark.parametrize(
    ("rules", "labels"),
    [
        (RULES, ["Cover", "ii", "iii", "A-1", "A-2"]),
        ([{"startpage": 0, "prefix": "", "style": "D", "firstpagenum": 1}], [""] * 5),  # what everybody expects
        ([], [""] * 5),
        ([{"startpage": 0, "prefix": "**[x](http://y)**", "style": "D", "firstpagenum": 1}], [""] * 5),
        ([{"startpage": 0, "prefix": "L" * 400, "style": "D", "firstpagenum": 1}], ["L" * 20] * 5),
    ],
)
def test_given_page_labels_when_read_then_those_that_say_more_than_the_place_are_kept(
    rules: list[dict[str, object]], labels: list[str]
) -> None:
    assert [page.label for page in read_pdf(labelled(rules), "a.pdf").pages] == labels
