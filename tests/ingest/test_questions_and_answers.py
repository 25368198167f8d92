"""Questions set over their answers, however they are set: each answer stands under its own question."""

from __future__ import annotations

import textwrap

from folding import each
from hypothesis import given
from hypothesis import strategies as st
from paper import Set, page
from test_forms_read import paragraph, word

from rag_core.domain.documents import Page
from rag_core.ingest.blocks.structure import BlockKind, blocks
from rag_core.ingest.reading.pdf import read_pdf

ASKED = [
    ("How long is the permit valid?", "It is valid from May to the last day of September."),
    ("Can I lend it to a friend?", "No. It bears a photograph."),
    ("What does a permit for a large boat with two masts cost in the summer months?", "It costs 95 euros."),
    ("Where is the key kept?", "At the desk of the harbour master."),
    (
        "Who repairs the locks of the sluice?",
        "The county does so each spring, before the boats come back from their winter places.",
    ),
    ("Is there a fee if I miss the ferry?", "Yes, 10 euros."),
]
MARKS = [("", ""), ("Q: ", "A: "), ("Q{}. ", ""), ("{}. ", ""), ("Question {}: ", "Answer: ")]
PROSE = (
    "The harbour was built in 1870 by a firm from the north. It has two gates, and each of them is opened twice a day. "
    "What would a visitor see first? He would see the tower, which is older than the town. Nobody knows who built it. "
    "Was it the abbot? Letters of that time do not say so, and a fire took the rest of the papers. Some say that the "
    "tower "
    "was a light for ships. Why is it so low? The upper half fell in a storm, and the stones are in the walls of the "
    "houses. "
)
SPACINGS = st.sampled_from([("\n", "\n"), ("\n\n", "\n"), ("\n\n", "\n\n")])
faqs = st.lists(st.sampled_from(ASKED), min_size=2, max_size=5, unique=True)


def under(pages: list[Page]) -> list[tuple[str, str]]:
    """What stands in the document, with the innermost heading over it."""
    found = [block for block in blocks(pages, "en") if block.kind is not BlockKind.HEADING]
    return [((block.section or ("",))[-1], " ".join(pages[0].text[block.start : block.end].split())) for block in found]


def marked(faq: list[tuple[str, str]], marks: tuple[str, str]) -> list[tuple[str, str]]:
    return [(marks[0].format(n) + question, marks[1] + answer) for n, (question, answer) in enumerate(faq, 1)]


@given(faqs, st.sampled_from(MARKS), SPACINGS, st.sampled_from(["", "**", "## "]), st.integers(38, 200))
def test_given_questions_in_a_text_when_read_then_each_answer_stands_under_its_own(
    faq: list[tuple[str, str]], marks: tuple[str, str], spacing: tuple[str, str], bold: str, width: int
) -> None:
    told = marked(faq, marks)
    between, below = spacing
    close = bold.strip("# ")
    wrapped = [
        (q if bold == "## " else textwrap.fill(f"{bold}{q}{close}", width), textwrap.fill(a, width)) for q, a in told
    ]
    text = between.join(f"{'## ' if bold == '## ' else ''}{question}{below}{answer}" for question, answer in wrapped)

    assert under([Page(1, text)]) == [(f"{bold.strip('# ')}{q}{close}", a) for q, a in told]


@given(faqs, st.sampled_from(MARKS), st.booleans(), st.booleans(), st.sampled_from([10.0, 12.0]), st.integers(38, 90))
def test_given_questions_in_a_pdf_when_read_then_each_answer_stands_under_its_own(
    faq: list[tuple[str, str]], marks: tuple[str, str], bold: bool, gap: bool, size: float, width: int
) -> None:
    told = marked(faq, marks)
    rows: list[Set] = []
    for question, answer in told:
        rows += [
            Set(row, size=size, bold=bold, gap=gap and not at) for at, row in enumerate(textwrap.wrap(question, width))
        ]
        rows += [Set(row, gap=False) for row in textwrap.wrap(answer, width)]

    assert under([page(1, rows)]) == told


@given(st.integers(40, 110), st.integers(0, 200))
def test_given_questions_within_prose_when_read_then_none_becomes_a_heading(width: int, skipped: int) -> None:
    rows = textwrap.wrap("Harbours " + "x" * (skipped % 40 + 1) + " and towers. " + PROSE, width)

    assert not [each for each in blocks([Page(1, "\n".join(rows))], "en") if each.kind is BlockKind.HEADING]


@each(
    "text",
    [
        "Who are we?\nWhere do we go?\nWhat do we hope for?\nThese are the questions of the book, and it answers none "
        "of them.",
        "“Where are you going?”\n“To the harbour,” he said.\n“Why at night?”\n“Because the tide is high.”",
        "- Is it large?\n- Is it dry?\nWhoever cannot say so asks at the desk of the house.",
    ],
)
def test_given_questions_without_answers_or_in_speech_when_read_then_none_becomes_a_heading(text: str) -> None:
    assert all(section == "" for section, _ in under([Page(1, text)]))


@each("form", ["html", "bold html", "definitions", "word", "bold word", "markdown"])
def test_given_questions_in_a_file_when_read_then_each_answer_stands_under_its_own(form: str) -> None:
    match form:
        case "html":
            text = "".join(f"<p>{question}</p><p>{answer}</p>" for question, answer in ASKED)
        case "bold html":
            text = "".join(f"<p><b>{question}</b><br>{answer}</p>" for question, answer in ASKED)
        case "definitions":
            text = f"<dl>{''.join(f'<dt>{question}</dt><dd>{answer}</dd>' for question, answer in ASKED)}</dl>"
        case "word":
            text = "".join(paragraph(question) + paragraph(answer) for question, answer in ASKED)
        case "bold word":
            text = "".join(
                paragraph(question, "<w:rPr><w:b/></w:rPr>") + paragraph(answer) for question, answer in ASKED
            )
        case _:
            text = "\n\n".join(f"**{question}**\n{answer}" for question, answer in ASKED)
    if form == "markdown":
        pages = [Page(1, text)]
    else:
        data = word(text) if "word" in form else f"<!DOCTYPE html><html><body>{text}</body></html>".encode()
        pages = list(read_pdf(data, "questions", form="docx" if "word" in form else "html", ocr=False).pages)
    mark = "**" if form == "markdown" else ""

    assert under(pages) == [(f"{mark}{question}{mark}", answer) for question, answer in ASKED]
