"""Work beside the page: files that come in, and how a job is begun, watched, shown and stopped."""
