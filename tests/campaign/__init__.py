"""All attacks on the drafts of a language model, asked through the product and counted; the suite asks a share."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))  # as the suite has it
