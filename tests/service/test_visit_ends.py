"""Visits of a shared demo: who is known, when a visit is over, and that nothing of it is left then."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from rag_core.domain.acts import Action
from rag_core.errors import LibraryBusy
from rag_core.service import visits as module
from rag_core.service.people import ACTS, Right
from rag_core.service.principal import Overloaded, Scope, TooOften
from rag_core.service.visits import MAX_HOURS, MINUTES, Visits, is_visit

MINUTE = 60.0


class Clock:
    """A clock that the test holds, in seconds."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The time."""
    return Clock()


@pytest.fixture
def visits(tmp_path: Path, clock: Clock) -> Visits:
    """The visits of a demo that takes two visitors with documents."""
    return Visits(tmp_path, "samples", most=2, clock=clock)


def begun(folder: Path, collection: str) -> None:
    """Make a collection look as one to which something was added."""
    (folder / collection).mkdir()
    (folder / collection / "collection.sqlite").touch()


def test_given_a_visit_then_it_is_found_by_its_token_alone_which_its_name_does_not_tell(visits: Visits) -> None:
    visit, token = visits.begin()
    found = visits.find(token)

    assert found == visit
    assert is_visit(visit.collection)
    assert token not in visit.collection
    assert visits.find(visit.collection) is None
    assert visits.find(visit.collection.removeprefix(module.PREFIX)) is None

    for text in ("", "x", token[:-1], token + "x", token.upper(), token * 1000, "\ud800", "../samples", "\0"):
        assert visits.find(text) is None, text


def test_given_two_visitors_then_each_may_enter_their_own_collection_and_ask_the_samples(visits):
    """All that any role may is open to them there, and a program of theirs enters it alone."""
    first, second = visits.begin()[0], visits.begin()[0]
    who, caller = first.actor, first.principal

    assert (who.home, who.name != second.actor.name) == (first.collection, True)
    assert {action for right in Right for action in ACTS[right] if not who.is_open(action, who.home)} == set()
    for action in Action:
        assert not any(who.is_open(action, name) for name in (second.collection, "default", ""))
        assert (action in (Action.ASK, Action.EXPORT)) == who.is_open(action, "samples")
    assert [who.may_enter(name) for name in (who.home, second.collection)] == [True, False]
    assert [caller.may_enter(name) for name in (who.home, "samples", "default")] == [True, False, False]
    assert {scope for scope in Scope if caller.may(scope)} == {Scope.ASK, Scope.INDEX, Scope.LABEL}


def test_given_a_sign_now_and_then_then_the_visit_goes_on_and_ends_an_hour_after_the_last_or_after_a_day(visits, clock):
    _, token = visits.begin()
    for _ in range(5):
        clock.now += MINUTES * MINUTE - 1
        assert visits.find(token) is not None

    clock.now += MINUTES * MINUTE

    assert visits.find(token) is None
    assert visits.find(token) is None, "a look is no sign of a visit that is over"

    _, token = visits.begin()
    for _ in range(int(MAX_HOURS * 60) - 1):
        clock.now += MINUTE
        assert visits.find(token) is not None
    clock.now += MINUTE
    assert visits.find(token) is None


def test_given_a_job_that_runs_when_its_visitor_is_away_then_the_visit_goes_on_until_it_is_done(visits, clock):
    visit, token = visits.begin()
    busy, dropped = {visit.collection}, list[str]()
    with visits.running(dropped.append, busy.__contains__):
        begun(visits._folder, visit.collection)
        clock.now += 2 * MINUTES * MINUTE
        visits.sweep()
        assert dropped == []
        busy.clear()
        visits.sweep()

        assert dropped == [visit.collection]
        assert visits.find(token) is None


def test_given_a_visit_whose_collection_cannot_be_deleted_then_nobody_enters_and_it_is_tried_again(visits, tmp_path):
    visit, token = visits.begin()
    tried = list[str]()

    def refuses(name: str) -> None:
        tried.append(name)
        if len(tried) == 1:
            raise LibraryBusy("It is being written.", remedy="Wait.")

    told = list[int]()
    visits.on_end.append(lambda: told.append(1))
    with visits.running(refuses, lambda name: False):
        visits.end(visit)
        assert visits.find(token) is None
        assert told == []
        visits.sweep()
        visits.sweep()

    assert tried == [visit.collection] * 2
    assert told == [1]


