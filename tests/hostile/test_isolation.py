"""The process that reads PDFs: it loads no telemetry, has no network, writes no file, and does not outlive whoever
started it.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import make
import pymupdf
import pytest

from rag_core.domain.documents import PageSource
from rag_core.errors import DamagedPdf
from rag_core.ingest.pdf_worker.isolation import MACHINES
from rag_core.ingest.reading import pdf_process
from rag_core.ingest.reading.ocr_engines import find_tessdata
from rag_core.ingest.reading.pdf import DEFAULT_LIMITS, _request, read_pdf

ROOT = Path(__file__).resolve().parents[2]


def in_child(program: str, *arguments: str) -> Any:
    """What `program` prints as JSON, run in an environment like the child's."""
    environment = pdf_process.ENVIRONMENT | {"PYTHONPATH": str(ROOT)}
    said = subprocess.run(
        [sys.executable, "-B", "-c", textwrap.dedent(program), *arguments],
        env=environment,
        capture_output=True,
        check=True,
    )
    return json.loads(said.stdout)


def test_given_the_reader_when_it_imports_its_pdf_library_then_no_telemetry_comes_with_it_and_boxes_are_measured_as_ever() -> (
    None
):
    said = in_child(
        """
        import json, sys
        from rag_core.ingest.pdf_worker.child import import_pymupdf
        pymupdf = import_pymupdf()
        from rag_core.ingest.pdf_worker import pages, render, rows
        from rag_core.ingest.pdf_worker.hidden_text import visibility
        from rag_core.ingest.pdf_worker.scans import ocr
        unwanted = ("onnxruntime", "networkx", "tabulate", "pymupdf4llm", "numpy", "pymupdf.layout")
        print(json.dumps({
            "modules": [name for name in unwanted if sys.modules.get(name)],
            "mapped": [line for line in open("/proc/self/maps") if "onnx" in line] if sys.platform == "linux" else [],
            "boxes": bool(pymupdf.TOOLS.unset_quad_corrections()),
        }))
        """
    )

    assert said == {"modules": [], "mapped": [], "boxes": True}
    assert pdf_process.ENVIRONMENT["ORT_DISABLE_TELEMETRY"] == "1"


FORBIDDEN = """
    import _socket, ctypes, json, os, sys, threading
    from rag_core.ingest.pdf_worker import isolation
    folder = sys.argv[1]
    inside = os.path.join(folder, "inside")
    held = os.open(inside, os.O_RDONLY)
    tried = {}

    def attempt(name, call):
        try:
            call()
        except OSError as error:
            tried[name] = error.errno
        else:
            tried[name] = 0

    def attempts(where, files=True):
        for family in ("AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET"):
            attempt(f"{where} {family}", lambda: _socket.socket(getattr(_socket, family), _socket.SOCK_DGRAM))
        if not files:
            return
        for mode in ("w", "a", "x", "r+"):
            attempt(f"{where} open {mode}", lambda: open(inside if mode != "x" else inside + "x", mode))
        for name, call in {
            "truncate": lambda: os.truncate(inside, 0), "unlink": lambda: os.unlink(inside), "mkdir": lambda: os.mkdir(inside + "d"),
            "rename": lambda: os.rename(inside, inside + "2"), "link": lambda: os.link(inside, inside + "3"),
            "symlink": lambda: os.symlink(inside, inside + "4"), "chmod": lambda: os.chmod(inside, 0), "fchmod": lambda: os.fchmod(held, 0),
            "mknod": lambda: os.mknod(inside + "5"), "rmdir": lambda: os.rmdir(folder), "execve": lambda: os.execv("/bin/true", ["true"]),
            "chown": lambda: os.chown(inside, os.getuid(), os.getgid()),
        }.items():
            attempt(f"{where} {name}", call)

    def number(name):
        return isolation.NETWORK[name][isolation.MACHINES[os.uname().machine][0]]

    def direct(name, *arguments):
        libc = ctypes.CDLL(None, use_errno=True)
        status = libc.syscall(ctypes.c_long(number(name)), *map(ctypes.c_long, arguments))
        if status < 0:
            raise OSError(ctypes.get_errno(), name)

    go, gone = threading.Event(), threading.Event()
    def before():
        go.wait()
        attempts("a thread from before", files=False)
        gone.set()
    threading.Thread(target=before, daemon=True).start()
    said = isolation.block(files=FILES)
    attempts("here", files=FILES)
    for name in ("io_uring_setup", "ptrace", "pidfd_getfd", "process_vm_writev"):
        attempt(name, lambda: direct(name, *[-1] * 6))
    go.set()
    gone.wait(30)
    reads = open(inside).read()
    print(json.dumps({"said": said, "tried": tried, "reads": reads}))
"""
linux = pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine not in MACHINES, reason="no filter of system calls on this system"
)
LOOK_SECONDS = 0.02  # between two looks at the readers


