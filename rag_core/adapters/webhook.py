"""Posts JSON to the web address that whoever operates the program has named."""

from __future__ import annotations

import time
from collections.abc import Mapping

from rag_core.domain.ports import Cancel

SECONDS = 10.0  # for each step of a call; chosen
WAITS = (0.0, 1.0, 5.0)  # seconds before each try; chosen


def post(url: str, body: Mapping[str, object], cancelled: Cancel) -> bool:
    """Whether the address took it, at one of three tries. No redirect is followed: the body goes nowhere else."""
    import httpx2  # only where somebody is told: most commands tell nobody

    for wait in WAITS:
        time.sleep(wait)
        if cancelled():
            return False
        try:
            if httpx2.post(url, json=body, timeout=SECONDS, follow_redirects=False).is_success:
                return True
        except (httpx2.HTTPError, httpx2.InvalidURL):
            continue
    return False
