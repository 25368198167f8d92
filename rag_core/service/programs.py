"""People whose programs come with a token of the provider: who they are, by the same roles as on the page."""

from __future__ import annotations

import logging
from pathlib import Path

from rag_core.errors import InvalidSetting
from rag_core.service.limits import RETRY_SECONDS
from rag_core.service.people import People, access_file
from rag_core.service.principal import Overloaded, Principal, Unauthenticated
from rag_core.settings.login import Login
from rag_core.wiring import signing_keys

_log = logging.getLogger(__name__)


class Programs:
    """The callers of a library that a login's provider vouches for. For the tasks of one event loop."""

    def __init__(self, folder: Path, login: Login) -> None:
        self.login, self._people, self._keys = login, People(access_file(folder)), signing_keys(login)

    async def principal(self, token: str) -> Principal:
        """The holder of a token.

        Raises:
            Unauthenticated: it is none of the provider's, for nobody here, or too old.
            ProviderUnavailable: the provider cannot be asked for its keys.
            Overloaded: the file of roles cannot be read.
        """
        try:
            audiences = {self.login.client_id, self.login.resource, *self._people.rules().audiences}
            claims = await self._keys.claims(token, audiences)
            person = self._people.person(claims, *audiences) if claims else None
        except InvalidSetting as error:  # what stands in the file is nothing for a stranger
            _log.error("%s", error.problem)
            raise Overloaded(
                "Nobody can be let in now.",
                remedy="Whoever runs the service sees why in its log.",
                retry_after=RETRY_SECONDS,
            ) from None
        if person is None:
            raise Unauthenticated(
                "The token is not valid, or no longer.", remedy=f"Get another one from {self.login.provider}."
            )
        return person.principal
