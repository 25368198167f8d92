"""Answers that are kept: for the very same prompt only, whole ones only, for a while, and not beyond the documents they
are about.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from model_kit import SOON, Colour, answer, endpoint, prompt
from model_server import ModelServer
from pydantic import BaseModel

from rag_core import wiring
from rag_core.adapters.llm import chain as model_cache
from rag_core.adapters.llm.chain import FILE, KEEP_SECONDS, QUIET_SECONDS, CachedModel, ModelCache
from rag_core.domain.llm_trace import Completion, Limits, Prompt
from rag_core.errors import InvalidSetting, LibraryError, ModelUnavailable
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings
from rag_core.settings.endpoints import Endpoint

PLACE = Endpoint("http://127.0.0.1:1/v1", "key", "small")


class Flavour(BaseModel):
    name: str


@dataclass
class Clock:
    now: float = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Scripted:
    """A model that says the same again and again."""

    said: Completion = field(default_factory=answer)
    asked: int = 0
    name: str = "small"
    endpoints: tuple[str, ...] = ("127.0.0.1:1",)

    def complete(self, prompt: Prompt, limits: Limits) -> Completion:
        self.asked += 1
        return self.said


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library" / "default" / FILE


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(path: Path, clock: Clock) -> ModelCache:
    return ModelCache(path, clock)


def cached(cache: ModelCache, inner: Scripted, place: Endpoint = PLACE, structured: str = "auto") -> CachedModel:
    return CachedModel(inner, cache, place, structured)


def files(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir())


def test_given_the_very_same_prompt_then_it_is_not_asked_twice_and_the_answer_says_that_it_is_cached(
    cache: ModelCache, path: Path
) -> None:
    inner = Scripted(answer("bl\u00fc", cached=False))

    assert cached(cache, inner).complete(prompt(), SOON) == answer("bl\u00fc")
    again = cached(ModelCache(path, cache._clock), inner).complete(prompt(), SOON)
    assert again == replace(answer("bl\u00fc"), ms=0.0, cached=True)
    assert inner.asked == 1
    assert (cached(cache, inner).name, cached(cache, inner).endpoints) == ("small", ("127.0.0.1:1",))


@pytest.mark.parametrize(
    "other",
    [
        prompt("A color?"),
        prompt(temperature=0.1),
        prompt(max_tokens=601),
        prompt(schema=Flavour),
        replace(prompt(), system="Rule."),
        replace(prompt(), name="taste"),
        replace(prompt(), version=2),
    ],
    ids=["user", "temperature", "max_tokens", "schema", "system", "name", "version"],
)
def test_given_a_prompt_that_differs_in_anything_then_it_is_asked(cache: ModelCache, other: Prompt) -> None:
    inner = Scripted()
    model = cached(cache, inner)
    model.complete(prompt(), SOON)
    model.complete(other, SOON)

    assert inner.asked == 2


def test_given_another_server_model_or_form_then_it_is_asked_and_another_key_changes_nothing(cache: ModelCache) -> None:
    inner = Scripted()
    cached(cache, inner).complete(prompt(), SOON)

    cached(cache, inner, replace(PLACE, key="other")).complete(prompt(), SOON)
    assert inner.asked == 1
    for place in (replace(PLACE, base_url="http://127.0.0.1:2/v1"), replace(PLACE, model="large")):
        cached(cache, inner, place).complete(prompt(), SOON)
    cached(cache, inner, structured="never").complete(prompt(), SOON)
    assert inner.asked == 4


@pytest.mark.parametrize("said", [answer("half an ans", complete=False), answer(""), answer(" \n")])
def test_given_an_answer_that_is_not_whole_then_it_is_not_kept(cache: ModelCache, said: Completion) -> None:
    inner = Scripted(said)
    for _ in range(2):
        assert cached(cache, inner).complete(prompt(), SOON) == said

    assert inner.asked == 2


def test_given_a_question_that_is_asked_only_of_the_cache_then_nothing_of_the_key_stands_in_the_file(
    cache: ModelCache, path: Path
) -> None:
    cached(cache, Scripted(), replace(PLACE, key="sk-very-secret")).complete(prompt("WHAT-WAS-ASKED"), SOON)

    assert b"sk-very-secret" not in files(path)
    assert b"WHAT-WAS-ASKED" not in files(path)
    assert b"blue" in files(path)


def test_given_a_cache_then_only_its_owner_can_read_it(cache: ModelCache, path: Path) -> None:
    assert not path.exists()
    before = os.umask(0)
    try:
        cached(cache, Scripted()).complete(prompt(), SOON)
    finally:
        os.umask(before)

    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}


def test_given_an_old_answer_then_it_is_asked_again_and_the_old_one_goes(
    cache: ModelCache, clock: Clock, path: Path
) -> None:
    inner = Scripted(answer("YOUNG"))
    cached(cache, inner).complete(prompt(), SOON)
    clock.now += KEEP_SECONDS
    assert cached(cache, inner).complete(prompt(), SOON).cached
    clock.now += 1
    inner.said = answer("OLDER")
    assert cached(cache, inner).complete(prompt(), SOON).text == "OLDER"
    assert inner.asked == 2

    clock.now += KEEP_SECONDS + 1
    cached(cache, inner).complete(prompt("another"), SOON)
    assert _count(path) == 1


def test_given_more_answers_than_are_kept_then_the_oldest_go(
    cache: ModelCache, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_cache, "MAX_COUNT", 3)
    inner = Scripted()
    for number in range(10):
        cached(cache, inner).complete(prompt(str(number)), SOON)

    assert _count(path) == 3
    assert [cached(cache, inner).complete(prompt(str(number)), SOON).cached for number in (9, 8, 7, 6)] == [
        True,
        True,
        True,
        False,
    ]


def test_given_a_cache_that_is_cleared_then_its_answers_are_on_the_disk_no_more(
    cache: ModelCache, path: Path, clock: Clock
) -> None:
    inner = Scripted(answer("THE-SECRET-WORDS " * 500))
    for number in range(5):
        cached(cache, inner).complete(prompt(str(number)), SOON)
    assert b"THE-SECRET-WORDS" in files(path)

    cache.clear()
    assert b"THE-SECRET-WORDS" not in files(path)
    clock.now += QUIET_SECONDS + 1
    assert not cached(cache, inner).complete(prompt("0"), SOON).cached
    assert cached(cache, inner).complete(prompt("0"), SOON).cached


def test_given_answers_on_their_way_when_a_document_is_deleted_then_they_are_not_kept(
    cache: ModelCache, path: Path, clock: Clock
) -> None:
    """Neither one that was asked for before, nor one of a question that still saw the document."""
    cached(cache, Scripted()).complete(prompt("any"), SOON)

    class Deleting(Scripted):
        def complete(self, prompt: Prompt, limits: Limits) -> Completion:
            ModelCache(path, clock).clear()
            clock.now += QUIET_SECONDS + 1
            return super().complete(prompt, limits)

    cached(cache, Deleting()).complete(prompt(), SOON)
    assert _count(path) == 0
    cache.clear()
    clock.now += QUIET_SECONDS - 1
    cached(cache, Scripted()).complete(prompt(), SOON)
    assert _count(path) == 0


def test_given_a_document_that_is_deleted_then_the_answers_of_its_collection_go_and_others_stay(tmp_path: Path) -> None:
    with ModelServer({"name": "blue"}) as server:
        environment = {"OPENAI_BASE_URL": server.base_url, "RAG_MODEL": "small"}
        models = [
            wiring.language_model(Settings(), tmp_path, collection, environment) for collection in ("default", "other")
        ]
        library = wiring.open_library(tmp_path, "default", wiring.embedder("multilingual-e5-small", "auto"))
        library.add([Source("notice.txt", b"The notice period is thirty days. " * 5, "text")], Settings())
        for model in models:
            assert model is not None
            model.complete(prompt(), SOON)
        library.delete(library.snapshot.documents[0].id)

        assert [_count(tmp_path / collection / FILE) for collection in ("default", "other")] == [0, 1]


def test_given_no_cache_yet_when_it_is_cleared_then_none_is_made(cache: ModelCache, path: Path) -> None:
    cache.clear()

    assert not path.parent.exists()


@pytest.mark.parametrize("damage", [b"no database at all" * 500, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_given_a_damaged_cache_then_the_model_is_asked_and_a_new_cache_begins(
    path: Path, clock: Clock, damage: bytes
) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(damage)
    inner, cache = Scripted(), ModelCache(path, clock)

    assert cached(cache, inner).complete(prompt(), SOON) == answer()
    assert [cached(cache, inner).complete(prompt(), SOON).cached for _ in range(2)] == [False, True]


@pytest.mark.parametrize("damage", [b"no database at all" * 500, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_given_a_damaged_cache_when_it_is_cleared_then_it_is_gone(path: Path, clock: Clock, damage: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(damage)

    ModelCache(path, clock).clear()
    assert not path.exists()


def test_given_a_cache_that_cannot_be_used_then_the_model_is_asked_and_only_clearing_it_is_an_error(
    cache: ModelCache, path: Path
) -> None:
    path.mkdir(parents=True)
    inner = Scripted()

    assert cached(cache, inner).complete(prompt(), SOON) == answer()
    with pytest.raises(LibraryError, match="could not be deleted") as caught:
        cache.clear()
    assert FILE in caught.value.remedy


def test_given_a_cache_of_a_newer_version_then_the_model_is_asked_and_the_cache_stays(path: Path, clock: Clock) -> None:
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    inner = Scripted()

    for _ in range(2):
        assert not cached(ModelCache(path, clock), inner).complete(prompt(), SOON).cached
    assert path.exists()


def test_given_a_model_that_fails_then_nothing_is_kept_and_the_error_is_the_models(
    cache: ModelCache, path: Path
) -> None:
    class Down(Scripted):
        def complete(self, prompt: Prompt, limits: Limits) -> Completion:
            raise ModelUnavailable("Down.", remedy="Start it.")

    with pytest.raises(ModelUnavailable, match="Down"):
        cached(cache, Down()).complete(prompt(), SOON)
    assert _count(path) == 0


def test_given_many_threads_and_two_stores_then_none_disturbs_another(
    cache: ModelCache, path: Path, clock: Clock
) -> None:
    models = [
        cached(ModelCache(path, clock) if number % 2 else cache, Scripted(answer(str(number)))) for number in range(8)
    ]

    def ask(number: int) -> None:
        for round in range(5):
            said = models[number].complete(prompt(f"{number} {round}"), SOON)
            assert said.text == str(number)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _count(path) == 40


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer({"name": "blue"}) as server:
        yield server


def test_given_the_settings_then_the_cache_is_used_or_not(server: ModelServer, tmp_path: Path) -> None:
    environment = {"OPENAI_BASE_URL": server.base_url, "RAG_MODEL": "small"}

    def ask(**values: bool) -> bool:
        model = wiring.language_model(Settings(**values), tmp_path, "default", environment)
        assert model is not None
        return model.complete(prompt(), SOON).cached

    assert [ask(), ask(), ask(model_cache=False), ask()] == [False, True, False, True]
    assert server.calls == 2


def test_given_the_settings_then_they_name_the_first_model_and_the_environment_the_second(server: ModelServer) -> None:
    second = {"RAG_FALLBACK_BASE_URL": "http://127.0.0.1:1/v1"}
    environment = {"OPENAI_BASE_URL": server.base_url, "RAG_MODEL": "small"}

    def model(values: dict[str, str], environment: dict[str, str]) -> tuple[str, tuple[str, ...]]:
        found = wiring.language_model(Settings(**values), environment=environment)
        assert found is not None
        return found.name, found.endpoints

    assert wiring.language_model(Settings(), environment={}) is None
    assert model({}, environment) == ("small", (f"127.0.0.1:{server.port}",))
    assert model({"model": "large"}, environment | second) == ("large", (f"127.0.0.1:{server.port}", "127.0.0.1:1"))
    with pytest.raises(InvalidSetting, match="No language model is named"):
        wiring.language_model(Settings(), environment={"OPENAI_BASE_URL": server.base_url})
    same = wiring.endpoint_model(endpoint(server), "auto")
    assert same is wiring.endpoint_model(endpoint(server), "auto")
    assert Colour.model_validate_json(same.complete(prompt(), SOON).text).name == "blue"


def _count(path: Path) -> int:
    db = sqlite3.connect(path)
    try:
        return int(db.execute("SELECT count(*) FROM answers").fetchone()[0])
    finally:
        db.close()
