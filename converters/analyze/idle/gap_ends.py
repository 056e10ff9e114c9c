"""What is known of the slices that end gaps: which launch they are of, who submitted it and when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.strings import StringTable

from ...timeline import Int64, Timeline
from ..host.host_threads import HostThreads
from .gaps import Gaps
from .host_activity import interned
from .occupancy import Calls, OrderedWork

__all__ = ["GapEnds", "Submissions"]


@dataclass(frozen=True, eq=False)
class GapEnds:
    """What is known of the slice that ends each gap; k rows.

    Attributes:
        device: int64[k]; row of `OrderedWork.devices`.
        launch: int64[k]; -1 = not known.
        op: int64[k]; row of the host's events: the op that submitted it; -1 = not known.
        lane: int64[k]; thread that submitted it, see `HostThreads`; -1 = not known.
        submitted_ns: int64[k]; trace clock; where the launch is not known, the start of its op, else of the gap.
        sent_ns: int64[k]; when it was submitted for sure: the end of its op where the launch is not known.
        begun_ns: int64[k]; when its call began on the device.
        program: int64[k]; name of the launch, else of the op, in the table of names.
    """

    device: Int64
    launch: Int64
    op: Int64
    lane: Int64
    submitted_ns: Int64
    sent_ns: Int64
    begun_ns: Int64
    program: Int64


class Submissions:
    """Looks up who submitted the slices of a timeline."""

    def __init__(  # all that a gap may end with
        self, timeline: Timeline, work: OrderedWork, calls: Calls, gaps: Gaps, threads: HostThreads, names: StringTable
    ) -> None:
        """Make ready what all gaps ask for: columns of launches end with the row of none."""
        launches, host = timeline.launches, timeline.host
        self._timeline, self._work, self._of_work = timeline, work, calls.of_work
        self._begun_ns = np.append(calls.begun_ns, 0)
        self._host_row = np.append(launches.host_row, -1)
        self._lane = np.append(threads.launch, -1)
        self._start_ns = np.append(launches.start_ns, 0)
        self._program = np.append(interned(names, timeline.strings, launches.name.astype(np.int64)), 0)
        op = np.where(work.launch[gaps.before] < 0, timeline.slices.host_row[work.row[gaps.before]], -1)
        op = op[op >= 0]
        self.lanes = threads.launch
        """int64; threads that may have submitted, some of them several times."""
        self._op_program = np.empty(0, np.int64)
        if host is not None and len(op):
            events = host.events
            self.lanes = np.concatenate((self.lanes, events.track[op].astype(np.int64)))
            self._op_program = np.zeros(len(host.strings), np.int64)
            self._op_program[events.name[op]] = interned(names, host.strings, events.name[op].astype(np.int64))

    def of(self, gaps: Gaps) -> GapEnds:
        """What is known of the slices that end some of the gaps."""
        work, host = self._work, self._timeline.host
        launch, call = work.launch[gaps.before], self._of_work[gaps.before]
        op = np.where(launch >= 0, self._host_row[launch], self._timeline.slices.host_row[work.row[gaps.before]])
        lane = self._lane[launch]
        submitted_ns = np.where(launch >= 0, self._start_ns[launch], gaps.start_ns)
        sent_ns = submitted_ns.copy()
        program = self._program[launch]
        by_op = np.flatnonzero((launch < 0) & (op >= 0))
        if host is not None and len(by_op):
            events, rows = host.events, op[by_op]
            lane[by_op], submitted_ns[by_op] = events.track[rows], events.start_ns[rows]
            sent_ns[by_op] = events.start_ns[rows] + events.duration_ns[rows]
            program[by_op] = self._op_program[events.name[rows]]
        begun_ns = np.where(call >= 0, self._begun_ns[call], gaps.end_ns)
        return GapEnds(work.device[gaps.before], launch, op, lane, submitted_ns, sent_ns, begun_ns, program)
