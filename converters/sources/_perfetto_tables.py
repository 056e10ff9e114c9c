"""The records of one file as tables of a profile; engines, texts and clocks are numbered together with those of other files."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT, Counters, DeviceSlices, Int64, WorkloadSlices
from rblnpb.profile import ENGINE_NAMES, EngineKind
from rblnpb.strings import StringTable

from ._perfetto_clocks import FileClock
from ._perfetto_engines import EngineBook
from ._perfetto_file import VendorFile
from ._perfetto_names import NameColumns, name_columns
from ._perfetto_tracks import TrackPlace

__all__ = ["FileTables", "TableMaker"]

Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FileTables:
    """What one file holds. `clock_id` columns hold rows of `TableMaker.clocks` until every file is read.

    Attributes:
        slices, frames, samples: The records.
        edges: int64[2, k]; rows of `slices`: one that ends, and one that starts after it.
        styles: int64[m]; numbers of the NameStyles of its slices.
        lost_edge_count: Edges from or to a frame, which has no dependencies.
        made_frame_count: Frames that stand for the file, which has none of its own.
    """

    slices: DeviceSlices
    frames: WorkloadSlices
    samples: Counters
    edges: Int64
    styles: Int64
    lost_edge_count: int
    made_frame_count: int


class TableMaker:
    """Makes tables of files, one after the other.

    Attributes:
        strings, engines: Of all files so far.
        programs: Ids of programs by name: a frame has no name of its own in a profile, but its program has.
        clocks: Row of each clock of a file, and a time of it at which something is.
        has_own_zeros: Whether the default clock of each file counts from a zero of its own.
    """

    def __init__(self, *, has_own_zeros: bool) -> None:
        self.strings = StringTable()
        self.engines = EngineBook()
        self.programs: dict[str, int] = {}
        self.clocks: dict[FileClock, tuple[int, int]] = {}
        self.has_own_zeros = has_own_zeros

    def tables(self, place: int, file: VendorFile, *, is_alone: bool) -> FileTables:
        """The tables of a file.

        Args:
            place: Which of the files it is.
            file: Read.
            is_alone: Whether there is no other file.
        """
        slices = file.slices
        clock = self._clock_rows(place, file)
        names = name_columns(file.events.names, self.strings)
        engine = self.engines.of_slices(file)
        kind = self.engines.kinds()[engine]
        is_vague = np.isin(kind, (EngineKind.UNKNOWN, EngineKind.HOST))
        is_frame = (kind == EngineKind.WORKLOAD) | (names.is_frame[slices.name] & is_vague)
        made = None if is_alone or is_frame.any() else self._file_frame(file, names, clock, engine)
        row_of = np.where(is_frame, -1, np.cumsum(~is_frame) - 1)
        edges = row_of[slices.edges]
        is_whole = (edges >= 0).all(axis=0)
        return FileTables(
            slices=_device_slices(file, names, clock, engine, np.flatnonzero(~is_frame)),
            frames=self._frames(file, names, clock, engine, np.flatnonzero(is_frame)) if made is None else made,
            samples=self._samples(file, clock),
            edges=edges[:, is_whole],
            styles=np.unique(names.style[slices.name[~is_frame]]),
            lost_edge_count=int((~is_whole).sum()),
            made_frame_count=int(made is not None),
        )

    def _clock_rows(self, place: int, file: VendorFile) -> Int64:
        """int64[m]; row of `clocks` for each clock of a file; -1 for one that the host alone has."""
        rows = []
        used = set(np.concatenate((file.slices.clock, file.samples.clock)).tolist())
        for number, row in file.events.clocks.items():
            if row not in used and file.host_count:
                rows.append(-1)
                continue
            key = file.clock_of(number, place, has_own_zero=self.has_own_zeros)
            first = next((time for clock, time in zip(file.events.clock, file.events.time, strict=True) if clock == row), 0)
            rows.append(self.clocks.setdefault(key, (len(self.clocks), first))[0])
        return np.array(rows, np.int64)

    def _program(self, name: str) -> int:
        return 0 if name in ("", ENGINE_NAMES[EngineKind.WORKLOAD]) else self.programs.setdefault(name, len(self.programs) + 1)

    def _frames(self, file: VendorFile, names: NameColumns, clock: Int64, engine: Int64, rows: Int64) -> WorkloadSlices:
        slices = file.slices
        name = slices.name[rows]
        texts = list(file.events.names)
        distinct, of_row = np.unique(name, return_inverse=True)
        programs = np.array([self._program(texts[row]) for row in distinct.tolist()], np.int64)
        return WorkloadSlices.of(
            len(rows),
            clock_id=clock[slices.clock[rows]],
            engine_id=engine[rows],
            start_ticks=slices.start[rows],
            duration_ticks=slices.duration[rows],
            launch_id=_argument(file, "launch_id", rows, 0),
            program_id=programs[of_row] if len(rows) else programs,
            instance=names.instance[name],
            sequence=names.sequence[name],
            workload=names.workload[name],
        )

    def _file_frame(self, file: VendorFile, names: NameColumns, clock: Int64, engine: Int64) -> WorkloadSlices | None:
        """A frame around all slices of one of several files, called like the file; None where a file is not one call.

        On ATOM the profiler wrote a file for each call of the runtime, without any frame. A file that names several calls is none
        of those.
        """
        slices = file.slices
        calls = np.stack((names.instance, names.sequence))[:, np.unique(slices.name)]
        calls = np.unique(calls[:, calls[1] != ABSENT], axis=1)
        used = set(np.unique(engine).tolist())
        devices = {one.device_id for one in self.engines.engines() if one.engine_id in used}
        if calls.shape[1] > 1 or len(devices) != 1 or len(np.unique(slices.clock)) != 1:
            return None
        device = next(one.name for one in self.engines.devices(0) if one.device_id in devices)
        start = slices.start.min()
        instance, sequence = calls[:, 0].tolist() if calls.shape[1] else (0, ABSENT)
        return WorkloadSlices.of(
            1,
            clock_id=int(clock[slices.clock[0]]),
            engine_id=self.engines.engine(TrackPlace(device, "", EngineKind.WORKLOAD, None)),
            start_ticks=int(start),
            duration_ticks=int((slices.start + slices.duration).max() - start),
            program_id=self._program(os.path.basename(file.name)),
            instance=instance,
            sequence=sequence,
        )

    def _samples(self, file: VendorFile, clock: Int64) -> Counters:
        found = file.samples
        tracks, of_sample = np.unique(found.track, return_inverse=True)
        keys = list(file.events.track_keys)
        named = np.array([self._counter(file, keys[row]) for row in tracks.tolist()], np.int64).reshape(-1, 2)
        return Counters.of(
            len(found.time),
            clock_id=clock[found.clock],
            name_strindex=named[of_sample, 0],
            device_id=named[of_sample, 1],
            time_ticks=found.time,
            value=found.value,
        )

    def _counter(self, file: VendorFile, key: Hashable) -> tuple[int, int]:
        """Row of the name of a counter, with its unit, and id of its device."""
        tracks = file.events.tracks
        name, unit = tracks.name_of(key) or "counter", tracks.counter_of(key).unit
        text = name if not unit or unit.casefold() in name.casefold() else f"{name} ({unit})"
        return self.strings.intern(text), self.engines.device(tracks.place(key).device)


def _device_slices(file: VendorFile, names: NameColumns, clock: Int64, engine: Int64, rows: Int64) -> DeviceSlices:
    slices = file.slices
    name = slices.name[rows]
    return DeviceSlices.of(
        len(rows),
        clock_id=clock[slices.clock[rows]],
        engine_id=engine[rows],
        start_ticks=slices.start[rows],
        duration_ticks=slices.duration[rows],
        launch_id=_argument(file, "launch_id", rows, 0),
        instance=names.instance[name],
        sequence=names.sequence[name],
        workload=names.workload[name],
        compute_cycles=_argument(file, "compute_cycles", rows, ABSENT),
        size_bytes=_argument(file, "size_bytes", rows, ABSENT),
        name_strindex=names.text[name],
        stage_strindex=names.stage[name],
    )


def _argument(file: VendorFile, name: str, rows: Int64, absent: int) -> Int64:
    """int64[n]; one argument of some slices of a file."""
    values = [getattr(one, name) for one in file.events.argument_rows]
    found: Int64 = np.array([absent if value is None else value for value in values], np.int64)[file.slices.argument[rows]]
    return found
