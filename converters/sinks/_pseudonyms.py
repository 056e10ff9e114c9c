"""Names that stand for other names: the same name has the same one under the same key, and without the key none tells its name."""

from __future__ import annotations

import hashlib
import string
from typing import Final

__all__ = ["Pseudonyms"]

_ROUNDS: Final = 100_000
"""What trying one guess of a key costs: some hundredths of a second, for a key may be a word that somebody chose."""
_SALT: Final = b"rblnpb.redact/1"
_LETTERS: Final = string.ascii_lowercase
_LENGTH: Final = 12
"""Letters of a pseudonym: 56 bits. No digits, which names of layers and kernels count with."""


class Pseudonyms:
    """Hands out pseudonyms, and counts the names that got one."""

    def __init__(self, key: bytes) -> None:
        """Prepare a key.

        Args:
            key: Of any length. Whoever knows it can test guesses of names; whoever does not cannot.
        """
        self._key = hashlib.pbkdf2_hmac("sha256", key, _SALT, _ROUNDS)
        self._seen: dict[str, set[int]] = {}

    def of(self, kind: str, text: str) -> str:
        """What stands for a text, such as "layer_kqzvbmtrxwha"; the letters follow from the text alone, whatever its kind."""
        rest = self._digest(text)
        # Of the texts themselves there may be more than memory holds.
        self._seen.setdefault(kind, set()).add(rest)
        letters = []
        for _ in range(_LENGTH):
            rest, place = divmod(rest, len(_LETTERS))
            letters.append(_LETTERS[place])
        return f"{kind}_{''.join(letters)}"

    def number(self, purpose: str, limit: int) -> int:
        """A number from 0 on and below a limit of at most 2**64, which follows from key and purpose."""
        return self._digest(f"\0{purpose}") % limit

    def counts(self) -> dict[str, int]:
        """How many different texts of each kind were replaced, by kind in the order of the alphabet."""
        return {kind: len(self._seen[kind]) for kind in sorted(self._seen)}

    def _digest(self, text: str) -> int:
        data = text.encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(data, digest_size=8, key=self._key).digest(), "big")
