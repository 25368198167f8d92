"""Office documents and web pages as pages."""
