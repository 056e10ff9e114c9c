"""The index in a closing packet: which chunk stands where, and when its records are."""

from __future__ import annotations

from rblnpb import codec as wire
from rblnpb.container import Frame

__all__ = ["ChunkIndex"]


class ChunkIndex:
    """What the closing packet of a session says of its chunks. It is believed where the chunk itself agrees."""

    def __init__(self, closing: wire.Message | None, header_offset: int) -> None:
        """The index of a session.

        Args:
            closing: The parsed Closing; None: there is none, and nothing is known.
            header_offset: First byte of the session's header packet, from which offsets count.
        """
        rows = closing.index if closing is not None else ()
        self._rows = {header_offset + row.offset_bytes: row for row in rows}

    def bounds(self, frame: Frame, head: wire.ChunkHead) -> tuple[int, int] | None:
        """Least start and greatest end of a chunk's records, host monotonic ns; None when the index does not tell them.

        Args:
            frame: The chunk's packet.
            head: What the chunk says of itself.
        """
        row = self._rows.get(frame.offset)
        if row is None or not row.HasField("start_monotonic_ns") or not row.HasField("end_monotonic_ns"):
            return None
        said = (row.size_bytes, row.kind, row.count, row.clock_id)
        if said != (frame.size, head.kind, head.count, head.clock_id) or row.start_monotonic_ns > row.end_monotonic_ns:
            return None
        return row.start_monotonic_ns, row.end_monotonic_ns
