"""The bearer tokens of a service: made, listed and revoked by command, and kept as hashes in one file beside the
collections.

A token is `plb_<id>_<secret>`. The id is public and stands in lists, logs and records. The secret has 256 random bits,
so one round of SHA-256 is enough: there is nothing to guess. A running service sees a change of the file at the next
request.

A second file says that there were tokens, and is never removed by the program. Without it, a lost file of tokens would
look like a library that never had one, whose service asks nobody of this machine for a token.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from filelock import FileLock
from pydantic import ConfigDict, TypeAdapter

from rag_core.domain.acts import Action
from rag_core.errors import InvalidInput, LibraryDamaged
from rag_core.library.disk.files import storage_problems, write_atomically
from rag_core.library.disk.private import FILE_MODE, make_folder
from rag_core.service.principal import EVERY, Principal, Unauthenticated, collections_of, scopes_of
from rag_core.wiring import noting

FILE = "tokens.json"
USED = ".tokens-used"  # beside it: a file a token, as old as its last use
USE_SECONDS = 60.0  # a use is noted once in so long
HAD = ".had-tokens"  # beside it: there were tokens; no collection can have this name
PREFIX = "plb"
SCHEMA_VERSION = 1
ID_BYTES, SECRET_BYTES = 4, 32  # 8 hex digits tell a few hundred tokens apart; 256 bits cannot be guessed
MAX_NAME_CHARS = 100  # as a labelled set may have
MAX_TEXT_CHARS = 200  # that are read of what comes as a token: ours have 56
HAD_TEXT = (
    "Tokens were made for this library: nobody may enter it without one. Delete this "
    "file only if every user of this machine may.\n"
)
ANEW = f"Or move {FILE} away and make new tokens with `python -m rag_core token create`; until then nobody may enter."


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is kept; `sha256` is of its whole text. Times are ISO 8601 in UTC, or empty.

    `people`, at least 1, is how many use it, as behind one front end: limits hold for each of them.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    id: str
    name: str
    sha256: str
    scopes: tuple[str, ...]
    collections: tuple[str, ...]
    created: str
    expires: str = ""
    revoked: str = ""
    people: int = 1

    @property
    def principal(self) -> Principal:
        """Its holder."""
        return Principal(self.id, scopes_of(self.scopes), collections_of(self.collections))

    def is_valid(self, now: datetime) -> bool:
        """Whether it still opens anything."""
        return self.state(now) == "valid"

    def state(self, now: datetime) -> str:
        """`valid`, `revoked` or `expired`."""
        if self.revoked:
            return "revoked"
        return "expired" if self.expires and now >= datetime.fromisoformat(self.expires) else "valid"


_TOKENS = TypeAdapter(tuple[Token, ...])


class Tokens:
    """The tokens of the library in `folder`. Safe to share between threads and processes."""

    def __init__(self, folder: Path) -> None:
        self._path, self._had, self._used = folder / FILE, folder / HAD, folder / USED
        self._noted: dict[str, float] = {}  # ids, and when their next use is noted
        self._reading = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._known: tuple[Token, ...] = ()

    def all(self) -> tuple[Token, ...]:
        """Every token that was ever made here, in order; revoked ones too.

        Raises:
            LibraryDamaged: the file is not what was written, or is gone. Nobody may enter then.
        """
        with self._reading:
            try:
                found = self._path.stat()
            except (FileNotFoundError, NotADirectoryError):
                # this process has seen it, or it was noted on the disk
                if self._seen is not None or self._there_were():
                    raise self._damaged("is gone") from None
                return ()
            except OSError as error:
                raise self._damaged() from error
            seen = found.st_mtime_ns, found.st_size, found.st_ino
            if seen != self._seen:
                self._known, self._seen = self._read(), seen
            return self._known

    def principal(self, text: str) -> Principal:
        """The holder of a token."""
        offered = hashlib.sha256(text[:MAX_TEXT_CHARS].encode("utf-8", "replace")).hexdigest()
        now, holder = datetime.now(UTC), None
        for token in self.all():  # each is compared, in the same time whether it fits or not
            if hmac.compare_digest(token.sha256, offered) and token.is_valid(now):
                holder = token.principal
        if holder is None:
            raise Unauthenticated("The token is not valid.", remedy="Make one: python -m rag_core token create.")
        self._note_use(holder.id)
        return holder

    def last_used(self, id: str) -> str:
        """When a token was last used, to the minute; "" for never. ISO 8601 in UTC, as all times of a token."""
        with suppress(OSError):
            return datetime.fromtimestamp((self._used / id).stat().st_mtime, UTC).isoformat(timespec="minutes")
        return ""

    def people(self, id: str) -> int:
        """How many people are behind a caller; 1 for one that has no token."""
        return next((max(1, token.people) for token in self._known if token.id == id), 1)

    def create(
        self, name: str, scopes: Collection[str], collections: Collection[str], days: int | None = None, people: int = 1
    ) -> tuple[Token, str]:
        """A new token, and its text, which is kept nowhere."""
        scopes_of(scopes), collections_of(collections)
        if not name.strip() or len(name) > MAX_NAME_CHARS or not name.isprintable():
            raise InvalidInput(
                f"{name[:40]!r} cannot name a token.", remedy=f"Use 1 to {MAX_NAME_CHARS} characters on one line."
            )
        id, now = secrets.token_hex(ID_BYTES), datetime.now(UTC)
        text = f"{PREFIX}_{id}_{secrets.token_urlsafe(SECRET_BYTES)}"
        kept = (EVERY,) if EVERY in collections else tuple(sorted(set(collections)))
        expires = (now + timedelta(days=days)).isoformat(timespec="seconds") if days else ""
        token = Token(
            id,
            name.strip(),
            hashlib.sha256(text.encode()).hexdigest(),
            tuple(sorted(set(scopes))),
            kept,
            now.isoformat(timespec="seconds"),
            expires,
            people=people,
        )
        self._change(lambda known: (*known, token), Action.CREATE_TOKEN, id)
        return token, text

    def revoke(self, id: str) -> Token:
        """Close a token for good.

        It stays on the list, so that a service that had tokens never takes itself for one without.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")

        def revoked(known: tuple[Token, ...]) -> tuple[Token, ...]:
            if id not in {token.id for token in known}:
                raise InvalidInput(
                    f"There is no token {id[:40]!r}.", remedy="See their ids: python -m rag_core token list."
                )
            return tuple(replace(token, revoked=token.revoked or now) if token.id == id else token for token in known)

        return next(token for token in self._change(revoked, Action.REVOKE_TOKEN, id) if token.id == id)

    def _note_use(self, id: str) -> None:
        now = time.monotonic()
        if now < self._noted.get(id, now):
            return
        self._noted[id] = now + USE_SECONDS
        with suppress(OSError):  # a full disk keeps nobody out
            make_folder(self._used)
            (self._used / id).touch(FILE_MODE)

    def _change(
        self, change: Callable[[tuple[Token, ...]], tuple[Token, ...]], action: Action, id: str
    ) -> tuple[Token, ...]:
        with storage_problems("keeping a token"):
            make_folder(self._path.parent)
            with FileLock(self._path.with_name(f".{FILE}.lock"), mode=FILE_MODE):
                found = change(self._read() if self._path.exists() else ())
                noting(self._path.parent)(action, (id,))
                if not self._there_were():  # first: a kill between the two closes the service, and never opens it
                    write_atomically(self._had, HAD_TEXT.encode())
                rows = [asdict(token) for token in found]
                write_atomically(
                    self._path,
                    (json.dumps({"schema_version": SCHEMA_VERSION, "tokens": rows}, indent=1) + "\n").encode(),
                )
        return found

    def _read(self) -> tuple[Token, ...]:
        try:
            body = json.loads(self._path.read_bytes())
            if body["schema_version"] != SCHEMA_VERSION:
                raise ValueError(body["schema_version"])
            found = _TOKENS.validate_python(body["tokens"])
            for token in found:
                # its scopes, collections and dates are read once, here
                _ = token.principal, token.is_valid(datetime.now(UTC))
        except (OSError, ValueError, KeyError, TypeError, RecursionError, InvalidInput) as error:
            raise self._damaged() from error
        return found

    @staticmethod
    def _damaged(how: str = "cannot be read") -> LibraryDamaged:
        return LibraryDamaged(f"The file of tokens {how}.", remedy=f"Restore {FILE} from a backup. {ANEW}")

    def _there_were(self) -> bool:
        """Whether a token was ever made here. What cannot be looked at counts as one."""
        try:
            self._had.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True
        return True
