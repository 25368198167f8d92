"""Measures every figure that the source documents promise, and writes it beside theirs into `docs/figures.md`.

    python -m reports.figures

Each question about the samples is measured once, without a language model, and judged under the preset of each source.
What only a language model of a certain maker could show is not measured, and the table says so. Times are of the
machine that it runs on.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rag_core import Decision, Measurements, Settings, open_engine, replay
from rag_core.compression.llm.prompts import compress_prompt
from rag_core.decision.checks import GATING
from rag_core.decision.progress import hits_of
from rag_core.domain.ports import Corpus
from rag_core.evaluation import judged_under, read_labelled
from rag_core.gating.levels import prompt_level
from rag_core.grounding.citations import quote_stands
from rag_core.library.stored.sources import sources_from
from rag_core.settings import DATA
from reports import DOCS, as_markdown, between_marks

PAGE, SAMPLES, QUESTIONS = DOCS / "figures.md", DATA / "samples", DATA / "questions.jsonl"
COLUMNS = ("It is promised", "By the source", "Here", "How it was measured")
NOT_HERE = "not measured"


@dataclass(frozen=True, slots=True)
class Asked:
    """A labelled question: whether the documents answer it, its measurements, and the default decision."""

    answerable: bool
    measurements: Measurements
    decision: Decision


def figures(asked: Sequence[Asked], corpus: Corpus) -> Iterator[tuple[str, str, str, str]]:
    """The rows of the table."""
    first = [replay(one.measurements, _under(one, "compliance")) for one in asked]
    default = [one.decision for one in asked]
    gated = [decision.trace["top_cosine"].blocks for decision in first]
    stopped = [blocks for one, blocks in zip(asked, gated, strict=True) if one.answerable]
    right = sum(blocks is not one.answerable for one, blocks in zip(asked, gated, strict=True))
    keyword = next(check for check in GATING if check.name == "keywords")
    guarded = [keyword(replay_under(one, "compliance")) for one in asked if one.answerable]
    cited = [claim for one in default for claim in one.claims]
    evidence = [piece for claim in cited for piece in claim.evidence]
    standing = sum(quote_stands(piece, corpus.page_text) for piece in evidence)
    said = [measured.word_for_word for one in default for measured in one.measured]
    sure = [one.confidence for one in default if one.answered]

    guarded_passed = _of(sum(not one.blocks for one in guarded), len(guarded))
    whole = _ms([sum(one.measurements.timings.values()) for one in asked])
    prompts = _ms([_timed(_prompt(one.measurements)) for one in asked])
    replays = _ms([_timed(partial(replay, m, m.settings)) for m in (one.measurements for one in asked)])
    with_citation = _of(sum(bool(claim.evidence) for claim in cited), len(cited))
    mean = f"{statistics.fmean(sure):.2f}" if sure else "–"
    preset, checked, checks = "preset compliance", _ms(_taken(asked, "audit")), "the checks of the extract"
    twice, prevented = f"{NOT_HERE}; twice the calls", _share(asked, default, False, False)

    yield "Hard gate at 0.72 is right: answerable questions pass, others do not", "99 %", _of(right, len(first)), preset
    yield "Answerable questions that the hard gate at 0.72 refuses", "1 %", _of(sum(stopped), len(stopped)), preset
    yield "Keyword guard lets answerable questions pass", "95 %", guarded_passed, preset
    for name, decisions in (("compliance", first), ("balanced, the default", default)):
        wrong, refused = _share(asked, decisions, False, True), _share(asked, decisions, True, False)
        yield "Unanswerable questions that are answered", "0 %", wrong, f"preset {name}"
        yield "Answerable questions that are refused", "below 5 %", refused, f"preset {name}"
    yield "A question without a model", "below 100 ms", whole, "all stages"
    yield "A question with a model of OpenAI", "1 to 3 s", NOT_HERE, "no such server here"
    yield "What the embedding guard adds", "50 to 100 ms", _ms(_taken(asked, "relevance")), "its stage"
    yield "What the guard by a model adds", "100 to 300 ms, twice the calls", twice, "time depends on the model"
    search = _ms(_taken(asked, "embed", "retrieve"))
    yield "Retrieval", "66 ms; below 100 ms", search, "question embedded, both rankings"
    yield "Writing the prompt", "5 ms", prompts, "all passages whole"
    yield "Detection of what is made up", "10 ms", checked, checks
    yield "Filter, decision and citations", "5 ms; 1 to 5 ms", replays, "deciding what was measured"
    yield "Validation of an answer", "50 to 100 ms", checked, checks
    yield "Generation", "below 2 s", _ms(_taken(asked, "extract", "conflicts")), "the extract; no model"
    yield "Hallucinations prevented", "100 %", prevented, "unanswerable questions that are refused"
    yield "Citations that are right", "100 %", _of(standing, len(evidence)), "quotes that stand on the page they cite"
    own = _of(sum(said), len(said))
    yield "Answers that rest on the context", "98 %", own, "sentences that are their source word for word"
    yield "Sentences with a citation", "100 %", with_citation, "default preset"
    yield "Average confidence of an answer", "above 0.8", mean, "probability that it is right"


def replay_under(one: Asked, preset: str) -> Measurements:
    """The measurements of a question with the judging settings of a preset."""
    return Measurements(
        one.measurements.question,
        _under(one, preset),
        one.measurements.understanding,
        keywords=one.measurements.keywords,
    )


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """The rows as Markdown."""
    return as_markdown(COLUMNS, rows)


def written(page: str, rows: Sequence[tuple[str, ...]]) -> str:
    """The page with these rows between its markers."""
    return between_marks(page, "figures", table(rows))


def _under(one: Asked, preset: str) -> Settings:
    return judged_under(one.measurements.settings, Settings.load(preset))


def _of(count: int, total: int) -> str:
    return f"{count} of {total} ({100 * count / total:.0f} %)" if total else "–"


def _share(asked: Sequence[Asked], decisions: Sequence[Decision], answerable: bool, answered: bool) -> str:
    """How many of the questions that the documents answer, or do not, are answered or refused."""
    ended = [two.answered for one, two in zip(asked, decisions, strict=True) if one.answerable is answerable]
    return _of(sum(safe is answered for safe in ended), len(ended))


def _taken(asked: Sequence[Asked], *stages: str) -> list[float]:
    """Milliseconds of these stages together, of each question that had all of them."""
    return [sum(t[name] for name in stages) for one in asked if set(stages) <= set(t := one.measurements.timings)]


def _ms(taken: Sequence[float]) -> str:
    """The median and the 95th percentile."""
    if len(taken) < 2:
        return "–"
    return f"{statistics.median(taken):.1f} ms, P95 {statistics.quantiles(taken, n=20)[-1]:.1f} ms"


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _prompt(m: Measurements) -> Callable[[], object]:
    hits, language = hits_of(m, 0), m.understanding.language
    return lambda: compress_prompt(m.question, language, hits, prompt_level(m), m.library, m.settings)


def main() -> int:
    """Measure, and write the page."""
    settings = Settings.load()
    labelled, _ = read_labelled(QUESTIONS.read_bytes(), QUESTIONS.name)
    with tempfile.TemporaryDirectory() as folder:
        engine = open_engine(Path(folder), settings=settings)
        engine.library.add([one for one in sources_from([SAMPLES]) if not isinstance(one, Exception)], settings)
        measured = [engine.measure(one.question, settings, one.documents or None) for one in labelled]
        asked = [
            Asked(one.answerable, found, replay(found, settings)) for one, found in zip(labelled, measured, strict=True)
        ]
        rows = list(figures(asked, engine.library.snapshot))
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    sys.stdout.write(f"{table(rows)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
