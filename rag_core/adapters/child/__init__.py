"""The process in which models embed and read pairs, apart from the page."""
