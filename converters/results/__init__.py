"""Result tables: what analyses find out and sinks show. Small, immutable, exact; no arithmetic and no text. One file a result."""

from .key_averages import KeyAverages
from .status import EngineActivity, ExplainedOverheads, OverheadPart, OverheadTotal, ProfileStatus

__all__ = ["EngineActivity", "ExplainedOverheads", "KeyAverages", "OverheadPart", "OverheadTotal", "ProfileStatus"]
