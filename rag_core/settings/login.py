"""The provider that people sign in with, as the file of secrets says it: OpenID Connect, which Streamlit speaks.

Without it only this machine may open the page.

The file is `.streamlit/secrets.toml` where the page is started, or the one that RAG_SECRETS names. A file that cannot
be read is an error and never "no login".
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rag_core.errors import InvalidSetting

SECRETS = Path(".streamlit/secrets.toml")  # where Streamlit looks too
CALLBACK = "/oauth2callback"  # the provider sends browsers back here
DISCOVERY = "/.well-known/openid-configuration"  # behind the name of a provider: where it describes itself
SCOPES = "openid email profile"  # that Streamlit asks a provider for, where [auth] names none
MIN_SECRET_CHARS = 32  # that a secret which signs cookies has: 128 bits as hex digits
_TEXTS = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
_LOCAL = ("127.0.0.1", "localhost", "::1")
EXAMPLE = (
    "Write [auth] with redirect_uri, cookie_secret, client_id, client_secret and "
    "server_metadata_url; docs/operate.md has an example."
)


@dataclass(frozen=True, slots=True)
class Login:
    """A provider that people sign in with, and the page as the provider knows it."""

    redirect_uri: str  # the page's own address, with `CALLBACK` at its end
    client_id: str  # the page's, at the provider
    metadata_url: str  # where the provider describes itself
    cookie_secret: str = field(repr=False)  # signs the cookie that says who signed in
    section: Mapping[str, Any] = field(repr=False, compare=False)  # all that [auth] says

    @property
    def host(self) -> str:
        """The name under which people open the page."""
        return urlsplit(self.redirect_uri).hostname or ""

    @property
    def provider(self) -> str:
        return urlsplit(self.metadata_url).netloc

    @property
    def issuer(self) -> str:
        """The provider, as clients of MCP look for it."""
        return self.metadata_url.partition(DISCOVERY)[0]

    @property
    def resource(self) -> str:
        """The address of MCP, for which the provider makes tokens (RFC 8707)."""
        return f"{self.redirect_uri.removesuffix(CALLBACK)}/mcp"

    @property
    def scopes(self) -> list[str]:
        """The scopes that the provider is asked for, so that a token says who its holder is."""
        more = self.section.get("client_kwargs")
        return str((more.get("scope") if isinstance(more, Mapping) else None) or SCOPES).split()


def secrets_file(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("RAG_SECRETS") or SECRETS)


def secrets_in(file: Path) -> dict[str, Any] | None:
    """The contents of a file of secrets, None without it; raises InvalidSetting, which quotes nothing of it."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:  # from None: it may quote what is secret
        why = error.strerror if isinstance(error, OSError) else "it is no TOML"
        remedy = 'Write lines of NAME = "value" into it; nobody can sign in before it can be read.'
        raise InvalidSetting(f"{file} cannot be read: {why}.", remedy=remedy) from None


def login(environment: Mapping[str, str]) -> Login | None:
    """How people sign in, or None without [auth]; raises InvalidSetting, without a secret, where it is unsafe."""
    path = secrets_file(environment)
    known = secrets_in(path)
    if known is None and environment.get("RAG_SECRETS"):
        raise InvalidSetting(f"RAG_SECRETS names {path}, which is not there.", remedy="Name the file of secrets.")
    return _checked(known["auth"]) if known and "auth" in known else None


def is_private(url: str) -> bool:
    """Whether nobody on the way can read or change what an address answers: by https, or on this machine."""
    parts = urlsplit(url)
    return bool(parts.hostname) and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOCAL))


def _checked(section: Any) -> Login:
    found = section if isinstance(section, dict) else {}
    missing = [name for name in _TEXTS if not isinstance(found.get(name), str) or not found[name].strip()]
    if missing:
        raise InvalidSetting(f"[auth] in the file of secrets lacks {', '.join(missing)}.", remedy=EXAMPLE)
    for name in ("redirect_uri", "server_metadata_url"):
        if not is_private(found[name]):
            raise InvalidSetting(
                f"{name} in [auth] is no https:// address.",
                remedy="What is signed in over plain HTTP can be read on the way.",
            )
    if not found["redirect_uri"].endswith(CALLBACK):
        raise InvalidSetting(
            f"redirect_uri in [auth] does not end with {CALLBACK}.", remedy=f"Write the page's address with {CALLBACK}."
        )
    if len(found["cookie_secret"]) < MIN_SECRET_CHARS:
        raise InvalidSetting(
            f"cookie_secret in [auth] has fewer than {MIN_SECRET_CHARS} characters: who guesses it is anybody.",
            remedy="Make one: python -c 'import secrets; print(secrets.token_hex(32))'.",
        )
    return Login(found["redirect_uri"], found["client_id"], found["server_metadata_url"], found["cookie_secret"], found)
