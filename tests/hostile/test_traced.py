"""Reading a long file, seen by a tracer: no lookup, no socket, no file outside the library and the temporary folder."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import make
import pymupdf
import pytest
from traced import bare_environment, needs_strace, read_trace, under_strace

from rag_core.ingest.reading.ocr_engines import find_tessdata

ROOT = Path(__file__).resolve().parents[2]
# pictures: the telemetry that was once loaded looked for its collector after nine seconds, and these take longer
PAGES = 8


def scans(pages: int) -> bytes:
    made = pymupdf.open()
    for number in range(pages):
        made.insert_pdf(
            pymupdf.open(
                stream=make.scanned(f"Sentence {number} of a long document, on a page that is a picture. " * 2)
            )
        )
    return made.tobytes()


@needs_strace
@pytest.mark.tracer
@pytest.mark.ocr
@pytest.mark.longest
@pytest.mark.skipif(not find_tessdata()[0], reason="no Tesseract language data found")
def test_given_a_long_file_when_indexed_then_no_process_looks_up_a_name_opens_a_socket_or_writes_elsewhere(
    tmp_path: Path,
) -> None:
    (tmp_path / "long.pdf").write_bytes(scans(PAGES))
    trace, library, home, temporary = (tmp_path / name for name in ("trace", "library", "home", "tmp"))
    command = [sys.executable, "-m", "rag_core", "index", str(tmp_path / "long.pdf"), "--library", str(library)]

    run = subprocess.run(
        [*under_strace(trace), *command],
        cwd=ROOT,
        env=bare_environment(home, temporary),
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    seen = read_trace(trace)
    assert seen.spoken_to == ()
    assert seen.families == frozenset()
    assert seen.outside(library, temporary) == set()
    assert any(str(library) in path for path in seen.changed)  # the tracer saw what there was to see
    assert list(home.iterdir()) == []


@needs_strace
@pytest.mark.tracer
def test_given_a_program_that_speaks_to_others_and_writes_elsewhere_when_traced_then_all_of_it_is_seen(
    tmp_path: Path,
) -> None:
    program = """
        import os, socket, threading
        for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "2001:db8::1")):
            for port in (9, 53):
                try:  # to connect a datagram socket sends nothing
                    socket.socket(family, socket.SOCK_DGRAM).connect((address, port))
                except OSError:
                    pass  # a machine without a way there: it was tried all the same
        os.chdir(os.environ["HOME"])
        threading.Thread(target=lambda: open("written", "w").close()).start()
        os.mkdir("made")
        os.rename("made", "renamed")
        open("/dev/null", "w").close()
        open(__import__("sys").executable).close()
        if os.fork() == 0:
            open(os.path.join(os.environ["TMPDIR"], "inside"), "w").close()
            open("by a child", "a").close()
    """
    trace, home, temporary = tmp_path / "trace", tmp_path / "home", tmp_path / "tmp"

    subprocess.run(
        [*under_strace(trace), sys.executable, "-c", textwrap.dedent(program)],
        env=bare_environment(home, temporary),
        check=True,
    )

    seen = read_trace(trace)
    assert seen.families == {"AF_INET", "AF_INET6"}
    assert [call for call in seen.spoken_to if "127.0.0.1" in call and "htons(53)" in call]
    assert not [call for call in seen.spoken_to if "127.0.0.1" in call and "htons(9)" in call]
    assert len([call for call in seen.spoken_to if "192.0.2.1" in call or "2001:db8::1" in call]) == 4
    assert seen.outside(temporary) == {str(home / "written"), str(home / "by a child"), "made", "renamed"}
