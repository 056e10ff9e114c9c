"""Result tables: what analyses find out and sinks show. Small, immutable, exact; no arithmetic and no text. One file a result."""

from .attribution import FRAME_KINDS, AttributionTable, CallStacks, Coverage, DeviceTime, Frame
from .bounds import ChipletActivity, DeviceBounds, EngineOverlap, EngineRate, GroupBounds
from .key_averages import KeyAverages
from .latency import Distribution, Latency, LatencyFigures, LatencyGroup, QueueUse
from .slice_summary import SliceOverview, SliceRows, SliceStatistics, SliceTotals
from .status import EngineActivity, ExplainedOverheads, OverheadPart, OverheadTotal, ProfileStatus

__all__ = [
    "FRAME_KINDS",
    "AttributionTable",
    "CallStacks",
    "ChipletActivity",
    "Coverage",
    "DeviceBounds",
    "DeviceTime",
    "Distribution",
    "EngineActivity",
    "EngineOverlap",
    "EngineRate",
    "ExplainedOverheads",
    "Frame",
    "GroupBounds",
    "KeyAverages",
    "Latency",
    "LatencyFigures",
    "LatencyGroup",
    "OverheadPart",
    "OverheadTotal",
    "ProfileStatus",
    "QueueUse",
    "SliceOverview",
    "SliceRows",
    "SliceStatistics",
    "SliceTotals",
]
