"""Rows become blocks: headings, paragraphs, tables, lists, code, and rows that state nothing by themselves."""
