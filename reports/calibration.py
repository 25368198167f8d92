"""Measures the calibration in force on labelled folders, and writes the figures and diagrams of `docs/calibration.md`.

    python -m reports.calibration FOLDER [FOLDER ...] [--keep FOLDER_OF_MEASUREMENTS]

A labelled folder holds `documents.jsonl`, `questions.jsonl` and `gold.jsonl`; its name names the set. The samples of
`data/` come last, in both precisions. Only aggregated figures are written. About 25 seconds a set on two cores; what is
kept is measured again when a set, the settings or the calibration changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from rag_core import wiring
from rag_core.adapters.embedding.by_name import precision_here
from rag_core.evaluation import metrics
from rag_core.evaluation.calibration import MAX_WORDS, Sample, figures, fitted, is_right
from rag_core.evaluation.labelled_files import read_labelled_files
from rag_core.gating import scores as calibrate
from rag_core.gating.scores import question_hash
from rag_core.library.stored.sources import Source, sources_from
from rag_core.settings import DATA, Settings
from reports import DOCS, ROOT, as_markdown, between_marks

PAGE = DOCS / "calibration.md"
GREY, BLUE = "#7d8590", "#2f81f7"  # both are readable on white and on GitHub's dark page
COLUMNS = 4  # diagrams beside each other
PRECISIONS = ("bfloat16", "float32")
SCORES = ("correctness", "answerability")


@dataclass(frozen=True)
class Measured:
    """The questions of a set under one of `SCORES`: its probabilities and labels, both of shape (n,).

    The label of correctness is whether the extract is right; a question whose right answer is not given is left out.
    """

    name: str
    probability: np.ndarray
    label: np.ndarray
    samples: tuple[Sample, ...]

    def figures(self) -> dict[str, Any]:
        """See `rag_core.evaluation.calibration.figures`."""
        return figures(self.probability, self.label)


@dataclass(frozen=True)
class LabelledSet:
    """Documents and questions of a set."""

    name: str
    documents: tuple[Path, ...]
    questions: tuple[Path, ...]


def labelled_folder(folder: Path) -> LabelledSet:
    """A folder of the three files."""
    return LabelledSet(folder.name, (folder / "documents.jsonl",), (folder / "questions.jsonl", folder / "gold.jsonl"))


SAMPLES = LabelledSet("samples", (DATA / "samples",), (DATA / "questions.jsonl",))


def measure(one: LabelledSet, settings: Settings, keep: Path) -> dict[str, Measured]:
    """By score: ask every question as the product does, or take what `keep` has of the same settings."""
    kept = keep / f"{one.name}-{_key(one, settings)}.json"
    if not kept.exists():
        sys.stderr.write(f"measuring {one.name} in {settings.embedding_precision}\n")
        kept.write_text(json.dumps(_asked(one, settings)), encoding="utf-8")
    rows = json.loads(kept.read_text(encoding="utf-8"))
    samples = tuple(Sample(**row) for row in rows["samples"])
    found = {}
    for score in SCORES:
        known = [(p, label) for p, label in rows[score] if label is not None]
        probability, labels = np.array([p for p, _ in known]), np.array([label for _, label in known], dtype=bool)
        found[score] = Measured(one.name, probability, labels, samples)
    return found


def _key(one: LabelledSet, settings: Settings) -> str:
    digest = hashlib.sha256(settings.hash().encode() + calibrate.read(calibrate.FILE).id.encode())
    for path in (*one.documents, *one.questions):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _asked(one: LabelledSet, settings: Settings) -> dict[str, list[Any]]:
    questions, problems = read_labelled_files([(path.name, path.read_bytes()) for path in one.questions])
    for problem in problems:
        sys.stderr.write(f"{one.name}: {problem}\n")
    with tempfile.TemporaryDirectory() as place:
        engine = wiring.open_engine(Path(place), "report", settings)
        if engine.tools.calibration is None:
            raise SystemExit("No calibration fits: python -m rag_core calibrate show")
        engine.library.add(
            [source for source in sources_from(list(one.documents)) if isinstance(source, Source)], settings
        )

        records = [engine.measure(asked.question, settings, documents=asked.documents or None) for asked in questions]
    samples = [
        Sample(
            question_hash(asked.question),
            of.understanding.language,
            asked.answerable,
            dict(of.features),
            is_right(asked, of),
        )
        for asked, of in zip(questions, records, strict=True)
        if of.hits
    ]
    return {
        "correctness": [
            (of.correctness or 0.0, is_right(asked, of)) for asked, of in zip(questions, records, strict=True)
        ],
        "answerability": [
            (of.answerability or 0.0, asked.answerable) for asked, of in zip(questions, records, strict=True)
        ],
        "samples": [asdict(one) for one in samples],
    }


def table(sets: Sequence[Measured], threshold: float, words: tuple[str, str]) -> str:
    """One row a set, as Markdown; the interval of the calibration error's inputs stands in the diagrams.

    `words` say what the questions are that the score should let through, and the others.
    """
    yes, no = words
    below = f"{yes} below the threshold of 5 % of {no}"
    head = ("Set", "questions", yes, "AUROC", below, f"{yes}, below the default", f"{no}, at or above the default")
    return as_markdown((*head, "calibration error"), (_table_row(one, threshold) for one in sets))


def _table_row(one: Measured, threshold: float) -> tuple[str, ...]:
    row, passed = one.figures(), one.probability >= threshold
    cells = (one.label.mean(), row["auroc"], row["false_refusals_at_5pct_wrong"])
    shares = ("–" if cell is None else f"{cell:.3f}" for cell in cells)
    rates = (_rate(~passed[one.label]), _rate(passed[~one.label]), f"{row['calibration_error']:.3f}")
    return one.name, f"{row['n']:,}", *shares, *rates


def _rate(flags: np.ndarray) -> str:
    if not len(flags):
        return "–"
    interval = metrics.clopper_pearson(int(flags.sum()), len(flags))
    return f"{flags.mean():.3f} ({interval.low:.3f} to {interval.high:.3f})"


def precision_line(alike: Mapping[str, Measured]) -> str:
    """How far the two precisions are apart on one set."""
    if len(alike) < len(PRECISIONS):
        return "This was measured on a processor without a quick bfloat16, so the two precisions were not compared."
    one, other = (alike[name] for name in PRECISIONS)
    apart = np.abs(one.probability - other.probability)
    mean, most, top = apart.mean(), np.quantile(apart, 0.95), apart.max()
    aurocs = ", ".join(f"{measured.figures()['auroc']:.4f} in {name}" for name, measured in alike.items())
    return (
        f"The two precisions share a calibration: on the {len(apart)} questions about the sample documents their "
        f"probabilities differ by "
        f"{mean:.4f} on average, by {most:.4f} or less in 95 of 100, and by {top:.3f} at most; AUROC is {aurocs}."
    )


def own_fit_line(one: Measured) -> str:
    """The line on a fit of its own for a set, judged out of fold."""
    made = fitted(calibrate.read(calibrate.FILE).identity, one.samples, {}).provenance
    if "correctness" not in made:
        return "The samples have too few questions for a fit of their own."
    own = made["correctness"]["left_out_of_the_fit"]["all"]
    shipped = one.figures()
    return (
        "A fit of their own, judged on the fifth that it was kept from, parts right and wrong answers to the "
        f"{own['n']} questions about the samples with an AUROC of {own['auroc']:.3f} instead of "
        f"{shipped['auroc']:.3f}, with a calibration error of {own['calibration_error']:.3f} instead of "
        f"{shipped['calibration_error']:.3f}."
    )


def diagram(sets: Sequence[Measured], path: Path) -> None:
    """Reliability diagrams side by side: the share of right answers over the probability, with exact 95 % intervals."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    colours: dict[Any, Any] = dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), GREY
    )
    with pyplot.rc_context(
        {"svg.fonttype": "none", "svg.hashsalt": "plumbline", "font.size": 9, "font.family": "sans-serif", **colours}
    ):
        rows = -(-len(sets) // COLUMNS)
        drawn, axes = pyplot.subplots(
            rows, COLUMNS, figsize=(10, 2.7 * rows), sharex=True, sharey=True, squeeze=False, layout="constrained"
        )
        for panel, one in zip(axes.flat, sets, strict=False):
            _panel(panel, one)
        for panel in list(axes.flat)[len(sets) :]:
            panel.set_axis_off()
        drawn.supxlabel("calibrated probability")
        drawn.supylabel("share of right answers")
        path.parent.mkdir(parents=True, exist_ok=True)
        drawn.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
        pyplot.close(drawn)


def _panel(panel: Any, one: Measured) -> None:
    bins = [row for row in metrics.reliability(one.probability, one.label) if row.n]
    mean, share = ([getattr(row, name) for row in bins] for name in ("mean", "share"))
    ends = np.array([[row.interval.low for row in bins], [row.interval.high for row in bins]])
    panel.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":")
    panel.errorbar(mean, share, yerr=np.abs(ends - np.array(share)), fmt="none", ecolor=BLUE, elinewidth=1)
    panel.scatter(mean, share, s=[8 + 60 * row.n / len(one.probability) for row in bins], color=BLUE)
    panel.set_title(
        f"{one.name}: n={len(one.probability)}, off by {metrics.calibration_error(bins):.3f}",
        fontsize=9,
        parse_math=False,
    )
    panel.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    panel.spines[["top", "right"]].set_visible(False)


