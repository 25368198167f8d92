"""The ways in which a decision leaves the page: a file, a link, a label, feedback."""
