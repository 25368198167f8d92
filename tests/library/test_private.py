"""Nobody but the owner can read a library, whatever the umask: each file and folder that any part of the program makes
in it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import measurements
from certificates import certificate
from library_kit import SETTINGS, library, pdf, rebuilt, text

from rag_core.adapters.records.store import FILE as RECORDS
from rag_core.adapters.records.store import RecordStore
from rag_core.domain.documents import Metadata
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.library.disk.files import write_atomically
from rag_core.library.disk.private import make_folder
from rag_core.library.stored.named import FILE, create_collection
from rag_core.library.stored.sources import Source
from rag_core.records.stored import FeedbackKind, SavedPreset
from ui.app.first_run import index_samples


@pytest.fixture(autouse=True)
def no_umask() -> Iterator[None]:
    """As careless as a machine can be set up."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """The mode of everything in a folder, and of itself, that others have any right on."""
    found = [folder, *folder.rglob("*")]
    assert found
    with_modes = {str(path.relative_to(folder)): stat.S_IMODE(path.lstat().st_mode) for path in found if path.exists()}
    return {name: oct(mode) for name, mode in with_modes.items() if mode & 0o077}


def test_given_a_new_library_when_all_is_written_then_its_owner_alone_can_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "library"
    seen: set[str] = set()

    def look(what: str, done: int, total: int) -> None:
        seen.update(path.name for path in folder.rglob("*"))
        assert modes(tmp_path / "new") == {}, what

    opened = library(folder)
    report = opened.add(
        [Source("cats.pdf", pdf("Cats sleep all day."), "pdf"), text("dogs", "Dogs run.")], SETTINGS, progress=look
    )
    assert [one.name for one in report.added] == ["cats.pdf", "dogs"]
    opened.set_metadata(report.added[0].id, Metadata(title="Of cats"))
    opened.reread([report.added[0].id], SETTINGS.changed(passage_tokens=100), progress=look)
    store = RecordStore(folder / "default" / RECORDS)
    store.add_feedback(store.keep(measurements(0.8)), FeedbackKind.WRONG_ANSWER, "no")
    store.write_set("mine", [LabelledQuestion("q", "What?", True)])
    run = store.begin_run(
        "run", "mine", [LabelledQuestion("q", "What?", True)], settings=SETTINGS, calibration="c", model="m", version=1
    )
    store.add_result(run.id, "q", measurements(0.8))
    store.save_preset(SavedPreset("safe", {}, certificate().to_json(), "2026-11-22"))
    write_atomically(folder / "default" / "calibration.json", b"{}")
    create_collection(folder, "another")

    assert modes(tmp_path / "new") == {}
    names = {path.name for path in folder.rglob("*")} | seen
    assert {
        RECORDS,
        f"{RECORDS}-wal",
        f"{RECORDS}-shm",
        FILE,
        f"{FILE}-wal",
        "lock",
        "sources",
        "calibration.json",
    } <= names

    rebuilt(folder, "other@float32", progress=look)
    moved = store.move_aside()

    assert modes(tmp_path / "new") == {}
    assert moved is not None


def test_given_a_library_that_others_can_read_when_a_writer_opens_it_then_they_cannot_any_more(tmp_path: Path) -> None:
    library(tmp_path).add([text("dogs", "Dogs run.")], SETTINGS)
    outside = tmp_path / "outside"
    outside.write_text("not ours")
    outside.chmod(0o644)
    (tmp_path / "default" / "link").symlink_to(outside)
    store = RecordStore(tmp_path / "default" / RECORDS)
    store.keep(measurements(0.8))
    for path in (tmp_path / "default", *(tmp_path / "default").rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)

    library(tmp_path)
    assert modes(tmp_path / "default"), "a reader changes nothing"
    again = RecordStore(tmp_path / "default" / RECORDS)
    again.decisions()
    open_ones = modes(tmp_path / "default")
    assert not [name for name in open_ones if name.startswith((RECORDS, FILE))]
    library(tmp_path).add([text("cats", "Cats sleep.")], SETTINGS)

    assert set(modes(tmp_path / "default")) == {"link"}
    assert stat.S_IMODE(outside.stat().st_mode) == 0o666, "a link is not followed"


def test_given_a_place_that_a_user_named_when_written_to_then_it_gets_the_usual_mode(tmp_path: Path) -> None:
    write_atomically(tmp_path / "reports" / "report.json", b"{}", private=False)

    assert stat.S_IMODE((tmp_path / "reports" / "report.json").stat().st_mode) == 0o666


def test_given_folders_that_are_there_when_a_folder_is_made_then_they_keep_their_modes(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o777)

    make_folder(tmp_path / "shared" / "library" / "default")

    assert stat.S_IMODE((tmp_path / "shared").stat().st_mode) == 0o777
    assert modes(tmp_path / "shared" / "library") == {}


def test_given_the_samples_when_they_are_offered_then_the_marker_is_private_too(tmp_path: Path) -> None:
    class Engine:
        library = library(tmp_path / "library")

    index_samples(Engine(), tmp_path / "library", SETTINGS, lambda *said: None, lambda: True)  # type: ignore[arg-type]

    assert (tmp_path / "library" / ".samples-offered").exists()
    assert modes(tmp_path / "library") == {}
