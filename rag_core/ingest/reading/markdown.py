"""Markdown as plain text: its front matter is what the file says of itself, and markup of HTML leaves its words.

A table of HTML becomes rows between bars, as Markdown's own tables are. What stands in code stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from heapq import merge
from html import unescape
from io import StringIO

import yaml

from rag_core.domain.documents import Metadata
from rag_core.ingest.pdf_worker.formats.tables import TABLE, one_line, row_of, rule_of, spread, table_cells, text_of

FRONT_CHARS = 10_000  # at most in the front matter; chosen
NULL = "tag:yaml.org,2002:null"
STATED_CHARS = 300  # at most in a title or an author; chosen
# fenced code, up to its fence or the end; code within a paragraph; an escaped tilde
CODE = re.compile(
    r"^ {0,3}(`{3,}|~{3,})[^`\n]*$(?:\n.*?)??(?:\n {0,3}\1[`~]*[ \t]*$|\Z)|(?<!`)(`+)(?!`)(?:(?!\n[ "
    r"\t]*\n).)+?(?<!`)\2(?!`)|\\~",
    re.MULTILINE | re.DOTALL,
)
_FRONT = re.compile(rf"\A\ufeff?---[ \t\r]*\n(.{{0,{FRONT_CHARS}}}?\n)(?:---|\.\.\.)[ \t\r]*(?:\n|\Z)", re.DOTALL)
_ISO = re.compile(r"\d{4}(?:-\d\d){0,2}(?!\d)")
_INLINE = (
    "a abbr b big bdi bdo cite data dfn em font i img ins kbd mark q rp rt ruby samp small span strong sub sup time tt "
    "u var wbr"
).split()
_BLOCKS = (
    "address article aside blockquote body br caption center dd details div dl dt figcaption figure footer h1 h2 h3 h4 "
    "h5 h6 header hr html li main nav ol p pre section summary table tbody td tfoot th thead tr ul"
).split()
_TAG = re.compile(rf"<(/?)({'|'.join((*_INLINE, *_BLOCKS))})\b[^<>]{{0,2000}}>[ \t]*(?:\r?\n)?", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});")
_STRONG = re.compile(
    r"(?<![A-Za-z\d_\\*])(?P<mark>\*{2,3})(?![\s*])(?:(?!\n[ \t\r]*\n|\*\*).)+(?<![\s\\*])(?P<end>(?P=mark))"
    r"(?![A-Za-z\d_*])",
    re.DOTALL,
)
_HIDDEN = (("<!--", "-->"), ("{% comment %}", "{% endcomment %}"))
# tags of Liquid and Hugo, of which a reader sees at most the last quoted words
_TEMPLATE = re.compile(r"\{%[^{}\n]{0,300}%\}|\{\{[<%][^{}\n]{0,300}[>%]\}\}")
_QUOTED = re.compile(r"\"([^\"]*)\"")
_IMAGE = re.compile(r"!\[([^\[\]\n]{0,300})\]\([^()\n]*\)")
# marks that set a block or give it a name: "> " of a quotation and its kind, "::: note", "{#fees .wide}"
_SETTING = re.compile(
    r"^(?: {0,3}>[ \t]?)+(?:\[!\w{3,12}\][ \t]*)?|^:{3,}[ \t]*\w*[ \t]*"
    r"|[ \t]*\{(?::\s?[#.]?|[#.])[A-Za-z][^{}\n]{0,200}\}",
    re.MULTILINE,
)
_TAB = re.compile(r"(?<=\S)[ ]*\t\s*?(?=\S)")

Edit = tuple[int, int, str]  # the stretch from one offset to another becomes this


def plain(text: str) -> tuple[str, Metadata]:
    """Markdown without markup of HTML, templates and strong emphasis, and what its front matter says of it."""
    said, text = _stated(text)
    whole, at = StringIO(newline=""), 0  # ten megabytes may have millions of edits: none is kept
    for start, end, written in _edits(text, without_code(text)):
        if start >= at:  # not within a table or comment
            whole.write(text[at:start])
            whole.write(written)
            at = end
    whole.write(text[at:])
    return whole.getvalue(), said


def without_code(text: str) -> str:
    """The text with another sign for each one that stands in code, so that all others keep their places."""
    return CODE.sub(lambda code: "x" * len(code[0]), text) if "`" in text or "~" in text else text


def _stated(text: str) -> tuple[Metadata, str]:
    """The front matter's statements, and the text behind it; no aliases are followed: they would fill the memory."""
    found = _FRONT.match(text)
    try:
        root = yaml.compose(found[1], yaml.SafeLoader) if found else None
    except (yaml.YAMLError, ValueError, RecursionError):
        return Metadata(), text
    if not found or not isinstance(root, yaml.MappingNode):
        return Metadata(), text
    facts = {key.value.casefold(): _words(node) for key, node in root.value if isinstance(key, yaml.ScalarNode)}
    title, author = (
        one_line(", ".join(value))[:STATED_CHARS]
        for value in (facts.get("title", []), facts.get("author") or facts.get("authors", []))
    )
    date = _ISO.match("".join(facts.get("date", [])))
    about = Metadata(title, date[0] if date else "", values={"author": author} if author else {})
    return about, text[found.end() :]


