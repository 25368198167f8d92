"""`docs/operate.md` and `docs/api.md` are true: their commands parse, their curl lines are run, systemd takes the unit
file.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from service_kit import Server, running

from rag_core.entrypoints.cli import main, parser
from rag_core.entrypoints.commands.serve import is_open
from rag_core.service.people import People
from rag_core.settings.login import login

ROOT = Path(__file__).resolve().parents[2]
API, OPERATE, README = ROOT / "docs" / "api.md", ROOT / "docs" / "operate.md", ROOT / "README.md"
CONTAINERFILE, COMPOSE = ROOT / "deploy" / "Containerfile", ROOT / "deploy" / "compose.yaml"
SAMPLE = ROOT / "data" / "samples" / "company-policies.pdf"


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("operate") / "library") as server:
        yield server


def test_given_the_page_when_its_curl_lines_are_run_in_their_order_then_each_is_served(alone, tmp_path, capsys):
    text = API.read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL) if block.startswith("curl")]
    arguments = "token create page --scope ask --scope index --collection contracts --library".split()
    assert main([*arguments, str(alone.folder)]) == 0
    token = capsys.readouterr().out.strip()
    shutil.copy(SAMPLE, tmp_path / "contract.pdf")
    environment = {**os.environ, "SERVICE": alone.address, "TOKEN": token}

    said = []
    for block in blocks:
        run = {"capture_output": True, "text": True, "timeout": 60, "check": False}
        done = subprocess.run(["bash", "-c", block], cwd=tmp_path, env=environment, **run)
        assert done.returncode == 0, (block, done.stdout, done.stderr)
        said.append(json.loads(done.stdout))

    assert len(blocks) >= 11
    assert [one["indexed"] for one in said[:2]] == [1, 1]
    assert "24 months" in said[2]["answer"]
    assert said[2]["id"] == "1"


def test_given_the_readme_when_its_curl_lines_are_run_then_a_text_is_indexed_asked_and_decided_over(tmp_path):
    """As they stand, on a service without a token; only the address is another."""
    text = README.read_text(encoding="utf-8").partition("## As a service")[2].partition("\n## ")[0]
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL) for line in block.splitlines()]
    assert [line.split()[2].rpartition("/")[2] for line in lines] == ["index", "query", "decide"]
    said = []
    with running(tmp_path / "library") as server:
        for line in lines:
            command = line.replace("http://127.0.0.1:8501", server.address)
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=True)
            said.append(json.loads(done.stdout))
    assert said[0]["indexed"] == 1
    assert ["24 months" in one["answer"] and one["is_safe"] for one in said[1:]] == [True, True]


def test_given_the_page_then_its_commands_are_as_the_command_line_takes_them() -> None:
    """Also those of the unit file and of the container."""
    text = API.read_text(encoding="utf-8") + OPERATE.read_text(encoding="utf-8")
    lines = re.findall(r"python -m rag_core ((?:serve|token|mcp|audit|profiles)[^`\n]*)", text)
    lines += re.findall(
        r"python -m rag_core (serve .*)", (ROOT / "deploy" / "plumbline.service").read_text(encoding="utf-8")
    )
    lines += [" ".join(json.loads(re.findall(r"^CMD (.*)$", CONTAINERFILE.read_text("utf-8"), re.MULTILINE)[0]))]
    lines += re.findall(r"compose\.yaml (?:run --rm plumbline|exec .* rag_core) (.*)", COMPOSE.read_text("utf-8"))
    lines += re.findall(r"^plumbline (\w.*)$", "\n".join(ten_minutes()), re.MULTILINE)
    assert len(lines) >= 10
    for line in lines:
        parser().parse_args(shlex.split(line))


def ten_minutes() -> list[str]:
    """The steps to an instance behind a proxy, to a backup and to a newer version, as lines for a shell."""
    text = OPERATE.read_text(encoding="utf-8").partition("## Ten minutes")[2].partition("## People who sign in")[0]
    return re.findall(r"```bash\n(.*?)```", text, flags=re.DOTALL)


def test_given_the_steps_to_an_instance_then_a_shell_takes_them_and_what_they_copy_is_there(tmp_path: Path) -> None:
    """And the files that they write are those that the program reads."""
    blocks = ten_minutes()
    assert len(blocks) == 9
    for block in blocks:
        done = subprocess.run(["bash", "-n"], input=block, capture_output=True, text=True, timeout=20, check=False)
        assert (done.returncode, done.stderr) == (0, ""), block
    copied = re.findall(r"^cp -r (.*) /opt/plumbline/$", blocks[0], re.MULTILINE)[0].split()
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert {"app.py", "data", "pages", "ui", "rag_core", ".streamlit", "requirements.lock"} <= set(copied)
    written = blocks[1].replace("/etc/plumbline", str(tmp_path)).replace("chown", ": chown")
    environment = os.environ | {
        "NAME": "docs.example.org",
        "PROVIDER": "https://id.example.org/.well-known/openid-configuration",
    }
    subprocess.run(["bash", "-ec", written], env=environment, check=True, timeout=20)
    assert (tmp_path / "secrets.toml").stat().st_mode & 0o777 == 0o640
    known = login({"RAG_SECRETS": str(tmp_path / "secrets.toml")})
    assert known.host == "docs.example.org"
    assert set(People(tmp_path / "access.yaml").rules().roles) == {"readers", "keepers"}
    unit = (ROOT / "deploy" / "plumbline.service").read_text(encoding="utf-8")
    assert "\nOOMPolicy=continue\n" in unit
    assert "EnvironmentFile=-/etc/plumbline/environment" in unit
    (tmp_path / "copy").mkdir()
    for name in copied:
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / "copy" / name)
    compared = [sys.executable, "-m", "supply.environment"]  # the last act of `make setup`, which is too long for here
    done = subprocess.run(compared, cwd=tmp_path / "copy", capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    # and an image takes as much
    taken = {
        line[1:].partition("/")[0]
        for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if line[0] == "!"
    }
    assert taken == set(copied) - {"deploy"}
    for line in re.findall(r"^COPY (.*) \S+$", CONTAINERFILE.read_text("utf-8"), re.MULTILINE):
        assert set(line.split()) <= taken | {"."}


def test_given_the_compose_file_then_what_it_names_is_there_and_the_proxy_alone_reaches_the_page(alone, tmp_path):
    """It is not started here: tests/clients/containers.py does that. Its check of health is run as it stands, but for
    the address.
    """
    text = COMPOSE.read_text(encoding="utf-8")
    parts = yaml.safe_load(text)
    service, proxy = parts["services"]["plumbline"], parts["services"]["proxy"]
    assert (COMPOSE.parent / service["build"]["context"]).resolve() == ROOT
    assert (ROOT / service["build"]["dockerfile"]).is_file()
    for name in service["build"]["args"]:
        assert f"\nARG {name}\n" in CONTAINERFILE.read_text("utf-8")
    mounted = [volume.partition(":")[0] for one in (service, proxy) for volume in one["volumes"]]
    assert {name for name in mounted if name[0] not in "./"} == set(parts["volumes"])
    assert all((COMPOSE.parent / name).exists() for name in mounted if name[0] == ".")
    assert service["networks"] == proxy["networks"] == list(parts["networks"])
    for variable in proxy["environment"]:
        assert f"{{${variable.partition('=')[0]}:" in (COMPOSE.parent / "Caddyfile").read_text(encoding="utf-8")

    arguments = parser().parse_args([re.sub(r"\$\{NAME:.*\}", "docs.example.org", word) for word in service["command"]])
    assert not is_open(arguments)
    assert arguments.proxy_address == [parts["networks"]["inside"]["ipam"]["config"][0]["subnet"]]
    assert "ports" not in service
    command = [word.replace("http://127.0.0.1:8501", alone.address) for word in service["healthcheck"]["test"]]
    assert command[:2] == ["CMD", ".venv/bin/python"]
    subprocess.run([sys.executable, *command[2:]], check=True, timeout=60)


def test_given_the_lines_for_a_backup_then_what_they_copy_is_put_back_as_it_was(tmp_path: Path) -> None:
    """In a folder that stands for the machine's root; hidden files and modes included."""
    library, secrets = tmp_path / "var/lib/plumbline", tmp_path / "etc/plumbline/secrets.toml"
    for folder in (library, secrets.parent, tmp_path / "root"):
        folder.mkdir(parents=True)
    (library / ".had-tokens").write_text("x", encoding="utf-8")
    secrets.write_text("y", encoding="utf-8")
    secrets.chmod(0o640)
    backup, restore = ten_minutes()[6:8]

    def run(lines: str) -> None:
        said = re.sub(r"(?<=[ \"])(?=/(?:root|var)/)|(?<=-C )(?=/ )", str(tmp_path), lines)
        said = re.sub(r"plumbline-[0-9-]+\.tar", "plumbline-$(date +%F).tar", said)
        subprocess.run(["bash", "-ec", f"systemctl() {{ :; }}; plumbline() {{ :; }}\n{said}"], check=True, timeout=20)

    run(backup)
    (library / ".had-tokens").write_text("lost", encoding="utf-8")
    secrets.unlink()
    run(restore)

    assert (library / ".had-tokens").read_text(encoding="utf-8") == "x"
    assert secrets.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in (tmp_path / "var/lib").glob("plumbline-before-*")]


