"""How long an answer of three claims, in other words than its sources, takes to audit; and how many claims `judge`
reads in a second.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Sequence

from rag_core.adapters.embedding.by_name import precision_here
from rag_core.domain.ports import Embedder, EntailmentModel
from rag_core.engine import Engine
from rag_core.entrypoints.commands.library import JUDGED
from rag_core.grounding.entailment import assess
from rag_core.grounding.judge import judge_claims
from rag_core.settings import Settings
from rag_core.wiring import embedder, entailment_model

WORDS = 200  # of a cited passage
TIMES = 15
ROWS = 96  # that are judged
# three answers of three claims: what is said, and words of the passage that it cites, which stand in one sample
# document
ANSWERS = (
    (
        (
            "Staff on a full-time contract may take twenty-five days off each year.",
            "25 vacation days in a calendar year",
        ),
        (
            "You have to ask for leave two working weeks ahead, through the staff portal.",
            "25 vacation days in a calendar year",
        ),
        (
            "Somebody who starts in the middle of a year gets a twelfth for every whole month.",
            "25 vacation days in a calendar year",
        ),
    ),
    (
        ("What each term adds to the one before it is known as the common difference.", "5.2 Definition"),
        ("As a boy Gauss added up the first hundred numbers by pairing them.", "5.5 The sum of the first n terms"),
        ("The step of such a list may well be below zero.", "5.2 Definition"),
    ),
    (
        ("The meter runs on a direct current of 24 volts.", "2 Specifications"),
        ("If the power supply breaks down, the battery takes over for the display and the memory.", "2 Specifications"),
        ("Water of up to seventy degrees may flow through it.", "2 Specifications"),
    ),
)

Answer = tuple[list[str], list[str]]  # claims, and the text that each of them cites


def answers(engine: Engine) -> list[Answer]:
    """The answers with their sources: each the passage that holds the words, and those behind it in its document, to
    `WORDS` words.
    """
    return [([claim for claim, _ in one], [_source(engine, phrase) for _, phrase in one]) for one in ANSWERS]


def figures(engine: Engine, settings: Settings) -> list[tuple[str, float, float, str]]:
    """Median milliseconds of an answer's audit here; printed beside it those without bfloat16, and how fast `judge`
    is.
    """
    audited, taken = answers(engine), {}
    for precision in ("float32", precision_here("auto")):
        chosen = settings.changed(embedding_precision=precision)
        model, reads = embedder(chosen.embedding_model, precision), entailment_model(chosen)
        taken[precision] = audit_ms(audited, model, reads)
        speed = claims_per_second(audited, chosen, model, reads)
        print(
            f"audit of three claims in {precision}{'' if reads else ', no verifier'}: {taken[precision]:.1f} ms; judge "
            f"{speed:.0f} claims/s"
        )
    return [("audit of three claims, median", taken[precision], 80.0, "ms")]


def audit_ms(audited: Sequence[Answer], model: Embedder, reads: EntailmentModel | None) -> float:
    """Median milliseconds, after every answer was audited once. Nothing is kept from one to the next."""
    for claims, sources in audited:
        assess(claims, sources, "en", model, reads)
    taken = []
    for claims, sources in itertools.islice(itertools.cycle(audited), TIMES):
        started = time.perf_counter()
        assess(claims, sources, "en", model, reads)
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


def claims_per_second(
    audited: Sequence[Answer], settings: Settings, model: Embedder, reads: EntailmentModel | None
) -> float:
    """Claims that `judge` reads in a second, in its batches; a row is an answer of three with all that it cites."""
    rows = [
        {
            "id": str(number),
            "lang": "en",
            "question": "",
            "context": "\n\n".join(dict.fromkeys(sources)),
            "answer": " ".join(claims),
        }
        for number, (claims, sources) in enumerate(itertools.islice(itertools.cycle(audited), ROWS))
    ]
    started = time.perf_counter()
    judged = [
        verdict
        for start in range(0, ROWS, JUDGED)
        for verdict in judge_claims(rows[start : start + JUDGED], settings, model, reads)
    ]
    return sum(len(verdict["sentences"]) for verdict in judged) / (time.perf_counter() - started)


def _source(engine: Engine, phrase: str) -> str:
    passages = list(engine.library.snapshot.passages)
    first = next(at for at, passage in enumerate(passages) if phrase in passage.text)
    behind = [passage.text for passage in passages[first:] if passage.document == passages[first].document]
    return " ".join(" ".join(behind).split()[:WORDS])
