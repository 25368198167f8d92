"""Visitors of a shared demo: nobody signs in, each has a collection of their own, and it is deleted when the visit
ends.

A visit is known by a token with 256 random bits, which this server made: a browser keeps it in a cookie, a program
sends it as `X-Browser-ID`. Visits are remembered in memory only. So a restart ends all of them, and what is left of
them is deleted at the next start.
"""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rag_core.domain.acts import Action, Actor, acting
from rag_core.errors import RagError
from rag_core.library.stored.named import collections, is_begun
from rag_core.service.limits import Rate
from rag_core.service.people import ACTS, Right
from rag_core.service.principal import VISITOR, Overloaded, Principal, Scope

MINUTES = 60  # after the last sign of a visitor; an open page gives one a minute
MAX_HOURS = 24.0  # a visit ends then at the latest, whatever is open
MAX_VISITS = 10_000  # that are remembered; those without documents make room for others
MAX_HOLDERS = 50  # visitors who have documents at once
ADDRESS_SHARE = 0.5  # as many of them may come from one address, so that nobody alone keeps all others out
# visits that begin from one address: a class that opens the page together, then a few
NEW_PER_MINUTE, NEW_AT_ONCE = 6, 60
TOKEN_BYTES = 32  # 256 bits cannot be guessed
MAX_TOKEN_CHARS = 100  # that are read of what comes as a token: ours have 43
SWEEP_SECONDS = 20.0  # between two looks for visits that are over
RETRY_SECONDS = 60  # where there is no room for another visitor
SAMPLES = "samples"  # the collection of the sample documents, which all visitors may ask
IPV6_BITS = 64  # the part of an address that is the network that a customer gets at least (RFC 6177)
PREFIX = "visit-"
_NAME = re.compile(PREFIX + "[0-9a-f]{32}")
_SHARED = frozenset({Action.ASK, Action.EXPORT})  # open to all visitors in the samples, where nothing of them is kept
_OWN = frozenset[Action]().union(*ACTS.values())
_ADDING = ACTS[Right.UPLOAD]
Drop = Callable[[str], object]  # deletes a collection; raises a RagError where it cannot
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Visit:
    """A visit: the collection that is the visitor's own, and the one with sample documents that all may ask."""

    collection: str
    shared: str
    may_add: bool = True

    @property
    def actor(self) -> Actor:
        own = _OWN if self.may_add else _OWN - _ADDING
        return Actor(self._name, frozenset(), {self.collection: own, self.shared: _SHARED}, self.collection)

    @property
    def principal(self) -> Principal:
        scopes = frozenset({Scope.ASK, Scope.LABEL, *([Scope.INDEX] if self.may_add else [])})
        return Principal(self._name, scopes, frozenset({self.collection}), self.actor)

    @property
    def _name(self) -> str:
        return f"{VISITOR}{self.collection.removeprefix(PREFIX)[:8]}"  # tells a few hundred visits of a log apart


@dataclass(slots=True)
class _Seen:
    begun: float
    last: float
    address: str  # where it was begun
    cookie: str  # the name of the one that its token was left in


