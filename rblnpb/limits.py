"""What reading a file may take: limits that a caller can set, and how much of them is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rblnpb.errors import FormatError

__all__ = ["DEFAULT_LIMITS", "Budget", "Limits"]


@dataclass(frozen=True)
class Limits:
    """How much one file may ask for before it is refused: a few bytes can claim much.

    A file may fill `record_bytes` of memory with records, or `expansion` times its own size where that is more: both have to be
    exceeded. Device slices that stay in the file do not count.

    Attributes:
        record_bytes: Memory for the records of all sessions of a file.
        expansion: Memory for each byte of a file.
        text_bytes: Strings of one column of one chunk, once decompressed. A chunk with more is left out, and a finding says so.
        definition_count: Rows of what a session defines (strings, clocks, devices, engines, programs, commands, threads), of its
            settings, clock readings and losses, and of its index, all together. A packet with more is left out, and a finding
            says so.

    Example:
        >>> import rblnpb
        >>> rblnpb.Limits(record_bytes=1 << 20, expansion=1).allowed_bytes(300)
        1048576
    """

    record_bytes: int = 2 << 30
    expansion: int = 1_000
    text_bytes: int = 1 << 30
    definition_count: int = 4_000_000

    def allowed_bytes(self, file_bytes: int) -> int:
        """Memory that the records of a file of this size may fill."""
        return max(self.record_bytes, self.expansion * file_bytes)


DEFAULT_LIMITS: Final = Limits()
"""More than honest files of today need."""


class Budget:
    """What of its limits one file has used, all its sessions together."""

    def __init__(self, name: str, file_bytes: int, limits: Limits) -> None:
        """For the file of this name and size."""
        self.name = name
        self.limits = limits
        self._file_bytes = file_bytes
        self._allowed_bytes = limits.allowed_bytes(file_bytes)
        self._spent_bytes = 0

    def spend(self, size_bytes: int) -> None:
        """Count memory that records need, before it is taken where their number tells it.

        Raises:
            FormatError: It is more than is left.
        """
        self._spent_bytes += size_bytes
        if self._spent_bytes > self._allowed_bytes:
            reason = (
                f"its chunks claim more than {self._allowed_bytes:,} bytes of records, which {self._file_bytes:,} bytes do not "
                "hold: it is made to fill the memory (rblnpb.open_profile reads it chunk by chunk, rblnpb.Limits sets another "
                "limit)"
            )
            raise FormatError(self.name, reason)
