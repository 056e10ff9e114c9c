"""Wires sources, merge, analyses and sinks: the only room that knows them all.

Every step that the command line offers is a function here; nothing here knows argv, a terminal or an exit code.
"""

from ..analyze.slices.step_breakdown import step_breakdown
from .advice import Advised, advise
from .attribution import STACK_KEYS, STACK_WEIGHTS, Attribution, FlameStacks, attribute, call_stacks
from .checks import UNREADABLE, FileFindings, check_file, check_files
from .idle import Idle, idle
from .inputs import FOR_VIEWERS, Inputs, read_inputs
from .latency import LatencyReport, measure_latency
from .output import (
    Archived,
    require_writable,
    write_chrome_trace,
    write_data,
    write_host_trace,
    write_perfetto_trace,
    write_profile,
)
from .reports import Contents, Explained, Status, explained_status, show_file, status
from .simulation import launch_plan, simulate_to_file, simulation_choices
from .summaries import SUMMARY_KEYS, Bounds, SliceSummary, Summary, default_summary_key, device_bounds, summarize

__all__ = [
    "FOR_VIEWERS",
    "STACK_KEYS",
    "STACK_WEIGHTS",
    "SUMMARY_KEYS",
    "UNREADABLE",
    "Advised",
    "Archived",
    "Attribution",
    "Bounds",
    "Contents",
    "Explained",
    "FileFindings",
    "FlameStacks",
    "Idle",
    "Inputs",
    "LatencyReport",
    "SliceSummary",
    "Status",
    "Summary",
    "advise",
    "attribute",
    "call_stacks",
    "check_file",
    "check_files",
    "default_summary_key",
    "device_bounds",
    "explained_status",
    "idle",
    "launch_plan",
    "measure_latency",
    "read_inputs",
    "require_writable",
    "show_file",
    "simulate_to_file",
    "simulation_choices",
    "status",
    "step_breakdown",
    "summarize",
    "write_chrome_trace",
    "write_data",
    "write_host_trace",
    "write_perfetto_trace",
    "write_profile",
]
