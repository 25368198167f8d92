"""Changes small words: adds or removes a negation; takes another modal, comparison or quantifier. The word lists have the pairs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from training.mutations.edits import Edit, like
from training.mutations.lists import Lists

Operator = Callable[[str, Lists, random.Random], Iterator[Edit]]


def phrase_operator(name: str) -> Operator:
    """The operator that applies one table of phrases."""

    def edits(text: str, lists: Lists, draw: random.Random) -> Iterator[Edit]:
        for pattern, texts in lists.phrases[name]:
            for match in pattern.finditer(text):
                yield Edit.over(match.span(), like(match[0], match.expand(draw.choice(texts))))

    return edits
