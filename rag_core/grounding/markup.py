"""Links and markup in a claim that its evidence does not hold: addresses, HTML, Markdown, commands of TeX.

Screens show a claim as plain text, so nothing of it can act; but an answer that names an address which no document
names is an answer from elsewhere, and one that is dressed up was not copied.
"""

from __future__ import annotations

from functools import cache

import regex

from rag_core.ingest.normalise import normalise
from rag_core.language import LANGUAGES

_ENDS = ".,:?!"  # a sentence that ends with an address may end so
_MARKUP = r"""
      !?\[[^\[\]]{0,200}\]\([^()\s]{0,500}[^()]{0,100}\)     # [text](address), ![image](address)
    | </?[a-z!][^<>]{0,500}>                                 # <b>, </b>, <!-- -->
    | &(?:\#x?[0-9a-f]{1,6}|[a-z]{2,10});                    # &lt; &#60;
    | [a-z][a-z0-9+.-]{1,20}://[^\s<>"]+                     # https://example.org/x
    | (?:javascript|vbscript|data|mailto|tel|sms|file):[^\s<>"]+
    | //[\p{L}\p{N}-]+\.[^\s<>"]+                            # //example.org
    | [^\s@<>"]+@[^\s@<>"]+\.[a-z]{2,}                       # someone@example.org
    | (?<![\p{L}\p{N}.])[\p{L}\p{N}][\p{L}\p{N}-]*(?:\.[\p{L}\p{N}-]+)*\.(?-i:[a-z]{2,24})(?![\p{L}\p{N}])(?:/[^\s<>"]*)?  # example.org
    | \*\*|__|~~|`+                                          # emphasis, code
    | ^\#{1,6}(?=\s)                                         # a heading
    | :[a-z-]{2,30}(?:\[|/[a-z_]{1,60}:)                     # :red[text], :material/home:
    | \\[a-z]{2,}                                            # \frac
    | [\u0334-\u0338\u20D2\u20D3\u20D8-\u20F0]                # a stroke through the letter before it
    | \?(?=["'”“»)\]\s]*$)                                   # a question states nothing
"""


@cache
def _pattern() -> regex.Pattern[str]:
    """Markup, and a negation in brackets, "(not)": neither one nor the other."""
    negations = "|".join(regex.escape(word) for info in LANGUAGES.values() for word in info.negations)
    return regex.compile(rf"{_MARKUP}|\(\s*(?:{negations})\s*\)", regex.VERBOSE | regex.IGNORECASE)


def added_markup(claim_text: str, evidence_text: str) -> tuple[tuple[str, str], ...]:
    """The links and pieces of markup of a claim that do not stand in its evidence, as facts of kind "markup", each
    once.
    """
    evidence = normalise(evidence_text).text
    pieces = (match.group() for match in _pattern().finditer(normalise(claim_text).text))
    found = dict.fromkeys(piece.rstrip(_ENDS) or piece for piece in pieces)
    return tuple(("markup", piece) for piece in found if piece not in evidence)
