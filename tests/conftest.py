"""What holds for every test: no network beyond this machine, no model of its maker, no skipped browser or OCR test in the build."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

# named here, not imported: this file is also copied to where there is no rag_core (tests/test_house.py)
MODEL_VARIABLES = (
    "OPENAI_BASE_URL", "OPENAI_API_KEY", "RAG_MODEL", "RAG_FALLBACK_BASE_URL", "RAG_FALLBACK_API_KEY", "RAG_FALLBACK_MODEL",
)  # fmt: skip
LOCAL = {"127.0.0.1", "::1", "localhost", "", None}
MUST_RUN = ("browser", "ocr", "tracer")


class NetworkUsed(OSError):
    """A test tried to reach another machine. An OSError, so that code under test sees what it would see offline."""


def _stay_local(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host not in LOCAL:
        raise NetworkUsed(f"Tests use no network, and this one tried to reach {host!r}.")


# An audit hook sees every socket, whichever library opens it; child processes are not covered.
sys.addaudithook(_stay_local)
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # tests write PDFs with pymupdf, which imports onnxruntime: native code, which no audit hook sees
for _name in [name for name in os.environ if name.startswith("OPENAI_")]:
    del os.environ[_name]
os.environ.update(
    dict.fromkeys(MODEL_VARIABLES, "")
)  # no test asks a model that its maker has configured, in `.streamlit/secrets.toml` either

# Property tests try the same examples in every run, and a busy machine does not fail one for being slow.
settings.register_profile("plumbline", deadline=None, derandomize=True)
settings.load_profile("plumbline")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With PLUMBLINE_CI set, a skipped test marked `browser` or `ocr` has failed: there, all they need is installed."""
    report = yield
    marked = [mark for mark in MUST_RUN if item.get_closest_marker(mark)]
    if os.environ.get("PLUMBLINE_CI") and report.skipped and marked and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but a test marked {marked[0]!r} must run here: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """With PLUMBLINE_CI set, a test file skipped as a whole has failed too: its marks cannot be read."""
    report = yield
    if os.environ.get("PLUMBLINE_CI") and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"a whole test file was skipped: {report.longrepr}"
    return report
