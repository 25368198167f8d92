"""The ways to cut documents of different kinds, and the choice of one, from counts that the user is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType

from rag_core.domain.documents import Page
from rag_core.errors import InvalidSetting
from rag_core.ingest.blocks.code import code_rows
from rag_core.ingest.blocks.rows import rows


@dataclass(frozen=True, slots=True)
class Strategy:
    """How a document is cut.

    Units (paragraphs, items, clauses, functions) are joined while a passage holds fewer than `fill_tokens`, and never
    beyond `max_tokens` or what the embedding model reads. With `overlap`, a passage repeats the last sentences of the
    one before it in its section; without, only the pieces of one cut unit overlap.
    """

    name: str
    max_tokens: int
    fill_tokens: int
    overlap: bool
    by_definition: bool = False  # each function or class of code is a unit


# tokens of a passage and of its overlap as the sources of the project give them for each kind of document
STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "technical": Strategy("technical", 512, 512, True),
        "code": Strategy("code", 512, 0, False, by_definition=True),
        "legal": Strategy("legal", 256, 48, False),
        "research": Strategy("research", 384, 96, False),
    }
)
SAMPLE_PAGES = 40  # the detector reads the first ones: enough to tell, and a long document costs no more

CODE_SHARE = 0.3  # share of the rows: a manual with some listings stays technical
LEGAL_PER_1000 = 12.0  # words; contracts and statutes show 15 to 60, filings and articles below 8
MIN_CLAUSES = 3  # numbered clauses or articles, or a text that only uses the words is no contract
RESEARCH_SIGNS = 2  # out of four: abstract, references, "et al.", numbered citations

_CLAUSE = re.compile(
    r"^\W*(?:§+ ?\d+|(?:article|section|clause|článek|čl\.|artikel|art\.|artículo|статья|अनुच्छेद|धारा) "
    r"+[\dIVXLC०-९]+\b|"
    r"\d{1,2}\.\d{1,2}\.? +\S)",
    re.IGNORECASE | re.MULTILINE,
)
_LEGAL_WORD = re.compile(
    r"§|\b(?:shall|hereby|herein(?:after)?|thereof|hereto|pursuant|indemnif\w+|parties|covenants?|smluvní\w* "
    r"stran\w*|smlouv\w+|zákon\w*|"
    r"odst\.|ustanovení\w*|vertrag\w*|vertragspartei\w*|absatz|abs\.|gemäß|"
    r"haftung|gesetz\w*|contrato|las partes|договор\w*|сторон\w*)\b|अनुबंध|पक्षकार",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_ABSTRACT = re.compile(
    r"^\W*(?:\d\W*)?(?:abstract|abstrakt|zusammenfassung|resumen|résumé|аннотация|सारांश)\b",
    re.IGNORECASE | re.MULTILINE,
)
_REFERENCES = re.compile(
    r"^\W*(?:\d{1,2}\W*)?(?:references|bibliography|literatura|literaturverzeichnis|referencias|список "
    r"литературы|संदर्भ)\W*$",
    re.IGNORECASE | re.MULTILINE,
)
_ET_AL = re.compile(r"\bet al\b\.?")
_CITATION = re.compile(r"\[\d{1,3}(?:[,–-] ?\d{1,3})*\]|\([A-Z]\w+(?: et al\.?| and [A-Z]\w+)?, (?:19|20)\d\d[a-z]?\)")


@dataclass(frozen=True, slots=True)
class Choice:
    """The strategy that was chosen and, in one sentence with the counts, why."""

    strategy: Strategy
    evidence: str


def named(name: str) -> Choice:
    """The strategy that the user asked for; raises InvalidSetting where there is none of this name."""
    if name not in STRATEGIES:
        raise InvalidSetting(f"There is no strategy {name!r}.", remedy=f"Choose one of: {', '.join(STRATEGIES)}.")
    return Choice(STRATEGIES[name], "Chosen by the user.")


def choose(pages: Sequence[Page], language: str) -> Choice:
    """The strategy that suits a document by its first `SAMPLE_PAGES` pages; `language` is ISO 639-1 or "und"."""
    sample = list(islice(pages, SAMPLE_PAGES))
    text = "\n".join(page.text for page in sample)
    technical = Choice(STRATEGIES["technical"], "No signs of code, law or research; cut by sections.")
    return _code(sample) or _legal(text) or _research(text) or technical


def _code(pages: Sequence[Page]) -> Choice | None:
    everything = [row for page in pages for row in rows(page)]
    code = len(code_rows(everything))
    if not everything or code < CODE_SHARE * len(everything) or code < 3:
        return None
    return Choice(STRATEGIES["code"], f"{code} of {len(everything)} rows read like program code.")


def _legal(text: str) -> Choice | None:
    clauses, legal_words = len(_CLAUSE.findall(text)), len(_LEGAL_WORD.findall(text))
    words = sum(1 for _ in _WORD.finditer(text))  # a list of them would take sixty times the text
    if clauses < MIN_CLAUSES or 1000 * (legal_words + clauses) < LEGAL_PER_1000 * words:
        return None
    return Choice(
        STRATEGIES["legal"], f"{clauses} numbered clauses or articles and {legal_words} legal terms in {words} words."
    )


def _research(text: str) -> Choice | None:
    et_al, citations = len(_ET_AL.findall(text)), len(_CITATION.findall(text))
    signs = {
        "an abstract": bool(_ABSTRACT.search(text)),
        "a list of references": bool(_REFERENCES.search(text)),
        f"{et_al} times “et al.”": et_al >= 2,
        f"{citations} citations in brackets": citations >= 5,
    }
    present = [sign for sign, there in signs.items() if there]
    if len(present) < RESEARCH_SIGNS:
        return None
    return Choice(STRATEGIES["research"], f"It has {' and '.join(present)}.")
