"""Finds words that a model added. It may only compress, so its sentences are made of the words of their sources.

A word or two of its own join what it leaves; three in a row say something of their own, such as a reason that nobody
gave. Measured on 2,332 supported and 3,668 unsupported sentences of public sets, most of them free retellings: 16 and
38 % have three in a row; of answers that were written from a given text (begin), 3 and 51 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from rag_core.domain.claims import Claim
from rag_core.domain.measurements import Measurements
from rag_core.facts.sentence.citation_marks import strip_marks
from rag_core.grounding.units import with_header
from rag_core.language import alike, content_terms, forms, synonyms, terms, words


def added_words(text: str, sources: Iterable[str], language: str) -> tuple[str, ...]:
    """The longest run of content words of which no form and no synonym stands in the sources; the first one of the
    longest.

    Words that say nothing by themselves ("of the") end no run.
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
    """The same of a claim, held against the passages that it cites, what their documents are called, and the question.

    Nothing where one of the passages is in another language: words cannot be compared across languages.
    """
    language = view.understanding.language
    cited = {piece.passage for piece in claim.evidence}
    passages = [hit.passage for hit in view.hits if hit.passage.id in cited]
    if any(passage.language not in (language, "und") for passage in passages):
        return ()
    names = [view.library.titles.get(passage.document, "") for passage in passages]
    texts = [with_header(passage) for passage in passages]
    return (
        added_words(claim.text, [*texts, *(passage.section for passage in passages), *names, view.question], language)
        if texts
        else ()
    )


def added_counts(claims: Sequence[Claim], view: Measurements) -> tuple[int, ...]:
    """How many words in a row each claim adds, at most."""
    return tuple(len(added_to(claim, view)) for claim in claims)


@lru_cache(maxsize=256)
def _terms(text: str, language: str) -> frozenset[str]:
    return frozenset(terms(text, language))
