"""Reports with real tables of annual reports, and questions about their rows, in the bench's form.

Not part of the product.

    python -m training.table_reports OUT --tatqa tatqa_dataset_dev.json tatqa_dataset_test_gold.json
    python -m training.table_reports OUT --finqa FOLDER --asked QUESTIONS.csv

TAT-QA brings tables, paragraphs and questions that people asked. FinQA brings pages of filings, one file each as
ConvFinQA has them, which the answerability model never saw; its look-ups ask for the label and the period of a cell in
six forms, besides those that people asked. Half of the questions have no answer: their table is left out, they name
another year, or they ask to compute.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from training.pdf.documents import main as write
from training.pdf.documents import reports
from training.pdf.texts import Question, Text

SEED, ORDER = 7, 13  # random numbers for questions and for documents; chosen
A_TABLE = 8  # look-ups at most; chosen
MIN_CELLS = 4  # in a table that is asked about; chosen
MAX_LABEL_WORDS = 12  # in a label that is asked for; chosen
DROPPED = 0.15  # share of look-ups that leave "total" away, as people do
FORMS = (
    "What was the {label} {period}?",
    "How much was {label} {period}?",
    "What is the {label} {period}?",
    "what were {label} {period}?",
    "What {label} did the company report {period}?",
    "{label} {period}?",
)
PERIODS = ("in {year}", "for {year}", "in fiscal {year}", "for the year {year}", "as of the end of {year}")
COMPUTED = ("percentage change", "growth rate", "change", "average")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WHOLE_YEAR = re.compile(r"(?:fiscal |year |the year )?(?:19|20)\d\d")
_DEGREE = re.compile(r"largest|smallest|highest|lowest|\bmost\b|least|\bhigher|\blower|exceed|greater")
_HEAD = re.compile(r".*\b(?:19|20)\d\d\b.*|.*(?:December|June|September|March) \d+,?.*")
_REFERS = re.compile(r"\b(?:it|its|that|those|same|about|the value)\b")
_RECORD = re.compile(r"^(?:Single|Double)_|-\d+$")


def from_finqa(folder: Path, asked: Path | None) -> list[Text]:
    """Pages of filings, each once, with their table, look-ups of its cells, and questions that ask to compute."""
    draw = random.Random(SEED)
    pages: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json"), key=str):
        row = json.loads(path.read_text(encoding="utf-8"))
        pages.setdefault(_RECORD.sub("", row["id"]), row["doc"])
    people = _asked_by_people(asked) if asked else {}
    texts = []
    for id, page in pages.items():
        table = page["table"]
        heads, labels = list(table), list(table[next(iter(table))])
        values = {
            (label, head): written(table[head][label])
            for label in labels
            for head in heads
            if table[head].get(label) not in (None, "")
        }
        questions = list(_looked_up(values, draw))[:A_TABLE] + people.get(id, [])
        dated = [head for head in heads if _YEAR.search(head)]
        if len(dated) > 1:
            for label in draw.sample(labels, min(2, len(labels))):
                text = f"What was the {draw.choice(COMPUTED)} in {label} from {dated[1]} to {dated[0]}?"
                questions.append(Question(text, ("\0",), "computed", "finqa"))
        if len(values) >= MIN_CELLS:
            cells = tuple(
                f"{label[0].upper()}{label[1:]} | {head} : {value}" for (label, head), value in values.items()
            )
            said = f"{set_right(page['pre_text'])}\n{set_right(page['post_text'])}"
            texts.append(Text(said, "", "en", "finqa", tuple(questions), cells))
    return texts


def _looked_up(values: dict[tuple[str, str], str], draw: random.Random) -> Iterator[Question]:
    """A question for each cell with a period, in any order."""
    cells = list(values.items())
    draw.shuffle(cells)
    for (label, head), value in cells:
        if (
            len(label) < 4
            or len(label.split()) > MAX_LABEL_WORDS
            or len(value) < 2
            or len(years := _YEAR.findall(head)) != 1
        ):
            continue
        whole = _WHOLE_YEAR.fullmatch(head.strip())
        period = draw.choice(PERIODS).format(year=years[0]) if whole else f"for {head}"
        said = re.sub(r" \(.*?\)", "", label)
        said = said.removeprefix("total ") if draw.random() < DROPPED else said
        yield Question(draw.choice(FORMS).format(label=said, period=period), (value.strip("()"),), "stated", "finqa")


def _asked_by_people(path: Path) -> dict[str, list[Question]]:
    """The first turns that look up one number, and later ones that name their year and lean on nothing."""
    found: dict[str, list[Question]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            text = row["conv_questions_x"]
            alone = row["q_order"] == "0" or (_YEAR.search(text) and not _REFERS.search(text))
            if "(" not in row["turn_program"] and alone:
                answer = row["conv_answers"]
                both = (answer, written(float(answer))) if re.fullmatch(r"-?[\d.]+", answer) else (answer,)
                found[_RECORD.sub("", row["report_id_x"])].append(Question(text, both, "stated", "convfinqa"))
    return found


def written(value: Any) -> str:
    """A number as a filing writes it: thousands parted, a loss in brackets."""
    if isinstance(value, str):
        return value
    whole = float(value).is_integer()
    said = f"{abs(int(value)):,}" if whole else f"{abs(value):,}"
    return f"({said})" if value < 0 else said


def set_right(text: str) -> str:
    """A text of FinQA as it was printed, about: its words stand apart from their points, and shares are written
    twice.
    """
    text = re.sub(r"(\$? ?-?[\d.,]+ ?%?) \( (?:\$ )?[\d., ]+%? \)", r"\1", text)
    for apart, together in ((r"\( ", "("), (r" \)", ")"), (r" ([,.;:%])", r"\1"), (r"\$ ", "$"), (r"2019s\b", "'s")):
        text = re.sub(apart, together, text)
    return re.sub(r"(^|[.?!] )([a-z])", lambda match: match[1] + match[2].upper(), text)


def from_tatqa(paths: Iterable[Path]) -> list[Text]:
    """Tables with the paragraphs around them, and people's questions for one stretch or for a calculation."""
    found = [row for path in paths for row in json.loads(path.read_text(encoding="utf-8"))]
    return [text for row in found if (text := _tat_table(row))]


