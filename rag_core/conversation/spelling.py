"""A question without its slips of the keyboard: "yeraly rnet" where the passages have "yearly rent"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rag_core.language import LANGUAGES, fold, is_known, term, words

LEAST = 4  # letters of a word that is looked at; a shorter one is like too many; chosen
LONG = 8  # letters from which two slips are taken for what they are; chosen
ENDING = 2  # letters at the end in which two forms of a word may differ; chosen


def respelt(question: str, language: str, texts: Iterable[str]) -> str:
    """The question with each misspelt word as the texts spell it; itself where none is misspelt.

    Only a word that neither the dictionary nor a text has is changed, into one that differs in diacritics or is few
    slips away: a letter wrong, missing, too many, or swapped with the next. A name is never changed.
    """
    odd = [word for word in words(question) if _is_odd(word.text, language)]
    if not odd:
        return question
    there = Counter(word.text.casefold() for text in texts for word in words(text) if word.text.isalpha())
    # where several words are as near, a question word is meant: "wich" is no "with"
    there.update(dict.fromkeys(LANGUAGES.or_fallback(language).question_words, there.total()))
    forms = {term(word, language) for word in there}
    # typed on a keyboard without the language's letters: "vyska" where the text has "výška"
    marked = {fold(word): word for word, _ in reversed(there.most_common())}
    found = question
    for word in reversed(odd):
        if word.text in there:
            continue
        meant = marked.get(fold(word.text)) or (term(word.text, language) not in forms and _nearest(word.text, there))
        if meant:
            found = f"{found[: word.start]}{meant}{found[word.end :]}"
    return found


def _is_odd(word: str, language: str) -> bool:
    return len(word) >= LEAST and word.isalpha() and word.islower() and not is_known(word, language)


def _nearest(word: str, there: Counter[str]) -> str:
    """The word of fewest slips, then the most frequent; "" where all are farther, or only forms."""
    most = 1 if len(word) < LONG else 2
    near = [
        (slips, -count, other)
        for other, count in there.items()
        if abs(len(other) - len(word)) <= most
        and len(other) >= LEAST
        and 0 < (slips := _slips(fold(word), fold(other))) <= most
    ]
    best = min(near, default=(0, 0, ""))[2]
    same = next(
        (at for at, (one, two) in enumerate(zip(word, best, strict=False)) if one != two), min(len(word), len(best))
    )
    return best if same < min(len(word), len(best)) - ENDING or len(word) == len(best) else ""


def _slips(one: str, two: str) -> int:
    """How many letters to change, add, leave out or swap with the next one (Damerau 1964, without a second change of
    one place).
    """
    rows = [list(range(len(two) + 1))]
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(two, 1):
            least = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                least = min(least, rows[-2][j - 2] + 1)
            row.append(least)
        rows.append(row)
    return rows[-1][-1]
