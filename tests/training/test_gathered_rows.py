"""Rows for the reader from snapshots of repositories, which are real ones here, with a file or two."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from training.reader.gathered import gathered, runs

MLQA = "shamsow+cs475", "download/MLQA_V1/dev/dev-context-de-question-en.json"
INTEGREAT = "digitalfabrik+integreat-qa-dataset", "dataset/languages/{}/dataset_{}.jsonl"


def snapshot(folder: Path, repository: str, files: dict[str, str]) -> None:
    root = folder / repository / "repo"
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "Add files"]):
        subprocess.run(["git", "-C", str(root), *command], check=True)


def test_rows_hold_the_languages_of_question_and_text(tmp_path: Path) -> None:
    asked = {"question": "When?", "answers": [{"text": "im Mai"}, {"text": "im Mai"}]}
    paragraph = {"context": "Es war im Mai.", "qas": [asked, {**asked, "is_impossible": True}]}
    snapshot(tmp_path, MLQA[0], {MLQA[1]: json.dumps({"data": [{"title": "Mai", "paragraphs": [paragraph]}]})})
    lines = {"de": "Rathaus\n\nOffen bis zwölf.", "en": "Town hall\n\nOpen until noon."}
    snapshot(
        tmp_path,
        INTEGREAT[0],
        {
            INTEGREAT[1].format(code, code): json.dumps({"id": 1, "question": code, "context": text, "answers": [2]})
            for code, text in lines.items()
        },
    )

    found = list(gathered(tmp_path))

    names = ("answers", "answerable", "lang", "context_lang", "source")
    assert [tuple(row[name] for name in names) for row in found[:2]] == [
        (["im Mai"], True, "en", "de", "mlqa-crossed"),
        ([], False, "en", "de", "mlqa-crossed"),
    ]
    assert [(row["lang"], row["units"][1], row["gold"]) for row in found[2:]] == [
        (asked, lines[language].split("\n")[2], [1]) for language in ("de", "en") for asked in ("de", "en")
    ]


def test_texts_share_runs_of_words_or_of_characters() -> None:
    said = "The hall is open from nine to noon on Mondays"
    assert len(runs(said) & runs(f"Note that the hall is open from nine to noon on Mondays, {said.lower()}")) == 3
    assert (
        len(
            runs("市民会館は毎週月曜日の午前九時から正午まで開いています")
            & runs("案内:市民会館は毎週月曜日の午前九時から正午まで開く")
        )
        > 1
    )
