"""The embedder in a child process: what happens when either of the two processes ends, is interrupted, or says
something unexpected.

Most of it with a child whose model is there at once (`hash_worker`); the contract of an `Embedder` runs over the real
one.
"""

from __future__ import annotations

import gc
import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from folding import each
from hash_embedder import DIM, HashEmbedder
from hypothesis import given
from hypothesis import strategies as st

from rag_core import wiring
from rag_core.adapters.child import pipes as frames
from rag_core.adapters.child import process as embedding_process
from rag_core.adapters.child.process import ProcessEmbedder
from rag_core.adapters.embedding import by_name
from rag_core.adapters.embedding.by_name import EMBEDDED, SentenceTransformerEmbedder
from rag_core.adapters.index.flat import FaissStore
from rag_core.errors import ModelUnavailable
from rag_core.library.library import Library
from rag_core.library.stored.sources import text_source
from rag_core.settings import Settings

TESTS = Path(__file__).resolve().parents[1]
WAIT_SECONDS = 60.0


@pytest.fixture(autouse=True)
def hash_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_process, "WORKER", "hash_worker")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), str(TESTS / "adapters")]))


def pid(embedder: ProcessEmbedder) -> int:
    return embedder._child._process.pid


def running(process: int) -> bool:
    """Whether a process is there and not a zombie, whose parent ended without looking."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


heads = st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.text()))


@given(messages=st.lists(st.tuples(heads, st.binary())))
def test_given_any_messages_when_written_one_after_the_other_then_the_same_are_read(messages):
    stream = io.BytesIO()
    for head, body in messages:
        frames.write(stream, head, body)
    stream.seek(0)

    assert [frames.read(stream) for _ in messages] == messages
    with pytest.raises(EOFError):
        frames.read(stream)


@given(head=heads, body=st.binary(), share=st.floats(0, 1, exclude_max=True))
def test_given_a_message_that_was_cut_off_when_read_then_that_is_the_end(head, body, share):
    stream = io.BytesIO()
    frames.write(stream, head, body)
    cut = stream.getvalue()[: int(share * len(stream.getvalue()))]

    with pytest.raises(EOFError):
        frames.read(io.BytesIO(cut))


def test_given_a_message_longer_than_allowed_then_it_is_neither_written_nor_read(monkeypatch):
    full, empty = io.BytesIO(), io.BytesIO()
    frames.write(full, {}, b"12345")
    full.seek(0)
    monkeypatch.setattr(frames, "MAX_BYTES", 4)

    with pytest.raises(ValueError, match="5 bytes is longer than the 4 allowed"):
        frames.write(empty, {}, b"12345")
    with pytest.raises(ValueError, match="5 bytes is longer than the 4 allowed"):
        frames.read(full)
    assert empty.getvalue() == b""


def test_given_a_head_that_is_no_object_when_read_then_it_is_no_message() -> None:
    with pytest.raises(ValueError, match="must be an object, got list"):
        frames.read(io.BytesIO(b"\0\0\0\2\0\0\0\0[]"))


def test_given_the_embedded_model_in_a_child_then_all_it_says_is_what_it_says_in_process(monkeypatch):
    monkeypatch.setattr(embedding_process, "WORKER", "rag_core.adapters.child.worker")
    here, apart = wiring.embedder(EMBEDDED, "auto"), wiring.embedder_apart(EMBEDDED, "auto")
    texts = ["The notice period is 30 days.", "", "Lhůta činí třicet dní.", "नोटिस की अवधि", "a long one " * 300]

    for kind in ("query", "passage"):
        assert np.array_equal(apart.embed(texts, kind), here.embed(texts, kind))
    assert np.array_equal(apart.embed(texts), here.embed(texts))
    assert apart.embed([]).shape == here.embed([]).shape
    assert apart.count_tokens(texts) == here.count_tokens(texts)
    assert apart.count_tokens([]) == []
    with apart._lock.held():  # who counts waits for no forward pass
        assert apart.count_tokens(texts) == here.count_tokens(texts) == [11, 4, 14, 7, 904]
    assert (apart.name, apart.max_tokens) == (here.name, here.max_tokens)
    assert wiring.embedder_apart(EMBEDDED, here.precision) is apart


def test_given_no_tokenizer_in_this_process_then_the_child_counts(monkeypatch):
    def gone(texts: list[str]) -> list[int]:
        raise ModelUnavailable("The package is gone.", remedy="Install it.")

    monkeypatch.setattr(embedding_process, "count_tokens", gone)

    assert ProcessEmbedder(EMBEDDED).count_tokens(["a b", "\ud800"]) == [4, 2]


def test_given_a_model_that_is_not_there_then_the_problem_is_the_one_in_process(tmp_path, monkeypatch):
    monkeypatch.setattr(embedding_process, "WORKER", "rag_core.adapters.child.worker")
    monkeypatch.setattr(by_name, "quiet", lambda: pytest.fail("what loads a model was imported, which takes seconds"))
    folder = str(tmp_path / "no-such-model")
    with pytest.raises(ModelUnavailable) as here:
        SentenceTransformerEmbedder(folder, "float32")

    with pytest.raises(ModelUnavailable) as apart:
        _ = ProcessEmbedder(folder, "float32").name

    assert (apart.value.problem, apart.value.remedy) == (here.value.problem, here.value.remedy)


def test_given_a_model_that_could_not_be_loaded_when_asked_again_then_another_child_tries_it() -> None:
    embedder = ProcessEmbedder("missing")

    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="There is no such model") as caught:
            embedder.embed(["a"])
        assert caught.value.remedy == "Name another."
        assert embedder._child is None


def test_given_a_library_that_prints_then_what_it_prints_is_not_taken_for_a_reply_and_vectors_may_be_changed():
    embedder = ProcessEmbedder("any")
    texts = ["print", "a b"]

    vectors = embedder.embed(texts)

    assert np.array_equal(vectors, HashEmbedder().embed(texts))
    vectors[:] = 0
    assert np.array_equal(embedder.embed(["a"]), HashEmbedder().embed(["a"]))
    assert (embedder.name, embedder.max_tokens, embedder.count_tokens(texts)) == ("hash@float32", 256, [3, 4])


def test_given_many_threads_then_each_gets_its_own_vectors_from_one_child() -> None:
    embedder, found = ProcessEmbedder("any"), {}

    def ask(text: str) -> None:
        found[text] = (embedder.embed([text] * 50), embedder.count_tokens([text]), pid(embedder))

    threads = [threading.Thread(target=ask, args=(f"text {number}",)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 12
    assert all(np.array_equal(vectors, HashEmbedder().embed([text] * 50)) for text, (vectors, _, _) in found.items())
    assert {process for _, _, process in found.values()} == {pid(embedder)}


def test_given_a_child_that_dies_while_it_works_or_waits_then_that_call_fails_and_the_next_one_starts_another():
    embedder = ProcessEmbedder("any")
    first = (embedder.name, pid(embedder))[1]

    with pytest.raises(ModelUnavailable, match="ended while it was needed \\(signal SIGKILL\\)") as caught:
        embedder.embed(["a", "die"])

    assert caught.value.remedy.startswith("Try it again")
    assert np.array_equal(embedder.embed(["a"]), HashEmbedder().embed(["a"]))
    second = pid(embedder)
    os.kill(second, signal.SIGKILL)
    wait_until(lambda: embedder._child is not None and embedder._child.ended)

    assert np.array_equal(embedder.embed(["a"]), HashEmbedder().embed(["a"]))
    assert len({first, second, pid(embedder)}) == 3


def test_given_a_child_that_always_ends_then_every_call_says_how_and_starts_one_at_most(monkeypatch):
    started = []
    child = embedding_process._Child
    monkeypatch.setattr(embedding_process, "_Child", lambda: started.append(1) or child())
    embedder = ProcessEmbedder("leave")

    for call in range(3):
        with pytest.raises(ModelUnavailable, match=r"\(exit status 3: the last words\)"):
            embedder.embed(["a"])
        assert len(started) <= call + 2  # the first one may have ended before the first call


def test_given_a_fault_in_the_model_then_that_call_fails_by_name_and_the_child_goes_on() -> None:
    embedder = ProcessEmbedder("any")
    first = (embedder.name, pid(embedder))[1]

    with pytest.raises(ModelUnavailable, match="failed \\(TypeError\\)"):
        embedder.embed(["fail"])
    with pytest.raises(ModelUnavailable, match="returned no numbers") as caught:
        embedder.embed(["no numbers"])

    assert caught.value.remedy == "Use another."
    assert embedder.embed(["a"]).shape[0] == 1
    assert pid(embedder) == first


def test_given_a_request_that_hangs_then_another_is_answered_beside_it_and_only_the_end_of_the_child_costs_both() -> (
    None
):
    embedder = ProcessEmbedder("any")
    assert embedder.name
    with ThreadPoolExecutor(1) as pool:
        hanging = pool.submit(embedder.embed, ["hang"])
        wait_until(embedder._lock.locked)

        assert np.array_equal(embedder.embed(["a"]), HashEmbedder().embed(["a"]))
        assert not hanging.done()
        os.kill(pid(embedder), signal.SIGKILL)
        with pytest.raises(ModelUnavailable, match="ended while it was needed"):
            hanging.result(WAIT_SECONDS)
    assert embedder.embed(["a"]).shape[0] == 1


def test_given_a_call_that_was_interrupted_then_its_reply_is_not_taken_for_the_next_ones(monkeypatch):
    embedder, read = ProcessEmbedder("any"), frames.read
    embedder.embed(["a"])

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(frames, "read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        embedder.embed(["a", "b"])
    monkeypatch.setattr(frames, "read", read)

    assert np.array_equal(embedder.embed(["c"]), HashEmbedder().embed(["c"]))


def test_given_a_text_that_hangs_the_model_then_it_is_refused_in_time_and_others_go_on(tmp_path, monkeypatch):
    sent: list[object] = []
    write = frames.write
    monkeypatch.setattr(
        frames, "write", lambda stream, head, body=b"": (write(stream, head, body), sent.extend(head.get("texts", ())))
    )
    waits: list[float] = []

    class Timer:
        """Its time is up as soon as the child was sent the text that hangs it, and never otherwise."""

        def __init__(self, seconds: float, function: Callable[[], None]) -> None:
            sent.clear()
            waits.append(seconds)
            self._function, self._cancelled = function, threading.Event()

        def start(self) -> None:
            threading.Thread(target=self._run, daemon=True).start()

        def cancel(self) -> None:
            self._cancelled.set()

        def _run(self) -> None:
            while not self._cancelled.wait(0.01):
                if "hang" in sent:
                    return self._function()

    monkeypatch.setattr(embedding_process, "Timer", Timer)
    opened = Library.open(tmp_path, "default", embedder=ProcessEmbedder("any"), vectors=FaissStore(DIM))

    report = opened.add([text_source("a", "hang"), text_source("b", "No danger here.")], Settings.load())

    assert [document.name for document in report.added] == ["b"]
    ((name, error),) = report.problems
    assert (name, error.kind) == ("a", "LimitExceeded")
    assert "did not answer within 300 s" in error.problem
    assert set(waits) == {300.0}


def test_given_a_request_under_way_when_the_name_is_asked_for_then_it_does_not_wait_for_its_turn():
    embedder = ProcessEmbedder("any")
    name = embedder.name
    with ThreadPoolExecutor(1) as pool, embedder._lock.held():
        assert pool.submit(lambda: embedder.name).result(timeout=10) == name


def test_given_a_child_that_hangs_when_closed_from_another_thread_then_the_call_ends_typed(monkeypatch):
    embedder, errors = ProcessEmbedder("any"), []
    process = (embedder.name, pid(embedder))[1]
    sent, write = threading.Event(), frames.write
    monkeypatch.setattr(frames, "write", lambda stream, head, body=b"": (write(stream, head, body), sent.set()))

    def ask() -> None:
        try:
            embedder.embed(["hang"])
        except ModelUnavailable as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert sent.wait(WAIT_SECONDS)  # a call whose child is closed before it was asked starts another one
    embedder.close()
    thread.join(WAIT_SECONDS)

    assert len(errors) == 1
    assert not running(process)


def test_given_an_embedder_that_nobody_holds_then_its_child_is_gone() -> None:
    embedder = ProcessEmbedder("hang")
    process = pid(embedder)
    assert running(process)

    del embedder
    gc.collect()

    assert not running(process)


PARENT = """
import os, sys, time
from rag_core.adapters.child import process as embedding_process
embedding_process.WORKER = "hash_worker"
embedder = embedding_process.ProcessEmbedder(sys.argv[1])
if sys.argv[1] != "hang": embedder.name
print(embedder._child._process.pid, flush=True)
if sys.argv[2] == "wait": time.sleep(600)
"""


@each(("model", "end"), [("hang", "wait"), ("any", "return")])
def test_given_a_parent_that_is_killed_or_returns_then_its_child_ends_idle_or_busy(model: str, end: str) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, model, end], stdout=subprocess.PIPE, cwd=TESTS.parent, start_new_session=True
    )
    with parent.stdout:
        child = int(parent.stdout.readline())
    if end == "wait":
        assert running(child)
        parent.kill()
    parent.wait(WAIT_SECONDS)

    wait_until(lambda: not running(child))


def test_given_ctrl_c_in_the_terminal_then_the_child_leaves_it_to_its_parent() -> None:
    embedder = ProcessEmbedder("any")
    process = (embedder.name, pid(embedder))[1]

    os.kill(process, signal.SIGINT)

    assert embedder.embed(["a"]).shape[0] == 1
    assert pid(embedder) == process


def test_given_a_prepared_child_then_the_next_embedder_takes_it_and_the_one_after_starts_its_own() -> None:
    embedding_process.prepare()
    spare = embedding_process._spare[0]

    first, second = ProcessEmbedder("any"), ProcessEmbedder("any")

    assert first._child is spare
    assert second._child is not spare
    assert (first.name, second.name) == ("hash@float32", "hash@float32")


def test_given_a_file_named_like_a_module_where_it_starts_then_the_child_does_not_import_it(tmp_path, monkeypatch):
    (tmp_path / "numpy.py").write_text("raise SystemExit(9)", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert ProcessEmbedder("any").embed(["a"]).shape[0] == 1


def test_given_no_process_can_be_started_then_it_is_typed_and_preparing_leaves_it_to_the_embedder(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")

    embedding_process.prepare()

    with pytest.raises(ModelUnavailable, match="could not be started: No such file") as caught:
        ProcessEmbedder("any")
    assert caught.value.remedy


@pytest.mark.skipif(sys.platform != "linux", reason="no filter of system calls on this system")
def test_given_a_model_of_this_machine_then_its_process_is_refused_the_network_and_another_is_not(monkeypatch):
    for model, offline, said in (
        ("a model", "1", ""),
        ("a model", "0", "HF_HUB_OFFLINE is switched off"),
        ("openai:a model", "1", "one of a server"),
    ):
        monkeypatch.setenv("HF_HUB_OFFLINE", offline)
        embedder = ProcessEmbedder(model, "float32")

        assert embedder.unblocked == said or (said and said in embedder.unblocked), (model, offline)
        if said:
            embedder.embed(["connect"])
        else:
            with pytest.raises(ModelUnavailable, match="PermissionError"):
                embedder.embed(["connect"])
        assert len(embedder.embed(["as before"])) == 1
        embedder.close()


def test_given_the_models_when_imported_then_no_hub_is_asked_unless_the_user_says_so_and_nobody_is_told() -> None:
    program = """
        import os, rag_core.wiring
        from huggingface_hub import constants
        print(constants.HF_HUB_OFFLINE, constants.HF_HUB_DISABLE_TELEMETRY, os.environ["ORT_DISABLE_TELEMETRY"])
    """
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "ORT_", "DO_NOT"))}
    for said, expected in (({}, "True True 1"), ({"HF_HUB_OFFLINE": "0"}, "False True 1")):
        run = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            env=bare | said,
            capture_output=True,
            text=True,
            check=True,
            cwd=TESTS.parent,
        )
        assert run.stdout.strip() == expected
