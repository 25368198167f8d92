"""Finds what a claim adds to its evidence: links and markup, phrases by which a model speaks from its own knowledge ("as
we know"), words that no source has.

Screens show a claim as plain text, so nothing of it can act; but an answer that names an address which no document
names is an answer from elsewhere, and one that is dressed up was not copied.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

import regex

from rag_core.domain.claims import Claim
from rag_core.domain.measurements import Measurements
from rag_core.facts.sentence.citation_marks import strip_marks
from rag_core.grounding.units import with_header
from rag_core.ingest.normalise import normalise
from rag_core.language import FALLBACK, LANGUAGES, alike, content_terms, forms, synonyms, terms, words

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
def _markup() -> regex.Pattern[str]:
    """Markup, and a negation in brackets, "(not)": neither one nor the other."""
    negations = "|".join(regex.escape(word) for info in LANGUAGES.values() for word in info.negations)
    return regex.compile(rf"{_MARKUP}|\(\s*(?:{negations})\s*\)", regex.VERBOSE | regex.IGNORECASE)


def added_markup(claim_text: str, evidence_text: str) -> tuple[tuple[str, str], ...]:
    """The links and markup of a claim that do not stand in its evidence, each once, of kind "markup"."""
    evidence = normalise(evidence_text).text
    pieces = (match.group() for match in _markup().finditer(normalise(claim_text).text))
    found = dict.fromkeys(piece.rstrip(_ENDS) or piece for piece in pieces)
    return tuple(("markup", piece) for piece in found if piece not in evidence)


def indicators(claim_text: str, evidence_text: str, languages: Iterable[str]) -> tuple[str, ...]:
    """Indicator phrases, in any case, English or of `languages`, that a claim's evidence does not hold, each once."""
    claim, evidence = normalise(claim_text).text, normalise(evidence_text).text
    phrases = dict.fromkeys(
        phrase for lang in (*languages, FALLBACK) for phrase in LANGUAGES.or_fallback(lang).indicator_phrases
    )
    return tuple(phrase for phrase in phrases if _phrase(phrase).search(claim) and not _phrase(phrase).search(evidence))


@cache
def _phrase(phrase: str) -> regex.Pattern[str]:
    words = r"\s+".join(regex.escape(word) for word in phrase.split())
    return regex.compile(rf"(?<![\p{{L}}\p{{M}}\p{{N}}]){words}(?![\p{{L}}\p{{M}}\p{{N}}])", regex.IGNORECASE)


def added_words(text: str, sources: Iterable[str], language: str) -> tuple[str, ...]:
    """The longest run of content words of which no form and no synonym stands in the sources; of equal ones the first.

    Words that say nothing by themselves ("of the") end no run. Three in a row say something of their own, such as a
    reason that nobody gave: of 2,332 supported and 3,668 unsupported sentences of public sets 16 and 38 % have three,
    of answers written from a given text (begin) 3 and 51 %.
    """
    held = frozenset().union(*(_terms(source, language) for source in sources))
    longest: list[str] = []
    run: list[str] = []
    for word in words(strip_marks(text)):
        said = content_terms(word.text, language)
        others = [one for form in forms(word.text, language) for one in synonyms(language).get(form, ())]
        ways = [*said, *(one for other in others for one in terms(other, language))]
        if said and not any(one in held or alike(one, held) for one in ways):
            run.append(word.text)
            longest = list(run) if len(run) > len(longest) else longest
        elif said:
            run = []
    return tuple(longest)


def added_to(claim: Claim, view: Measurements) -> tuple[str, ...]:
    """The same of a claim, held against its cited passages, their titles and the question, in one language."""
    language = view.understanding.language
    cited = {piece.passage for piece in claim.evidence}
    passages = [hit.passage for hit in view.hits if hit.passage.id in cited]
    if any(passage.language not in (language, "und") for passage in passages):
        return ()
    names = [view.library.titles.get(passage.document, "") for passage in passages]
    texts = [with_header(passage) for passage in passages]
    sections = [passage.section for passage in passages]
    return added_words(claim.text, [*texts, *sections, *names, view.question], language) if texts else ()


@lru_cache(maxsize=256)
def _terms(text: str, language: str) -> frozenset[str]:
    return frozenset(terms(text, language))
