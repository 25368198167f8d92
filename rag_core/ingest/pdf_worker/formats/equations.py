"""Writes the equations of Word (OMML) and of web pages (MathML) on one line: "x² + 1/2", "√(a + b)", "(a + b)/c". Pure.

What has no such form, as a matrix, a sum with its limits or a sign over another, is U+FFFD: no sentence with it is an
answer.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence

from ..glyphs import superscript
from ..glyphs.superscript import Level, Part, index, power, written

UNKNOWN = f" {superscript.UNKNOWN} "  # a word of its own: at a letter it would be a letter without a value
DEEPEST = 40  # nested elements; what is nested deeper is no equation that anybody reads
MATHS = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

_GROUPS = frozenset(
    "oMath oMathPara e num den sub sup deg fName lim r box borderBox math mrow mstyle mpadded mtd".split()
)
_TEXTS = frozenset("t mi mn mo mtext ms".split())
_SILENT = frozenset(
    "rPr ctrlPr fPr sSupPr sSubPr sSubSupPr sPrePr radPr dPr naryPr funcPr boxPr borderBoxPr oMathParaPr argPr "
    "limLowPr limUppPr "
    "annotation annotation-xml mspace phant mphantom".split()
)


def in_a_line(equation: ET.Element) -> list[Part]:
    """The parts of an equation, for `superscript.written`."""
    return _parts(equation, 0)


def _parts(element: ET.Element, depth: int) -> list[Part]:
    name = name_of(element)
    if name in _SILENT:
        return []
    if depth > DEEPEST:
        return [(UNKNOWN, Level.PLAIN)]
    if name in _TEXTS:
        return [(" ".join((element.text or "").split()) if name != "t" else element.text or "", Level.PLAIN)]
    if name == "semantics":
        return [part for child in list(element)[:1] for part in _parts(child, depth + 1)]
    if name in _GROUPS:
        return [part for child in element for part in _parts(child, depth + 1)]
    write = _FORMS.get(name)
    return write(element, lambda child: _parts(child, depth + 1)) if write else [(UNKNOWN, Level.PLAIN)]


def name_of(element: ET.Element) -> str:
    return str(element.tag).rpartition("}")[2]


Write = Callable[[ET.Element], list[Part]]


def _children(element: ET.Element, names: str, write: Write) -> list[str]:
    """The texts of these children of an OMML element, or of a MathML element's in their order; "" for none."""
    if element.tag.startswith(MATHS):
        found = {name_of(child): child for child in element}
        children: Sequence[ET.Element | None] = [found.get(name) for name in names.split()]
    else:
        children = [*element, *[None] * len(names.split())][: len(names.split())]
    return ["" if child is None else written(write(child)).strip() for child in children]


def _property(element: ET.Element, path: str, default: str) -> str:
    found = element.find("/".join(f"{MATHS}{step}" for step in path.split("/")))
    return default if found is None else found.get(f"{MATHS}val", default)


def _fraction(element: ET.Element, write: Write) -> list[Part]:
    thickness = element.get("linethickness", "1").strip("0.")
    if _property(element, "fPr/type", "bar") == "noBar" or thickness in ("", "px", "pt", "em"):
        return [(UNKNOWN, Level.PLAIN)]
    over, under = (text if text.isalnum() else f"({text})" for text in _children(element, "num den", write))
    return [(f"{over}/{under}", Level.STACKED)]


def _marks(low: str, high: str) -> str:
    return (index(low) if low else "") + (power(high) if high else "")


def _scripts(order: str) -> Callable[[ET.Element, Write], list[Part]]:
    """A base with an index, a power or both; `order` names the children as they stand in OMML, "e" for the base."""

    def written_out(element: ET.Element, write: Write) -> list[Part]:
        texts = dict(zip(order.split(), _children(element, order, write), strict=True))
        base, low, high = texts["e"], texts.get("sub", ""), texts.get("sup", "")
        bracketed = base[:1] in "(|[" and base[-1:] in ")|]"
        if len(base) > 1 and not base.replace(".", "").replace(",", "").isalnum() and not bracketed:
            base = f"({base})"
        return [(_marks(low, high) + base if order.endswith("e") else base + _marks(low, high), Level.PLAIN)]

    return written_out


def _root(element: ET.Element, write: Write) -> list[Part]:
    of, degree = _children(element, "e deg", write)
    if name_of(element) == "msqrt":
        of, degree = written(part for child in element for part in write(child)).strip(), ""
    return [((power(degree) if degree else "") + "√" + (of if of.isalnum() else f"({of})"), Level.PLAIN)]


def _brackets(element: ET.Element, write: Write) -> list[Part]:
    if element.tag.startswith(MATHS):
        first, last = _property(element, "dPr/begChr", "("), _property(element, "dPr/endChr", ")")
        joint = _property(element, "dPr/sepChr", "|")
        texts = [written(write(child)) for child in element if name_of(child) == "e"]
    else:
        first, last, joint = element.get("open", "("), element.get("close", ")"), element.get("separators", ",")[:1]
        texts = [written(write(child)) for child in element]
    return [(first + joint.join(texts) + last, Level.PLAIN)]


def _function(element: ET.Element, write: Write) -> list[Part]:
    name, of = _children(element, "fName e", write)
    return [(f"{name} {of}" if of[:1] != "(" else name + of, Level.PLAIN)]


_FORMS: dict[str, Callable[[ET.Element, Write], list[Part]]] = {
    name: write
    for names, write in (
        ("f mfrac", _fraction),
        ("sSup msup", _scripts("e sup")),
        ("sSub msub", _scripts("e sub")),
        ("sSubSup msubsup", _scripts("e sub sup")),
        ("sPre", _scripts("sub sup e")),
        ("rad msqrt mroot", _root),
        ("d mfenced", _brackets),
        ("func", _function),
    )
    for name in names.split()
}
