"""Pages for tests, built by hand: rows with size, weight and cells as the PDF reader gives them; and the embedded
model's tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_core.adapters.embedding.embedded import MAX_TOKENS, count_tokens
from rag_core.domain.documents import Box, Line, Page
from rag_core.domain.passages import Passage
from rag_core.domain.ports import TextKind, Vectors

PITCH = 12.0  # points from row to row


@dataclass(frozen=True)
class Set:
    """One row as it is set; a tab in `text` parts cells. A row with `gap` starts a new block."""

    text: str
    size: float = 10.0
    bold: bool = False
    mono: bool = False
    gap: bool = True
    left: float = 50.0


def head(text: str, size: float = 14.0) -> Set:
    return Set(text, size=size, bold=True)


def prose(*texts: str) -> list[Set]:
    return [Set(text, gap=index == 0) for index, text in enumerate(texts)]


def page(number: int, rows: Sequence[Set]) -> Page:
    lines, text, block = [], "", 0
    for index, row in enumerate(rows):
        text += "\n" if index else ""
        block += row.gap
        cells, offset = [], len(text)
        for cell in row.text.split("\t"):
            cells.append((offset, offset + len(cell)))
            offset += len(cell) + 1
        box = Box(row.left, 40 + PITCH * index, row.left + 5 * len(row.text), 50 + PITCH * index)
        lines.append(Line(len(text), len(text) + len(row.text), box, row.size, row.bold, row.mono, block, tuple(cells)))
        text += row.text
    return Page(number, text, lines=tuple(lines), width=612, height=792)


class TokensAlone:
    """The embedded model's own tokenizer, without the model."""

    name = "multilingual-e5-small (tokens only)"
    max_tokens = MAX_TOKENS

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return count_tokens(texts)

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        raise AssertionError("cutting a document embeds nothing")


@lru_cache(maxsize=1)
def embedder() -> TokensAlone:
    return TokensAlone()


def quoted(pages: Sequence[Page], passage: Passage) -> str:
    texts = {page.number: page.text for page in pages}
    return "\n".join(texts[span.page][span.start : span.end] for span in passage.spans)
