"""`python -m rag_core`: the command line."""

import sys

from rag_core.entrypoints.cli import main

if __name__ == "__main__":
    sys.exit(main())
