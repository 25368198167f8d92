"""What Streamlit does with touches and messages between two runs of a page: the reasons for `ui.app.touches` and for
one run at a time.
"""

from __future__ import annotations

import asyncio
import inspect
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.delta_generator_singletons import context_dg_stack, get_default_dg_stack_value
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests, ScriptRequestType
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.state.common import WidgetMetadata

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

    assert queue.is_empty()
    assert left.count(answer) == 1
    assert left[0] == "new_session"
    assert ("page_not_found" in left) == bool(fragments)


def drawn(path: list[int], fragment: str = "") -> ForwardMsg:
    made = ForwardMsg()
    made.metadata.delta_path.extend(path)
    made.delta.fragment_id = fragment
    made.delta.add_block.SetInParent()
    return made


def unsent() -> ForwardMsgQueue:
    """A run of the page that has ended, of which nothing was sent: a fragment, and what stands behind it."""
    queue = ForwardMsgQueue()
    finished = ForwardMsg(script_finished=ForwardMsg.ScriptFinishedStatus.FINISHED_SUCCESSFULLY)
    for sent in (message("new_session"), drawn([0, 2, 0], "jobs"), drawn([0, 2, 1]), finished):
        queue.enqueue(sent)
    return queue


def test_given_a_run_of_the_page_that_was_not_sent_when_a_fragment_of_it_runs_then_all_of_it_is_sent_before() -> None:
    """Else the browser closes the gap where the fragment stood, and the fragment is drawn over what stands behind
    it.
    """
    touches.take_each()
    queue = unsent()

    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["jobs"])
    queue.enqueue(message("new_session"))
    queue.enqueue(drawn([0, 2, 0], "jobs"))

    kinds = [sent.WhichOneof("type") for sent in queue.flush()]
    assert kinds == ["new_session", "delta", "delta", "script_finished", "new_session", "delta"]


def test_given_elements_of_a_fragment_that_were_not_sent_when_it_runs_again_then_they_are_sent_apart() -> None:
    touches.take_each()
    queue = ForwardMsgQueue()
    for text in ("before", "after"):
        queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["jobs"])
        queue.enqueue(message("new_session"))
        made = drawn([0, 2, 0], "jobs")
        made.delta.new_element.text.body = text
        queue.enqueue(made)

    assert [sent.delta.new_element.text.body for sent in queue.flush() if sent.HasField("delta")] == ["before", "after"]


def test_given_streamlit_then_it_still_drops_and_takes_back_what_is_kept_here() -> None:
    """When this fails, Streamlit keeps it, and what keeps it here can go."""
    touches.take_each()
    clear = ForwardMsgQueue.clear.__wrapped__  # type: ignore[attr-defined]
    queue = unsent()

    clear(queue, retain_lifecycle_msgs=True, fragment_ids_this_run=["jobs"])

    assert [list(sent.metadata.delta_path) for sent in queue.flush() if sent.HasField("delta")] == [[0, 2, 1]]

    queue = ForwardMsgQueue()
    queue.enqueue(message(touches.ANSWERS[0]))

    clear(queue, retain_lifecycle_msgs=True)

    assert queue.is_empty()


FIELD, QUESTION = "a field", "How long is the pier?"
KNOB = "knob_min_correctness"
KNOB_ID = f"$$ID-0f0f-{KNOB}"  # as Streamlit names a field with a key


def sent(value: str) -> WidgetStates:
    """The session's widgets as a browser tells them with a touch: one field that keeps its value."""
    states = WidgetStates()
    states.widgets.add(id=FIELD, string_value=value)
    return states


def asked() -> WidgetStates:
    """A question: the browser tells it once."""
    states = WidgetStates()
    states.widgets.add(id="question").chat_input_value.data = QUESTION
    return states


def test_given_a_question_that_no_run_took_yet_when_the_next_touch_comes_then_the_next_run_is_given_both() -> None:
    waiting = ScriptRequests()
    waiting.request_rerun(RerunData(widget_states=asked()))
    waiting.request_rerun(RerunData(widget_states=sent("moved")))

    states = waiting.on_scriptrunner_ready().rerun_data.widget_states

    assert states is not None
    assert {widget.id: widget.chat_input_value.data or widget.string_value for widget in states.widgets} == {
        "question": QUESTION,
        FIELD: "moved",
    }


def test_given_a_question_that_no_run_took_yet_when_its_run_is_stopped_then_streamlit_drops_it() -> None:
    """As `runner.fastReruns` does at the next touch.

    When this fails, it may be looked at again, and so for the next test.
    """
    waiting = ScriptRequests()
    waiting.request_rerun(RerunData(widget_states=asked()))
    waiting.request_stop()

    assert waiting.on_scriptrunner_ready().type is ScriptRequestType.STOP


