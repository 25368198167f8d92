"""The people who sign in with the provider, and what each may do: read from a file of the instance, by address or by a
claim of the provider. The file also says which collections follow a folder.

`access.yaml` in the library's folder, or the file that RAG_ACCESS names. It is read anew when it changes. One that
cannot be read lets nobody do anything.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from rag_core.domain.acts import Action, Actor
from rag_core.errors import InvalidSetting
from rag_core.library.stored.named import is_name
from rag_core.service.principal import Principal, Scope

FILE = "access.yaml"
MAX_BYTES = 1 << 20  # some ten thousand addresses
MAX_NAME_CHARS = 150  # in logs and records


class Right(StrEnum):
    """Something that a role allows."""

    ASK = "ask"  # questions, their own decisions, the documents and their pages
    UPLOAD = "upload"  # add and describe documents, read them again, make collections
    DELETE = "delete"  # delete documents, also everywhere, and whole collections; build a collection anew
    THRESHOLDS = "thresholds"  # what holds for everybody: saved presets, certificates, whether questions are kept
    RECORDS = "records"  # everybody's questions and feedback: the lab and the health page, labels and runs
    TOKENS = "tokens"  # make and revoke tokens of programs; only in a role for all collections


ACTS: Mapping[Right, frozenset[Action]] = MappingProxyType(
    {
        Right.ASK: frozenset(
            {
                Action.ASK,
                Action.DECIDE,
                Action.JUDGE,
                Action.KEEP,
                Action.FORGET,
                Action.WATCH,
                Action.FEEDBACK,
                Action.EXPORT,
                Action.EXECUTION,
            }
        ),
        Right.UPLOAD: frozenset({Action.INDEX, Action.REREAD, Action.DESCRIBE, Action.COLLECTION}),
        Right.DELETE: frozenset({Action.DELETE, Action.ERASE, Action.DISCARD, Action.REBUILD, Action.DROP}),
        Right.THRESHOLDS: frozenset({Action.THRESHOLDS, Action.KEEPING}),
        Right.RECORDS: frozenset({Action.SEE, Action.LABELS, Action.RUN, Action.DELETE_RUN}),
        Right.TOKENS: frozenset({Action.CREATE_TOKEN, Action.REVOKE_TOKEN}),
    }
)


# what the API asks a caller for before it does what `ACTS` has
SCOPES: Mapping[Right, Scope] = MappingProxyType(
    {Right.ASK: Scope.ASK, Right.UPLOAD: Scope.INDEX, Right.DELETE: Scope.INDEX, Right.RECORDS: Scope.LABEL}
)


def _named(name: str) -> str:
    if not is_name(name):
        raise ValueError("a collection has 1 to 64 of the characters a-z, 0-9, hyphen and underscore")
    return name


CollectionName = Annotated[str, AfterValidator(_named)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Role(_Part):
    """A role: what it allows, and whose it is.

    Args:
        may: what it allows.
        addresses: of people who have it; `*@example.org` for all of a domain. Only those that the provider has checked
            count.
        claims: values of claims that give it, by the claim's name; `realm_access.roles` looks into a claim.
        collections: where it holds; None for all.
    """

    may: frozenset[Right]
    addresses: frozenset[str] = frozenset()
    claims: Mapping[str, frozenset[str]] = Field(default_factory=dict)
    collections: frozenset[CollectionName] | None = Field(default=None, min_length=1)


class Described(_Part):
    """A collection, as far as the file describes it.

    Args:
        sync: the folder that it follows: its whole path, or an address that fsspec knows, such as `s3://bucket/folder`.
        polling: whether the folder is on a drive that sends no events, as one of the network.
    """

    sync: str = Field(pattern="^(/|[a-z][a-z0-9+.-]*://).")
    polling: bool = False


class Rules(_Part):
    """The whole file.

    Args:
        collections: that follow a folder, by name.
        others: what people who signed in and have no role may do.
        addresses_checked: takes all addresses for their owners', where the provider does not say so itself.
        audiences: whose tokens of the provider programs may come with, besides the page's and those for MCP.
        issuers: names of the provider in tokens, besides the one that its address says.
        signed_in_hours: how long a sign-in holds.
        roles: by name.
    """

    collections: Mapping[CollectionName, Described] = Field(default_factory=dict)
    others: Literal["ask", "nothing"] = "nothing"
    addresses_checked: bool = False
    audiences: frozenset[str] = frozenset()
    issuers: frozenset[str] = frozenset()
    signed_in_hours: float = Field(default=12.0, gt=0.0, le=720.0)
    roles: Mapping[str, Role] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who signed in: `name` stands in logs and records, `shown` on the page; `roles` are those they have.

    `rights` hold in all collections, those of `within` in the collection that they are named under.
    """

    name: str
    shown: str
    roles: tuple[str, ...] = ()
    rights: frozenset[Right] = field(default_factory=frozenset)
    within: Mapping[str, frozenset[Right]] = field(default_factory=dict, hash=False)

    @property
    def may_ask(self) -> bool:
        """Whether they may ask questions in any collection."""
        return Right.ASK in self.rights or any(Right.ASK in rights for rights in self.within.values())

    def rights_in(self, collection: str) -> frozenset[Right]:
        """The rights they have in a collection."""
        return self.rights | self.within.get(collection, frozenset())

    @property
    def actor(self) -> Actor:
        """Who acts, for the log and for what is open to them."""
        return Actor(self.name, _acts(self.rights), {name: _acts(rights) for name, rights in self.within.items()})

    @property
    def principal(self) -> Principal:
        """The caller that a program of theirs is."""
        anywhere = self.rights.union(*self.within.values())
        return Principal(
            self.name,
            _scopes(anywhere),
            None if self.rights else frozenset(self.within),
            self.actor,
            lambda collection: _scopes(self.rights_in(collection)),
        )


