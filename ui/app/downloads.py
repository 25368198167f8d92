"""Notes in the audit log whatever is downloaded from the page, before it is sent: one place for every button that
offers a file.
"""

from __future__ import annotations

import asyncio

from rag_core.domain.acts import Action
from rag_core.entrypoints.http.origin import Asgi, Message, Receive, Send
from rag_core.errors import RagError
from rag_core.wiring import noting
from ui.app import media, state

FOLDER = "media"  # where Streamlit serves pictures and downloads; the latter say that they are attachments
BUSY = 503  # HTTP status
REFUSED = b"The download could not be noted in the audit log. Try again, or tell whoever runs this page."


class NotedDownloads:
    """Passes everything on; a download is noted first, and refused where it cannot be."""

    def __init__(self, app: Asgi) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        parts = scope["path"].split("/") if scope["type"] == "http" else []
        if parts[-2:-1] != [FOLDER] or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        refused = False

        async def noted(message: Message) -> None:
            nonlocal refused
            if message["type"] == "http.response.start" and _is_attachment(message) and not await _note(parts[-1]):
                refused = True
                headers = [
                    (b"content-type", b"text/plain; charset=utf-8"),
                    (b"content-length", str(len(REFUSED)).encode()),
                ]
                await send({"type": "http.response.start", "status": BUSY, "headers": headers})
                await send({"type": "http.response.body", "body": REFUSED})
            elif not refused:
                await send(message)

        await self._app(scope, receive, noted)


def _is_attachment(message: Message) -> bool:
    return any(
        name.lower() == b"content-disposition" and value.startswith(b"attachment") for name, value in message["headers"]
    )


async def _note(name: str) -> bool:
    """Whether a download was noted, by the name that Streamlit made of its bytes' hash."""
    try:
        found = media.owner(name)
        note = noting(state.library_folder(), found.collection if found else "")
        await asyncio.to_thread(note, Action.EXPORT, (f"{FOLDER}:{name.partition('.')[0]}",))
    except RagError:
        return False
    return True