def test_given_two_runs_that_take_the_same_touch_at_once_then_streamlit_calls_its_callback_in_neither(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two runs of a session have a lock each. A dropped file can be lost like this."""
    session, called = SessionState(), []
    session._set_widget_metadata(
        WidgetMetadata(
            FIELD, lambda value: value or "", lambda value: value, "string_value", callback=lambda: called.append(1)
        )
    )
    first, second = (SafeSessionState(session, lambda: None) for _ in range(2))
    call, meanwhile = SessionState._call_callbacks, [lambda: second.on_script_will_rerun(sent("dropped"))]

    def between(state: SessionState, **more: object) -> None:
        if meanwhile:
            meanwhile.pop()()
        call(state, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(SessionState, "_call_callbacks", between)
    first.on_script_will_rerun(sent("dropped"))

    assert called == []


def test_given_a_run_of_a_page_after_a_fragment_in_the_same_thread_then_it_draws_on_the_page_and_not_in_the_fragment() -> (  # noqa: E501
    None
):
    """Streamlit leaves the place where a fragment stood; the browser's page broke, for it was sent what it had no place
    for.
    """
    touches.take_each()
    within = st.container()
    before = context_dg_stack.set((*get_default_dg_stack_value(), within))
    try:
        SafeSessionState(SessionState(), lambda: None).on_script_will_rerun(WidgetStates())

        assert context_dg_stack.get() == get_default_dg_stack_value()
    finally:
        context_dg_stack.reset(before)


def side_bar(value: float) -> WidgetStates:
    """A touch of anything; the browser's slider in the side bar stands here."""
    states = WidgetStates()
    states.widgets.add(id=KNOB_ID).double_array_value.data.append(value)
    return states


@pytest.mark.parametrize(
    ("sent", "stands"),
    [
        pytest.param([0.5], 0.7, id="the browser was not told yet"),
        pytest.param([0.5, 0.5, 0.5], 0.7, id="nor for some touches more"),
        pytest.param([0.6], 0.7, id="it was told an older value meanwhile"),
        pytest.param([0.5, 0.6], 0.7, id="and says so a touch later"),
        pytest.param([0.7], 0.7, id="it knows the value"),
        pytest.param([0.2], 0.2, id="the user moved the field"),
        pytest.param([0.5, 0.2, 0.2], 0.2, id="the user moved the field later"),
    ],
)
def test_given_a_field_that_was_set_elsewhere_and_not_drawn_since_when_touched_then_it_holds_until_the_user_moves_it(
    sent: list[float], stands: float
) -> None:
    """A limit that was moved under its answer went back to where the slider in the side bar still stood."""
    touches.take_each()
    inner = SessionState()
    inner._set_widget_metadata(
        WidgetMetadata(KNOB_ID, lambda value: value[0] if value else 0.0, lambda value: [value], "double_array_value")
    )
    inner._set_key_widget_mapping(KNOB_ID, KNOB)
    session = SafeSessionState(inner, lambda: None)
    session.on_script_will_rerun(side_bar(0.5))
    fields = inner[touches._FIELDS]
    fields.told[KNOB], fields.put[KNOB] = [0.6], 0.7

    for value in sent:
        session.on_script_will_rerun(side_bar(value))

    assert inner[KNOB] == stands


class Runner:
    """A thread of a session that has ended, or takes touches."""

    def __init__(self, ended: bool) -> None:
        self.ended, self.touches = ended, []  # type: ignore[var-annotated]

    def request_rerun(self, touch: RerunData) -> bool:
        if not self.ended:
            self.touches.append(touch)
        return not self.ended


def in_turn(closed: bool = False, shutdown: bool = False) -> tuple[list[str], list[RerunData]]:
    """How a session deals with what its thread drew before it ended, and with two touches; and the touches that the
    next thread got.
    """
    touches.take_each()
    loop, done, ended, following = asyncio.new_event_loop(), [], Runner(ended=True), Runner(ended=False)
    session = SimpleNamespace(_scriptrunner=ended, _event_loop=loop, _state=AppSessionState.APP_NOT_RUNNING)

    def create(session: SimpleNamespace, touch: RerunData) -> None:
        done.append("a new thread")
        session._scriptrunner = following
        following.request_rerun(touch)

    def drawn() -> None:
        done.append("taken" if session._scriptrunner is ended else "ignored")  # as Streamlit does
        if closed:
            session._scriptrunner = None
        if shutdown:
            session._state = AppSessionState.SHUTDOWN_REQUESTED

    created = touches._waiting(create)  # type: ignore[arg-type]
    loop.call_soon(drawn)
    for _ in range(2):
        created(session, RerunData(query_string="touched"))  # type: ignore[arg-type]
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()
    return done, following.touches


@pytest.mark.parametrize("closed", [False, True])
def test_given_a_touch_before_all_was_taken_that_the_last_thread_drew_then_that_is_taken_first_and_each_touch_is_dealt_with(  # noqa: E501
    closed: bool,
) -> None:
    """The page said nothing of a file that was indexed: what its thread drew was ignored, since another thread had
    begun.
    """
    done, got = in_turn(closed)

    assert done == ["taken", "a new thread"]
    assert len(got) == 2


def test_given_a_session_that_ends_or_has_no_thread_when_touched_then_none_or_one_begins_at_once() -> None:
    assert in_turn(shutdown=True) == (["taken"], [])

    session, begun = SimpleNamespace(_scriptrunner=None), []

    touches._waiting(lambda session, touch: begun.append(touch))(session, RerunData())  # type: ignore[arg-type]

    assert begun == [RerunData()]
    assert {"_scriptrunner", "_event_loop", "_state"} <= set(
        inspect.getsource(AppSession).replace("self.", " ").split()
    )
