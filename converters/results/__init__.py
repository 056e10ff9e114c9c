"""Result tables: what analyses find out and sinks show. Small, immutable, exact; no arithmetic and no text. One file a result."""

from .advice import HOST_CLASSES, Advice, AdviceReport, HostShare, HostSplit
from .attribution import FRAME_KINDS, AttributionTable, CallStacks, DeviceCoverage, DeviceTime, Frame
from .bounds import ChipletActivity, DeviceBounds, EngineOverlap, EngineRate, GroupBounds
from .checks import CheckReport, EventDetails, Place, PlacedFinding
from .gap_table import Coded, Fact, Gap, GapColumns, GapPart, GapTable, Numbers, SliceColumns, SliceRef
from .idle import (
    CAUSES,
    STEPS,
    CauseTime,
    DeviceOccupancy,
    EngineOccupancy,
    IdleReport,
    KindOccupancy,
    NamedTime,
    Occupancies,
    Occupancy,
    ProgramOccupancy,
)
from .key_averages import KeyAverages
from .latency import Distribution, Latency, LatencyFigures, LatencyGroup, QueueUse
from .slice_summary import SliceOverview, SliceRows, SliceStatistics, SliceTotals
from .status import EngineActivity, ExplainedOverheads, OverheadPart, OverheadTotal, ProfileStatus
from .step_breakdown import STEP_PARTS, StepBreakdown

__all__ = [
    "CAUSES",
    "FRAME_KINDS",
    "HOST_CLASSES",
    "STEPS",
    "STEP_PARTS",
    "Advice",
    "AdviceReport",
    "AttributionTable",
    "CallStacks",
    "CauseTime",
    "CheckReport",
    "ChipletActivity",
    "Coded",
    "DeviceBounds",
    "DeviceCoverage",
    "DeviceOccupancy",
    "DeviceTime",
    "Distribution",
    "EngineActivity",
    "EngineOccupancy",
    "EngineOverlap",
    "EngineRate",
    "EventDetails",
    "ExplainedOverheads",
    "Fact",
    "Frame",
    "Gap",
    "GapColumns",
    "GapPart",
    "GapTable",
    "GroupBounds",
    "HostShare",
    "HostSplit",
    "IdleReport",
    "KeyAverages",
    "KindOccupancy",
    "Latency",
    "LatencyFigures",
    "LatencyGroup",
    "NamedTime",
    "Numbers",
    "Occupancies",
    "Occupancy",
    "OverheadPart",
    "OverheadTotal",
    "Place",
    "PlacedFinding",
    "ProfileStatus",
    "ProgramOccupancy",
    "QueueUse",
    "SliceColumns",
    "SliceOverview",
    "SliceRef",
    "SliceRows",
    "SliceStatistics",
    "SliceTotals",
    "StepBreakdown",
]