def block(sets: Sequence[Mapping[str, Measured]], alike: Mapping[str, Measured], diagrams: str) -> str:
    """The text between the marks of the page; `alike` is correctness on the samples in either precision."""
    right, answerable = ([one[score] for one in sets] for score in SCORES)
    settings, calibration = Settings.load(), calibrate.read(calibrate.FILE)
    return "\n\n".join(
        [
            f"Measured on {date.today().isoformat()} at commit {_commit()}, with calibration `{calibration.id}` of "
            f"{calibration.provenance['date']}, in {precision_here('auto')}. The rates at the default are those of the "
            f"gate alone, at a probability of {settings.min_correctness:g}, with exact 95 % intervals. A right answer "
            f"holds a known right answer and has at most {MAX_WORDS} words; every draft counts, also those that are "
            "refused.",
            table(right, settings.min_correctness, ("answered rightly", "not")),
            f"![Reliability of the probability on each set]({diagrams})",
            "A point is a tenth of the scale: the larger it is, the more questions fell there. On the dotted line a "
            "probability means what it says; above it, more answers are right than it claims.",
            "`answerability`, the probability that the documents answer the question at all, is only shown by the "
            f"default preset. Its rates are at {settings.min_answerability:g}:",
            table(answerable, settings.min_answerability, ("answerable", "unanswerable")),
            precision_line(alike),
            own_fit_line(right[-1]),
        ]
    )


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def main(folders: Sequence[Path], keep: Path, page: Path = PAGE) -> None:
    """Measure what is not kept, draw, write."""
    keep.mkdir(parents=True, exist_ok=True)
    settings = Settings.load().changed(embedding_precision=precision_here("auto"))
    # bfloat16 only where the processor has it
    quick = [name for name in PRECISIONS if name in ("float32", settings.embedding_precision)]
    samples = {name: measure(SAMPLES, settings.changed(embedding_precision=name), keep) for name in quick}
    sets = [
        *(measure(labelled_folder(folder), settings, keep) for folder in folders),
        samples[settings.embedding_precision],
    ]
    alike = {name: found["correctness"] for name, found in samples.items()}
    picture = page.with_suffix("") / "reliability.svg"
    diagram([one["correctness"] for one in sets], picture)
    new = block(sets, alike, f"{page.stem}/{picture.name}")
    page.write_text(between_marks(page.read_text(encoding="utf-8"), "calibration", new), encoding="utf-8")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description="Writes the figures and diagrams of docs/calibration.md.")
    arguments.add_argument(
        "folders", nargs="+", type=Path, help="labelled folders: documents.jsonl, questions.jsonl, gold.jsonl"
    )
    arguments.add_argument(
        "--keep",
        type=Path,
        default=ROOT / "build" / "calibration",
        help="where measurements are kept (default: %(default)s)",
    )
    given = arguments.parse_args()
    main(given.folders, given.keep)
