"""The multilingual reader: what it says of each sentence in its place, of its value, and what happens without its
file.
"""

from __future__ import annotations

import json
import math

import pytest
import torch
from folding import each
from hypothesis import example, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from rag_core.adapters.embedding.e5_file import e5_file
from rag_core.adapters.embedding.reader import (
    MAX_LOGIT,
    QUESTION,
    VALUE_ENDS,
    VALUE_TOKENS,
    WINDOW,
    ReaderModel,
    _has_sign,
    _Text,
    version_of,
)
from rag_core.adapters.embedding.reader import MODEL_FILE as FILE
from rag_core.domain.passages import Place, ReadPlace, ReadUnit
from rag_core.errors import ModelUnavailable

ASKED = "How long is the notice period?"
NOTICE = Place(
    "Contract › Termination",
    (
        "The contract may be ended by either side.",
        "The notice period is thirty days from the end of the month.",
        "It is given in writing.",
    ),
)
OFFICE = Place("The office", ("The office is in Brno.", "It was built of brick and has four floors."))
BRIDGE = Place("Bridge", ("The bridge is made of steel.", "It was opened in 1931.", "Ships pass below it."))
DOGS = Place("Dogs", ("The dog likes bones.", "It sleeps all day."))
WALL = "It was painted green and stands beside the old wall of the garden."
MARKS = ("<s>", "</s>", "<pad>", "<mask>", "<unk>")
UNREAD = ReadUnit(-MAX_LOGIT)
NUMBERS = 5  # that the network says of a token


@pytest.fixture(scope="module")
def model() -> ReaderModel:
    return ReaderModel("float32")


def numbers(place: ReadPlace) -> list[float]:
    """All that is said of a place, the characters of values left out."""
    return [place.log_odds, *(number for unit in place.units for number in (unit.log_odds, unit.sure))]


def value(place: Place, said: ReadPlace, unit: int) -> str:
    start, end = said.units[unit].value
    return place.units[unit][start:end]


def blank_at_an_end(value: str) -> bool:
    """Whether it begins or ends with a blank of any kind, or with a mark that ends sentences."""
    return any(letter.isspace() or letter in VALUE_ENDS for letter in (*value[:1], *value[-1:]))


def given_tokens(
    model: ReaderModel, monkeypatch: pytest.MonkeyPatch, question: str, *places: Place
) -> list[tuple[list[int], list[int]]]:
    """What the network is given: the tokens of each window, and which of them are of the place.

    Something is said of each unit.
    """
    given: list[tuple[list[int], list[int]]] = []
    with monkeypatch.context() as patch:
        patch.setattr(
            model._network,
            "run",
            lambda texts, _: given.extend(texts) or [torch.zeros(len(tokens), NUMBERS) for tokens, _ in texts],
        )
        found = model._read(question, places)
    assert [len(one.units) for one in found] == [len(place.units) for place in places]
    return given


@each(
    ("question", "holds", "number", "answer", "elsewhere"),
    [
        (ASKED, NOTICE, 1, "thirty days", OFFICE),
        ("When was the bridge opened?", BRIDGE, 1, "1931", DOGS),
        ("Wann wurde die Brücke eröffnet?", BRIDGE, 1, "1931", DOGS),
        (
            "Who wrote the report?",
            Place("Report", ("The report was written by Maria Keller in 2019.", "It has forty pages.")),
            0,
            "Maria Keller",
            Place("Pumps", ("The pump moves water.", "It weighs twelve kilograms.")),
        ),
        (
            "Jak dlouhá je výpovědní lhůta?",
            Place(
                "Smlouva",
                ("Smlouvu může ukončit každá strana.", "Výpovědní lhůta činí třicet dní.", "Podává se písemně."),
            ),
            1,
            "třicet dní",
            Place("Kancelář", ("Kancelář je v Brně.", "Má čtyři podlaží.")),
        ),
        (
            "पुल कब खोला गया था?",
            Place("पुल", ("पुल इस्पात का बना है।", "इसे 1931 में खोला गया था।")),
            1,
            "1931",
            Place("कुत्ते", ("कुत्ते को हड्डियाँ पसंद हैं।", "वह दिन भर सोता है।")),
        ),
    ],
    ids=["en", "en, pronoun", "de of en", "en, name", "cs", "hi"],
)
def test_given_a_place_that_answers_then_its_sentence_and_value_are(question, holds, number, answer, elsewhere, model):
    here, there = model.read(question, [holds, elsewhere])

    assert here.log_odds > there.log_odds + 0.2
    assert max(range(len(here.units)), key=lambda at: here.units[at].log_odds) == number
    assert here.units[number].log_odds > max(unit.log_odds for unit in there.units)
    assert answer in value(holds, here, number)


@each("count", [1, 14, 35])
def test_given_a_place_longer_than_a_window_then_an_answer_far_behind_is_found(count, model):
    place = Place("Garden", (*[WALL] * count, NOTICE.units[1], *[WALL] * count))
    (said,) = model.read(ASKED, [place])

    assert len(said.units) == len(place.units)
    assert all(math.isfinite(unit.log_odds) and unit.log_odds > -MAX_LOGIT for unit in said.units)
    assert max(range(len(said.units)), key=lambda at: said.units[at].log_odds) == count
    assert "thirty days" in value(place, said, count)