def _words(node: yaml.Node) -> list[str]:
    some = node.value if isinstance(node, yaml.SequenceNode) else [node]
    return [one.value for one in some if isinstance(one, yaml.ScalarNode) and one.tag != NULL and one.value]


def _edits(text: str, prose: str) -> Iterator[Edit]:
    """All of them, the first one first, and of two that begin together the longer one."""
    return merge(
        *(_hidden(prose, *marks) for marks in _HIDDEN),
        ((*one.span(), f"\n\n{_rows(text[one.start() : one.end()])}\n\n") for one in TABLE.finditer(prose)),
        ((*one.span(), _instead(one)) for one in _TAG.finditer(prose)),
        ((*one.span(), unescape(one[0]).replace("|", "¦")) for one in _ENTITY.finditer(prose)),
        ((*one.span(mark), "") for one in _STRONG.finditer(prose) for mark in ("mark", "end")),
        ((*one.span(), " ") for one in _TAB.finditer(prose)),
        ((*one.span(), "".join(_QUOTED.findall(one[0])[-1:])) for one in _TEMPLATE.finditer(prose)),
        ((*one.span(), one[1]) for one in _IMAGE.finditer(prose)),
        ((*one.span(), "") for one in _SETTING.finditer(prose)),
        key=lambda edit: (edit[0], -edit[1]),
    )


def _hidden(prose: str, opens: str, closes: str) -> Iterator[Edit]:
    start = end = 0
    while (start := prose.find(opens, end)) >= 0 and (end := prose.find(closes, start)) >= 0:
        end += len(closes)
        yield start, end, ""


def _instead(tag: re.Match[str]) -> str:
    """The white space or mark that stands for a tag and the end of its line."""
    name, behind = tag[2].lower(), tag[0].partition(">")[2]
    if name in _INLINE:
        return behind
    if name[-1].isdigit():
        return "\n\n" if tag[1] else f"\n\n{'#' * int(name[-1])} "
    return "\n- " if name == "li" and not tag[1] else "\n" if name == "br" else "\n" + behind.lstrip(" \t")


def _rows(table: str) -> str:
    """The rows of a table of HTML between bars, below the first one a rule where it names the columns."""
    caption, cells = table_cells(table)
    grid = spread(cells) or cells
    width = max(map(len, grid), default=0)
    lines = [row_of([*(one_line(text_of(cell.content)) for cell in row), *[""] * (width - len(row))]) for row in grid]
    rule = [rule_of(width)] if grid and all(cell.tag == "th" for cell in grid[0]) else []
    return "\n".join((text_of(caption), "", *lines[:1], *rule, *lines[1:]))
