"""Let a language model draft from a document, see what was checked, and judge the same drafts again without another
call.

Run it from the repository, with a model that is configured as docs/models.md says: python -m examples.generation_usage
[FILE.pdf ...]
"""

import os
import sys
import tempfile
from pathlib import Path

from rag_core import Decision, Source, decide, load_settings, model_environment, open_engine, replay, sources_list

SAMPLE = Path(__file__).resolve().parents[1] / "data" / "samples" / "company-policies.pdf"
QUESTIONS = ("How many days of sick leave are paid in full?", "What is the capital of France?")


def main(paths: list[str]) -> int:
    """Index, ask with the model, and judge its recorded drafts under a stricter check."""
    settings = load_settings(environment=model_environment(os.environ))
    if settings.drafter != "model":
        sys.stdout.write("No language model is configured. Set RAG_MODEL and OPENAI_BASE_URL, see docs/models.md.\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        engine = open_engine(Path(folder), settings=settings)
        for name, problem in engine.library.add(
            [Source.from_path(Path(path)) for path in paths or [SAMPLE]], settings
        ).problems:
            sys.stdout.write(f"{name}: {problem.problem} {problem.remedy}\n")
        for question in QUESTIONS:
            measurements = engine.measure(
                question, settings, on_stage=lambda stage, claims: sys.stdout.write(f"  … {stage}\n")
            )
            show(question, decide(measurements))
            strict = replay(measurements, settings.changed(min_support=0.9))  # the drafts are recorded: no call
            sys.stdout.write(f"  with support of at least 0.9: {strict.status}\n")
    return 0


def show(question: str, decision: Decision) -> None:
    """The answer with its sources or the refusal with its reason, who drafted it, and what became of each draft."""
    sys.stdout.write(f"{question}\n  {decision.status}: {decision.answer}\n")
    sys.stdout.write(
        "".join(f"  {line}\n" for line in sources_list(decision.citations)) or f"  {decision.explanation}\n"
    )
    about = decision.metadata
    if about["calls"]:
        sys.stdout.write(
            f"  {about['drafter']}: {about['model']} at {about['endpoint']}, {about['calls']} calls, "
            f"{about['total_tokens']} tokens\n"
        )
    for one in decision.attempts:
        failed = [check.stage for check in one.checks if check.state.value == "failed"]
        sys.stdout.write(
            f"  draft {one.number}: {one.outcome}{' in spite of ' + ', '.join(failed) if failed else ''}\n"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
