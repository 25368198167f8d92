"""Two ways to decide side by side: settings, runs and presets."""
