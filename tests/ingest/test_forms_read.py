"""Saved web pages and Word documents: read as pages with marks, in the child, and nothing of them runs or is
fetched.
"""

from __future__ import annotations

import random
import socket
from pathlib import Path

import pytest
from folding import each
from word_file import W, word

from rag_core.domain.documents import Page
from rag_core.domain.rows import EMPTY, in_words
from rag_core.errors import DamagedPdf, LimitExceeded, NotAPdf
from rag_core.ingest.blocks.structure import BlockKind, blocks
from rag_core.ingest.pdf_worker.formats import documents as forms
from rag_core.ingest.pdf_worker.formats import tables as grid
from rag_core.ingest.pdf_worker.formats.left_out import LeftOut
from rag_core.ingest.pdf_worker.formats.seen import seen
from rag_core.ingest.reading.pdf import read_pdf, render_page
from rag_core.ingest.reading.pdf_facts import form_of, has_form
from rag_core.library.stored.sources import READABLE, Source

TABLE = (
    "<table><tr><th>Parameter</th><th>Value</th></tr><tr><td>Maximum operating "
    "pressure</td><td>16 bar</td></tr></table>"
)


def web(port: int = 9) -> bytes:
    there = f"http://127.0.0.1:{port}"
    return f"""<!DOCTYPE html><!-- saved from url=(0020){there}/ --><html><head><meta charset="utf-8"><title>House rules</title>
<base href="{there}/"><link rel="stylesheet" href="{there}/a.css"><style>@import url("{there}/b.css"); .w {{color: #fff}}</style>
<script src="{there}/a.js"></script><script>document.write("scripted words")</script></head>
<body background="{there}/d.png" onload="x()"><h1>Rules of the house</h1><p>Příliš žluťoučký kůň. नमस्ते दुनिया.</p>
<p>The deposit is 40 EUR.</p><p class="w">White words</p><img src="{there}/c.png"><img src="file:///etc/passwd">
<iframe src="{there}/e.html"></iframe><object data="{there}/f"></object>{TABLE}</body></html>""".encode()


def paragraph(text: str, inside: str = "", style: str = "") -> str:
    own = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{own}<w:r>{inside}<w:t>{text}</w:t></w:r></w:p>"


def table(*rows: tuple[str, ...]) -> str:
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


STYLES = f'<w:styles {W}><w:style w:styleId="Nadpis1"><w:name w:val="heading 1"/></w:style></w:styles>'
CORE = '<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Supply</dc:title></c>'
CONTRACT = word(
    paragraph("Contract of supply", style="Nadpis1")
    + paragraph("The deposit is 40 EUR &lt;b&gt;net&lt;/b&gt;. नमस्ते दुनिया")
    + table(("Parameter", "Value"), ("Maximum operating pressure", "16 bar"))
    + "<w:p><w:del><w:r><w:delText>deleted</w:delText><w:t>gone</w:t></w:r></w:del>"
    + "<w:ins><w:r><w:t>Inserted words</w:t></w:r></w:ins></w:p>"
    + paragraph("vanished", "<w:rPr><w:vanish/></w:rPr>"),
    {"word/styles.xml": STYLES, "docProps/core.xml": CORE},
)


def test_given_a_table_of_contents_of_word_when_read_then_its_lines_are_no_text() -> None:
    titles = ["Article 1 - Name", "Annual dues:", "1. Inactivity", "Quorum:", "Notices", "Amendments"]
    stop = '<w:pPr><w:tabs><w:tab w:val="right" w:leader="none" w:pos="9000"/></w:tabs></w:pPr>'
    entries = "".join(
        f"<w:p>{stop}<w:hyperlink><w:r><w:t>{title}</w:t><w:tab/><w:t>{number}</w:t></w:r></w:hyperlink></w:p>"
        for number, title in enumerate(titles, 1)
    )
    said = "The dues are set by the council each year. " * 60
    content = read_pdf(word(entries + paragraph(said) * 4), "a.docx", form="docx", ocr=False)

    found = blocks(content.pages, "en")
    aside = [content.pages[0].text[one.start : one.end] for one in found if one.kind is BlockKind.ASIDE]
    assert aside == ["\n".join(f"{title}\t{number}" for number, title in enumerate(titles, 1))]


