"""The converters: host traces and device profiles in, traces, tables and reports out.

>>> import rblnpb
>>> from rblnpb import converters
>>> profile = rblnpb.read("rbln_20261129_142200123_0.pb")                   # doctest: +SKIP
>>> timeline = converters.merge(profile, converters.read_host("trace.json.gz"))  # doctest: +SKIP
>>> converters.write_chrome_trace(timeline, "merged.json")                  # doctest: +SKIP
>>> print(converters.summarize(timeline).table(row_limit=10))               # doctest: +SKIP
>>> print(converters.status(timeline))                                      # doctest: +SKIP
"""

from __future__ import annotations

import importlib

if __name__ != "rblnpb.converters":
    raise ImportError("import rblnpb.converters instead: `converters` is its source folder, not a package of its own")

# As in rblnpb: the module typing would be a good part of what this face costs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .pipeline import (
        advise,
        attribute,
        call_stacks,
        device_bounds,
        explained_status,
        idle,
        launch_plan,
        measure_latency,
        read_inputs,
        status,
        step_breakdown,
        summarize,
        write_chrome_trace,
        write_host_trace,
        write_perfetto_trace,
        write_profile,
    )
    from .pipeline.archives import merge
    from .sources.archive import archived_trace
    from .sources.kineto import read_host
    from .timeline import HostTrace, Timeline

__all__ = [
    "HostTrace",
    "Timeline",
    "advise",
    "archived_trace",
    "attribute",
    "call_stacks",
    "device_bounds",
    "explained_status",
    "idle",
    "launch_plan",
    "measure_latency",
    "merge",
    "read_host",
    "read_inputs",
    "status",
    "step_breakdown",
    "summarize",
    "write_chrome_trace",
    "write_host_trace",
    "write_perfetto_trace",
    "write_profile",
]

_HOMES = {
    "HostTrace": "timeline",
    "Timeline": "timeline",
    "advise": "pipeline",
    "archived_trace": "sources.archive",
    "attribute": "pipeline",
    "call_stacks": "pipeline",
    "device_bounds": "pipeline",
    "explained_status": "pipeline",
    "idle": "pipeline",
    "launch_plan": "pipeline",
    "measure_latency": "pipeline",
    "merge": "pipeline.archives",
    "read_host": "sources.kineto",
    "read_inputs": "pipeline",
    "status": "pipeline",
    "step_breakdown": "pipeline",
    "summarize": "pipeline",
    "write_chrome_trace": "pipeline",
    "write_host_trace": "pipeline",
    "write_perfetto_trace": "pipeline",
    "write_profile": "pipeline",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'rblnpb.converters' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{home}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
