"""The numbers that Word prints before paragraphs, its notes, and what stands above and below its pages, are read as
they are printed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
import word_file
from hypothesis import given
from hypothesis import strategies as st
from word_file import W

from rag_core.ingest.pdf_worker.formats.documents import web_page
from rag_core.ingest.pdf_worker.formats.left_out import LeftOut

ROOTS = {"numbering": "numbering", "styles": "styles", "footnotes": "footnotes"}


def word(body: str, **parts: str) -> bytes:
    roots = {name: ROOTS.get(name, "hdr") for name in parts}
    return word_file.word(
        body, {f"word/{name}.xml": f"<w:{roots[name]} {W}>{inner}</w:{roots[name]}>" for name, inner in parts.items()}
    )


def listed(text: str, level: int = 0, own: int = 1, style: str = "") -> str:
    said = (
        f'<w:pStyle w:val="{style}"/>'
        if style
        else f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{own}"/></w:numPr>'
    )
    return f"<w:p><w:pPr>{said}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def lists(levels: Sequence[tuple[str, str]], more: str = "", start: int = 1) -> str:
    rows = "".join(
        f'<w:lvl w:ilvl="{n}"><w:start w:val="{start}"/><w:numFmt w:val="{format}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for n, (format, text) in enumerate(levels)
    )
    return (
        f'<w:abstractNum w:abstractNumId="7">{rows}</w:abstractNum><w:num '
        f'w:numId="1"><w:abstractNumId w:val="7"/></w:num>{more}'
    )


def paragraphs(data: bytes) -> list[str]:
    page = web_page(data, LeftOut())[0].decode()
    body = page[page.index("<body>") + 6 : page.index("</body>")]
    return [
        said
        for one in re.split("</?p>|</?ul>", body.replace("<li>", "• ").replace("</li>", ""))
        if (said := one.strip())
    ]


LEVELS = [("decimal", "%1."), ("decimal", "%1.%2"), ("lowerLetter", "(%3)"), ("upperRoman", "%4)")]


def test_given_numbered_paragraphs_when_read_then_each_has_its_number_and_deeper_ones_begin_anew() -> None:
    body = "".join(listed(f"P{n}", level) for n, level in enumerate([0, 1, 1, 2, 2, 0, 1, 2, 3, 3]))

    found = paragraphs(word(body, numbering=lists(LEVELS)))

    assert found == ["1. P0", "1.1 P1", "1.2 P2", "(a) P3", "(b) P4", "2. P5", "2.1 P6", "(a) P7", "I) P8", "II) P9"]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.integers(1, 5))
def test_given_any_order_of_levels_when_read_then_numbers_are_those_of_an_outline(
    levels: list[int], start: int
) -> None:
    texts = [("decimal", ".".join(f"%{n}" for n in range(1, depth + 2))) for depth in range(4)]
    seen: list[int] = []  # the levels of paragraphs before, those below a higher one forgotten
    expected = []
    for level in levels:
        seen = [*(one for one in seen if one <= level), level]
        expected.append(".".join(str(start + max(0, seen.count(at) - 1)) for at in range(level + 1)) + " P")

    assert (
        paragraphs(word("".join(listed("P", level) for level in levels), numbering=lists(texts, start=start)))
        == expected
    )


@pytest.mark.parametrize(
    ("format", "number", "printed"),
    [
        ("lowerLetter", 28, "bb"),
        ("upperLetter", 3, "C"),
        ("lowerRoman", 49, "xlix"),
        ("upperRoman", 4, "IV"),
        ("decimalZero", 7, "07"),
        ("chosung", 5, "5"),
    ],
)
def test_given_a_kind_of_number_when_read_then_it_is_printed_so(format: str, number: int, printed: str) -> None:
    assert paragraphs(word(listed("P"), numbering=lists([(format, "%1")], start=number))) == [f"{printed} P"]


def test_given_bullets_or_an_unknown_list_when_read_then_no_number_is_made_up() -> None:
    body = listed("A") + listed("B", own=9) + listed("C", own=0)

    assert paragraphs(word(body, numbering=lists([("bullet", "\uf0b7")]))) == ["• A", "• B", "C"]


def test_given_two_lists_of_one_kind_when_the_second_restarts_then_it_begins_anew() -> None:
    again = (
        '<w:num w:numId="2"><w:abstractNumId w:val="7"/><w:lvlOverride '
        'w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>'
    )
    on = '<w:num w:numId="3"><w:abstractNumId w:val="7"/></w:num>'
    body = "".join((listed("A"), listed("B"), listed("C", own=3), listed("D", own=2), listed("E", own=2)))

    assert paragraphs(word(body, numbering=lists(LEVELS, again + on))) == ["1. A", "2. B", "3. C", "1. D", "2. E"]
    later = again.replace('startOverride w:val="1"', 'startOverride w:val="12"')
    assert paragraphs(word(body, numbering=lists(LEVELS, later + on))) == ["1. A", "2. B", "3. C", "12. D", "13. E"]


def test_given_a_numbered_style_when_read_then_paragraphs_and_headings_of_it_and_of_its_heirs_are_numbered() -> None:
    style = (
        '<w:style w:styleId="Clause"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        '<w:style w:styleId="Sub"><w:basedOn w:val="Clause"/><w:pPr><w:numPr><w:ilvl '
        'w:val="1"/></w:numPr></w:pPr></w:style>'
        '<w:style w:styleId="Loop"><w:basedOn w:val="Loop"/></w:style>'
    )
    body = listed("A", style="Clause") + listed("B", style="Sub") + listed("C", style="Sub") + listed("D", style="Loop")

    assert paragraphs(word(body, numbering=lists(LEVELS), styles=style)) == ["1. A", "1.1 B", "1.2 C", "D"]


def test_given_an_empty_numbered_paragraph_when_read_then_it_is_counted_and_not_shown_and_a_deleted_one_is_not() -> (
    None
):
    body = listed("A") + listed("") + f"<w:del>{listed('gone')}</w:del>" + listed("C")

    assert paragraphs(word(body, numbering=lists(LEVELS))) == ["1. A", "<s>gone</s>", "3. C"]


def test_given_notes_and_page_heads_when_read_then_a_note_stands_below_what_refers_to_it() -> None:
    said = "<w:p><w:r><w:t>{}</w:t></w:r>{}</w:p>".format
    mark = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    refers = said("The rent is 410 euros.", mark) + said("End.", "")
    note = said("Students pay 350 euros.", mark)
    notes = f'<w:footnote w:type="separator" w:id="0"/><w:footnote w:id="2">{note}</w:footnote>'
    head = "<w:p><w:r><w:t>Warden: Otto Prill</w:t></w:r></w:p>"

    found = paragraphs(word(refers, footnotes=notes, header1=head, header2=head))

    assert found == ["Warden: Otto Prill", "The rent is 410 euros.¹", "¹ Students pay 350 euros.", "End."]
