"""The child that hands orders to Ray's workers, with played workers: who is not let in, what is given up, and what is not wanted."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import pytest

from rag_core.errors import WorkersUnavailable

pytestmark = pytest.mark.ray
FINGERPRINT = {"program": "1", "embedding model": "m@float32"}
GREETING = {"fingerprint": FINGERPRINT}


class Ended(Exception):
    """As Ray says it of an actor."""


class PlayedRay:
    """Enough of Ray: a call's reference is what `get` calls. `greet` and `make` say what workers reply."""

    class exceptions:
        RayError = Ended

        class RayTaskError(Ended):
            cause = ValueError()

    def __init__(self, greet: Callable[[], Any], make: Callable[[int], Any]) -> None:
        self.greet, self.make, self.alive = greet, make, True
        self.killed = self.started = 0
        self.stopped: list[int] = []

    def remote(self, **how: object) -> Callable[[object], Any]:
        ray = self

        class Call:
            def __init__(self, reply: Callable[..., Any]) -> None:
                self.reply = reply

            def remote(self, *arguments: Any) -> Callable[[], Any]:
                return lambda: self.reply(*arguments)

        class Handle:
            def __init__(self) -> None:
                ray.started += 1
                self.greeting = Call(lambda ocr: json.dumps(ray.greet()))
                self.make = Call(lambda number, order, data: ray.make(number))
                self.look = Call(lambda: None)
                self.stop = type("Stop", (), {"remote": staticmethod(ray.stopped.append)})

        return lambda made: type("Class", (), {"remote": staticmethod(lambda model, precision: Handle())})

    def wait(self, refs: list[Any], num_returns: int, timeout: float) -> tuple[list[Any], list[Any]]:
        return refs[:1], refs[1:]

    def get(self, ref: Callable[[], Any]) -> Any:
        return ref()

    def nodes(self) -> list[dict[str, bool]]:
        return [{"Alive": self.alive}]

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 3.0}

    def kill(self, handle: object) -> None:
        self.killed += 1


def made(number: int) -> tuple[str, bytes]:
    return json.dumps({"made": [["a", 1]]}), b"x"


