"""The text that the glyphs of a page show, where its file says another."""
