"""Several language models in an order, and the answers of each, so that the very same prompt is not asked twice.

The first model that answers is taken, with the reason why the earlier ones did not. Answers stand beside a collection's
documents in one SQLite file, readable by its owner only, since they hold words of the documents: it is emptied when a
document is deleted. A cache that cannot be used is no problem of a question: the model is asked instead.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from rag_core.domain.llm_trace import Completion, Limits, Prompt
from rag_core.domain.ports import LanguageModel
from rag_core.errors import LibraryError, ModelUnavailable, RecordsDamaged
from rag_core.library.disk.database import COMPANIONS, Database
from rag_core.library.disk.room import is_full
from rag_core.settings.endpoints import Endpoint

FILE = "model_cache.sqlite"
MAX_COUNT = 5000  # answers, the newest ones
KEEP_SECONDS = 30 * 86400.0  # 30 days, as rejected drafts are kept
QUIET_SECONDS = 60.0  # after the cache was emptied: a question may still see the document that is being deleted
_NEVER = -1  # the epoch of an answer that must not be kept
_COLUMNS = "text, structured, model, endpoint, tokens_in, tokens_out"

# `epoch` changes whenever the cache is emptied: what was asked before is not stored after.
_VERSION = 3  # the version of the tables below
_SCHEMA = (
    f"CREATE TABLE answers (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, at REAL NOT NULL, {_COLUMNS})",
    "CREATE TABLE epoch (number INTEGER NOT NULL, begun REAL NOT NULL)",
    "INSERT INTO epoch (number, begun) VALUES (abs(random()), 0)",
)


class ModelCache:
    """The answers in the file at `path`. Safe between threads and processes; empty until a model is to be asked."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._file, self._clock = Database(path, _SCHEMA, _VERSION), clock

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        self._file.close()

    def get(self, key: str) -> tuple[Completion | None, int]:
        """The answer kept under a key, None where there is none; and the epoch, to be handed to `put`."""
        try:
            self._file.begin()
            with self._file.reading() as db:
                epoch, begun = db.execute("SELECT number, begun FROM epoch").fetchone()
                row = db.execute(
                    f"SELECT {_COLUMNS} FROM answers WHERE key = ? AND at >= ?", (key, self._oldest())
                ).fetchone()
        except (LibraryError, OSError) as error:
            self._give_up(error)
            return None, _NEVER
        return (None if row is None else _completion(*row)), epoch if self._clock() - begun > QUIET_SECONDS else _NEVER

    def put(self, key: str, answer: Completion, epoch: int) -> None:
        """Keep an answer, unless the cache was emptied since `get` told the epoch."""
        row = (answer.text, answer.structured, answer.model, answer.endpoint, answer.tokens_in, answer.tokens_out)
        try:
            if epoch == _NEVER or not self._file.path.exists():
                return
            with self._file.writing() as db:
                db.execute(
                    f"INSERT OR REPLACE INTO answers (key, at, {_COLUMNS}) SELECT ?, ?, ?, ?, ?, ?, ?, ? FROM epoch "
                    f"WHERE number = ?",
                    (key, self._clock(), *row, epoch),
                )
                db.execute(
                    "DELETE FROM answers WHERE at < ? OR id <= (SELECT max(id) FROM answers) - ?",
                    (self._oldest(), MAX_COUNT),
                )
        except (LibraryError, OSError) as error:
            self._give_up(error)

    def clear(self) -> None:
        """Delete all answers, from the disk too, and those that are on their way.

        Raises:
            LibraryError: the file can be neither emptied nor deleted.
        """
        if not self._file.path.exists():
            return
        try:
            with self._file.writing() as db:
                db.execute("DELETE FROM answers")
                db.execute("UPDATE epoch SET number = abs(random()), begun = ?", (self._clock(),))
            self._file.empty_log()
        except RecordsDamaged:
            self._delete()
        except LibraryError as error:
            if is_full(error):
                with suppress(OSError):
                    return self._delete()
            raise LibraryError(
                "Answers of a language model that may hold words of deleted documents could not be deleted.",
                remedy=f"Delete {FILE} in the collection's folder; it is only a cache.",
            ) from error

    def _oldest(self) -> float:
        return self._clock() - KEEP_SECONDS

    def _give_up(self, error: Exception) -> None:
        if isinstance(error, RecordsDamaged):
            with suppress(OSError):
                self._delete()

    def _delete(self) -> None:
        self._file.close()
        for companion in COMPANIONS:
            Path(f"{self._file.path}{companion}").unlink(missing_ok=True)


