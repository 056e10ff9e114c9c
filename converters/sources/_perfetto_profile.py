"""The files of one recording become one profile."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, TypeVar

import numpy as np

from rblnpb.columns import Counters, Dependencies, DeviceSlices, WorkloadSlices
from rblnpb.profile import Profile, Program, Session

from ._perfetto_clocks import Clocks, FileClock, relate_clocks
from ._perfetto_file import VendorFile
from ._perfetto_findings import checked, losses
from ._perfetto_names import style_of
from ._perfetto_tables import FileTables, TableMaker

__all__ = ["assemble"]

_TOOL_NAME: Final = "RBLN Profiler"

Ticking = TypeVar("Ticking", DeviceSlices, WorkloadSlices, Counters)


def assemble(files: Sequence[VendorFile]) -> Profile:
    """The profile that the files of one recording make, with every finding about it.

    Args:
        files: At least one, in the order of the recording.
    """
    maker = TableMaker(has_own_zeros=_overlap(files))
    tables = [maker.tables(place, file, is_alone=len(files) == 1) for place, file in enumerate(files)]
    clocks = _clocks(maker, files)
    ids = np.array([clocks.ids[key] for key in maker.clocks], np.uint32)
    single = clocks.clocks[0].clock_id if len(clocks.ids) == len(clocks.clocks) == 1 else 0
    profile = Profile(
        session=_session(maker, files, tables),
        strings=maker.strings.rows(),
        clocks=clocks.clocks,
        devices=maker.engines.devices(single),
        engines=maker.engines.engines(),
        programs=tuple(Program(number, name) for name, number in maker.programs.items()),
        clock_snapshots=clocks.snapshots,
        losses=losses(files),
        device_slices=_timed(DeviceSlices.concat([one.slices for one in tables]), ids),
        workload_slices=_timed(WorkloadSlices.concat([one.frames for one in tables]), ids),
        dependencies=_dependencies(tables),
        counters=_timed(Counters.concat([one.samples for one in tables]), ids),
        is_complete=not any(file.packets.rest_bytes for file in files),
    )
    return checked(profile, files, tables, clocks)


def _overlap(files: Sequence[VendorFile]) -> bool:
    """Whether files that follow each other lie over each other in time, so that their clocks may not count from one zero."""
    spans = [span for file in files if (span := file.span_ns()) is not None]
    return any(after[0] < before[1] for before, after in pairwise(spans))


def _timed(table: Ticking, ids: np.ndarray[tuple[int], np.dtype[np.uint32]]) -> Ticking:
    """The same records with the ids of their clocks."""
    return table.replace(clock_id=ids[table.clock_id]) if len(table) else table


def _clocks(maker: TableMaker, files: Sequence[VendorFile]) -> Clocks:
    snapshots: list[dict[FileClock, int]] = []
    for place, file in enumerate(files):
        for reading in file.events.snapshots:
            own = {file.clock_of(number, place, has_own_zero=maker.has_own_zeros): value for number, value in reading.items()}
            snapshots.append(own)
    device_id = 1 if len(maker.engines.devices(0)) == 1 else 0
    return relate_clocks(list(maker.clocks), snapshots, device_id, {key: first for key, (_, first) in maker.clocks.items()})


def _dependencies(tables: Sequence[FileTables]) -> Dependencies:
    counts = np.array([len(one.slices) for one in tables], np.int64)
    firsts = np.cumsum(counts) - counts
    edges = np.concatenate([one.edges + first for one, first in zip(tables, firsts.tolist(), strict=True)], axis=1)
    return Dependencies.of(predecessor_ordinal=edges[0], successor_ordinal=edges[1])


def _session(maker: TableMaker, files: Sequence[VendorFile], tables: Sequence[FileTables]) -> Session:
    """What is known of the recording, which does not name itself: its number is made of what it holds."""
    digest = hashlib.blake2b(digest_size=8)
    for file in files:
        for column in (file.slices.start, file.slices.duration, file.slices.name):
            digest.update(column.tobytes())
    return Session(
        session_id=int.from_bytes(digest.digest(), "little") or 1,
        tool_name=_TOOL_NAME if maker.engines.has_known() else "",
        name_style=style_of(np.concatenate([one.styles for one in tables])),
        schema_version=(0, 0),
        file_ordinal=files[0].ordinal or 0,
    )
