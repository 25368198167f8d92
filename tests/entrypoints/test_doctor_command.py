"""`python -m rag_core doctor`: what it tries, said in words and as JSON, with a remedy wherever something is not as it
should be.
"""

from __future__ import annotations

import json
import sys

import pytest

from rag_core.entrypoints.cli import main
from rag_core.entrypoints.commands import doctor as doctor_command
from rag_core.ingest.reading import ocr_engines, pdf_process
from rag_core.ingest.reading.ocr_engines import OCR_LANGUAGES, find_tessdata
from supply import environment

ABOUT = (
    "Python",
    "packages",
    "reading PDFs",
    "its network",
    "its memory",
    "scanned pages",
    "embedding model",
    "library",
    "service",
    "the page",
)
Rows = dict[str, dict[str, object]]


def examine(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, Rows]:
    code = main(["doctor", "--json", *options])
    rows = json.loads(capsys.readouterr().out)
    return code, {row["about"]: row for row in rows}


def broken(rows: Rows) -> dict[str, str]:
    return {about: f"{row['found']} {row['remedy']}" for about, row in rows.items() if not row["ok"]}


@pytest.mark.ocr
@pytest.mark.skipif(
    find_tessdata()[0] != OCR_LANGUAGES or sys.platform != "linux",
    reason="needs all of Tesseract's languages, on Linux",
)
def test_given_a_machine_that_has_all_when_examined_then_each_row_is_right_and_names_what_was_tried(capsys, tmp_path):
    code, rows = examine(capsys, "--library", str(tmp_path / "library"))

    assert broken(rows) == {}
    assert (code, tuple(rows)) == (0, ABOUT)
    assert "seccomp" in str(rows["its network"]["found"])
    assert "2,048 MiB" in str(rows["its memory"]["found"])
    assert "hash of its weights is the published one" in str(rows["embedding model"]["found"])
    assert "refused the network" in str(rows["embedding model"]["found"])
    assert str(tmp_path / "library") in str(rows["library"]["found"])
    assert list(tmp_path.iterdir()) == []

    assert main(["doctor", "--library", str(tmp_path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(ABOUT)
    assert all(row.startswith("ok ") for row in said)


def test_given_a_machine_that_lacks_all_when_examined_then_each_row_says_what_to_do(capsys, tmp_path, monkeypatch):
    unblocked = tmp_path / "child.py"
    folder = pdf_process.WORKER.parent
    unblocked.write_text(
        f"import resource, sys; sys.path.append({str(folder)!r}); from pdf_worker import child, isolation; "
        f"isolation.MACHINES.clear(); "
        "child.set_limits = lambda request: None; child.main()",
        encoding="utf-8",
    )
    monkeypatch.setattr(pdf_process, "WORKER", unblocked)
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    there = environment.installed()
    del there["faiss-cpu"]
    there["regex"] = "1.0"
    monkeypatch.setattr(environment, "installed", lambda: there)

    code, rows = examine(
        capsys, "--library", str(unblocked / "library"), "--set", f"embedding_model={tmp_path / 'none'}"
    )

    wrong = broken(rows)
    assert code == 1
    assert tuple(wrong) == ("packages", "its network", "its memory", "scanned pages", "embedding model", "library")
    for about, words in {
        "packages": ("faiss-cpu", "regex 1.0", "make setup"),
        "its network": ("has a network", "no filter of system calls", "firewall"),
        "its memory": ("not limited",),
        "scanned pages": ("Install Tesseract",),
        "embedding model": ("could not be loaded", "Check the name"),
        "library": (str(unblocked), "cannot be written to", "--library"),
    }.items():
        assert [word for word in words if word not in wrong[about]] == [], wrong[about]


def test_given_a_reader_that_fails_when_examined_then_the_other_rows_are_there(capsys, tmp_path, monkeypatch):
    dead = tmp_path / "child.py"
    dead.write_text("import os; os.abort()", encoding="utf-8")
    monkeypatch.setattr(pdf_process, "WORKER", dead)

    assert main(["doctor", "--library", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "MEND  reading PDFs     The file made the reader crash at page 1." in said
    assert "ok    library" in said


def test_given_a_page_that_people_sign_in_to_when_examined_then_it_says_what_is_open_to_whom(tmp_path, monkeypatch):
    secrets, access = tmp_path / "secrets.toml", tmp_path / "access.yaml"
    secrets.write_text(
        '[auth]\nredirect_uri = "https://docs.example.org/oauth2callback"\ncookie_secret = '
        '"0123456789abcdef0123456789abcdef"\n'
        'client_id = "plumbline"\nclient_secret = "s"\nserver_metadata_url = '
        '"https://id.example.org/.well-known/openid-configuration"\n',
        encoding="utf-8",
    )
    secrets.chmod(0o600)
    monkeypatch.setenv("RAG_SECRETS", str(secrets))

    rows = {row.about: row for row in doctor_command._page(tmp_path)}
    assert "id.example.org" in rows["the page"].found
    assert not rows["roles"].ok
    assert "may do nothing" in rows["without a role"].found
    assert "answers nobody" in next(doctor_command._service(tmp_path)).found

    access.write_text(
        "others: ask\nroles: {editors: {may: [upload, ask], addresses: [a@x.org, b@x.org]}}", encoding="utf-8"
    )
    secrets.chmod(0o644)
    access.chmod(0o666)
    rows = {row.about: row for row in doctor_command._page(tmp_path)}
    assert rows["role"].found == "editors may ask, upload in all collections: 2 addresses, 0 values of claims."
    assert "ask questions" in rows["without a role"].found
    assert [about for about, row in rows.items() if not row.ok] == ["roles", "secrets"]

    access.write_text("roles: {editors: {may: [fly]}}", encoding="utf-8")
    (row,) = doctor_command._tried("the page", lambda: doctor_command._page(tmp_path))
    assert (row.ok, "roles.editors.may" in row.found) == (False, True)


def test_given_rapidocr_when_examined_then_it_is_named_or_how_to_install_it(capsys, tmp_path, monkeypatch):
    at = ("--library", str(tmp_path / "library"))
    for module in (doctor_command, ocr_engines):
        monkeypatch.setattr(module, "find_weights", lambda: "/weights")
    assert "ocr_engine=rapidocr has it read" in str(examine(capsys, *at)[1]["scanned pages"]["found"])
    assert "RapidOCR" in str(examine(capsys, *at, "--set", "ocr_engine=rapidocr")[1]["scanned pages"]["found"])

    monkeypatch.setattr(ocr_engines, "find_weights", lambda: "")
    code, rows = examine(capsys, *at, "--set", "ocr_engine=rapidocr")

    assert code == 1
    assert "make rapidocr" in broken(rows)["scanned pages"]
