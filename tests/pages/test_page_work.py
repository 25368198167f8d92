"""Long work on the page: progress of each file, sessions side by side, and building a collection anew."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from builders import a_job_of_another
from hostile import make
from page_kit import JOB_SECONDS, PDF, another, ask, badges, captions, settle, submit, texts
from streamlit.testing.v1 import AppTest

from rag_core.adapters.embedding.support import minilm_folder
from rag_core.errors import ModelUnavailable
from rag_core.library.library import AddReport
from rag_core.library.stored.named import FILE
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings
from rag_core.wiring import as_built, cut_off, open_engine
from rag_core.work import loading
from rag_core.work.jobs import LEFT_ALONE_SECONDS, Job
from ui.app import first_run, state
from ui.app.jobs import progress, work

BRIDGE = make.document("The harbour bridge was opened in 1931 and is 412 metres long.").tobytes()


def upload(page: AppTest, *files: tuple[str, bytes]) -> AppTest:
    return page.file_uploader[0].set_value([(name, data, PDF) for name, data in files]).run()


def documents(page: AppTest) -> AppTest:
    return page.switch_page("pages/documents.py").run()


@contextmanager
def held() -> Iterator[None]:
    """Jobs wait for their turn."""
    with a_job_of_another(state.runner()):
        yield


@pytest.fixture
def small_library(empty_library: Path, made_once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """A library of two short documents, which is built anew in a moment."""

    def fill(folder: Path) -> None:
        library = open_engine(folder, "default", Settings.load()).library
        for name, data in (("bridge.pdf", BRIDGE), ("ferry.pdf", make.document("The ferry leaves at nine.").tobytes())):
            assert not library.add([Source(name, data, "pdf")], Settings.load()).problems

    return Path(shutil.copytree(made_once("two-documents", fill), empty_library))


@pytest.fixture
def model(tmp_path: Path) -> str:
    """Another embedding model than the one that the samples were indexed with: the same weights under another name."""
    return str(shutil.copytree(minilm_folder(), tmp_path / "model"))


def test_given_several_files_when_added_then_each_ends_as_it_must(app: AppTest, library: Path) -> None:
    page = settle(app)
    page.session_state[state.SESSION].values["passage_tokens"] = 96

    with held():
        upload(page, ("bridge.pdf", BRIDGE), ("broken.pdf", b"<html>"))
        assert "Waiting for its turn. One job runs at a time." in texts(page)
        end = time.monotonic() + JOB_SECONDS  # a thread lists them a moment after the page is drawn
        while len(cut_off(library, first_run.COLLECTION)) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        asked_for = [values["passage_tokens"] for _, values in cut_off(library, first_run.COLLECTION)]

    assert asked_for == [96, 96], "an end of the process loses none of it"
    settle(page)
    assert badges(page).count("Indexed and ready to be asked: 1") == 1
    assert "broken.pdf" in texts(page)
    assert "What to do: Print it to PDF" in texts(page)


def test_given_an_encrypted_file_when_its_password_is_tried_then_only_what_came_of_that_is_left_on_the_page(
    app: AppTest, library: Path
) -> None:
    page = settle(upload(settle(app), ("locked.pdf", make.encrypted())))
    page.text_input(key="password_0_0_text").set_value("wrong")
    settle(submit(page, "password_0_0"))
    assert "The password does not open this file." in texts(page)

    page.text_input(key="password_0_0_text").set_value("open sesame")
    settle(submit(page, "password_0_0"))

    assert badges(page).count("Indexed and ready to be asked: 1") == 1
    assert all("password" not in (field.key or "") for field in page.text_input)


def test_given_two_sessions_when_one_has_a_job_then_each_sees_and_is_answered_its_own(
    app: AppTest, library: Path
) -> None:
    first, second = settle(app), settle(another())

    with held():
        upload(first, ("secret-name.pdf", BRIDGE), ("broken.pdf", b"<html>"))
        second.run()
        assert "Files of another session are being added here: 2" in texts(second)
        assert "secret-name.pdf" not in texts(second)
        assert len(second.get("progress")) == 1
    settle(first)
    settle(second)

    assert "broken.pdf" in texts(first)
    assert "broken.pdf" not in texts(second)
    assert "Indexed" not in badges(second)
    assert "secret-name.pdf" in set(documents(second).dataframe[0].value["name"])

    with held():
        upload(first, ("bridge.pdf", BRIDGE))
        ask(first, "How many vacation days do employees have?")
        ask(second, "When are expenses reimbursed?")

        assert "25 vacation days" in texts(first)
        assert "25 vacation days" not in texts(second)
        assert "14 days" in texts(second)


def test_given_a_session_that_was_closed_when_its_job_ended_then_another_sees_what_came_of_it(
    app: AppTest, library: Path
) -> None:
    first, second = settle(app), settle(another())
    with held():
        upload(first, ("broken.pdf", b"<html>"))
    job: Job = first.session_state["plumbline"].jobs[0]
    while not job.finished:
        time.sleep(0.01)
    job.looked_at -= LEFT_ALONE_SECONDS + 1

    second.run()

    assert "broken.pdf" in texts(second)
    assert "A session that was closed had started this." in captions(second)
    upload(second, ("bridge.pdf", BRIDGE))
    assert "broken.pdf" not in texts(settle(second))


@pytest.mark.parametrize(
    ("shown", "asked", "waited", "ended", "news"),
    [
        ((1, 1), False, 0, False, False),
        ((1, 1), True, 0, True, True),  # one job of two
        ((0, 0), True, 0, False, True),
        ((0, 1), False, 0, False, True),
        ((0, 1), True, 0, True, False),
        ((0, 1), True, 11, False, True),
    ],
)
def test_given_new_documents_when_the_page_looks_then_it_is_drawn_anew_at_once_or_when_a_question_waited_enough(
    library: Path,
    app: AppTest,
    monkeypatch: pytest.MonkeyPatch,
    shown: tuple[int, int],
    asked: bool,
    waited: float,
    ended: bool,
    news: bool,
) -> None:
    monkeypatch.setattr(progress, "_version", lambda: (1, 1))
    monkeypatch.setattr(progress.time, "monotonic", lambda: 100.0 + waited)
    session = state.Session("x", {})
    session.asked = object() if asked else None  # type: ignore[assignment]
    session.jobs = [SimpleNamespace(finished=True), SimpleNamespace(finished=ended)]  # type: ignore[list-item]
    monkeypatch.setattr(state, "session", lambda: session)
    monkeypatch.setattr(progress.st, "session_state", type("State", (), {"jobs_page": (*shown, 100.0, 1)}))

    assert progress._news() is news


def test_given_another_model_when_built_anew_then_the_library_is_searched_with_it_in_every_session(
    app: AppTest, small_library: Path, model: str
) -> None:
    page = documents(settle(app))
    names = list(page.dataframe[0].value["name"])

    page.text_input(key="rebuild_model").set_value(model)
    page.selectbox(key="rebuild_precision").set_value("float32")
    submit(page, "rebuild_form")
    settle(page)

    assert f"Indexed and ready to be asked: {len(names)}" in badges(page)
    assert list(page.dataframe[0].value["name"]) == names
    assert as_built(small_library, "default", Settings.load()).embedding_model == model
    assert state.engine().tools.embedder.name == f"{model}@float32"
    second = documents(settle(another()))
    assert second.text_input(key="rebuild_model").value == model
    loading.forget()  # as in a process that starts later
    assert not documents(settle(another())).exception


def test_given_building_anew_when_it_is_stopped_then_the_collection_stays_and_the_half_made_part_can_be_discarded(
    app: AppTest, small_library: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = documents(settle(app))
    before = state.engine().library.snapshot.documents
    page.text_input(key="rebuild_model").set_value(model)
    begun, stopped, rebuild = threading.Event(), threading.Event(), work.rebuild_library

    def held_back(*given: Any, **named: Any) -> AddReport:
        begun.set()
        assert stopped.wait(JOB_SECONDS)
        return rebuild(*given, **named)

    monkeypatch.setattr(work, "rebuild_library", held_back)
    submit(page, "rebuild_form")
    assert begun.wait(JOB_SECONDS)
    page.button(key="stop_0").click().run()
    stopped.set()
    settle(page)

    assert "Stopped. The collection is as it was before." in badges(page)
    assert state.engine().library.snapshot.documents == before
    assert f"Documents that wait for it: {len(before)}" in page.warning[0].value
    page.button(key="discard_half").click().run()
    assert open_engine(small_library, "default").library.unfinished() == ()
    assert not page.warning


def test_given_a_damaged_library_when_opened_then_building_it_anew_is_offered_and_makes_it_whole(
    app: AppTest, small_library: Path
) -> None:
    path = small_library / "default" / FILE
    path.write_bytes(b"\0" + path.read_bytes())
    page = app.run()
    assert "collection.sqlite is damaged" in texts(page)

    submit(page, "rebuild_form")
    settle(page)

    assert len(documents(page).dataframe[0].value) == 2
    open_engine(small_library, "default").library.verify()


def test_given_a_library_whose_model_is_away_when_opened_then_it_can_be_built_anew_with_another(
    app: AppTest, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = loading.open_engine

    def away(*_: object, **__: object) -> object:
        raise ModelUnavailable("The model is away.", remedy="Bring it back.")

    monkeypatch.setattr(loading, "open_engine", away)
    page = app.run()
    assert "The model that this collection was built with cannot be loaded here." in page.info[0].value
    monkeypatch.setattr(loading, "open_engine", build)

    submit(page, "rebuild_form")
    settle(page)

    assert page.chat_input(key="question").disabled is False


def test_given_a_library_that_another_process_built_anew_when_looked_at_then_it_is_opened_with_the_new_model(
    app: AppTest, small_library: Path, model: str
) -> None:
    from rag_core.wiring import rebuild_library

    page = settle(app)
    rebuild_library(
        small_library, "default", Settings.load(values={"embedding_model": model, "embedding_precision": "float32"})
    )

    page.run()

    assert state.engine().tools.embedder.name == f"{model}@float32"


def test_given_files_of_which_one_fails_when_a_question_is_asked_then_the_problem_stays_until_the_next_upload(
    app: AppTest, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = settle(upload(settle(app), ("bridge.pdf", BRIDGE), ("broken.pdf", b"<html>")))
    assert "Indexed and ready to be asked: 1" in badges(page)

    ask(page, "How long is the harbour bridge?")
    assert "Indexed and ready to be asked" not in badges(page)
    assert "The file is not a PDF" in texts(page)

    monkeypatch.setattr(progress, "QUIET_SECONDS", -1.0)
    settle(upload(page, ("bridge.pdf", BRIDGE)))
    assert "The file is not a PDF" not in texts(page)
    assert "Already in the library, nothing to do: 1" in badges(page)
