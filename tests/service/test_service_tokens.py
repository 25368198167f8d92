"""Tokens: made, listed and revoked by command, kept as hashes, never readable by others."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from folding import each

from rag_core.domain.acts import Actor, acting
from rag_core.entrypoints.cli import main
from rag_core.entrypoints.commands.doctor import _service
from rag_core.errors import InvalidInput, NotAllowed
from rag_core.service.principal import Scope, Unauthenticated
from rag_core.service.tokens import FILE, Tokens

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(["token", *arguments, "--library", str(tmp_path / "library")])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def test_given_a_token_when_made_by_command_then_it_is_printed_once_and_only_its_hash_is_kept(tmp_path, run):
    code, out, _ = run(
        "create", "reports čeština", "--scope", "ask", "--scope", "index", "--collection", "alpha", "--days", "7"
    )
    text = out.strip()
    file = tmp_path / "library" / FILE
    kept = json.loads(file.read_text(encoding="utf-8"))["tokens"][0]

    assert code == 0
    assert text.startswith(f"plb_{kept['id']}_")
    assert len(text.rpartition("_")[2]) >= 40 or len(text) >= 50
    assert text not in file.read_text(encoding="utf-8")
    assert kept["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    holder = Tokens(tmp_path / "library").principal(text)
    assert (holder.id, holder.scopes, holder.collections) == (kept["id"], {Scope.ASK, Scope.INDEX}, {"alpha"})

    code, out, _ = run("list", "--json")
    assert code == 0
    row = json.loads(out)
    assert (row["name"], row["valid"]) == ("reports čeština", True)
    assert timedelta(0) <= datetime.now(UTC) - datetime.fromisoformat(row["used"]) < timedelta(minutes=10)
    assert "sha256" not in row
    assert run("list")[1].startswith(kept["id"])

    assert run("revoke", kept["id"])[0] == 0
    with pytest.raises(Unauthenticated):
        Tokens(tmp_path / "library").principal(text)
    assert json.loads(run("list", "--json")[1])["valid"] is False
    assert run("revoke", "00000000")[0] == 1


def test_given_a_token_when_its_days_are_over_then_it_opens_nothing(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    token, text = tokens.create("short", ["ask"], ["*"], days=1)
    assert tokens.principal(text).collections is None
    assert not token.is_valid(datetime.now(UTC) + timedelta(days=2))
    rows = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
    rows["tokens"][0]["expires"] = "2020-01-01T00:00:00+00:00"
    (tmp_path / FILE).write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(Unauthenticated):
        tokens.principal(text)


def test_given_somebody_who_may_make_no_token_when_they_try_then_the_service_stays_open(tmp_path: Path) -> None:
    with acting(Actor("user:eda@example.org", frozenset())), pytest.raises(NotAllowed):
        Tokens(tmp_path).create("x", ["ask"], ["*"])
    assert Tokens(tmp_path).all() == ()


@each(
    ("name", "scopes", "collections"),
    [
        ("x", [], ["a"]),
        ("x", ["root"], ["a"]),
        ("x", ["ask"], []),
        ("x", ["ask"], ["../a"]),
        ("x", ["ask"], ["A"]),
        ("", ["ask"], ["a"]),
        ("a\nb", ["ask"], ["a"]),
        ("x" * 101, ["ask"], ["a"]),
        ("x\x1b[1m", ["ask"], ["a"]),
    ],
)
def test_given_a_token_that_would_say_nothing_clear_when_made_then_it_is_refused(tmp_path, name, scopes, collections):
    with pytest.raises(InvalidInput):
        Tokens(tmp_path).create(name, scopes, collections)
    assert not (tmp_path / FILE).exists()


def test_given_tokens_when_the_machine_is_examined_then_it_says_who_may_call(tmp_path: Path) -> None:
    """No token, a valid one, one that is revoked, and a file of them that others may read."""
    assert "every program of this machine" in next(_service(tmp_path)).found
    token, _ = Tokens(tmp_path).create("x", ["ask"], ["*"])
    assert "1 of 1 tokens are valid" in next(_service(tmp_path)).found
    Tokens(tmp_path).revoke(token.id)
    assert "0 of 1 tokens are valid" in next(_service(tmp_path)).found
    (tmp_path / FILE).chmod(0o644)
    assert (next(_service(tmp_path)).ok, "chmod 600" in next(_service(tmp_path)).remedy) == (False, True)
