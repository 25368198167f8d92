"""What nobody sees of a web page or a Word document is not read, in whatever form it is hidden; what is seen is.

Each form has a file of its own kind with a sentence that everybody sees and one that is set in that form.
"""

from __future__ import annotations

import html
import random
import re
from collections import Counter

from folding import each
from word_file import W, word

from rag_core.domain.documents import Metadata
from rag_core.ingest.pdf_worker.formats.documents import web_page
from rag_core.ingest.pdf_worker.formats.left_out import LeftOut
from rag_core.ingest.pdf_worker.formats.seen import seen
from rag_core.ingest.reading.pdf import read_pdf

SEEN, OTHER = "The gate opens at eight.", "Its code is 4711."
OTHER_CHARS = len("".join(OTHER.split()))


def listed(forms: str) -> list[str]:
    return [form.strip() for form in forms.split("|")]


# a style of the paragraph with the other sentence, by which it is not seen
UNSEEN_STYLES = listed(
    """
    display:none | DISPLAY : NONE | d\\69splay:none | display:none!important;display:block |
    --x:none;display:var(--x) | --x:var(--y);--y:none;display:var(--x,block) | display:var(--none,none) |
    visibility:hidden | visibility:collapse | content-visibility:hidden | opacity:0 | opacity:.0 | opacity:1% |
    filter:opacity(0) | font-size:0 | font-size:1px | font-size:calc(1px - 1px) | font:0/0 a | font-size:min(1px,2em) |
    zoom:0 | color:transparent | color:rgba(0,0,0,0) | color:#0000 | color:rgb(0 0 0 / 2%) |
    -webkit-text-fill-color:transparent | color:#fff | color:#FEFEFE | color:white;background:white |
    color:white;background:url(a.png) | color:hsl(0 0% 97%) | color:oklch(100% 0 0) | color:lab(99 0 0) |
    color:color(display-p3 1 1 1) | opacity:calc(1 - 1) | transform:skewX(90deg) | color:black;background:#000 |
    color:navy;background-color:#000080 | color:red;background:linear-gradient(red,red) |
    position:absolute;left:-9999px | position:absolute;left:-999em | position:fixed;top:-100in |
    position:absolute;inset:auto auto auto -9999px | position:absolute;right:9999px |
    position:absolute;left:calc(-1 * 9999px) | position:absolute;left:-400px | margin-left:-9999px |
    text-indent:-9999px | text-indent:100vw;white-space:nowrap;overflow:hidden | transform:scale(0) |
    transform:scaleY(0) | transform:matrix(0,0,0,0,0,0) | transform:translateX(-9999px) | transform:rotateX(90deg) |
    scale:0 | translate:-9999px | clip-path:inset(50%) | clip-path:inset(0 0 100% 0) | clip-path:circle(0) |
    clip-path:polygon(0 0,0 0,0 0) | -webkit-clip-path:inset(100%) | position:absolute;clip:rect(0,0,0,0) |
    position:absolute;clip:rect(1px 1px 1px 1px) | height:0;overflow:hidden | max-height:0;overflow:clip |
    width:0;overflow:hidden | height:1px;width:1px;overflow:hidden | block-size:0;overflow-y:hidden |
    line-height:0;overflow:hidden | mask:linear-gradient(transparent,transparent)
    """
)
# the same by a sheet: its rules, for a paragraph of this class within a part of this id
UNSEEN_RULES = listed(
    """
    .o{display:none} | :is(.o,.n){visibility:hidden} | :where(p.o){opacity:0} | p:not(.s){display:none} |
    #part .o{display:none} .o{display:block} | #part > p ~ .o{font-size:0} | [class^=o]{clip-path:inset(50%)} |
    p:nth-child(2){display:none} | section:has(.s) .o{display:none} | @media screen{.o{display:none}} |
    @media screen and (min-width:600px){.o{display:none}} | @media not print{.o{display:none}} |
    @supports (display:grid){.o{display:none}} |
    @layer a,b; @layer b{.o{display:none}} @layer a{#part p.o{display:block}} | #part{.o{display:none}} |
    #part{& > .o{display:none}} | .o{all:unset;display:none} | :root{--c:#fff} .o{color:var(--c)} |
    .o{color:#fff!important} #part .o{color:#000} | /* a } */ .s::after{content:'}'} .o{display:none}
    """
)
UNSEEN_MARKUP = listed(
    """
    <p hidden>{}</p> | <dialog>{}</dialog> | <details><summary></summary><p>{}</p></details> | <details>{}</details> |
    <template><p>{}</p></template> | <noscript>{}</noscript> | <div popover>{}</div> |
    <p><font color=white>{}</font></p> | <p><font color='#FFFFFF'>{}</font></p> |
    <table bgcolor=black><tr><td>{}</td></tr></table> |
    <div style='opacity:.2'><div style='opacity:.2'><p>{}</p></div></div> |
    <div style='color:#fff'><p><b>{}</b></p></div> | <div style='background:#222'><p style='color:#111'>{}</p></div> |
    <div style='font-size:2px'><p style='font-size:.5em'>{}</p></div> |
    <div style='visibility:hidden'><p>{}</p></div> | <p><bdo dir=rtl>{}</bdo></p> |
    <p style='unicode-bidi:bidi-override;direction:rtl'>{}</p> | <p aria-hidden=false style='display:none'>{}</p> |
    <canvas>{}</canvas> | <audio>{}</audio> | <p>\u202e{}\u202c</p>
    """
)
SEEN_STYLES = listed(
    """
    opacity:.6 | opacity:calc(.2 + .4) | color:oklch(40% .1 20) | color:lch(40 20 20) |
    color:#aaa | color:gray | font-size:6pt | color:#fff;background:#000 |
    color:white;background:linear-gradient(#000,#222) | color:white;background:url(data:image/png;base64,AAAA) |
    color:white;background:url('data:image/png;base64,AAAA') |
    color:transparent;background:linear-gradient(red,blue);background-clip:text | display:block | display:flex |
    visibility:visible | position:absolute;left:40px | position:relative;left:-9px | left:-9999px |
    text-indent:-2em;padding-left:2em | overflow:hidden | overflow:hidden;height:40px | height:0 |
    height:0;padding-bottom:40px;overflow:hidden | display:inline;height:0;overflow:hidden | clip:rect(0,0,0,0) |
    clip-path:inset(2%) | transform:scale(.8) | transform:rotate(90deg) | display:var(--none) |
    display:none;display:block | display:nonesuch | font-size:clamp(1rem,2vw,3rem) | margin-left:-20px |
    line-height:1
    """
)
SEEN_RULES = listed(
    """
    @media print{.o{display:none}} | @media (max-width:600px){.o{display:none}} |
    @supports not (display:grid){.o{display:none}} | @layer a{.o{display:none}} .o{display:block} |
    .o:hover{display:none} | .o::before{display:none} | .o{display:none} #part .o{display:block} |
    .o{display:block!important} #part .o{display:none} | .o:unknown{display:none} | }} .o{display:none} |
    .O{display:none} | #part{visibility:hidden} p{visibility:visible} | #part{font-size:0} p{font-size:12px} |
    #part{color:#fff} p{color:#333} | body{background:#000;color:#fff}
    """
)
SEEN_MARKUP = listed(
    """
    <p aria-hidden=true>{}</p> | <p hidden style='display:block'>{}</p> | <dialog open>{}</dialog> |
    <details open><summary></summary><p>{}</p></details> | <details><summary>{}</summary></details> |
    <table bgcolor=black><tr><td><font color=white>{}</font></td></tr></table> |
    <div style='background:#000'><p style='color:#fff'>{}</p></div> | <bdo dir=ltr>{}</bdo> |
    <span style='height:0;overflow:hidden'>{}</span>
    """
)