def test_given_the_lines_of_an_upgrade_then_the_new_program_replaces_the_old_one_and_what_was_set_up_stays(tmp_path):
    """In folders that stand for the machine's and for the copy of the new version, by commands that stand for systemd's
    and make's.
    """
    old, new = tmp_path / "opt/plumbline", tmp_path / "copy"
    for name in (".venv/bin/python", "rag_core/gone.py", "rag_core/stays.py", "data/gone.yaml", "app.py"):
        (old / name).parent.mkdir(parents=True, exist_ok=True)
        (old / name).write_text("old", encoding="utf-8")
    lines = ten_minutes()[8]
    new.mkdir()
    for name in re.findall(r"^cp -r (.*) /opt/plumbline/$", lines, re.MULTILINE)[0].split():
        assert (ROOT / name).exists(), name
        (new / name).mkdir() if (ROOT / name).is_dir() else (new / name).write_text("new", encoding="utf-8")
    (new / "rag_core" / "stays.py").write_text("new", encoding="utf-8")
    told = "".join(
        f'{name}() {{ echo "{name} $1" >> {tmp_path}/done; }}\n' for name in ("systemctl", "make", "plumbline")
    )

    subprocess.run(["bash", "-euc", told + lines.replace("/opt/", f"{tmp_path}/opt/")], cwd=new, check=True, timeout=20)

    done = ["systemctl stop", "make -C", "systemctl start", "plumbline doctor"]
    assert (tmp_path / "done").read_text().splitlines() == done
    assert sorted(path.name for path in old.rglob("*") if path.is_file() and path.read_text() == "old") == ["python"]
    assert (old / "rag_core" / "stays.py").read_text() == "new"
    assert {path.name for path in new.iterdir()} | {".venv"} == {path.name for path in old.iterdir()}
    assert re.findall(r"^cp -r (.*)$", ten_minutes()[0], re.MULTILINE) == re.findall(
        r"^cp -r (.*)$", lines, re.MULTILINE
    ), "as at first"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_given_the_unit_file_when_systemd_looks_at_it_then_it_has_nothing_against_it(tmp_path: Path) -> None:
    """Its program and user are not on this machine: others take their places."""
    unit = (ROOT / "deploy" / "plumbline.service").read_text(encoding="utf-8")
    unit = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", unit, flags=re.MULTILINE)
    unit = re.sub(r"^(User|Group)=.*", r"\1=root", unit, flags=re.MULTILINE)
    (tmp_path / "plumbline.service").write_text(unit, encoding="utf-8")
    command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / "plumbline.service")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "plumbline" not in done.stderr, done.stderr
