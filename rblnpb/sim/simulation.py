"""A whole recording at once: `simulate` gives the profile that the runtime would have written."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from rblnpb._version import __version__
from rblnpb.columns import Overheads
from rblnpb.errors import UsageError
from rblnpb.naming import NameStyle
from rblnpb.profile import Profile, Session
from rblnpb.sim.calls import Calls, LaunchPlan, Load, bursting_calls, drained_calls, planned_calls, streamed_calls
from rblnpb.sim.clockwork import SNAPSHOT_INTERVAL_NS, snapshots
from rblnpb.sim.compiled import Compiled
from rblnpb.sim.draws import Draws
from rblnpb.sim.faults import apply_faults, refuse_unknown
from rblnpb.sim.injections import HOST_INJECTIONS, LostTime, slow_transfers
from rblnpb.sim.npu import npu_of
from rblnpb.sim.programs import Recipe, eager_recipe, recipe
from rblnpb.sim.records import Batch, carried_dependencies, device_slices, memory_counters, overheads, workload_slices
from rblnpb.sim.scene import BOOT_ID, HOST_NAME, Scene
from rblnpb.strings import StringTable

__all__ = ["PROCESS_ID", "START_MONOTONIC_NS", "START_REAL_NS", "simulate"]

START_REAL_NS: Final = 1_795_962_120_123_000_000
"""Default start in Unix time: 29 November 2026, 14:22:00.123 UTC."""

START_MONOTONIC_NS: Final = 86_400_000_000_000
"""Default start in the host monotonic clock: a day after boot."""

PROCESS_ID: Final = 4_242
"""Default process, and its main thread."""

_LEAD_NS: Final = 50_000  # from the start of the recording to the first thing in it, and from the last to its end


def simulate(  # noqa: PLR0913 -- one keyword for each choice of the user
    *,
    program: str = "mm",
    calls: int = 3,
    records: int | None = None,
    seed: int = 0,
    npu: str = "rebel100",
    instances: int = 1,
    threads: int = 1,
    name_style: NameStyle = NameStyle.MULTI_STREAM,
    launches: LaunchPlan | None = None,
    faults: Sequence[str] = (),
    drained: bool | None = None,
    start_real_ns: int | None = None,
    start_monotonic_ns: int = START_MONOTONIC_NS,
    process_id: int = PROCESS_ID,
    host_name: str = HOST_NAME,
) -> Profile:
    """A recording of a simulated device. The same arguments give the same profile.

    Args:
        program: Name of the program that every call runs, see `PROGRAMS`.
        calls: How many calls.
        records: About how many device slices, instead of `calls`.
        seed: Of everything that is drawn: durations vary by 5 %, host delays by 25 %.
        npu: "rebel100" or "atom".
        instances: Runtime instances, which take turns.
        threads: Host threads, which take turns.
        name_style: How slice names are spelled; single-stream is of one instance.
        launches: Launches at given times, instead of `program`, `calls`, `records` and `threads`: each operator is compiled into a
            program of its own, and one instance runs them all.
        faults: What goes wrong, by names of `FAULTS`; those of files are left to `write_faulty`. With `launches`, whose times are
            given, none that keeps the host from launching.
        drained: Whether the host waits for each run. True when left out; with `launches`, whose times are given, and where a queue
            is to overrun, it is False.
        start_real_ns, start_monotonic_ns: Start of the recording in Unix time and in the host monotonic clock; with `launches` the
            former is 1 ms before the first when left out.
        process_id: Of the recording process, and of its main thread; a launch plan has its own.
        host_name: Name of the host, such as that of the trace which a launch plan comes from.

    Raises:
        UsageError: An unknown name, a number below 1, or choices that contradict each other.

    Example:
        >>> from rblnpb import sim
        >>> len(sim.simulate(program="mm", calls=3).device_slices)
        18
    """
    if min(calls, 1 if records is None else records, instances, threads) < 1:
        raise UsageError("calls, records, instances and threads are counted from 1")
    refuse_unknown(faults)
    kind = npu_of(npu)
    if name_style == NameStyle.SINGLE_STREAM and instances > 1:
        raise UsageError("single-stream names do not tell instances apart; take one instance, or multi-stream names")
    if launches is None:
        recipes = [recipe(program, kind)]
        count = calls if records is None else max(1, round(records / len(recipes[0].steps)))
        plan = _turns(program, count, threads, process_id, START_REAL_NS if start_real_ns is None else start_real_ns)
    else:
        if drained or not len(launches):
            raise UsageError("a launch plan has at least one launch, and says itself when the host goes on: it cannot be drained")
        plan = launches.sorted()
        recipes = [eager_recipe(op, kind) for op in plan.ops]
        start_real_ns = int(plan.time_ns[0]) - 1_000_000 if start_real_ns is None else start_real_ns
    if HOST_INJECTIONS & set(faults) and launches is not None:
        raise UsageError(f"a launch plan says when the host launches: it does not go with {', '.join(sorted(HOST_INJECTIONS))}")
    if "queue-overrun" in faults and drained:
        raise UsageError("a host that waits for each run has no queue to overrun: it cannot be drained")
    is_drained = drained is not False and launches is None and "queue-overrun" not in faults
    identity = repr((plan.ops, len(plan), npu, instances, threads, start_real_ns, start_monotonic_ns, process_id))
    session = Session(
        session_id=Draws(seed, zlib.crc32(identity.encode())).identity(),
        started_real_ns=START_REAL_NS if start_real_ns is None else start_real_ns,
        started_monotonic_ns=start_monotonic_ns,
        process_id=int(plan.process_id[0]),
        name_style=name_style,
        drained_after_each_run=is_drained,
        npu=npu,
        host_name=host_name,
        boot_id=BOOT_ID,
        process_name="python",
        tool_name="rblnpb.sim",
        tool_version=__version__,
        settings=(("RBLN_PROFILER", "1"),),
    )
    recorded = _record(session, plan, recipes, instances, Draws(seed), faults, is_planned=launches is not None)
    return apply_faults(recorded, faults)


def _turns(program: str, count: int, threads: int, process_id: int, start_real_ns: int) -> LaunchPlan:
    """One program again and again, threads taking turns; the times are not used."""
    named = tuple((process_id + at, f"worker {at}" if at else "main") for at in range(threads))
    every = np.arange(count)
    return LaunchPlan(
        np.full(count, start_real_ns), np.full(count, process_id), process_id + every % threads, every * 0, (program,), named
    )


def _record(
    session: Session,
    plan: LaunchPlan,
    recipes: Sequence[Recipe],
    instances: int,
    draws: Draws,
    faults: Sequence[str],
    *,
    is_planned: bool,
) -> Profile:
    strings = StringTable()
    strings.intern_all(name for _, name in plan.threads)
    scene = Scene.of(session.npu, session.started_monotonic_ns, recipes, strings.intern, draws)
    batches = [scene.lay_out(program, np.flatnonzero(plan.op_row == program)) for program in range(len(recipes))]
    if "slow-dma" in faults:
        batches = slow_transfers(scene.compiled, batches, len(plan), session.session_id)
    load = _load(scene.compiled, batches, plan, 1 if is_planned else instances)
    lost = LostTime.of(faults, load, np.array([each.compile_ns for each in recipes], np.int64)[plan.op_row], session.session_id)
    load = lost.added(load)
    real_offset_ns = session.started_real_ns - session.started_monotonic_ns
    begin_ns = session.started_monotonic_ns + _LEAD_NS
    if is_planned:
        calls = planned_calls(load, plan.time_ns - real_offset_ns, draws)
    elif "queue-overrun" in faults:
        calls = bursting_calls(load, begin_ns, draws)
    elif session.drained_after_each_run:
        calls = drained_calls(load, begin_ns, draws)
    else:
        calls = streamed_calls(load, begin_ns, draws)
    profile = _profile(scene, session, strings, calls, batches, plan.threads, is_planned=is_planned)
    injected = lost.overheads(calls, [program.op for program in profile.programs], strings.intern)
    return profile.replace(overheads=Overheads.concat([profile.overheads, injected]), strings=strings.rows())


def _load(compiled: Compiled, batches: Sequence[Batch], plan: LaunchPlan, instances: int) -> Load:
    count = len(plan)
    length_ns = np.zeros(count, np.int64)
    compile_ns = np.zeros(count, np.int64)
    for batch in batches:
        length_ns[batch.call] = batch.layout.length_ns
        compile_ns[batch.call[:1]] = compiled.recipes[batch.program].compile_ns
    every = np.arange(count)
    return Load(
        program=plan.op_row,
        length_ns=length_ns,
        input_bytes=np.array([each.input_bytes for each in compiled.recipes], np.int64)[plan.op_row],
        output_bytes=np.array([each.output_bytes for each in compiled.recipes], np.int64)[plan.op_row],
        compile_ns=compile_ns,
        process_id=plan.process_id,
        thread_id=plan.thread_id,
        launch_id=every + 1,
        instance=every % instances + 1,
        sequence=every // instances,
        pause_ns=np.zeros(count, np.int64),
    )


def _profile(
    scene: Scene,
    session: Session,
    strings: StringTable,
    calls: Calls,
    batches: Sequence[Batch],
    threads: tuple[tuple[int, str], ...],
    *,
    is_planned: bool,
) -> Profile:
    host_slices = calls.host_slices()
    ended_ns = int(max(calls.end_ns.max(), (host_slices.start_ns + host_slices.duration_ns).max())) + _LEAD_NS
    started_ns, real_offset_ns = session.started_monotonic_ns, session.started_real_ns - session.started_monotonic_ns
    times_ns = np.append(
        np.arange(started_ns + _LEAD_NS // 10, ended_ns - _LEAD_NS // 2, SNAPSHOT_INTERVAL_NS), ended_ns - _LEAD_NS // 2
    )
    return Profile(
        session=replace(session, ended_real_ns=ended_ns + real_offset_ns, ended_monotonic_ns=ended_ns),
        clocks=(scene.clock.clock,),
        devices=(scene.device,),
        engines=scene.engines,
        programs=scene.compiled.programs,
        commands=scene.compiled.commands,
        threads=threads,
        clock_snapshots=snapshots(scene.clock, real_offset_ns, times_ns, scene.draws),
        launches=calls.launches(),
        device_slices=device_slices(scene.compiled, scene.clock, calls, batches),
        workload_slices=workload_slices(scene.clock, scene.workload_engine_id, calls, batches),
        dependencies=carried_dependencies(scene.compiled, calls, batches),
        host_slices=host_slices,
        # A launch plan stands for a host that did other things in between; what those were its own trace says.
        overheads=Overheads.empty() if is_planned else overheads(calls, strings.intern),
        counters=memory_counters(scene.compiled, calls, started_ns, ended_ns, scene.device.device_id, strings.intern),
        strings=strings.rows(),
    )