class Played:
    """A driver over the played Ray, turned by hand."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, greet: Callable[[], Any] = lambda: GREETING, make: Callable[[int], Any] = made
    ) -> None:
        monkeypatch.setattr(sys, "path", [*sys.path])  # Ray adds a folder of packages: to other tests they would be installed
        driver = pytest.importorskip("rag_core.adapters.workers.driver", reason="the packages of `make ray` are not installed")
        self.module, self.ray = driver, PlayedRay(greet, make)
        monkeypatch.setattr(driver, "ray", self.ray)
        self.told: SimpleQueue[tuple[dict[str, Any], bytes]] = SimpleQueue()
        self.said: list[dict[str, Any]] = []
        self.driver = driver.Driver(self.told, lambda head, body=b"": self.said.append(head))

    def begin(self, workers: int = 1, job: int = 1, model: str = "m") -> None:
        said = {"job": job, "model": model, "precision": "float32", "ocr": False, "workers": workers, "fingerprint": FINGERPRINT}
        head = {"do": "begin", **said}
        self.told.put((head, b""))

    def order(self, number: int) -> None:
        self.told.put(({"do": "make", "number": number, "row": {}, "settings": {}}, b"data"))

    def turn(self, times: int = 1) -> None:
        for _ in range(times):
            self.driver._listen()
            self.driver._hand_out()
            self.driver._look()


def test_given_workers_when_they_are_ready_then_orders_are_made_in_turn_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch)
    played.begin(workers=0)  # as many as the cluster has cores
    played.order(1)
    played.order(2)
    played.turn(8)

    assert played.ray.started == 3
    assert played.said == [{"ready": 3, "job": 1}, {"made": [["a", 1]], "number": 1}, {"made": [["a", 1]], "number": 2}]


def test_given_a_worker_that_differs_or_has_no_model_then_nothing_is_handed_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for greeting, problem in (
        ({"fingerprint": {**FINGERPRINT, "program": "2"}}, "its program is '2', here it is '1'"),
        ({"problem": "The model is not there.", "remedy": "Install it."}, "The model is not there"),
    ):
        played = Played(monkeypatch, greet=lambda greeting=greeting: greeting)
        played.begin()
        played.order(1)
        with pytest.raises(WorkersUnavailable, match=problem) as caught:
            played.turn()
        assert caught.value.remedy
        assert played.said == []


def test_given_a_cluster_that_lets_anybody_in_then_it_is_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch)
    asked: list[dict[str, str]] = []

    def run(command: list[str], env: dict[str, str], **how: object) -> object:
        asked.append(env)
        return type("Run", (), {"returncode": outcome})

    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setattr(played.module.subprocess, "run", run)
    outcome = 1
    played.module._require_closed("head:6379")
    outcome = 0
    with pytest.raises(WorkersUnavailable, match="lets anybody in") as caught:
        played.module._require_closed("head:6379")

    assert "RAY_AUTH_MODE=token" in caught.value.remedy
    assert {(env["RAY_AUTH_MODE"], "RAY_AUTH_TOKEN" in env) for env in asked} == {("disabled", False)}


def test_given_an_address_then_token_and_closed_door_are_looked_at_before_it_is_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch)
    done: list[tuple[str, object]] = []
    monkeypatch.setattr(played.module, "GcsClient", lambda address: done.append(("token", address)))
    monkeypatch.setattr(played.module, "_require_closed", lambda address: done.append(("closed", address)))
    monkeypatch.setattr(played.ray, "init", lambda **how: done.append(("init", how)), raising=False)
    head = {"address": "head:6379", "workers": 2, "folder": "mine"}
    quiet = {"log_to_driver": False, "configure_logging": False}

    played.module._connect(head)
    assert done == [("token", "head:6379"), ("closed", "head:6379"), ("init", {"address": "head:6379", **quiet})]
    done.clear()
    played.module._connect({**head, "address": ""})
    own = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": played.module.OBJECT_BYTES, "_temp_dir": "mine"}
    assert done == [("init", {**own, **quiet})]


def test_given_a_file_that_ends_each_worker_then_it_is_tried_three_times_and_given_up_and_the_others_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries: list[int] = []

    def make(number: int) -> tuple[str, bytes]:
        tries.append(number)
        if number == 1:
            raise Ended("it died")
        return made(number)

    played = Played(monkeypatch, make=make)
    played.begin()
    played.order(1)
    played.order(2)
    played.turn(12)

    assert (tries, played.ray.started) == ([1, 1, 1, 2], 4)
    assert [said["number"] for said in played.said[1:]] == [1, 2]
    assert "3 workers ended" in played.said[1]["failed"][1]
    assert "made" in played.said[2]


def test_given_a_fault_in_a_worker_then_its_file_alone_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(number: int) -> tuple[str, bytes]:
        if number == 1:
            raise PlayedRay.exceptions.RayTaskError
        return made(number)

    played = Played(monkeypatch, make=make)
    played.begin()
    played.order(1)
    played.order(2)
    played.turn(6)

    assert "ValueError" in played.said[1]["failed"][1]
    assert "made" in played.said[2]


def test_given_no_machine_that_answers_or_a_worker_that_never_came_up_then_the_workers_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(*_: object) -> Any:
        raise Ended("ModuleNotFoundError: rag_core")

    played = Played(monkeypatch, make=ends)
    played.begin()
    played.order(1)
    played.turn()
    played.ray.alive = False
    with pytest.raises(WorkersUnavailable, match="No machine of the Ray cluster answers"):
        played.turn(2)

    played = Played(monkeypatch, greet=ends)
    played.begin()
    with pytest.raises(WorkersUnavailable, match=r"could not be started .*rag_core"):
        played.turn()


def test_given_a_stop_then_what_waits_is_dropped_and_what_is_being_made_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch)
    played.begin()
    played.turn()
    played.order(1)
    played.order(2)
    played.driver._listen()
    played.driver._hand_out()
    played.told.put(({"do": "stop"}, b""))
    played.begin(job=2)
    played.order(3)
    played.turn(4)

    assert played.ray.stopped == [1]
    assert played.said == [{"ready": 1, "job": 1}, {"ready": 1, "job": 2}, {"made": [["a", 1]], "number": 3}]
    assert (played.ray.started, played.ray.killed) == (1, 0)  # the model stays loaded


def test_given_a_worker_that_does_not_stop_then_it_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch)
    played.begin()
    played.turn()
    played.order(1)
    played.driver._listen()
    played.driver._hand_out()
    played.told.put(({"do": "stop"}, b""))
    played.driver._listen()
    monkeypatch.setattr(played.module, "STOP_SECONDS", -1.0)
    monkeypatch.setattr(played.ray, "wait", lambda refs, num_returns, timeout: ([], refs))
    played.turn()

    assert played.ray.killed == 1


def test_given_another_model_then_other_workers_take_the_place_of_those_that_loaded_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch)
    played.begin()
    played.turn()
    played.begin(job=2, model="other")
    played.turn()

    assert (played.ray.started, played.ray.killed) == (2, 1)
    assert [said["job"] for said in played.said] == [1, 2]
