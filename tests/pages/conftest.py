"""The app over a library of its own for each test; the samples are indexed once and copied."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from page_kit import JOB_SECONDS, Touch
from streamlit.components.v2 import manifest_scanner
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import RerunData, RerunException, get_script_run_ctx
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.state import SessionStateProxy
from streamlit.testing.v1 import AppTest

from rag_core import wiring
from rag_core.adapters.embedding.embedded import EmbeddedModel
from rag_core.domain.ports import TextKind
from rag_core.work import loading
from ui.ask import suggested
from ui.documents import viewer

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def installed_components() -> Iterator[None]:
    """Each `AppTest` reads the metadata of all installed packages, half a second, to find none that is a component.

    Read them once.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            manifest_scanner, "scan_component_manifests", functools.cache(manifest_scanner.scan_component_manifests)
        )
        yield


@pytest.fixture(scope="session", autouse=True)
def drawn_pages() -> Iterator[None]:
    """Each picture of a page is drawn by a child process of its own, a third of a second.

    Tests show the same few: each is drawn once.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(viewer, "render_page", functools.lru_cache(maxsize=64)(viewer.render_page))
        yield


@pytest.fixture(scope="session", autouse=True)
def no_exceptions() -> Iterator[None]:
    """No run of a page ends in an exception; a test in which one does is told of it."""
    run = AppTest._run

    def looked_at(self: AppTest, *given: Any, **named: Any) -> AppTest:
        page = run(self, *given, **named)
        assert not page.exception, [one.value for one in page.exception]
        return page

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AppTest, "_run", looked_at)
        yield


@pytest.fixture
def empty_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a library that does not exist yet, as the one the app opens."""
    folder = tmp_path / "library"
    monkeypatch.setenv("RAG_LIBRARY", str(folder))
    monkeypatch.delenv("RAG_PRESET", raising=False)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(loading, "PATIENCE_SECONDS", JOB_SECONDS)  # a page of a test waits for its library
    # where `embedded` can count; a child costs seconds
    monkeypatch.setattr(wiring.models, "embedder_apart", wiring.embedder)
    monkeypatch.setattr(wiring.models, "answerability_model", lambda settings, *, apart=False: wiring.models._reader())
    here = wiring.entailment_model
    monkeypatch.setattr(wiring.models, "entailment_model", lambda settings, *, apart=False: here(settings))
    _forget()  # a test of another folder may have left a page's settings behind
    yield folder
    _forget()


def _forget() -> None:
    for work in suggested._kept().values():  # else it embeds within the next test, where `embedded` counts
        work.stop()
        assert work.wait(JOB_SECONDS)
    loading.forget()
    # where a test asks `state` outside a run: it began in the collection of that test's library
    SessionStateProxy().pop("plumbline", None)
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture
def library(empty_library: Path, sample_library: Path) -> Path:
    """A library of this test's own that holds the samples."""
    shutil.copytree(sample_library, empty_library)
    return empty_library


@pytest.fixture
def app() -> AppTest:
    """The app as a browser opens it, not run yet."""
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=JOB_SECONDS)


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts each call of the embedding model got; the model itself runs."""
    calls: list[int] = []
    embed = EmbeddedModel.embed

    def counting(self: EmbeddedModel, texts: list[str], kind: TextKind = "passage") -> object:
        calls.append(len(texts))
        return embed(self, texts, kind)

    monkeypatch.setattr(EmbeddedModel, "embed", counting)
    return calls


@pytest.fixture
def page(app: AppTest, library: Path) -> AppTest:
    """The Ask page over the samples, opened."""
    return app.run()


@pytest.fixture
def touch(monkeypatch: pytest.MonkeyPatch) -> Touch:
    """Ends the page's run at the nth of the places where Streamlit looks for a touch, after it has called what the last
    one is to call, and runs it anew as a touch does; counts them.

    The next run gets what the browser knows: the fields as they stood before, since what the ended run had to say was
    dropped.
    """
    looks, runs = ScriptRunner._maybe_handle_execution_control_request, ScriptRunner._run_script
    seen = wanted = 0
    again = RerunData()

    def run(self: ScriptRunner, sent: RerunData) -> None:
        nonlocal again
        known = sent.widget_states.widgets if sent.widget_states else ()
        # a press is sent once
        fields = [one for one in known if not {"trigger", "chat"} & set(str(one.WhichOneof("value")).split("_"))]
        again = replace(
            sent,
            widget_states=WidgetStates(widgets=fields),
            page_script_hash=self._pages_manager.current_page_script_hash,
        )
        runs(self, sent)

    def look(self: ScriptRunner) -> None:
        nonlocal seen
        looks(self)
        context = get_script_run_ctx(suppress_warning=True)
        if self._execing and self._is_in_script_thread() and context is not None and context.has_script_started:
            seen += 1
            if seen == wanted:
                raise RerunException(again)

    def at(place: int) -> Callable[[], int]:
        nonlocal seen, wanted
        seen, wanted = 0, place
        return lambda: seen

    monkeypatch.setattr(ScriptRunner, "_run_script", run)
    # once: a run keeps the one that it began with
    monkeypatch.setattr(ScriptRunner, "_maybe_handle_execution_control_request", look)
    return at
