"""The examples run as they stand."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_given_the_quickstart_when_run_then_it_answers_one_question_and_refuses_the_other() -> None:
    """S2-31: an example of use that works."""
    done = subprocess.run([sys.executable, "-m", "examples.quickstart"], cwd=ROOT, capture_output=True, text=True, timeout=200)

    assert done.returncode == 0, done.stderr
    assert "success: Every full-time employee has 25 days of paid vacation a year." in done.stdout
    assert "at min_answerability 1.0: low_confidence" in done.stdout
    assert done.stdout.count("success") == 1
