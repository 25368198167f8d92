"""The words of a text, so that another text can be compared with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rag_core.facts.differences.align import Sentence, Token, read
from rag_core.facts.sentence.lexicon import lexicon
from rag_core.language import alike

KEPT = 0.5  # share of a statement's words from which a text states it
_UPPER = "amount-"


@dataclass(frozen=True, slots=True)
class Said:
    """The sentences of a text and all their words; "unworn" has the word "worn" too."""

    text: str
    sentences: tuple[Sentence, ...]
    stems: frozenset[str]
    folded: frozenset[str]

    @classmethod
    def of(cls, text: str, lang: str) -> Said:
        """Read a text."""
        sentences = read(text, lang)
        tokens = [token for sentence in sentences for token in sentence.tokens if not token.light]
        folded, positive = frozenset(token.folded for token in tokens), lexicon(lang).positive
        return cls(text, sentences, frozenset(token.stem for token in tokens), folded.union(filter(None, map(positive, folded))))

    def has(self, token: Token) -> bool:
        """Whether a form of a word stands here; a number only as it is."""
        return token.stem in self.stems or (not token.text[0].isdecimal() and bool(alike(token.folded, self.folded)))

    def share(self, tokens: Sequence[Token]) -> float:
        """The share of these words that stand here, in [0, 1]; 0 of none."""
        return sum(map(self.has, tokens)) / len(tokens) if tokens else 0.0

    def is_modal(self) -> bool:
        """Whether it says what must or may be done, or names an upper bound of it."""
        found = [marker for sentence in self.sentences for marker in sentence.markers]
        return any(marker.kind == "modality" or (marker.kind == "comparison" and marker.level == _UPPER) for marker in found)

    def is_general(self, noun: Token, quantifiers: Collection[str]) -> bool:
        """Whether a noun stands here right behind "every", or as the first word of a sentence."""
        places = [(sentence.tokens, n) for sentence in self.sentences for n, token in enumerate(sentence.tokens) if token.stem == noun.stem]
        return not noun.light and any(n == 0 or tokens[n - 1].folded in quantifiers for tokens, n in places)
