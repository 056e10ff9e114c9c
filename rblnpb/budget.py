"""How much memory the records of a file may fill."""

from __future__ import annotations

from typing import Final

from rblnpb.errors import FormatError

__all__ = ["Budget"]

_FREE_BYTES: Final = 2 << 30
_EXPANSION: Final = 1_000
"""A file may fill _FREE_BYTES of memory, or this many times its own size. More is a bomb: a few bytes can claim a full chunk."""


class Budget:
    """Memory that the records of one file may fill, those of all its sessions together."""

    def __init__(self, name: str, file_bytes: int) -> None:
        """For the file of this name and size."""
        self.name = name
        self._file_bytes = file_bytes
        self._allowed_bytes = max(_FREE_BYTES, _EXPANSION * file_bytes)
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
                "hold: it is made to fill the memory (rblnpb.open_profile reads it chunk by chunk)"
            )
            raise FormatError(self.name, reason)
