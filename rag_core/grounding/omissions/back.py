"""Whether a sentence speaks of what the sentence before it names: behind another one it would say it of something else."""

from __future__ import annotations

from rag_core.language import LANGUAGES, fold, lemma, words

FIRST_WORDS = 6  # among which a sentence takes up what stands before it; further on a pronoun mostly has its noun beside it. Chosen
FULL_WORDS = 4  # fewer are often half a sentence ("Not on Sundays."), which the one before makes whole. Chosen


def speaks_of_before(text: str, language: str, *, unlisted: bool = True) -> bool:
    """Whether a sentence needs the one before it: "It costs 90 euros.", "Stojí 90 eur.", "Not on Sundays.".

    In a language without lists it is as `unlisted` says. What a noun takes up ("The fee is 90 euros.") is not seen.
    """
    limits = LANGUAGES[language].limits if language in LANGUAGES else None
    if limits is None or not limits.back:
        return unlisted
    first = [word.text for word in words(text)[:FIRST_WORDS]]
    if len(first) < FULL_WORDS or not limits.back.isdisjoint(map(fold, first)):
        return True
    return _begins_with_a_verb(first[0], language, tuple(limits.infinitives))


def _begins_with_a_verb(word: str, language: str, infinitives: tuple[str, ...]) -> bool:
    found = lemma(word, language)
    return bool(infinitives) and found != fold(word) and found.endswith(infinitives)
