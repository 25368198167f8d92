"""The parts that every page needs: start, session state, texts, running work."""
