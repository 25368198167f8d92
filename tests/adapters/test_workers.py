"""Workers without Ray: chosen by a setting, alike or refused, and one that makes a document in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hash_embedder import HashEmbedder

from rag_core.adapters.workers import ray_workers as workers
from rag_core.adapters.workers.ray_workers import fingerprint, made, workers_of
from rag_core.errors import InvalidSetting, ModelUnavailable
from rag_core.ingest.reading import recognition
from rag_core.library.stored.collection import Collection
from rag_core.library.stored.entry import Accepted
from rag_core.library.stored.named import FILE
from rag_core.library.stored.sources import Source
from rag_core.library.stored.typed_json import to_row
from rag_core.service.collection import chosen
from rag_core.settings import Cost, Settings
from rag_core.settings.configuration import load_settings
from rag_core.work.handing_in import of_documents
from ui.app import state
from ui.settings.fields import FIXED

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = Settings.load()
DATA = (ROOT / "data/samples/company-policies.pdf").read_bytes()
ROW = to_row(Accepted.of(Source("a.pdf", DATA, "pdf")))


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, object]:
    """What a worker is told of the call. The model is not the real one, and the folder for its files is this test's."""
    monkeypatch.setattr(recognition, "_most_cores", None)  # a worker limits its process
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(workers, "_model", lambda model, precision: HashEmbedder())
    own = fingerprint(HashEmbedder(), SETTINGS)
    return {"model": ["hash", "float32"], "settings": SETTINGS.model_dump(mode="json"), "fingerprint": own}


def test_given_the_setting_then_documents_are_made_here_unless_it_names_workers_and_ray_is_imported_by_neither() -> (
    None
):
    assert workers_of(Settings.load()) is None
    with pytest.raises(InvalidSetting, match="no workers 'dask'") as caught:
        workers_of(Settings.load().changed(workers="dask"))
    assert "here, ray" in caught.value.remedy
    names = "import sys, rag_core.wiring, rag_core.adapters.workers.ray_workers; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", names], cwd=ROOT, check=False).returncode == 0


def test_given_the_setting_of_workers_then_no_caller_sets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    base = load_settings(environment={"RAG_WORKERS": " ray "})

    assert (base.workers, load_settings(environment={"RAG_WORKERS": " "}).workers) == ("ray", "here")
    with pytest.raises(InvalidSetting, match="'workers' cannot be changed by a call"):
        chosen(base, None, {"workers": "here"}, frozenset(Cost))
    assert "workers" not in of_documents(base)  # the next start has its own
    assert "workers" in FIXED
    monkeypatch.setattr(state, "base_settings", lambda: base)
    session = state.Session("balanced", Settings.load().model_dump(exclude={"preset"}))
    assert session.settings().workers == "ray"


def test_given_two_processes_then_they_are_alike_where_all_that_counts_is(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = HashEmbedder()
    monkeypatch.setattr(workers, "find_tessdata", lambda: (("eng", "deu"), "/somewhere"))
    found = fingerprint(embedder, SETTINGS)

    assert found == fingerprint(HashEmbedder(), SETTINGS)
    assert (found["embedding model"], found["tokenizer"], found["OCR"]) == (
        embedder.name,
        embedder.tokenizer,
        "+eng+deu",
    )
    assert fingerprint(embedder, SETTINGS.changed(ocr=False))["OCR"] == ""  # nobody asks for them
    assert found["bfloat16 in hardware"] == "False"
    monkeypatch.setattr(workers, "has_bfloat16", lambda: True)
    assert fingerprint(HashEmbedder(name="m@bfloat16"), SETTINGS)["bfloat16 in hardware"] == "True"
    monkeypatch.setattr(workers, "READING_VERSION", workers.READING_VERSION + 1)
    assert fingerprint(embedder, SETTINGS)["version"] != found["version"]


def test_given_an_order_then_a_collections_file_comes(said: dict[str, object], tmp_path: Path) -> None:
    head, body = made(said, ROW, DATA)

    assert head == {"made": True}
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / FILE).write_bytes(body)
    (entry,) = Collection(tmp_path, "made").complete(ROW["digest"])
    assert entry.document.name == "a.pdf"
    assert recognition.cores() == 1  # others work beside it


def test_given_what_can_go_wrong_then_a_file_fails_by_itself_and_another_version_or_no_model_is_everybodys(
    said: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = b"no PDF at all"
    assert made(said, to_row(Accepted.of(Source("b.pdf", broken, "pdf"))), broken)[0]["failed"][0] == "NotAPdf"

    other = made(said | {"fingerprint": fingerprint(HashEmbedder(name="other@float32"), SETTINGS)}, ROW, DATA)[0]
    assert "would not make the same documents" in other["problem"]

    def no_model(model: str, precision: str) -> None:
        raise ModelUnavailable("There is none.", remedy="Install it.")

    monkeypatch.setattr(workers, "_model", no_model)
    assert made(said, ROW, DATA) == ({"problem": "There is none.", "remedy": "Install it."}, b"")
