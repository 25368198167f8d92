"""Sets of questions over contexts that the reader's training holds out, each asked once with its context and once
without.

    python -m training.held_out OUT QUESTIONS FILE.jsonl …

The files hold rows as `training.reader.rows` reads them. OUT gets a folder for each language of the contexts:
`held-xx`, where the question is in their language too, `held-x-xx`, where it is not, and `short-held-…`, where each
question is asked of one context alone. In the others a context stands among all of its set and some of the same title;
without it, what has its title is left out now and then, too.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from training.files import SEED, Row, rows, split_of, write_rows
from training.reader.rows import HELD
from training.reader.typed import typed

CONTEXTS, SIBLINGS, MOST = 60, 2, 130  # held-out contexts of a set, of the same title beside each, and documents in all
# characters of a context, questions of a set, and characters of a telling answer, at least
LEAST_CHARS, LEAST_QUESTIONS, LONG = (
    120,
    12,
    12,
)
SLIPS = 0.12  # share of the questions that are asked as people type them
BARE = 0.4  # share of the questions without their context that lose what has its title, too

Found = dict[str, list[Row]]


def held_out(asked: Iterable[Row], questions: int, draw: random.Random) -> dict[str, Found]:
    """The rows of each file of each set, by the name of the set."""
    by_context: dict[str, list[Row]] = defaultdict(list)
    for row in asked:
        if row.get("context") and row["answers"] and row.get("answerable", True):
            by_context[row["context"]].append(row)
    languages: dict[str, list[str]] = defaultdict(list)
    for context, of in by_context.items():
        languages[of[0].get("context_lang") or of[0]["lang"]].append(context)
    sets: dict[str, Found] = {}
    for language, contexts in sorted(languages.items()):
        held = [one for one in contexts if split_of(one, HELD) == "held" and len(one) >= LEAST_CHARS]
        held = draw.sample(held, min(CONTEXTS, len(held)))
        titled: dict[str, list[str]] = defaultdict(list)
        for one in contexts:
            titled[_title(by_context, one)].append(one)
        alike = [titled[title] for one in held if (title := _title(by_context, one))]
        beside = [one for of in alike for one in draw.sample(of, min(SIBLINGS, len(of)))]
        texts = list(dict.fromkeys([*held, *beside]))[:MOST]
        for across in (False, True):
            found = [row for one in held for row in by_context[one] if (row["lang"] != language) == across]
            if len(found) >= LEAST_QUESTIONS:
                name, drawn = f"{'x-' * across}{language}", draw.sample(found, min(questions, len(found)))
                sets[f"held-{name}"], sets[f"short-held-{name}"] = _sets(drawn, texts, by_context, language, draw)
    return sets


def _title(by_context: dict[str, list[Row]], context: str) -> str:
    return str(by_context[context][0].get("title", ""))


def _sets(
    drawn: list[Row], texts: list[str], by_context: dict[str, list[Row]], language: str, draw: random.Random
) -> tuple[Found, Found]:
    ids = {text: f"d{number}" for number, text in enumerate(texts)}
    documents = [
        {"id": ids[text], "title": _title(by_context, text).replace("_", " "), "lang": language, "text": text}
        for text in texts
    ]
    among, alone = ({"documents": documents, "questions": [], "gold": []} for _ in range(2))
    for number, row in enumerate(drawn):
        if draw.random() < SLIPS:
            row = {**row, "question": typed(row["question"], row["lang"], draw)}
        own, title = row["context"], row.get("title", "")
        others = [text for text in texts if text != own]
        alike = [text for text in others if title and _title(by_context, text) == title]
        bare = draw.random() < BARE
        without = [ids[text] for text in others if not (bare and text in alike)]
        for found, there, not_there in (
            (among, list(ids.values()), without),
            (alone, [ids[own]], [ids[draw.choice(alike or others)]]),
        ):
            _add(found, f"{number}-with", row, there, row["answers"])
            elsewhere = any(
                answer.lower() in text.lower()
                for answer in row["answers"]
                for text in others
                if text in alike or len(answer) > LONG
            )
            if not elsewhere:
                _add(found, f"{number}-without", row, not_there, [])
    return among, alone


def _add(found: Found, id: str, row: Row, documents: list[str], answers: list[str]) -> None:
    found["questions"].append({"id": id, "lang": row["lang"], "question": row["question"], "documents": documents})
    found["gold"].append({"id": id, "answerable": bool(answers), "answers": answers})


def main() -> None:
    """Write the sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("questions", type=int)
    parser.add_argument("files", type=Path, nargs="+")
    given = parser.parse_args()
    asked = (row for file in given.files for row in rows(file))
    for name, files in held_out(asked, given.questions, random.Random(SEED)).items():
        (given.out / name).mkdir(parents=True, exist_ok=True)
        for file, found in files.items():
            write_rows(given.out / name / f"{file}.jsonl", found)


if __name__ == "__main__":
    main()
