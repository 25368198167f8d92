"""A campaign of attacks on the product, counted into one table: `python -m tests.campaign`.

Not a part of the test suite.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # files of the attack are written with pymupdf, which imports onnxruntime
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("", "hostile", "ingest", "library", "adapters")]
