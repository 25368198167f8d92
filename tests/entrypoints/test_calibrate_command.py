"""`calibrate fit` and `calibrate show`, run as a user runs them, with the embedded model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_core import __version__
from rag_core.gating import scores as calibrate

# real models: seconds each in a young process, minutes in one that has run a thousand tests
pytestmark = pytest.mark.longest

Run = Callable[..., tuple[int, str, str]]
PLACES = "Ardun Belmora Cavell Dorrin Estwick Falburn Gorse Hartow Inverly Jessop Kelden Low Moss".split()
CITIES = (*PLACES, *(f"New {place}" for place in PLACES))
THINGS = ("harbour", "river")


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """Two sentences on each city; every sentence answers one question."""
    said = {
        city: " ".join(f"The {thing} of {city} was described in {1900 + n}." for n, thing in enumerate(THINGS))
        for city in CITIES
    }
    rows = [{"id": city, "title": city, "lang": "en", "text": text} for city, text in said.items()]
    path = tmp_path / "documents.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Fifty-two questions that the texts answer, and fifty-two that they do not: two more than a fit needs."""
    lines = ["question,answerable,language,answers"]
    lines += [
        f"When was the {thing} of {city} described?,yes,en,{1900 + n}"
        for city in CITIES
        for n, thing in enumerate(THINGS)
    ]
    lines += [
        f"Who painted the {thing} of {city}'s twin town on the moon?,no,en," for city in CITIES for thing in THINGS
    ]
    path = tmp_path / "labelled.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_given_labelled_questions_when_fitted_then_the_library_has_its_own_score(documents, questions, tmp_path, run):
    """S4-25: a library's score, fitted to its own questions, with where it comes from."""
    library = tmp_path / "library"
    run("index", documents, "--library", library)
    asked = ("ask", "When was the river of Cavell described?", "--library", library, "--json")
    before = json.loads(run(*asked)[1])

    code, out, err = run("calibrate", "fit", "--library", library, "--questions", questions)

    stored = json.loads((library / "default" / "calibration.json").read_text(encoding="utf-8"))
    about = stored["provenance"]
    assert (code, err) == (0, "")
    assert "fitted on labelled (104)" in out
    assert about["sets"] == {"labelled": 104}
    assert about["n"] == {"answerable": 52, "unanswerable": 52}
    assert (about["program"], about["version"]) == ("python -m rag_core calibrate fit", __version__)
    assert about["searched"] == {"documents": 26, "passages": 26}
    assert about["settings"] == {}
    assert about["left_out_of_the_fit"]["en"]["auroc"] > 0.95
    assert about["correctness"]["left_out_of_the_fit"]["all"]["n"] == 104
    assert "Reliability" in out
    assert "The answer right or not" in out
    assert about["before"]["n"] == 104
    assert about["before"]["id"] == calibrate.read(calibrate.FILE).id == before["metadata"]["calibration"]
    assert stored["identity"]["model"] == "multilingual-e5-small"
    own = calibrate.read(library / "default" / "calibration.json").id
    assert json.loads(run(*asked)[1])["metadata"]["calibration"] == own
    code, out, _ = run("calibrate", "show", "--library", library, "--json")
    shown = json.loads(out)
    assert (code, shown["in_force"]) == (0, own)
    assert [row["in_force"] for row in shown["files"]] == [True, False]
    assert "an earlier file comes first" in run("calibrate", "show", "--library", library)[1]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--questions", "missing.csv"), "missing.csv cannot be read"),
        (("--questions", "documents.jsonl", "--documents", "documents.jsonl"), "question"),
        (("--questions", "labelled.csv", "--library", "empty"), "There are no documents"),
        (("--questions", "labelled.csv", "--documents", "documents.jsonl"), "--out FILE"),
        (("--questions", "labelled.csv", "--library", "empty", "--collection", "NO!"), "cannot name a collection"),
    ],
)
def test_given_what_cannot_be_fitted_then_none_is(arguments, problem, documents, questions, tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    there = set(tmp_path.rglob("*.json"))

    code, out, err = run("calibrate", "fit", *arguments)

    assert (code, out) == (1, "")
    assert problem in err
    assert "Traceback" not in err
    assert set(tmp_path.rglob("*.json")) == there


def test_given_rows_that_cannot_be_used_then_they_are_named_and_the_others_fitted(documents, questions, tmp_path, run):
    text = (
        questions.read_text(encoding="utf-8")
        .replace("answers", "answers,documents")
        .replace("\n", ",\n")
        .replace("answers,documents,", "answers,documents")
    )
    text += ",\nWhat is it?,perhaps,en,,\nWhere is the river of Cavell?,no,en,,nowhere.pdf\nHello,no,en,,"
    questions.write_text(text, encoding="utf-8")

    out = tmp_path / "new" / "own.json"

    code, _, err = run(
        "calibrate", "fit", "--documents", documents, "--questions", questions, "--out", out, "--set", "top_k=6"
    )

    assert code == 1, "some input could not be used"
    assert "row 106" in err
    assert "perhaps" in err
    assert "nowhere.pdf" in err
    assert "Left out: 1 question for which no passage was found, or that ask for none." in err
    assert calibrate.read(out).provenance["sets"] == {"labelled": 104}
    assert calibrate.read(out).provenance["settings"] == {"top_k": 6}
    assert list(out.parent.iterdir()) == [out], "of documents for one call only the file is left"


def stored(library: Path, **changes: Any) -> Path:
    """The shipped calibration with changes, as a library's own."""
    row = calibrate.read(calibrate.FILE).to_json()
    path = library / "default" / "calibration.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**row, **changes}), encoding="utf-8")
    return path


def test_given_a_calibration_of_another_model_when_shown_then_what_differs_is_named(tmp_path, run):
    identity = calibrate.read(calibrate.FILE).to_json()["identity"]
    stored(tmp_path, identity={**identity, "model": "another-model", "tokenizer": "0" * 12})

    code, out, err = run("calibrate", "show", "--library", tmp_path)

    assert (code, err) == (0, "")
    assert "does not fit: model is multilingual-e5-small, fitted on another-model, tokenizer is" in out
    assert "answerability.json: in force" in out


def test_given_a_damaged_calibration_then_it_is_reported_and_no_other_takes_its_place(documents, tmp_path, run):
    library = tmp_path / "library"
    run("index", documents, "--library", library)
    stored(library, intercept="high")

    code, out, _ = run("calibrate", "show", "--library", library)

    assert code == 1
    assert "default/calibration.json cannot be read" in out
    assert "Delete it, or fit it again" in out
    assert "No calibration is in force" in out
    code, _, err = run("ask", "What is it?", "--library", library)
    assert code == 1
    assert "default/calibration.json cannot be read" in err


def test_given_no_calibration_that_fits_then_a_preset_on_a_probability_refuses(documents, tmp_path, run, monkeypatch):
    monkeypatch.setattr(calibrate, "FEATURES_VERSION", -1)

    out = run("calibrate", "show", "--library", tmp_path)[1]
    assert "features is" in out
    assert "No calibration is in force" in out
    assert "--preset relevance-guard" in out
    asked = ("ask", "When was the river of Cavell described?", "--documents", documents, "--json")
    refused, guarded = (json.loads(run(*asked, *more)[1]) for more in ((), ("--preset", "relevance-guard")))
    assert (refused["status"], refused["reason"], refused["metadata"]["calibration"]) == ("error", "not_run", "")
    assert guarded["status"] == "success"
