"""Sets whose questions are in one language and whose documents are in another, from sets that are parallel row by row.

    python -m training.crossed PATH_TO_TRAINING_DATA OUT en-de de-en hi-en …

Of `xquad-en` and `xquad-de` it makes `crossed-en-de`: the questions of the one over the documents and with the answers
of the other.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from training.files import Row, rows, write_rows


def crossed(data: Path, asking: str, documents: str) -> dict[str, list[Row]]:
    """The rows of each file of one set."""
    asked, other, gold = (
        rows(data / f"xquad-{code}" / f"{name}.jsonl")
        for code, name in ((asking, "questions"), (documents, "questions"), (documents, "gold"))
    )
    assert [row["id"] for row in other] == [row["id"] for row in gold]
    assert len(asked) == len(other)
    return {
        "questions.jsonl": [
            {**mine, "id": theirs["id"], "documents": theirs["documents"]}
            for mine, theirs in zip(asked, other, strict=True)
        ],
        "gold.jsonl": gold,
        "documents.jsonl": rows(data / f"xquad-{documents}" / "documents.jsonl"),
    }


def main() -> None:
    """Write the sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("pairs", nargs="+")
    given = parser.parse_args()
    for pair in given.pairs:
        folder = given.out / f"crossed-{pair}"
        folder.mkdir(parents=True, exist_ok=True)
        for name, found in crossed(given.data, *pair.split("-")).items():
            write_rows(folder / name, found)


if __name__ == "__main__":
    main()
