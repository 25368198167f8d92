"""Streamlit's queue of messages to a browser, as a run that begins leaves it."""

from __future__ import annotations

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from ui.app import touches


def message(kind: str) -> ForwardMsg:
    made = ForwardMsg()
    getattr(made, kind).SetInParent()
    return made


@pytest.mark.parametrize("fragments", [None, ["one"]])
@pytest.mark.parametrize("answer", touches.ANSWERS)
def test_given_an_answer_that_the_browser_waits_for_when_a_run_begins_then_it_is_still_sent_once(
    answer: str, fragments: list[str] | None
) -> None:
    """A dropped file waits for the address to send it to."""
    touches.take_each()
    queue = ForwardMsgQueue()
    for kind in ("new_session", answer, "page_not_found"):
        queue.enqueue(message(kind))

    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=fragments)
    left = [sent.WhichOneof("type") for sent in queue.flush()]

    assert left.count(answer) == 1
    assert left[0] == "new_session"
    assert ("page_not_found" in left) == bool(fragments)


def test_given_streamlit_then_it_still_drops_what_is_kept_here() -> None:
    """When this fails, Streamlit keeps the answers itself, and what keeps them here can go."""
    touches.take_each()
    clear = ForwardMsgQueue.clear.__wrapped__  # type: ignore[attr-defined]
    queue = ForwardMsgQueue()
    queue.enqueue(message(touches.ANSWERS[0]))

    clear(queue, retain_lifecycle_msgs=True)

    assert queue.is_empty()
