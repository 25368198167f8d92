"""The child process that opens untrusted PDFs; started by `rag_core.ingest.reading.pdf_process`, never imported by the product.

It is the only place that imports PyMuPDF. It knows the standard library and PyMuPDF, and nothing of rag_core: what crosses the border is
JSON. `child` speaks the protocol and sets the limits, `isolation` blocks the network and writing, `pages` reads one page, `rows` puts
words into rows, `glyphs` says where a word's last sign ends, `ocr` reads pictures, `marks` draws a page with rectangles marked. `sight`
says which words show: `trace` says where to look, `ink` looks, and `replaced`, `fonts` and `layers` say what a file reads otherwise than
it shows.
"""
