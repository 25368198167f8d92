"""Decides what glyphs say where a file gives them more text than they can show, or two texts.

- `ToUnicode` may give one glyph many characters (the page shows 28, the text says 28000). Honest files do that for
  ligatures, for signs that Unicode has as one character, and for scripts that are drawn with glyphs for groups of
  letters.
- `ActualText` may give a stretch of glyphs another text than their own. Honest files do that for hyphens, for capitals
  in small print, for ligatures, for glyphs whose own value is wrong, and for scripts whose glyphs have no value. Where
  the two readings differ, the drawn shape of each glyph is held against both, and the one that is drawn is read. Where
  neither can be told, the word is kept and is doubtful; where a digit is drawn that neither says, it is false.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

Glyph = tuple[int, int]  # the number of a glyph in its font, and the character that the file gives it
FURTHER = -1  # the number that MuPDF gives to the further characters of a glyph
# where Unicode has signs that stand for several
ONE_SIGN = (*range(0xA0, 0x3400), *range(0xF900, 0xFFF0), *range(0x1F100, 0x1F200))
LETTERS_OF_A_GLYPH = 3  # that one glyph without a value may stand for, as in "ffi"
# Hebrew to Balinese: scripts that are drawn with glyphs for parts and groups of letters
JOINING = range(0x0590, 0x1B00)
# that change what a figure says; a minus is drawn like the dashes and hyphens that files say for it
SIGNS = frozenset("≤≥<>=≠±+%‰€$£¥§")
NEAR = 0.25  # a glyph may differ by so much of a square from the text that it is taken for
RATHER = 1.25  # times as much must it differ from the other reading
UNTOLD = 0.35  # what a glyph is taken to differ from letters that no reference has
SHARED = 3  # letters that both readings have in a row; fewer are the same by chance
LONGEST = 80  # glyphs that are held against letters one by one; more are a page of another text
MOST = 3_000  # signs of a span, which a page of print seldom has; with more, each glyph says what it is
SLACK = 8  # places by which a glyph may stand before or behind its letters
Away = Callable[["Drawn", str], float | None]  # how far a glyph is from a text; None where that cannot be told


def crowded(items: Iterable[Glyph]) -> Iterator[Glyph]:
    """Of the items of a text, in order, the further characters of glyphs that cannot show them all."""
    group: list[Glyph] = []
    for item in items:
        if item[0] != FURTHER:
            yield from _refused(group)
            group = []
        group.append(item)
    yield from _refused(group)


def _refused(group: list[Glyph]) -> list[Glyph]:
    further = group[1:]
    return [] if not further or _is_one_sign("".join(chr(max(0, code)) for _, code in group)) else further


@cache
def _is_one_sign(text: str) -> bool:
    signs = [sign for sign in unicodedata.normalize("NFKD", text) if unicodedata.category(sign) != "Mn"]
    said = [sign for sign in signs if sign.isalnum()]
    if not any(sign.isalnum() for sign in text[1:]) or any(ord(sign) in JOINING for sign in text):
        return True
    if len(said) <= LETTERS_OF_A_GLYPH and len(said) == len(signs) and not any(sign.isdigit() for sign in said):
        return True
    return "".join(signs).replace("\u2044", "/") in _composed()


@cache
def _composed() -> frozenset[str]:
    return frozenset(unicodedata.normalize("NFKD", chr(code)).replace("\u2044", "/") for code in ONE_SIGN)


class Drawn(NamedTuple):
    """A glyph as painted, `middle` in points of the page as shown. A `sign` is no letter; `text` is what it shows."""

    font: Any  # a font, as MuPDF has it
    address: int  # that names the font
    number: int
    text: str  # by the file
    middle: tuple[float, float]
    sign: bool = False


@dataclass
class Span:
    """Glyphs that the file has one text for. `nested`: parts of them have a text of their own, which is not asked."""

    said: str
    glyphs: list[Drawn]
    nested: bool = False


class Judgement(Enum):
    """The reading of a glyph that holds, where its two readings differ."""

    SAID = "said"
    PAINTED = "painted"
    DOUBTFUL = "doubtful"
    FALSE = "false"


class Shown(NamedTuple):
    """The text to read for a glyph, and why; no judgement where both readings are the same."""

    text: str
    judgement: Judgement | None


def judged(
    span: Span, away: Away, is_blank: Callable[[Drawn], bool], is_false: Callable[[Drawn, str], bool]
) -> list[Shown] | None:
    """The text to read for each glyph of a span; None where the span's own text may be read as it is."""
    painted = "".join(glyph.text for glyph in span.glyphs)
    plain = not span.nested and not any(glyph.sign for glyph in span.glyphs)
    agreed = span.said == painted or agree(span.said, painted)
    if agreed and plain and not _is_garbled(span, painted):
        return None
    if max(len(span.said), len(painted)) > MOST:
        return [Shown(glyph.text, Judgement.PAINTED) for glyph in span.glyphs]
    own = _as_capitals(span, painted) if agreed else [glyph.text for glyph in span.glyphs]
    found = [Shown(text, None) for text in own]
    untold: list[tuple[dict[int, str], str]] = []
    for first, last, said in _differing(span):
        taken = [letters.strip() for letters in _letters_of(span.glyphs[first:last], said, away, is_blank)]
        for at, letters in enumerate(taken, first):
            found[at] = _judged(span.glyphs[at], letters, away, is_blank, is_false)
        part = {at: letters for at, letters in enumerate(taken, first) if found[at].judgement is Judgement.DOUBTFUL}
        untold.append((part, said.strip() if len(part) == last - first else ""))
    judgements = Counter(one.judgement for one in found)
    for part, whole in untold:  # from one reading, for half of each is a word that nobody wrote
        lean = judgements[Judgement.SAID] - judgements[Judgement.PAINTED] or _lean(
            [(span.glyphs[at], part[at]) for at in part], away
        )
        is_said = any(part.values()) and lean >= 0
        if whole and is_said:
            part = dict(zip(part, (whole, *[""] * (len(part) - 1)), strict=True))
        for at, letters in part.items():
            found[at] = Shown(letters if is_said else span.glyphs[at].text, None if agreed else Judgement.DOUBTFUL)
    return found


