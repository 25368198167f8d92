"""What `index --rebuild` says it changed: documents, passages, model, and which calibration no longer fits."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_models import embedding_model

from rag_core.entrypoints.cli import main
from rag_core.entrypoints.commands.library import calibrations_in_words, what_changed
from rag_core.gating import scores as calibrate
from rag_core.library.stored.collection import Contents
from rag_core.wiring import contents_of

TEXT = "Every full-time employee has 25 days of paid vacation a year. Unused days are lost on 31 March. "


@pytest.fixture
def library(tmp_path: Path) -> Path:
    (tmp_path / "policy.txt").write_text("\n\n".join(f"{n}. {TEXT * 3}" for n in range(1, 6)), encoding="utf-8")
    assert main(["index", str(tmp_path / "policy.txt"), "--library", str(tmp_path / "library")]) == 0
    return tmp_path / "library"


def test_given_another_model_when_rebuilt_then_it_says_what_changed_and_that_no_calibration_fits(
    library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """S0-6: one command takes another model, rebuilds and says what changed."""
    before = contents_of(library, "default")
    model = embedding_model(tmp_path / "tiny", 8, 60)
    capsys.readouterr()

    knobs = ["--set", f"embedding_model={model}", "--set", "overlap_tokens=5"]
    assert main(["index", "--rebuild", "--library", str(library), *knobs]) == 0

    said, after = capsys.readouterr().err, contents_of(library, "default")
    assert before is not None
    assert after is not None
    assert after.passages > before.passages  # it reads 60 tokens
    assert "Documents: 1, as before." in said
    assert f"Passages: {before.passages} before, {after.passages} now." in said
    assert f"Embedding model: {before.embedder} before, {after.embedder} now." in said
    shipped = calibrate.read(calibrate.FILE)
    assert f"The calibration {shipped.id} no longer fits: it was made with another " in said
    assert "model" in said.split(shipped.id)[1].split("\n")[0]
    assert "No calibration is in force" in said


def test_given_the_same_model_when_rebuilt_then_all_is_as_before_and_the_calibration_fits(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()

    assert main(["index", "--rebuild", "--library", str(library)]) == 0

    said = capsys.readouterr().err
    assert said.count(", as before.") == 3
    assert f"The calibration {calibrate.read(calibrate.FILE).id} fits." in said
    assert "No calibration is in force" not in said


def test_given_a_library_that_cannot_be_counted_when_rebuilt_then_what_it_was_is_unknown(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert contents_of(library, "nobody") is None
    (library / "default" / "collection.sqlite").write_bytes(b"no database" * 999)
    assert contents_of(library, "default") is None
    capsys.readouterr()

    main(["index", "--rebuild", "--library", str(library)])

    assert "Embedding model: unknown before, " in capsys.readouterr().err


def test_given_a_calibration_that_cannot_be_read_then_it_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "calibration.json").write_text("{", encoding="utf-8")
    identity = calibrate.read(calibrate.FILE).identity

    said = calibrations_in_words([tmp_path / "calibration.json", tmp_path / "none.json"], identity)

    assert said.startswith("The calibration calibration.json no longer fits")
    assert "No calibration is in force" in said
    assert what_changed(Contents("a@b", "faiss-flat", 1, 2), None).endswith("Embedding model: a@b before, unknown now.")
