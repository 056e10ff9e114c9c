"""A region as text, in the layout of the vendor's report: what happened, what it cost, where it came from, what to try."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any, Final

from rblnpb.torch.explain_dump import HIDDEN_BOUNCES, REJECTIONS, signal_count, site_label

__all__ = ["format_bytes", "format_time", "render_report", "render_table", "short_place"]

Dump = dict[str, Any]

_TRIES: Final = {
    "copy_d2d_host_bounce": "make contiguous, or v2v engine",
    "copy_h2d_staging": "contiguous source of the same dtype",
    "copy_h2d_noncontig_dst": "contiguous target",
    "strided_v2v_cpu_fallback": "longer contiguous pieces",
    "v2v_batch_to_per_entry": "fewer entries a target",
    "host_batch_to_per_entry": "fewer entries a batch",
    "cpu_fallback": "graph mode, or a supported dtype",
    "recompile": "stabilize shapes, or graph mode",
}
_PRIMITIVES_SHOWN: Final = 4
_NOT_SHOWN_AS_ACTIONABLE: Final = "runtime-internal, not user-fixable"


def format_bytes(size_bytes: int) -> str:
    """An amount of memory in powers of 1024.

    >>> format_bytes(512), format_bytes(12892), format_bytes(5433133170)
    ('512 B', '12.59 KB', '5.06 GB')
    """
    if size_bytes < 1024:
        return f"{size_bytes} B"
    power = 1 + (size_bytes >= 1024**2) + (size_bytes >= 1024**3)
    return f"{size_bytes / 1024**power:.2f} {' KMG'[power]}B"


def format_time(time_ns: int, decimals: int = 3) -> str:
    """A length of time.

    >>> format_time(2_934_000), format_time(7_300_000, 1), format_time(500)
    ('2.934ms', '7.3ms', '0.500us')
    """
    unit, length = next(((unit, length) for unit, length in (("s", 10**9), ("ms", 10**6)) if time_ns >= length), ("us", 10**3))
    return f"{time_ns / length:.{decimals}f}{unit}"


def short_place(place: str) -> str:
    """Places with their last folder alone; "/.../" stands for what an absolute path has before it.

    >>> short_place("/srv/code/model/attention.py:12(build) <- train.py:3(main)")
    '/.../model/attention.py:12(build) <- train.py:3(main)'
    """
    return " <- ".join(map(_short_path, place.split(" <- ")))


def _short_path(place: str) -> str:
    path, colon, rest = place.partition(":")
    parts = PurePath(path).parts
    return f"/.../{'/'.join(parts[-2:])}{colon}{rest}" if path.startswith("/") and len(parts) > 3 else place


def render_table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, left: frozenset[int]) -> list[str]:
    """A table between lines, as torch.profiler draws them.

    Args:
        headers, rows: Texts of the cells.
        left: Columns that are aligned to the left, by place.
    """
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    rule = "  ".join("-" * width for width in widths)
    lines = [
        "  ".join(
            cell.ljust(width) if at in left else cell.rjust(width) for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (headers, *rows)
    ]
    return [rule, lines[0].rstrip(), rule, *(line.rstrip() for line in lines[1:]), rule]


def render_report(dump: Dump) -> str:
    """The report of a region."""
    count = signal_count(dump)
    mark = f"[overhead: {count} signal{'s' if count > 1 else ''}]" if count else "[clean]"
    memory = f"device mem {format_bytes(dump['device_memory']['peak_bytes'])} peak, reserved"
    lines = [f"{mark}  RBLN EXPLAIN   (region wall {format_time(dump['wall_ns'])} | {memory})"]
    if not count:
        lines.append("  checked: host_bounce, v2v_slow, cpu_fallback, recompile -- none fired")
        lines.append('  note: clean = no hidden host overhead, not "fast"')
        return "\n".join(lines)
    facts = list(_facts(dump))
    lines += ["", *facts] if facts else []
    lines += ["", *render_table(("Signal", "Count", "Bytes", "Note"), _signals(dump), left=frozenset((0, 3)))]
    for section in _sections(dump):
        lines += ["", *section]
    lines.append("")
    if not dump["trace_by_op"]:
        lines.append("  where? -> rerun with explain(with_stack=True)")
    lines.append("  (detail: p.help(signal) | raw: p.dump())")
    return "\n".join(lines)


def _facts(dump: Dump) -> Iterator[str]:
    """What says how to read the signals, and is none."""
    threads = dump["host_threads"]
    if threads["oversubscribed"]:
        cores = f"{threads['cores']} core{'s' if threads['cores'] > 1 else ''}"
        yield f"  ! host oversubscription: {threads['intended_threads']} threads / {cores} -> host latency may be inflated"
        yield "    (tune affinity / OMP_NUM_THREADS)"
    runtime = dump["rebel_runtime"]
    if runtime["total_ns"]:
        share = f"{100 * runtime['wall_fraction']:.1f}% of region wall"
        yield f"  rebel runtime: {format_time(runtime['total_ns'])} in librbln ({share})"
        calls = sorted(runtime["by_primitive"].items(), key=lambda item: -item[1]["ns"])
        texts = [f"{name} {format_time(call['ns'], 1)}/{call['calls']}" for name, call in calls[:_PRIMITIVES_SHOWN]]
        texts += [f"+{len(calls) - _PRIMITIVES_SHOWN} more"] if len(calls) > _PRIMITIVES_SHOWN else []
        yield f"    {'  '.join(texts)}"
    pushed = dump["runtime_residency"]["real_host_sync_h2d"]
    if pushed["count"]:
        yield f"  host->device push (runtime): {pushed['count']:,} pushes, {format_bytes(pushed['bytes'])}"


def _signals(dump: Dump) -> list[list[str]]:
    residency, dispatch = dump["runtime_residency"], dump["dispatch"]
    moving = [
        (f"host_bounce/{site_label(site)}", moved["count"], moved["bytes"], _TRIES[site])
        for site, moved in dump["hidden_host_bounce"]["by_site"].items()
        if moved["count"]
    ]
    if residency["total_count"]:
        size_bytes = sum(moved["bytes"] for moved in residency["by_reason"].values())
        moving.append(("runtime/v2v_slow", residency["total_count"], size_bytes, ""))
    cost = _cost(dump, len(moving))
    rows = [
        [signal, f"{count:,}", format_bytes(size_bytes), " | ".join([cost, *([f"try: {fix}"] if fix else [])])]
        for signal, count, size_bytes, fix in moving
    ]
    for signal, count in (("cpu_fallback", dispatch["cpu_fallback"]), ("recompile", dispatch["recompile_miss"])):
        if count:
            rows.append([f"dispatch/{signal}", f"{count:,}", "--", f"try: {_TRIES[signal]}"])
    return rows


def _cost(dump: Dump, row_count: int) -> str:
    """What the bytes of a row cost: only with one such row is it known which of them crossed."""
    if not dump["runtime_residency"]["real_host_sync_d2h"]["count"]:
        return "no DMA (low cost)"
    return "real d2h DMA (costly)" if row_count == 1 else "see physical d2h below"


def _sections(dump: Dump) -> Iterator[list[str]]:
    """What stands behind each signal, in the order of the table."""
    places: dict[str, str] = {name: short_place(place) for name, place in dump["trace_by_op"].items()}
    for site in HIDDEN_BOUNCES:
        if dump["hidden_host_bounce"]["by_site"][site]["count"] and site in places:
            yield [f"  host_bounce/{site_label(site)}:", f"    at {places[site]}"]
    residency, dispatch = dump["runtime_residency"], dump["dispatch"]
    if residency["total_count"]:
        states = "  ".join(f"{state} {moved['count']:,}" for state, moved in residency["by_reason"].items() if moved["count"])
        yield ["  runtime/v2v_slow:", f"    state:  {states}", *_rejections(residency["reject"])]
    if dispatch["cpu_fallback"]:
        reasons = "  ".join(f"{reason} {count:,}" for reason, count in dump["cpu_fallback_reasons"].items())
        head = f"  dispatch/cpu_fallback:  (sum {format_time(dispatch['cpu_fallback_ns'])} wall)"
        section = [head, *_by_op(dump["cpu_fallback_by_op"], places), f"    why: {reasons}"]
        slow = ", ".join(op.removeprefix("aten::") for op in dump["cpu_fallback_unaccelerated"])
        yield [*section, f"    candidates (no fast-path handler): {slow}"] if slow else section
    if dispatch["recompile_miss"]:
        yield ["  dispatch/recompile:", *_by_op(dump["recompile_by_op"], places)]
    if dump["hidden_host_bounce"]["total_count"] or residency["total_count"]:
        yield [f"  >> physical d2h (real transfer): {_crossing(dump)}"]


def _crossing(dump: Dump) -> str:
    residency = dump["runtime_residency"]
    crossed = residency["real_host_sync_d2h"]
    if not crossed["count"]:
        return "0 -- everything above served on host, no crossing"
    sites = dump["hidden_host_bounce"]["by_site"]
    signals = ["runtime/v2v_slow"] if residency["total_count"] else []
    signals = signals or [f"host_bounce/{site_label(site)}" for site in HIDDEN_BOUNCES if sites[site]["count"]][:1]
    return f"{crossed['count']:,} copies, {format_bytes(crossed['bytes'])} -- real device crossing (see {signals[0]})"


def _rejections(reject: Dump) -> list[str]:
    texts = [f"{reason} {moved['count']:,} -> {REJECTIONS[reason]}" for reason, moved in reject["user_actionable"].items()]
    internal = reject["internal_fallback"]["count"]
    texts += [f"internal_fallback {internal:,} ({_NOT_SHOWN_AS_ACTIONABLE})"] if internal else []
    return [f"    reject: {' | '.join(texts)}"] if texts else []


def _by_op(counts: dict[str, int], places: dict[str, str]) -> list[str]:
    """A line an operator: what it is, how often, and where the first time."""
    texts = {op: f"{count:,}" for op, count in counts.items()}
    name_width, count_width = max(map(len, texts)), max(map(len, texts.values()))
    return [
        f"    {op.ljust(name_width)}  {text.rjust(count_width)}" + (f"  at {places[op]}" if op in places else "")
        for op, text in texts.items()
    ]
