"""Facts as they stand in one sentence: numbers, dates, names, laws, and small words that decide."""