def test_given_what_a_killed_process_left_when_started_then_visitors_collections_go_and_no_other(visits, tmp_path):
    old = f"visit-{'0a' * 16}"
    for name in (old, "default", "visit-prague", f"visit-{'0a' * 15}", f"visit-{'0A' * 16}".lower() + "-b"):
        begun(tmp_path, name)
    dropped = list[str]()

    with visits.running(dropped.append, lambda name: False):
        assert dropped == [old]


def test_given_visits_that_go_on_when_the_demo_stops_then_all_their_collections_are_deleted(visits, tmp_path):
    names, dropped = [visits.begin()[0].collection for _ in range(2)], list[str]()
    for name in names:
        begun(tmp_path, name)

    with visits.running(dropped.append, lambda name: False):
        assert dropped == []

    assert sorted(dropped) == sorted(names)


def test_given_no_room_for_more_documents_when_another_comes_then_they_may_ask_and_not_add(visits, tmp_path, clock):
    kept = [visits.begin()[0] for _ in range(2)]
    for visit in kept:
        begun(tmp_path, visit.collection)
    late, token = visits.begin()

    assert not late.may_add
    assert not late.actor.is_open(Action.INDEX, late.collection)
    assert late.actor.is_open(Action.ASK, "samples")
    assert not late.principal.may(Scope.INDEX)
    assert Visits(tmp_path, "samples", most=3, clock=clock).begin()[0].may_add
    visits._drop = lambda name: (tmp_path / name / "collection.sqlite").unlink()
    visits.end(kept[0])
    found = visits.find(token)
    assert found.may_add


def test_given_more_visits_than_are_remembered_then_an_empty_one_makes_room(visits, tmp_path, clock, monkeypatch):
    monkeypatch.setattr(module, "MAX_VISITS", 2)
    mine, token = visits.begin()
    begun(tmp_path, mine.collection)
    _, other = visits.begin()

    newest, third = visits.begin()

    assert visits.find(token) is not None
    assert visits.find(other) is None
    assert visits.find(third) is not None
    begun(tmp_path, newest.collection)
    with pytest.raises(Overloaded):
        visits.begin()


def test_given_an_address_or_network_that_begins_visits_without_end_then_it_waits_and_others_do_not(visits, clock):
    for _ in range(module.NEW_AT_ONCE):
        visits.begin("192.0.2.1")

    with pytest.raises(TooOften):
        visits.begin("192.0.2.1")
    visits.begin("192.0.2.2")
    clock.now += MINUTE / module.NEW_PER_MINUTE
    visits.begin("192.0.2.1")
    with pytest.raises(TooOften):
        visits.begin("::ffff:192.0.2.1")

    for number in range(module.NEW_AT_ONCE):
        visits.begin(f"2001:db8::{number:x}:1")

    with pytest.raises(TooOften):
        visits.begin("2001:db8::ffff:1")
    visits.begin("2001:db8:0:1::1")


def test_given_one_address_with_half_of_all_documents_then_the_rest_is_left_to_others(tmp_path, clock):
    visits = Visits(tmp_path, "samples", most=4, clock=clock)
    for _ in range(2):
        begun(tmp_path, visits.begin("192.0.2.1")[0].collection)

    assert not visits.begin("192.0.2.1")[0].may_add
    assert visits.begin("192.0.2.2")[0].may_add
    assert visits.begin()[0].may_add


def test_given_a_fault_of_ours_in_one_look_when_the_next_comes_then_visits_still_end(visits, monkeypatch, caplog):
    monkeypatch.setattr(module, "SWEEP_SECONDS", 0.001)
    looks, again = list[int](), threading.Event()

    def look() -> None:
        looks.append(1)
        if len(looks) == 2:  # the first is the one at the start
            raise ZeroDivisionError
        if len(looks) > 2:
            again.set()

    monkeypatch.setattr(visits, "sweep", look)

    with visits.running(lambda name: None, lambda name: False):
        assert again.wait(60)

    assert "ZeroDivisionError" in caplog.text
