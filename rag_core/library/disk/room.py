"""Tells a full disk from another refusal."""

from __future__ import annotations

import errno
import sqlite3

_FULL = (errno.ENOSPC, errno.EDQUOT)
# SQLITE_IOERR_SHMSIZE, which Python 3.11 names as of some builds only: no room for the file beside the log
_SHARED_MEMORY = 4874


def is_full(error: BaseException | None) -> bool:
    """Whether an error comes from a disk that has no room left, or from a quota of the system."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        if isinstance(error, sqlite3.Error):
            code = getattr(error, "sqlite_errorcode", None) or 0
            if code & 0xFF == sqlite3.SQLITE_FULL or code == _SHARED_MEMORY:
                return True
        error = error.__cause__
    return False
