"""Labelled questions with the place that each is asked of, for the reader. Not part of the product.

A row has `question`, `context` and `answers`, or `question`, `units` and `gold`, the numbers of the units that answer;
`lang`, `source`, and where known `title`, `place`, `answerable` and `context_lang`; `whole` where the answer depends on
the heading and the other units, so that all of them must be read. The sentences of a context are cut by the product.
Contexts are held out whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from rag_core.language import sentences
from training.files import asking, split_of

HELD = 0.02  # share of the contexts that are held out
MOST_UNITS = 80  # in a context; a longer one is a whole document
MANY, FADING = 6000, 0.6  # questions of a source above which each counts less, and how fast


@dataclass(frozen=True, eq=False)
class Context:
    """A text by its sentences or rows, and the line that says where it stands."""

    units: tuple[str, ...]
    place: str
    title: str
    language: str


@dataclass(frozen=True)
class Asked:
    """A question about a context.

    `spans` are the characters that answer in each unit that does, None where they do not stand whole.
    """

    question: str
    context: Context
    spans: dict[int, tuple[int, int] | None]
    answers: tuple[str, ...]
    language: str
    source: str
    whole: bool = False


@dataclass
class Rows:
    """All questions, those of held-out contexts apart, and their texts."""

    train: list[Asked] = field(default_factory=list)
    held: list[Asked] = field(default_factory=list)
    _contexts: dict[str, Context] = field(default_factory=dict)

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Take rows in; one whose answer stands in no single unit is left out."""
        for row in rows:
            key = "\n".join(row["units"]) if "units" in row else str(row["context"])
            context = self._context(key, row)
            spans = _spans(context.units, row)
            if (
                row["question"].strip()
                and 0 < len(context.units) <= MOST_UNITS
                and (spans or not row.get("answerable", row.get("answers")))
            ):
                answers = tuple(answer for answer in row.get("answers", ()) if answer)
                to = self.held if split_of(key, HELD) == "held" else self.train
                whole = bool(row.get("whole"))
                question = asking(row["question"])
                to.append(Asked(question, context, spans, answers, row["lang"], row["source"], whole))

    @property
    def contexts(self) -> list[Context]:
        """All texts."""
        return list(self._contexts.values())

    def _context(self, key: str, row: dict[str, Any]) -> Context:
        language, title = str(row.get("context_lang") or row["lang"]), str(row.get("title") or "").replace("_", " ")
        place = str(row.get("place") or title)
        name = f"{place}\n{key}"  # two places may differ by their heading alone
        if name not in self._contexts:
            cut = (
                row["units"]
                if "units" in row
                else [" ".join(key[start:end].split()) for start, end in sentences(key, language)]
            )
            found = Context(tuple(unit for unit in cut if unit.strip()), place, title, language)
            self._contexts[name] = found
        return self._contexts[name]

    def weights(self, often: dict[str, float], languages: dict[str, float]) -> list[float]:
        """How often each training question is drawn, summed up: sources and languages count as named, 1 where they are
        not.
        """
        count = Counter(one.source for one in self.train)
        return list(
            accumulate(
                often.get(one.source, 1.0)
                * languages.get(one.language, 1.0)
                * (MANY / max(count[one.source], MANY)) ** FADING
                for one in self.train
            )
        )


def _spans(units: tuple[str, ...], row: dict[str, Any]) -> dict[int, tuple[int, int] | None]:
    if not row.get("answerable", row.get("answers")):
        return {}
    answers = [answer.lower() for answer in row.get("answers", ()) if answer]
    found: dict[int, tuple[int, int] | None] = {}
    for number, unit in enumerate(units):
        at = next(
            ((start, start + len(answer)) for answer in answers if (start := unit.lower().find(answer)) >= 0), None
        )
        if number in row["gold"] if "gold" in row else at is not None:
            found[number] = at
    return found
