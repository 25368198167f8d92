"""A question that is asked of a document while that is deleted everywhere leaves nothing in the records; see also
`test_service_erase`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from builders import claim, draft, hit, measurements, passage, settings

from rag_core.adapters.records.store import FILE, RecordStore
from rag_core.decision.decide import decide
from rag_core.domain.drafts import Draft
from rag_core.domain.measurements import TYPED, LibraryFacts, Measurements
from rag_core.errors import LibraryBusy
from rag_core.evaluation.labelled import LabelledQuestion


def asked(version: int, drafted: str = "d1") -> Measurements:
    """A question of a version in which two documents were found, and that is answered from one of them, or from
    none.
    """
    found = {name: hit(0.9, number, of=passage(number, document=name)) for number, name in ((1, "d1"), (2, "d2"))}
    return measurements(
        0.9,
        hits=tuple(found.values()),
        draft=draft([claim(found[drafted].passage)]) if drafted else Draft(),
        library=LibraryFacts(
            documents=2, passages=2, pages=2, names={"d1": "contract.pdf", "d2": "wexford.pdf"}, version=version
        ),
    )


def nowhere(text: str) -> bool:
    """No text uses words of the documents that go."""
    return False


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RecordStore]:
    opened = RecordStore(tmp_path / "library" / "default" / FILE)
    opened.write_set("mine", [LabelledQuestion("1", "How long?", answerable=False)])
    yield opened
    opened.close()


def test_given_the_first_question_when_its_document_is_erased_meanwhile_then_it_is_not_kept(tmp_path: Path) -> None:
    first = RecordStore(tmp_path / "library" / "default" / FILE)
    first.erase(["d1"], 3, nowhere)
    first.forget_documents(["d1"], 3)

    with pytest.raises(LibraryBusy, match="deleted everywhere"):
        first.keep(asked(3))
    assert first.deleted("d1"), "so that no text of a model is kept"


def test_given_somebody_who_reads_all_the_time_when_erased_then_nothing_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The document stays, too: were its deletion remembered, no question that it answers would be kept."""
    monkeypatch.setattr("rag_core.library.disk.database.WAIT_SECONDS", 0.1)
    path = tmp_path / "library" / "default" / FILE
    store = RecordStore(path)
    kept = store.keep(asked(3))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM decisions").fetchone()
        with pytest.raises(LibraryBusy, match="being read"):
            store.erase(["d1"], 3, nowhere)
        later = store.keep(asked(3))

    assert [one.id for one in store.decisions()] == [later, kept]
    assert store.erase(["d1"], 3, nowhere).decisions == 2


@pytest.mark.parametrize(
    ("drafted", "searched"), [("d1", ()), ("d1", ("d1", "d2")), ("d2", ("d1", "d2")), ("", ("d1",))]
)
def test_given_a_question_answered_from_a_document_that_is_deleted_everywhere_meanwhile_then_nothing_of_it_is_kept(
    store: RecordStore, drafted: str, searched: tuple[str, ...]
) -> None:
    """Nor one for which it was among the documents that were searched.

    What is asked of a later version, with the file again, is kept.
    """
    store.erase(["d1"], 3, nowhere)

    for version in (1, 3):
        with pytest.raises(LibraryBusy, match="deleted everywhere"):
            store.keep(asked(version, drafted), documents=searched)
    again = store.keep(asked(4, drafted), documents=searched)

    assert [one.id for one in store.decisions()] == [again]


def test_given_a_question_that_only_found_an_erased_document_then_its_name_is_not_kept(store: RecordStore) -> None:
    known = store.measurements(store.keep(asked(3)))
    store.erase(["d2"], 3, nowhere)

    read, later = store.measurements(store.keep(asked(3))), store.measurements(store.keep(asked(4)))

    assert [dict(one.library.names) for one in (known, read, later)] == [
        {"d1": "contract.pdf", "d2": "wexford.pdf"},
        {"d1": "contract.pdf"},
        {"d1": "contract.pdf", "d2": "wexford.pdf"},
    ]
    assert [type(decide(one).outcome) for one in (read, later)] == [type(decide(known).outcome)] * 2


@pytest.mark.parametrize(
    ("question", "typed"),
    [("How old are zyxoquants?", ""), ("As in Wexford.pdf?", ""), ("How long?", "And the zyxoquant?")],
)
def test_given_a_question_in_words_of_a_document_that_is_deleted_everywhere_meanwhile_then_nothing_of_it_is_kept(
    store: RecordStore, question: str, typed: str
) -> None:
    """It was answered from another document.

    The words are known by what was found in the one that went, and in no other.
    """
    found = asked(3)
    hits = (found.hits[0], replace(found.hits[1], passage=replace(found.hits[1].passage, text="The zyxoquant pays.")))
    found = replace(found, hits=hits, metadata={TYPED: typed})
    store.erase(["d2"], 3, nowhere)

    with pytest.raises(LibraryBusy, match="deleted everywhere"):
        store.keep(replace(found, question=question))
    assert store.keep(replace(found, question="How long?", metadata={}))


def test_given_a_run_while_a_document_is_erased_then_it_keeps_no_result_from_it(store: RecordStore) -> None:
    questions = [LabelledQuestion(id, "How long?", answerable=True, answers=("30 days",)) for id in ("1", "2", "3")]
    run = store.begin_run("one", "mine", questions, settings=settings(), calibration="c1", model="m", version=3)
    store.erase(["d1"], 3, nowhere)

    store.add_result(run.id, "1", asked(3, "d1"))
    store.add_result(run.id, "2", asked(3, "d2"))
    store.add_result(run.id, "3", asked(4, "d1"))

    assert store.done(run.id) == {"2", "3"}
    assert dict(store.results(run.id)["2"].library.names) == {"d2": "wexford.pdf"}


def test_given_a_run_whose_label_goes_with_a_document_then_its_result_is_not_kept(store: RecordStore) -> None:
    """It was asked of the next version, and is answered from another document, or fails: the words are those of the
    label.
    """
    questions = [
        LabelledQuestion(id, text, answerable=False)
        for id, text in (("1", "How long?"), ("2", "How long is a zyxoquant?"))
    ]
    run = store.begin_run("one", "mine", questions, settings=settings(), calibration="c1", model="m", version=3)
    store.erase(["d1"], 3, lambda text: "zyxoquant" in text)

    for question in questions:
        store.add_result(run.id, question.id, replace(asked(4, ""), question=question.question))

    assert (store.done(run.id), store.run(run.id).total) == ({"1"}, 1)
