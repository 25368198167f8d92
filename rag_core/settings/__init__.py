"""Every setting once, and where its value comes from."""

from rag_core.settings.scales import Scale
from rag_core.settings.settings import DATA, DEFAULT_PRESET, Cost, Knob, Mode, Settings, Stage, presets

__all__ = ["DATA", "DEFAULT_PRESET", "Cost", "Knob", "Mode", "Scale", "Settings", "Stage", "presets"]
