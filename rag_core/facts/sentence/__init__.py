"""Facts as they stand in one sentence: numbers, dates, names, laws, small words that decide, and what each is attached to."""
