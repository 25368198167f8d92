"""Documents that the training program sets: what they say can be read back, and their labels are true of what stands in
them.
"""

import json
import random

import pymupdf

from training.pdf.documents import WORDS, Document, main
from training.pdf.forms import Sheet
from training.pdf.texts import Question, Text, folded, stands

CELLS = (
    "Net sales | Years ended June 30, 2019 : $1,496.5",
    "Net sales | Years ended June 30, 2018 : $1,202.9",
    "Equity > Reserves | Years ended June 30, 2019 : 19.5",
    "Equity > Reserves | Years ended June 30, 2018 : 12.5",
)


def _document() -> Document:
    asked = Question("What were net sales in 2019?", ("$1,496.5",), "stated", "made")
    summed = Question("How much did reserves grow?", ("7.0",), "computed", "made")
    lost = Question("Where is the head office?", ("Harrow",), "stated", "made")
    here = Question("Who owns the mill?", ("the Ferris family",), "stated", "made")
    out = Text("The head office moved to Harrow.", "", "en", "made", (lost, here))
    text = Text(
        "The mill belongs to the Ferris family. It was built on a hill.",
        "",
        "en",
        "made",
        (asked, summed, here),
        CELLS,
        "in millions",
    )
    return Document("annual report", "en", [text], [out])


def test_a_document_and_its_labels(tmp_path):
    main(tmp_path, [_document()])
    (file,) = (tmp_path / "pdfs").iterdir()
    questions = [json.loads(line) for line in (tmp_path / "questions.jsonl").read_text().splitlines()]
    gold = {row["id"]: row for row in map(json.loads, (tmp_path / "gold.jsonl").read_text().splitlines())}
    assert {row["id"] for row in questions} == set(gold)
    assert all(row["documents"] == [file.name] for row in questions)
    with pymupdf.open(file) as pdf:
        pages = [page.get_text() for page in pdf]
    assert "...." in pages[1]  # the contents, with leaders
    assert "2019" in pages[2]
    text = folded(" ".join(pages))
    kinds = {row["question"]: gold[row["id"]] for row in questions}
    assert kinds["What were net sales in 2019?"]["answers"] == ["$1,496.5"]
    assert stands(["$1,496.5"], text)
    assert kinds["Where is the head office?"]["kind"] == "left out"
    assert not stands(["Harrow"], text)
    assert kinds["Who owns the mill?"]["answerable"]  # the text left out is not the only one that says it
    assert all(stands(row["answers"], text) for row in gold.values() if row["answerable"])


def test_the_same_texts_give_the_same_bytes(tmp_path):
    main(tmp_path / "one", [_document()])
    main(tmp_path / "two", [_document()])
    assert [p.read_bytes() for p in (tmp_path / "one" / "pdfs").iterdir()] == [
        p.read_bytes() for p in (tmp_path / "two" / "pdfs").iterdir()
    ]


def test_heads_that_share_words_stand_in_two_lines():
    sheet = Sheet("annual report", WORDS["en"], random.Random(1))
    sheet.add_table(CELLS, "in millions")
    table = sheet.parts[0]
    assert "<th colspan=2>Years ended June 30</th>" in table
    assert "<th>2019</th><th>2018</th>" in table
    assert "<td>Equity</td>" in table
