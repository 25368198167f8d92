"""The report of how a library grows measures a real library, and writes only between its marks."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rag_core.language import terms
from reports import END, begin, grown, scale
from reports.grown import SummedWords, Texts, built, opened
from reports.scale import NAMES, PAGE, measured, table, written

ROW = dict.fromkeys(NAMES, 0.25) | {"passages": 1000, "documents": 20}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(grown, "SENTENCES", 48)
    monkeypatch.setattr(grown, "INDEXED", 8)
    monkeypatch.setattr(grown, "BATCH", 12)
    monkeypatch.setattr(scale, "QUESTIONS", 3)


def test_given_a_size_when_measured_then_everything_of_the_table_is_there_and_the_library_is_as_before(tmp_path, small):
    took = built(tmp_path, 30)

    row = measured(tmp_path)

    assert row["passages"] >= 30
    assert took > 0
    assert {"index_ms", *row} == {"passages", "documents", *NAMES}
    assert all(row[name] >= 0 for name in row if name != "memory_kb")
    assert row["recall"] == 1
    assert len(opened(tmp_path).snapshot.passages) == row["passages"]


def test_given_a_library_that_was_repeated_then_every_file_is_whole_and_names_numbers_and_vectors_are_others(
    tmp_path, small
):
    built(tmp_path, 120)
    library = opened(tmp_path)

    library.verify()
    snapshot = library.snapshot
    texts = [passage.text for passage in snapshot.passages]
    assert len(set(texts)) == len(texts)
    first = len(snapshot.passages_of(snapshot.documents[0].id))  # its vectors are those of texts with their headings
    for row, passage in list(enumerate(snapshot.passages))[first::7]:
        assert all(snapshot.page_text(passage.document, one.page)[one.start : one.end] for one in passage.spans)
        vector = SummedWords().embed([passage.text])[0]
        assert float(snapshot.vectors.vectors([row])[0] @ vector) == pytest.approx(1, abs=1e-5)
        found = snapshot.lexical.search(terms(passage.text, "en"), 1, None)
        assert found[0][0] == row
    assert len({document.id for document in snapshot.documents}) == len(snapshot.documents) == 3
    cosines = snapshot.vectors.vectors(range(len(texts))) @ snapshot.vectors.vectors([0])[0]
    assert np.sum(cosines > 0.9999) == 1


def test_given_a_name_or_a_number_then_a_variant_changes_it_letter_by_letter_and_common_words_stay():
    renamed = grown.Renamed(27)
    names = [word for word in map(grown._word, range(300)) if renamed.word(word) != word]

    assert 30 <= len(names) <= 120
    assert all(len(renamed.word(word)) == len(word) for word in names)
    assert renamed.text("The 4512 of") == f"The {renamed.word('4512')} of" != "The 4512 of"
    assert renamed.text(names[0].capitalize()) == renamed.word(names[0]).capitalize()


def test_given_sizes_when_run_then_libraries_that_are_kept_are_taken_up(tmp_path, small, monkeypatch):
    monkeypatch.setattr(scale, "PAGE", tmp_path / "page.md")
    (tmp_path / "page.md").write_text(f"{begin('scale')}{END}")
    (tmp_path / "10").mkdir()
    (tmp_path / "10/indexed.json").write_text('{"index_ms": 12.5}')
    built(tmp_path / "10", 10)

    scale.main(["10", "--folder", str(tmp_path)])

    assert "| index a passage, without a model (ms) | 12 |" in (tmp_path / "page.md").read_text()
    assert json.loads((tmp_path / "10/indexed.json").read_text()) == {"index_ms": 12.5}


def test_given_a_seed_then_its_text_is_the_same_each_time_and_another_than_that_of_the_next() -> None:
    assert [*Texts(3).sentences(5)] == [*Texts(3).sentences(5)] != [*Texts(4).sentences(5)]


def test_given_figures_when_written_then_the_rest_of_the_page_stays() -> None:
    page = f"before\n{begin('scale')}\nold\n{END}\nafter"

    said = written(page, [ROW, {**ROW, "passages": 10_000}], "2026-11-24")

    assert said.startswith("before\n")
    assert said.endswith("\nafter")
    assert "old" not in said
    assert "| reopen (s) | 0.25 | 0.25 |" in table([ROW, ROW])
    assert "10,000 passages" in said
    with pytest.raises(ValueError, match="needs the lines"):
        written("nothing", [ROW], "2026-11-24")
    assert written(PAGE.read_text(encoding="utf-8"), [ROW], "2026-11-24")
