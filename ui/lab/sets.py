"""Labelled sets: from a file, from the samples, edited in the page, deleted, saved as a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Any
from zlib import crc32

import streamlit as st

from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.engine import Engine
from rag_core.errors import InvalidInput, RagError
from rag_core.evaluation.labelled import LabelledQuestion, given_id, to_csv, to_jsonl, to_row
from rag_core.evaluation.labelled_files import MAX_BYTES, RowProblem, read_labelled, read_labelled_files, read_rows
from rag_core.settings import DATA, Settings
from ui.app import first_run, state, tables
from ui.app.downloads import download
from ui.app.elements import button, file_field, kept_error, offer_deletion, remember, select, submit
from ui.app.jobs import uploads
from ui.app.people import recording
from ui.app.scope import unique_names
from ui.app.texts import recorded, say, show_error, tell
from ui.lab import running
from ui.lab.queue import ask_answer, ask_answerable

TYPES = ["csv", "tsv", "txt", "jsonl", "json"]
SAMPLES = DATA / "questions.jsonl"
EDITED = ("question", "answerable", "answers", "places", "documents", "language", "kind")
MAX_NAME_CHARS = 100  # as many as the store keeps (`rag_core.adapters.records.tables`)
_PROBLEMS = "labelled_problems"  # in the session: (set, what could not be used of the last file)


def show(engine: Engine, settings: Settings) -> None:
    """The chosen set with its table and files, then its runs."""
    store = recording.store()
    names = store.sets()
    chosen = _choose(engine, names)
    _show_problems()
    if chosen is not None:
        questions = store.read_set(chosen)
        _show_counts(questions)
        with st.expander(say("lab_typed.more"), icon=":material/playlist_add:", key="type_more", expanded=was_used()):
            offer_typed(chosen, set_key(), border=False)
        _edit(engine, chosen, questions)
        _offer_files(chosen, questions)
        st.header(say("lab_sets.run_title"), anchor=False)
        running.offer_start(engine, chosen, tag(chosen), questions, settings)
    running.show_runs(engine)


def set_key() -> str:
    """Where the session's choice of a set stands; each collection has its own."""
    return f"lab_set_{state.session().collection}"


def tag(name: str) -> str:
    """A set's name as part of a key: a key stands in the page's markup, and the name is untrusted text."""
    return f"{crc32(name.encode()):08x}"


def _choose(engine: Engine, names: Sequence[str]) -> str | None:
    """The field, and the ways to a new set; open where there is none yet."""
    if not names:
        st.info(say("lab_sets.empty"), icon=":material/fact_check:")
        offer_typed(recorded("lab_typed.default_set"), set_key())
        st.caption(say("lab_typed.file"))
        _offer_new(engine)
        return None
    wanted, key = state.session().choices.get(set_key()), state.key_of(set_key())
    at = names.index(wanted) if wanted in names else 0
    chosen = select("lab_sets.set", names, key, str, at, "lab_sets.set_help", persist_state="session")
    with st.expander(say("lab_sets.new"), icon=":material/add:", key="new_set"):
        _offer_new(engine)
    return chosen


def _offer_new(engine: Engine) -> None:
    number = st.session_state.get("labelled_uploads", 0)
    taking: dict[str, Any] = {"accept_multiple_files": True, "on_change": _take_uploaded, "args": (number,)}
    most = MAX_BYTES // 1_000_000
    file_field("lab_sets.upload", TYPES, f"labelled_{number}", "lab_sets.upload_help", most, **taking)
    st.caption(say("lab_sets.upload_about"))
    if {document.id for document in engine.library.snapshot.documents}.issuperset(first_run.sample_ids().values()):
        button("lab_sets.samples", "labelled_samples", _take_samples, icon="science")
    st.caption(say("lab_sets.from_feedback"))


def _take_uploaded(number: int) -> None:
    """Read what was dropped; the next run draws an empty field."""
    if files := st.session_state[f"labelled_{number}"]:
        st.session_state["labelled_uploads"] = number + 1
        _take_files([(file.name, uploads.contents(file)) for file in files])


