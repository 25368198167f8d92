"""Word documents for the tests, as bytes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def word(body: str, parts: Mapping[str, str] | None = None, names: str = "") -> bytes:
    """A document of these blocks, with other parts by their paths in the archive, and other namespaces."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(
            "word/document.xml",
            f'<?xml version="1.0"?><w:document {W} {M} {names}><w:body>{body}</w:body></w:document>',
        )
        for name, text in (parts or {}).items():
            archive.writestr(name, text)
    return packed.getvalue()
