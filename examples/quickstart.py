"""Index a document and ask it two questions: one it answers, one it does not.

Run it from the repository: python -m examples.quickstart [FILE.pdf ...]
"""

import sys
import tempfile
from pathlib import Path

from rag_core import Settings, Source, decide, open_engine, replay, sources_list, text_source

POLICY = """Working time and leave

Every full-time employee has 25 days of paid vacation a year. Days that are not used by 31 March of the next year are lost.

The notice period is two months. It starts on the first day of the month after the notice was received.
"""


def main(paths: list[str]) -> None:
    """Index, ask, and decide again under a stricter threshold without measuring anything anew."""
    settings = Settings.load("balanced")
    with tempfile.TemporaryDirectory() as folder:
        engine = open_engine(Path(folder), settings=settings)
        sources = [Source.from_path(Path(path)) for path in paths] or [text_source("policy.txt", POLICY)]
        report = engine.library.add(sources, settings)
        for name, problem in report.problems:
            sys.stdout.write(f"{name}: {problem.problem} {problem.remedy}\n")
        for question in ("How many days of vacation does an employee have?", "What is the capital of France?"):
            measurements = engine.measure(question, settings)
            decision = decide(measurements)
            sys.stdout.write(f"\n{question}\n{decision.status}: {decision.answer}\n")
            if decision.is_safe():
                sys.stdout.write("".join(f"  {line}\n" for line in sources_list(decision.citations)))
                strict = replay(measurements, settings.changed(min_correctness=1.0))
                sys.stdout.write(f"  at min_correctness 1.0: {strict.status}: {strict.explanation}\n")
            else:
                sys.stdout.write(f"  {decision.explanation}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
