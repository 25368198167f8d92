"""What Word documents and web pages show raised, lowered, stacked or as a sign of a font is read as what it is."""

from __future__ import annotations

import pytest
import word_file
from word_file import W

from rag_core.ingest.reading.pdf import read_pdf

STYLES = (
    f'<w:styles {W}><w:style w:styleId="Mark"><w:name w:val="mark"/><w:rPr><w:vertAlign '
    f'w:val="superscript"/></w:rPr></w:style></w:styles>'
)


def word(*paragraphs: str) -> str:
    """The text of a Word document with these paragraphs."""
    body = "".join(f"<w:p>{one}</w:p>" for one in paragraphs)
    return read_pdf(word_file.word(body, {"word/styles.xml": STYLES}), "a.docx", form="docx", ocr=False).pages[0].text


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def align(how: str) -> str:
    return f'<w:vertAlign w:val="{how}script"/>'


def symbol(code: str, font: str = "Symbol") -> str:
    return f'<w:r><w:sym w:font="{font}" w:char="{code}"/></w:r>'


def maths(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def fraction(over: str, under: str, kind: str = "bar") -> str:
    return (
        f'<m:f><m:fPr><m:type m:val="{kind}"/></m:fPr><m:num>{maths(over)}</m:num><m:den>{maths(under)}</m:den></m:f>'
    )


def script(base: str, **scripts: str) -> str:
    tag = "sS" + "S".join(name[1:] for name in scripts)
    return f"<m:{tag}><m:e>{maths(base)}</m:e>{''.join(f'<m:{name}>{maths(text)}</m:{name}>' for name, text in scripts.items())}</m:{tag}>"


IN_WORD = {
    "3 × 10⁶ cells": run("3 × 10") + run("6", align("super")) + run(" cells"),
    "3 × 10⁻⁶ cells": run("3 × 10") + run("-", align("super")) + run("6", align("super")) + run(" cells"),
    "1,200³ euros": run("1,200") + run("3", '<w:rStyle w:val="Mark"/>') + run(" euros"),
    "4⁹⁹ euros": run("4") + run("99", '<w:position w:val="8"/><w:sz w:val="14"/>') + run(" euros"),
    "5 2 euros": run("5 ") + run("2", '<w:position w:val="1"/>') + run(" euros"),
    "4 mg of CO₂": run("4 mg of CO") + run("2", align("sub")),
    "H₂O": run("H") + run("2", '<w:position w:val="-6"/>') + run("O"),
    "2½ times": run("2") + run("1", align("super")) + run("/") + run("2", align("sub")) + run(" times"),
    "kept at ≤ 5 degrees": run("kept at ") + symbol("F0A3") + run(" 5 degrees"),
    "20 μg": run("20 ") + symbol("6D") + run("g"),
    "21 μg": run("21 ") + run("m", '<w:rFonts w:ascii="Symbol"/>') + run("g"),
    "12 kg ± 2 kg": run("12 kg ") + symbol("F0B1") + run(" 2 kg"),
    "No ☒ Yes □": run("No ") + symbol("F078", "Wingdings") + run(" Yes ") + symbol("F06F", "Wingdings"),
    "about \ufffd 5": run("about ") + symbol("F041", "Some Signs") + run(" 5"),
    "¾ of the cost": f"<m:oMath>{fraction('3', '4')}</m:oMath>" + run(" of the cost"),
    "2½ of them": run("2") + f"<m:oMath>{fraction('1', '2')}</m:oMath>" + run(" of them"),
    "5 3/16 of them": run("5") + f"<m:oMath>{fraction('3', '16')}</m:oMath>" + run(" of them"),
    "x/(n+1) parts": f"<m:oMath>{fraction('x', 'n+1')}</m:oMath>" + run(" parts"),
    "E=mc² holds": f"<m:oMathPara><m:oMath>{maths('E=m')}{script('c', sup='2')}</m:oMath></m:oMathPara>"
    + run(" holds"),
    "x₁² here": f"<m:oMath>{script('x', sub='1', sup='2')}</m:oMath>" + run(" here"),
    "v_max here": f"<m:oMath>{script('v', sub='max')}</m:oMath>" + run(" here"),
    "√(a+b) here": f"<m:oMath><m:rad><m:deg/><m:e>{maths('a+b')}</m:e></m:rad></m:oMath>" + run(" here"),
    "n over \ufffd here": run("n over ") + f"<m:oMath>{fraction('n', 'k', 'noBar')}</m:oMath>" + run(" here"),
    "matrix \ufffd here": run("matrix ") + "<m:oMath><m:m/></m:oMath>" + run(" here"),
}


def test_given_signs_of_word_documents_when_read_then_they_are_what_is_shown() -> None:
    assert word(*IN_WORD.values()).split("\n") == list(IN_WORD)


SHEETS = """<style>.up {vertical-align: super} .down {vertical-align: sub} .by {vertical-align: 4px; font-size: 70%}
sub, sup {font-size: 75%; line-height: 0; position: relative; vertical-align: baseline;} sup {top: -0.5em} sub {bottom: -0.25em}
.moved {position: relative; top: -0.4em; font-size: 8px}</style>"""
ON_THE_WEB = {
    "3 × 10⁶ cells": "3 × 10<sup>6</sup> cells",
    "1,200³ euros": "1,200<sup><a href='#n'>3</a></sup> euros",
    "4⁹⁹ euros": "4<span class=up>99</span> euros",
    "5⁹⁹ euros": "5<span class=by>99</span> euros",
    "6⁹⁹ euros": "6<span class=moved>99</span> euros",
    "7⁹⁹ euros": "7<span style='position: relative; top: -3px; font-size: 7px'>99</span> euros",
    "4 mg of CO₂.": "4 mg of CO<sub>2</sub>.",
    "H₂O is wet": "H<span class=down>2</span>O is wet",
    "1½ hours": "1<sup>1</sup>&frasl;<sub>2</sub> hours",
    "18°C by day": "18<sup>o</sup>C by day",
    "¾ of it": "<math><mfrac><mn>3</mn><mn>4</mn></mfrac></math> of it",
    "x²+1 here": "<math xmlns='http://www.w3.org/1998/Math/MathML'><msup><mi>x</mi><mn>2</mn></msup><mo> + </mo><mn>1</mn></math> here",
    "and \ufffd here": "and <math><mtable/></math> here",
    "or \ufffd there": "or <math><mover><mi>x</mi><mo>&macr;</mo></mover></math> there",
}


@pytest.mark.parametrize("sheets", ["", SHEETS], ids=["plain", "with style sheets"])
def test_given_signs_of_web_pages_when_read_then_they_are_what_is_shown(sheets: str) -> None:
    wanted = {text: html for text, html in ON_THE_WEB.items() if sheets or "class" not in html}
    page = (
        f"<html><head><meta "
        f"charset=utf-8>{sheets}</head><body>{''.join(f'<p>{one}</p>' for one in wanted.values())}</body></html>"
    )

    assert read_pdf(page.encode(), "a.html", form="html", ocr=False).pages[0].text.split("\n") == list(wanted)
