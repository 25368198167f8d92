"""Compare four ways to keep answers to the documents: a hardened prompt alone, an embedding guard, a model guard, and
both guards.

Run it from the repository: python -m examples.four_setups [--documents FOLDER] [--questions FILE]

Every question is measured once, and its record is judged under the preset of each set-up. With a language model that is
configured as docs/models.md says, all four are measured; without one, the two whose guard needs none. docs/lab.md
explains the figures.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag_core import (
    Decision,
    Measurements,
    Settings,
    Source,
    evaluation,
    load_settings,
    model_environment,
    open_engine,
    replay,
)

DATA = Path(__file__).resolve().parents[1] / "data"
HYBRID_FROM = 0.70  # effectiveness of prompt hardening from which on the rule takes the hybrid
GUARD_ABOVE = 0.20  # hallucinations above which it takes the model guard
# targets of the ticket that named the four
HALLUCINATIONS_BELOW, FALSE_NEGATIVES_BELOW, LATENCY_BELOW_MS = (
    0.05,
    0.10,
    100.0,
)
GUARDS = ("relevance", "sufficiency")  # reasons of a refusal by a guard itself
UNSETTLED = (
    "needs_generation"  # reason of what is neither an answer nor a refusal: a model would have to be asked again
)


@dataclass(frozen=True, slots=True)
class Setup:
    """One of the four: its number, its name, the preset that stands for it, and whether only a language model can
    measure it.
    """

    option: int
    name: str
    preset: str
    model: bool


# numbered as the source numbers its options
SETUPS = (
    Setup(1, "prompt only", "relevance-prompt", model=True),
    Setup(2, "embedding guard", "relevance-guard", model=False),
    Setup(3, "model guard", "relevance-llm", model=True),
    Setup(4, "hybrid", "relevance-hybrid", model=False),
)
MEASURES_ALL = SETUPS[0].preset  # it refuses nothing and asks the model everything: its records hold what all four need


@dataclass(frozen=True, slots=True)
class Figures:
    """The counts for a set-up.

    Args:
        hallucinations: of the unanswerable questions, those that are answered.
        false_negatives: of the answerable questions, those that any check refuses.
        over_rejections: of the answerable questions, those that the guard itself refuses.
        latency_ms: see `latency`.
    """

    hallucinations: evaluation.Rate
    false_negatives: evaluation.Rate
    over_rejections: evaluation.Rate
    latency_ms: float | None

    @property
    def targets_met(self) -> int:
        """Of the three."""
        ms = self.latency_ms
        wrong, refused = self.hallucinations.share, self.false_negatives.share
        return sum(
            [
                wrong is not None and wrong < HALLUCINATIONS_BELOW,
                refused is not None and refused < FALSE_NEGATIVES_BELOW,
                ms is not None and ms < LATENCY_BELOW_MS,
            ]
        )


@dataclass(frozen=True, slots=True)
class Pick:
    """The pick of the rule: a set-up, none where neither condition holds, or the figures that are still missing."""

    setup: Setup | None
    missing: tuple[str, ...] = ()


def pick(effectiveness: float | None, hallucinations: float | None) -> Pick:
    """The hybrid when prompt hardening is at least 70 % effective, the model guard when hallucinations exceed 20 %.

    Where both hold, the model guard: what is left over is still too much.

    Args:
        effectiveness: share of hallucinations that prompt hardening removes, in [0, 1], against a model that answers
            every question; None where it was not measured.
        hallucinations: share of unanswerable questions that are answered with the hardened prompt alone; None where it
            was not measured.
    """
    if hallucinations is not None and hallucinations > GUARD_ABOVE:
        return Pick(SETUPS[2])
    missing = [
        name for name, value in (("effectiveness", effectiveness), ("hallucinations", hallucinations)) if value is None
    ]
    if missing:
        return Pick(None, tuple(missing))
    return Pick(SETUPS[3] if (effectiveness or 0.0) >= HYBRID_FROM else None)


def measurable(settings: Settings) -> tuple[Setup, ...]:
    """The set-ups that records measured under these settings can be judged by: all four only where a language model
    drafts.
    """
    return SETUPS if settings.drafter == "model" else tuple(setup for setup in SETUPS if not setup.model)


def latency(records: Sequence[Measurements], option: int) -> float | None:
    """The 95th percentile of the milliseconds that the guard of an option adds to a question; None where it was never
    measured.

    The hardened prompt of option 1 adds no step. A verdict of the model that came from the cache says nothing about
    time.
    """
    if option == 1:
        return 0.0
    if option == 3:
        calls = [call for measurements in records if measurements.llm_trace for call in measurements.llm_trace.calls]
        ms = [call.ms for call in calls if call.step == "sufficiency" and not call.failure]
    else:
        ms = [measurements.timings["relevance"] for measurements in records if "relevance" in measurements.timings]
    return float(np.percentile(ms, 95)) if ms else None


def figures(
    setup: Setup, answerable: Sequence[bool], decisions: Sequence[Decision], records: Sequence[Measurements]
) -> Figures:
    """Count; a question that failed, or that the model would have to be asked again for, is in no rate."""
    rows = zip(answerable, decisions, records, strict=True)
    settled = [
        (right, one) for right, one, measurements in rows if not measurements.failure and str(one.reason) != UNSETTLED
    ]
    can, cannot = ([one for right, one in settled if right is wanted] for wanted in (True, False))
    return Figures(
        evaluation.Rate(sum(one.answered for one in cannot), len(cannot)),
        evaluation.Rate(sum(not one.answered for one in can), len(can)),
        evaluation.Rate(sum(not one.answered and str(one.reason) in GUARDS for one in can), len(can)),
        latency(records, setup.option),
    )


def compared(
    settings: Settings, answerable: Sequence[bool], records: Sequence[Measurements], environment: Mapping[str, str]
) -> dict[Setup, Figures]:
    """The figures of each set-up that these records, measured under `settings`, can be judged by; no model is asked."""
    found = {}
    for setup in measurable(settings):
        under = evaluation.judged_under(settings, load_settings(setup.preset, environment=environment))
        found[setup] = figures(setup, answerable, [replay(measurements, under) for measurements in records], records)
    return found


def lines(found: Mapping[Setup, Figures]) -> Iterator[str]:
    """The table in Markdown, and what the rule picks."""
    yield "| Set-up | hallucinations | false negatives | over-rejection | added time, P95 | targets met |"
    yield "|---|---|---|---|---|---|"
    for setup in SETUPS:
        row = found.get(setup)
        told = (
            ["needs a language model", "", "", "", ""]
            if row is None
            else [
                *(f"{rate.k} of {rate.n}" for rate in (row.hallucinations, row.false_negatives, row.over_rejections)),
                "–" if row.latency_ms is None else f"{row.latency_ms:.1f} ms",
                f"{row.targets_met} of 3",
            ]
        )
        yield f"| Option {setup.option}: {setup.name} | {' | '.join(told)} |"
    prompt_only = found.get(SETUPS[0])
    left = prompt_only.hallucinations.share if prompt_only else None
    picked = pick(None if left is None else 1.0 - left, left)
    yield ""
    if picked.missing:
        yield f"The rule picks nothing yet. Missing: {', '.join(picked.missing)}. Both need a language model."
    else:
        name = (
            f"option {picked.setup.option}, {picked.setup.name}"
            if picked.setup
            else "neither guard: the hardened prompt stays alone"
        )
        yield f"The rule picks {name}."


def main(documents: Path, questions: Path) -> int:
    """Index the documents, measure every question once, judge the records by each set-up, and tell."""
    environment = model_environment(os.environ)
    settings = load_settings(
        MEASURES_ALL, values={} if environment.get("RAG_MODEL") else {"drafter": "extract"}, environment=environment
    )
    labelled, problems = evaluation.read_labelled(questions.read_bytes(), questions.name)
    with tempfile.TemporaryDirectory() as folder:
        engine = open_engine(Path(folder), settings=settings)
        sources = [Source.from_path(path) for path in sorted(documents.iterdir()) if path.suffix == ".pdf"]
        for name, problem in engine.library.add(sources, settings).problems:
            sys.stderr.write(f"{name}: {problem.problem} {problem.remedy}\n")
        records = [engine.measure(one.question, settings, one.documents or None) for one in labelled]
    for row in problems:
        sys.stderr.write(f"{row}\n")
    for line in lines(compared(settings, [one.answerable for one in labelled], records, environment)):
        sys.stdout.write(f"{line}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compares four ways to keep answers to the documents.")
    parser.add_argument(
        "--documents", type=Path, default=DATA / "samples", help="folder of PDF files (default: the samples)"
    )
    parser.add_argument(
        "--questions",
        type=Path,
        default=DATA / "questions.jsonl",
        help="labelled questions (default: those on the samples)",
    )
    given = parser.parse_args()
    sys.exit(main(given.documents, given.questions))
