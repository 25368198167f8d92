"""One run under any settings: counts, plots, lists of questions with their traces, and the report to send."""
