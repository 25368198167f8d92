"""The reader's training: what it draws of a question, and that a few steps on it are written as the product reads
them.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.adapters.embedding.e5_file import e5_file
from rag_core.adapters.embedding.reader import WINDOW, ReaderModel
from rag_core.domain.passages import Place
from training.crossed import crossed
from training.files import rows as read_rows
from training.reader.draws import Draws, Window
from training.reader.fit import Reader, fit, save
from training.reader.rows import Rows

BRIDGES = [f"Bridge {n} was opened in {1900 + n}." for n in range(8)]
TEXT = " ".join([*BRIDGES, "All of them are long."])
UNDOING = {
    "en": {
        name: [f"{name} said."]
        for name in ("before", "after", "heading", "harmless_before", "harmless_after", "harmless_heading")
    }
}


def rows() -> list[dict[str, object]]:
    asked = [
        {
            "question": f"When was bridge {n} opened",
            "context": TEXT,
            "answers": [str(1900 + n)],
            "lang": "en",
            "source": "x",
            "title": "Bridges",
        }
        for n in range(8)
    ]
    nobody = {
        "question": "Who built it?",
        "context": TEXT,
        "answers": [],
        "answerable": False,
        "lang": "en",
        "source": "x",
    }
    table = {
        "question": "b?",
        "units": ["a | 1", "b | 2"],
        "gold": [1],
        "answers": ["2"],
        "lang": "en",
        "source": "t",
        "place": "Head",
    }
    return [*asked, nobody, table]


def drawn_from(every: list[dict[str, object]]) -> Draws:
    found = Rows()
    found.add(every)
    found.train += found.held
    return Draws(found, e5_file(), UNDOING, random.Random(1))


def text_of(window: Window, start: int, end: int) -> str:
    return "".join(e5_file().tokenizer.id_to_piece(window.ids[start:end])).replace("▁", " ").strip()


def test_given_rows_then_the_sentences_that_hold_an_answer_are_marked_and_a_row_without_one_is_left_out() -> None:
    found = Rows()
    found.add(
        [
            *rows(),
            {"question": "No sentence?", "context": TEXT, "answers": ["in 1900. Bridge"], "lang": "en", "source": "x"},
        ]
    )

    every = {one.question: one for one in (*found.train, *found.held)}
    assert len(every) == 10
    asked = every["When was bridge 3 opened?"]
    assert {n: asked.context.units[n][slice(*at)] for n, at in asked.spans.items() if at} == {3: "1903"}
    assert every["Who built it?"].spans == {}
    assert every["b?"].spans == {1: (4, 5)}
    assert every["b?"].context.place == "Head"


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), number=st.integers(0, 9))
def test_given_any_draw_then_the_window_fits_and_its_labels_are_of_its_own_sentences(seed: int, number: int) -> None:
    draws = drawn_from(rows())
    draws.draw = random.Random(seed)

    window = draws.window(draws.rows.train[number])

    assert len(window.ids) <= WINDOW + 1
    assert len(window.units) == len(window.answers)
    assert all(window.text_at < start < end < len(window.ids) for start, end in window.units)
    first, last = window.value
    if first > 0:
        holding = [
            yes for (start, end), yes in zip(window.units, window.answers, strict=True) if start <= first <= last < end
        ]
        assert holding == [True]
        assert any(answer in text_of(window, first, last + 1) for answer in draws.rows.train[number].answers)
    else:
        assert window.value == ((0, 0) if not any(window.answers) else (-1, -1))


def test_given_a_question_as_it_is_then_heading_question_and_answer_stand_in_their_order() -> None:
    draws = drawn_from(rows())

    window = draws.window(next(one for one in draws.rows.train if "bridge 5" in one.question), plain=True)

    assert text_of(window, 0, window.text_at) == "<s> When was bridge 5 opened?</s>"
    assert text_of(window, window.text_at, window.units[0][0]) == "</s> Bridges</s>"
    assert text_of(window, *window.units[5]) == "Bridge 5 was opened in 1905."
    assert window.answers == [n == 5 for n in range(9)]


def test_given_places_whose_answer_depends_on_all_of_them_then_all_is_read_and_two_headings_are_two_places() -> None:
    place = {
        "question": "When was bridge 1 opened?",
        "units": [*BRIDGES, "All of this is invented."],
        "lang": "en",
        "source": "x",
        "whole": True,
    }
    void = {**place, "gold": [], "answers": [], "answerable": False, "place": "A dream"}
    draws = drawn_from([void, {**place, "gold": [1], "answers": ["1901"], "place": "What was built"}])
    draws.undoing = {}

    for asked in draws.rows.train:
        for _ in range(40):
            window = draws.window(asked)
            assert asked.context.place in text_of(window, window.text_at, window.units[0][0])
            if any(window.answers) or not asked.spans:
                assert len(window.units) == len(place["units"])
    assert {one.context.place: bool(one.spans) for one in draws.rows.train} == {
        "A dream": False,
        "What was built": True,
    }


def test_given_little_room_then_what_takes_back_is_read_with_its_sentence() -> None:
    draws = drawn_from(rows()[:8])
    units = draws._units(draws.rows.train[0].context)

    for at in (3, 5):
        window = draws._cut([5], [], units, {}, 1, 4, (at,))
        assert [text_of(window, *unit) for unit in window.units] == [BRIDGES[n] for n in sorted((4, at))]


def test_given_many_draws_then_some_have_nothing_that_answers_and_what_is_taken_back_does_not_answer() -> None:
    draws = drawn_from(rows()[:8])
    windows = [draws.window(draws.rows.train[0]) for _ in range(300)]

    answered = sum(any(one.answers) for one in windows) / len(windows)
    assert 0.5 < answered < 0.85
    for window in windows:
        texts = [text_of(window, *unit) for unit in window.units]
        if texts.count("after said."):
            before = texts.index("after said.") - 1
            assert not (texts[before].startswith("Bridge 0") and window.answers[before])
        if "heading said." in text_of(window, window.text_at, window.units[0][0]).removeprefix("</s>").replace(
            "harmless_heading said.", ""
        ):
            assert not any(window.answers)


def test_given_a_few_steps_then_the_loss_is_finite_and_the_product_reads_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws, network = drawn_from(rows()), Reader()
    monkeypatch.setattr("training.reader.fit.TOKENS", 300)

    fit(network, draws, draws.rows.weights({}, {}), seconds=2.0, rate=1e-4)
    save(network, tmp_path / "reader.safetensors")

    said = ReaderModel("float32", tmp_path / "reader.safetensors").read(
        "When was bridge 5 opened?", [Place("Bridges", tuple(BRIDGES))]
    )
    assert len(said[0].units) == len(BRIDGES)
    again = Reader(tmp_path / "reader.safetensors")
    assert sum(one.numel() for one in again.parameters() if one.requires_grad) < 15_000_000


def test_given_two_sets_that_are_parallel_then_the_questions_of_one_are_asked_over_the_documents_of_the_other(
    tmp_path: Path,
) -> None:
    for code in ("en", "de"):
        folder = tmp_path / f"xquad-{code}"
        folder.mkdir()
        for name, row in (
            ("questions", f'{{"id": "q-{code}", "lang": "{code}", "question": "{code}?", "documents": ["d-{code}"]}}'),
            ("gold", f'{{"id": "q-{code}", "answerable": true, "answers": ["{code}"]}}'),
            ("documents", f'{{"id": "d-{code}", "text": "{code}"}}'),
        ):
            (folder / f"{name}.jsonl").write_text(row + "\n")

    found = crossed(tmp_path, "de", "en")

    assert found["questions.jsonl"] == [{"id": "q-en", "lang": "de", "question": "de?", "documents": ["d-en"]}]
    assert found["gold.jsonl"] == read_rows(tmp_path / "xquad-en" / "gold.jsonl")
    assert found["documents.jsonl"][0]["text"] == "en"