def web(form: tuple[str, str]) -> str:
    markup, rules = form
    return (
        f"<!DOCTYPE html><html><head><meta charset=utf-8><style>{rules}</style></head><body><section id=part>"
        f"<p class=s>{SEEN}</p>{markup.format(OTHER)}</section></body></html>"
    )


def told(page: str, left: LeftOut) -> tuple[str, int]:
    """The words of a page that was written anew, and how many characters were left out of it."""
    words = html.unescape(re.sub("<[^<>]*>", " ", page)).split()
    return " ".join(words), sum(map(Counter.total, left._marks))


def shown_on_the_web(form: tuple[str, str]) -> tuple[str, int]:
    left = LeftOut()
    return told(seen(web(form), left), left)


WEB_UNSEEN = (
    *((f'<p style="{style}">{{}}</p>', "") for style in UNSEEN_STYLES),
    *(("<p class=o>{}</p>", rules) for rules in UNSEEN_RULES),
    *((markup, "") for markup in UNSEEN_MARKUP),
)
WEB_SEEN = (
    *((f'<p style="{style}">{{}}</p>', "") for style in SEEN_STYLES),
    *(("<p class=o>{}</p>", rules) for rules in SEEN_RULES),
    *((markup, "") for markup in SEEN_MARKUP),
)

