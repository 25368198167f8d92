"""The command line: rates of the check of facts over the sentences of files, and rows to train on."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from rag_core.errors import RagError
from training.files import SEED, write_rows
from training.mutations import rates
from training.mutations.lists import LANGUAGES
from training.mutations.rates import Rates, Variant
from training.mutations.texts import Sample, samples

SHOWN = 10  # wrong variants are printed for each operator and language


def main(arguments: list[str]) -> None:
    """Measure, or with --export write rows."""
    given = _parser().parse_args(arguments)
    draw = random.Random(given.seed)
    found = islice((sample for path in given.paths for sample in samples(path, given.lang)), given.limit)
    try:
        if given.export:
            rows = list(_rows(found, draw))
            write_rows(given.export, rows)
            counts = Counter((row["lang"], row["supported"]) for row in rows)
            sys.stdout.write(
                "".join(f"{lang} supported={label}: {count}\n" for (lang, label), count in sorted(counts.items()))
            )
        else:
            measured = rates.measure(found, draw)
            sys.stdout.write(f"{rates.table(measured)}\n{_misses(measured, given.misses)}")
    except (RagError, OSError, json.JSONDecodeError) as error:
        sys.exit(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.mutations", description=__doc__)
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="PDF, plain text, or JSON lines with context, text or passage",
    )
    parser.add_argument(
        "--lang",
        default="",
        choices=("", *LANGUAGES),
        help="language of all texts; else what a row says or what is detected",
    )
    parser.add_argument("--limit", type=int, help="sentences at most")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--misses", type=int, default=SHOWN, help="wrong variants shown for each operator and language")
    parser.add_argument(
        "--export",
        type=Path,
        metavar="ROWS.jsonl",
        help="write supported and unsupported rows to train on instead of measuring",
    )
    return parser


def _rows(found: Iterator[Sample], draw: random.Random) -> Iterator[dict[str, object]]:
    """As many supported as unsupported rows of each sentence: itself and harmless rewrites against mutations."""
    for sample in found:
        made = list(rates.variants(sample, draw))
        changed = [variant for variant in made if variant.harmful]
        kept = [
            made[0],
            *draw.sample(harmless := [variant for variant in made[1:] if not variant.harmful], len(harmless)),
        ]
        count = min(len(changed), len(kept))
        for variant in (*kept[:count], *draw.sample(changed, count)):
            yield {
                "lang": sample.lang,
                "context": sample.evidence,
                "answer": variant.text,
                "supported": not variant.harmful,
                "source": f"mutations/{variant.operator}",
            }


def _misses(measured: Rates, most: int) -> str:
    shown: Counter[tuple[str, str]] = Counter()
    lines = []
    for variant, found in sorted(measured.wrong, key=lambda one: _place(one[0])):
        key = variant.operator, variant.sample.lang
        shown[key] += 1
        if shown[key] <= most:
            lines.append(
                f"[{variant.operator} {variant.sample.lang}] {variant.sample.sentence}\n    -> {variant.text}\n"
            )
            lines.extend(f"       flagged: {kind} {text!r}\n" for kind, text in found)
    return "".join(lines)


def _place(variant: Variant) -> tuple[bool, str, str]:
    return not variant.harmful, variant.operator, variant.sample.lang


if __name__ == "__main__":
    main(sys.argv[1:])
