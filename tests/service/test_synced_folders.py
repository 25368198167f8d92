"""Collections that follow a folder: of this machine, and of file systems that fsspec knows, with the real engine."""

from __future__ import annotations

import json
import os
import shutil
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fsspec
import pytest
from builders import a_job_of_another
from service_kit import running
from test_service_pins import DAYS, HANDBOOK, Api, until

from rag_core.adapters import folders
from rag_core.adapters.folders import LocalFolder, SyncedFolder, folder_at
from rag_core.domain.measurements import Measurements
from rag_core.entrypoints.cli import main
from rag_core.errors import IngestError, InvalidInput, InvalidSetting, LibraryDamaged, RagError
from rag_core.library.stored.sources import text_source
from rag_core.records.changes import Change
from rag_core.service.people import People
from rag_core.settings import Settings
from rag_core.wiring import records
from rag_core.work import loading, pins, syncing
from rag_core.work.runner import Runner, drop
from rag_core.work.syncing import Follower, State, Synced

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "samples" / "company-policies.pdf"
TEXT = "The warranty period of {name} is {months} months from delivery. The invoice is due in a month."
NAME = "contracts"
SHAPES = ("local", "fsspec-local", "fsspec-memory")


class Shared:
    """A collection, the folder that it follows, and whoever writes into the folder."""

    def __init__(self, tmp: Path, shape: str) -> None:
        self.library, self.runner, self.base = tmp / "library", Runner(), Settings.load()
        self.files: Any = fsspec.filesystem("memory" if shape == "fsspec-memory" else "file")
        self.root = f"/{uuid.uuid4().hex}" if shape == "fsspec-memory" else str(tmp / "folder")
        self.files.makedirs(self.root)
        self.folder = LocalFolder(Path(self.root)) if shape == "local" else SyncedFolder(self.files, self.root)

    def follower(self, **options: Any) -> Follower:
        return Follower(self.library, NAME, self.folder, self.base, self.runner, **{"still_seconds": 0.0, **options})

    def step(self, **options: Any) -> Synced:
        return self.follower(**options).step()

    def put(self, path: str, months: int = 24, data: bytes | None = None) -> None:
        self.files.makedirs(os.path.dirname(f"{self.root}/{path}"), exist_ok=True)
        self.files.pipe_file(f"{self.root}/{path}", data or TEXT.format(name=path, months=months).encode())

    def remove(self, *paths: str) -> None:
        for path in paths:
            self.files.rm_file(f"{self.root}/{path}")

    @property
    def known(self) -> State:
        return State.read(self.library / NAME / "synced" / "files.json")

    @property
    def documents(self) -> list[str]:
        return sorted(one.name for one in loading.fresh(self.library, NAME, self.base).library.snapshot.documents)

    def text(self, name: str) -> str:
        view = loading.fresh(self.library, NAME, self.base).library.view
        return next(view.page_text(one.id, 1) for one in view.documents if one.name == name)


@pytest.fixture
def synced(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shared]:
    """A folder of this machine, unless a test names other shapes."""
    found = Shared(tmp_path, getattr(request, "param", "local"))
    yield found
    loading.forget(found.library, NAME)
    if found.files.exists(found.root):
        found.files.rm(found.root, recursive=True)


@pytest.mark.parametrize("synced", SHAPES, indirect=True)
def test_given_a_folder_when_its_files_change_then_the_collection_follows(synced: Shared) -> None:
    synced.put("a.txt")
    synced.put("deep/down/b.md", 36)
    synced.put("policies.pdf", data=SAMPLE.read_bytes())
    for ignored in (".hidden.txt", "~$open.docx", "picture.iso", ".git/c.txt"):
        synced.put(ignored)
    assert synced.step() == Synced(added=3)
    assert synced.documents == ["a.txt", "b.md", "policies.pdf"]
    assert synced.step() == Synced(), "nothing changed"

    synced.put("a.txt", 60)
    synced.put("deep/c.txt", 12)
    assert synced.step() == Synced(added=2), "what it was before goes"
    assert synced.documents == ["a.txt", "b.md", "c.txt", "policies.pdf"]
    assert "60 months" in synced.text("a.txt")

    synced.remove("deep/c.txt")
    assert synced.step() == Synced(deleted=1)
    assert synced.documents == ["a.txt", "b.md", "policies.pdf"]
    assert synced.known.problems() == []


