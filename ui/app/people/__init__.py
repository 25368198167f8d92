"""Who is at the page, which collection they work in, what is kept of them, and what may come near."""
