"""Invariants over a profile: what is missing, dangling, doubled or out of range, as counted findings.

Nothing here raises; who wants strictness turns findings into an error. The codes are stable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.clock import HOST_MONOTONIC, ClockMap, ClockSnapshot
from rblnpb.columns import ABSENT, Table
from rblnpb.errors import ClockError, Finding, Severity
from rblnpb.profile import KINDS, Profile

__all__ = ["check", "contradictions", "without_dangling", "without_wild_launches", "without_wild_samples"]


def check(profile: Profile) -> tuple[Finding, ...]:
    """Every finding about a profile beyond those of reading it, in a stable order.

    Args:
        profile: As read, or about to be written.

    Returns:
        Findings about its end, its losses, its references, its launches and its clocks.

    Example:
        >>> import rblnpb
        >>> [finding.code for finding in rblnpb.check(rblnpb.Profile(rblnpb.Session(session_id=7)))]
        ['no-records']
    """
    recorded = _without_archived_slices(profile)
    return (
        *_end(profile),
        *_losses(profile),
        *contradictions(profile),
        *_launches(recorded),
        *_clocks(recorded),
        *_durations(recorded),
    )


def contradictions(profile: Profile) -> tuple[Finding, ...]:
    """Those findings, all errors, about what a file cannot hold: read back, it would be another profile."""
    return (*_definitions(profile), *_commands(profile), *_dangling_references(profile), *_undefined_clocks(profile))


def _without_archived_slices(profile: Profile) -> Profile:
    """The profile without device slices that an archived trace tells of: their place and their cause stand there, or nowhere."""
    is_archived = profile.device_slices.event_ordinal != ABSENT
    return profile.replace(device_slices=profile.device_slices.take(~is_archived)) if is_archived.any() else profile


def _end(profile: Profile) -> Iterable[Finding]:
    if not profile.is_complete:
        message = "the recording did not end properly (no closing packet): the last records may be missing"
        yield Finding(Severity.WARNING, "not-ended", message)
    if not any(len(profile.table(kind)) for kind in KINDS):
        yield Finding(Severity.INFO, "no-records", "the profile holds no record")


def _losses(profile: Profile) -> Iterable[Finding]:
    for loss in profile.losses:
        kind = KINDS[loss.kind].label if loss.kind in KINDS else "records"
        bound = "at least " if loss.is_lower_bound else ""
        reason = loss.reason.name.lower().replace("_", " ")
        message = f"{bound}{loss.count:,} {kind} were dropped while recording ({reason}): counts and times are lower bounds"
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
            message = f"{repeated} {label} have an id that is defined before: which of them a record means cannot be told"
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
            message = f"{dangling} definitions refer by {where} to what the profile does not define"
            yield Finding(Severity.ERROR, "dangling-definition", message, dangling, where)
    wild = sum(not 1 <= clock.width_bits <= 64 for clock in profile.clocks)
    if wild:
        message = f"{wild} clocks have a width that is not 1 to 64 bits"
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
        message = f"{outside} programs have commands that are not in the table, or are another program's"
        yield Finding(Severity.ERROR, "dangling-definition", message, outside, "programs.first_command_row")
    # A hole between commands is what a lost packet leaves; nothing stands in it.
    sizes = np.diff(commands.predecessor_ends, prepend=0)
    is_empty = (commands.layer_strindex == 0) & (commands.command_index == 0) & (commands.engine_kind == 0) & (sizes == 0)
    is_empty &= (commands.size_bytes == ABSENT) & (commands.chiplet == ABSENT)
    homeless = int(((owner != commands.program_id) | ((owner == 0) & ~is_empty)).sum()) + int(count > 1 and owner[-1] == 0)
    if homeless:
        message = f"{homeless:,} commands are of no program that has them: they would not be in the file"
        yield Finding(Severity.ERROR, "dangling-definition", message, homeless, "commands.program_id")
    before = commands.predecessor_rows
    of_row = np.repeat(np.arange(count), sizes)
    inside = before[before < count], of_row[before < count]
    strange = len(before) - int((first_row[inside[0]] == first_row[inside[1]]).sum())
    strange += int((commands.layer_strindex >= len(profile.strings)).sum())
    if strange:
        message = f"{strange:,} commands refer to strings or to commands of their program that are not there"
        yield Finding(Severity.ERROR, "dangling-definition", message, strange, "commands")


def _reference_limits(profile: Profile) -> dict[str, Any]:
    """What each reference column may hold: a number of rows, or an array of the ids that exist (0 always may)."""
    rows = len(profile.strings)
    slices = len(profile.device_slices)
    return {
        "command_row": len(profile.commands),
        "name_strindex": rows,
        "stage_strindex": rows,
        "op_strindex": rows,
        "reason_strindex": rows,
        "place_strindex": rows,
        "category_strindex": rows,
        "process_strindex": rows,
        "thread_strindex": rows,
        "id_strindex": rows,
        "layout_strindex": rows,
        "predecessor_ordinal": slices,
        "successor_ordinal": slices,
        "engine_id": np.array([engine.engine_id for engine in profile.engines], np.int64),
        "program_id": np.array([program.program_id for program in profile.programs], np.int64),
        "device_id": np.array([device.device_id for device in profile.devices], np.int64),
    }


def _is_dangling(values: npt.NDArray[Any], limit: int | npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    if isinstance(limit, int):
        return np.asarray((values < 0) | (values >= limit))
    top = max(int(values.max(initial=0)), int(limit.max(initial=0)))
    if top > _LOOKUP_LIMIT:
        return np.asarray(~np.isin(values, limit) & (values != 0))
    # Ids are small in practice: one look-up a record instead of a sort.
    exists = np.zeros(top + 1, np.bool_)
    exists[limit] = True
    exists[0] = True
    return np.asarray(~exists[values])


_LOOKUP_LIMIT: Final = 1 << 20
"""Greatest id for which a table of all ids is made: a file can name any id in a few bytes."""


def _dangling(profile: Profile) -> Iterable[tuple[Table, str, npt.NDArray[np.bool_]]]:
    """Tables and columns that refer to something that is not there, and in which records."""
    limits = _reference_limits(profile)
    for kind in KINDS:
        table = profile.table(kind)
        for name, values in table.columns().items():
            if name not in limits or not len(table):
                continue
            limit = limits[name]
            if isinstance(limit, int) and int(values.max()) < limit and (values.dtype.kind == "u" or int(values.min()) >= 0):
                continue
            mask = _is_dangling(values, limit)
            if mask.any():
                yield table, name, mask


def _dangling_references(profile: Profile) -> Iterator[Finding]:
    """Findings about columns of records that refer to what the profile does not define."""
    for table, name, mask in _dangling(profile):
        count = int(mask.sum())
        first = int(np.flatnonzero(mask)[0])
        value = int(getattr(table, name)[first])
        message = f"{count:,} {table.label} refer by {name} to what the profile does not define (record {first}: {value})"
        yield Finding(Severity.ERROR, "dangling-reference", message, count, f"{table.label}.{name}")


def without_dangling(profile: Profile) -> tuple[Profile, tuple[Finding, ...]]:
    """The profile with every dangling reference set to none, and the findings that say so.

    Dependencies lose the record instead: one without both ends is none.
    """
    findings = tuple(_dangling_references(profile))
    changes: dict[str, Table] = {}
    for table, name, mask in _dangling(profile):
        current = changes.get(table.label, table)
        if name.endswith("_ordinal"):
            limit = len(profile.device_slices)
            ordinals: Any = current
            both = (ordinals.predecessor_ordinal < limit) & (ordinals.successor_ordinal < limit)
            changes[table.label] = current.take(both & (ordinals.predecessor_ordinal >= 0) & (ordinals.successor_ordinal >= 0))
        else:
            changes[table.label] = current.replace(**{name: np.where(mask, 0, getattr(current, name))})
    return (profile.replace(**changes) if changes else profile), findings


def without_wild_samples(profile: Profile) -> tuple[Profile, tuple[Finding, ...]]:
    """The profile without the samples of counters that are no finite numbers, and the finding that says so."""
    is_finite = np.isfinite(profile.counters.value)
    if is_finite.all():
        return profile, ()
    count = int((~is_finite).sum())
    message = f"{count:,} samples of counters are no finite numbers: they were left out"
    finding = Finding(Severity.WARNING, "not-finite", message, count, "counters")
    return profile.replace(counters=profile.counters.take(is_finite)), (finding,)


def without_wild_launches(profile: Profile) -> tuple[Profile, tuple[Finding, ...]]:
    """The profile with every launch id that is beyond its limit set to 0, and the findings that say so."""
    findings: list[Finding] = []
    changes: dict[str, Table] = {}
    for table in map(profile.table, KINDS):
        if "launch_id" not in table.schema() or not len(table):
            continue
        launch_id, top = table.columns()["launch_id"], table.limits()["launch_id"][1]
        wild = launch_id > top
        if wild.any():
            count = int(wild.sum())
            message = f"{count:,} {table.label} have a launch id beyond 2**63 - 1: it was read as 0, not known"
            findings.append(Finding(Severity.ERROR, "impossible-value", message, count, f"{table.label}.launch_id"))
            changes[table.label] = table.replace(launch_id=np.where(wild, 0, launch_id))
    return (profile.replace(**changes) if changes else profile), tuple(findings)


def _launches(profile: Profile) -> Iterable[Finding]:
    ids = profile.launches.launch_id[profile.launches.launch_id != 0]
    known = np.unique(ids)
    doubled = len(ids) - len(known)
    if doubled:
        message = f"{doubled:,} launches repeat a launch id: a record is joined with the last one before it"
        yield Finding(Severity.WARNING, "repeated-launch-id", message, doubled)
    for table in (profile.device_slices, profile.workload_slices):
        if not len(table):
            continue
        launch_ids, counts = _runs(table.launch_id)
        without = int(counts[launch_ids == 0].sum())
        if without and not len(profile.launches):
            # What knows of no launch at all cannot have forgotten one.
            message = f"no launch was recorded: it is not known what caused {without:,} {table.label}"
            yield Finding(Severity.INFO, "no-launches", message, without, table.label)
        elif without:
            message = f"{without:,} {table.label} have launch id 0: it is not known what launched them"
            yield Finding(Severity.WARNING, "launch-id-0", message, without, table.label)
        if len(profile.launches) == 0:
            continue
        orphans = int(counts[~np.isin(launch_ids, known) & (launch_ids != 0)].sum())
        if orphans:
            message = f"{orphans:,} {table.label} name a launch that is not in the file"
            yield Finding(Severity.WARNING, "launch-not-recorded", message, orphans, table.label)


def _runs(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Values of the runs of equal neighbours, and their lengths: slices of one launch stand together, so there are few."""
    starts = np.flatnonzero(values[1:] != values[:-1]) + 1
    edges = np.concatenate([[0], starts, [len(values)]])
    return values[edges[:-1]], np.diff(edges)


