"""Which launch a record names where several processes count alike: ids are unique in one process at most, and for a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..dialect import is_linked, linked_ids
from ..timeline import Bool, HostTrace, Id, Int64
from .correlate import id_number, launch_by_id

__all__ = ["Identified", "identified", "launch_in_process", "launch_in_scope", "linked_ops", "process_numbers"]


@dataclass(frozen=True, eq=False)
class Identified:
    """Rows under the ids that join them; all columns have the same length n.

    Attributes:
        ids: int64[n]; 0 = unknown, which joins nothing.
        at_ns: int64[n]; trace clock; where they start.
        process: int64[n]; a number from 0 on for each process.
    """

    ids: Int64
    at_ns: Int64
    process: Int64

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: Int64) -> Identified:
        """These rows, in that order."""
        return Identified(self.ids[rows], self.at_ns[rows], self.process[rows])


def identified(host: HostTrace, rows: Int64, ids: Int64) -> Identified:
    """Rows of a trace under some ids.

    Args:
        host: The trace.
        rows: int64[n]; rows of `host.events`.
        ids: int64[n]; 0 = unknown.
    """
    return Identified(ids, host.events.start_ns[rows], process_numbers(host)[host.events.track[rows]])


def process_numbers(host: HostTrace) -> Int64:
    """int64[tracks + 1]; a number for each process, whether its id is written as a number or as a text; the last is of no track."""
    numbers: dict[Id, int] = {}
    pids = [(track.pid, id_number(track.pid)) for track in host.tracks]
    return np.array([*(numbers.setdefault(pid if number is None else number, len(numbers)) for pid, number in pids), -1], np.int64)


def launch_in_process(launches: Identified, records: Identified) -> Int64:
    """The launch that each record names, in the record's own process: of several with one id, the last before the record.

    Returns:
        int64[n]; rows of `launches`, -1 where none has the id.
    """
    if not len(launches) or not len(records):
        return np.full(len(records), -1, np.int64)
    count = 1 + max(int(launches.process.max()), int(records.process.max()))
    if (np.append(launches.process, records.process) == launches.process[0]).all():
        return launch_by_id(launches.ids, launches.at_ns, records.ids, records.at_ns)
    ids = np.concatenate((launches.ids, records.ids))
    _, dense = np.unique(ids, return_inverse=True)
    # One more: 0 is unknown.
    keys = np.where(ids != 0, dense * count + np.concatenate((launches.process, records.process)) + 1, 0)
    return launch_by_id(keys[: len(launches)], launches.at_ns, keys[len(launches) :], records.at_ns)


def launch_in_scope(launches: Identified, records: Identified) -> Int64:
    """The launch that each record of a device names, when records stand in processes of devices and launches in those of the host.

    Of several launches of one id it is the last before the record. Where they are of several processes, it is that of the process
    which launches the other work of this device, as those ids say that one process alone has.

    Returns:
        int64[n]; rows of `launches`, -1 where none has the id.
    """
    found = launch_by_id(launches.ids, launches.at_ns, records.ids, records.at_ns)
    is_shared = np.append(_is_shared(launches), False)
    asked = np.flatnonzero(is_shared[found])
    if not len(asked):
        return found
    votes = np.zeros((int(records.process.max()) + 1, int(launches.process.max()) + 1), np.int64)
    sure = np.flatnonzero((found >= 0) & ~is_shared[found])
    np.add.at(votes, (records.process[sure], launches.process[found[sure]]), 1)
    unsure = asked[votes[records.process[asked]].sum(axis=1) == 0]
    np.add.at(votes, (records.process[unsure], launches.process[found[unsure]]), 1)
    home = votes.argmax(axis=1)
    at_home = launch_in_process(launches, replace(records.take(asked), process=home[records.process[asked]]))
    found[asked] = np.where(at_home >= 0, at_home, found[asked])
    return found


def linked_ops(host: HostTrace, rows: Int64, ops: Int64) -> Int64:
    """int64[k]; the op that each of these device rows names itself, -1 = none."""
    ids = np.where(is_linked(host, rows), linked_ids(host, rows), 0)
    return np.append(ops, -1)[launch_in_scope(identified(host, ops, host.events.external_id[ops]), identified(host, rows, ids))]


def _is_shared(launches: Identified) -> Bool:
    """bool[n]; whether launches of several processes have the id of each."""
    if not len(launches) or (launches.process == launches.process[0]).all():
        return np.zeros(len(launches), np.bool_)
    _, first, group = np.unique(launches.ids, return_index=True, return_inverse=True)
    differs = np.zeros(len(first), np.bool_)
    differs[group[launches.process != launches.process[first][group]]] = True
    return differs[group]
