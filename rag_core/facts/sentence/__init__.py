"""Facts as they stand in one sentence: numbers, dates, names, and small words that decide."""
