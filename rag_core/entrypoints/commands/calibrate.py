"""`calibrate fit` fits the score to labelled questions; `calibrate show` says which calibration is in force."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from rag_core import __version__
from rag_core.domain.acts import Action
from rag_core.domain.trace import several
from rag_core.engine import Engine
from rag_core.entrypoints.commands.terminal import (
    add_documents,
    chosen_settings,
    json_text,
    labelled_questions,
    library_folder,
    library_for,
    printable,
    progress_line,
    tell,
)
from rag_core.errors import InvalidInput, RagError
from rag_core.evaluation.calibration import Sample, figures, figures_of, fitted, given_by, is_right
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.gating import scores as calibrate
from rag_core.gating.scores import MIN_COUNT, Calibration, Identity, require
from rag_core.library.disk.files import storage_problems, write_atomically
from rag_core.settings import Cost, Settings
from rag_core.wiring import answerability_model, as_built, calibration_files, embedder, noting, open_engine


def fit(args: argparse.Namespace) -> int:
    """Measure every question as `ask` does, fit, say how well it does on what was left out, and write it."""
    settings = chosen_settings(args)
    questions, problems = labelled_questions(args.questions)
    require([one.answerable for one in questions], MIN_COUNT)  # before anything is measured
    with library_for(args) as folder:
        settings = as_built(folder, args.collection, settings)
        out = _out(args, folder)
        engine = open_engine(folder, args.collection, settings)
        problems += add_documents(engine, args.documents, settings, args) if args.documents else 0
        if not engine.library.snapshot.documents:
            raise InvalidInput(
                "There are no documents to ask.", remedy="Name them with --documents, or a library that holds some."
            )
        samples, unmeasured = _measured(engine, questions, settings)
        about = {
            "sets": {args.questions[0].stem: len(samples)},
            "date": date.today().isoformat(),
            "program": "python -m rag_core calibrate fit",
            "version": __version__,
            "searched": {
                "documents": len(engine.library.snapshot.documents),
                "passages": len(engine.library.snapshot.passages),
            },
            "settings": _settings_that_measure(settings),
        }
        made = _fitted(engine, samples, about)
        if args.out is None:
            noting(folder, args.collection)(Action.THRESHOLDS, (made.id,))
    with storage_problems("keeping the calibration"):
        write_atomically(out, calibrate.packed(made), private=args.out is None)
    print(_described(made))
    print(f"\nWritten to {printable(str(out))}.")
    return 1 if problems + unmeasured else 0


def show(args: argparse.Namespace) -> int:
    """Show the calibration that a library is judged by; for each file whether it fits, and if not, what differs."""
    folder = library_folder(args)
    settings = as_built(folder, args.collection, chosen_settings(args))
    now = Identity.of(embedder(settings.embedding_model, settings.embedding_precision), answerability_model(settings))
    in_force: Calibration | None = None
    rows: list[dict[str, Any]] = []
    for path in calibration_files(folder, args.collection):
        row, found = looked_at(path, now)
        if found is not None and in_force is None and not any("problem" in earlier for earlier in rows):
            in_force, row["in_force"] = found, True
        rows.append(row)
    if args.json:
        body = {"identity": asdict(now), "in_force": in_force.id if in_force else None, "files": rows}
        print(json_text(body, indent=2))
    else:
        print(f"This library is measured by: {', '.join(f'{name} {value}' for name, value in asdict(now).items())}.")
        print("\n".join(_said(row) for row in rows))
        print(f"\n{_described(in_force)}" if in_force else f"\n{NO_CALIBRATION}")
    return 1 if any("problem" in row for row in rows) else 0


NO_CALIBRATION = (
    "No calibration is in force: presets on a probability refuse every question. Fit one (python -m rag_core calibrate "
    "fit --help), or take a preset that goes by similarity, such as --preset relevance-guard."
)


_NO_CORRECTNESS = (
    "It has no probability that the answer is right: presets on that refuse every question. Give the right answers of "
    "most answerable questions (column `answers`), at least 50 of them answered rightly, and fit it again."
)


def _out(args: argparse.Namespace, folder: Path) -> Path:
    """Where the calibration goes: where the user says, else into the library's own folder."""
    if args.out is not None:
        return Path(args.out)
    if args.library is None and args.documents:
        raise InvalidInput(
            "The documents are searched for this call only.", remedy="Say where the calibration goes: --out FILE."
        )
    return calibration_files(folder, args.collection)[0]


