"""Questions and the texts the answerability model learns from: what is a yes, what is a no, and that a context is held out whole."""

from __future__ import annotations

import random
from typing import Any

from folding import each

from rag_core.compression.selection import MARK, reading
from training.answers.changed import changed
from training.answers.draws import PASSAGE, SENTENCE, Arrays, Draws, Pair, Tokens, cut, length
from training.answers.mined import Read
from training.answers.texts import Asked, Runs, Texts

CONTEXT = "The Ardun bridge was opened in 1931. It is 412 metres long. The toll for a car is 3 pounds. Ships pass below it."
OTHER = "The Ardun harbour was dug in 1902. Its cranes are red."


def row(question: str = "When was the Ardun bridge opened?", answers: tuple[str, ...] = ("1931",), **fields: Any) -> dict[str, Any]:
    given = {"question": question, "context": CONTEXT, "answers": list(answers), "source": "made", "lang": "en", "title": "Ardun"}
    return {**given, **fields}


def draws(*rows: dict[str, Any], read: tuple[Read, ...] = ()) -> Draws:
    return Draws(Texts.of(list(rows)), read, Tokens(), {})


def asked_of(found: Draws) -> Asked:
    [*_, one] = [one for one in found.texts.asked if not one.changed]
    return one


def words(found: Draws, pair: Pair) -> str:
    """The text of a pair, put together from its tokens."""
    spelled = found.tokens._tokenizer.decode(pair.ids[pair.text_at :])  # the tokens themselves say nothing to a reader
    return str(spelled.split(MARK)[0].strip())


def test_given_a_place_and_a_sentence_before_then_the_sentence_itself_stands_first_and_nothing_empty_is_marked() -> None:
    assert reading("It is long.", "Ardun", "It was opened.") == "It is long. ¶ Ardun ¶ It was opened."
    assert reading("It is long.", "", "") == "It is long."


@each("seed", range(12))
def test_given_an_answer_then_its_sentence_is_a_yes_and_sentences_without_it_are_a_no(seed: int) -> None:
    found = draws(row("When was the harbour dug?", ("1902",), context=OTHER), row())

    pairs = found.pairs(asked_of(found), random.Random(seed))

    said = {pair.answers: words(found, pair) for pair in pairs if len(pair.ids) < 40}
    assert said[True].startswith("the ardun bridge was opened in 1931")
    assert not any("1931" in words(found, pair) for pair in pairs if not pair.answers)


def test_given_an_answer_then_its_tokens_are_pointed_at() -> None:
    found = draws(row())

    [pair] = [pair for pair in found.pairs(asked_of(found), random.Random(1)) if pair.answers and len(pair.ids) < 40]

    first, last = pair.span
    assert found.tokens._tokenizer.decode(pair.ids[first : last + 1]) == "1931"


def test_given_no_answer_then_only_no_s_are_drawn_and_an_answer_over_two_sentences_is_left_out() -> None:
    nowhere = draws(row("How long is the Ardun toll?", (), answerable=False))
    across = Texts.of([row(answers=("1931. It is 412",), answerable=True)])

    assert {pair.answers for pair in nowhere.pairs(asked_of(nowhere), random.Random(0))} == {False}
    assert across.asked == []


def test_given_a_near_sentence_of_another_context_then_it_is_a_no_unless_it_holds_the_answer() -> None:
    near, same = "The Ardun bridge was painted red.", "The Ardun bridge was opened in 1931, a sign says."
    texts = Texts.of([row("Who painted it?", ("nobody",), context=f"{near} {same}", answerable=False), row()])

    units = [texts.contexts[context].units[unit] for context, unit in texts.asked[-1].elsewhere]

    assert near in units
    assert same not in units


def test_given_units_and_which_of_them_answer_then_no_text_is_cut() -> None:
    units = ["Bolt | 5", "Nut | 7", "Washer | 1"]
    texts = Texts.of([{"question": "What does a nut cost?", "units": units, "gold": [1], "source": "tables", "lang": "en", "title": ""}])

    assert texts.contexts[0].units == tuple(units)
    assert [gold.unit for gold in texts.asked[0].gold] == [1]


def test_given_an_empty_unit_before_the_one_that_answers_then_the_right_one_is_the_yes() -> None:
    found = Texts.of([row(units=["A bridge.", "", "It was opened in 1931.", "It is long."], gold=[2], answers=[])])

    assert [found.contexts[0].units[gold.unit] for gold in found.asked[0].gold] == ["It was opened in 1931."]