def test_given_equal_files_when_moved_or_deleted_then_their_one_document_goes_with_the_last(synced: Shared) -> None:
    same = TEXT.format(name="it", months=24).encode()
    for path in ("a.txt", "b/copy.txt"):
        synced.put(path, data=same)
    for path in ("x.txt", "y.txt"):
        synced.put(path)
    assert synced.step().added == 3
    synced.remove("a.txt")
    assert synced.step().deleted == 0
    assert len(synced.documents) == 3

    synced.put("c/moved.txt", data=same)
    synced.remove("b/copy.txt")
    assert synced.step() == Synced(added=1, deleted=0), "it is indexed once"
    assert "moved.txt" in synced.documents
    synced.remove("c/moved.txt")
    assert synced.step().deleted == 1
    assert synced.documents == ["x.txt", "y.txt"]


def test_given_files_of_one_name_when_they_are_many_then_all_come_in_batches(synced, monkeypatch):
    monkeypatch.setattr(syncing, "BATCH_FILES", 2)
    for folder in "abcd":
        synced.put(f"{folder}/same.txt")
    synced.put("e/other.txt")
    follower = synced.follower()
    assert follower.step() == Synced(added=2, left=3)
    assert follower.catch_up() == Synced(added=3)
    assert synced.documents == ["other.txt", *4 * ["same.txt"]]


def test_given_documents_uploaded_by_hand_then_the_folder_leaves_them_alone(synced: Shared) -> None:
    synced.put("a.txt")
    both = TEXT.format(name="both", months=48)
    synced.follower()
    library = loading.engine(synced.library, NAME, synced.base).library
    sources = [text_source("hand.txt", "The deposit is returned within 14 days."), text_source("both.txt", both)]
    library.add(sources, synced.base)
    synced.put("both.txt", data=both.encode())
    assert synced.step().added == 2
    assert synced.documents == ["a.txt", "both.txt", "hand.txt"]

    synced.remove("both.txt")
    assert synced.step() == Synced()
    assert synced.documents == ["a.txt", "both.txt", "hand.txt"], "somebody had uploaded it before"
    synced.remove("a.txt")
    assert synced.step(delete_most=True).deleted == 1
    assert synced.documents == ["both.txt", "hand.txt"]