HINDI = "टिप्पणियों शिकायतों अधिकांश प्रतिबद्ध निम्नलिखित जावास्क्रिप्ट व्यवस्थित निर्भर कि जिन्हें वैकल्पिक परिस्थितियों के है".split()


@pytest.mark.parametrize("form", ["html", "docx"])
def test_given_hindi_words_in_web_pages_and_documents_when_read_then_none_is_parted(form: str) -> None:
    draw = random.Random(form)
    lines = [" ".join(draw.choices(HINDI, k=draw.randint(2, 7))) + "।" for _ in range(40)]
    made = (
        f"<!DOCTYPE html><html><body>{''.join(f'<p>{line}</p>' for line in lines)}</body></html>".encode()
        if form == "html"
        else word("".join(paragraph(line) for line in lines))
    )
    content = read_pdf(made, f"a.{form}", form=form, ocr=False)

    assert [line for page in content.pages for line in page.text.split("\n")] == lines


def test_given_a_saved_web_page_when_read_then_its_text_stands_on_pages_and_nothing_was_fetched_or_run() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        page = web(listening.getsockname()[1])
        content = read_pdf(page, "rules.html", form="html", ocr=False)
        picture = render_page(page, 1, [(30, 30, 200, 60)], form="html")
        with pytest.raises(BlockingIOError):
            listening.accept()

    text = content.pages[0].text
    assert content.metadata.title == "House rules"
    assert "The deposit is 40 EUR.\n" in text
    assert "Příliš žluťoučký kůň. नमस्ते दुनिया." in text
    assert "Maximum operating pressure\t16 bar" in text
    for absent in ("scripted", "White", "root:", "[image]"):
        assert absent not in text
    assert content.pages[0].hidden_chars == len("Whitewords")
    assert content.pages[0].words
    assert picture.startswith(b"\x89PNG")


def test_given_a_word_document_when_read_then_headings_and_tables_are_there_and_what_does_not_show_is_not() -> None:
    content = read_pdf(CONTRACT, "contract.docx", form="docx", ocr=False)

    assert content.metadata.title == "Supply"
    assert content.pages[0].text.splitlines() == [
        "Contract of supply",
        "The deposit is 40 EUR <b>net</b>. नमस्ते दुनिया",
        "Parameter\tValue",
        "Maximum operating pressure\t16 bar",
        "Inserted words",
    ]


def test_given_a_web_page_in_another_encoding_when_opened_then_its_letters_are_right() -> None:
    said = "<p>Příliš žluťoučký kůň</p>"
    pages = [
        (f"<meta charset={name}>{said}", codec)
        for name, codec in (("windows-1250", "cp1250"), ("'iso-8859-2'", "iso8859_2"), ("UTF-8", "utf-8"))
    ]
    for text, codec in (*pages, (said, "utf-8"), (f"<meta charset=punycode>{said}", "utf-8")):
        assert said in forms.in_utf_8(text.encode(codec)).decode()
    assert forms.in_utf_8("<p>café</p>".encode("latin-1")).decode() == "<p>café</p>"


def test_given_drawings_in_a_web_page_when_opened_then_only_they_are_left_out() -> None:
    page = '<p>a<SVG x="1"><path/><text>t</text></svg>b<img src="x">c'

    assert "<body><p>abc</p></body>" in seen(page, LeftOut())


HOSTILE = {
    "no archive": (b"PK\x03\x04" + b"x" * 100, "DamagedPdf"),
    "another archive": (word("").replace(b"word/document.xml", b"xxxx/document.xml"), "NotAPdf"),
    "broken": (word("<w:p>"), "DamagedPdf"),
    "a bomb": (word("<!-- " + "0" * (61 << 20) + " -->"), "LimitExceeded"),
    "nested deep": (word("<w:sdt><w:sdtContent>" * 200 + "</w:sdtContent></w:sdt>" * 200), "LimitExceeded"),
    "entities": (
        word(
            paragraph("x"),
            {"word/styles.xml": f'<!DOCTYPE s [<!ENTITY a SYSTEM "file:///etc/passwd">]><w:styles {W}>&a;</w:styles>'},
        ),
        "DamagedPdf",
    ),
}


@each("name", HOSTILE)
def test_given_a_hostile_word_document_when_opened_then_it_is_one_known_error(name: str) -> None:
    data, kind = HOSTILE[name]

    with pytest.raises(forms.Failure) as bad:
        forms.web_page(data, LeftOut())

    assert bad.value.args[0] == kind
    assert all(bad.value.args)


