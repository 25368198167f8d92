"""The records of a collection: everything that is kept comes back, threads and processes do not disturb each other, and
damage is told.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders import measurements, settings
from hypothesis import given
from hypothesis import strategies as st

from rag_core import wiring
from rag_core.adapters.records.store import FILE, RecordStore
from rag_core.adapters.records.tables import VERSION
from rag_core.decision.decide import decide
from rag_core.errors import InvalidInput, LibraryBusy, LibraryError, RecordsDamaged
from rag_core.evaluation.labelled import LabelledQuestion, Place
from rag_core.library.disk.database import close_files
from rag_core.library.stored.named import collections
from rag_core.records import DELETED
from rag_core.records.stored import MAX_COMMENT_CHARS, FeedbackKind, FeedbackState, SavedPreset

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = [
    "'; DROP TABLE decisions; --",
    "<script>alert(1)</script> ![x](http://203.0.113.9)",
    "\u202eevil\u202c",
    "😀" * 50,
    "a\0b",
    "\ud800",
    '%_"[]*',
]
RUN = {"settings": settings(), "calibration": "c1", "model": "hash@float32", "version": 3}


def question(id: str = "q1", **fields: object) -> LabelledQuestion:
    return LabelledQuestion(**{"id": id, "question": f"What is {id}?", "answerable": True, **fields})  # type: ignore[arg-type]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library" / "default" / FILE


@pytest.fixture
def store(path: Path) -> RecordStore:
    return RecordStore(path)


def raw(path: Path, statement: str, *values: object) -> list[tuple]:
    db = sqlite3.connect(path)
    try:
        with db:
            return db.execute(statement, values).fetchall()
    finally:
        db.close()


# nothing is created by looking


def test_given_nothing_written_then_all_is_empty_and_no_file_appears(store: RecordStore, path: Path) -> None:
    assert (store.decisions(), store.feedback(), store.sets(), store.runs(), store.presets()) == ((), (), (), (), ())
    assert store.keeping() is None
    assert store.default_preset() is None
    with pytest.raises(InvalidInput):
        store.measurements(1)
    assert not path.parent.parent.exists()


def test_given_a_collection_then_its_store_is_one_and_a_bad_name_is_refused(tmp_path: Path) -> None:
    assert wiring.records(tmp_path, "a") is wiring.records(tmp_path, "a") is not wiring.records(tmp_path, "b")
    assert wiring.records(tmp_path, "a").collection == "a"
    with pytest.raises(InvalidInput):
        wiring.records(tmp_path, "../a")
    assert list(tmp_path.iterdir()) == []


def test_given_a_collection_that_holds_nothing_but_records_then_it_is_still_listed(tmp_path: Path) -> None:
    wiring.records(tmp_path, "mine").keep(measurements(0.9))

    assert collections(tmp_path) == ("mine",)


# decisions


def test_given_a_kept_case_when_read_then_it_is_decided_alike(store: RecordStore) -> None:
    original = measurements(0.9, 0.8)

    id = store.keep(original)
    read = store.measurements(id, lambda *_: original.hits[0].passage.text)

    assert decide(read) == decide(original)
    assert decide(store.measurements(id)).answer == f"{DELETED} [1]"
    (kept,) = store.decisions()
    assert (kept.id, kept.origin, kept.question) == (id, "ask", original.question)
    assert datetime.fromisoformat(kept.at).tzinfo is not None


@pytest.mark.parametrize("text", HOSTILE)
def test_given_hostile_text_when_kept_anywhere_then_it_comes_back_as_text(store: RecordStore, text: str) -> None:
    id = store.keep(measurements(0.9, question=text))
    store.add_feedback(id, FeedbackKind.WRONG_ANSWER, text, document=text, page=2)
    store.write_set(text, [question(question=text)])

    expected = text.encode("utf-8", "replace").decode()
    assert store.measurements(id).question == text
    assert [one.question for one in store.decisions()] == [expected]
    (feedback,) = store.feedback()
    assert (feedback.question, feedback.comment, feedback.document, feedback.page) == (expected, expected, expected, 2)
    assert store.sets() == (expected,)
    assert store.read_set(expected)[0].question == text


def test_given_many_decisions_when_pruned_then_the_newest_stay_and_those_with_open_feedback(store: RecordStore) -> None:
    ids = [store.keep(measurements(0.9)) for _ in range(6)]
    store.add_feedback(ids[0], FeedbackKind.HELPFUL)
    settled = store.add_feedback(ids[1], FeedbackKind.HELPFUL)
    store.settle(settled, FeedbackState.DISMISSED)

    assert store.prune(days=90, most=3) == 2

    assert [one.id for one in store.decisions()] == [*reversed(ids[3:]), ids[0]]
    assert store.feedback(FeedbackState.DISMISSED) == ()  # went with its decision
    assert store.prune(days=90, most=3) == 0


def test_given_old_decisions_when_pruned_then_they_go_and_their_text_is_wiped(store: RecordStore, path: Path) -> None:
    old = store.keep(measurements(0.9, question="An unmistakable question?"))
    new = store.keep(measurements(0.9))
    raw(
        path,
        "UPDATE decisions SET at = ? WHERE id = ?",
        (datetime.now(UTC) - timedelta(days=91)).isoformat(timespec="seconds"),
        old,
    )

    assert store.prune(days=90, most=100) == 1

    assert [one.id for one in store.decisions()] == [new]
    store.close()
    assert b"unmistakable" not in path.read_bytes()


def test_given_a_deleted_decision_then_its_id_is_not_given_again(store: RecordStore) -> None:
    first = store.keep(measurements(0.9))
    store.forget_decision(first)

    assert store.keep(measurements(0.9)) > first


def test_given_a_choice_to_keep_or_not_then_it_is_remembered(store: RecordStore, path: Path) -> None:
    store.set_keeping(False)
    assert RecordStore(path).keeping() is False
    store.set_keeping(True)
    assert RecordStore(path).keeping() is True


# feedback


def test_given_feedback_when_settled_then_it_leaves_the_queue(store: RecordStore) -> None:
    """S4-25: a reader flags a wrong refusal."""
    id = store.keep(measurements(0.9))
    first = store.add_feedback(id, FeedbackKind.WRONG_REFUSAL, "  It is on page 2.  ")
    second = store.add_feedback(id, FeedbackKind.HELPFUL)

    assert [(one.id, one.kind, one.comment) for one in store.feedback()] == [
        (second, FeedbackKind.HELPFUL, ""),
        (first, FeedbackKind.WRONG_REFUSAL, "It is on page 2."),
    ]
    store.settle(first, "dismissed")
    assert [one.id for one in store.feedback("open")] == [second]
    assert [one.state for one in store.feedback("dismissed")] == [FeedbackState.DISMISSED]


def test_given_feedback_then_it_can_be_taken_back_and_more_be_said_until_it_is_settled(store: RecordStore) -> None:
    id = store.keep(measurements(0.9), documents=("d1", "d2"))
    first, second, third = (store.add_feedback(id, FeedbackKind.HELPFUL) for _ in range(3))
    store.label(second, "mine", question())
    store.amend(third, " It stands there. ", "d1", 4)
    for one in (first, second):
        store.take_back(one)

    (open,) = store.feedback("open")
    assert (open.id, open.comment, open.document, open.page, open.searched) == (
        third,
        "It stands there.",
        "d1",
        4,
        ("d1", "d2"),
    )
    assert [one.id for one in store.feedback("labelled")] == [second]
    store.settle(third, FeedbackState.DISMISSED)
    store.amend(third, "too late")
    assert store.feedback("dismissed")[0].comment == "It stands there."


def test_given_a_long_comment_or_a_decision_that_is_gone_then_it_is_cut_or_refused(store: RecordStore) -> None:
    id = store.keep(measurements(0.9))
    store.add_feedback(id, FeedbackKind.WRONG_ANSWER, "x" * 10_000)

    assert len(store.feedback()[0].comment) == MAX_COMMENT_CHARS
    with pytest.raises(InvalidInput):
        store.add_feedback(id + 1, FeedbackKind.HELPFUL)
    with pytest.raises(ValueError, match="nonsense"):
        store.add_feedback(id, "nonsense")  # type: ignore[arg-type]


def test_given_a_label_when_its_id_is_taken_then_neither_set_nor_queue_changes(store: RecordStore) -> None:
    feedback = store.add_feedback(store.keep(measurements(0.9)), FeedbackKind.WRONG_REFUSAL)
    store.write_set("mine", [question()])

    with pytest.raises(InvalidInput, match="q1"):
        store.label(feedback, "mine", question())
    assert [one.id for one in store.feedback()] == [feedback]

    store.label(feedback, "mine", question("q2"))
    assert [one.id for one in store.read_set("mine")] == ["q1", "q2"]
    assert store.feedback() == ()


def test_given_a_label_when_its_feedback_was_deleted_meanwhile_then_it_is_not_written(store: RecordStore) -> None:
    """As where its document is deleted everywhere while the page shows it: the label is in the words that went."""
    kept = store.keep(measurements(0.9))
    feedback = store.add_feedback(kept, FeedbackKind.WRONG_REFUSAL)
    store.forget_decision(kept)

    with pytest.raises(InvalidInput, match="not there any more"):
        store.label(feedback, "mine", question())
    assert store.sets() == ()


# sets and runs

texts = st.text(min_size=1, max_size=20).filter(str.strip)
labelled = st.builds(
    LabelledQuestion,
    id=texts,
    question=texts,
    answerable=st.booleans(),
    answers=st.lists(texts, max_size=2).map(tuple),
    documents=st.lists(texts, max_size=2).map(tuple),
    places=st.lists(st.builds(Place, texts, st.integers(0, 300)), max_size=2).map(tuple),
    language=st.sampled_from(["", "hi"]),
    kind=st.sampled_from(["", "near_miss"]),
)


@pytest.mark.slow
@given(questions=st.lists(labelled, max_size=5, unique_by=lambda one: one.id))
def test_any_questions_come_back_in_order(
    tmp_path_factory: pytest.TempPathFactory, questions: list[LabelledQuestion]
) -> None:
    store = RecordStore(tmp_path_factory.mktemp("set") / FILE)
    store.write_set("mine", [question()])
    store.write_set("mine", questions)

    assert store.read_set("mine") == tuple(questions)
    store.close()


def test_given_sets_then_they_are_listed_deleted_and_refused_by_name(store: RecordStore) -> None:
    store.write_set("b", [])
    store.write_set(" a ", [question()])
    assert store.sets() == ("a", "b")
    store.delete_set("b")
    assert store.sets() == ("a",)
    with pytest.raises(InvalidInput, match="'b'"):
        store.read_set("b")
    for name in ("", "  ", "x" * 101):
        with pytest.raises(InvalidInput):
            store.write_set(name, [])
    with pytest.raises(InvalidInput, match="q1"):
        store.write_set("a", [question(), question()])
    assert store.read_set("a") == (question(),)


def test_given_a_run_when_results_come_then_it_knows_how_far_it_is_and_keeps_its_labels(store: RecordStore) -> None:
    asked = (question("b"), question("a"), question("c", answerable=False))
    store.write_set("mine", asked)
    head = store.begin_run("first", "mine", asked, **RUN)
    store.write_set("mine", [question("other")])

    store.add_result(head.id, "c", measurements(0.1))
    store.add_result(head.id, "b", measurements(0.9))
    store.add_result(head.id, "b", measurements(0.8))

    assert (head.name, head.set_name, head.collection, head.total, head.done) == ("first", "mine", "default", 3, 0)
    assert (head.settings, head.calibration, head.model, head.version) == tuple(RUN.values())
    assert store.runs() == (replace(head, done=2),)
    assert store.run_questions(head.id) == asked
    assert store.done(head.id) == {"b", "c"}
    results = store.results(head.id)
    assert list(results) == ["b", "c"]  # in the order of the set
    assert [one.hits[0].cosine for one in results.values()] == [0.8, 0.1]


def test_given_a_deleted_run_then_its_results_are_gone_and_late_ones_too(store: RecordStore, path: Path) -> None:
    kept, gone = (store.begin_run(name, "mine", [question()], **RUN) for name in "ab")
    store.add_result(kept.id, "q1", measurements(0.9))
    store.add_result(gone.id, "q1", measurements(0.9))

    store.delete_run(gone.id)
    store.add_result(gone.id, "q1", measurements(0.9))

    assert [head.id for head in store.runs()] == [kept.id]
    assert raw(path, "SELECT count(*) FROM results") == [(1,)]
    for read in (store.run, store.run_questions, store.results):
        with pytest.raises(InvalidInput):
            read(gone.id)


# presets


def test_given_presets_when_saved_then_they_come_back_and_one_may_be_the_default(store: RecordStore) -> None:
    bare = SavedPreset("bare", {"top_k": 5}, None, "2026-11-21T10:00:00+00:00")
    certified = SavedPreset(
        "at most 5 %", {"min_answerability": 0.61}, {"n": 412, "target": 0.05}, "2026-11-21T11:00:00+00:00"
    )
    store.save_preset(bare)
    store.save_preset(certified)
    store.save_preset(replace(bare, values={"top_k": 6}))

    assert store.presets() == (certified, replace(bare, values={"top_k": 6}))
    with pytest.raises(InvalidInput):
        store.set_default_preset("nobody")
    store.set_default_preset("bare")
    assert store.default_preset() == "bare"
    store.delete_preset("bare")
    assert store.default_preset() is None
    assert store.presets() == (certified,)


# threads, processes, damage


def test_given_eight_threads_when_they_write_at_once_then_nothing_is_lost(store: RecordStore) -> None:
    head = store.begin_run("run", "mine", [question(str(n)) for n in range(64)], **RUN)
    problems: list[BaseException] = []

    def work(first: int) -> None:
        try:
            for n in range(first, first + 8):
                store.add_result(head.id, str(n), measurements(0.9))
                store.keep(measurements(0.9))
                store.done(head.id)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(8 * n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert problems == []
    assert len(store.done(head.id)) == len(store.decisions(1000)) == 64


CHILD = """
import sys
sys.path[:0] = ["tests"]
from pathlib import Path
from builders import measurements
from rag_core.adapters.records.store import RecordStore
store = RecordStore(Path(sys.argv[1]))
for _ in range(20):
    store.keep(measurements(0.9), origin=sys.argv[2])