def test_given_a_file_that_is_being_written_then_it_waits_until_it_stands_still(synced, monkeypatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(syncing, "time", SimpleNamespace(monotonic=lambda: clock.now))
    follower = synced.follower(still_seconds=5.0)
    synced.put("whole.txt")
    synced.put("half.txt", data=b"The warranty")
    assert follower.step() == Synced(left=2)
    clock.now = 4.0
    synced.put("half.txt", data=b"The warranty period is 24 months")
    assert follower.step() == Synced(left=2)
    clock.now = 5.0
    assert follower.step() == Synced(added=1, left=1)
    assert synced.documents == ["whole.txt"]
    clock.now = 9.0
    assert follower.step() == Synced(added=1)
    assert synced.text("half.txt") == "The warranty period is 24 months"

    synced.remove("half.txt")
    assert follower.step() == Synced(left=1), "somebody may be replacing it"
    synced.put("half.txt", data=b"The warranty period is 36 months from delivery")
    clock.now = 20.0
    assert follower.step() == Synced(left=1)
    clock.now = 25.0
    assert follower.step() == Synced(added=1)
    assert synced.documents == ["half.txt", "whole.txt"]


def test_given_a_file_that_cannot_be_read_then_it_is_listed_and_tried_again_only_when_it_changes(synced, monkeypatch):
    synced.put("good.pdf", data=SAMPLE.read_bytes())
    synced.put("bad.pdf", data=b"%PDF-1.7 and no more")
    assert synced.step().added == 1
    (problem,) = synced.known.problems()
    assert problem.startswith("bad.pdf: ")

    reads: list[str] = []
    read = synced.folder.read
    monkeypatch.setattr(synced.folder, "read", lambda path, stamp: (reads.append(path), read(path, stamp))[1])
    assert synced.step() == Synced()
    assert reads == []
    assert synced.known.problems() == [problem]

    synced.put("good.pdf", data=b"%PDF-1.7 which somebody broke")
    synced.step()
    assert reads == ["good.pdf"]
    assert synced.documents == ["good.pdf"], "what could be read of it before stays"
    assert len(synced.known.problems()) == 2
    synced.put("bad.pdf", data=SAMPLE.read_bytes())
    synced.put("good.pdf", data=SAMPLE.read_bytes())
    synced.step()
    assert synced.known.problems() == []
    synced.remove("bad.pdf")
    synced.step()
    assert len(synced.documents) == 1


@pytest.mark.parametrize("synced", ["local", "fsspec-memory"], indirect=True)
def test_given_a_folder_that_vanishes_then_nothing_is_deleted_and_that_is_said(synced: Shared) -> None:
    synced.put("a.txt")
    synced.step()
    synced.files.rm(synced.root, recursive=True)
    assert synced.step(delete_most=True) == Synced()
    assert synced.documents == ["a.txt"]
    assert "Nothing was deleted" in synced.known.problems()[0]

    synced.files.makedirs(synced.root)  # as an empty mount point
    synced.step()
    assert synced.documents == ["a.txt"]
    synced.put("a.txt")
    synced.step()
    assert synced.known.problems() == []


def test_given_most_files_gone_when_nobody_confirms_then_nothing_is_deleted(synced: Shared) -> None:
    for name in "abcd":
        synced.put(f"{name}.txt")
    synced.step()
    synced.remove("a.txt", "b.txt", "c.txt")
    assert synced.step() == Synced()
    assert len(synced.documents) == 4
    assert synced.known.problems()[0].startswith("3 of 4 documents have no file in the folder any more.")

    for name in "uvwxyz":  # others do not confirm it
        synced.put(f"{name}.txt")
    synced.step()
    assert synced.step() == Synced()
    assert len(synced.documents) == 10
    synced.put("a.txt")
    assert synced.step() == Synced(added=1, deleted=2), "now it is half of them"
    assert len(synced.documents) == 8

    synced.remove(*(f"{name}.txt" for name in "uvwxyz"))
    synced.step()
    assert len(synced.documents) == 8
    assert synced.step(delete_most=True).deleted == 6
    assert synced.documents == ["a.txt", "d.txt"]
    assert synced.known.problems() == []


@pytest.mark.parametrize("synced", ["local", "fsspec-memory"], indirect=True)
def test_given_a_part_that_cannot_be_read_then_nothing_is_deleted_and_it_is_named(synced, monkeypatch):
    """The user who runs the tests may read all folders, so the refusal is made."""
    for path in ("a.txt", "b.txt", "closed/c.txt"):
        synced.put(path)
    synced.step()
    files = synced.folder._files
    listed = files.ls

    def refusing(path: str, **options: Any) -> Any:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return listed(path, **options)

    monkeypatch.setattr(files, "ls", refusing)
    synced.remove("a.txt")
    synced.put("d.txt")
    assert synced.step() == Synced(added=1)
    assert synced.documents == ["a.txt", "b.txt", "c.txt", "d.txt"]
    assert synced.known.problems() == ["closed: Permission denied; nothing is deleted until it can be read."]
    monkeypatch.undo()
    assert synced.step().deleted == 1


@pytest.mark.parametrize("shape", ["local", "fsspec-local"])
def test_given_links_out_of_the_folder_then_they_are_not_followed(tmp_path: Path, shape: str) -> None:
    synced = Shared(tmp_path, shape)
    secret, root = tmp_path / "secret", Path(synced.root)
    (secret / "in").mkdir(parents=True)
    (secret / "in" / "s.txt").write_text("The secret is juniper.", encoding="utf-8")
    (root / "file.txt").symlink_to(secret / "in" / "s.txt")
    (root / "folder").symlink_to(secret)
    (root / "pipe.txt").symlink_to("/dev/zero")
    os.mkfifo(root / "fifo.txt")
    assert synced.folder.look() == ({}, "")
    assert (synced.step(), synced.documents) == (Synced(), [])


def test_given_a_link_that_is_set_after_the_look_then_it_is_not_read(synced: Shared, tmp_path: Path) -> None:
    synced.put("deep/down/a.txt")
    root, away = Path(synced.root), tmp_path / "away"
    ((path, stamp),) = synced.folder.look()[0].items()
    assert synced.folder.read(path, stamp) is not None

    (root / "deep" / "down").rename(away)  # so that it is the same file
    (root / "deep" / "down").symlink_to(away)
    with pytest.raises(IngestError):
        synced.folder.read(path, stamp)
    (root / "deep" / "down").unlink()
    (root / "deep" / "down").mkdir()
    (root / "deep" / "down" / "a.txt").symlink_to(away / "a.txt")
    with pytest.raises(IngestError):
        synced.folder.read(path, stamp)
    shutil.copy2(away / "a.txt", root / "new.txt")
    (root / "deep" / "down" / "a.txt").unlink()
    assert synced.folder.read(path, stamp) is None, "it is gone"
    assert synced.folder.read("new.txt", stamp) is None, "it is another file"


def test_given_a_kill_while_a_file_is_added_then_its_document_still_goes_with_it(synced, monkeypatch):
    synced.put("a.txt")
    synced.put("b.txt")
    with monkeypatch.context() as patch:
        patch.delattr(Follower, "_delete")  # which is called once the documents are there
        with pytest.raises(RagError):
            synced.step()
    assert synced.documents == ["a.txt", "b.txt"]
    assert synced.known.files == {}
    synced.remove("b.txt")
    assert synced.step() == Synced(added=1, deleted=1)
    assert synced.documents == ["a.txt"]


def test_given_a_job_that_is_stopped_then_its_files_come_with_the_next(synced: Shared) -> None:
    synced.put("a.txt")
    follower = synced.follower()
    follower.stop.set()  # as where the service stops, which the job is told
    with a_job_of_another(synced.runner):
        assert follower.step() == Synced(left=1)
    assert synced.known.files == {}
    follower.stop.clear()
    assert follower.step() == Synced(added=1)


def test_given_nothing_that_changed_when_looked_at_again_then_nothing_is_written(synced: Shared) -> None:
    synced.put("a.txt")
    follower = synced.follower()
    follower.step()
    written = follower.path.stat()
    assert follower.step() == Synced()
    assert follower.path.stat() == written
    synced.put("a.txt", 36)
    assert follower.step() == Synced(added=1)


def test_given_a_collection_that_is_deleted_then_the_folder_does_not_bring_it_back(synced: Shared) -> None:
    synced.put("a.txt")
    follower = synced.follower()
    follower.step()
    assert drop(synced.library, NAME, synced.runner)
    with pytest.raises(InvalidInput, match="was deleted"):
        follower.step()
    follower.stop.set()
    follower.follow()
    assert not (synced.library / NAME).exists()


def test_given_a_state_then_only_its_owner_may_read_it_and_nothing_is_done_where_it_is_damaged(synced: Shared) -> None:
    synced.step()
    for path in (synced.library / NAME / "synced", synced.library / NAME / "synced" / "files.json"):
        assert path.stat().st_mode & 0o077 == 0

    (synced.library / NAME / "synced" / "files.json").write_text("{}", encoding="utf-8")
    with pytest.raises(LibraryDamaged):
        synced.step()


def test_given_a_name_that_is_no_text_then_its_file_is_read_all_the_same(synced: Shared) -> None:
    Path(os.fsdecode(os.fsencode(synced.root) + b"/caf\xe9.txt")).write_text("The deposit is 100 euros.")
    assert synced.step().added == 1
    assert synced.step() == Synced()
    assert synced.documents == ["caf\ufffd.txt"]


def test_given_an_address_that_cannot_be_used_then_that_is_said() -> None:
    assert isinstance(folder_at("memory://contracts"), SyncedFolder)
    with pytest.raises(InvalidSetting, match="s3fs"):
        folder_at("s3://bucket/contracts")
    with pytest.raises(InvalidSetting, match="nowhere://"):
        folder_at("nowhere://contracts")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder is looked at all the time, and files stand still at once."""
    monkeypatch.setattr(folders, "POLL_SECONDS", 0.2)
    monkeypatch.setattr(Follower.__init__, "__defaults__", (0.0, False))


def access(library: Path, folder: Path) -> None:
    library.mkdir(exist_ok=True)
    (library / "access.yaml").write_text(f"collections: {{{NAME}: {{sync: '{folder}'}}}}", encoding="utf-8")


def test_given_a_folder_that_is_no_whole_path_then_it_is_refused(tmp_path: Path) -> None:
    access(tmp_path, Path("contracts"))
    with pytest.raises(InvalidSetting, match=f"collections.{NAME}.sync"):
        People(tmp_path / "access.yaml").folders()


@pytest.mark.usefixtures("quick")
def test_given_a_service_when_files_change_then_it_follows_and_asks_watched_answers_again(tmp_path: Path) -> None:
    folder, library = tmp_path / "contracts", tmp_path / "library"
    folder.mkdir()
    access(library, folder)
    (folder / "handbook.txt").write_text(HANDBOOK.format(days=25), encoding="utf-8")
    with running(library) as server, server.client() as client:
        api = Api(client, NAME)

        def names() -> list[str]:
            found = client.get(f"{api.at}/documents")
            return [one["name"] for one in found.json()["items"]] if found.is_success else []

        until(lambda: names() == ["handbook.txt"])
        days = api.ask(DAYS)["id"]
        assert api.pin(days) == 204
        (folder / "handbook.txt").write_text(HANDBOOK.format(days=30), encoding="utf-8")
        assert api.checked(days, "changed")["now"] == "30 days of vacation per year"
        until(lambda: names() == ["handbook.txt"])
        client.delete(api.at).raise_for_status()
        (folder / "new.txt").write_text(HANDBOOK.format(days=20), encoding="utf-8")
        until(lambda: not any(thread.name == "following a folder" for thread in threading.enumerate()))
        assert not (library / NAME).exists()
    loading.forget()


@pytest.mark.usefixtures("quick")
def test_given_the_command_then_it_follows_once_and_lists_what_is_wrong(tmp_path, capsys):
    folder, library = tmp_path / "contracts", tmp_path / "library"
    assert main(["sync", "--library", str(library)]) == 1
    assert "No collection follows a folder." in capsys.readouterr().err
    folder.mkdir()
    access(library, folder)
    assert main(["sync", "other", "--library", str(library)]) == 1
    assert "'other' follows no folder" in capsys.readouterr().err

    (folder / "a.txt").write_text(HANDBOOK.format(days=25), encoding="utf-8")
    assert main(["sync", "--library", str(library)]) == 0
    assert capsys.readouterr().err == f"{NAME}: 1 file added or replaced, 0 documents deleted.\n"

    measured: list[Measurements] = []
    engine, store = loading.engine(library, NAME, Settings.load()), records(library, NAME)
    engine.ask(DAYS, Settings.load(), on_measured=measured.append)
    pins.pin(engine.library, store, store.keep(measured[0]))
    (folder / "a.txt").write_text(HANDBOOK.format(days=30), encoding="utf-8")
    assert main(["sync", NAME, "--library", str(library)]) == 0
    assert [one.change for one in store.pins()] == [Change.CHANGED], "it was asked again"
    capsys.readouterr()

    (folder / "a.txt").unlink()
    assert main(["sync", NAME, "--library", str(library)]) == 1
    assert f"{NAME}: 1 of 1 documents have no file" in capsys.readouterr().err
    assert main(["sync", NAME, "--delete-most", "--library", str(library)]) == 0
    assert "1 document deleted" in capsys.readouterr().err
    folder.rmdir()
    assert main(["sync", NAME, "--library", str(library)]) == 1
    assert "Nothing was deleted." in capsys.readouterr().err
    rows = [json.loads(line) for line in (library / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    who = {row["who"].partition(":")[0] for row in rows if row["action"] in ("create_collection", "index", "delete")}
    assert who == {"command"}
    loading.forget()


@pytest.mark.parametrize("polling", [False, True])
def test_given_events_when_a_file_comes_then_the_folder_is_looked_at_and_no_link(tmp_path, monkeypatch, polling):
    pytest.importorskip("watchfiles")
    monkeypatch.setattr(folders, "POLL_MS", 100)
    root, away, stop = tmp_path / "root", tmp_path / "away", threading.Event()
    root.mkdir(), away.mkdir()
    (root / "link").symlink_to(away)
    folder = LocalFolder(root, polling=polling)
    seen = threading.Semaphore(0)

    def watch() -> None:
        for _ in folder.changes(stop):
            seen.release()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        until(lambda: ((root / "a.txt").write_text("1"), seen.acquire(timeout=2))[1])
        (root / "deep").mkdir()
        until(lambda: ((root / "deep" / "b.txt").write_text("1"), seen.acquire(timeout=2))[1])
        while seen.acquire(timeout=2):
            pass
        (away / "c.txt").write_text("1")
        assert polling or not seen.acquire(timeout=2)  # polling sees the time of what a link leads to, and no more
    finally:
        stop.set()
        thread.join(30)
    assert not thread.is_alive()