def _lean(part: Sequence[tuple[Drawn, str]], away: Away) -> float:
    """Below 0 where glyphs are much nearer to their own values than to these letters."""
    said, painted = 0.0, 0.0
    for glyph, letters in part:
        one, other = away(glyph, letters), away(glyph, glyph.text)
        said += UNTOLD if one is None else one
        painted += UNTOLD if other is None else other
    return (2 * RATHER if any(len(letters) > 1 for _, letters in part) else RATHER) * painted - said


def _as_capitals(span: Span, painted: str) -> list[str]:
    """The characters of each glyph, in capitals and small letters as the text of the span has them."""
    signs = list(painted)
    for said_at, painted_at, size in _matching(span.said, painted):
        signs[painted_at : painted_at + size] = span.said[said_at : said_at + size]
    rest = iter(signs)
    return ["".join(islice(rest, len(glyph.text))) for glyph in span.glyphs]


def _is_garbled(span: Span, painted: str) -> bool:
    """Whether MuPDF would lose or misplace letters: several glyphs, some with another value."""
    several = len(span.glyphs) > 1 and span.said.split() != painted.split()
    return several and not any(ord(sign) in JOINING for sign in span.said)


def rejected(said: str, shown: Sequence[Shown]) -> list[str]:
    if len(said) > MOST:
        return said.split()
    read = "".join(one.text for one in shown)
    words, at, same = [], 0, set[int]()
    for one, _, size in _matching(said, read):
        same.update(range(one, one + size))
    for word in said.split():
        start = said.index(word, at)
        at = start + len(word)
        if any(sign.isalnum() and place not in same for place, sign in enumerate(word, start)):
            words.append(word)
    return words or said.split()


def _matching(one: str, other: str) -> Sequence[tuple[int, int, int]]:
    """Where two texts are the same in small letters, sign for sign: place in each, and length."""
    first, second = ("".join(low if len(low := sign.lower()) == 1 else sign for sign in text) for text in (one, other))
    return SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()


def _same(one: str, other: str) -> bool:
    return unicodedata.normalize("NFKD", one).casefold() == unicodedata.normalize("NFKD", other).casefold()


def _differing(span: Span) -> Iterator[tuple[int, int, str]]:
    """Where the readings differ: the first glyph, the one after the last, and what is said for them."""
    owners = [number for number, glyph in enumerate(span.glyphs) for _ in glyph.text]
    painted = "".join(glyph.text for glyph in span.glyphs)
    for start, end, low, high in _parts(span.said, painted) if owners else ():
        signs = span.said[start:end] + painted[low:high]
        if not any(sign.isalnum() or sign in SIGNS or _is_private(sign) for sign in signs):
            continue  # blanks, hyphens and full stops say nothing
        # whole glyphs, and with what stands before: what is said and not painted belongs to a glyph
        while low and (low == high or owners[low - 1] == owners[low]):
            low, start = low - 1, max(0, start - 1)
        if low == high:
            high, end = high + 1, end + 1
        while high < len(owners) and owners[high] == owners[high - 1]:
            high, end = high + 1, end + 1
        yield owners[low], owners[high - 1] + 1, span.said[start:end]


def _parts(said: str, painted: str) -> list[tuple[int, int, int, int]]:
    """The stretches of both readings that differ: start and end in the one, start and end in the other."""
    found: list[tuple[int, int, int, int]] = []
    one = other = 0
    for said_at, painted_at, size in _matching(said, painted):
        if (said_at, painted_at) != (one, other):
            if found and other - found[-1][3] < SHARED:
                found[-1] = found[-1][0], said_at, found[-1][2], painted_at
            else:
                found.append((one, said_at, other, painted_at))
        one, other = said_at + size, painted_at + size
    return found