"""


@pytest.mark.slow
def test_given_three_processes_that_begin_a_file_then_each_keeps_its_own(store: RecordStore, path: Path) -> None:
    children = [
        subprocess.Popen([sys.executable, "-c", CHILD, str(path), str(n)], cwd=ROOT, env={"PYTHONPATH": "."})
        for n in range(3)
    ]

    assert [child.wait(60) for child in children] == [0, 0, 0]

    origins = [one.origin for one in store.decisions(1000)]
    assert {origin: origins.count(origin) for origin in origins} == {"0": 20, "1": 20, "2": 20}


def test_given_the_end_of_a_process_then_the_log_is_folded_into_the_file_unless_a_statement_still_runs(
    store: RecordStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_core.library.disk.database.CLOSE_SECONDS", 0.01)
    store.set_keeping(False)
    log = path.with_name(f"{FILE}-wal")
    assert log.stat().st_size
    with store._file.reading():
        other = threading.Thread(target=close_files)
        other.start()
        other.join()
        assert log.exists()
    close_files()
    assert [one.name for one in path.parent.iterdir()] == [FILE]
    assert raw(path, "SELECT value FROM choices") == [("false",)]
    assert store.keeping() is False


def test_given_a_writer_that_does_not_end_then_busy(
    store: RecordStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.keep(measurements(0.9))
    store.close()
    monkeypatch.setattr("rag_core.library.disk.database.WAIT_SECONDS", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(LibraryBusy):
        store.keep(measurements(0.9))
    assert len(store.decisions()) == 1  # a reader does not wait
    other.execute("ROLLBACK")
    other.close()
    store.keep(measurements(0.9))
    assert len(store.decisions()) == 2


def test_given_a_deleted_folder_then_the_next_record_begins_a_new_file(store: RecordStore, path: Path) -> None:
    """Deleting a collection's folder deletes its records; a page that is still open begins a new file."""
    for looked_meanwhile in (True, False):
        store.keep(measurements(0.9))
        shutil.rmtree(path.parent)
        if looked_meanwhile:
            assert store.decisions() == ()

        store.keep(measurements(0.8, question="After?"))

        assert [one.question for one in RecordStore(path).decisions()] == ["After?"]


