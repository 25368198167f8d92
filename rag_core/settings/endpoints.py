"""The endpoints of language models: base URL, key and model name, from the environment or from
`.streamlit/secrets.toml`; and the address of a vector store's database.

A key stands in no repr and in no error; pages show `Endpoint.masked`. Nothing is asked here.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from rag_core.errors import InvalidSetting
from rag_core.settings.login import secrets_file, secrets_in

OPENAI = "https://api.openai.com/v1"  # where a key is for, unless a base URL says otherwise
LITELLM = "litellm"  # the scheme of a base URL that names a provider: litellm://bedrock
PROVIDERS = ("anthropic", "azure", "bedrock", "vertex_ai")
_FIRST = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "RAG_MODEL")
_SECOND = ("RAG_FALLBACK_BASE_URL", "RAG_FALLBACK_API_KEY", "RAG_FALLBACK_MODEL")
NAMES = (*_FIRST, *_SECOND)
_SHOWN = 20  # characters that a key must have for its last four to be shown
_HEAD = 4  # longest prefix that only says whose key it is: "sk-", "gsk_"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that speaks OpenAI's chat protocol, or a provider behind LiteLLM, and what is asked of it."""

    base_url: str  # with scheme and path, without a slash at its end: http://127.0.0.1:11434/v1, litellm://bedrock
    key: str = field(repr=False)  # empty where the server wants none
    model: str  # the name that the server knows; may be empty until the settings name one

    @property
    def host(self) -> str:
        """Host and port, or the provider, as traces and pages name it."""
        return urlsplit(self.base_url).netloc

    @property
    def local(self) -> bool:
        """Whether it is this machine: what is sent there goes over no network."""
        host = urlsplit(self.base_url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")

    @property
    def masked(self) -> str:
        """The key as it may be shown: `sk-…abcd`, `…` where it is short, empty where there is none."""
        return masked(self.key)

    @property
    def warning(self) -> str:
        """One sentence that says what is unsafe about it; empty where nothing is."""
        if self.local or urlsplit(self.base_url).scheme in ("https", LITELLM):
            return ""
        what = "The key and the passages travel" if self.key else "Passages travel"
        return f"{what} to {self.host} unencrypted; use an https:// address where the server has one."


def masked(key: str) -> str:
    """A key as it may be shown; its last four characters only where it is long enough for that to tell little."""
    if len(key) < _SHOWN:
        return "…" if key else ""
    head = next((key[: end + 1] for end in range(_HEAD) if key[end] in "-_"), "")
    return f"{head}…{key[-4:]}"


def endpoints(environment: Mapping[str, str]) -> tuple[Endpoint, ...]:
    """The servers to ask, in order: OPENAI_BASE_URL with OPENAI_API_KEY and RAG_MODEL, then the same of RAG_FALLBACK_.

    A key without a base URL is for OpenAI; the second server has the first one's model unless it names one.

    Raises:
        InvalidSetting: a value cannot be used, or one is missing that another needs; the message holds none of them.
    """
    found = []
    url, key, model = (environment.get(name, "").strip() for name in _FIRST)
    if url or key:
        found.append(Endpoint(_base_url(_FIRST[0], url or OPENAI), _key(_FIRST[1], key), model))
    elif model:
        raise InvalidSetting(
            "RAG_MODEL names a language model, but nothing says where it is.",
            remedy="Set OPENAI_BASE_URL to its server, or OPENAI_API_KEY for OpenAI's.",
        )
    url, key, other = (environment.get(name, "").strip() for name in _SECOND)
    if url:
        found.append(Endpoint(_base_url(_SECOND[0], url), _key(_SECOND[1], key), other or model))
    elif key or other:
        raise InvalidSetting(
            "A second language model is named, but nothing says where it is.", remedy="Set RAG_FALLBACK_BASE_URL too."
        )
    return tuple(found)


def model_environment(environment: Mapping[str, str], secrets: Path | None = None) -> Mapping[str, str]:
    """The environment, even where empty, over the file of secrets; raises InvalidSetting."""
    return _over_secrets(environment, NAMES, secrets or secrets_file(environment))


def store_url(
    name: str, store: str, example: str, environment: Mapping[str, str] | None = None, secrets: Path | None = None
) -> str:
    """The address of a vector store's database in the variable `name`; raises InvalidSetting without one."""
    url = address_of(name, environment, secrets)
    if not url:
        raise InvalidSetting(
            f"Nothing says where the database of the vector store {store!r} is.", remedy=f"Set {name}, like {example}."
        )
    return url


def address_of(name: str, environment: Mapping[str, str] | None = None, secrets: Path | None = None) -> str:
    """The address in the variable `name`: of the environment, or of the file of secrets; "" where there is none."""
    known = os.environ if environment is None else environment
    return _over_secrets(known, (name,), secrets or secrets_file(known)).get(name, "").strip()


def _over_secrets(environment: Mapping[str, str], names: Collection[str], secrets: Path) -> Mapping[str, str]:
    stored = secrets_in(secrets) or {}
    return {name: str(stored[name]) for name in names if name in stored} | dict(environment)


def _base_url(name: str, value: str) -> str:
    """The address without a slash at its end. It may hold no user, password or query: those are written into logs."""
    try:
        parts = urlsplit(value)
        if parts.scheme == LITELLM and value.removeprefix(f"{LITELLM}://") in PROVIDERS:
            return value
        usable = (
            parts.scheme in ("http", "https")
            and parts.hostname
            and parts.port != 0
            and value.isascii()
            and value.isprintable()
        )
        if usable and " " not in value and not (parts.username or parts.password or parts.query or parts.fragment):
            return value.rstrip("/")
    except ValueError:
        pass
    raise InvalidSetting(
        f"{name} is not the address of a server.",
        remedy="Write it like http://127.0.0.1:11434/v1 or litellm://bedrock; a key goes into its own variable.",
    )


def _key(name: str, value: str) -> str:
    if not value.isascii() or not value.isprintable() or " " in value:
        raise InvalidSetting(
            f"{name} holds a character that no key has.", remedy="Copy the key again, without quotes or spaces."
        )
    return value
