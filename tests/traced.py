"""Runs a program with all its processes under strace, and reads what they asked of the kernel: the native parts of
libraries too.

Traced are sockets, and whatever creates, opens to write, renames or removes a file.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

STRACE = shutil.which("strace")
CALLS = (
    "socket,connect,sendto,sendmsg,sendmmsg,"
    "open,openat,openat2,creat,truncate,mkdir,mkdirat,rmdir,rename,renameat,renameat2,unlink,unlinkat,link,linkat,symlink,symlinkat"
)
# What a started program may bring along that would hide or cause something: caches elsewhere, switches of telemetry,
# addresses of models.
HIDING = ("XDG_", "HF_", "ORT_", "DO_NOT_TRACK", "MPL", "RAG_", "OPENAI_", "STREAMLIT_", "PYTHON", "CI", "GITHUB_")
needs_strace = pytest.mark.skipif(STRACE is None or sys.platform != "linux", reason="needs strace")

_LINE = re.compile(r"(\d+) +(?:(\w+)\(|<\.\.\. (\w+) resumed>)(.*)")
_PATH = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
_ADDRESS = re.compile(r'inet_(?:addr\(|pton\(AF_INET6, )"([^"]*)"')


@dataclass(frozen=True)
class Traced:
    """What was asked: families of sockets; what was spoken to elsewhere than on this machine, and lookups of names;
    files changed.

    A relative path whose folder the kernel was not told stands as it was given, and is inside no folder.
    """

    families: frozenset[str]
    spoken_to: tuple[str, ...]
    changed: frozenset[str]

    def outside(self, *folders: Path) -> set[str]:
        """The changed files that are in none of these folders; devices, and modules compiled beside their source, do
        not count.
        """
        inside = tuple(f"{folder}{os.sep}" for folder in folders)
        return {
            path
            for path in self.changed
            if not f"{path}{os.sep}".startswith(inside)
            and not path.startswith(("/dev/null", "/dev/shm/sem."))
            and "/__pycache__" not in path
        }


def under_strace(trace: Path) -> list[str]:
    """The beginning of a command line; what follows is traced into this file."""
    return [str(STRACE), "-f", "-y", "--seccomp-bpf", "-o", str(trace), "-e", f"trace={CALLS}", "--"]


def bare_environment(home: Path, temporary: Path) -> Mapping[str, str]:
    """The environment of a first start on a new machine: an empty home folder, no switch set."""
    for folder in (home, temporary):
        folder.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(HIDING)}
    return kept | {"HOME": str(home), "TMPDIR": str(temporary)}


def read_trace(trace: Path) -> Traced:
    """What stands in a trace that is complete."""
    families, spoken_to, changed = set(), [], set()
    for call, arguments in _calls(trace):
        if call == "socket":
            families.add(arguments.split(",")[0])
        elif call in ("connect", "sendto", "sendmsg", "sendmmsg"):
            address = _ADDRESS.search(arguments)
            if (address and not address[1].startswith(("127.", "::1"))) or "htons(53)" in arguments:
                spoken_to.append(f"{call}({arguments}")
        elif " = -1 " not in arguments and (
            not call.startswith("open") or re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|\?", arguments)
        ):
            changed |= {os.path.normpath(os.path.join(folder, path)) for folder, path in _PATH.findall(arguments)}
    return Traced(frozenset(families), tuple(spoken_to), frozenset(changed))


def _calls(trace: Path) -> Iterator[tuple[str, str]]:
    """Name and arguments with the result; a call that another process's interrupted is put together again."""
    begun: dict[str, str] = {}
    for line in trace.read_text(encoding="utf-8", errors="replace").splitlines():
        found = _LINE.match(line)
        if not found:
            continue  # a signal, or the end of a process
        process, name, resumed, rest = found.groups()
        if rest.endswith("<unfinished ...>"):
            begun[process] = rest.removesuffix("<unfinished ...>")
        elif resumed:
            yield resumed, begun.pop(process, "") + rest
        else:
            yield name, rest
    assert not any("AF_INET" in rest for rest in begun.values()), begun
