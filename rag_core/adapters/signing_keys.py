"""The signing keys of an OpenID provider, and what a token says that one of them signed.

Every algorithm taken is one with a private and a public key: a token that is not signed, or signed with a shared secret
for which somebody took the public key, never counts.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from math import inf
from typing import Any

import httpx2
import jwt

from rag_core.errors import ProviderUnavailable
from rag_core.settings.login import Login, is_private

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
TYPES = ("jwt", "at+jwt", "application/at+jwt")  # identity and access tokens (RFC 9068); others mean something else
REQUIRED = ["iss", "aud", "sub", "iat", "exp"]
LEEWAY_SECONDS = 60  # by which clocks differ
KEEP_SECONDS = 300.0  # how long keys count as read: a key that the provider withdrew opens nothing any more after that
AGAIN_SECONDS = 10.0  # before the provider is asked again, whatever comes
ASK_SECONDS = 5.0  # for both of its documents
_log = logging.getLogger(__name__)


class SigningKeys:
    """The keys of a login's provider, read when a token needs them. For the tasks of one event loop.

    Args:
        login: where the provider describes itself.
        clock: seconds that never go back.
    """

    def __init__(self, login: Login, clock: Callable[[], float] = time.monotonic) -> None:
        self._login, self._clock, self._lock = login, clock, asyncio.Lock()
        self._issuer, self._keys = "", dict[str, jwt.PyJWK]()
        self._read = self._asked = -inf

    async def claims(
        self, token: str, audiences: Collection[str], issuers: Collection[str] = ()
    ) -> dict[str, Any] | None:
        """The claims of a token for one of these audiences; None for one that does not count, or no longer.

        `issuers` are names of the provider besides the one that its address says.

        Raises:
            ProviderUnavailable: its key is not known, and the provider cannot be asked now.
        """
        taken = (self._login.issuer, f"{self._login.issuer}/", *issuers)
        try:
            unchecked = jwt.decode_complete(token, options={"verify_signature": False})
            header = unchecked["header"]
            # somebody else's token is none of the provider's business
            if str(header.get("typ") or TYPES[0]).lower() not in TYPES or unchecked["payload"].get("iss") not in taken:
                raise jwt.InvalidTokenError
            found: dict[str, Any] = jwt.decode(
                token,
                await self._key(header.get("kid", ""), taken),
                ALGORITHMS,
                {"require": REQUIRED, "enforce_minimum_key_length": True},
                audience=audiences,
                issuer=(self._issuer, *issuers),
                leeway=LEEWAY_SECONDS,
            )
            client, ours = self._login.client_id, found["aud"]
            of_page = {client} == set(audiences).intersection([ours] if isinstance(ours, str) else ours)
            # a notice of leaving, or made for another client, which named the page beside itself
            if "events" in found or (of_page and found.get("azp", client) != client):
                raise jwt.InvalidAudienceError
            return found
        except (jwt.PyJWTError, RecursionError) as error:
            _log.info("a token of %s was refused: %s", self._login.provider, type(error).__name__)
            return None

    async def _key(self, kid: str, issuers: Collection[str]) -> jwt.PyJWK:
        came = self._clock()
        if not self._knows(kid):
            async with self._lock:  # whoever waited finds the keys that another one read
                if not self._knows(kid) and self._clock() - self._asked >= AGAIN_SECONDS:
                    self._asked = self._clock()
                    await self._ask(issuers)
        if self._knows(kid):
            return self._keys[kid]
        if kid and self._read < came:  # it may be a new one
            raise ProviderUnavailable(
                f"{self._login.provider}, where people sign in, cannot be asked for its keys now.",
                remedy="Call again in some seconds; the service's log says why.",
            )
        raise jwt.InvalidKeyError

    def _knows(self, kid: str) -> bool:
        return kid in self._keys and self._clock() - self._read < KEEP_SECONDS

    async def _ask(self, issuers: Collection[str]) -> None:
        """Read the keys anew; those of before stay where that fails, until they are too old.

        What calls itself by another name than one of `issuers` describes somebody else (OpenID Connect Discovery, 4.3).
        """
        try:
            async with asyncio.timeout(ASK_SECONDS), httpx2.AsyncClient(follow_redirects=False) as client:
                about = await _document(client, self._login.metadata_url)
                if about["issuer"] not in issuers:
                    raise jwt.InvalidIssuerError
                found = jwt.PyJWKSet.from_dict(await _document(client, about["jwks_uri"])).keys
            # a secret, shared or private, vouches for nobody: whoever reads it can sign too
            public = [key for key in found if hasattr(key.key, "verify") and key.public_key_use in ("sig", None)]
            self._keys = {key.key_id: key for key in public if key.key_id}
            self._issuer, self._read = about["issuer"], self._asked
        except Exception as error:  # whatever its documents hold: nobody is let in by what cannot be read
            _log.warning("the keys of %s cannot be read: %s", self._login.provider, type(error).__name__)


async def _document(client: httpx2.AsyncClient, url: str) -> Any:
    if not is_private(url):
        raise ValueError("no https")
    return (await client.get(url)).raise_for_status().json()