def test_given_units_of_any_length_then_each_stands_in_a_window_of_the_length_that_was_learned(model, monkeypatch):
    long = [" ".join(["delivery"] * words) for words in (1, 400, 3, 70, 90, 200, 200, 200, 5)]
    windows = given_tokens(model, monkeypatch, "what " * 90, Place("heading " * 90, tuple(long)))

    assert len(windows) > 3
    assert all(len(tokens) == len(kinds) <= WINDOW for tokens, kinds in windows)
    question = {tuple(token for token, kind in zip(*window, strict=True) if kind == 0) for window in windows}
    assert [len(one) for one in question] == [QUESTION + 2]


@each("empty", ["", " ", " \t\n", "\u3000"])
def test_given_a_unit_of_no_tokens_then_nothing_is_said_of_it_and_the_others_are_read(empty, model):
    place = Place(NOTICE.heading, (empty, *NOTICE.units, empty))
    said, alone = model.read(ASKED, [place, Place("", (empty,))])

    assert said.units[0] == said.units[-1] == UNREAD
    assert UNREAD not in said.units[1:-1]
    assert "thirty days" in value(place, said, 2)
    assert alone.units == (UNREAD,)
    assert math.isfinite(alone.log_odds)


def test_given_a_text_that_writes_a_special_token_then_it_is_letters_and_ends_nothing(model, monkeypatch):
    pieces, start, end, pad, _ = e5_file().special
    plain = Place("Brno", ("The office.", "It is there."))
    [(wanted, _)] = given_tokens(model, monkeypatch, ASKED, plain)

    for mark in MARKS:
        marked = Place(f"{mark} Brno", (f"The {mark}{mark} office.{mark}", f"{mark}"))
        [(tokens, kinds)] = given_tokens(model, monkeypatch, f"{mark} {ASKED}{mark}", marked)

        assert (tokens.count(start), tokens.count(end)) == (1, wanted.count(end)), mark
        assert not {pad, pieces - 1} & set(tokens), mark
        assert set(e5_file().ids([mark])[0]) <= set(tokens), mark
        assert kinds == sorted(kinds), mark


texts = st.text(max_size=60) | st.sampled_from(
    ["", " ", *MARKS, "🦜" * 90, "नोटिस की अवधि", "\x00", "\xa0a\xa0", "．１２。"]
)


@settings(max_examples=25)
@given(question=texts, heading=texts, units=st.lists(texts, max_size=6))
@example(question="", heading="", units=[])
@example(
    question=ASKED,
    heading="",
    units=["\xa0", "a\xa0", "\u2028b\u2028", "\u3000c\u3000", "\x85d\x85", "\r\ne\r\n", "½", "...", "ﬁ"],
)
def test_given_any_text_then_odds_are_in_their_range_and_values_lie_inside_their_units(question, heading, units, model):
    place = Place(heading, tuple(units))
    (said,) = model.read(question, [place])

    assert len(said.units) == len(units)
    for odds in (said.log_odds, *(unit.log_odds for unit in said.units)):
        assert math.isfinite(odds)
        assert -MAX_LOGIT <= odds <= MAX_LOGIT
    for text, unit in zip(units, said.units, strict=True):
        start, end = unit.value
        assert 0 <= start <= end <= len(text)
        assert 0 <= unit.sure <= 1 + 1e-6
        assert not blank_at_an_end(text[start:end]), repr(text)


def test_given_a_long_unit_then_its_value_has_as_many_tokens_as_values_have_at_most(model: ReaderModel) -> None:
    text = "The list: " + ", ".join(f"item {number} of the list" for number in range(60))
    (said,) = model.read("What is on the list?", [Place("", (text,))])

    (ids,) = e5_file().ids([value(Place("", (text,)), said, 0)])
    assert 0 < len(ids) <= VALUE_TOKENS + 1


def chosen(text: str, first: int, last: int) -> str:
    """The value of a unit where a network says as loud as it can that it begins and ends with these tokens."""
    read = _Text.of(e5_file(), Place("", (text,)))
    loud = torch.zeros(len(read.units[0]), NUMBERS)
    loud[first, 3] = loud[last, 4] = 99.0
    start, end = read._unit(0, loud).value
    assert 0 <= start <= end <= len(text)
    return text[start:end]


blanks = st.sampled_from([" ", "\xa0", "\u2009", "\u3000", "\u2028", "\x85", "\r\n", "\t", ". ", "。", "\u200b"])
words = st.sampled_from(["30", "days", "ﬁve", "½", "e\u0301t", "１２", "नोटिस", "🦜", "</s>", "a b c"])


