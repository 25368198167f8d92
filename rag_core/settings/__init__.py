"""Every setting once, and where its value comes from."""

from rag_core.settings.knobs import Cost, Knob, Mode, Stage
from rag_core.settings.presets import DATA, DEFAULT_PRESET, presets
from rag_core.settings.scales import Scale
from rag_core.settings.settings import Settings

__all__ = ["DATA", "DEFAULT_PRESET", "Cost", "Knob", "Mode", "Scale", "Settings", "Stage", "presets"]
