"""`torch.rbln.explain()`: what a stretch of a program made the device do that nobody asked for. It counts; it takes no times.

The simulated device counts what it really does: operators that the CPU computed, programs compiled, copies that went through the
host. While a profile is recorded, the same things are in it one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from rblnpb.torch.explain_counts import Counts, Tally
from rblnpb.torch.explain_diff import RBLNDiff
from rblnpb.torch.explain_dump import REMEDIES, dump_of, verdict_of
from rblnpb.torch.explain_memory import DeviceMemory
from rblnpb.torch.explain_report import render_report

__all__ = ["RBLNExplain", "explain_steady"]


class RBLNExplain:
    """A region: from `start` to `stop`, or a `with` block. Its numbers are of all threads; its text is `str(region)`."""

    def __init__(
        self,
        counts: Counts,
        memory: DeviceMemory,
        clock: Callable[[], int],
        with_stack: bool = False,  # noqa: FBT001, FBT002 -- the vendor's signature
        *,
        trace: bool | None = None,
    ) -> None:
        """A region that has not begun.

        Args:
            counts, memory: Of the process.
            clock: Of the region's wall time, ns.
            with_stack: Keep the line of the program that first led to each thing.
            trace: The older name of `with_stack`.
        """
        self._counts, self._memory, self._clock = counts, memory, clock
        self._is_tracing = with_stack if trace is None else trace
        self._before: Tally | None = None
        self._started_ns = 0
        self._dump: dict[str, Any] | None = None

    def start(self) -> RBLNExplain:
        """Begin.

        Raises:
            RuntimeError: A region is open: it counts for the whole process, so there is one at a time.
        """
        self._before = self._counts.open_region(is_tracing=self._is_tracing)
        self._started_ns = self._clock()
        return self

    def stop(self) -> RBLNExplain:
        """End.

        Raises:
            RuntimeError: It has not begun, or has ended.
        """
        if self._before is None:
            raise RuntimeError("this region of torch.rbln.explain() is not open: start() comes before stop()")
        wall_ns = self._clock() - self._started_ns
        happened = self._counts.close_region().since(self._before)
        self._before = None
        self._dump = dump_of(happened, wall_ns, self._memory)
        return self

    def __enter__(self) -> RBLNExplain:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def dump(self) -> dict[str, Any]:
        """Every number, under the vendor's keys.

        Raises:
            RuntimeError: The region has not ended.
        """
        if self._dump is None:
            raise RuntimeError("this region of torch.rbln.explain() has not ended: stop() comes first")
        return self._dump

    def verdict(self) -> dict[str, Any]:
        """Whether anything hidden happened, and what."""
        return verdict_of(self.dump())

    def report(self) -> str:
        """For people."""
        return render_report(self.dump())

    def help(self, signal: str | None = None) -> str:
        """What to do about a signal, or about each of those that there were.

        Args:
            signal: As the report names it, such as "dispatch/cpu_fallback", or its last part.
        """
        if signal is None:
            notes = self.dump()["notes"]
            return "\n".join(f"{note['signal']}: {note['fix']}" for note in notes) or "nothing hidden happened"
        cause = signal.rpartition("/")[2].rpartition(":")[2]
        known = {"d2d_copy": "copy_d2d_host_bounce", "v2v_slow": "src_device_only_real_d2h"}
        return REMEDIES.get(known.get(cause, cause), f"there is no signal {signal!r}; there are: {', '.join(REMEDIES)}")

    def diff(self, other: RBLNExplain) -> RBLNDiff:
        """This region against a later one."""
        return RBLNDiff(self.dump(), other.dump())

    def __str__(self) -> str:
        return "<a region of torch.rbln.explain() that has not ended>" if self._dump is None else self.report()

    __repr__ = __str__


def explain_steady(
    region: Callable[[], RBLNExplain],
    function: Callable[[], Any],
    *,
    warmup: int = 2,
    return_cold: bool = False,
    as_diff: bool = False,
) -> RBLNExplain | tuple[RBLNExplain, RBLNExplain] | RBLNDiff:
    """A region around the first call of a function and one around a later call.

    Args:
        region: Makes a region.
        function: What is called.
        warmup: Calls between the two.
        return_cold: Give both regions, the first one first.
        as_diff: Give their difference.

    Returns:
        The later region, or as asked for.
    """
    with region() as cold:
        function()
    for _ in range(warmup):
        function()
    with region() as warm:
        function()
    if as_diff:
        return cold.diff(warm)
    return (cold, warm) if return_cold else warm
