"""Training texts with the questions that people asked of them, for documents to be set. Not part of the product."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from rag_core.evaluation.labelled import holds_answer
from training.answer_rows import labelled
from training.files import Row, rows
from training.pdf.forms import sentences


@dataclass(frozen=True)
class Question:
    """As people asked it of one text.

    `kind` is stated, computed or nearly answered; `source` names the set it comes from.
    """

    text: str
    answers: tuple[str, ...]
    kind: str
    source: str


@dataclass(frozen=True)
class Text:
    """One text with its questions. `cells` are those of its table, "row | column heads : value"."""

    text: str
    title: str
    language: str
    source: str
    questions: tuple[Question, ...] = ()
    cells: tuple[str, ...] = ()
    unit: str = ""
    heading: str = ""

    @cached_property
    def labels(self) -> frozenset[str]:
        """The names of the table's rows, folded."""
        return frozenset(folded(cell.split(" | ")[0].rpartition(" > ")[2]) for cell in self.cells)


def folded(text: str) -> str:
    """The words of a text in lower case, parted by single spaces."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def stands(answers: Iterable[str], text: str) -> bool:
    """Whether one of the answers stands in the folded text, word by word."""
    return any(f" {folded(answer)} " in f" {text} " for answer in answers if folded(answer))


def covered(question: str, units: Iterable[str]) -> float:
    """The largest share of the question's longer words that stand in one unit."""
    wanted = {word for word in folded(question).split() if len(word) > 3} - {
        "what",
        "which",
        "when",
        "were",
        "does",
        "amount",
        "value",
    }
    return max((len(wanted & _bag(unit)) / max(1, len(wanted)) for unit in units), default=0.0)


@cache
def _bag(text: str) -> frozenset[str]:
    return frozenset(folded(text).split())


def grouped(found: Iterable[tuple[str, str, Row]], title: str = "") -> list[Text]:
    """Texts from (passage, title, row with question, answers, answerable, source, lang)."""
    by_text: dict[str, list[tuple[str, Row]]] = defaultdict(list)
    for passage, name, row in found:
        by_text[passage].append((name, row))
    texts = []
    for passage, asked in by_text.items():
        answers: dict[str, set[str]] = defaultdict(set)
        for _, row in asked:
            answers[row["question"]].update(row["answers"] if row["answerable"] else ())
        source, language = asked[0][1]["source"], asked[0][1]["lang"]
        questions = tuple(
            Question(q, tuple(sorted(a)), "stated" if a else "nearly answered", source) for q, a in answers.items()
        )
        texts.append(Text(passage, asked[0][0] or title, language, source, questions))
    return texts


def from_bench(data: Path) -> list[Text]:
    """The contexts that the answerability model was not trained on; the others without questions, as filler."""
    pairs = labelled(data)
    found: list[tuple[str, str, Row]] = []
    for pair in pairs:
        row = {
            "question": pair.question,
            "answers": pair.answers,
            "answerable": pair.answerable,
            "source": pair.source,
            "lang": pair.language,
        }
        found.append((pair.passage, "", row))
    unseen = {pair.passage for pair in pairs if pair.split != "train"}
    return [text if text.text in unseen else replace(text, questions=()) for text in grouped(found)]


def from_articles(data: Path, language: str) -> list[Text]:
    """The paragraphs of `nearmiss-*` with the answered questions of both folders, each given to the paragraph that
    holds its answer.
    """
    paragraphs = {row["text"]: row["title"] for row in rows(data / f"nearmiss-{language}" / "documents.jsonl")}
    found: list[tuple[str, str, Row]] = []
    for name in (f"nearmiss-{language}", f"xquad-{language}"):
        gold = {row["id"]: row for row in rows(data / name / "gold.jsonl")}
        for row in rows(data / name / "questions.jsonl"):
            answers = gold[row["id"]]["answers"]
            owners = [text for text in paragraphs if holds_answer(text, answers)]
            if answers and owners:
                owner = max(owners, key=lambda text: covered(row["question"], [text]))
                found.append(
                    (owner, paragraphs[owner], {**row, "answers": answers, "answerable": True, "source": name})
                )
    return grouped(found)


def from_tables(path: Path) -> list[Text]:
    """TAT-QA: tables with their paragraphs. What must be computed is asked for one number that does not stand there."""
    by_table: dict[str, list[Row]] = defaultdict(list)
    for row in rows(path):
        by_table[row["document"]].append(row)
    texts = []
    for found in by_table.values():
        cells = tuple(unit for unit in found[0]["units"] if " | " in unit and " : " in unit)
        said = [unit for unit in found[0]["units"] if unit not in set(cells)]
        heading = said.pop(0) if len(said) > 1 and len(said[0].split()) < 10 and said[0][-1] not in ".:;" else ""
        kinds = {"arithmetic": "computed", "span": "computed"}
        questions = tuple(
            Question(
                row["question"],
                tuple(row["answers"]),
                kinds[row["answer_type"]] if row["computed"] else "stated",
                row["source"],
            )
            for row in found
            if not row["computed"] or row["answer_type"] in kinds
        )
        texts.append(
            Text("\n".join(said), "", "en", found[0]["source"], questions, cells, found[0]["table_unit"], heading)
        )
    return texts


def from_papers(path: Path) -> list[list[Text]]:
    """Whole papers, each as its paragraphs; a question belongs to the first paragraph that holds its answer."""
    by_paper: dict[str, list[Row]] = defaultdict(list)
    for row in rows(path):
        by_paper[row["context"]].append(row)
    papers = []
    for text, found in by_paper.items():
        title, said = text.split("\n")[0], sentences(text)
        chunks = [" ".join(said[i : i + 5]) for i in range(0, len(said), 5)]
        asked: dict[str, list[tuple[str, str, Row]]] = {chunk: [] for chunk in chunks}
        for row in found:
            owner = next((chunk for chunk in chunks if stands(row["answers"], folded(chunk))), None)
            if owner:
                asked[owner].append((owner, title, row))
        papers.append([next(iter(grouped(asked[c])), Text(c, title, "en", found[0]["source"])) for c in chunks])
    return [paper for paper in papers if len(paper) > 12]