def _take_samples() -> None:
    _store(recorded("lab_sets.samples_name"), *read_labelled(SAMPLES.read_bytes(), SAMPLES.name))


def _take_files(files: Sequence[tuple[str, bytes]]) -> None:
    name = PurePath(files[0][0]).stem[:MAX_NAME_CHARS].strip() or recorded("lab_sets.unnamed")
    with _kept_problem(files[0][0]):
        _store(name, *read_labelled_files(files))


def _store(name: str, questions: Sequence[LabelledQuestion], problems: Sequence[RowProblem]) -> None:
    """Keep a new set under a name that is not taken, and choose it; a file without one good row makes none."""
    st.session_state[_PROBLEMS] = (name, tuple(problems)) if problems else None
    if not questions:
        return
    store = recording.store()
    free = free_name(name, store.sets())
    with _kept_problem(name):
        store.write_set(free, questions)
        state.session().choose(set_key(), free)


@contextmanager
def _kept_problem(name: str) -> Iterator[None]:
    try:
        yield
    except RagError as error:
        st.session_state[_PROBLEMS] = (name, error)


def free_name(name: str, taken: Sequence[str]) -> str:
    """The name, or the first of "name 2", "name 3", … that is not taken."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name[: MAX_NAME_CHARS - 6]} {number}"
    return found


def _show_problems() -> None:
    """Show the rows of the last file that could not be used, until they are dismissed; they quote the file."""
    held = st.session_state.get(_PROBLEMS)
    if held is None:
        return
    with st.container(key="labelled_problems"):
        if isinstance(held[1], RagError):
            show_error(held[1], held[0])
        else:
            rows = [{"file": one.file, "row": one.row or None, "text": one.problem} for one in held[1]]
            if left_out := sum(1 for one in held[1] if one.row):
                st.warning(say("lab_sets.left_out", n=left_out), icon=":material/error:")
            tables.show(rows, "lab_sets.problem_", wide={"text": "large"})
        button("jobs.dismiss", "dismiss_labelled", remember, _PROBLEMS, None, type="tertiary", icon="close")


def _show_counts(questions: Sequence[LabelledQuestion]) -> None:
    yes = sum(question.answerable for question in questions)
    answers = sum(bool(question.answers) for question in questions)
    st.caption(say("lab_sets.counts", n=len(questions), yes=yes, no=len(questions) - yes, answers=answers))


def _edit(engine: Engine, name: str, questions: Sequence[LabelledQuestion]) -> None:
    edition = st.session_state.get("labelled_edition", 0)
    names = _names(engine, questions)
    with st.expander(say("lab_sets.edit"), icon=":material/edit:", key="edit_set"):
        st.caption(say("lab_sets.edit_about"))
        edited = st.data_editor(
            [to_row(_renamed(question, names)) for question in questions],
            num_rows="dynamic",
            hide_index=True,
            column_order=EDITED,
            column_config=_columns(),
            key=f"labelled_table_{tag(name)}_{edition}",
            alt=say("lab_sets.table_alt"),
        )
        rows = [row for row in _rows(edited) if str(row.get("question") or "").strip()]
        found, problems = read_rows(rows)
        read = tuple(_renamed(question, {name: id for id, name in names.items()}) for question in found)
        if problems:
            st.warning(say("lab_sets.unusable", n=len(problems)), icon=":material/error:")
            st.text("\n".join(str(problem) for problem in problems[:10]))
        with st.container(horizontal=True):
            idle = bool(problems) or not read or read == tuple(questions)
            button("lab_sets.save", "save_set", _save, name, read, type="primary", icon="save", disabled=idle)
            if read != tuple(questions):
                button("lab_sets.undo", "undo_set", _next_edition, icon="undo")


def _names(engine: Engine, questions: Sequence[LabelledQuestion]) -> dict[str, str]:
    """The names of documents that these questions name by id."""
    used = {id for one in questions for id in (*one.documents, *(place.document for place in one.places))}
    return {id: name for id, name in unique_names(engine.library.view.documents).items() if id in used}


def _renamed(question: LabelledQuestion, names: Mapping[str, str]) -> LabelledQuestion:
    """The question with other names of documents, where there is another."""
    return replace(
        question,
        documents=tuple(names.get(one, one) for one in question.documents),
        places=tuple(replace(place, document=names.get(place.document, place.document)) for place in question.places),
    )


def _columns() -> Mapping[str, Any]:
    text = st.column_config.TextColumn
    wide = {"answers": 220, "places": 180, "documents": 150, "language": 80, "kind": 110}
    label, help = say("lab_sets.column_answerable"), say("lab_sets.column_answerable_help")
    return {
        "question": text(say("lab_sets.column_question"), width=420, required=True),
        "answerable": st.column_config.CheckboxColumn(label, help=help, default=True),
        **tables.heads("lab_sets.column_", wide, wide, kind=text),
    }


def _rows(edited: Any) -> list[dict[str, Any]]:
    """The rows of an edited table, whatever it is made of."""
    return [dict(row) for row in (edited.to_dict("records") if hasattr(edited, "to_dict") else edited)]


def _save(name: str, questions: Sequence[LabelledQuestion]) -> None:
    with _kept_problem(name):
        recording.store().write_set(name, questions)
        _next_edition()


def _next_edition() -> None:
    """Draw the table anew, without the edits."""
    st.session_state["labelled_edition"] = st.session_state.get("labelled_edition", 0) + 1


def _offer_files(name: str, questions: Sequence[LabelledQuestion]) -> None:
    with st.container(horizontal=True, key="set_actions"):
        for kind, write in (("csv", to_csv), ("jsonl", to_jsonl)):
            download(f"lab_sets.save_{kind}", partial(write, questions), f"labelled.{kind}", f"set_{kind}")
        warning = tell("lab_sets.delete_warning", name=name, n=len(questions))
        offer_deletion("lab_sets.delete", f"delete_set_{tag(name)}", warning, "lab_sets.keep", _delete, name)


def _delete(name: str) -> None:
    recording.store().delete_set(name)
    st.session_state.pop(f"delete_set_{tag(name)}", None)


QUESTION, ANSWERABLE, ANSWER = "typed_question", "typed_answerable", "typed_answer"  # the fields
_SAID = "typed_said"  # in the session: what became of the last one, in words or as an error


def offer_typed(name: str, set_key: str, *, border: bool = True) -> None:
    """The form; `name` is the set that takes the questions, and is chosen then in the field with the key `set_key`."""
    label, empty = say("lab_typed.question"), tell("lab_typed.question_empty")
    with st.form(key="typed", border=border):
        st.text_input(label, key=QUESTION, max_chars=MAX_QUESTION_CHARS, placeholder=empty)
        left, right = st.columns([2, 3], gap="medium")
        with left:
            ask_answerable(ANSWERABLE)
        with right:
            ask_answer(ANSWER)
        with st.container(horizontal=True, vertical_alignment="center"):
            submit("lab_typed.add", "add", _add, name, set_key)
            said = st.session_state.get(_SAID)
            if isinstance(said, RagError):
                show_error(said)
            elif said:
                st.text(said, width="content")


def was_used() -> bool:
    """Whether a question was just typed, so that the next one is expected."""
    return isinstance(st.session_state.get(_SAID), str)


def _add(name: str, set_key: str) -> None:
    """Put the question into the set, or say why it cannot be; then the fields keep what was typed."""
    question, answer = (str(st.session_state.get(key) or "").strip() for key in (QUESTION, ANSWER))
    answerable = bool(st.session_state.get(ANSWERABLE, True))
    if not question:
        return
    with kept_error(_SAID):
        if answer and not answerable:
            raise InvalidInput(tell("lab_typed.both"), remedy=tell("lab_typed.both_remedy"))
        label = LabelledQuestion(given_id(question, ()), question, answerable, (answer,) if answer else ())
        recording.store().put_question(name, label)
        st.session_state[_SAID] = tell("lab_typed.added", question=question, set=name)
        st.session_state[QUESTION] = st.session_state[ANSWER] = ""
        st.session_state[ANSWERABLE] = True
        state.session().choose(set_key, name)