def test_given_a_web_page_of_countless_or_deep_tags_when_opened_then_it_is_refused_before_it_is_laid_out() -> None:
    for page in (b"<html>" + b"<div>" * (forms.MAX_DEPTH + 1), b"<html>" + b"<br>" * (forms.MAX_TAGS + 1)):
        with pytest.raises(forms.Failure):
            forms.opened(None, page, "html")


def test_given_a_web_page_that_mupdf_would_cut_short_when_read_then_it_is_refused_and_not_read_in_part() -> None:
    with pytest.raises(LimitExceeded, match="nested too deep"):
        read_pdf(b"<html><body><p>Before.</p>" + b"<div>" * 150 + b"words" + b"</div>" * 150, "a.html", form="html")


def test_given_a_bad_document_or_another_form_than_its_name_says_when_read_then_the_error_has_its_remedy() -> None:
    with pytest.raises(DamagedPdf) as bad:
        read_pdf(b"PK\x03\x04 no archive", "a.docx", form="docx")
    assert "Save it again" in bad.value.remedy
    others = ((web(), "pdf"), (b"%PDF-1.7", "html"), (web(), "docx"), (CONTRACT, "html"), (CONTRACT, "pdf"))
    for data, form in (*others, (b"text", "html")):
        with pytest.raises(NotAPdf) as refused:
            read_pdf(data, "x", form=form)
        assert all(f"{end}," in refused.value.remedy.replace(". ", ", ") for end in READABLE)


def test_given_names_and_first_bytes_then_the_form_is_told() -> None:
    names = {"a.PDF": "pdf", "a.docx": "docx", "a.HTM": "html", "a.xhtml": "html", "a": "pdf", "a.doc": "pdf"}
    assert {name: form_of(name) for name in names} == names
    assert has_form("html", b'<?xml version="1.0"?><!DOCTYPE html><html>')
    assert has_form("html", b"\xef\xbb\xbf\n<!-- saved --><HTML>")
    assert not has_form("html", b"<?xml version='1.0'?><svg>")


def test_given_files_of_these_forms_when_named_as_sources_then_they_are_taken(tmp_path: Path) -> None:
    for name, data in (("a.html", web()), ("b.docx", CONTRACT)):
        (tmp_path / name).write_bytes(data)
        assert Source.from_path(tmp_path / name).kind == "pdf"
    (tmp_path / "c.doc").write_bytes(b"x")
    with pytest.raises(NotAPdf, match="cannot be read"):
        Source.from_path(tmp_path / "c.doc")


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def styled(name: str, kind: str, properties: str, more: str = "") -> str:
    return (
        f'<w:style w:type="{kind}" w:styleId="{name}"><w:name '
        f'w:val="{name}"/>{more}<w:rPr>{properties}</w:rPr></w:style>'
    )


STRIKES = f"""<w:styles {W}>{styled("Old", "character", "<w:strike/>")}{styled("Void", "paragraph", "<w:dstrike/>")}
{styled("Base", "paragraph", "", '<w:basedOn w:val="Void"/>')}{styled("Off", "character", '<w:strike w:val="false"/>')}</w:styles>"""
WORD_STRUCK = {
    "direct": run("gone ", "<w:strike/>"),
    "doubly": run("gone ", '<w:dstrike w:val="1"/>'),
    "by a character style": run("gone ", '<w:rStyle w:val="Old"/>'),
    "deleted": '<w:del><w:r><w:delText xml:space="preserve">gone </w:delText></w:r></w:del>',
    "deleted, and not marked as such": '<w:r><w:delText xml:space="preserve">gone </w:delText></w:r>',
    "inserted and deleted": '<w:ins><w:del><w:r><w:delText xml:space="preserve">gone </w:delText></w:r></w:del></w:ins>',
    "moved away": f"<w:moveFrom>{run('gone ')}</w:moveFrom>",
}
WORD_KEPT = {
    "switched off": run("kept ", '<w:strike w:val="0"/>'),
    "underlined": run("kept ", '<w:u w:val="single"/>'),
    "style that is switched off": run("kept ", '<w:rStyle w:val="Off"/>'),
    "style that is switched off at the run": run("kept ", '<w:rStyle w:val="Old"/><w:strike w:val="false"/>'),
    "formatted otherwise before": run("kept ", "<w:rPrChange><w:rPr><w:strike/></w:rPr></w:rPrChange>"),
}