def _used_clocks(profile: Profile) -> list[int]:
    """Ids of the clocks on which records tick, ascending."""
    tables = [profile.table(kind) for kind in KINDS if "clock_id" in KINDS[kind].schema() and len(profile.table(kind))]
    return sorted({int(value) for table in tables for value in np.unique(_runs(table.columns()["clock_id"])[0])})


def _undefined_clocks(profile: Profile) -> Iterable[Finding]:
    for clock_id in _used_clocks(profile):
        if profile.clock(clock_id) is None:
            yield Finding(Severity.ERROR, "unknown-clock", f"records tick on clock {clock_id}, which the profile does not define")


def _clocks(profile: Profile) -> Iterable[Finding]:
    readings: dict[int, list[ClockSnapshot]] = {}
    for snapshot in profile.clock_snapshots:
        readings.setdefault(snapshot.clock_id, []).append(snapshot)
    # A recording that knows nothing of the host cannot be meant to be placed there; one with launches can, and lost its readings.
    stands_alone = not profile.clock_snapshots and not len(profile.launches) and profile.is_complete
    for clock_id in _used_clocks(profile):
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
        message = f"clock {name} was set while recording ({clock_map.step_count} readings): later times are uncertain"
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


def _durations(profile: Profile) -> Iterable[Finding]:
    slices = profile.device_slices
    untimed = int(((slices.start_ticks == 0) & (slices.duration_ticks == 0)).sum())
    if untimed:
        message = f"{untimed:,} device_slices have neither start nor duration: they carry no time"
        yield Finding(Severity.WARNING, "untimed-record", message, untimed, "device_slices")
