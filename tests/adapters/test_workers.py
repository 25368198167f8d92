"""Workers without Ray: chosen by a setting, alike or refused, and one that makes a document in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hash_embedder import HashEmbedder

from rag_core.adapters.workers import fingerprint as alike
from rag_core.adapters.workers import maker
from rag_core.adapters.workers.choose import workers_of
from rag_core.adapters.workers.fingerprint import fingerprint, program
from rag_core.adapters.workers.maker import Maker
from rag_core.adapters.workers.ray_workers import RayWorkers
from rag_core.domain.ports import Cancel, Embedder, Progress
from rag_core.errors import DamagedPdf, InvalidSetting, ModelUnavailable
from rag_core.ingest.reading import recognition
from rag_core.library.stored.inbox import Accepted
from rag_core.library.stored.sources import Source
from rag_core.library.stored.store import Store
from rag_core.service.chosen import chosen
from rag_core.settings import Cost, Settings
from rag_core.settings.configuration import load_settings
from rag_core.work.handing_in import of_documents
from ui.app import state
from ui.settings.fields import FIXED

ROOT = Path(__file__).resolve().parents[2]
ROW = Accepted.of(Source("a.pdf", b"%PDF-1.4", "pdf"))
ORDER = json.dumps({"row": ROW.to_json(), "settings": Settings.load().model_dump(mode="json")})


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Maker:
    monkeypatch.setattr(recognition, "_most_cores", None)  # a worker limits its process
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(maker, "load_embedder", lambda model, precision: HashEmbedder())
    return Maker("hash", "float32")


def making(monkeypatch: pytest.MonkeyPatch, what: Callable[[Path, Progress, Cancel], dict[str, bytes]]) -> None:
    def make(
        row: Accepted, data: bytes, settings: Settings, embedder: Embedder, store: Store, progress: Progress, cancelled: Cancel
    ) -> dict[str, bytes]:
        assert (row, data, settings) == (ROW, b"data", Settings.load())
        return what(store.root, progress, cancelled)

    monkeypatch.setattr(maker, "make", make)


def test_given_the_setting_then_documents_are_made_here_unless_it_names_workers_and_ray_is_imported_by_neither() -> None:
    assert workers_of(Settings.load()) is None
    with pytest.raises(InvalidSetting, match="no workers 'dask'") as caught:
        workers_of(Settings.load().changed(workers="dask"))
    assert "here, ray" in caught.value.remedy
    names = "import sys, rag_core.wiring, rag_core.adapters.workers.ray_workers as w; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", names], cwd=ROOT, check=False).returncode == 0


def test_given_the_setting_of_workers_then_whoever_runs_the_program_sets_it_and_no_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    base = load_settings(environment={"RAG_WORKERS": " ray "})

    assert (base.workers, load_settings(environment={"RAG_WORKERS": " "}).workers) == ("ray", "here")
    with pytest.raises(InvalidSetting, match="'workers' cannot be changed by a call"):
        chosen(base, None, {"workers": "here"}, frozenset(Cost))
    assert "workers" not in of_documents(base)  # the next start has its own
    assert "workers" in FIXED
    monkeypatch.setattr(state, "base_settings", lambda: base)
    session = state.Session("balanced", Settings.load().model_dump(exclude={"preset"}))
    assert session.settings().workers == "ray"


def test_given_two_processes_then_they_are_alike_where_program_model_and_languages_of_ocr_are(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = HashEmbedder()
    monkeypatch.setattr(alike, "find_tessdata", lambda: (("eng", "deu"), "/somewhere"))
    found = fingerprint(embedder, ocr="tesseract")

    assert found == fingerprint(HashEmbedder(), ocr="tesseract")
    assert (found["embedding model"], found["tokenizer"], found["OCR languages"]) == (embedder.name, embedder.tokenizer, "eng+deu")
    assert fingerprint(embedder, ocr="")["OCR languages"] == ""  # nobody asks for them
    assert found.keys() ^ fingerprint(HashEmbedder(name="m@bfloat16"), ocr="tesseract").keys() == {"bfloat16 in hardware"}


def test_given_a_changed_word_of_the_program_then_it_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "sub" / "one.py"
    file.parent.mkdir()
    file.write_text("a = 1\n", encoding="utf-8")
    monkeypatch.setattr(alike, "CODE", tmp_path)
    before = program.__wrapped__()
    file.write_text("a = 2\n", encoding="utf-8")

    assert program.__wrapped__() != before
    assert len(before) == 12


def test_given_an_order_then_the_files_come_behind_their_names_and_sizes_and_nothing_stays(
    made: Maker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[object] = []

    def files(root: Path, progress: Progress, cancelled: Cancel) -> dict[str, bytes]:
        (root.parent / "left").write_bytes(b"x")
        progress("a.pdf: reading", 1, 2)
        seen.extend((made.look(), cancelled()))
        return {"pages": b"abc", "vectors": b"12"}

    making(monkeypatch, files)
    head, body = made.make(1, ORDER, b"data")

    assert (json.loads(head), body) == ({"made": [["pages", 3], ["vectors", 2]]}, b"abc12")
    assert seen == [("a.pdf: reading", 1, 2), False]
    assert made.look() is None
    assert list(tmp_path.iterdir()) == []
    assert recognition.cores() == 1  # others work beside it
    assert json.loads(made.greeting("")) == {"fingerprint": fingerprint(HashEmbedder(), ocr="")}


def test_given_what_can_go_wrong_then_a_file_fails_by_itself_and_a_model_that_is_gone_is_everybodys(
    made: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(error: Exception) -> dict[str, object]:
        def raises(root: Path, progress: Progress, cancelled: Cancel) -> dict[str, bytes]:
            raise error

        making(monkeypatch, raises)
        return dict(json.loads(made.make(1, ORDER, b"data")[0]))

    assert fails(DamagedPdf("It is damaged.", remedy="Save it.")) == {"failed": ["DamagedPdf", "It is damaged.", "Save it."]}
    assert fails(ModelUnavailable("It is gone.", remedy="Wait.")) == {"problem": "It is gone.", "remedy": "Wait."}

    def no_model(model: str, precision: str) -> Embedder:
        raise ModelUnavailable("There is none.", remedy="Install it.")

    monkeypatch.setattr(maker, "load_embedder", no_model)
    assert json.loads(Maker("x", "auto").greeting("")) == {"problem": "There is none.", "remedy": "Install it."}


def test_given_an_order_that_nobody_wants_then_it_ends_also_where_it_had_not_begun(made: Maker, tmp_path: Path) -> None:
    source = (ROOT / "data/samples/company-policies.pdf").read_bytes()
    row = Accepted.of(Source("a.pdf", source, "pdf"))
    order = json.dumps({"row": row.to_json(), "settings": Settings.load().model_dump(mode="json")})

    made.stop(4)
    assert json.loads(made.make(4, order, source)[0]) == {"stopped": True}
    head, body = made.make(5, order, source)
    assert len(json.loads(head)["made"]) == 7
    assert sum(size for _, size in json.loads(head)["made"]) == len(body)


def test_given_folders_of_workers_that_were_killed_then_the_next_one_clears_them_and_no_other(made: Maker, tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead, alive, other = (
        tmp_path / name for name in (f"plumbline-worker-{ended.pid}-x", f"plumbline-worker-{os.getpid()}-x", "plumbline-worker-mine")
    )
    for folder in (dead, alive, other):
        folder.mkdir()
        (folder / "source").write_bytes(b"a document")

    Maker("hash", "float32")

    assert [folder.exists() for folder in (dead, alive, other)] == [False, True, True]


def test_given_no_more_threads_when_a_call_of_workers_ends_then_the_next_one_is_served_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = RayWorkers.__new__(RayWorkers)
    ended._serving, ended._child = threading.Lock(), None
    ended._serving.acquire()
    monkeypatch.setattr(threading.Thread, "start", lambda _: (_ for _ in ()).throw(RuntimeError("can't start new thread")))
    with pytest.raises(RuntimeError):
        ended.end()
    assert not ended._serving.locked()
