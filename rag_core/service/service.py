"""The service over one library folder: who calls, how often, how much at once, and which collections are theirs."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rag_core.domain.acts import Action
from rag_core.domain.decision import Decision
from rag_core.domain.given import ReadyPassage
from rag_core.domain.llm_trace import OnStage
from rag_core.domain.ports import Cancel
from rag_core.errors import InvalidSetting, RagError
from rag_core.grounding.judge import judge_claims
from rag_core.library.stored.named import collections, is_name
from rag_core.over import ask_over, decide_over
from rag_core.service.collection import Collection, chosen
from rag_core.service.jobs import Jobs
from rag_core.service.limits import PER_MINUTE, RETRY_SECONDS, Lane, Places, Rate, stopping
from rag_core.service.people import People, access_file
from rag_core.service.principal import LOCAL, Loading, Overloaded, Principal, Scope, Unauthenticated, missing
from rag_core.service.questions import COSTS, Asking
from rag_core.service.tokens import PREFIX, Tokens
from rag_core.settings import Settings
from rag_core.settings.configuration import question_places
from rag_core.settings.login import Login
from rag_core.settings.request_context import note_collection
from rag_core.wiring import (
    clear_dropped,
    embedder_apart,
    entailment_model,
    make_collection,
    noting,
    ready_tools,
    signing_keys,
)
from rag_core.work import loading
from rag_core.work.handing_in import take_up
from rag_core.work.runner import Runner
from rag_core.work.syncing import Follower, follow_all

DEFAULT = "default"  # the collection that is there from the beginning
LOOKS, LOOKS_WAITING = 4, 64  # short calls that read lists and records
FILES, FILES_WAITING = 2, 16  # calls that take files, or wait for a library's writer
UPLOADS, UPLOADS_EACH = 6, 2  # requests with documents that are read at once: each may bring as much as the page takes
STREAMS, STREAMS_EACH = 50, 10  # that are open at once
PEOPLE_EACH = 20  # whose programs may come from one address; checking a signature takes a tenth of a millisecond
_log = logging.getLogger(__name__)
STOP_SECONDS = 10.0  # that a stopping service waits for jobs: a batch of passages takes less


class Service:
    """Everything that programs may do, guarded. Safe to share between threads.

    Its methods raise what `principal.Refused` has under it: nobody knows the caller, there is no such thing for them,
    they lack a scope, called too often, or the service is full.

    Args:
        folder: of the library.
        base: settings that hold where a caller says nothing.
        runner: of jobs, shared with the page where there is one.
        per_minute: calls that each caller may make.
        local: whether callers of this machine need no token as long as none was ever made.
        login: whose tokens let people in too; None where nobody signs in.
    """

    def __init__(
        self,
        folder: Path,
        base: Settings,
        runner: Runner,
        per_minute: int = PER_MINUTE,
        *,
        local: bool = True,
        login: Login | None = None,
    ) -> None:
        self.folder, self.base, self._runner = folder, base, runner
        self.tokens, self.jobs = Tokens(folder), Jobs(runner)
        people = self.tokens.people
        self.rate = Rate(per_minute, people=people)
        self._checks = Rate(per_minute * PEOPLE_EACH)
        self.questions = Lane("question", *question_places(os.environ), people)
        self.looks = Lane("look", LOOKS, LOOKS_WAITING, people)
        self.files = Lane("file", FILES, FILES_WAITING, people)
        reading = "requests with documents that are being read"
        self.uploads = Places(reading, UPLOADS, UPLOADS_EACH, RETRY_SECONDS, people)
        self.streams = Places("open streams", STREAMS, STREAMS_EACH, RETRY_SECONDS, people)
        self._local, self._stopping = local and login is None, threading.Event()
        self.login, self._people = login, People(access_file(folder))
        self._keys = signing_keys(login) if login else None
        self._following: list[Follower] = []

    def principal(self, token: str | None, *, here: bool) -> Principal:
        """The caller, by the token that came; `here` says that they call from this machine under its own name."""
        # a bearer too, where nobody needs one: OpenAI's clients always send some
        if here and self._local and not self.tokens.all():
            return LOCAL
        if token is not None:
            return self.tokens.principal(token)
        raise Unauthenticated(
            "A token is needed.", remedy="Send Authorization: Bearer …; python -m rag_core token create makes one."
        )

    async def known(self, token: str | None, *, here: bool, address: str) -> Principal:
        """The caller, who may also come with a token of the login's provider: then a person with their roles.

        Raises:
            TooOften: so many tokens came from this address that none of them is checked now.
            ProviderUnavailable: the provider cannot be asked for its keys.
            Overloaded: the file of roles cannot be read.
        """
        if not self.login or not self._keys or token is None or token.startswith(f"{PREFIX}_"):
            return self.principal(token, here=here)
        try:
            self._checks.take(address)
            rules = self._people.rules()
            audiences = {self.login.client_id, self.login.resource, *rules.audiences}
            claims = await self._keys.claims(token, audiences, rules.issuers)
            person = self._people.person(claims, *audiences) if claims else None
        except InvalidSetting as error:  # what stands in the file is nothing for a stranger
            _log.error("%s", error.problem)
            remedy = "Whoever runs the service sees why in its log."
            raise Overloaded("Nobody can be let in now.", remedy=remedy, retry_after=RETRY_SECONDS) from None
        if person is None:
            remedy = f"Get another one from {self.login.provider}."
            raise Unauthenticated("The token is not valid, or no longer.", remedy=remedy)
        return person.principal

    def enter(self, principal: Principal, name: str, *, new: bool = False) -> Collection:
        """A collection of the caller's. `new` says that it may be one that is not there yet."""
        if not is_name(name):
            raise missing("collection")
        if not principal.may_enter(name) or not (new or name in self._names()):
            raise missing("collection", name)
        note_collection(name)
        return Collection(self.folder, self.base, self.jobs, principal.within(name), name)

    def ask_together(
        self,
        principal: Principal,
        names: Sequence[str],
        asking: Asking,
        on_stage: OnStage | None = None,
        cancelled: Cancel | None = None,
        on_measured: Callable[[], None] | None = None,
    ) -> tuple[Decision, str]:
        """The decision over several collections, and no id: whoever may read one need not read the others."""
        for name in names:
            self.enter(principal, name)
        principal.require(Scope.ASK)
        settings = chosen(self.base, asking.preset, asking.values, COSTS)
        with principal.acting():
            decision = ask_over(
                self.folder,
                names,
                asking.question,
                settings,
                asking.documents,
                asking.filters,
                on_stage=on_stage,
                cancelled=cancelled,
                on_measured=on_measured,
                tools=ready_tools(settings, apart=True),
            )
        return decision, ""

    def create(self, principal: Principal, name: str) -> Collection:
        entered = self.enter(principal, name, new=True)
        principal.require(Scope.INDEX)
        with principal.acting():
            make_collection(self.folder, name)
        return entered

    def collections(self, principal: Principal) -> tuple[str, ...]:
        return tuple(name for name in self._names() if principal.may_enter(name))

    def decide(
        self,
        principal: Principal,
        question: str,
        passages: Sequence[ReadyPassage],
        preset: str | None,
        values: Mapping[str, Any],
        cancelled: Cancel | None = None,
    ) -> Decision:
        """The decision over passages that the caller retrieved; see `decide_over`."""
        principal.require(Scope.ASK)
        settings = chosen(self.base, preset, values, COSTS)
        self._note(principal, Action.DECIDE)
        return decide_over(question, passages, settings, cancelled=cancelled, tools=ready_tools(settings, apart=True))

    def judge(self, principal: Principal, context: str, answer: str, language: str) -> dict[str, Any]:
        """Whether a context supports an answer; see `judge_claims`."""
        principal.require(Scope.ASK)
        self._note(principal, Action.JUDGE)
        s, row = self.base, {"id": "", "context": context, "answer": answer, "lang": language}
        embedder = embedder_apart(s.embedding_model, s.embedding_precision)
        return judge_claims([row], s, embedder, entailment_model(s, apart=True))[0]

    def watched(self, principal: Principal) -> tuple[str, ...]:
        """The collections whose figures the caller may read."""
        principal.require(Scope.WATCH)
        return self.collections(principal)

    def problem(self) -> RagError | None:
        """Why the service is not ready to answer; None where it is."""
        if self._stopping.is_set():
            return stopping()
        opening = loading.opening(self.folder, DEFAULT, self.base)
        if not opening.wait():
            return Loading(
                "The models are being loaded.", remedy="Ask again in some seconds.", retry_after=RETRY_SECONDS
            )
        return opening.error

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def stop(self) -> None:
        """Say that it is to stop; `close` then does. May be called by a handler of a signal."""
        self._stopping.set()

    def take_up(self) -> None:
        """Finish deleting, start jobs for the files that the last end of the service cut off, and follow folders."""
        clear_dropped(self.folder)
        take_up(self.folder, collections(self.folder), self.base, self._runner)
        try:
            folders = self._people.folders()
        except RagError as error:  # whoever signs in is told
            _log.warning("no folder is followed: %s", error.kind)
        else:
            self._following = follow_all(self.folder, folders, self.base, self._runner)

    def close(self) -> None:
        """Take nothing new, and wait for what runs, `STOP_SECONDS` at most. What a job has not done is on its list."""
        self._stopping.set()
        for follower in self._following:
            follower.stop.set()
        self.questions.close()
        self.looks.close()
        self.files.close()
        self.jobs.stop(STOP_SECONDS, time.monotonic)

    def _note(self, principal: Principal, action: Action) -> None:
        with principal.acting():
            noting(self.folder, "")(action, ())

    def _names(self) -> tuple[str, ...]:
        return tuple(sorted({*collections(self.folder), DEFAULT}))
