"""Word documents and web pages as pages."""
