"""Make claims out of questions with their answers: rows of the form of `grounding.jsonl`, to train the support model on
long texts.

    python -m training.qa_claims OUT.jsonl MOST FILE.jsonl … [--apart TEXTS.jsonl …]

A FILE has rows {question, context, answerable, answers, source, licence} as `training.answer_pairs` reads them; each
gives at most MOST claims. "Who wrote the report?" with "Anna Weiss" becomes "Anna Weiss wrote the report". A claim is
supported by its own context; not by a context that does not answer its question, and not with the answer of another
question on the same context. Contexts that share two or more runs of eight words with a `context` or `text` of the
TEXTS, the public test sets, are left out.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from training.files import SEED, Row, rows

RUN = 8  # words
_BE = {"is", "was", "are", "were"}
_DO = {"do", "does", "did"}
_ASKS = {"who", "what", "which", "when", "where", "why", "how"}


def statement(question: str, answer: str) -> str:
    """The question and its answer as one statement; rough grammar will do."""
    words, answer = question.strip().rstrip("?").split(), answer.strip().rstrip(".")
    if len(answer.split()) >= 8 or len(words) < 3 or words[0].lower() not in _ASKS:
        return answer if len(answer.split()) >= 8 else f"{' '.join(words)}: {answer}"
    asks, second, rest = words[0].lower(), words[1].lower(), " ".join(words[2:])
    if asks in ("who", "what") and second not in _DO | _BE | {"can", "will", "would", "could", "should"}:
        return f"{answer} {' '.join(words[1:])}"
    if second in _DO:
        return f"{rest} {'because of ' if asks == 'why' else ''}{answer}"
    if second in _BE and asks in ("who", "what"):
        return f"{rest} {second} {answer}"
    if second in _BE:
        return f"{rest}, it {second} {answer}"
    return f"{' '.join(words)}: {answer}"


def claims(file: Path, most: int, apart: set[str], draw: random.Random) -> Iterator[Row]:
    """As many supported as unsupported rows."""
    found = [
        row for row in rows(file) if row["lang"] == "en" and sum(run in apart for run in _runs(row["context"])) < 2
    ]
    right = [row for row in found if row["answerable"] and row["answers"] and row["answers"][0].strip()]
    elsewhere, same = defaultdict(list), defaultdict(list)
    for row in found:
        if not row["answerable"]:
            elsewhere[row["question"]].append(row["context"])
    for row in right:
        same[row["context"]].append(row)
    for row in draw.sample(right, min(most // 2, len(right))):
        claim = statement(row["question"], row["answers"][0])
        near = [context for context in elsewhere[row["question"]] if row["answers"][0].lower() not in context.lower()]
        wrong = [other["answers"][0] for other in same[row["context"]] if _differ(other["answers"], row["answers"])]
        made = [(statement(row["question"], answer), row["context"]) for answer in wrong[:1] if len(answer.split()) < 8]
        made += [(claim, context) for context in near[:1]]
        if made:
            yield _row(row, claim, row["context"], supported=True)
            text, context = draw.choice(made)
            yield _row(row, text, context, supported=False)


def _differ(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    one, other = ({word for answer in answers for word in answer.lower().split()} for answers in (ours, theirs))
    return not one & other and any(map(str.isdigit, "".join(ours))) == any(map(str.isdigit, "".join(theirs)))


def _row(row: Row, claim: str, context: str, *, supported: bool) -> Row:
    source = "qa/" + row["source"].removeprefix("github:").split("/")[-1].split(" ")[0]
    return {
        "lang": "en",
        "context": context,
        "answer": claim,
        "supported": supported,
        "source": source,
        "licence": row["licence"],
    }


def _runs(text: str) -> set[str]:
    words = re.findall(r"\w+", text.lower())
    return {" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


def main() -> None:
    """Read the arguments, write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("most", type=int)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--apart", type=Path, nargs="*", default=[])
    given = parser.parse_args()
    draw = random.Random(SEED)
    apart = {
        run for file in given.apart for row in rows(file) for run in _runs(row.get("context") or row.get("text") or "")
    }
    with given.out.open("w", encoding="utf-8") as out:
        for file in given.files:
            for row in claims(file, given.most, apart, draw):
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