def _tat_table(row: dict[str, Any]) -> Text | None:
    grid = row["table"]["table"]
    width = max(map(len, grid))
    grid = [[*line, *[""] * (width - len(line))] for line in grid]
    top = next((i for i, line in enumerate(grid) if line[0].strip() and any(map(_is_value, line[1:]))), len(grid))
    heads = [", ".join(cell for line in grid[:top] if (cell := line[column].strip())) for column in range(1, width)]
    named = [head for head in heads if head]
    if not named or len(set(named)) < len(named):
        return None
    cells, over = [], ""
    for first, *rest in grid[top:]:
        if not any(cell.strip() for cell in rest):
            over = f"{first.strip(' :')} > "
        elif first.strip():
            values = ((head, re.sub(r" {2,}", "", cell.strip())) for head, cell in zip(heads, rest, strict=True))
            cells += [f"{over}{first.strip()} | {head} : {value}" for head, value in values if head and value]
    questions = [question for one in row["questions"] if (question := _tat_question(one))]
    said = "\n".join(one["text"] for one in sorted(row["paragraphs"], key=lambda one: one["order"]))
    return Text(said, "", "en", "tatqa", tuple(questions), tuple(cells)) if len(cells) >= MIN_CELLS else None


def _is_value(cell: str) -> bool:
    return re.search(r"\d", cell) is not None and not _HEAD.fullmatch(cell)


def _tat_question(row: dict[str, Any]) -> Question | None:
    """A question for one stretch, but not for the highest or lowest of several, or one for a calculation; None for
    others.
    """
    text, answer = row["question"], row["answer"]
    if row["answer_type"] == "arithmetic":
        return Question(text, (str(answer),), "computed", "tatqa")
    first = answer[0] if isinstance(answer, list) and answer else answer
    if row["answer_type"] != "span" or not first or _DEGREE.search(text):
        return None
    return Question(text, (first, first.strip("$ ()")), "stated", "tatqa")


def main(arguments: Sequence[str] | None = None) -> None:
    """Set the reports and write them with their questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tatqa", type=Path, nargs="*", default=[])
    parser.add_argument("--finqa", type=Path)
    parser.add_argument("--asked", type=Path)
    given = parser.parse_args(arguments)
    texts = [*(from_finqa(given.finqa, given.asked) if given.finqa else []), *from_tatqa(given.tatqa)]
    write(given.out, list(reports(texts, random.Random(ORDER))))


if __name__ == "__main__":
    main()
