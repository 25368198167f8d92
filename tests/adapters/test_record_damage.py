"""A changed byte in a file of records: one error with a remedy, or nothing changes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from builders import measurements, settings
from test_record_texts import answered

from rag_core.adapters.records.store import FILE, RecordStore
from rag_core.adapters.records.tables import SCHEMA, VERSION
from rag_core.errors import LibraryError, RecordsDamaged
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.library.disk.database import Database
from rag_core.records.stored import Execution, FeedbackKind, FeedbackState, Metrics, SavedPreset

FLIPS = 40  # positions in a file of about 100 KB, a fixed sample


def fill(store: RecordStore) -> None:
    """Something in every table."""
    question = LabelledQuestion(id="q1", question="What is it?", answerable=True)
    id = store.keep(measurements(0.9, 0.8, question="How long is the notice period?"))
    store.keep(answered())
    store.add_feedback(id, FeedbackKind.WRONG_ANSWER, "It is three months.", document="sha256:1", page=2)
    store.write_set("mine", [question])
    run = store.begin_run(
        "first", "mine", [question], settings=settings(), calibration="c", model="hash@float32", version=3
    )
    store.add_result(run.id, "q1", measurements(0.9))
    store.save_preset(SavedPreset("strict", {"min_top_cosine": 0.7}, None, "2026-11-22T00:00:00+00:00"))
    store.set_default_preset("strict")
    store.set_keeping(True)
    store.forget_documents(["sha256:9"], 1)
    store.erase(["sha256:8"], 1, lambda text: False)
    store.record_execution(
        Execution(
            prompt_id="rag_strategy",
            profile="legal",
            metrics=Metrics(confidence=0.9, citation_coverage=1.0, hallucination_detected=False),
            feedback=FeedbackKind.HELPFUL,
        ),
        "api:1",
    )
    store.add_feedback(id, FeedbackKind.HELPFUL)
    store.close()


def read_all(path: Path) -> list[object]:
    store = RecordStore(path)
    try:
        decisions = store.decisions()
        (run,) = store.runs()
        return [
            decisions,
            [store.measurements(one.id) for one in decisions],
            [store.feedback(state) for state in FeedbackState],
            store.sets(),
            [store.read_set(name) for name in store.sets()],
            run,
            store.run_questions(run.id),
            store.results(run.id),
            store.done(run.id),
            store.presets(),
            store.default_preset(),
            store.keeping(),
            store.executions(),
            store.pins(),
        ]
    finally:
        store.close()


def read_or_error(path: Path) -> list[object] | LibraryError:
    try:
        return read_all(path)
    except LibraryError as error:
        return error


@pytest.fixture
def path(tmp_path) -> Path:
    (tmp_path / "default").mkdir()
    return tmp_path / "default" / FILE


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("records") / "default" / FILE
    fill(RecordStore(path))
    return path


def test_given_a_changed_byte_anywhere_then_it_is_told_with_a_remedy_or_read_and_never_a_raw_error(template, path):
    data = template.read_bytes()
    chance = random.Random(13)
    positions = [*range(0, 100, 3), *chance.sample(range(100, len(data)), FLIPS)]  # in the header, then anywhere
    for position in positions:
        path.write_bytes(data[:position] + bytes([data[position] ^ 1 << chance.randrange(8)]) + data[position + 1 :])
        read = read_or_error(path)
        if isinstance(read, LibraryError):
            assert read.remedy
            assert isinstance(read, RecordsDamaged) or "another version" in read.problem, f"byte {position}: {read!r}"
        for companion in path.parent.iterdir():
            companion.unlink()


@pytest.mark.parametrize("harm", [b"", b"SQLite format 3\0", b"\0" * 4096], ids=["empty", "header", "zeros"])
def test_given_an_emptied_file_then_it_is_damage_not_a_new_one(template, path, harm):
    path.write_bytes(harm)

    with pytest.raises(RecordsDamaged):
        read_all(path)
    with pytest.raises(RecordsDamaged):
        RecordStore(path).keep(measurements(0.9))
    assert path.read_bytes() == harm


def test_given_a_file_cut_short_anywhere_then_it_is_damage_unless_only_unused_room_is_gone(template, path):
    data, whole = template.read_bytes(), read_all(template)
    for share in (0.1, 0.5, 0.9, 0.999):
        path.write_bytes(data[: int(len(data) * share)])
        found = read_or_error(path)
        assert isinstance(found, RecordsDamaged) or (share > 0.99 and found == whole)
        for companion in path.parent.iterdir():
            companion.unlink()


def test_given_a_sound_row_with_json_that_nests_too_deep_then_it_is_told_and_no_raw_error(path):
    with Database(path, SCHEMA, VERSION).writing() as db:
        db.execute(
            "INSERT INTO presets (name, preset_values, certificate, created) VALUES ('deep', ?, 'null', '')",
            ("[" * 200_000,),
        )

    with pytest.raises(RecordsDamaged):
        RecordStore(path).presets()
