"""The twelve operators: each changes one fact of a sentence, so that the sentence no longer says what its page says."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import regex

from training.mutations.edits import Edit, like
from training.mutations.lists import PHRASE_OPERATORS, Lists, lists
from training.mutations.names import names
from training.mutations.values import currencies, dates, digits, magnitudes, signs, units

OPERATORS = (
    "digit",
    "unit",
    "currency",
    "date",
    "name",
    "negation",
    "modality",
    "comparison",
    "operator",
    "magnitude",
    "quantifier",
)
MAX_COUNT = 2  # mutations of one operator for one sentence

Operator = Callable[[str, Lists, random.Random], Iterator[Edit]]


def phrase_operator(name: str) -> Operator:
    """The operator that changes small words by one table of phrases: a negation, a modal, a comparison, a
    quantifier.
    """

    def edits(text: str, lists: Lists, draw: random.Random) -> Iterator[Edit]:
        for pattern, texts in lists.phrases[name]:
            for match in pattern.finditer(text):
                yield Edit.over(match.span(), like(match[0], match.expand(draw.choice(texts))))

    return edits


_BY_TEXT: Mapping[str, Operator] = {
    "digit": digits,
    "unit": units,
    "currency": currencies,
    "date": dates,
    "operator": signs,
    "magnitude": magnitudes,
    **{name: phrase_operator(name) for name in PHRASE_OPERATORS},
}


@dataclass(frozen=True, slots=True)
class Mutation:
    """A sentence with one thing changed; `operator` says which, or for a harmless change of which kind it is."""

    operator: str
    text: str


def mutations(sentence: str, page: str, lang: str, draw: random.Random) -> list[Mutation]:
    """The mutations of a sentence by each operator, at most two each; [] for a question, which states nothing.

    Args:
        sentence: stands on the page word for word, white space and ligatures aside.
        page: where names are swapped from; no mutation stands on it.
        lang: one of `lists.LANGUAGES`.
        draw: decides which place and which replacement.
    """
    if sentence.rstrip(" \"'”“»)").endswith("?"):
        return []
    known, held, made = lists(lang), _plain(page), []
    for operator in OPERATORS:
        if operator == "name":
            found = list(names(sentence, page, lang, draw))
        else:
            found = list(_BY_TEXT[operator](sentence, known, draw))
        made += [Mutation(operator, text) for text in _drawn(found, sentence, held, draw)]
    return made


def _drawn(found: list[Edit], sentence: str, page: str, draw: random.Random) -> list[str]:
    """At most `MAX_COUNT` different sentences that do not stand on the page."""
    draw.shuffle(found)
    texts = dict.fromkeys(edit.of(sentence) for edit in found)
    return [text for text in texts if _plain(text) != _plain(sentence) and _plain(text) not in page][:MAX_COUNT]


def _plain(text: str) -> str:
    return str(regex.sub(r"\s+", " ", text)).strip().casefold()