def test_given_rules_of_a_house_then_no_sentence_of_another_section_is_a_no() -> None:
    """Another section may state the same rule."""
    rules = row("When is the desk open?", units=["The desk is open from 9.", "It is by the door."], gold=[0], answers=[])
    other = row("Where is the desk?", units=["The desk is open from 9 to 5.", "The desk is upstairs."], gold=[1], answers=[])

    assert [one.elsewhere for one in Texts.of([{**one, "source": "house-rules"} for one in (rules, other)]).asked] == [(), ()]
    assert all(one.elsewhere for one in Texts.of([rules, other]).asked)


def test_given_a_text_taken_from_one_that_stays_apart_then_its_questions_are_left_out() -> None:
    apart = Runs([CONTEXT])

    assert Texts.of([row()], apart).asked == []
    assert Texts.of([row("When was it dug?", ("1902",), context=OTHER)], apart).asked


def test_given_many_contexts_then_each_is_in_one_split_and_some_are_held_out() -> None:
    rows = [
        row(question, ("1931",), context=f"Bridge number {n} was opened in 1931. It is long.")
        for n in range(300) for question in (f"When was bridge {n} opened?", f"Which year saw bridge {n}?")
    ]  # fmt: skip

    texts = Texts.of(rows)

    held = {one.context for one in texts.asked if one.held}
    assert not held & {one.context for one in texts.asked if not one.held}
    assert 0 < len(held) < 30


def test_given_two_lots_of_texts_then_joined_ones_point_at_their_own_contexts() -> None:
    one, other = Texts.of([row()]), Texts.of([row("When was the harbour dug?", ("1902",), context=OTHER)])

    joined = one.joined(other)

    assert joined.contexts[joined.asked[-1].context].units[0].startswith("The Ardun harbour")


def test_given_what_the_product_read_then_a_yes_and_its_no_s_are_drawn() -> None:
    texts = (("It is 24 months. ¶ Pump", "sentence", True), ("It is blue. ¶ Pump", "sentence", False), ("long " * 100, "passage", False))
    read = Read("How long is the warranty?", texts, "mined-made en", held=False)
    found = draws(read=(read,))

    assert sorted(pair.answers for pair in found.pairs(read, random.Random(0))) == [False, False, True]


def test_given_long_texts_then_a_pair_is_cut_and_an_answer_beyond_the_cut_is_not_pointed_at() -> None:
    long = " ".join(["The Ardun bridge has many stones"] * 60)
    found = draws(row(context=f"{long} and was opened in 1931."))

    every = [pair for seed in range(20) for pair in found.pairs(asked_of(found), random.Random(seed)) if pair.answers]

    assert {len(pair.ids) for pair in every} == {SENTENCE, PASSAGE}
    assert {pair.span for pair in every if len(pair.ids) == SENTENCE} == {(-1, -1)}


def test_given_pairs_of_many_lengths_then_no_batch_holds_more_tokens_than_it_may_and_none_is_lost() -> None:
    pairs = [Pair([1] * n, 1, (-1, -1), False, "made") for n in range(5, 90)]

    found = cut(pairs, 256, random.Random(0))

    assert all(len(batch) == 1 or max(map(length, batch)) * len(batch) <= 256 for batch in found)
    assert sum(map(len, found)) == len(pairs)
    arrays = Arrays.of(found[0])
    assert arrays.mask.sum(axis=1).tolist() == [len(pair.ids) for pair in found[0]]


def test_given_a_number_a_name_or_a_degree_then_the_question_is_changed_to_what_the_sentence_does_not_hold() -> None:
    said = "The Ardun bridge was opened in 1931."

    number = changed("What was opened in 1931?", f"{said} The Ardun harbour was dug in 1902.", said, "en", random.Random(0))
    name = changed("Who opened the Ardun bridge?", f"{said} Then Willem Bos opened it.", said, "en", random.Random(0))
    degree = changed(
        "who built the largest mill?", "The largest mill stands there.", "The largest mill stands there.", "en", random.Random(0)
    )

    assert number == "What was opened in 1902?"
    assert name == "Who opened the Willem Bos bridge?"
    assert degree == "who built the smallest mill?"
    assert changed("who ran it?", said, said, "en", random.Random(0)) is None
