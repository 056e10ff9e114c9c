"""How long a device slice takes as Perfetto's own packets: our columns against Perfetto's bindings, in one process by turns.

python -m tests.bench.bench_perfetto_write [--records N] [--rounds R] [--host TRACE]
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

from rblnpb.converters.sinks.perfetto_trace import write_perfetto_trace
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import Timeline
from tests.bench.bench_chrome_write import ARGUMENTS, Counted, many_slices
from tests.support.timelines import timeline

STAGE = 100
"""Number of the annotation that names the stage; the others count from 1."""


def write_by_bindings(source: Timeline, file: Counted, block_rows: int = 4096) -> None:
    """The same slices by the bindings at their best: two messages that are used again, every text interned but names."""
    slices = source.slices
    begin, end = perfetto.Trace(), perfetto.Trace()
    for trace, kind in ((begin, perfetto.TrackEvent.TYPE_SLICE_BEGIN), (end, perfetto.TrackEvent.TYPE_SLICE_END)):
        packet = trace.packet.add(trusted_packet_sequence_id=1, sequence_flags=2)
        packet.track_event.type = kind
    begin.packet[0].track_event.category_iids.append(1)
    stage = begin.packet[0].track_event.debug_annotations.add(name_iid=STAGE)
    annotations = [begin.packet[0].track_event.debug_annotations.add(name_iid=1 + at) for at in range(len(ARGUMENTS))]
    first, last = begin.packet[0], end.packet[0]
    for at in range(0, len(slices), block_rows):
        rows = slice(at, at + block_rows)
        columns = zip(
            (slices.track[rows] + 1).tolist(),
            slices.names.take(rows).render().tolist(),
            slices.start_ns[rows].tolist(),
            (slices.start_ns[rows] + slices.duration_ns[rows]).tolist(),
            slices.names.stage[rows].tolist(),
            slices.arguments[rows].tolist(),
            strict=True,
        )
        parts: list[bytes] = []
        for track, name, start_ns, end_ns, stage_row, values in columns:
            first.timestamp, last.timestamp = start_ns, end_ns
            first.track_event.track_uuid = last.track_event.track_uuid = track
            first.track_event.name = name.decode()
            stage.string_value_iid = stage_row
            for annotation, value in zip(annotations, values, strict=True):
                annotation.int_value = value
            parts += (begin.SerializeToString(), end.SerializeToString())
        file.write(b"".join(parts))


def measure(writers: dict[str, Callable[[Counted], object]], count: int, rounds: int) -> dict[str, tuple[float, int]]:
    """CPU time of each in ns an event, the median of so many rounds, and the bytes that it writes."""
    seconds: dict[str, list[float]] = {name: [] for name in writers}
    sizes = {}
    for _ in range(rounds):
        for name, write in writers.items():
            file = Counted()
            begin = time.process_time()
            write(file)
            seconds[name].append(time.process_time() - begin)
            sizes[name] = file.size_bytes
    return {name: (statistics.median(seconds[name]) * 1e9 / count, sizes[name]) for name in writers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--host", help="a host trace to be written too")
    options = parser.parse_args()
    source = many_slices(options.records)
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    write_perfetto_trace(source, Counted())
    grown_mib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib) / 1024
    found = measure(
        {"ours": lambda file: write_perfetto_trace(source, file), "theirs": lambda file: write_by_bindings(source, file)},
        options.records,
        options.rounds,
    )
    print(f"{options.records:,} device slices, CPU time, median of {options.rounds}")
    for name, text in (("ours", "columns to packets"), ("theirs", "Perfetto's bindings")):
        print(f"{text:<20}{found[name][0]:8.0f} ns/slice {found[name][1] / options.records:6.1f} B/slice")
    print(f"ratio               {found['theirs'][0] / found['ours'][0]:8.1f}")
    print(f"memory on top of the columns {grown_mib:.0f} MiB")
    if options.host:
        host = read_host(options.host)
        count = len(host.events)
        alone = timeline(host, tracks=())
        ((per_event, size),) = measure({"host": lambda file: write_perfetto_trace(alone, file)}, count, options.rounds).values()
        print(f"{count:,} host events   {per_event:8.0f} ns/event {size / count:6.1f} B/event")


if __name__ == "__main__":
    main()
