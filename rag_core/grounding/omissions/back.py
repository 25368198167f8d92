"""Whether a sentence needs the one beside it: it speaks of what that one names, holds in its case, or is taken back by
it.

The words are in each language's file. A heading may take back what stands below it as well. A step needs those before
it, and what a mail quotes needs what the mail says of it, in any language.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import regex

from rag_core.domain.ports import Undoing
from rag_core.domain.rows import CELL
from rag_core.facts.differences.values import values
from rag_core.facts.sentence.lexicon import lexicon
from rag_core.facts.sentence.markers import markers
from rag_core.ingest.normalise import normalise
from rag_core.language import LANGUAGES, fold, lemma, limit_words, spaced, words
from rag_core.language.bullets import BULLETS
from rag_core.language.statement_words import BesideRows

# among which a sentence takes up what stands before it; further on a pronoun mostly has its noun beside it. Chosen
FIRST_WORDS = 6
READ_CHARS = 600  # by which a sentence is told; a longer one is none of these. Chosen
FULL_WORDS = 4  # fewer are often half a sentence ("Not on Sundays."), which the one before makes whole. Chosen
# probability from which a sentence right beside another undoes it, and one with others between, and a heading. Chosen
# where of 117 answers about articles one grows over 60 words (at half of the first two ten do), and where "Where to
# write" is said before no answer that it heads
UNDOES, UNDOES_FAR, UNDOES_BELOW = 0.4, 0.6, 0.25
FAR = 3  # sentences that one stands away at most; chosen
NOTE_WORDS = 45  # in a note, to the end of its paragraph, that is needed whole; chosen
STEPS_WORDS = 45  # in all steps before one; where they have more, the first one alone is needed. Chosen
_STEP = regex.compile(r"(\p{Nd}{1,2})[.)]\s")
_SIGNS = "*†‡¹²³⁰⁴-⁹"  # that mark a note
# behind what it marks, the stop of its sentence before it or behind
_MARK = regex.compile(
    rf"(?:\S\s+|(?<=\S)(?=[{_SIGNS}\[(]))([{_SIGNS}]+|\(\p{{Ll}}\)|\[[\p{{Nd}}\p{{Ll}}]+\]|[\p{{Nd}}\p{{Ll}}](?=\)?$))\)?[.,;]?$"
    r"|(?<=[\p{L}\p{Pe}.,;!?])([†‡¹²³⁰⁴-⁹]+)(?=\s)"
)
_NOTE = regex.compile(rf"([{_SIGNS}]+|\(\p{{Ll}}\)|\[[\p{{Nd}}\p{{Ll}}]+\]|[\p{{Nd}}\p{{Ll}}](?=\)))\)?\s*\S")
_LABEL = regex.compile(r"(?:§+\s?|\p{L}+\.?\s)\p{Nd}+(?:\.\p{Nd}+)*(?=[\s.:)])")  # opens a clause: "§ 4", "Art. 3"
_EDGES = ".,:;!?…।。，、；：\"'“”„‚‘’«»‹›()[]{}–—"  # not part of a word; a minus, "%", "€" and "§" belong to it
_QUOTED = regex.compile(r">(?:\s|>)")  # how a mail quotes another


def speaks_of_before(text: str, language: str, *, unlisted: bool = True) -> bool:
    """Whether a sentence, by lists or `unlisted`, needs the one before: "It costs 90 euros."."""
    limits = limit_words(language)
    if limits is None or not limits.back:
        return unlisted
    first = [word.text for word in words(text)[:FIRST_WORDS]]
    if len(first) < FULL_WORDS or not limits.back.isdisjoint(map(fold, first)):
        return True
    found = lemma(first[0], language) if limits.infinitives else ""  # it begins with its verb
    return found != fold(first[0]) and found.endswith(tuple(limits.infinitives))


def takes_up(text: str, language: str) -> bool:
    """Whether a sentence begins with a listed noun of what stands before it: "The fee is 90 euros."."""
    return _met(text, language, "takes_up")


def hangs(text: str, language: str) -> bool:
    """Whether a sentence holds only in some case of the one before it: "In that case, it is free."."""
    return _met(text, language, "hangs")


def announces(text: str, language: str) -> bool:
    """Whether a sentence says what the next one is: "The council rejected the following motion."."""
    return _met(text, language, "announces")


def takes_back(text: str, language: str) -> bool:
    """Whether a sentence takes back, limits, dates or ascribes the one before it: "Not on Sundays."."""
    if _rows(language) is not None and len(words(text)) < FULL_WORDS:  # "With a pass."
        return True
    if _met(text, language, "takes_back"):
        return True
    limits = limit_words(language)
    if limits is None or not _met(text, language, "statement"):
        return False
    bears = binds(text, language) or limits.bounded.search(text) or limits.bears.search(text)
    return bool(bears or values(text, language).dates)


def binds(text: str, language: str) -> bool:
    """Whether a text denies something or holds a condition; in a language without lists any may."""
    limits = limit_words(language)
    if limits is None:
        return True
    words = [fold(bare) for word in normalise(text).text.split() if (bare := word.strip(_EDGES).casefold())]
    # "neplatí", "unpaid"
    if any(map(lexicon(language).positive, words)) or any(one.negates for one in markers(words, language)):
        return True
    return any(one.search(text) for one in (limits.conditions, limits.behind, limits.kept))


def needed_with(texts: Sequence[str], at: int, nth: Sequence[int] = ()) -> tuple[int, ...]:
    """The sentences of `texts`, as rising indices, without which the one at `at` is out of its place, told by their
    marks. `nth` says of each how many stand before it in its paragraph; without it each is one of its own.

    "3. Lift the blade off." is right only behind "1. Pull the plug." Where all steps before it have more than
    `STEPS_WORDS` words, it is the first one. What a mail quotes ("> The fee is 90 euros.") may be denied right above or
    below it. "The limit is 12 knots.†" needs the one note that opens with its mark: "† For rescue only. Else 6.".
    """
    notes = [n for n, text in enumerate(texts) if n != at and is_note_of(text, texts[at])]
    noted = [n for note in notes for n in _whole_note(texts, note, nth)] if len(notes) == 1 else []
    return tuple(sorted({*_needed_by_place(texts, at), *noted}))


def _whole_note(texts: Sequence[str], note: int, nth: Sequence[int]) -> Iterator[int]:
    """A note with the sentences behind it in its paragraph, `NOTE_WORDS` at most, up to the next note."""
    said = 0
    for n in range(note, len(texts)):
        said += len(texts[n].split())
        if n > note and (said > NOTE_WORDS or not (nth and nth[n]) or _NOTE.match(texts[n])):
            return
        yield n


def _needed_by_place(texts: Sequence[str], at: int) -> tuple[int, ...]:
    if _QUOTED.match(texts[at]):
        own = [n for n, text in enumerate(texts) if not _QUOTED.match(text) and not text.endswith(",")]  # "Hi Sue,"
        return (*[n for n in own if n < at][-1:], *[n for n in own if n > at][:1])
    numbers = [int(mark[1]) if (mark := _STEP.match(text)) else 0 for text in texts[: at + 1]]
    first = max((n for n, number in enumerate(numbers) if number == 1), default=at)
    steps = [number for number in numbers[first:] if number]
    if not numbers[at] or steps != list(range(1, len(steps) + 1)):
        return ()
    if sum(len(text.split()) for text in texts[first:at]) <= STEPS_WORDS:
        return tuple(range(first, at))
    return (first,)


def undone_by(texts: Sequence[str], at: int, undoing: Undoing) -> tuple[int, ...]:
    """The sentences before and behind the one at `at` that undo it, as rising indices; `FAR` away at most.

    An item of a list with others between belongs to these, a label behind ("Example:") to what it heads.
    """
    near = range(max(0, at - FAR), min(len(texts), at + FAR + 1))
    beside = [n for n in near if abs(n - at) == 1 or (n != at and texts[n][:1] not in BULLETS)]
    beside = [n for n in beside if n < at or not texts[n].endswith((":", "：")) or len(words(texts[n])) >= FULL_WORDS]
    odds = undoing([("before" if n < at else "after", texts[n]) for n in beside])
    return tuple(n for n, one in zip(beside, odds, strict=True) if one >= (UNDOES if abs(n - at) == 1 else UNDOES_FAR))


def is_note_of(note: str, text: str) -> bool:
    """Whether a text is the note that a mark in another, or in a row, points to: "* only in May" of "Sauna | 12 *"."""
    opens = _NOTE.match(note)
    return opens is not None and opens[1] in _marks(text)


def _marks(text: str) -> set[str]:
    found = (mark for cell in text.split(CELL.strip()) for mark in _MARK.finditer(cell.strip()))
    return {mark[1] or mark[2] for mark in found}


def speaks_of_clause(text: str, clause: str) -> bool:
    """Whether a text names the clause that another one, or a heading, opens with: "§ 4 no longer holds."."""
    label = _LABEL.match(clause)
    if label is None or text.startswith(clause):
        return False
    named = rf"(?<![\p{{L}}\p{{Nd}}]){regex.escape(label[0])}(?![\p{{Nd}}]|\.\p{{Nd}})"
    return regex.search(named, text, regex.IGNORECASE) is not None


def points_elsewhere(text: str) -> bool:
    """Whether there may be a note of a text, or another that speaks of its clause."""
    return bool(_marks(text)) or _LABEL.match(text) is not None


def is_void(heading: str, language: str) -> bool:
    """Whether a heading says that nothing below it holds: "Repealed rules"."""
    rows = _rows(language)
    return rows is not None and any(rows.void.fullmatch(fold(word.text)) for word in words(heading))


def _rows(language: str) -> BesideRows | None:
    return LANGUAGES[language].beside if language in LANGUAGES else None


def _met(text: str, language: str, name: str) -> bool:
    return _rows(language) is not None and bool(_pattern(language, name).match(spaced(text[:READ_CHARS])))


@cache
def _pattern(language: str, name: str) -> regex.Pattern[str]:
    rows = LANGUAGES[language].beside
    ways = "|".join(getattr(rows, name)).replace("<verb>", getattr(rows, "verb", ""))
    return regex.compile(fold(f"(?:{ways})(?: |$)"))
