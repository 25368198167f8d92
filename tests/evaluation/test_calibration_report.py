"""The page on the calibration: written by a program from labelled folders, with aggregated figures only."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from rag_core.adapters.embedding.by_name import precision_here
from rag_core.evaluation.calibration import Sample
from rag_core.gating import scores as calibrate
from rag_core.gating.features import FEATURES
from reports import END, begin
from reports import calibration as report
from reports.calibration import LabelledSet, Measured

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")


def folder(place: Path, name: str) -> Path:
    """A labelled set of one document, of which every second question is answered."""
    made = place / name
    made.mkdir()
    text = "Every employee has 25 days of vacation. The notice period is two months."
    rows = {
        "documents": [{"id": "d", "title": "Leave", "lang": "en", "text": text}],
        "questions": [
            {"id": "1", "lang": "en", "question": "How many days of vacation does an employee have?"},
            {"id": "2", "lang": "en", "question": "Who discovered the circulation of blood?"},
        ],
        "gold": [{"id": "1", "answerable": True, "answers": ["25"]}, {"id": "2", "answerable": False, "answers": []}],
    }
    for file, lines in rows.items():
        (made / f"{file}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return made


def made_up(name: str, count: int = 200) -> Measured:
    """A set whose probabilities mean what they say."""
    draw = np.random.default_rng(3)
    probability = draw.uniform(0, 1, count)
    answerable = draw.uniform(0, 1, count) < probability
    features = [dict.fromkeys(FEATURES, 0.0) | {"draft_cosine": float(one)} for one in probability]
    samples = [
        Sample(f"{name} {n}", "en", bool(label), row, bool(label))
        for n, (label, row) in enumerate(zip(answerable, features, strict=True))
    ]
    return Measured(name, probability, answerable, tuple(samples))


@pytest.mark.slow
def test_given_labelled_folders_when_reported_then_page_and_diagram_are_written_and_nothing_is_measured_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets, page, keep = (
        [folder(tmp_path, "one"), folder(tmp_path, "a $name$")],
        tmp_path / "calibration.md",
        tmp_path / "keep",
    )
    page.write_text(f"before\n\n{begin('calibration')}\nof last week\n{END}\n\nafter\n", encoding="utf-8")
    monkeypatch.setattr(report, "SAMPLES", report.labelled_folder(sets[0]))
    monkeypatch.setattr(report, "own_fit_line", lambda one: f"{len(one.samples)} samples")

    report.main(sets, keep, page)

    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "of last week" not in text
    assert calibrate.read(calibrate.FILE).id in text
    assert text.count("| one | 2 | 0.500 | 1.000 | 0.000 |") == 4, "as a folder and as the samples, each in two tables"
    assert ("differ by 0.0" if precision_here("auto") == "bfloat16" else "were not compared") in text
    assert "2 samples" in text
    picture = (tmp_path / "calibration" / "reliability.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert "a $name$" in picture
    kept = "".join(path.read_text(encoding="utf-8") for path in keep.iterdir())
    assert "vacation" not in kept

    def again(one: LabelledSet, _: object) -> None:
        raise AssertionError(f"{one.name} is measured again")

    monkeypatch.setattr(report, "_asked", again)
    report.main(sets, keep, page)
    assert (tmp_path / "calibration" / "reliability.svg").read_text(encoding="utf-8") == picture
    gold = sets[0] / "gold.jsonl"
    gold.write_text(gold.read_text(encoding="utf-8").replace("25", "26"), encoding="utf-8")
    with pytest.raises(AssertionError, match="one is measured again"):
        report.main(sets, keep, page)


def test_given_a_set_then_its_row_has_rates_at_the_threshold_with_exact_intervals() -> None:
    one = Measured("set", np.array([0.9, 0.6, 0.2, 0.1, 0.7]), np.array([True, True, True, False, False]), ())

    row = report.table([one], 0.6, ("right", "not")).splitlines()[2]

    assert "| set | 5 | 0.600 |" in row
    assert "0.333 (0.008 to 0.906)" in row, "one of three is refused"
    assert "0.500 (0.013 to 0.987)" in row, "one of two is answered"


def test_given_the_diagram_when_drawn_then_it_has_no_background_of_its_own_and_colours_for_white_and_dark(
    tmp_path: Path,
) -> None:
    report.diagram([made_up(name) for name in "abcde"], tmp_path / "one.svg")

    text = (tmp_path / "one.svg").read_text(encoding="utf-8")
    colours = {found.lower() for found in re.findall(r"#[0-9a-fA-F]{6}\b", text)}
    assert colours <= {report.GREY, report.BLUE}, "no black and no white"
    for background in (1.0, 0.012):  # luminance of white, and of GitHub's dark page, #0d1117 with some margin
        for colour in (report.GREY, report.BLUE):
            assert contrast(colour, background) >= 3, "WCAG 2.2, 1.4.11: graphics"


def contrast(colour: str, background: float) -> float:
    channels = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    own = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return (max(own, background) + 0.05) / (min(own, background) + 0.05)


def test_given_the_page_then_its_figures_are_of_the_shipped_calibration_and_its_diagram_is_there() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", PAGE)

    assert pictures
    assert all((ROOT / "docs" / picture).is_file() for picture in pictures)
    assert f"`{calibrate.read(calibrate.FILE).id}`" in PAGE, "run: python -m reports.calibration FOLDER …"
