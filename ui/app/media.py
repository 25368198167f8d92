"""Keeps a picture that was shown for a while after the last run that shows it, so that no browser comes too late for it.

Streamlit forgets the pictures of a run when the next one begins, and deletes what nobody refers to when any session's run ends: a browser
that was slow, or whose session was just drawn anew while another one ended its run, found an empty frame where the page should be.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps

from streamlit.runtime.media_file_manager import MediaFileManager

KEPT_SECONDS = 60.0  # longer than a browser takes on a slow line; a page's picture has about 200 kB


def keep_awhile() -> None:
    """See to it for all sessions of this process, from the first run on."""
    if not hasattr(MediaFileManager._get_inactive_file_ids, "__wrapped__"):
        MediaFileManager._get_inactive_file_ids = _long_enough(MediaFileManager._get_inactive_file_ids)  # type: ignore[assignment, method-assign]


def _long_enough(find: Callable[[MediaFileManager], set[str]]) -> Callable[[MediaFileManager], set[str]]:
    """Of the files that nobody refers to, those that nobody has for `KEPT_SECONDS`."""

    @wraps(find)
    def found(manager: MediaFileManager) -> set[str]:
        inactive, now = find(manager), time.monotonic()
        known: dict[str, float] = vars(manager).get("_inactive_since", {})
        since = {file: known.get(file, now) for file in inactive}
        vars(manager)["_inactive_since"] = since
        return {file for file, first in since.items() if now - first >= KEPT_SECONDS}

    return found
