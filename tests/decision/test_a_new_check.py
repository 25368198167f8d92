"""A check as somebody adds it: the edits that docs/where.md lists, made in a copy of the sources, where every use of it
is looked at.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# file, the line that it is written before, and what is written: all that a check of a measured value takes
EDITS = (
    ("rag_core/domain/status.py", "    KEYWORDS = ", '    TWO_HITS = "two_hits", AnswerStatus.INSUFFICIENT_CONTEXT\n'),
    (
        "rag_core/settings/settings.py",
        "    keywords_mode: Mode",
        (
            "    min_hits: int = at_least(1, Stage.GATE, Unit.PASSAGES, 0, 20)\n"
            '    """Refuse with fewer passages."""\n'
            '    two_hits_mode: Mode = mode(Mode.ENFORCE, Stage.GATE, "passages", switch=STRICT)\n'
        ),
    ),
    (
        "rag_core/decision/checks/gating.py",
        '    Check(\n        name="keywords",',
        (
            '    Check(\n        name="two_hits", asks="Are there enough passages?", reason=Reason.TWO_HITS, '
            "scale=Scale.COUNT,\n"
            '        passes=Direction.AT_LEAST, value=lambda m: float(len(m.hits)), threshold="min_hits", '
            'mode="two_hits_mode",\n'
            '        said=lambda m, value, at: f"{value:g} passages, {at:g} required", remedy="Add documents.", '
            "certifiable=True,\n    ),\n"
        ),
    ),
    ("data/screens/en/knobs.yaml", "min_documents:", "min_hits: Passages, at least\ntwo_hits_mode: What they may do\n"),
    ("data/screens/en/refusal.yaml", "why_min_documents:", "why_two_hits: There are too few passages.\n"),
    (
        "data/screens/en/checks.yaml",
        "title_min_documents:",
        "title_two_hits: Enough passages\nabout_two_hits: Counts the passages.\n",
    ),
)
USES = """
import sys
sys.path[:0] = [".", "tests"]
from builders import measurements, settings
from rag_core.decision.batch import ReplaySet, checks_of, replay_many
from rag_core.decision.decide import decide, replay
from rag_core.domain.trace import State
from rag_core.evaluation import certify
from rag_core.settings import Mode, Settings
from rag_core.settings.configuration import from_environment
from reports import checks
from streamlit.testing.v1 import AppTest
from ui.ask import checks as shown

at = settings(min_hits=2, two_hits_mode=Mode.ENFORCE)
one, two = measurements(0.9, of=at), measurements(0.9, 0.8, of=at)
refused, answered = decide(one), decide(two)
assert (refused.reason, refused.status) == ("two_hits", "insufficient_context")
assert refused.trace["two_hits"].found == "1 passages, 2 required"
assert refused.to_json()["reason"] == "two_hits"
assert "Add documents." in refused.suggestions
assert answered.answered and answered.trace["two_hits"].state is State.PASSED
assert replay(one, at.changed(min_hits=1)).answered
assert replay(one, at.changed(two_hits_mode=Mode.OBSERVE)).answered
set_of = ReplaySet.of([one, two])
assert list(replay_many(set_of, at).reason) == ["two_hits", "none"]
assert list(replay_many(set_of, at.changed(min_hits=1)).reason) == ["none", "none"]
(held,) = [row for row in checks_of(set_of, at) if row.check.name == "two_hits"]
assert (held.values.tolist(), list(held.blocks)) == ([1, 2], [True, False])
assert certify.MODE_OF["min_hits"] == "two_hits_mode" and "min_hits" not in certify.FIRST
assert certify.steps("min_hits") == tuple(range(20, -1, -1))
assert from_environment({"RAG_STRICT_MODE": "false"})["two_hits_mode"] is Mode.OFF
assert "| `two_hits` | gating | Are there enough passages? | at least `min_hits` (1) |" in checks.table()
assert shown.LIMITS["two_hits"] == "min_hits" and shown.mode_knob("two_hits") == "two_hits_mode"

page = AppTest.from_string(
    "from rag_core.settings import Settings\\n"
    "from ui.settings.fields import show_field\\n"
    "for name in ('min_hits', 'two_hits_mode'):\\n"
    "    show_field(Settings.knob(name), Settings.load())\\n"
).run(timeout=60)
assert not page.exception, page.exception
assert (page.slider[0].label, page.slider[0].min, page.slider[0].max, page.slider[0].value) == ("Passages, at least", 0, 20, 1)
assert page.selectbox[0].label == "What they may do"
print("every use", Settings.load().hash())
"""


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of what the edits touch, and links to all else."""
    copied = {"rag_core", "data"}
    for entry in ROOT.iterdir():
        if entry.name not in copied and not entry.name.startswith("."):
            (tmp_path / entry.name).symlink_to(entry)
    shutil.copytree(ROOT / "rag_core", tmp_path / "rag_core", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "data").mkdir()
    for entry in (ROOT / "data").iterdir():
        if entry.name != "screens":
            (tmp_path / "data" / entry.name).symlink_to(entry)
    shutil.copytree(ROOT / "data" / "screens", tmp_path / "data" / "screens")
    return tmp_path


def test_given_a_check_as_a_newcomer_adds_it_then_every_use_of_a_check_has_it(sources: Path) -> None:
    for name, before, new in EDITS:
        text = (sources / name).read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{name} has no one line {before!r}"
        (sources / name).write_text(text.replace(before, new + before), encoding="utf-8")

    told = subprocess.run(
        [sys.executable, "-P", "-c", USES], cwd=sources, capture_output=True, text=True, check=False, timeout=300
    )

    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("every use ")
    assert len({name for name, _, _ in EDITS}) == 6
