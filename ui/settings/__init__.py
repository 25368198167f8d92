"""The settings in the side bar, presets, and sharing them."""