class People:
    """The rules of an instance. Safe to share between threads.

    Its methods raise InvalidSetting where the file at `path` cannot be read. `clock` gives seconds since 1970.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path, self._clock = path, clock
        self._reading = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._rules: Rules = Rules()

    def rules(self) -> Rules:
        """The rules of now; without a file nobody has a role, and who has none may do nothing."""
        with self._reading:
            try:
                found = self.path.stat()
            except FileNotFoundError:
                self._seen, self._rules = None, Rules()
                return self._rules
            except OSError as error:
                raise self._unreadable(error.strerror or "the disk refused") from error
            seen = found.st_mtime_ns, found.st_size, found.st_ino
            if seen != self._seen:
                self._rules, self._seen = self._read(), seen
            return self._rules

    def folders(self) -> dict[str, tuple[str, bool]]:
        """The address and polling of the folder of each collection that follows one."""
        return {name: (one.sync, one.polling) for name, one in self.rules().collections.items()}

    def person(self, claims: Mapping[str, Any], *audiences: str) -> Person | None:
        """Whoever these claims of a signed token speak of; None where they signed in too long ago, or the token is for
        none of these audiences.
        """
        rules, now = self.rules(), self._clock()
        subject, issued, audience = claims.get("sub"), claims.get("iat"), claims.get("aud")
        ours = audience if isinstance(audience, list) else [audience]
        if not isinstance(subject, str) or not subject or not subject.isprintable():  # it stands in logs
            return None
        if not any(one in ours for one in audiences):
            return None
        if (
            isinstance(issued, bool)
            or not isinstance(issued, int | float)
            or not 0 <= now - issued + 300 < rules.signed_in_hours * 3600 + 300
        ):
            return None  # five minutes: clocks differ
        address = _address(claims, rules.addresses_checked)
        roles = tuple(name for name, role in rules.roles.items() if _has(role, address, claims))
        mine = [rules.roles[name] for name in roles]
        rights = frozenset[Right]().union(*(role.may for role in mine if role.collections is None))
        named = {name for role in mine for name in role.collections or ()}
        within = {
            name: frozenset[Right]().union(*(role.may for role in mine if name in (role.collections or ())))
            for name in named
        }
        if not roles and rules.others == "ask":
            rights = frozenset({Right.ASK})
        name = f"user:{address}" if address else f"sub:{subject}"
        shown = address or str(claims.get("name") or claims.get("preferred_username") or subject)
        return Person(name[:MAX_NAME_CHARS], shown[:MAX_NAME_CHARS], roles, rights, within)

    def _read(self) -> Rules:
        try:
            data = self.path.read_bytes()
            if len(data) > MAX_BYTES:
                raise self._unreadable("it is too long")
            body = yaml.safe_load(data.decode("utf-8"))
            return Rules.model_validate(body if body is not None else {})
        except OSError as error:
            raise self._unreadable(error.strerror or "the disk refused") from error
        except (UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
            raise self._unreadable("it is no YAML") from error
        except ValidationError as error:
            first = error.errors()[0]
            raise self._unreadable(f"{'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}") from error

    def _unreadable(self, why: str) -> InvalidSetting:
        return InvalidSetting(
            f"{self.path.name}, which says who may do what, cannot be used: {why}.",
            remedy="Nobody may do anything before it can: mend it as docs/operate.md shows.",
        )


def _acts(rights: frozenset[Right]) -> frozenset[Action]:
    return frozenset[Action]().union(*(ACTS[right] for right in rights))


def _scopes(rights: frozenset[Right]) -> frozenset[Scope]:
    return frozenset(SCOPES[right] for right in rights if right in SCOPES)


def access_file(folder: Path, environment: Mapping[str, str] | None = None) -> Path:
    """Where the rules of the library in `folder` are."""
    named = (os.environ if environment is None else environment).get("RAG_ACCESS")
    return Path(named) if named else folder / FILE


def _address(claims: Mapping[str, Any], checked: bool) -> str:
    """The person's address in lower case; "" where nobody vouches for it."""
    found = claims.get("email")
    said = claims.get("email_verified")
    vouched = said is True or said == "true" or (checked and "email_verified" not in claims)
    return (
        found.strip().lower()
        if vouched and isinstance(found, str) and found.count("@") == 1 and found.isprintable()
        else ""
    )


def _has(role: Role, address: str, claims: Mapping[str, Any]) -> bool:
    wanted = {one.strip().lower() for one in role.addresses}
    if address and ({address, "*@" + address.rpartition("@")[2]} & wanted):
        return True
    return any(values & _values(claims, name) for name, values in role.claims.items())


def _values(claims: Mapping[str, Any], name: str) -> set[str]:
    """The texts of a claim, by its name or by the path to it."""
    found: Any = claims.get(name)
    if found is None:
        found = claims
        for part in name.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    return {one for one in (found if isinstance(found, list) else [found]) if isinstance(one, str)}
