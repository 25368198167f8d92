"""Every setting once, and where its value comes from."""
