"""The child process that opens untrusted files; started by `rag_core.ingest.reading.pdf_process`, never imported by the
product.

It is the only place that imports PyMuPDF. It knows the standard library and PyMuPDF, and nothing of rag_core: what
crosses the border is JSON. `child` speaks the protocol and sets the limits, `isolation` blocks the network and writing,
`pages` reads one page, `rows` puts words into rows, `render` draws a page with rectangles marked. `formats` lays Word
documents and web pages out as pages, `scans` reads pictures, `glyphs` says what glyphs show where the file says
otherwise, `hidden_text` which words show, or are struck out.
"""
