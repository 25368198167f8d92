"""Places that say the same of several things: what a row claims of its place is so, in every language and way."""

from __future__ import annotations

import random

from training.reader.alike import KINDS, LANGUAGES, made


def test_given_many_rows_then_the_thing_that_is_asked_for_stands_where_the_row_says_and_nowhere_else() -> None:
    rows = list(made(3000, random.Random(1)))

    assert {row["lang"] for row in rows} == {row["context_lang"] for row in rows} == set(LANGUAGES)
    assert 0.4 < sum(row["answerable"] for row in rows) / len(rows) < 0.7
    for row in rows:
        assert row["answerable"] == bool(row["gold"]) == bool(row["answers"])
        assert all(row["answers"][0] in row["units"][number] for number in row["gold"]), row
        assert not any(brace in text for text in (row["question"], row["place"], *row["units"]) for brace in "{}"), row


def test_given_a_numbered_thing_then_only_a_row_that_has_its_number_answers() -> None:
    numbered = {KINDS[kind]["says"]["en"][1].split("{id}")[0]: kind for kind in KINDS if KINDS[kind]["id"] == "number"}
    for row in made(3000, random.Random(2)):
        begins = next((text for text in numbered if row["question"].startswith(text)), None)
        if row["lang"] == row["context_lang"] == "en" and begins:
            id = row["question"].removeprefix(begins).split()[0].strip("?")
            own = KINDS[numbered[begins]]["says"]["en"]
            stated = [
                n
                for n, unit in enumerate(row["units"])
                if f" {id} " in f" {unit} ".replace(".", " ") and _is_of(unit, own)
            ]
            here = row["gold"] if row["place"] == own[3].format(id=id) else stated
            assert row["gold"] == here, row


def _is_of(unit: str, own: list[str]) -> bool:
    """Whether a unit is a statement or row of a kind."""
    return unit.startswith((own[0].split("{")[0], own[3].split("{")[0])) and (
        "|" in unit or own[0].split("}")[1].split("{")[0] in unit
    )
