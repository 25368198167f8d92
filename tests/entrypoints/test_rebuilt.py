"""What `index --rebuild` with another model changes, and that it says where no calibration fits any more."""

from __future__ import annotations

from tiny_models import embedding_model

from rag_core.wiring import contents_of

TEXT = "Every full-time employee has 25 days of paid vacation a year. Unused days are lost on 31 March. "


def test_given_another_model_when_rebuilt_then_a_calibration_that_no_longer_fits_is_told(tmp_path, run):
    """S0-6: one command takes another model and rebuilds."""
    library = tmp_path / "library"
    (tmp_path / "policy.txt").write_text("\n\n".join(f"{n}. {TEXT * 3}" for n in range(1, 6)), encoding="utf-8")
    index = ("index", "--library", library)
    assert run(*index, tmp_path / "policy.txt")[0] == 0
    before = contents_of(library, "default")
    model = embedding_model(tmp_path / "tiny", 8, 60)

    same = run(*index, "--rebuild")
    other = run(*index, "--rebuild", "--set", f"embedding_model={model}", "--set", "overlap_tokens=5")

    after = contents_of(library, "default")
    assert [code for code, *_ in (same, other)] == [0, 0]
    assert after.passages > before.passages  # it reads 60 tokens
    assert (str(model) in before.embedder, str(model) in after.embedder) == (False, True)
    assert ["No calibration is in force" in said for _, _, said in (same, other)] == [False, True]
