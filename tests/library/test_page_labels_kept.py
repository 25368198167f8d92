"""The numbers that pages print stay with a document, and a citation says them beside the place in the file."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from builders import hit
from library_kit import SETTINGS, library

from rag_core.compression.citing import cite
from rag_core.domain.claims import Claim, Evidence
from rag_core.domain.decision import citation_json
from rag_core.grounding.citations import source_line
from rag_core.library.stored.sources import Source

ROMAN = [
    {"startpage": 0, "prefix": "", "style": "r", "firstpagenum": 1},
    {"startpage": 2, "prefix": "", "style": "D", "firstpagenum": 1},
]


@pytest.mark.parametrize(
    ("rules", "page", "said"), [(ROMAN, 3, "3 (labelled 1)"), (ROMAN, 2, "2 (labelled ii)"), ([], 3, "3")]
)
def test_given_a_file_with_page_labels_when_cited_from_a_reopened_library_then_both_numbers_are_said(
    tmp_path: Path, rules: list[dict[str, object]], page: int, said: str
) -> None:
    made = pymupdf.open()
    for number in range(4):
        made.new_page().insert_text((72, 100), f"Sentence {number + 1} of this file stands here.")
    made.set_page_labels(rules)
    library(tmp_path).add([Source("a.pdf", made.tobytes(), "pdf")], SETTINGS)
    corpus = library(tmp_path).snapshot
    found = next(one for one in corpus.passages for span in one.spans if span.page == page)
    span = next(one for one in found.spans if one.page == page)
    quote = corpus.page_text(found.document, page)[span.start : span.end]
    claim = Claim(quote, (Evidence(found.id, found.document, quote, (span,)),), (found.id,))

    (citation,) = cite([claim], [hit(of=found)], corpus).values()

    assert citation.page_in_words == said
    assert source_line(citation).endswith(f"Page {said}")
    assert citation_json(citation)["page_label"] == citation.page_label
