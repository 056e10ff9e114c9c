"""Which op each row of a device belongs to, told one row after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.support.vendor_traces import DEVICE_PID, Json, at, span

DEVICE_LANE = 7


@dataclass(frozen=True)
class Op:
    """An operator."""

    tid: int
    start_ns: int
    end_ns: int
    external_id: int


@dataclass(frozen=True)
class Call:
    """A call of a runtime."""

    tid: int
    start_ns: int
    end_ns: int
    correlation: int
    external_id: int


@dataclass(frozen=True)
class Row:
    """A row of a device: on its own lane, or, with a thread id, on a thread of the host."""

    start_ns: int
    end_ns: int
    correlation: int
    external_id: int
    tid: int = 0


@dataclass(frozen=True)
class Arrow:
    """An arrow that ends at the start of the row at this place; without a thread id, its beginning is not recorded."""

    row: int
    from_ns: int
    tid: int


@dataclass(frozen=True)
class Run:
    """A trace of all these."""

    ops: Sequence[Op]
    calls: Sequence[Call]
    rows: Sequence[Row]
    arrows: Sequence[Arrow]

    def events(self, pid: int) -> list[Json]:
        """The trace's events; ops first, then rows of the device, each in order."""
        events = [span("cpu_op", f"op{n}", op.start_ns, op.end_ns, pid=pid, tid=op.tid, **_id(op)) for n, op in enumerate(self.ops)]
        for row in self.rows:
            place = {"pid": pid, "tid": row.tid} if row.tid else {"pid": DEVICE_PID, "tid": DEVICE_LANE}
            events.append(span("kernel", "k", row.start_ns, row.end_ns, **place, **_id(row), correlation=row.correlation))
        for call in self.calls:
            links = {**_id(call), "correlation": call.correlation}
            events.append(span("cuda_runtime", "launch", call.start_ns, call.end_ns, pid=pid, tid=call.tid, **links))
        for number, arrow in enumerate(self.arrows):
            flow = {"cat": "ac2g", "name": "ac2g", "id": number}
            row = self.rows[arrow.row]
            place = {"pid": pid, "tid": row.tid} if row.tid else {"pid": DEVICE_PID, "tid": DEVICE_LANE}
            if arrow.tid:
                events.append({"ph": "s", **flow, "pid": pid, "tid": arrow.tid, "ts": at(arrow.from_ns)})
            events.append({"ph": "f", **flow, **place, "ts": at(row.start_ns), "bp": "e"})
        return events

    def op_of(self, place: int) -> tuple[int, str]:
        """Place of the op that a row belongs to, -1 = none, and the rule, or why there is none."""
        row = self.rows[place]
        call = self._last(self.calls, lambda one: one.correlation, row.correlation, row.start_ns)
        wanted = row.external_id if row.external_id != row.correlation else 0
        arrows = [arrow for arrow in self.arrows if arrow.row == place]
        begun = [arrow for arrow in arrows if arrow.tid]
        ways = (
            ("correlation", self._op_of_call(self.calls[call]) if call >= 0 else -1),
            ("external-id", self._last(self.ops, lambda one: one.external_id, wanted, row.start_ns)),
            *(("flow", self._innermost(arrow.tid, arrow.from_ns, arrow.from_ns + 1)) for arrow in begun),
            ("containment", self._innermost(row.tid, row.start_ns, max(row.end_ns, row.start_ns + 1)) if row.tid else -1),
        )
        for rule, op in ways:
            if op >= 0:
                return op, rule
        if not self.ops:
            return -1, "no-host-trace"
        if call >= 0 or begun:
            return -1, "launch-on-no-op"
        return -1, "launch-not-recorded" if row.correlation or row.external_id or arrows else "no-link"

    def _op_of_call(self, call: Call) -> int:
        wanted = call.external_id if call.external_id != call.correlation else 0
        linked = self._last(self.ops, lambda one: one.external_id, wanted, call.start_ns)
        return linked if linked >= 0 else self._innermost(call.tid, call.start_ns, max(call.end_ns, call.start_ns + 1))

    def _innermost(self, tid: int, start_ns: int, end_ns: int) -> int:
        around = [
            n for n, op in enumerate(self.ops) if op.tid == tid and op.start_ns <= start_ns < op.end_ns and op.end_ns >= end_ns
        ]
        return max(around, key=lambda n: (self.ops[n].start_ns, -self.ops[n].end_ns, n), default=-1)

    @staticmethod
    def _last(rows: Sequence[Op] | Sequence[Call], number: Callable[..., int], wanted: int, at_ns: int) -> int:
        """Place of the last row of a number that starts by a moment; of the first with it, where none does."""
        same = [n for n, row in enumerate(rows) if number(row) == wanted != 0]
        before = [n for n in same if rows[n].start_ns <= at_ns]
        return max(before, key=lambda n: (rows[n].start_ns, n)) if before else next(iter(same), -1)


def _id(row: Op | Call | Row) -> Json:
    return {"External id": row.external_id} if row.external_id else {}