def read_all(store: RecordStore) -> None:
    for one in store.decisions():
        store.measurements(one.id)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000] + b"\xff" * 3000)


@pytest.mark.parametrize(
    "damage", [lambda path: path.write_bytes(b"no database" * 500), cut], ids=["another file", "overwritten"]
)
def test_given_a_damaged_file_then_it_goes_aside_only_when_asked(store: RecordStore, path: Path, damage) -> None:
    for _ in range(20):
        store.keep(measurements(0.9, 0.8, 0.7))
    store.close()
    damage(path)
    before = path.read_bytes()

    with pytest.raises(RecordsDamaged, match=FILE) as caught:
        read_all(store)
    assert "aside" in caught.value.remedy
    assert path.read_bytes() == before

    aside = store.move_aside()

    assert aside.read_bytes() == before
    assert store.decisions() == ()
    store.keep(measurements(0.9))
    assert len(store.decisions()) == 1


@pytest.mark.parametrize("step", [-1, 1])
def test_given_a_file_of_another_version_then_it_is_left_as_it_is(store: RecordStore, path: Path, step: int) -> None:
    store.keep(measurements(0.9))
    store.close()
    raw(path, f"PRAGMA user_version = {VERSION + step}")

    with pytest.raises(LibraryError, match="another version") as caught:
        store.keep(measurements(0.9))
    assert f"move {path.name} away" in caught.value.remedy
    assert raw(path, "SELECT count(*) FROM decisions") == [(1,)]


def test_given_a_folder_that_cannot_be_written_then_one_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "default").write_text("a file, no folder")

    with pytest.raises(LibraryError, match="could not be used") as caught:
        RecordStore(tmp_path / "default" / FILE).keep(measurements(0.9))
    assert caught.value.remedy
