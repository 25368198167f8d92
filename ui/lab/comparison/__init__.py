"""Two ways to decide side by side: settings, runs, presets, and versions of a profile."""
