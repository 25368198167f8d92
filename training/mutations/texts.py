"""Reads the sentences from PDF files, plain text or JSON lines; each with its page and its evidence.

The evidence of a sentence is what a passage would be: its page from 250 to 750 characters before it to as many behind
it, cut at spaces. As in the product, the sentences of a paragraph mostly share one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import regex

from rag_core.domain.documents import Page
from rag_core.errors import InvalidInput
from rag_core.ingest.blocks.structure import BlockKind, blocks
from rag_core.ingest.normalise import normalise
from rag_core.ingest.reading.pdf import read_pdf
from rag_core.language import detect, sentences
from training.mutations.lists import LANGUAGES

# characters of the page on either side of a sentence at least; where evidence may begin and end
AROUND, STEP = (
    250,
    500,
)
MIN_WORDS, MAX_CHARACTERS = 4, 400  # sentences: shorter ones state nothing, longer ones are lists or tables
_FIELDS = ("context", "text", "passage")
_ENDS = (".", "!", "।", ":", ";", ".”", ".“", '."', ".)", "।”")


@dataclass(frozen=True, slots=True)
class Sample:
    """A sentence in reading form, the raw text around it (its evidence) and the text of its whole page.

    `lang` is one of `LANGUAGES`.
    """

    sentence: str
    evidence: str
    page: str
    lang: str


def samples(path: Path, lang: str = "") -> Iterator[Sample]:
    """The sentences of a file in the four languages, each text once.

    Args:
        path: *.pdf, *.jsonl with `context`, `text` or `passage` (and `lang`), or plain text.
        lang: of all texts; "" for what the row says or what is detected.

    Raises:
        InvalidInput: a row that is no object, or holds none of the fields.
        RagError: the PDF cannot be read.
    """
    if path.suffix.lower() == ".pdf":
        pages = read_pdf(path.read_bytes(), path.name, ocr=False).pages
        language = lang or detect("\n".join(page.text for page in pages))
        yield from _of_pages(pages, language)
    elif path.suffix.lower() == ".jsonl":
        for text, language in dict.fromkeys(_rows(path, lang)):
            yield from _of_text(text, 0, len(text), language or detect(text))
    else:
        text = path.read_text(encoding="utf-8")
        yield from _of_text(text, 0, len(text), lang or detect(text))


def _rows(path: Path, lang: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        row = json.loads(line)
        text = (
            next((row[field] for field in _FIELDS if isinstance(row.get(field), str)), None)
            if isinstance(row, dict)
            else None
        )
        if text is None:
            raise InvalidInput(
                f"Line {number} of {path.name} holds no text.",
                remedy=f"Give each line an object with one of: {', '.join(_FIELDS)}.",
            )
        yield text, lang or str(row.get("lang", ""))


def _of_pages(pages: tuple[Page, ...], lang: str) -> Iterator[Sample]:
    texts = {page.number: page.text for page in pages}
    for block in blocks(pages, lang):
        if block.kind in (BlockKind.PARAGRAPH, BlockKind.LIST):
            for start, end in block.parts:
                yield from _of_text(texts[block.page], start, end, lang)


def _of_text(text: str, start: int, end: int, lang: str) -> Iterator[Sample]:
    if lang not in LANGUAGES:
        return
    for first, last in sentences(text[start:end], lang):
        raw = text[start + first : start + last]
        sentence = normalise(raw).text
        if "\t" not in raw and _is_statement(sentence):  # a tab parts the cells of a row
            yield Sample(sentence, _around(text, start + first, start + last), text, lang)


def _is_statement(sentence: str) -> bool:
    words = regex.findall(r"[\p{L}\p{M}]+", sentence)
    return sentence.endswith(_ENDS) and len(sentence) <= MAX_CHARACTERS and len(words) >= MIN_WORDS


def _around(text: str, start: int, end: int) -> str:
    """The text about a sentence, from a space to a space."""
    left, right = max(0, start - AROUND) // STEP * STEP, min(len(text), -(-(end + AROUND) // STEP) * STEP)
    left = next((place + 1 for place in range(left, start) if text[place].isspace()), start) if left else 0
    right = (
        next((place for place in range(right, end, -1) if text[place - 1].isspace()), end)
        if right < len(text)
        else right
    )
    return text[left:right]
