"""Sets in which each question is asked twice over the same paragraphs: with the one that answers it, and without. Not part of the product.

    python -m training.near_misses OUT LANGUAGE QUESTIONS FILE.json …

The files have the form of SQuAD. Six articles with five paragraphs each are searched together; OUT has two such libraries. Articles that
the reader was trained on make its scores too sure (docs/log/2026-11-28-sentences-by-their-vectors.md): give others.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from training.files import SEED, Row, write_rows

LIBRARIES, ARTICLES, PARAGRAPHS = 2, 6, 5  # as the near misses of the bench have
LEAST = 150  # characters of a paragraph


def near_misses(articles: list[dict[str, Any]], language: str, questions: int, draw: random.Random) -> Iterator[tuple[str, Row]]:
    """The rows with the name of the file that each belongs to; a question whose answer stands in another paragraph too is left out."""
    drawn = draw.sample(articles, LIBRARIES * ARTICLES)
    for at in range(LIBRARIES):
        paragraphs = [
            (f"{at}-{number}-{place}", article["title"].replace("_", " "), paragraph)
            for number, article in enumerate(drawn[at * ARTICLES : (at + 1) * ARTICLES])
            for place, paragraph in enumerate(draw.sample(long_ones(article), PARAGRAPHS))
        ]
        for id, title, paragraph in paragraphs:
            yield "documents", {"id": id, "title": title, "lang": language, "text": paragraph["context"]}
        asked = [
            (id, one["question"], answers)
            for id, _, paragraph in paragraphs
            for one in paragraph["qas"]
            if (answers := [answer["text"] for answer in one["answers"]])
            and not any(answer in other["context"] for answer in answers for known, _, other in paragraphs if known != id)
        ]
        for number, (own, question, answers) in enumerate(draw.sample(asked, min(questions // LIBRARIES, len(asked)))):
            for there in (True, False):
                row = f"{at}-{number}-{'with' if there else 'without'}"
                searched = [id for id, *_ in paragraphs if there or id != own]
                yield "questions", {"id": row, "lang": language, "question": question, "documents": searched}
                yield "gold", {"id": row, "answerable": there, "answers": answers if there else []}


def long_ones(article: dict[str, Any]) -> list[dict[str, Any]]:
    """The paragraphs that are long enough."""
    return [one for one in article["paragraphs"] if len(one["context"]) >= LEAST]


def main() -> None:
    """Write a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("language")
    parser.add_argument("questions", type=int)
    parser.add_argument("files", type=Path, nargs="+")
    given = parser.parse_args()
    articles = [one for file in given.files for one in json.loads(file.read_text(encoding="utf-8"))["data"]]
    enough = [one for one in articles if len(long_ones(one)) >= PARAGRAPHS]
    given.out.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[Row]] = {"documents": [], "questions": [], "gold": []}
    for name, row in near_misses(enough, given.language, given.questions, random.Random(SEED)):
        rows[name].append(row)
    for name, of in rows.items():
        write_rows(given.out / f"{name}.jsonl", of)


if __name__ == "__main__":
    main()
