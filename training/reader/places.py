"""Places of invented documents with questions about them, as rows for the reader and as sets to fit the scores on.

    python -m training.reader.places OUT.jsonl FOLDER

The places (places.jsonl: heading, sentences or rows, and questions with the numbers of what answers and its words) were
written for this by a language model: what companies and clubs have in their files, often with a heading, a frame or a
neighbour that takes back what a sentence says. OUT gets the questions to train on. FOLDER gets those of the places that
are held out, asked of their place alone (`own-alone`) and of all of them (`own-all`).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from training.files import Row, rows, split_of, write_rows

FILE = Path(__file__).with_suffix(".jsonl")
HELD = 0.12  # share of the places that are held out
PATH, CELL = " › ", " | "


def to_train_on(place: Row) -> list[Row]:
    """The questions of a place, as `training.reader.rows` reads them."""
    return [
        {
            "question": asked["q"],
            "units": place["units"],
            "gold": asked["gold"],
            "answers": [asked["answer"]] if asked["answer"] else [],
            "answerable": bool(asked["gold"]),
            "lang": asked.get("lang", place["lang"]),
            "context_lang": place["lang"],
            "source": "own",
            "title": place["place"].split(PATH)[0],
            "place": place["place"],
            "whole": True,
        }
        for asked in place["asked"]
    ]


def document(place: Row, id: str) -> Row:
    """A place as a text document: its heading, then its sentences, or its rows with their cells apart."""
    title, *_, heading = [*place["place"].split(PATH)] * 2
    between = "\n" if any(CELL in unit for unit in place["units"]) else " "
    text = between.join(place["units"]).replace(CELL, "\t")
    return {"id": id, "title": title, "lang": place["lang"], "text": f"{heading}\n\n{text}"}


def sets(places: list[Row]) -> dict[str, dict[str, list[Row]]]:
    """The rows of each file of both sets. Procedures are left out: no words tell whether they are right."""
    documents = [document(place, f"d{number}") for number, place in enumerate(places)]
    found = {}
    for name in ("own-alone", "own-all"):
        questions, gold = list[Row](), list[Row]()
        for number, place in enumerate(places):
            among = [f"d{number}"] if name == "own-alone" else [one["id"] for one in documents]
            for at, asked in enumerate(place["asked"]):
                if bool(asked["gold"]) == bool(asked["answer"]):
                    id, answers = f"{number}-{at}", [asked["answer"]] if asked["gold"] else []
                    language = asked.get("lang", place["lang"])
                    questions.append({"id": id, "lang": language, "question": asked["q"], "documents": among})
                    gold.append({"id": id, "answerable": bool(answers), "answers": answers})
        found[name] = {"documents": documents, "questions": questions, "gold": gold}
    return found


def main() -> None:
    """Write both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    places = rows(FILE)
    held = [place for place in places if split_of("\n".join(place["units"]), HELD) == "held"]
    write_rows(given.out, [row for place in places if place not in held for row in to_train_on(place)])
    for name, files in sets(held).items():
        (given.folder / name).mkdir(parents=True, exist_ok=True)
        for file, found in files.items():
            write_rows(given.folder / name / f"{file}.jsonl", found)


if __name__ == "__main__":
    main()