@linux
@pytest.mark.parametrize("files", [True, False])
def test_given_a_process_that_was_blocked_when_it_tries_then_the_kernel_refuses_every_thread_of_it(
    tmp_path: Path, files: bool
) -> None:
    (tmp_path / "inside").write_text("kept", encoding="utf-8")

    said = in_child(FORBIDDEN.replace("FILES", str(files)), str(tmp_path))

    assert said["said"] == ""
    assert {name: status for name, status in said["tried"].items() if status != errno.EPERM} == {}
    assert len(said["tried"]) > (25 if files else 12)
    assert said["reads"] == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]


def test_given_a_system_without_such_a_filter_when_blocked_then_it_says_so_and_the_process_goes_on() -> None:
    said = in_child(
        """
        import json, os, _socket
        from rag_core.ingest.pdf_worker import isolation
        isolation.MACHINES = {}
        said = isolation.block(files=True)
        _socket.socket().close()
        print(json.dumps(said))
        """
    )

    assert said.startswith("There is no filter of system calls for this system")


@linux
@pytest.mark.ocr
@pytest.mark.skipif(not find_tessdata()[0], reason="no Tesseract language data found")
def test_given_a_file_that_is_being_read_when_its_reader_is_looked_at_then_it_has_no_socket_nothing_of_telemetry_and_no_file_to_write() -> (
    None
):
    seen: list[dict[str, Any]] = []
    read = threading.Event()

    def look() -> None:
        while not read.wait(LOOK_SECONDS):
            seen.extend(filter(None, map(once_isolated, readers())))

    looking = threading.Thread(target=look)
    looking.start()  # beside the reading: on a busy machine each reader has ended before its page is told
    try:
        content = read_pdf(scans(3), "scans.pdf")
    finally:
        read.set()
        looking.join()

    assert [page.source for page in content.pages] == [PageSource.OCR] * 3
    assert pdf_process.isolation() == pdf_process.Isolation(unblocked="", memory_bytes=DEFAULT_LIMITS.memory_bytes)
    assert seen
    for one in seen:
        assert (one["Seccomp"], one["NoNewPrivs"]) == ("2", "1")
        assert one["held"] <= {"pipe", os.devnull}
        assert one["mapped"] == []


@linux
def test_given_a_request_when_the_reader_comes_to_the_file_then_it_can_open_neither_a_socket_nor_a_file_to_write(
    tmp_path: Path,
) -> None:
    program = f"""
        import _socket
        from rag_core.ingest.pdf_worker import child

        def serve(request, data, emit):
            for name, call in (("socket", _socket.socket), ("write", lambda: open({str(tmp_path / "new")!r}, "w"))):
                try:
                    call()
                    emit({{"event": name, "refused": False}})
                except PermissionError:
                    emit({{"event": name, "refused": True}})

        child.serve = serve
        child.main()
    """
    request = {**_request(DEFAULT_LIMITS, None), "size": 4}

    alive, held = os.pipe()
    command = [sys.executable, "-c", textwrap.dedent(program), str(alive)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[alive], cwd=ROOT
    ) as started:
        os.close(alive)
        started.stdin.write(json.dumps(request).encode() + b"\n%PDF")
        started.stdin.flush()  # and not closed: the reader would end
        said = started.stdout.read()
    os.close(held)

    assert list(map(json.loads, said.splitlines())) == [
        {"event": "ready", "network": "", "memory": DEFAULT_LIMITS.memory_bytes},
        {"event": "socket", "refused": True},
        {"event": "write", "refused": True},
    ]
    assert list(tmp_path.iterdir()) == []