WHITE = '<w:color w:val="FFFFFF"/>'
BLACK_GROUND = '<w:shd w:val="clear" w:fill="000000"/>'
NAMES = (
    'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)


def style(name: str, kind: str, run: str = "", more: str = "") -> str:
    return f'<w:style w:type="{kind}" w:styleId="{name}"><w:name w:val="{name}"/>{more}<w:rPr>{run}</w:rPr></w:style>'


STYLES = f"""<w:styles {W}>{style("Away", "character", "<w:vanish/>")}{style("Pale", "character", WHITE)}
{style("PaleToo", "character", "", '<w:basedOn w:val="Pale"/>')}{style("Small", "paragraph", '<w:sz w:val="2"/>')}
{style("AwayAll", "paragraph", "<w:vanish/>")}{style("AwayToo", "paragraph", "", '<w:basedOn w:val="AwayAll"/>')}
{style("Dark", "paragraph", "", f"<w:pPr>{BLACK_GROUND}</w:pPr>")}{style("Grid", "table", WHITE)}
{style("Heads", "table", "", f'<w:tblStylePr w:type="firstRow"><w:tcPr>{BLACK_GROUND}</w:tcPr></w:tblStylePr>')}
{style("Void", "table", "<w:strike/>")}{style("Aside", "paragraph", "", '<w:pPr><w:ind w:left="-20000"/></w:pPr>')}
</w:styles>"""


def run(properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{OTHER}</w:t></w:r>"


def lines(properties: str = "", inside: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{inside or run()}</w:p>"


def styled(name: str) -> str:
    return f'<w:pStyle w:val="{name}"/>'


def table(properties: str = "", row: str = "", cell: str = "", inside: str = "") -> str:
    return (
        f"<w:tbl><w:tblPr>{properties}</w:tblPr><w:tr><w:trPr>{row}</w:trPr><w:tc><w:tcPr>{cell}</w:tcPr>"
        f"{inside or lines()}</w:tc></w:tr></w:tbl>"
    )


def box(
    left: int = 0, top: int = 0, wide: int = 3_000_000, fill: str = "", own: str = "", more: str = "", two: bool = False
) -> str:
    """A text box of today, and with `two` the same once more for older programs."""
    content = f"<w:txbxContent>{lines('', run(own))}</w:txbxContent>"
    drawn = (
        f'<w:drawing><wp:anchor {more}><wp:positionH relativeFrom="page"><wp:posOffset>{left}</wp:posOffset>'
        f'</wp:positionH><wp:positionV relativeFrom="page"><wp:posOffset>{top}</wp:posOffset></wp:positionV>'
        f'<wp:extent cx="{wide}" cy="900000"/><wps:wsp><wps:spPr>{fill}</wps:spPr><wps:txbx>{content}</wps:txbx>'
        f"</wps:wsp></wp:anchor></w:drawing>"
    )
    old = f"<w:pict><v:shape><v:textbox>{content}</v:textbox></v:shape></w:pict>"
    if two:
        drawn = f'<mc:AlternateContent><mc:Choice Requires="wps">{drawn}</mc:Choice><mc:Fallback>{old}</mc:Fallback></mc:AlternateContent>'  # noqa: E501
    return f"<w:p><w:r>{drawn}</w:r></w:p>"


def shape(looks: str) -> str:
    content = f"<w:txbxContent>{lines()}</w:txbxContent>"
    return f'<w:p><w:r><w:pict><v:shape style="{looks}"><v:textbox>{content}</v:textbox></v:shape></w:pict></w:r></w:p>'


def runs(*all_properties: str) -> list[str]:
    return [lines("", run(properties)) for properties in all_properties]


BLACK_FILL = '<a:solidFill><a:srgbClr val="000000"/></a:solidFill>'
WORD_UNSEEN = (
    *runs(
        "<w:vanish/>",
        '<w:vanish w:val="1"/>',
        "<w:specVanish/>",
        "<w:webHidden/>",
        '<w:rStyle w:val="Away"/>',
        '<w:rStyle w:val="Pale"/>',
        '<w:rStyle w:val="PaleToo"/>',
        WHITE,
        '<w:color w:val="FDFDFD"/>',
        '<w:color w:val="000000" w:themeColor="background1"/>',
        '<w:color w:val="000000"/><w:highlight w:val="black"/>',
        '<w:color w:val="FFFF00"/><w:highlight w:val="yellow"/>',
        f'<w:color w:val="000000"/>{BLACK_GROUND}',
        '<w:color w:val="FF0000"/><w:shd w:val="solid" w:color="FF0000"/>',
        '<w:color w:val="333333"/><w:shd w:val="clear" w:fill="303030"/>',
        '<w:sz w:val="2"/>',
        '<w:sz w:val="4"/>',
        '<w:w w:val="1"/>',
        "<w14:textFill><w14:noFill/></w14:textFill>",
        '<w14:textFill><w14:solidFill><w14:srgbClr w14:val="000000"><w14:alpha w14:val="100000"/></w14:srgbClr>'
        "</w14:solidFill></w14:textFill>",
        '<w14:textFill><w14:solidFill><w14:srgbClr w14:val="FFFFFF"/></w14:solidFill></w14:textFill>',
    ),
    *(lines(styled(name)) for name in ("Small", "AwayAll", "AwayToo", "Aside")),
    lines(styled("Dark"), run('<w:color w:val="000000"/>')),
    lines(BLACK_GROUND, run('<w:color w:val="111111"/>')),
    lines('<w:ind w:left="-20000"/>'),
    lines('<w:ind w:hanging="31000"/>'),
    lines('<w:framePr w:x="-20000"/>'),
    lines('<w:framePr w:y="40000"/>'),
    lines('<w:spacing w:line="20" w:lineRule="exact"/>'),
    table('<w:tblStyle w:val="Grid"/>'),
    table('<w:tblpPr w:tblpX="30000"/>'),
    table('<w:tblInd w:w="-20000"/>'),
    table("", "<w:hidden/>"),
    table("", '<w:trHeight w:val="20" w:hRule="exact"/>'),
    table("", "", BLACK_GROUND, lines("", run('<w:color w:val="000000"/>'))),
    table("", "", "", lines("", run(WHITE))),
    box(left=-9_000_000),
    box(top=-9_000_000),
    box(left=20_000_000),
    box(wide=0),
    box(own=WHITE),
    box(fill=BLACK_FILL, own='<w:color w:val="000000"/>'),
    box(more='hidden="1"'),
    box(own="<w:vanish/>", two=True),
    shape("position:absolute;margin-left:-9999pt"),
    shape("visibility:hidden"),
    shape("width:0;height:0"),
    f"<w:sdt><w:sdtContent>{lines('', run('<w:vanish/>'))}</w:sdtContent></w:sdt>",
)
WORD_SEEN = (
    *runs(
        '<w:vanish w:val="0"/>',
        '<w:rStyle w:val="Away"/><w:vanish w:val="false"/>',
        '<w:color w:val="AAAAAA"/>',
        '<w:color w:val="auto"/>' + BLACK_GROUND,
        WHITE + BLACK_GROUND,
        WHITE + '<w:highlight w:val="darkBlue"/>',
        WHITE + '<w:shd w:val="pct75"/>',
        '<w:sz w:val="12"/>',
        '<w:color w:val="FFFFFF" w:themeColor="text1"/>',
        "<w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>",
    ),
    lines("<w:rPr><w:vanish/></w:rPr>"),
    lines(styled("AwayAll"), run('<w:rStyle w:val="Away"/>')),
    lines(styled("Dark"), run(WHITE)),
    lines(BLACK_GROUND, run(WHITE)),
    lines('<w:ind w:left="720" w:hanging="720"/>'),
    lines("", f"<w:hyperlink>{run('<w:webHidden/>')}</w:hyperlink>"),
    table("", "", BLACK_GROUND, lines("", run(WHITE))),
    table('<w:tblStyle w:val="Heads"/>', "", "", lines("", run(WHITE))),
    box(),
    box(two=True),
    box(fill=BLACK_FILL, own=WHITE),
    shape("position:absolute;margin-left:40pt;width:200pt;height:50pt"),
)


def docx(body: str) -> bytes:
    return word(f"<w:p><w:r><w:t>{SEEN}</w:t></w:r></w:p>{body}", {"word/styles.xml": STYLES}, NAMES)


def shown_in_word(body: str) -> tuple[str, int]:
    left = LeftOut()
    return told(web_page(docx(body), left)[0].decode(), left)


@each("form", WEB_UNSEEN)
def test_given_a_sentence_of_a_web_page_that_nobody_sees_then_it_is_left_out_and_counted(form: tuple[str, str]) -> None:
    assert shown_on_the_web(form) == (SEEN, OTHER_CHARS)


@each("form", WEB_SEEN)
def test_given_a_sentence_of_a_web_page_that_is_seen_then_it_is_there_once(form: tuple[str, str]) -> None:
    assert shown_on_the_web(form) == (f"{SEEN} {OTHER}", 0)


@each("body", WORD_UNSEEN)
def test_given_a_sentence_of_a_word_document_that_nobody_sees_then_it_is_left_out_and_counted(body: str) -> None:
    assert shown_in_word(body) == (SEEN, OTHER_CHARS)


@each("body", WORD_SEEN)
def test_given_a_sentence_of_a_word_document_that_is_seen_then_it_is_there_once(body: str) -> None:
    assert shown_in_word(body) == (f"{SEEN} {OTHER}", 0)


@each(
    ("form", "data", "more"),
    [
        *(("html", web(form).encode(), "") for form in WEB_UNSEEN[:6]),
        *(("html", web(form).encode(), f" {OTHER}") for form in WEB_SEEN[:6]),
        *(("docx", docx(body), "") for body in WORD_UNSEEN[:3]),
        *(("docx", docx(body), f" {OTHER}") for body in WORD_SEEN[:3]),
    ],
)
def test_given_files_with_seen_and_unseen_sentences_when_read_then_a_finding_counts_these(
    form: str, data: bytes, more: str
) -> None:
    content = read_pdf(data, f"a.{form}", form=form, ocr=False)

    assert " ".join(content.pages[0].text.split()) == SEEN + more
    assert content.pages[0].hidden_chars == OTHER_CHARS * (not more)
    assert [f"{OTHER_CHARS} characters of hidden text" in one for one in content.problems] == [True] * (not more)


STRUCK_ROWS = (
    ("<table><tr class=v><td>{}</td></tr></table>", ".v{text-decoration:line-through}"),
    ("<table><tr class=v><td>{}</td></tr></table>", ".v td{ text-decoration-line : LINE-THROUGH }"),
    ("<table style='text-decoration:line-through'><tr><td>{}</td></tr></table>", ""),
    ("<div style='text-decoration:line-through'><table><tr><td>{}</td></tr></table></div>", ""),
    ("<table><tbody class=v><tr><td>{}</td></tr></tbody></table>", ".v{text-decoration:line-through red}"),
)


@each(
    ("form", "data"),
    [*(("html", web(form).encode()) for form in STRUCK_ROWS), ("docx", docx(table('<w:tblStyle w:val="Void"/>')))],
)
def test_given_struck_rows_of_a_table_when_read_then_they_are_void(form: str, data: bytes) -> None:
    content = read_pdf(data, f"a.{form}", form=form, ocr=False)

    assert content.pages[0].text.strip() == SEEN
    assert f"{OTHER_CHARS} characters of text that is crossed out" in content.problems[0]


def test_given_hidden_words_within_a_word_and_on_later_pages_when_read_then_each_page_counts_its_own() -> None:
    long = "".join(f"<p>Line {n} of the gate<i hidden>x{n}</i>keeper.</p>" for n in range(100, 250))
    content = read_pdf(f"<html><body>{long}</body></html>".encode(), "a.html", form="html", ocr=False)

    found = [page.text.count("gatekeeper.") for page in content.pages]
    assert sum(found) == 150
    assert [page.hidden_chars for page in content.pages] == [4 * number for number in found]


def test_given_style_sheets_cut_and_mixed_at_random_when_read_then_each_sentence_is_there_or_counted() -> None:
    drawn = random.Random(5)
    for _ in range(100):
        rules = list("".join(drawn.sample(UNSEEN_RULES + SEEN_RULES, 12)))
        for _ in range(20):
            rules[drawn.randrange(len(rules))] = drawn.choice("{}();:@#.&*\"'\\,>")
        page = f"<html><head><style>{''.join(rules)}</style></head><body><p class=o>{SEEN}"
        markup = seen(page, LeftOut())
        assert (SEEN in markup) is ("left-out-1" not in markup)


def test_given_what_a_word_file_says_of_itself_when_read_then_its_author_and_date_are_known() -> None:
    core = (
        '<c xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:t="http://purl.org/dc/terms/"><dc:title>Supply</dc:title>'
        "<dc:creator>Ada Moor</dc:creator><t:created>2019-06-05T10:00:00Z</t:created></c>"
    )
    content = read_pdf(word(lines(), {"docProps/core.xml": core}), "a.docx", form="docx", ocr=False)

    assert content.metadata == Metadata("Supply", "2019-06-05", values={"author": "Ada Moor"})