def read_word(body: str) -> tuple[list[str], tuple[str, ...]]:
    content = read_pdf(word(body, {"word/styles.xml": STRIKES}), "a.docx", form="docx", ocr=False)
    return content.pages[0].text.splitlines(), content.problems


def test_given_struck_words_of_a_word_document_when_read_then_the_rest_of_each_sentence_is_one_and_they_are_counted() -> (
    None
):
    forms_of_words = (WORD_STRUCK | WORD_KEPT).items()
    rows = [f"<w:p>{run(f'{name}: the rent is ')}{words}{run('1,400 euros.')}</w:p>" for name, words in forms_of_words]
    lines, problems = read_word("".join(rows))

    assert lines == [
        f"{name}: the rent is {'kept ' * (name in WORD_KEPT)}1,400 euros." for name in (*WORD_STRUCK, *WORD_KEPT)
    ]
    assert problems == (
        f"Page 1: {4 * len(WORD_STRUCK)} characters of text that is crossed out or marked as void were left out.",
    )


def test_given_struck_paragraphs_and_deleted_rows_of_a_word_document_when_read_then_they_are_void() -> None:
    deleted = table(("Gone", "48 hours")).replace("<w:tr>", "<w:tr><w:trPr><w:del/></w:trPr>")
    rows = (
        paragraph("gone", style="Void")
        + paragraph("gone", style="Base")
        + deleted
        + table(("Yard", "12 hours"))
        + paragraph("kept")
    )
    toggled = (
        f"<w:p><w:pPr><w:pStyle "
        f'w:val="Void"/></w:pPr>{run("kept too", "<w:rStyle w:val=" + chr(34) + "Old" + chr(34) + "/>")}</w:p>'
    )

    assert read_word(rows + toggled)[0] == ["Yard\t12 hours", "kept", "kept too"]


WEB_STRUCK = (
    "<s>gone</s> ",
    "<del>gone</del> ",
    "<STRIKE>gone</STRIKE> ",
    '<span style="text-decoration:line-through">gone</span> ',
    "<span style='TEXT-DECORATION: underline Line-Through red'>gone</span> ",
    '<span style="text-decoration-line: line-through">gone</span> ',
    '<span class="old">gone</span> ',
    '<span class="old"><b>go</b>ne</span> ',
    '<del>go<a href="#">ne</a></del> ',
    '<span class="old"><a href="#">gone</a></span> ',
    '<a class="old" href="#">gone</a> ',
    '<i class="both">gone</i> ',
)
WEB_KEPT = (
    "<u>kept</u> ",
    "<ins>kept</ins> ",
    '<a href="#">kept</a> ',
    '<span style="text-decoration: none">kept</span> ',
)
WEB_STYLE = (
    "a {text-decoration: none} .old {text-decoration: line-through} .both "
    "{text-decoration: underline line-through !important}"
)


def test_given_struck_words_of_a_web_page_when_read_then_the_rest_of_each_sentence_is_one_and_they_are_counted() -> (
    None
):
    rows = "".join(f"<p>{n}: the rent is {words}1,400 euros.</p>" for n, words in enumerate((*WEB_STRUCK, *WEB_KEPT)))
    block = '<div class="old"><p>gone</p><table><tr><td>gone</td></tr></table></div><pre>~ text-decoration</pre>'
    page = f"<html><head><style>{WEB_STYLE}</style></head><body>{rows}{block}</body></html>"
    content = read_pdf(page.encode(), "a.html", form="html", ocr=False)

    assert content.pages[0].text.splitlines() == [
        *(
            f"{n}: the rent is {'kept ' * (n >= len(WEB_STRUCK))}1,400 euros."
            for n in range(len(WEB_STRUCK) + len(WEB_KEPT))
        ),
        "~ text-decoration",
    ]
    assert f" {4 * len(WEB_STRUCK) + 8} characters of text that is crossed out" in content.problems[0]


def test_given_many_long_struck_paragraphs_of_a_web_page_when_read_then_all_of_them_are_void() -> None:
    rows = "".join(f"<p>{n} kept <del>{'gone ' * 40}</del></p>" for n in range(60))
    content = read_pdf(f"<html><body>{rows}</body></html>".encode(), "a.html", form="html", ocr=False)

    assert [line for page in content.pages for line in page.text.splitlines()] == [f"{n} kept" for n in range(60)]


