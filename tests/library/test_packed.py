"""A library opens without unpacking a passage; a document's are unpacked when one of them is asked for."""

from __future__ import annotations

import pytest
from library_kit import SETTINGS, HashEmbedder, check_whole, found, library, text

from rag_core.errors import LibraryDamaged
from rag_core.gating.named import searched_documents
from rag_core.language import terms
from rag_core.library.stored import packed
from rag_core.library.stored.packed import Packed, Passages, documents_of
from rag_core.retrieval.hybrid import retrieve

LONG = " ".join(f"Sentence {number} speaks of the bridge." for number in range(200))


def made(folder):
    opened = library(folder)
    opened.add([text("one", LONG), text("two", "Cats sleep all day."), text("three", "Dogs run about.")], SETTINGS)
    return opened


def test_given_a_passage_that_is_asked_for_then_no_other_is_made_until_a_second_one_is(tmp_path, monkeypatch):
    before = made(tmp_path).snapshot
    count, sizes = len(before.passages_of(before.documents[0].id)), []
    unpack = packed.passages_from_json
    monkeypatch.setattr(packed, "passages_from_json", lambda rows: sizes.append(len(rows)) or unpack(rows))
    passages = library(tmp_path).snapshot.passages

    assert (passages[1], passages[1], sizes) == (before.passages[1], before.passages[1], [1])
    assert (passages[0], passages[1], passages[count - 1]) == (
        before.passages[0],
        before.passages[1],
        before.passages[count - 1],
    )
    assert sizes == [1, count]
    assert library(tmp_path).snapshot.passages.groups[0][-1] == before.passages[count - 1]
    with pytest.raises(IndexError):
        _ = library(tmp_path).snapshot.passages.groups[0][count]


def test_given_a_question_then_no_passages_are_unpacked_but_those_that_it_shows(tmp_path, unpacked):
    opened = library(tmp_path)
    opened.add([text(f"d{number}", f"The cat{number} sleeps.", language="en") for number in range(9)], SETTINGS)
    unpacked.clear()
    snapshot = library(tmp_path).snapshot
    vector, asked = HashEmbedder().embed(["cat3 sleeps"])[0], terms("cat3 sleeps", "en")

    ranking = retrieve("cat3 sleeps", vector, asked, snapshot, SETTINGS.changed(top_k=2))

    assert len(ranking.candidates) > 2
    assert unpacked == [hit.passage.document for hit in ranking.hits]
    assert len(unpacked) == 2


def test_given_a_part_that_is_searched_then_its_documents_are_told_without_unpacking(tmp_path, unpacked):
    before = made(tmp_path).snapshot
    snapshot = library(tmp_path).snapshot

    for rows in (
        [],
        [0],
        [len(before.passages) - 1, 0, 1],
        range(len(before.passages)),
        snapshot.rows(["two", "three"]),
    ):
        ids = {before.passages[row].document for row in rows}
        unpacked.clear()
        assert documents_of(snapshot.passages, rows) == ids
        assert searched_documents(snapshot, rows) == [document for document in before.documents if document.id in ids]
        chosen = snapshot.rows([document.id for document in before.documents if document.id in ids])
        assert searched_documents(snapshot, chosen) == list(
            document for document in before.documents if document.id in ids
        )
        assert unpacked == []
    assert searched_documents(snapshot, None) == list(before.documents)
    assert documents_of(before.passages[1:], [0]) == {before.passages[1].document}
    assert before.passages.documents([0, len(before.passages) - 1]) == {before.documents[0].id, before.documents[2].id}


@pytest.fixture
def unpacked(monkeypatch):
    """The documents whose passages were unpacked, in order."""
    seen = []
    unpack = packed.passages_from_json

    def noted(rows):
        made = unpack(rows)
        seen.append(made[0].document)
        return made

    monkeypatch.setattr(packed, "passages_from_json", noted)
    return seen


def test_given_a_library_when_opened_then_no_passage_is_unpacked_until_it_is_asked_for(tmp_path, unpacked):
    before = made(tmp_path).snapshot
    one, two, three = (document.id for document in before.documents)
    whole = tuple(before.passages)
    unpacked.clear()

    snapshot = library(tmp_path).snapshot
    assert (len(snapshot.passages), [len(snapshot.rows_of(id)) for id in (two, three)]) == (
        len(before.passages),
        [1, 1],
    )
    assert len(snapshot.rows_of(one)) > 2
    assert unpacked == []

    assert snapshot.passages[-1].text == "Dogs run about."
    assert unpacked == [three]
    assert tuple(snapshot.passages) == whole
    assert unpacked == [three, one, two]
    assert found(library(tmp_path), "sleeping cats")[0] == two


def test_given_a_packed_library_when_a_document_comes_or_goes_then_no_other_is_unpacked(tmp_path, unpacked):
    made(tmp_path)
    opened = library(tmp_path)
    one, two, three = (document.id for document in opened.snapshot.documents)

    added = opened.add([text("four", "Fish swim.")], SETTINGS).added[0].id
    opened.delete(two)

    assert unpacked == []
    assert [opened.snapshot.passages_of(id)[-1].document for id in (one, three, added)] == [one, three, added]
    check_whole(opened)
    check_whole(library(tmp_path))


def test_given_passages_in_groups_when_asked_by_row_then_they_are_as_one_tuple(tmp_path):
    flat = tuple(made(tmp_path).snapshot.passages)
    groups = Passages([flat[:2], flat[2:3], flat[3:]])

    assert tuple(groups) == flat
    assert [groups[row] for row in range(-len(flat), len(flat))] == [*flat, *flat]
    assert [groups[1:4], groups[::-2], groups[2:2]] == [flat[1:4], flat[::-2], ()]
    assert groups.ranges == [range(2), range(2, 3), range(3, len(flat))]
    for row in (len(flat), -len(flat) - 1):
        with pytest.raises(IndexError):
            groups[row]


def test_given_passages_that_are_not_as_many_as_the_vectors_when_asked_for_then_the_library_is_damaged(tmp_path):
    made(tmp_path)
    group = library(tmp_path).snapshot.passages.groups[1]
    assert isinstance(group, Packed)

    with pytest.raises(LibraryDamaged, match="has 1 passages, and should have 2"):
        Packed(group._data, 2, group._document)[0]
    with pytest.raises(LibraryDamaged, match="cannot be read"):
        Packed(b"{", 2, group._document)[0]