@given(
    parts=st.lists(st.tuples(blanks, words), min_size=1, max_size=5),
    end=blanks,
    places=st.tuples(st.integers(0), st.integers(0)),
)
@example(parts=[("", "30"), ("\xa0", "days")], end=" ", places=(1, 1))
def test_given_any_tokens_of_a_unit_then_the_value_they_make_is_not_blank_at_its_ends(parts, end, places):
    text = "".join(blank + word for blank, word in parts) + end
    (ids,) = e5_file().ids([text])
    first, last = sorted(place % min(len(ids), VALUE_TOKENS) for place in places)

    found = chosen(text, first, last)

    assert not blank_at_an_end(found), repr(text)


@each(
    ("text", "sign"),
    [
        ("at \u221218 degrees", 1),
        ("call +49 461", 1),
        ("costs €5", 1),
        ("-7 degrees", 1),
        ("8-18 o'clock", 0),
        ("18", 0),
    ],
)
def test_given_a_figure_right_behind_its_sign_then_the_sign_is_part_of_the_value(text: str, sign: int) -> None:
    figure = "18" if "18" in text else next(one for one in ("49", "5", "7") if one in text)
    assert _has_sign(text, text.index(figure)) == bool(sign)


@each("text", ["ﬁve ½ km", "cafe\u0301 1931", "１２\u3000ｋｍ", "🦜 parrots", "नोटिस 1931", "Zwölf Tage"])
def test_given_letters_that_are_read_as_others_then_the_value_is_of_the_text_as_it_stands(text: str) -> None:
    """NFKC makes two letters of "ﬁ", and one of an e with its accent: characters are those before it."""
    (ids,) = e5_file().ids([f"So it is: {text}, they say."])
    (before,) = e5_file().ids(["So it is:"])
    (behind,) = e5_file().ids([f"So it is: {text}"])
    assert ids[: len(behind)] == behind

    assert chosen(f"So it is: {text}, they say.", len(before), len(behind) - 1) == text


def test_given_texts_read_before_then_they_are_remembered_and_not_mixed_up(model, monkeypatch):
    asked = [
        ("What is a pump?", Place("Pumps", ("A pump moves water.", "It is loud."))),
        ("What is a pump?Pumps", Place("", ("A pump moves water.", "It is loud."))),
        ("What is a pump?", Place("", ("Pumps", "A pump moves water.", "It is loud."))),
        ("What is a pump?", Place("Pumps", ("A pump moves water.It is loud.",))),
        ("What is a pump?", Place("PumpsA pump moves water.", ("It is loud.",))),
        ("What is a pump?", Place("Pumps", ("A pump moves water.", "It is loud.", ""))),
    ]
    found = [model.read(question, [place]) for question, place in asked]
    assert len({json.dumps(one.to_json()) for [one] in found}) == len(asked)

    monkeypatch.setattr(model, "_read", lambda *_: pytest.fail("it was read again"))
    assert [model.read(question, [place]) for question, place in asked] == found


def test_given_bfloat16_then_it_says_nearly_the_same(model: ReaderModel) -> None:
    exact, rough = (one.read(ASKED, [NOTICE, OFFICE]) for one in (model, ReaderModel("bfloat16")))

    for one, other in zip(exact, rough, strict=True):
        assert numbers(one) == pytest.approx(numbers(other), abs=0.5)


odds = st.floats(-MAX_LOGIT, MAX_LOGIT)
units = st.builds(ReadUnit, odds, st.tuples(st.integers(0, 99), st.integers(0, 99)), st.floats(0, 1))


@given(place=st.builds(ReadPlace, odds, st.lists(units).map(tuple)))
def test_given_what_is_said_of_a_place_when_sent_to_another_process_then_it_arrives_bit_by_bit(place):
    assert ReadPlace.from_json(json.loads(json.dumps(place.to_json()))) == place


@each("kind", ["damaged", "missing", "other"])
def test_given_a_damaged_or_missing_file_then_it_is_one_error_with_a_remedy(kind, tmp_path_factory):
    file = tmp_path_factory.mktemp("reader") / f"{kind}.safetensors"
    if kind == "damaged":
        file.write_bytes(FILE.read_bytes()[:1000])
    elif kind == "other":
        save_file({"some.weight": torch.zeros(2)}, file)

    with pytest.raises(ModelUnavailable, match="reader could not be loaded") as raised:
        ReaderModel("float32", file)
    assert f"data/models/{file.name}" in raised.value.remedy


def test_given_weights_that_are_no_numbers_then_it_says_so_instead_of_guessing(tmp_path):
    weights = load_file(FILE)
    weights["span.weight"] = torch.full_like(weights["span.weight"], math.nan)
    save_file(weights, tmp_path / "broken.safetensors")

    with pytest.raises(ModelUnavailable, match="not a number") as raised:
        ReaderModel("float32", tmp_path / "broken.safetensors").read(ASKED, [NOTICE])
    assert raised.value.remedy


def test_given_the_file_then_it_holds_what_was_trained_alone_and_is_small_enough_for_a_repository(model):
    untrained = ("embeddings.", *(f"encoder.layer.{number}." for number in range(4)))

    assert model.version == version_of(FILE)
    assert FILE.stat().st_size < 50_000_000
    assert not [name for name in load_file(FILE) if name.startswith(untrained)]