def test_given_a_reader_that_says_later_how_it_is_isolated_when_read_then_it_is_not_believed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = [{"event": "open", "count": 1, "meta": {}}, {"event": "ready", "network": "", "memory": 1}]
    program = tmp_path / "child.py"
    program.write_text(f"print({chr(10).join(map(json.dumps, said))!r})", encoding="utf-8")
    monkeypatch.setattr(pdf_process, "WORKER", program)

    with pytest.raises(DamagedPdf):
        read_pdf(b"%PDF-1.7", "a.pdf")

    assert pdf_process.isolation() != pdf_process.Isolation("", 1)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of this system does not tell that a pipe was closed")
def test_given_a_parent_that_is_killed_when_its_reader_is_in_the_midst_of_native_code_then_the_reader_ends_within_two_seconds_of_its_work(
    tmp_path: Path,
) -> None:
    path = tmp_path / "bomb.pdf"
    path.write_bytes(make.drawn_bomb())
    program = (
        f"import sys; from rag_core.ingest.reading.pdf import read_pdf; "
        f"read_pdf(open({str(path)!r}, 'rb').read(), 'bomb.pdf')"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    try:
        # it draws: one second of work
        reader = until(lambda: next((pid for pid in readers(parent.pid) if cpu_ticks(pid) > 100), 0))
        worked = cpu_ticks(reader)
    finally:
        parent.kill()
        parent.wait()

    while Path(f"/proc/{reader}/exe").exists():
        with suppress(OSError):  # it ended just now
            assert cpu_ticks(reader) - worked <= 200
        time.sleep(0.02)


def test_given_a_thread_that_starts_a_reading_and_ends_when_another_goes_on_then_the_file_is_read() -> None:
    # a signal for the parent's death comes at the end of the thread that started the child
    data = make.good(40)
    request = {**_request(DEFAULT_LIMITS, None), "ocr": False, "languages": "", "tessdata": "", "weights": ""}
    events = pdf_process.events(request, data, wall_seconds=60)
    first: list[pdf_process.Event] = []
    starter = threading.Thread(target=lambda: first.append(next(events)))
    starter.start()
    starter.join()

    assert [event["event"] for event in (*first, *events)] == ["open", *["page"] * 40]


def scans(pages: int) -> bytes:
    """A file of that many pictures of text."""
    made = pymupdf.open(stream=make.scanned())
    for _ in range(pages - 1):
        made.insert_pdf(pymupdf.open(stream=make.scanned()))
    return made.tobytes()


def readers(parent: int | None = None) -> list[int]:
    """The processes that read PDFs for this one, or for `parent`."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            command = status.with_name("cmdline").read_bytes()
            if (
                int(status.read_text().rpartition(")")[2].split()[1]) == (parent or os.getpid())
                and b"pdf_worker" in command
            ):
                found.append(int(status.parent.name))
        except OSError:
            continue  # it ended meanwhile
    return found


def cpu_ticks(pid: int) -> int:
    """Of user time, a hundredth of a second each."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


def until(found: Callable[[], int]) -> int:
    deadline = time.monotonic() + 60
    while not (value := found()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return value


def once_isolated(pid: int) -> dict[str, Any] | None:
    """What `looked_at` gives, once a process that was just started has given up what it does not need; None where it
    ended meanwhile.
    """
    try:
        until(lambda: looked_at(pid)["Seccomp"] == "2")
        return looked_at(pid)
    except OSError:
        return None


def looked_at(pid: int) -> dict[str, Any]:
    """What a process holds open to write to, sockets included; what of telemetry it has mapped; and two rows of its
    status.
    """
    place = Path(f"/proc/{pid}")
    held = set()
    for fd in (place / "fd").iterdir():
        target = os.readlink(fd)
        flags = int((place / "fdinfo" / fd.name).read_text().split("flags:")[1].split()[0], 8)
        if flags & (os.O_WRONLY | os.O_RDWR) or target.startswith("socket"):
            held.add(target.partition(":")[0])
    status = dict(row.split(":\t", 1) for row in (place / "status").read_text().splitlines() if ":\t" in row)
    mapped = [row for row in (place / "maps").read_text().splitlines() if "onnx" in row]
    return {"held": held, "mapped": mapped, "Seccomp": status["Seccomp"], "NoNewPrivs": status["NoNewPrivs"]}
