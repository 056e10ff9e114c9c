"""Invariants over a profile: what is missing, dangling, doubled or out of range, as counted findings.

Nothing here raises; who wants strictness turns findings into an error. The codes are stable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from rblnpb.clock import HOST_MONOTONIC, ClockMap, ClockSnapshot
from rblnpb.columns import ABSENT
from rblnpb.errors import ClockError, Finding, Severity
from rblnpb.profile import KINDS, Profile
from rblnpb.references import dangling_faults, fault_findings, reference_limits
from rblnpb.slice_facts import SliceFacts, distinct, launch_counts
from rblnpb.wording import counted, counted_records

__all__ = ["check", "contradictions", "without_wild_samples"]


def check(profile: Profile, slices: SliceFacts | None = None) -> tuple[Finding, ...]:
    """Every finding about a profile beyond those of reading it, in a stable order.

    Args:
        profile: As read, or about to be written.
        slices: Facts about device slices that the profile has without holding them; None: it holds them.

    Returns:
        Findings about its end, its losses, its references, its launches and its clocks.

    Example:
        >>> import rblnpb
        >>> [finding.code for finding in rblnpb.check(rblnpb.Profile(rblnpb.Session(session_id=7)))]
        ['no-records']
    """
    facts = slices or SliceFacts.of(profile)
    return (
        *_end(profile, facts),
        *_losses(profile),
        *_contradictions(profile, facts),
        *_launches(profile, facts),
        *_clocks(profile, facts),
        *_durations(facts),
    )


def contradictions(profile: Profile) -> tuple[Finding, ...]:
    """Those findings, all errors, about what a file cannot hold: read back, it would be another profile."""
    return _contradictions(profile, SliceFacts.of(profile))


def _contradictions(profile: Profile, slices: SliceFacts) -> tuple[Finding, ...]:
    return (
        *_definitions(profile),
        *_commands(profile),
        *_dangling_references(profile, slices.count),
        *_undefined_clocks(profile, slices),
    )


def _end(profile: Profile, slices: SliceFacts) -> Iterable[Finding]:
    if not profile.is_complete:
        message = "the recording did not end properly (no closing packet): the last records may be missing"
        yield Finding(Severity.WARNING, "not-ended", message)
    if not slices.count and not any(len(profile.table(kind)) for kind in KINDS):
        yield Finding(Severity.INFO, "no-records", "the profile holds no record")


def _losses(profile: Profile) -> Iterable[Finding]:
    for loss in profile.losses:
        kind = KINDS[loss.kind].label if loss.kind in KINDS else "records"
        bound = "at least " if loss.is_lower_bound else ""
        reason = loss.reason.name.lower().replace("_", " ")
        dropped = counted_records(loss.count, kind, "was", "were")
        message = f"{bound}{dropped} dropped while recording ({reason}): counts and times are lower bounds"
        yield Finding(Severity.WARNING, "dropped-records", message, max(loss.count, 1))


def _definitions(profile: Profile) -> Iterable[Finding]:
    """Ids that are defined twice, and definitions that refer to what is not defined."""
    ids = {
        "clocks": [1, 2, *(clock.clock_id for clock in profile.clocks)],
        "devices": [device.device_id for device in profile.devices],
        "engines": [engine.engine_id for engine in profile.engines],
        "programs": [program.program_id for program in profile.programs],
    }
    for label, values in ids.items():
        repeated = sum(count - 1 for count in Counter(values).values())
        if repeated:
            having = counted_records(repeated, label, "has", "have")
            message = f"{having} an id that is defined before: which of them a record means cannot be told"
            yield Finding(Severity.ERROR, "repeated-id", message, repeated, label)
    references = {
        "clocks.device_id": ([clock.device_id for clock in profile.clocks], ids["devices"]),
        "devices.clock_id": ([device.clock_id for device in profile.devices], ids["clocks"]),
        "engines.device_id": ([engine.device_id for engine in profile.engines], ids["devices"]),
        "clock_snapshots.clock_id": ([snapshot.clock_id for snapshot in profile.clock_snapshots], ids["clocks"]),
    }
    for where, (values, known) in references.items():
        allowed = {0, *known}
        dangling = sum(value not in allowed for value in values)
        if dangling:
            referring = counted(dangling, "definition refers", "definitions refer")
            message = f"{referring} by {where} to what the profile does not define"
            yield Finding(Severity.ERROR, "dangling-definition", message, dangling, where)
    wild = sum(not 1 <= clock.width_bits <= 64 for clock in profile.clocks)
    if wild:
        message = f"{counted(wild, 'clock has', 'clocks have')} a width that is not 1 to 64 bits"
        yield Finding(Severity.ERROR, "impossible-value", message, wild, "clocks.width_bits")


def _commands(profile: Profile) -> Iterable[Finding]:
    """Programs whose commands are not in the table, commands that are of no program, and what commands refer to in vain."""
    commands = profile.commands
    count = len(commands)
    owner, first_row = np.zeros((2, count), np.int64)
    outside = 0
    for program in profile.programs:
        first, last = program.first_command_row, program.first_command_row + program.command_count
        if program.command_count and (first < 1 or last > count or owner[first:last].any()):
            outside += 1
            continue
        owner[first:last], first_row[first:last] = program.program_id, first
    if outside:
        message = f"{counted(outside, 'program has', 'programs have')} commands that are not in the table, or are another program's"
        yield Finding(Severity.ERROR, "dangling-definition", message, outside, "programs.first_command_row")
    # A hole between commands is what a lost packet leaves; nothing stands in it.
    sizes = np.diff(commands.predecessor_ends, prepend=0)
    is_empty = (commands.layer_strindex == 0) & (commands.command_index == 0) & (commands.engine_kind == 0) & (sizes == 0)
    is_empty &= (commands.size_bytes == ABSENT) & (commands.chiplet == ABSENT)
    homeless = int(((owner != commands.program_id) | ((owner == 0) & ~is_empty)).sum()) + int(count > 1 and owner[-1] == 0)
    if homeless:
        message = f"{counted(homeless, 'command is', 'commands are')} of no program that has them: they would not be in the file"
        yield Finding(Severity.ERROR, "dangling-definition", message, homeless, "commands.program_id")
    before = commands.predecessor_rows
    of_row = np.repeat(np.arange(count), sizes)
    inside = before[before < count], of_row[before < count]
    strange = len(before) - int((first_row[inside[0]] == first_row[inside[1]]).sum())
    strange += int((commands.layer_strindex >= len(profile.strings)).sum())
    if strange:
        referring = counted(strange, "command refers", "commands refer")
        message = f"{referring} to strings or to commands of the program that are not there"
        yield Finding(Severity.ERROR, "dangling-definition", message, strange, "commands")


def _dangling_references(profile: Profile, slice_count: int) -> list[Finding]:
    """Findings about columns of records that refer to what the profile does not define."""
    limits = reference_limits(profile, slice_count)
    return fault_findings(fault for kind in KINDS for fault in dangling_faults(profile.table(kind), limits))


def without_wild_samples(profile: Profile) -> tuple[Profile, tuple[Finding, ...]]:
    """The profile without the samples of counters that are no finite numbers, and the finding that says so."""
    is_finite = np.isfinite(profile.counters.value)
    if is_finite.all():
        return profile, ()
    count = int((~is_finite).sum())
    samples = counted(count, "sample of a counter is no finite number", "samples of counters are no finite numbers")
    message = f"{samples}: left out"
    finding = Finding(Severity.WARNING, "not-finite", message, count, "counters")
    return profile.replace(counters=profile.counters.take(is_finite)), (finding,)


def _launches(profile: Profile, slices: SliceFacts) -> Iterable[Finding]:
    ids = profile.launches.launch_id[profile.launches.launch_id != 0]
    known = np.unique(ids)
    doubled = len(ids) - len(known)
    if doubled:
        message = (
            f"{counted(doubled, 'launch repeats', 'launches repeat')} a launch id: a record is joined with the last one before it"
        )
        yield Finding(Severity.WARNING, "repeated-launch-id", message, doubled)
    frames = profile.workload_slices
    counts = {"device_slices": slices.launch_counts(known)}
    counts["workload_slices"] = launch_counts(frames.launch_id, known) if len(frames) else (0, 0)
    for label, (without, orphans) in counts.items():
        if without and not len(profile.launches):
            # What knows of no launch at all cannot have forgotten one.
            message = f"no launch was recorded: it is not known what caused {counted_records(without, label)}"
            yield Finding(Severity.INFO, "no-launches", message, without, label)
        elif without:
            message = f"{counted_records(without, label, 'has', 'have')} launch id 0: it is not known what launched them"
            yield Finding(Severity.WARNING, "launch-id-0", message, without, label)
        if orphans and len(profile.launches):
            message = f"{counted_records(orphans, label, 'names', 'name')} a launch that is not in the file"
            yield Finding(Severity.WARNING, "launch-not-recorded", message, orphans, label)


def _used_clocks(profile: Profile, of_slices: set[int]) -> list[int]:
    """Ids of the clocks on which records tick, ascending."""
    tables = (profile.workload_slices, profile.counters)
    return sorted(of_slices.union(*(distinct(table.clock_id) for table in tables if len(table))))


def _undefined_clocks(profile: Profile, slices: SliceFacts) -> Iterable[Finding]:
    for clock_id in _used_clocks(profile, slices.clock_ids):
        if profile.clock(clock_id) is None:
            yield Finding(Severity.ERROR, "unknown-clock", f"records tick on clock {clock_id}, which the profile does not define")


def _clocks(profile: Profile, slices: SliceFacts) -> Iterable[Finding]:
    readings: dict[int, list[ClockSnapshot]] = {}
    for snapshot in profile.clock_snapshots:
        readings.setdefault(snapshot.clock_id, []).append(snapshot)
    # A recording that knows nothing of the host cannot be meant to be placed there; one with launches can, and lost its readings.
    stands_alone = not profile.clock_snapshots and not len(profile.launches) and profile.is_complete
    for clock_id in _used_clocks(profile, slices.recorded_clock_ids):
        clock = profile.clock(clock_id)
        if clock is not None and clock_id != HOST_MONOTONIC and stands_alone:
            message = f"clock {clock.name or clock_id} was never read against the host's: its records stand in their own time"
            yield Finding(Severity.INFO, "clock-alone", message)
        elif clock is not None and clock_id != HOST_MONOTONIC:
            try:
                yield from _clock_quality(ClockMap.of(clock, tuple(readings.get(clock_id, ()))))
            except ClockError as error:
                yield Finding(Severity.ERROR, "unplaced-clock", str(error))


def _clock_quality(clock_map: ClockMap) -> Iterator[Finding]:
    name, width = clock_map.clock.name or clock_map.clock.clock_id, clock_map.clock.width_bits
    if len(clock_map.anchor_ns) == 1 and not clock_map.step_count:
        yield Finding(Severity.INFO, "one-snapshot", f"clock {name} was read once: its offset is known, its drift is not")
    if clock_map.step_count:
        readings = counted(clock_map.step_count, "reading")
        message = f"clock {name} was set while recording ({readings}): later times are uncertain"
        yield Finding(Severity.WARNING, "clock-step", message, clock_map.step_count)
    span_ns = int(clock_map.anchor_ns[-1] - clock_map.anchor_ns[0])
    # Over a short recording the readings themselves are too coarse to tell a rate, and a step between them is none.
    if not clock_map.step_count and span_ns and abs(clock_map.drift_ppm) > 100 + 2e6 * clock_map.uncertainty_ns / span_ns:
        message = f"clock {name} runs {clock_map.drift_ppm:+.1f} ppm off its nominal rate; times are corrected for it"
        yield Finding(Severity.INFO, "clock-drift", message)
    first, last = int(clock_map.anchor_ticks[0]), int(clock_map.anchor_ticks[-1])
    if last - first >= 1 << width:
        message = (
            f"clock {name} has {width} bits and turns over more than once within the recording: records may be whole turns off"
        )
        yield Finding(Severity.ERROR, "ambiguous-wrap", message, (last - first) >> width)
    elif first >> width != last >> width and width < 64:
        message = f"clock {name} has {width} bits and wraps within the recording; times are unwrapped"
        yield Finding(Severity.INFO, "counter-wrap", message)


def _durations(slices: SliceFacts) -> Iterable[Finding]:
    untimed = slices.untimed_count
    if untimed:
        message = f"{counted_records(untimed, 'device_slices', 'has', 'have')} neither start nor duration: no sum has their time"
        yield Finding(Severity.WARNING, "untimed-record", message, untimed, "device_slices")