def _measured(engine: Engine, questions: Sequence[LabelledQuestion], settings: Settings) -> tuple[list[Sample], int]:
    """The questions with their features, and how many could not be measured; those without hits are left out."""
    progress, samples, unmeasured, silent = progress_line(), [], 0, 0
    for done, one in enumerate(questions, 1):
        try:
            measurements = engine.measure(one.question, settings, documents=one.documents or None)
        except RagError as error:
            tell(f"question {one.id!r}: {error}")
            unmeasured += 1
            continue
        if measurements.failure:
            tell(f"question {one.id!r}: {measurements.failure}")
            unmeasured += 1
        elif measurements.hits:
            # not as labelled: scores are scaled by what a question is taken for
            language = measurements.understanding.language
            samples.append(
                Sample(one.question, language, one.answerable, dict(measurements.features), is_right(one, measurements))
            )
        else:
            silent += 1
        if progress:
            progress("questions", done, len(questions))
    if silent:
        tell(f"Left out: {several(silent, 'question')} for which no passage was found, or that ask for none.")
    return samples, unmeasured


def _fitted(engine: Engine, samples: Sequence[Sample], about: dict[str, Any]) -> Calibration:
    base = engine.tools.calibration
    if base is not None:  # how the one in force does on these questions
        about["before"] = {"id": base.id, **figures(given_by(base, samples), [one.answerable for one in samples])}
    return fitted(Identity.of(engine.tools.embedder, engine.tools.answerability_model), samples, about, base)


def _settings_that_measure(settings: Settings) -> dict[str, Any]:
    """The settings on which the features depend, where they differ from the declared values."""
    knobs = [knob for knob in Settings.knobs() if knob.cost is not Cost.REPLAY]
    return {knob.name: getattr(settings, knob.name) for knob in knobs if getattr(settings, knob.name) != knob.default}


def looked_at(path: Path, now: Identity) -> tuple[dict[str, Any], Calibration | None]:
    """The line about a file, and its calibration where it fits."""
    row: dict[str, Any] = {"file": str(path), "there": path.exists(), "in_force": False}
    if not row["there"]:
        return row, None
    try:
        found = calibrate.read(path)
    except InvalidInput as error:
        return {**row, "problem": f"{error.problem} {error.remedy}"}, None
    differs = {
        name: {"fitted": getattr(found.identity, name), "now": getattr(now, name)}
        for name in found.identity.differences(now)
    }
    return {**row, "id": found.id, "differs": differs}, None if differs else found


def _said(row: dict[str, Any]) -> str:
    if not row["there"]:
        state = "is not there"
    elif "problem" in row:
        state = row["problem"]
    elif row["differs"]:
        state = "does not fit: " + ", ".join(
            f"{name} is {one['now']}, fitted on {one['fitted']}" for name, one in row["differs"].items()
        )
    else:
        state = "in force" if row["in_force"] else "fits, and an earlier file comes first"
    return printable(f"  {row['file']}: {state}")


def _described(calibration: Calibration) -> str:
    """Id, sets, date and what was measured, in a few lines."""
    about = calibration.provenance
    sets = ", ".join(f"{name} ({n})" for name, n in about.get("sets", {}).items())
    lines = [
        f"Calibration {calibration.id} for {calibration.model}, {about.get('date', 'no date')}, fitted on "
        f"{sets or 'sets not named'}."
    ]
    (rows, right), before = figures_of(about), about.get("before")
    if rows:
        lines += ["", "Answerable or not, on questions left out of the fit:", _HEAD]
        lines += [_figures(name, row) for name, row in rows.items()]
        lines += ["On the same questions, the calibration before:", _figures(before["id"], before)] if before else []
        lines += _reliability(rows.get("all", {}).get("reliability", []), "is answerable")
    if right:
        lines += ["", "The answer right or not, on questions left out of the fit:", _HEAD]
        lines += [_figures(name, row) for name, row in right.items()]
        lines += _reliability(right.get("all", {}).get("reliability", []), "was answered rightly")
    if calibration.correctness is None:
        lines += ["", _NO_CORRECTNESS]
    return printable("\n".join(lines))


def _reliability(bins: Sequence[Mapping[str, Any]], came_true: str) -> list[str]:
    lines = (
        ["", f"Reliability: of questions with such a probability, the share that {came_true} (95 % interval)"]
        if bins
        else []
    )
    for one in bins:
        low, high = one["interval"]
        lines.append(
            f"  {one['low']:.1f} to {one['high']:.1f}  n={one['n']:<6} {one['share']:.2f} ({low:.2f} to {high:.2f})"
        )
    return lines


def _figures(name: str, row: Mapping[str, Any]) -> str:
    return _row(name, row["n"], row["auroc"], row["false_refusals_at_5pct_wrong"], row.get("calibration_error"))


def _row(name: str, *cells: object) -> str:
    numbers = ("" if cell is None else f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in cells)
    return f"  {name:14}" + "".join(f"{cell:>22}" for cell in numbers)


_HEAD = _row("", "n", "AUROC", "refused at 5% wrong", "calibration error")
