"""How well a sentence fits what a question asks for.

| feature | range | what it is |
|---|---|---|
| row | [0, 1] | how surely a row of a table is the one asked for, as `gating/row.py` says; 0 for what is no row |
| result | {0, 1} | 0 where a change, ratio or average is asked for, and neither sentence nor heading has words for one
("rose by") |

Whether a sentence speaks of something else than what is asked for is for the answerability model to say.
"""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.gating.asked import AskedFor, states_result
from rag_core.gating.row import row_asked
from rag_core.language import spaced


@dataclass(frozen=True, slots=True)
class Fit:
    """The features of one sentence, as the module's table says."""

    row: float = 0.0
    result: float = 1.0


def fits(asked: AskedFor, text: str, section: str, title: str, language: str) -> Fit:
    """How a sentence under these headings, with the header of its table, fits; `language` is the sentence's."""
    row = row_asked(asked, text, f"{section}\n{title}", language)
    states = any(states_result(asked.computes, spaced(said), language) for said in (text, section))
    return Fit(row, float(states))