class Visits:
    """The visits of now, each over after so many `minutes` without a sign. Safe to share between threads.

    At most `most` visitors have documents at once; all may ask the collection `shared`.
    """

    def __init__(
        self,
        folder: Path,
        shared: str,
        minutes: float = MINUTES,
        most: int = MAX_HOLDERS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.minutes = minutes
        self._folder, self._shared, self._most, self._clock = folder, shared, most, clock
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._seen: OrderedDict[str, _Seen] = OrderedDict()  # the one without a sign for longest comes first
        self._ending: set[str] = set()
        self._rate = Rate(NEW_PER_MINUTE, clock, at_once=NEW_AT_ONCE)
        self._drop: Drop | None = None
        self._busy: Callable[[str], bool] = lambda name: False
        self.on_end: list[Callable[[], None]] = []  # called after a collection was deleted

    def begin(self, address: str = "", cookie: str = "") -> tuple[Visit, str]:
        """A new visit of somebody at an IP address, "" where that is not known, and its token, which is told this once.

        `cookie` is the name of the cookie that it is left in, "" for a program's: no other cookie speaks of it
        (`find_browser`).
        """
        address = network_of(address)
        if address:
            self._rate.take(address)
        token = secrets.token_urlsafe(TOKEN_BYTES)
        name, now = _name_of(token), self._clock()
        with self._lock:
            if len(self._seen) >= MAX_VISITS:
                empty = next((one for one in self._seen if not is_begun(self._folder, one)), None)
                if empty is None:
                    raise Overloaded(
                        "There is no room for another visitor.", remedy="Come back later.", retry_after=RETRY_SECONDS
                    )
                del self._seen[empty]
            self._seen[name] = _Seen(now, now, address, cookie)
        return self._visit(name, address), token

    def find(self, token: str) -> Visit | None:
        """The visit of a token, which has given a sign now; None for one that is over, or never was."""
        if len(token) > MAX_TOKEN_CHARS:
            return None
        name = _name_of(token)
        with self._lock:
            seen = self._seen.get(name)
            if seen is None or self._is_over(name, seen):
                return None
            seen.last = self._clock()
            self._seen.move_to_end(name)
        return self._visit(name, seen.address)

    def find_browser(self, cookies: Mapping[str, str], names: Sequence[str]) -> Visit | None:
        """The visit that one of the cookies of these names speaks of, the first name first; as `find`.

        A token counts only in the cookie that it was left in. Else whoever can leave a cookie here under a plain name,
        such as a page of another host of the same domain, could put somebody else into a visit of their own.
        """
        for cookie in names:
            token = cookies.get(cookie, "")
            if not token or len(token) > MAX_TOKEN_CHARS:
                continue
            with self._lock:
                seen = self._seen.get(_name_of(token))
            if seen is not None and seen.cookie == cookie and (visit := self.find(token)) is not None:
                return visit
        return None

    def end(self, visit: Visit) -> None:
        """End a visit now: nobody enters it any more, and its collection is deleted, as soon as that can be done."""
        with self._lock:
            self._seen.pop(visit.collection, None)
            self._ending.add(visit.collection)
        self._delete(visit.collection, visit.actor)

    def near(self, collection: str) -> frozenset[str]:
        """The collections of visits that began from the same address as this one's."""
        with self._lock:
            seen = self._seen.get(collection)
            if seen is None or not seen.address:
                return frozenset({collection})
            return frozenset(name for name, one in self._seen.items() if one.address == seen.address)

    def sweep(self) -> None:
        """End the visits that are over, and delete what is left of any that is not going on."""
        with self._lock:
            for name in [name for name, seen in self._seen.items() if self._is_over(name, seen)]:
                del self._seen[name]
                self._ending.add(name)
            left = {name for name in collections(self._folder) if is_visit(name) and name not in self._seen}
            ending = self._ending = self._ending | left
        for name in sorted(ending):
            self._delete(name, Visit(name, self._shared).actor)

    def clean(self, drop: Drop) -> None:
        self._drop = drop
        self.sweep()

    @contextmanager
    def running(self, drop: Drop, busy: Callable[[str], bool]) -> Iterator[None]:
        """Delete what earlier visits left, and within the block visits that are over, unless `busy`; at its end all."""
        self._busy = busy
        self.clean(drop)
        thread = threading.Thread(target=self._watch, daemon=True, name="visits")
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()
            with self._lock:
                self._seen.clear()
            self.sweep()

    def _watch(self) -> None:
        while not self._stop.wait(SWEEP_SECONDS):
            try:
                self.sweep()
            except Exception:  # the next one tries again: what visitors left must not stay because of one fault
                _log.exception("visits that are over could not be looked for")

    def _is_over(self, name: str, seen: _Seen) -> bool:
        now = self._clock()
        if now - seen.begun >= MAX_HOURS * 3600:
            return True
        return now - seen.last >= self.minutes * 60 and not self._busy(name)

    def _delete(self, name: str, who: Actor) -> None:
        """Delete a collection; the next sweep tries again where that cannot be done."""
        if self._drop is None:
            return
        try:
            with acting(who):
                self._drop(name)
        except RagError as error:
            _log.warning("a visitor's documents could not be deleted yet: %s", error.kind)
            return
        with self._lock:
            self._ending.discard(name)
        for told in self.on_end:
            told()

    def _visit(self, name: str, address: str) -> Visit:
        return Visit(name, self._shared, is_begun(self._folder, name) or self._has_room(address))

    def _has_room(self, address: str) -> bool:
        """Whether one more from this address may have documents."""
        there = [name for name in collections(self._folder) if is_visit(name) and is_begun(self._folder, name)]
        if len(there) >= self._most:
            return False
        with self._lock:
            near = sum(name in self._seen and self._seen[name].address == address for name in there)
        return not address or near < max(1, self._most * ADDRESS_SHARE)


def is_visit(collection: str) -> bool:
    return _NAME.fullmatch(collection) is not None


def _name_of(token: str) -> str:
    """The name of a visit's collection: a part of its token's hash, so that the name tells nobody the token."""
    return PREFIX + hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()[:32]


def network_of(address: str) -> str:
    """The address, or the network that one IPv6 customer has: they choose the rest as they like."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    return str(found.ipv4_mapped or ipaddress.ip_network((found, IPV6_BITS), strict=False))