def merged(rows: list[list[tuple[str, int, int]]], form: str) -> str:
    """A table of (text, columns, rows) in Word or HTML, read: its rows as they stand on the page."""
    if form == "html":
        cells = (
            "".join(f"<td colspan='{wide}' rowspan={deep}>{text}</td>" for text, wide, deep in row) for row in rows
        )
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
    # by column: how wide a cell from above is, and how many rows it still takes
    text, below = ("", dict[int, tuple[int, int]]())
    for row in rows:
        waiting, at, own, after = list(row), 0, "", dict[int, tuple[int, int]]()
        while waiting or at in below:
            word, wide, deep = ("", *below[at]) if at in below else waiting.pop(0)
            mark = "<w:vMerge/>" if at in below else '<w:vMerge w:val="restart"/>' if deep > 1 else ""
            own += f'<w:tc><w:tcPr><w:gridSpan w:val="{wide}"/>{mark}</w:tcPr>{paragraph(word)}</w:tc>'
            if deep > 1:
                after[at] = wide, deep - 1
            at += wide
        text, below = f"{text}<w:tr>{own}</w:tr>", after
    return f"<w:tbl>{text}</w:tbl>"


def lines_of(rows: list[list[tuple[str, int, int]]], form: str) -> list[str]:
    body = merged(rows, form)
    data = word(body) if form == "docx" else f"<html><meta charset=utf-8><body>{body}</body></html>".encode()
    return read_pdf(data, f"a.{form}", form=form, ocr=False).pages[0].text.splitlines()


@each("form", ["docx", "html"])
def test_given_merged_and_empty_cells_when_read_then_each_stands_in_its_columns_and_rows(form: str) -> None:
    for seed in range(3):
        drawn = random.Random(seed)
        width, height = drawn.randint(3, 5), drawn.randint(3, 6)
        whole = [[f"Head{at}" for at in range(width)]]
        rows = [[(name, 1, 1) for name in whole[0]]]
        for n in range(height):
            at = drawn.randrange(1, width - 1)
            plain = [f"row{n}", *(f"v{n}{column}" if drawn.random() > 0.3 else "" for column in range(1, width))]
            wide = drawn.random() < 0.5
            if wide:
                plain[at : at + 2] = [f"both{n}"] * 2
            cells = [(text, 1, 1) for text in plain]
            if wide:
                cells[at : at + 2] = [(f"both{n}", 2, 1)]
            whole.append([text or EMPTY for text in plain])
            rows.append(cells)
        rows += [
            [("east", 1, 2), *((f"e{at}", 1, 1) for at in range(1, width))],
            [(f"f{at}", 1, 1) for at in range(1, width)],
        ]
        whole += [["east", *(f"{row}{column}" for column in range(1, width))] for row in "ef"]
        assert lines_of(rows, form) == ["\t".join(row) for row in whole]


@each("form", ["docx", "html"])
def test_given_heads_in_two_rows_when_read_then_both_name_the_columns(form: str) -> None:
    rows = [[("Tariff", 1, 1), ("Summer", 2, 1)], [("", 1, 1), ("Day", 1, 1), ("Night", 1, 1)]]
    rows += [[("House", 1, 1), ("31 cents", 1, 1), ("22 cents", 1, 1)]]
    page = Page(1, "\n".join(lines_of(rows, form)))
    assert blocks([page], "en")[0].header[-1].end == page.text.index("\nHouse")
    parted = [[("Item", 1, 1), ("2017", 2, 1)], [("Income", 1, 1), ("$", 1, 1), ("596", 1, 1)]]
    parted += [[("Costs", 1, 1), ("", 1, 1), ("12", 1, 1)]]  # values over several columns are not repeated
    assert lines_of(parted, form) == ["Item\t2017", "Income\t$\t596", "Costs\t12"]


def test_given_empty_and_merged_cells_when_a_row_is_said_in_words_then_each_value_has_its_own_head() -> None:
    head = f"Tariff | Summer | Summer | Winter; {EMPTY} | Day | Night | Day"
    assert (
        in_words(f"{head}: House | {EMPTY} | 22 cents | 36 cents")
        == "House: 22 cents (Summer Night); 36 cents (Winter Day)"
    )
    assert grid.EMPTY == EMPTY
