"""The part of `doctor` about a service: where it listens and for whom, its user and limits, quotas, and what each token opens."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rag_core.entrypoints.commands import doctor_service, serving
from rag_core.entrypoints.commands.serving import FILE, Process, Serving, noted
from rag_core.library.quota import Quota
from rag_core.service.callers.tokens import Tokens
from rag_core.wiring import make_collection, records

HERE = Serving(os.getpid(), "127.0.0.1", 8501, "", 60, page=True)


def test_given_a_service_that_runs_when_examined_then_it_is_said_where_it_listens_and_for_whom(tmp_path: Path) -> None:
    assert "No `serve` runs" in doctor_service.running(tmp_path, login=False)[0][2]
    with noted(tmp_path, HERE):
        assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
        (_, ok, where, _), _, (_, _, limits, _) = doctor_service.running(tmp_path, login=False)
        assert (ok, "port 8501: open to this machine alone" in where, "60 calls a minute" in limits) == (True, True, True)
    assert not (tmp_path / FILE).exists()
    for login, ok in ((False, False), (True, True)):  # a proxy lets others in, and nobody signs in
        with noted(tmp_path, Serving(os.getpid(), "127.0.0.1", 8501, "docs.example.org", 120, page=True)):
            found = doctor_service.running(tmp_path, login=login)[0]
            assert (found[1], "docs.example.org" in found[2]) == (ok, True)
    with noted(tmp_path, Serving(os.getpid(), "0.0.0.0", 8501, "", 120, page=False)):
        assert "other machines reach" in doctor_service.running(tmp_path, login=False)[0][2]


def test_given_a_service_that_takes_visitors_when_examined_then_it_is_said_and_a_proxy_without_a_login_is_no_fault(tmp_path: Path) -> None:
    with noted(tmp_path, Serving(os.getpid(), "127.0.0.1", 8501, "demo.example.org", 120, page=True, visit_minutes=30)):
        where, visitors = doctor_service.running(tmp_path, login=False)[:2]

    assert where[1]
    assert visitors[:2] == ("visitors", True)
    assert "deleted 30 minutes after they leave" in visitors[2]


def test_given_the_note_of_a_process_that_is_gone_or_of_another_then_it_is_no_service_and_stays_its_own(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"pid": 4194304, "host": "0.0.0.0", "port": 1, "proxy": "", "rate": 1, "page": true}', encoding="utf-8")
    assert serving.read(tmp_path) is None
    for broken in ("", "[]", "{}", "null"):
        (tmp_path / FILE).write_text(broken, encoding="utf-8")
        assert serving.read(tmp_path) is None, broken
    with noted(tmp_path, Serving(4194304, "127.0.0.1", 1, "", 1, page=True)):
        (tmp_path / FILE).write_text(
            f'{{"pid": {os.getppid()}, "host": "::1", "port": 1, "proxy": "", "rate": 1, "page": true}}', encoding="utf-8"
        )
    assert serving.read(tmp_path) is not None, "another was started since, and its note is not ours to remove"


def test_given_a_process_when_examined_then_its_user_umask_and_memory_are_told_and_what_it_lacks_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = serving.process(os.getpid())
    assert found is not None
    assert found.uid == os.getuid()
    before = os.umask(0o027)
    try:
        assert serving.process(os.getpid()) == Process(found.uid, 0o027, found.memory)
    finally:
        os.umask(before)
    assert serving.process(4194304) is None
    proxied = Serving(os.getpid(), "127.0.0.1", 8501, "docs.example.org", 120, page=True)
    for process, lacks in (
        (Process(0, 0o022, None), ("a user of its own", "umask 0077", "a limit on memory")), (Process(4321, 0o077, 6 << 30), ()),
    ):  # fmt: skip
        monkeypatch.setattr(serving, "process", lambda _, process=process: process)
        with noted(tmp_path, proxied):
            row = doctor_service.running(tmp_path, login=True)[1]
        assert (row[1], all(one in row[3] for one in lacks)) == (not lacks, True)
        with noted(tmp_path, HERE):
            assert doctor_service.running(tmp_path, login=True)[1][1], "one's own machine"
    assert "6,144 MiB" in row[2]


def test_given_quotas_and_tokens_when_examined_then_each_is_told_with_what_it_opens(tmp_path: Path) -> None:
    assert "No collection has a quota" in doctor_service.quotas(tmp_path)[2]
    make_collection(tmp_path, "contracts")
    make_collection(tmp_path, "plans")
    records(tmp_path, "contracts").set_quota(Quota(500, None))
    assert "contracts 500 documents, any number of bytes; 1 other" in doctor_service.quotas(tmp_path)[2]
    kept = Tokens(tmp_path)
    kept.create("reports", ["ask", "index"], ["contracts", "plans"], days=1)
    kept.create("all", ["admin"], ["*"])
    gone, _ = kept.create("gone", ["ask"], ["plans"])
    kept.revoke(gone.id)
    said = [row[2] for row in doctor_service.tokens(kept.all(), datetime.now(UTC))]
    assert len(said) == 2
    assert "(reports): ask, index in contracts, plans, until 20" in said[0]
    assert "(all): admin in all collections, without an end" in said[1]
