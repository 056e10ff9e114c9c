"""The numbers of a region under the keys of the vendor's dump, and what follows from them: remedies and the verdict.

Of the vendor's signals the simulated device leaves out none that it has: what stays zero, such as batched copies, it never does.
"""

from __future__ import annotations

import os
from typing import Any, Final

from rblnpb.torch.explain_counts import BOUNCES, SLOW_COPIES, Group, Sum, Tally
from rblnpb.torch.explain_memory import DeviceMemory

__all__ = ["HIDDEN_BOUNCES", "REJECTIONS", "REMEDIES", "dump_of", "fired", "signal_count", "site_label", "verdict_of"]

Dump = dict[str, Any]

HIDDEN_BOUNCES: Final = BOUNCES[:4]
"""Those that go through the host; the others split one copy into several."""

REJECTIONS: Final = {"dtype_mismatch": "align the src/dst dtype", "src_not_on_device": "let the device use the source first"}
"""Why the runtime refused to copy on the device, and what a user can do about it."""

REMEDIES: Final = {
    "copy_d2d_host_bounce": "the copy from device to device went through the host: give both tensors the same, contiguous layout",
    "copy_h2d_staging": "the source was made contiguous, or converted, on the host first: do that once, outside of the loop",
    "copy_h2d_noncontig_dst": "the copy wrote into a part of a device tensor: copy into a contiguous one first",
    "strided_v2v_cpu_fallback": "the device could not copy in such strides: fewer and longer contiguous pieces suit it",
    "v2v_batch_to_per_entry": "a batch of copies was done one by one: fewer entries for each target fit into one batch",
    "host_batch_to_per_entry": "a batch of copies by the host was done one by one",
    "src_not_on_device": "the host had the newest values: use the tensor on the device before it is copied",
    "src_device_only_real_d2h": "the device alone had the values, which crossed to the host: copy with the same dtype or layout",
    "src_synced_host_served": "host and device both had the values, and the host copied them: usually cheap",
    "dtype_mismatch": REJECTIONS["dtype_mismatch"],
    "internal_fallback": "a matter inside of the runtime: nothing that a program can change",
    "cpu_fallback": "the operator ran on the CPU: compile the model, or give it float16 without NaN and infinity",
    "recompile": "a program was compiled: expected on first use; where it recurs, keep shapes the same, by padding or buckets",
}
"""What to do about each signal."""

_OWN_KERNELS: Final = frozenset({"aten::mm", "aten::bmm", "aten::addmm", "aten::baddbmm", "aten::convolution"})
"""Operators that have a kernel of their own; all others take the long way through the one for everything."""


def dump_of(tally: Tally, wall_ns: int, memory: DeviceMemory) -> Dump:
    """The dump of a region.

    Args:
        tally: What happened in it.
        wall_ns: How long it was open.
        memory: Of the device, as it is now.
    """
    fallback, bounces = tally.total(Group.FALLBACK), tally.by_name(Group.BOUNCE)
    recompiled, warm = tally.total(Group.RECOMPILATION).count, tally.total(Group.WARM).count
    by_op = {op: total.count for op, total in tally.by_name(Group.FALLBACK).items()}
    hidden = [bounces.get(site, Sum()) for site in HIDDEN_BOUNCES]
    dump: Dump = {
        "hidden_host_bounce": {
            "by_site": {site: _moved(bounces.get(site, Sum())) for site in BOUNCES},
            "total_count": sum(total.count for total in hidden),
            "total_bytes": sum(total.size_bytes for total in hidden),
        },
        "dispatch": {
            "total": fallback.count + warm + recompiled,
            "cpu_fallback": fallback.count,
            "cpu_fallback_ns": fallback.duration_ns,
            "warm_hit": warm,
            "recompile_miss": recompiled,
        },
        "wall_ns": wall_ns,
        "cpu_fallback_by_op": by_op,
        "recompile_by_op": {op: total.count for op, total in tally.by_name(Group.RECOMPILATION).items()},
        "cpu_fallback_reasons": {reason: total.count for reason, total in tally.by_reason(Group.FALLBACK).items()},
        "trace_by_op": dict(tally.places),
        "runtime_residency": _residency(tally),
        "device_memory": {"current_bytes": memory.current_bytes, "peak_bytes": memory.peak_bytes},
        "host_threads": _host_threads(),
        "rebel_runtime": _runtime_time(tally, wall_ns),
        "pending_runtime_signals": [],
        "cpu_fallback_unaccelerated": [op for op in by_op if op.split(".")[0] not in _OWN_KERNELS],
    }
    return {**dump, "notes": [{"signal": signal, "fix": REMEDIES[cause]} for signal, cause in fired(dump)]}


