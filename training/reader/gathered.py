"""Gather rows for the reader from snapshots of public repositories that hold questions with their answers.

    python -m training.reader.gathered SNAPSHOTS OUT.jsonl [--apart FOLDER …]

SNAPSHOTS holds a git directory for each repository, OWNER+NAME/repo. A file that a snapshot lacks is passed over.
Contexts that share two runs of eight words (of twenty characters, where a script has no spaces) with a document below
FOLDER, such as a test set's, are left out. What the sets are, and their licences, stands in data/models/README.md.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from rag_core.language import fold, word_texts
from training.files import Row, rows, write_rows

# repository -> files whose names match, their languages as `asked` and `text` or this one, and the source of their rows
SQUAD_LIKE = (
    ("shamsow/cs475", r"MLQA_V1/(?:dev|test)/\w+-context-(?P<text>\w\w)-question-(?P<asked>\w\w)\.json", "", "mlqa"),
    ("shamsow/cs475", r"tydiqa-goldp-v1\.1-dev/tydiqa-goldp-dev-(?P<name>\w+)\.json", "", "tydi"),
    ("sagorbrur/tydiqa-language-specific", r"language_data/(?P<name>\w+)/\w+_train\.json", "", "tydi"),
    ("modestyachts/squadshifts-website", r"datasets/(?:new_wiki|reddit)_v1\.0\.json", "en", "shifts"),
    ("etalab-ia/piaf-code", r"piaf-v1\.0\.json", "fr", "piaf"),
    ("tomhosking/aqleaderboard", r"data/test-v1\.1\.json", "en", "squad"),
    ("PhongNTDo/guide_train_MRC_transformers", r"train-v2\.0\.json", "en", "squad2"),
)
PARALLEL = ("digitalfabrik/integreat-qa-dataset", r"dataset/languages/(?P<asked>\w\w)/dataset_\w\w\.jsonl", "integreat")
RUN, CHARACTERS, SHARED = 8, 20, 2
CODES = dict(
    one.split("=") for one in "english=en swahili=sw korean=ko arabic=ar russian=ru finnish=fi telugu=te "
    "indonesian=id bengali=bn".split()
)  # fmt: skip


def files(snapshots: Path, repository: str, pattern: str) -> Iterator[tuple[dict[str, str], str]]:
    """The texts of a repository's files whose paths end like this, with what the pattern's groups hold."""
    folder = snapshots / repository.replace("/", "+") / "repo"

    def git(*arguments: str) -> bytes:
        return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False).stdout

    for path in git("ls-tree", "-r", "--name-only", "HEAD").decode().splitlines():
        if (match := re.search(rf"(?:^|/){pattern}$", path)) and (text := git("show", f"HEAD:{path}").decode()):
            yield match.groupdict(), text


def squad_like(text: str, asked: str, language: str, source: str) -> Iterator[Row]:
    """The rows of a file in the form of SQuAD; questions in another language than their texts are a source apart."""
    for article in json.loads(text)["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                answers = [] if question.get("is_impossible") else [one["text"] for one in question.get("answers", ())]
                yield {
                    "question": question["question"],
                    "context": paragraph["context"],
                    "answers": list(dict.fromkeys(answers)),
                    "answerable": bool(answers),
                    "lang": asked,
                    "context_lang": language,
                    "source": source if asked == language else f"{source}-crossed",
                    "title": article.get("title", ""),
                }


def parallel(of_language: dict[str, dict[int, Row]], source: str) -> Iterator[Row]:
    """Each question in each language over its lines in each language; `answers` are numbers of lines."""
    for language, known in of_language.items():
        for number, row in known.items():
            lines = [(n, line) for n, line in enumerate(row["context"].split("\n")) if line.strip()]
            gold = [place for place, (n, _) in enumerate(lines) if n in row["answers"]]
            for asked, others in of_language.items():
                if number in others and lines:
                    yield {
                        "question": others[number]["question"],
                        "units": [line for _, line in lines],
                        "gold": gold,
                        "answers": [],
                        "answerable": bool(gold),
                        "lang": asked,
                        "context_lang": language,
                        "source": source if asked == language else f"{source}-crossed",
                        "title": lines[0][1][:80],
                    }


def runs(text: str) -> set[str]:
    """The runs of words of a text, of characters where it has hardly any words."""
    found = [fold(word) for word in word_texts(text)]
    if len(text.split()) < RUN:
        bare = "".join(text.split())
        return {bare[n : n + CHARACTERS] for n in range(len(bare) - CHARACTERS + 1)}
    return {" ".join(found[n : n + RUN]) for n in range(len(found) - RUN + 1)}


def gathered(snapshots: Path) -> Iterator[Row]:
    """The rows of all sets."""
    for repository, pattern, language, source in SQUAD_LIKE:
        for named, text in files(snapshots, repository, pattern):
            code = CODES.get(named["name"], "") if "name" in named else named.get("asked", language)
            if code:
                yield from squad_like(text, code, named.get("text", code), source)
    repository, pattern, source = PARALLEL
    of_language: dict[str, dict[int, Row]] = {}
    for named, text in files(snapshots, repository, pattern):
        of_language[named["asked"]] = {row["id"]: row for row in map(json.loads, text.splitlines())}
    yield from parallel(of_language, source)


def main() -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshots", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--apart", type=Path, nargs="*", default=[])
    given = parser.parse_args()
    known = {
        run
        for folder in given.apart
        for path in folder.rglob("documents.jsonl")
        for row in rows(path)
        for run in runs(row["text"])
    }
    shared: dict[str, bool] = {}
    kept = []
    for row in gathered(given.snapshots):
        text = row.get("context") or "\n".join(row["units"])
        if text not in shared:
            shared[text] = len(runs(text) & known) >= SHARED
        if not shared[text]:
            kept.append(row)
    write_rows(given.out, kept)


if __name__ == "__main__":
    main()
