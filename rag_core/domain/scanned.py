"""Words read from a picture that may be wrong: OCR was not sure, or a letter stands where a digit is likely."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rag_core.domain.bounds import require_between
from rag_core.domain.documents import Box, Span, WordBox

TESSERACT, RAPIDOCR = "tesseract", "rapidocr"  # engines, as the setting `ocr_engine` names them
ENGINES = {TESSERACT: "Tesseract", RAPIDOCR: "RapidOCR"}  # and as they call themselves
# Below it a word is told, and a word with a figure. The scores of two engines are no common scale; docs/scans.md has
# what other limits would tell of right and wrong words.
SURE = {TESSERACT: (0.70, 0.85), RAPIDOCR: (0.95, 0.97)}
ALIKE = ("§/$/S", "0/O", "1/l/I", "5/S", "8/B", "2/Z", "./,")  # signs that look alike on paper, for a reader to compare
_FIGURE = re.compile(r"[\d§$€£%]")
# "1O0", "l5": nothing but digits and letters that look like them
_AMONG_DIGITS = re.compile(r"(?=.*\d)(?=.*[OolISBZ])[\dOolISBZ.,/-]+")
_FOR_A_PARAGRAPH = re.compile(r"[SŠ]\.?")  # before a number: most likely "§"


@dataclass(frozen=True, slots=True)
class Unsure:
    """A word read by OCR that may be wrong, at `span` of `document` and `box` on the page; `sure` in [0, 1]."""

    document: str
    span: Span
    sure: float
    box: Box
    text: str

    def __post_init__(self) -> None:
        require_between("Unsure.sure", self.sure, 0.0, 1.0)

    @property
    def figure(self) -> bool:
        """Whether it is a number, an amount, a code or a reference to a paragraph, or takes the place of one."""
        return holds_figure(self.text) or bool(_FOR_A_PARAGRAPH.fullmatch(self.text))

    @property
    def alike(self) -> tuple[str, ...]:
        """The groups of signs that look alike of which a figure has one: what to compare with the page."""
        return (
            tuple(group for group in ALIKE if any(sign in self.text for sign in group.split("/")))
            if self.figure
            else ()
        )


def holds_figure(text: str) -> bool:
    """Whether a text has a digit of any script, or the sign of an amount or a paragraph."""
    return bool(_FIGURE.search(text))


def engines_in_words(engines: Iterable[str]) -> str:
    """Engines in brackets, for behind "OCR": " (RapidOCR, Tesseract)"; "" where none is known."""
    known = sorted({ENGINES[one] for one in engines if one in ENGINES})
    return f" ({', '.join(known)})" if known else ""


def unsure_words(
    document: str, span: Span, words: Sequence[WordBox], text: str, read_by: str = TESSERACT
) -> Iterator[Unsure]:
    """The words of a stretch of a page that may be wrong, by the limits of the engine that read it."""
    sure, sure_figure = SURE.get(read_by, SURE[TESSERACT])
    inside = [word for word in words if span.start < word.end and word.start < span.end]
    for at, word in enumerate(inside):
        if word.sure is None:
            continue
        said = text[word.start : word.end]
        after = text[inside[at + 1].start : inside[at + 1].end] if at + 1 < len(inside) else ""
        limit = sure_figure if holds_figure(said) else sure
        stands_for_another = _AMONG_DIGITS.fullmatch(said) or (_FOR_A_PARAGRAPH.fullmatch(said) and after[:1].isdigit())
        if word.sure < limit or stands_for_another:
            yield Unsure(document, Span(span.page, word.start, word.end), word.sure, word.box, said)
