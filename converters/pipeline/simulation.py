"""The simulated runtime, from a command line or for a host trace."""

from __future__ import annotations

import os
from typing import BinaryIO

import numpy as np

from rblnpb import sim
from rblnpb.errors import UsageError
from rblnpb.naming import NameStyle
from rblnpb.report import generation_report
from rblnpb.report import render as render_report
from rblnpb.sim import LaunchPlan

from ..analyze.launches.launch_plan import planned_launches
from ..merging import require_unix_time
from ..sources.kineto import read_host
from ..timeline import HostTrace
from .inputs import display_name
from .output import require_writable

__all__ = ["NAME_STYLES", "launch_plan", "simulate_to_file", "simulation_choices"]

NAME_STYLES = {
    "multi-stream": NameStyle.MULTI_STREAM,
    "single-stream": NameStyle.SINGLE_STREAM,
    "legacy": NameStyle.LEGACY,
}


def launch_plan(host: HostTrace) -> LaunchPlan:
    """A launch for each leaf compute op of a host trace, from its thread at its time.

    Raises:
        UsageError: The trace has no such op.
        ClockError: Its times are not Unix times.
    """
    require_unix_time(host)
    planned = planned_launches(host)
    if not len(planned):
        raise UsageError(f"{host.document.name} has no operator that would launch work on a device")
    rows = {op: row for row, op in enumerate(dict.fromkeys(planned.ops))}
    launching = set(planned.tid.tolist())
    threads = {tid: name for tid, name in planned.thread_names.items() if tid in launching}
    return LaunchPlan(
        time_ns=planned.time_ns,
        process_id=planned.pid,
        thread_id=planned.tid,
        op_row=np.array([rows[op] for op in planned.ops], np.int64),
        ops=tuple(rows),
        threads=tuple(sorted(threads.items())),
    )


def simulate_to_file(  # noqa: PLR0913  # one keyword for each choice of the user
    path: str | os.PathLike[str] | BinaryIO,
    *,
    from_host: str | os.PathLike[str] | None = None,
    faults: tuple[str, ...] = (),
    names: str = "multi-stream",
    display: bool | None = None,
    force: bool = False,
    program: str | None = None,
    calls: int | None = None,
    records: int | None = None,
    npu: str = "rebel100",
    seed: int = 0,
    instances: int = 1,
    threads: int = 1,
    drained: bool | None = None,
    jobs: int | None = 1,
) -> str:
    """Simulate a recording, write it, and return the generation report that the runtime would print.

    Args:
        path: File to write, or a binary stream.
        from_host: Host trace whose ops launch; then program, calls, records and threads come from it.
        faults: Names of `rblnpb.sim.FAULTS`.
        names: A key of NAME_STYLES.
        display: As of `rblnpb.write`.
        force: Overwrite a file that is there.
        jobs: By how many processes a large host trace, as `from_host` names it, may be read; see `read_host`.
        program, calls, records, npu, seed, instances, threads, drained: As of `rblnpb.sim.simulate`; None = its default.

    Raises:
        UsageError: Choices that do not go together.
        FormatError: The host trace cannot be read.
        OutputError: The file is there already, or cannot be written.
    """
    name = "<stdout>"
    if isinstance(path, (str, os.PathLike)):
        require_writable(path, force=force)
        name = display_name(path)
    if from_host is None and jobs not in (None, 1):
        raise UsageError("--jobs goes with --from-host alone: without a host trace there is nothing to read")
    chosen: dict[str, object] = {"program": program, "calls": calls, "records": records, "drained": drained}
    if from_host is not None:
        if program is not None:
            raise UsageError("--program and --from-host exclude each other: the ops of the trace say what runs")
        if threads != 1 or instances != 1:
            raise UsageError(
                "--threads and --instances do not go with --from-host: the threads are the trace's, and one instance runs all"
            )
        host = read_host(from_host, jobs=jobs)
        chosen["launches"] = launch_plan(host)
        named = host.metadata.get("host_name")
        # The profile is to be joined with this very trace, so it was recorded on the same host.
        chosen["host_name"] = named if isinstance(named, str) and named else None
    given = {name: value for name, value in chosen.items() if value is not None}
    profile = sim.simulate(
        npu=npu,
        seed=seed,
        instances=instances,
        threads=threads,
        name_style=NAME_STYLES[names],
        faults=faults,
        **given,  # type: ignore[arg-type]  # what simulate takes, without what was not chosen
    )
    sim.write_faulty(profile, path, faults, display=display, force=force)
    return render_report(generation_report(profile, name)) + "\n"


def simulation_choices() -> str:
    """Programs, NPUs and faults that the simulator knows, a line each."""
    lines = ["programs:", *(f"  {name:<14}{text}" for name, text in sim.PROGRAMS.items())]
    lines += ["faults:", *(f"  {name:<14}{text}" for name, text in sim.FAULTS.items())]
    return "\n".join(lines) + "\n"
