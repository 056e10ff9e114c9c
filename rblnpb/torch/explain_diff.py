"""Two regions against each other: what was there once, and what recurs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rblnpb.torch.explain_report import format_bytes, render_table, short_place

__all__ = ["RBLNDiff"]

Dump = dict[str, Any]


class RBLNDiff:
    """From region A to region B; whoever placed them knows what lies between. Its text is `str(diff)`."""

    def __init__(self, a: Dump, b: Dump) -> None:
        """From the dumps of two regions."""
        self._a, self._b = a, b

    def dump(self) -> Dump:
        """What was in A or B.

        Returns:
            `signals` by name, each with `a`, `b` and, where bytes are moved, `a_bytes`, `b_bytes`; names under `persists` (in B),
            `gone` and `appeared`; `persists_by_op` of B; `device_memory`.
        """
        signals = {name: entry for name, entry in zip(_entries(self._a), self._joined(), strict=True) if entry["a"] or entry["b"]}
        places = self._b["trace_by_op"]
        return {
            "signals": signals,
            "persists": [name for name, entry in signals.items() if entry["b"]],
            "gone": [name for name, entry in signals.items() if not entry["b"]],
            "appeared": [name for name, entry in signals.items() if not entry["a"]],
            "persists_by_op": [
                {"signal": signal, "op": op, "count": count, "at": places.get(op)}
                for signal in ("cpu_fallback", "recompile")
                for op, count in self._b[f"{signal}_by_op"].items()
            ],
            "device_memory": {
                f"{side}_peak_bytes": dump["device_memory"]["peak_bytes"] for side, dump in (("a", self._a), ("b", self._b))
            },
        }

    def report(self) -> str:
        """For people."""
        found = self.dump()
        rows = [
            [name, f"{entry['a']:,}", f"{entry['b']:,}", *(_bytes_text(entry, f"{side}_bytes") for side in "ab"), _mark(entry)]
            for name, entry in found["signals"].items()
        ]
        lines = ["RBLN EXPLAIN DIFF   (A -> B; you placed both points)", ""]
        lines += render_table(("Signal", "A", "B", "A bytes", "B bytes", ""), rows, left=frozenset((0, 5)))
        if found["persists"]:
            lines += ["", "  >> persists across your two points -> recurring overhead, act on these:", *self._recurring(found)]
        else:
            lines += ["", "  nothing persists across your two points"]
        return "\n".join(lines)

    __str__ = __repr__ = report

    def _joined(self) -> Iterator[Dump]:
        for (a_count, a_bytes), (b_count, b_bytes) in zip(_entries(self._a).values(), _entries(self._b).values(), strict=True):
            moved = {} if a_bytes is None or b_bytes is None else {"a_bytes": a_bytes, "b_bytes": b_bytes}
            yield {"a": a_count, "b": b_count, **moved}

    @staticmethod
    def _recurring(found: Dump) -> Iterator[str]:
        by_op = {"cpu_fallback", "recompile"}
        for name in found["persists"]:
            if name not in by_op:
                yield f"    {name}: {found['signals'][name]['b']:,}"
        for entry in found["persists_by_op"]:
            at = f"  at {short_place(entry['at'])}" if entry["at"] else ""
            yield f"    {entry['signal']}: {entry['op']} {entry['count']:,}{at}"


def _entries(dump: Dump) -> dict[str, tuple[int, int | None]]:
    """Count and bytes of each row."""
    bounce, residency, dispatch = dump["hidden_host_bounce"], dump["runtime_residency"], dump["dispatch"]
    down, up = residency["real_host_sync_d2h"], residency["real_host_sync_h2d"]
    return {
        "host_bounce": (bounce["total_count"], bounce["total_bytes"]),
        "runtime/v2v_slow": (residency["total_count"], sum(moved["bytes"] for moved in residency["by_reason"].values())),
        "runtime/physical_d2h": (down["count"], down["bytes"]),
        "runtime/h2d_push": (up["count"], up["bytes"]),
        "cpu_fallback": (dispatch["cpu_fallback"], None),
        "recompile": (dispatch["recompile_miss"], None),
    }


def _mark(entry: Dump) -> str:
    return ">> persists" if entry["b"] else "gone in B"


def _bytes_text(entry: Dump, key: str) -> str:
    return format_bytes(entry[key]) if entry.get(key) else "--"
