"""Loads early what this package would load at its first use, so that no question has to wait for it."""

from collections.abc import Iterable

from rag_core.language.detection import question_language
from rag_core.language.inflection import term

_WORD = "word"


def load(languages: Iterable[str]) -> None:
    """Load the language detector, and the dictionary of each of these languages (ISO 639-1) that has one.

    Half a second for the detector and 0.1 to 0.6 s for a dictionary on a free processor; nothing the second time.
    """
    question_language(_WORD, ())
    for language in languages:
        term(_WORD, language)
