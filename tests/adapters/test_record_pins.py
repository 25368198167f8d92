"""Watched answers in a collection's records: they are kept longer than others, and hold no word of a document."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_record_erasures import asked, nowhere

from rag_core.adapters.records import pins
from rag_core.adapters.records.store import FILE, RecordStore
from rag_core.domain.acts import Action, Actor, acting
from rag_core.errors import InvalidInput, NotAllowed
from rag_core.records.changes import Change, Pin, Seen
from rag_core.records.stored import FeedbackKind

FIRST, OTHER = Seen("v1", "w1", "p1"), Seen("v2", "w2", "p2")


@pytest.fixture
def store(tmp_path: Path) -> RecordStore:
    return RecordStore(tmp_path / "library" / "default" / FILE)


def pinned(store: RecordStore, origin: str = "ask") -> int:
    id = store.keep(asked(3), origin=origin, documents=["d1"])
    store.pin(id, FIRST, 3)
    return id


def test_given_a_pinned_decision_when_checked_then_only_the_newest_change_is_kept(store: RecordStore) -> None:
    id = pinned(store)
    (pin,) = store.pins()
    assert pin == Pin(id, asked(3).question, "ask", 3, Change.SAME, FIRST, FIRST, None, ("d1",))

    one = store.keep(asked(4))
    assert store.checked(pin, Change.CHANGED, OTHER, 4, one)
    (pin,) = store.pins()
    assert (pin.version, pin.change, pin.first, pin.last, pin.now) == (4, Change.CHANGED, FIRST, OTHER, one)

    late = store.keep(asked(4))
    assert not store.checked(pin, Change.LOST, Seen(), 4, late), "another process was quicker: this is no news"
    assert [row.id for row in store.decisions()] == [one, id]

    assert store.checked(pin, Change.SAME, FIRST, 5, None)
    assert [row.id for row in store.decisions()] == [id]
    store.unpin(id)
    store.unpin(id)
    assert store.pins() == ()
    assert [row.id for row in store.decisions()] == [id]


def test_given_a_change_when_its_decision_is_pinned_then_that_takes_the_place_of_the_first(store: RecordStore) -> None:
    id = pinned(store)
    later = store.keep(asked(4))
    store.checked(store.pins()[0], Change.CHANGED, OTHER, 4, later)

    store.pin(later, OTHER, 4)
    store.pin(later, OTHER, 4)

    assert [(one.decision, one.first, one.change) for one in store.pins()] == [(later, OTHER, Change.SAME)]
    assert [row.id for row in store.decisions()] == [later, id]


def test_given_nothing_to_pin_or_too_many_then_refused(store: RecordStore, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="no stored question"):
        store.pin(7, FIRST, 1)
    monkeypatch.setattr(pins, "MAX_PINS", 1)
    id = pinned(store)
    store.pin(id, FIRST, 3)
    with pytest.raises(InvalidInput, match="watched already"):
        pinned(store)
    assert [one.decision for one in store.pins()] == [id]


def test_given_old_decisions_when_pruned_then_watched_ones_and_what_they_came_to_stay(store: RecordStore) -> None:
    id, later = pinned(store), store.keep(asked(4))
    store.checked(store.pins()[0], Change.CHANGED, OTHER, 4, later)
    store.keep(asked(4))

    assert store.prune(-1, 1) == 1
    assert [row.id for row in store.decisions()] == [later, id]
    store.unpin(id)
    assert store.prune(-1, 1) == 1
    assert store.decisions() == ()


def test_given_an_erased_document_then_its_pins_stay_without_a_word_or_hash(store: RecordStore) -> None:
    """The next check says that they were lost. What a pin came to, and rests on that document, goes too."""
    gone, stays = pinned(store), store.keep(asked(3, "d2"))
    store.add_feedback(gone, FeedbackKind.HELPFUL)
    store.pin(stays, FIRST, 3)
    came = store.keep(asked(4))
    store.checked(store.pins()[0], Change.CHANGED, OTHER, 4, came)

    store.erase(["d1"], 4, nowhere)

    kept, erased = store.pins()
    assert (kept.decision, kept.first, kept.last, kept.now) == (stays, FIRST, FIRST, None)
    assert erased == Pin(gone, "", "ask", 3, Change.SAME, Seen(), Seen(), None, ())
    assert [row.id for row in store.decisions()] == [stays]
    assert store.checked(erased, Change.LOST, Seen(), 5, None)
    store.unpin(gone)
    assert [one.decision for one in store.pins()] == [stays]


def test_given_a_forgotten_decision_then_its_pin_goes_with_it(store: RecordStore) -> None:
    store.forget_decision(pinned(store))
    assert store.pins() == ()


def test_given_people_who_may_not_see_records_then_each_sees_and_changes_their_own_pins(store: RecordStore) -> None:
    may = frozenset({Action.ASK, Action.KEEP, Action.WATCH})
    ada, bob = Actor("ada", may), Actor("bob", may)
    mine, theirs = pinned(store, "ada"), pinned(store, "bob")

    with acting(ada):
        assert [one.decision for one in store.pins()] == [mine]
        for change in (lambda: store.unpin(theirs), lambda: store.pin(theirs, FIRST, 3)):
            with pytest.raises(NotAllowed):
                change()
        store.erase(["d1"], 3, nowhere)
        with pytest.raises(NotAllowed):
            store.unpin(theirs)
        store.unpin(mine)
    with acting(bob):
        assert [one.decision for one in store.pins()] == [theirs]
    with acting(Actor("judge", may | {Action.SEE})):
        assert [one.decision for one in store.pins("bob")] == [theirs]
