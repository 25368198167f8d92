"""Work beside a caller, for the pages and the service: threads, jobs, open libraries, kept decisions."""
