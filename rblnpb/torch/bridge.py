"""The bridge to torch.profiler: a window that asks for PrivateUse1 gets the device's events beside the calls of the host.

Kineto takes plugins in C++ alone, so four methods of `torch.autograd.profiler.profile` are wrapped: where a window begins and ends,
where events are made of its result, and where its trace is written. The rows that come out are those of a plugin.

As in the vendor's release, operators own no device time unless that is chosen: the vendor's bridge never says which operator a
device event belongs to.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import torch
from torch.autograd import profiler
from torch.autograd.profiler_util import FunctionEvent

from rblnpb.errors import RblnpbError
from rblnpb.reader import read
from rblnpb.torch.activity import Activity, device_activity, owners
from rblnpb.torch.aliases import DEVICE_TYPE
from rblnpb.torch.session import DeviceSession
from rblnpb.torch.trace_file import add_device_rows

__all__ = ["install"]

_WINDOW: Final = "_rblnpb_window"


class _Window:
    """One profiling window: from the start of a recording to its profile, which is read back when the window is over."""

    def __init__(self, session: DeviceSession) -> None:
        self._session = session
        self._activity: Activity | None = None
        self._owners: tuple[int, ...] | None = None
        session.begin_window()

    def activity(self) -> Activity:
        """What the device did. The first call ends the recording."""
        if self._activity is None:
            path = self._session.end_window()
            self._activity = Activity() if path is None else _activity_of(path)
        return self._activity

    def owners(self, result: Any) -> tuple[int, ...]:
        """For each launch the id of its operator; 0 = none, as it always is unless attribution is chosen.

        Args:
            result: Kineto's result of the window.
        """
        activity = self.activity()
        if self._owners is None:
            is_wanted = self._session.is_attributing and activity.launches
            self._owners = owners(activity, _operators(result)) if is_wanted else (0,) * len(activity.launches)
        return self._owners


def _activity_of(path: Path) -> Activity:
    try:
        return device_activity(read(path))
    except RblnpbError:
        # The report has said so already; the host's events are whole without the device's.
        return Activity()


def _operators(result: Any) -> list[tuple[int, int, int, int]]:
    return [
        (event.device_resource_id(), event.start_ns(), event.end_ns(), event.correlation_id())
        for event in result.events()
        if event.activity_type() == "cpu_op"
    ]


def install(session: DeviceSession) -> None:
    """Wrap torch's profiler, for the rest of the process; windows that do not ask for the device are left as they are."""
    if session.is_bridged:
        kind: Any = profiler.profile
        kind._start_trace = _beginning(session, kind._start_trace)  # noqa: SLF001 -- see above
        kind.__exit__ = _ending(kind.__exit__)
        kind._parse_kineto_results = _parsing(kind._parse_kineto_results)  # noqa: SLF001
        kind.export_chrome_trace = _exporting(kind.export_chrome_trace)


def _window_of(profile: Any) -> _Window | None:
    return getattr(profile, _WINDOW, None)


def _beginning(session: DeviceSession, start: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(start)
    def start_trace(self: Any) -> Any:
        if self.use_device == DEVICE_TYPE and torch.profiler.ProfilerActivity.PrivateUse1 in self.kineto_activities:
            setattr(self, _WINDOW, _Window(session))
        return start(self)

    return start_trace


def _ending(leave: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(leave)
    def __exit__(self: Any, *error: Any) -> Any:  # noqa: N807 -- it becomes that method
        try:
            return leave(self, *error)
        finally:
            window = _window_of(self)
            if window is not None:
                window.activity()

    return __exit__


def _parsing(parse: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(parse)
    def parse_kineto_results(self: Any, result: Any, *args: Any, **kwargs: Any) -> Any:
        events = parse(self, result, *args, **kwargs)
        window = _window_of(self)
        if window is not None and window.activity().events:
            _link(events, window.activity(), window.owners(result), result.trace_start_ns())
            events.sort(key=lambda event: [event.time_range.start, -event.time_range.end])
        return events

    return parse_kineto_results


def _link(events: list[FunctionEvent], activity: Activity, owner_ids: tuple[int, ...], trace_start_ns: int) -> None:
    """Add the device's events, and their times to the operators that own them, by torch's own rule."""
    wanted = set(owner_ids) - {0}
    by_id = {
        event.id: event
        for event in events
        if event.id in wanted and event.activity_type == "cpu_op" and not event.is_async and event.linked_correlation_id == 0
    }
    for device_event in activity.events:
        owner_id = owner_ids[device_event.launch] if device_event.launch >= 0 else 0
        lane = activity.lanes[device_event.lane]
        event = FunctionEvent(
            id=0,
            name=device_event.name,
            overload_name="",
            trace_name=device_event.name,
            thread=lane.number,
            start_us=(device_event.start_ns - trace_start_ns) / 1000,
            end_us=(device_event.end_ns - trace_start_ns) / 1000,
            input_shapes=[],
            stack=[],
            use_device=DEVICE_TYPE,
            device_type=torch.autograd.DeviceType.PrivateUse1,
            device_resource_id=lane.number,
            flops=0,
            activity_type=lane.torch_category,
            linked_correlation_id=owner_id,
        )
        owner = by_id.get(owner_id)
        if owner is not None:
            owner.append_kernel(event.name, 0, event.time_range.end - event.time_range.start)
        events.append(event)


def _exporting(export: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(export)
    def export_chrome_trace(self: Any, path: str, *args: Any, **kwargs: Any) -> Any:
        done = export(self, path, *args, **kwargs)
        window = _window_of(self)
        if window is not None and window.activity().events:
            add_device_rows(path, window.activity(), window.owners(self.kineto_results))
        return done

    return export_chrome_trace