class CachedModel:
    """A `LanguageModel` before another, which is asked only what the cache lacks of this endpoint and way of asking."""

    def __init__(self, inner: LanguageModel, cache: ModelCache, endpoint: Endpoint, structured: str) -> None:
        self._inner, self._cache, self._asked = inner, cache, (endpoint.base_url, endpoint.model, structured)

    @property
    def name(self) -> str:
        """Of the model behind it."""
        return self._inner.name

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Of the model behind it."""
        return self._inner.endpoints

    def complete(self, prompt: Prompt, limits: Limits) -> Completion:
        """The kept answer, marked as cached, or that of the model, which is kept if it is whole; raises as that."""
        key = self._key(prompt)
        kept, epoch = self._cache.get(key)
        if kept is not None:
            return kept
        answer = self._inner.complete(prompt, limits)
        if answer.complete and answer.text.strip():
            self._cache.put(key, answer, epoch)
        return answer

    def _key(self, prompt: Prompt) -> str:
        """A hash of all that the answer depends on; the texts once more, since the prompt's own hash is short."""
        body = json.dumps([*self._asked, prompt.hash, prompt.system, prompt.user])
        return hashlib.sha256(body.encode()).hexdigest()


def _completion(text: str, structured: int, model: str, endpoint: str, tokens_in: int, tokens_out: int) -> Completion:
    return Completion(text, bool(structured), model, endpoint, tokens_in, tokens_out, cached=True)


Structured = Literal["auto", "always", "never"]  # whether answers are asked for by a schema
REST_SECONDS = 20.0  # a model that failed is not asked again for so long, about one question; chosen
SHARE = 0.6  # a model with another one behind it gets so much of the time that is left


class ModelChain:
    """A `LanguageModel` of at least one in order. Safe to share between threads.

    One that did not answer is passed over for `REST_SECONDS`, as long as another one can be asked, so that not every
    call of a question waits for it again. The last one may take all of the time that is left, one before it `SHARE` of
    it.
    """

    def __init__(self, models: Sequence[LanguageModel], clock: Callable[[], float] = time.monotonic) -> None:
        self._models, self._clock = tuple(models), clock
        self._failed: dict[int, tuple[float, ModelUnavailable]] = {}  # by place: when, and why

    @property
    def name(self) -> str:
        """Of the first model."""
        return self._models[0].name

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Host and port of each server, in the order in which they are asked."""
        return tuple(endpoint for model in self._models for endpoint in model.endpoints)

    def complete(self, prompt: Prompt, limits: Limits) -> Completion:
        """The first answer; its `tried` says for each model before it why there was none.

        Raises:
            ModelUnavailable: no model answered; names each with its reason.
            Cancelled: the user stopped it.
        """
        deadline = self._clock() + limits.seconds
        awake = [place for place in range(len(self._models)) if not self._rests(place)] or list(
            range(len(self._models))
        )
        for place in awake:
            left = deadline - self._clock()
            try:
                answer = self._models[place].complete(
                    prompt, replace(limits, seconds=left if place == awake[-1] else left * SHARE)
                )
                return replace(answer, tried=tuple(error.problem for error in self._reasons(place)))
            except ModelUnavailable as error:
                self._failed[place] = (self._clock(), error)
        reasons = self._reasons(len(self._models))
        raise ModelUnavailable(
            " ".join(error.problem for error in reasons),
            remedy=" ".join(dict.fromkeys(error.remedy for error in reasons)),
        )

    def _rests(self, place: int) -> bool:
        failed = self._failed.get(place)
        return failed is not None and self._clock() - failed[0] < REST_SECONDS

    def _reasons(self, before: int) -> list[ModelUnavailable]:
        """Why those before this place did not answer: each was asked just now, or rests."""
        return [self._failed[place][1] for place in range(before) if place in self._failed]


@lru_cache(maxsize=8)
def model_chain(places: tuple[Endpoint, ...], structured: Structured, cache: ModelCache | None) -> ModelChain:
    """The models of these endpoints in order, each behind the cache if there is one; one chain in the process."""
    models = [endpoint_model(place, structured) for place in places]
    if cache is None:
        return ModelChain(models)
    return ModelChain(
        [CachedModel(model, cache, place, structured) for model, place in zip(models, places, strict=True)]
    )


@lru_cache(maxsize=8)
def endpoint_model(endpoint: Endpoint, structured: Structured) -> LanguageModel:
    """The model of one endpoint, one in the process, so that its connections are shared."""
    from rag_core.adapters.llm.openai_server import OpenAIModel  # takes a second to import, and many do without

    return OpenAIModel(endpoint, structured)
