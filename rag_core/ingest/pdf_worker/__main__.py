"""Start of the child: `python -I …/pdf_worker`.

`-I` keeps the environment and the current folder out of the import path. The folder of this package is added at the end
of the path, so that it can shadow neither the standard library nor PyMuPDF.
"""

import os
import runpy
import sys

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here] + [os.path.dirname(here)]
    runpy.run_module("pdf_worker.child", run_name="__main__")