def _moved(total: Sum) -> dict[str, int]:
    return {"count": total.count, "bytes": total.size_bytes}


def _residency(tally: Tally) -> Dump:
    by_state, rejected = tally.by_name(Group.SLOW_COPY), tally.by_reason(Group.SLOW_COPY)
    known = {reason: _moved(total) for reason, total in rejected.items() if reason in REJECTIONS}
    internal = [total for reason, total in rejected.items() if reason not in REJECTIONS]
    return {
        "available": True,
        "total_count": tally.total(Group.SLOW_COPY).count,
        "by_reason": {state: _moved(by_state.get(state, Sum())) for state in SLOW_COPIES},
        "real_host_sync_d2h": _moved(tally.total(Group.CROSSING, "d2h")),
        "real_host_sync_h2d": _moved(tally.total(Group.CROSSING, "h2d")),
        "reject": {
            "user_actionable": known,
            "internal_fallback": _moved(sum(internal, Sum())),
        },
        "debug": {},
    }


def _runtime_time(tally: Tally, wall_ns: int) -> Dump:
    calls = tally.by_name(Group.PRIMITIVE)
    total_ns = sum(total.duration_ns for total in calls.values())
    return {
        "total_ns": total_ns,
        "wall_fraction": total_ns / wall_ns if wall_ns else 0.0,
        "by_primitive": {name: {"ns": total.duration_ns, "calls": total.count} for name, total in calls.items()},
    }


def _host_threads() -> Dump:
    # Late, so that dumps can be shown where there is no torch.
    import torch

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0
    threads = torch.get_num_threads()
    return {"cores": cores, "torch_threads": threads, "intended_threads": threads, "oversubscribed": 0 < cores < threads}


def site_label(site: str) -> str:
    """A place of a bounce as reports spell it."""
    return "d2d_copy" if site == "copy_d2d_host_bounce" else site


def fired(dump: Dump) -> list[tuple[str, str]]:
    """What happened in a region: signals as reports name them, with the cause by which `REMEDIES` knows them."""
    sites = dump["hidden_host_bounce"]["by_site"]
    found = [(f"host_bounce/{site_label(site)}", site) for site, moved in sites.items() if moved["count"]]
    residency = dump["runtime_residency"]
    found += [(f"runtime/v2v_slow:{state}", state) for state, moved in residency["by_reason"].items() if moved["count"]]
    found += [(f"runtime/v2v_reject:{reason}", reason) for reason in residency["reject"]["user_actionable"]]
    if residency["reject"]["internal_fallback"]["count"]:
        found.append(("runtime/v2v_reject:internal_fallback", "internal_fallback"))
    if dump["dispatch"]["cpu_fallback"]:
        found.append(("dispatch/cpu_fallback", "cpu_fallback"))
    if dump["dispatch"]["recompile_miss"]:
        found.append(("dispatch/recompile", "recompile"))
    return found


def signal_count(dump: Dump) -> int:
    """How many of the four kinds of hidden work happened."""
    counts = dump["hidden_host_bounce"]["total_count"], dump["runtime_residency"]["total_count"]
    return sum(count > 0 for count in (*counts, dump["dispatch"]["cpu_fallback"], dump["dispatch"]["recompile_miss"]))


def verdict_of(dump: Dump) -> Dump:
    """Whether anything hidden happened, and what: for a check in a test run."""
    bounce, residency, dispatch = dump["hidden_host_bounce"], dump["runtime_residency"], dump["dispatch"]
    crossed = residency["real_host_sync_d2h"]
    said = (
        (bounce["total_count"], f"host bounces: {bounce['total_count']:,}, {bounce['total_bytes']:,} bytes"),
        (residency["total_count"], f"device copies served by the host: {residency['total_count']:,}"),
        (residency["total_count"] and crossed["count"], f"physical d2h: {crossed['count']:,}, {crossed['bytes']:,} bytes"),
        (dispatch["recompile_miss"], f"recompilations: {dispatch['recompile_miss']:,}"),
        (dispatch["cpu_fallback"], f"operators on the CPU: {dispatch['cpu_fallback']:,}"),
    )
    reasons = [text for count, text in said if count]
    return {
        "clean": not reasons,
        "hidden_host_bounces": bounce["total_count"],
        "hidden_host_bounce_bytes": bounce["total_bytes"],
        "runtime_hidden_d2h": residency["total_count"],
        "runtime_hidden_by_reason": residency["by_reason"],
        "cpu_fallbacks": dispatch["cpu_fallback"],
        "recompiles": dispatch["recompile_miss"],
        "reasons": reasons or ["no host bounce, no operator on the CPU, no recompilation"],
        "notes": dump["notes"],
    }