def _letters_of(glyphs: Sequence[Drawn], said: str, away: Away, is_blank: Callable[[Drawn], bool]) -> list[str]:
    """The part of a text that each glyph is nearest to, in order, with the least sum of distances."""
    if len(glyphs) > LONGEST or len(said) > LETTERS_OF_A_GLYPH * LONGEST:
        return [""] * len(glyphs)
    slope = len(said) / len(glyphs)
    best: dict[int, tuple[float, tuple[str, ...]]] = {0: (0.0, ())}
    for number, glyph in enumerate(glyphs):
        after: dict[int, tuple[float, tuple[str, ...]]] = {}
        for at, (cost, taken) in best.items():
            for skipped, price in _skips(said, at):
                for count in range(LETTERS_OF_A_GLYPH + 1):
                    end = at + skipped + count
                    if end > len(said) or abs(end - slope * (number + 1)) > SLACK + slope:
                        continue
                    letters = said[at + skipped : end]
                    total = cost + price + _cost(glyph, letters, away, is_blank)
                    if end not in after or total < after[end][0]:
                        after[end] = total, (*taken, letters)
        best = after
    ended = [(cost + UNTOLD * sum(sign.isalnum() for sign in said[at:]), taken) for at, (cost, taken) in best.items()]
    return list(min(ended, key=lambda one: one[0])[1]) if ended else [""] * len(glyphs)


def _skips(said: str, at: int) -> Iterator[tuple[int, float]]:
    """How many signs of the text may stand for no glyph, and at what price."""
    yield 0, 0.0
    if at < len(said):
        yield 1, 2 * UNTOLD if said[at].isalnum() else 0.02


def _cost(glyph: Drawn, letters: str, away: Away, is_blank: Callable[[Drawn], bool]) -> float:
    if glyph.sign:
        return 0.0 if len(letters) < 2 else UNTOLD * len(letters)
    if is_blank(glyph) or not letters.strip():
        return 0.0 if is_blank(glyph) is (not letters.strip()) else 2 * UNTOLD
    if _same(letters, glyph.text):
        return 0.0
    known = away(glyph, letters)
    return UNTOLD if known is None else known


def _judged(
    glyph: Drawn, letters: str, away: Away, is_blank: Callable[[Drawn], bool], is_false: Callable[[Drawn, str], bool]
) -> Shown:
    if glyph.sign:
        return Shown(glyph.text, None)
    if is_blank(glyph):
        judgement = Judgement.PAINTED if any(map(str.isalnum, letters)) else None
        return Shown(glyph.text if glyph.text.isspace() else " ", judgement)
    if _same(letters, glyph.text):
        return Shown(letters, None)
    said, painted = (away(glyph, text) for text in (letters, glyph.text))
    if said is not None and said < NEAR and (painted is None or RATHER * said < painted):
        return Shown(letters, Judgement.SAID)
    # each font has its own
    is_ligature = 1 < len(letters) <= LETTERS_OF_A_GLYPH and letters.isalpha() and len(glyph.text) == 1
    rather = 2 * RATHER if is_ligature else RATHER
    if painted is not None and painted < NEAR and (said is None or rather * painted < said):
        return Shown(glyph.text, Judgement.PAINTED)
    has_digit = any(sign.isdigit() for sign in letters + glyph.text)
    if has_digit and is_false(glyph, letters) and is_false(glyph, glyph.text):
        return Shown(letters or glyph.text, Judgement.FALSE)
    return Shown(letters, Judgement.DOUBTFUL)


def agree(said: str, painted: str) -> bool:
    """Whether two readings say the same but for case, hyphens, and what glyphs without a value leave open."""
    letters, digits, signs, is_joined, _ = _signs(said)
    *own, joins, unknown = _signs(painted)
    if digits != own[1]:
        return False
    if not unknown:
        return [letters, digits, signs] == own and is_joined <= joins
    return len(letters) - len(own[0]) <= LETTERS_OF_A_GLYPH * unknown and _in_order(own[0], letters)


def _signs(text: str) -> tuple[str, str, str, bool, int]:
    """The letters, digits and signs of a text, whether letters join in it, and how many of them have no value."""
    rest, digits = list[str](), ""
    for sign in unicodedata.normalize("NFKD", text).casefold():
        digit = unicodedata.digit(sign, None)
        digits += "" if digit is None else str(digit)
        rest += [sign] * (digit is None)
    others = [sign for sign in rest if ord(sign) not in JOINING]
    letters, signs = "".join(filter(str.isalpha, others)), "".join(sign for sign in others if sign in SIGNS)
    private = sum(not sign.isalpha() and sign not in SIGNS and _is_private(sign) for sign in others)
    return letters, digits, signs, len(others) < len(rest), len(rest) - len(others) + private


def _is_private(sign: str) -> bool:
    return sign == "\ufffd" or unicodedata.category(sign) in ("Co", "Cn", "Cc")


def _in_order(few: str, many: str) -> bool:
    """Whether the letters of `few` stand in `many` in their order."""
    rest = iter(many)
    return all(letter in rest for letter in few)
