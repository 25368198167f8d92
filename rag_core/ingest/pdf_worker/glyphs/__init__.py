"""What the glyphs of a page show, where its file says other text."""
