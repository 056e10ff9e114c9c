from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Codec(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CODEC_UNSPECIFIED: _ClassVar[Codec]
    CODEC_ZSTD: _ClassVar[Codec]
    CODEC_ZLIB: _ClassVar[Codec]

class Transform(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRANSFORM_UNSPECIFIED: _ClassVar[Transform]
    TRANSFORM_DELTA_ZIGZAG: _ClassVar[Transform]
    TRANSFORM_BYTE_SHUFFLE: _ClassVar[Transform]

class HostActivity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HOST_ACTIVITY_UNSPECIFIED: _ClassVar[HostActivity]
    HOST_ACTIVITY_SUBMIT: _ClassVar[HostActivity]
    HOST_ACTIVITY_COPY_IN: _ClassVar[HostActivity]
    HOST_ACTIVITY_COPY_OUT: _ClassVar[HostActivity]
    HOST_ACTIVITY_WAIT: _ClassVar[HostActivity]
    HOST_ACTIVITY_COMPILE: _ClassVar[HostActivity]

class OverheadKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OVERHEAD_KIND_UNSPECIFIED: _ClassVar[OverheadKind]
    OVERHEAD_KIND_CPU_FALLBACK: _ClassVar[OverheadKind]
    OVERHEAD_KIND_RECOMPILATION: _ClassVar[OverheadKind]
    OVERHEAD_KIND_HOST_COPY: _ClassVar[OverheadKind]
CODEC_UNSPECIFIED: Codec
CODEC_ZSTD: Codec
CODEC_ZLIB: Codec
TRANSFORM_UNSPECIFIED: Transform
TRANSFORM_DELTA_ZIGZAG: Transform
TRANSFORM_BYTE_SHUFFLE: Transform
HOST_ACTIVITY_UNSPECIFIED: HostActivity
HOST_ACTIVITY_SUBMIT: HostActivity
HOST_ACTIVITY_COPY_IN: HostActivity
HOST_ACTIVITY_COPY_OUT: HostActivity
HOST_ACTIVITY_WAIT: HostActivity
HOST_ACTIVITY_COMPILE: HostActivity
OVERHEAD_KIND_UNSPECIFIED: OverheadKind
OVERHEAD_KIND_CPU_FALLBACK: OverheadKind
OVERHEAD_KIND_RECOMPILATION: OverheadKind
OVERHEAD_KIND_HOST_COPY: OverheadKind

class Chunk(_message.Message):
    __slots__ = ("count", "clock_id", "first_ordinal", "launches", "device_slices", "workload_slices", "dependencies", "host_slices", "overheads", "counters", "trace_events")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    CLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    FIRST_ORDINAL_FIELD_NUMBER: _ClassVar[int]
    LAUNCHES_FIELD_NUMBER: _ClassVar[int]
    DEVICE_SLICES_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_SLICES_FIELD_NUMBER: _ClassVar[int]
    DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    HOST_SLICES_FIELD_NUMBER: _ClassVar[int]
    OVERHEADS_FIELD_NUMBER: _ClassVar[int]
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    TRACE_EVENTS_FIELD_NUMBER: _ClassVar[int]
    count: int
    clock_id: int
    first_ordinal: int
    launches: LaunchColumns
    device_slices: DeviceSliceColumns
    workload_slices: WorkloadSliceColumns
    dependencies: DependencyColumns
    host_slices: HostSliceColumns
    overheads: OverheadColumns
    counters: CounterColumns
    trace_events: TraceEventColumns
    def __init__(self, count: _Optional[int] = ..., clock_id: _Optional[int] = ..., first_ordinal: _Optional[int] = ..., launches: _Optional[_Union[LaunchColumns, _Mapping]] = ..., device_slices: _Optional[_Union[DeviceSliceColumns, _Mapping]] = ..., workload_slices: _Optional[_Union[WorkloadSliceColumns, _Mapping]] = ..., dependencies: _Optional[_Union[DependencyColumns, _Mapping]] = ..., host_slices: _Optional[_Union[HostSliceColumns, _Mapping]] = ..., overheads: _Optional[_Union[OverheadColumns, _Mapping]] = ..., counters: _Optional[_Union[CounterColumns, _Mapping]] = ..., trace_events: _Optional[_Union[TraceEventColumns, _Mapping]] = ...) -> None: ...

class Column(_message.Message):
    __slots__ = ("u8", "u32", "u64", "f64", "packed", "constant", "validity")
    U8_FIELD_NUMBER: _ClassVar[int]
    U32_FIELD_NUMBER: _ClassVar[int]
    U64_FIELD_NUMBER: _ClassVar[int]
    F64_FIELD_NUMBER: _ClassVar[int]
    PACKED_FIELD_NUMBER: _ClassVar[int]
    CONSTANT_FIELD_NUMBER: _ClassVar[int]
    VALIDITY_FIELD_NUMBER: _ClassVar[int]
    u8: bytes
    u32: _containers.RepeatedScalarFieldContainer[int]
    u64: _containers.RepeatedScalarFieldContainer[int]
    f64: _containers.RepeatedScalarFieldContainer[float]
    packed: PackedValues
    constant: int
    validity: Validity
    def __init__(self, u8: _Optional[bytes] = ..., u32: _Optional[_Iterable[int]] = ..., u64: _Optional[_Iterable[int]] = ..., f64: _Optional[_Iterable[float]] = ..., packed: _Optional[_Union[PackedValues, _Mapping]] = ..., constant: _Optional[int] = ..., validity: _Optional[_Union[Validity, _Mapping]] = ...) -> None: ...

class PackedValues(_message.Message):
    __slots__ = ("codec", "transforms", "value_width", "stored_width", "first_value", "data")
    CODEC_FIELD_NUMBER: _ClassVar[int]
    TRANSFORMS_FIELD_NUMBER: _ClassVar[int]
    VALUE_WIDTH_FIELD_NUMBER: _ClassVar[int]
    STORED_WIDTH_FIELD_NUMBER: _ClassVar[int]
    FIRST_VALUE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    codec: Codec
    transforms: _containers.RepeatedScalarFieldContainer[Transform]
    value_width: int
    stored_width: int
    first_value: int
    data: bytes
    def __init__(self, codec: _Optional[_Union[Codec, str]] = ..., transforms: _Optional[_Iterable[_Union[Transform, str]]] = ..., value_width: _Optional[int] = ..., stored_width: _Optional[int] = ..., first_value: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...

class Validity(_message.Message):
    __slots__ = ("bits", "codec")
    BITS_FIELD_NUMBER: _ClassVar[int]
    CODEC_FIELD_NUMBER: _ClassVar[int]
    bits: bytes
    codec: Codec
    def __init__(self, bits: _Optional[bytes] = ..., codec: _Optional[_Union[Codec, str]] = ...) -> None: ...

class TextColumn(_message.Message):
    __slots__ = ("size_bytes", "text", "codec")
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CODEC_FIELD_NUMBER: _ClassVar[int]
    size_bytes: Column
    text: bytes
    codec: Codec
    def __init__(self, size_bytes: _Optional[_Union[Column, _Mapping]] = ..., text: _Optional[bytes] = ..., codec: _Optional[_Union[Codec, str]] = ...) -> None: ...

class LaunchColumns(_message.Message):
    __slots__ = ("launch_id", "program_id", "start_ns", "process_id", "thread_id", "instance", "sequence")
    LAUNCH_ID_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_ID_FIELD_NUMBER: _ClassVar[int]
    START_NS_FIELD_NUMBER: _ClassVar[int]
    PROCESS_ID_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    launch_id: Column
    program_id: Column
    start_ns: Column
    process_id: Column
    thread_id: Column
    instance: Column
    sequence: Column
    def __init__(self, launch_id: _Optional[_Union[Column, _Mapping]] = ..., program_id: _Optional[_Union[Column, _Mapping]] = ..., start_ns: _Optional[_Union[Column, _Mapping]] = ..., process_id: _Optional[_Union[Column, _Mapping]] = ..., thread_id: _Optional[_Union[Column, _Mapping]] = ..., instance: _Optional[_Union[Column, _Mapping]] = ..., sequence: _Optional[_Union[Column, _Mapping]] = ...) -> None: ...

class DeviceSliceColumns(_message.Message):
    __slots__ = ("command_row", "engine_id", "start_ticks", "duration_ticks", "launch_id", "instance", "sequence", "workload", "compute_cycles", "size_bytes", "name_strindex", "stage_strindex", "event_ordinal")
    COMMAND_ROW_FIELD_NUMBER: _ClassVar[int]
    ENGINE_ID_FIELD_NUMBER: _ClassVar[int]
    START_TICKS_FIELD_NUMBER: _ClassVar[int]
    DURATION_TICKS_FIELD_NUMBER: _ClassVar[int]
    LAUNCH_ID_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    COMPUTE_CYCLES_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    NAME_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    STAGE_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    EVENT_ORDINAL_FIELD_NUMBER: _ClassVar[int]
    command_row: Column
    engine_id: Column
    start_ticks: Column
    duration_ticks: Column
    launch_id: Column
    instance: Column
    sequence: Column
    workload: Column
    compute_cycles: Column
    size_bytes: Column
    name_strindex: Column
    stage_strindex: Column
    event_ordinal: Column
    def __init__(self, command_row: _Optional[_Union[Column, _Mapping]] = ..., engine_id: _Optional[_Union[Column, _Mapping]] = ..., start_ticks: _Optional[_Union[Column, _Mapping]] = ..., duration_ticks: _Optional[_Union[Column, _Mapping]] = ..., launch_id: _Optional[_Union[Column, _Mapping]] = ..., instance: _Optional[_Union[Column, _Mapping]] = ..., sequence: _Optional[_Union[Column, _Mapping]] = ..., workload: _Optional[_Union[Column, _Mapping]] = ..., compute_cycles: _Optional[_Union[Column, _Mapping]] = ..., size_bytes: _Optional[_Union[Column, _Mapping]] = ..., name_strindex: _Optional[_Union[Column, _Mapping]] = ..., stage_strindex: _Optional[_Union[Column, _Mapping]] = ..., event_ordinal: _Optional[_Union[Column, _Mapping]] = ...) -> None: ...

class WorkloadSliceColumns(_message.Message):
    __slots__ = ("engine_id", "start_ticks", "duration_ticks", "launch_id", "program_id", "instance", "sequence", "workload")
    ENGINE_ID_FIELD_NUMBER: _ClassVar[int]
    START_TICKS_FIELD_NUMBER: _ClassVar[int]
    DURATION_TICKS_FIELD_NUMBER: _ClassVar[int]
    LAUNCH_ID_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_ID_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    engine_id: Column
    start_ticks: Column
    duration_ticks: Column
    launch_id: Column
    program_id: Column
    instance: Column
    sequence: Column
    workload: Column
    def __init__(self, engine_id: _Optional[_Union[Column, _Mapping]] = ..., start_ticks: _Optional[_Union[Column, _Mapping]] = ..., duration_ticks: _Optional[_Union[Column, _Mapping]] = ..., launch_id: _Optional[_Union[Column, _Mapping]] = ..., program_id: _Optional[_Union[Column, _Mapping]] = ..., instance: _Optional[_Union[Column, _Mapping]] = ..., sequence: _Optional[_Union[Column, _Mapping]] = ..., workload: _Optional[_Union[Column, _Mapping]] = ...) -> None: ...

class DependencyColumns(_message.Message):
    __slots__ = ("predecessor_ordinal", "successor_ordinal")
    PREDECESSOR_ORDINAL_FIELD_NUMBER: _ClassVar[int]
    SUCCESSOR_ORDINAL_FIELD_NUMBER: _ClassVar[int]
    predecessor_ordinal: Column
    successor_ordinal: Column
    def __init__(self, predecessor_ordinal: _Optional[_Union[Column, _Mapping]] = ..., successor_ordinal: _Optional[_Union[Column, _Mapping]] = ...) -> None: ...

class HostSliceColumns(_message.Message):
    __slots__ = ("activity", "start_ns", "duration_ns", "process_id", "thread_id", "launch_id", "size_bytes")
    ACTIVITY_FIELD_NUMBER: _ClassVar[int]
    START_NS_FIELD_NUMBER: _ClassVar[int]
    DURATION_NS_FIELD_NUMBER: _ClassVar[int]
    PROCESS_ID_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    LAUNCH_ID_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    activity: Column
    start_ns: Column
    duration_ns: Column
    process_id: Column
    thread_id: Column
    launch_id: Column
    size_bytes: Column
    def __init__(self, activity: _Optional[_Union[Column, _Mapping]] = ..., start_ns: _Optional[_Union[Column, _Mapping]] = ..., duration_ns: _Optional[_Union[Column, _Mapping]] = ..., process_id: _Optional[_Union[Column, _Mapping]] = ..., thread_id: _Optional[_Union[Column, _Mapping]] = ..., launch_id: _Optional[_Union[Column, _Mapping]] = ..., size_bytes: _Optional[_Union[Column, _Mapping]] = ...) -> None: ...

class OverheadColumns(_message.Message):
    __slots__ = ("overhead", "op_strindex", "reason_strindex", "place_strindex", "start_ns", "duration_ns", "thread_id", "size_bytes")
    OVERHEAD_FIELD_NUMBER: _ClassVar[int]
    OP_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    REASON_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    PLACE_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    START_NS_FIELD_NUMBER: _ClassVar[int]
    DURATION_NS_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    overhead: Column
    op_strindex: Column
    reason_strindex: Column
    place_strindex: Column
    start_ns: Column
    duration_ns: Column
    thread_id: Column
    size_bytes: Column
    def __init__(self, overhead: _Optional[_Union[Column, _Mapping]] = ..., op_strindex: _Optional[_Union[Column, _Mapping]] = ..., reason_strindex: _Optional[_Union[Column, _Mapping]] = ..., place_strindex: _Optional[_Union[Column, _Mapping]] = ..., start_ns: _Optional[_Union[Column, _Mapping]] = ..., duration_ns: _Optional[_Union[Column, _Mapping]] = ..., thread_id: _Optional[_Union[Column, _Mapping]] = ..., size_bytes: _Optional[_Union[Column, _Mapping]] = ...) -> None: ...

class CounterColumns(_message.Message):
    __slots__ = ("name_strindex", "device_id", "time_ticks", "value")
    NAME_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    TIME_TICKS_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name_strindex: Column
    device_id: Column
    time_ticks: Column
    value: Column
    def __init__(self, name_strindex: _Optional[_Union[Column, _Mapping]] = ..., device_id: _Optional[_Union[Column, _Mapping]] = ..., time_ticks: _Optional[_Union[Column, _Mapping]] = ..., value: _Optional[_Union[Column, _Mapping]] = ...) -> None: ...

class TraceEventColumns(_message.Message):
    __slots__ = ("phase", "category_strindex", "name_strindex", "process_strindex", "thread_strindex", "start_ns", "duration_ns", "id_strindex", "arguments", "layout_strindex", "id_number", "text")
    PHASE_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    NAME_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    PROCESS_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    THREAD_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    START_NS_FIELD_NUMBER: _ClassVar[int]
    DURATION_NS_FIELD_NUMBER: _ClassVar[int]
    ID_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    ID_NUMBER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    phase: Column
    category_strindex: Column
    name_strindex: Column
    process_strindex: Column
    thread_strindex: Column
    start_ns: Column
    duration_ns: Column
    id_strindex: Column
    arguments: TextColumn
    layout_strindex: Column
    id_number: Column
    text: TextColumn
    def __init__(self, phase: _Optional[_Union[Column, _Mapping]] = ..., category_strindex: _Optional[_Union[Column, _Mapping]] = ..., name_strindex: _Optional[_Union[Column, _Mapping]] = ..., process_strindex: _Optional[_Union[Column, _Mapping]] = ..., thread_strindex: _Optional[_Union[Column, _Mapping]] = ..., start_ns: _Optional[_Union[Column, _Mapping]] = ..., duration_ns: _Optional[_Union[Column, _Mapping]] = ..., id_strindex: _Optional[_Union[Column, _Mapping]] = ..., arguments: _Optional[_Union[TextColumn, _Mapping]] = ..., layout_strindex: _Optional[_Union[Column, _Mapping]] = ..., id_number: _Optional[_Union[Column, _Mapping]] = ..., text: _Optional[_Union[TextColumn, _Mapping]] = ...) -> None: ...

class TraceDocument(_message.Message):
    __slots__ = ("base_time_ns", "name", "around")
    BASE_TIME_NS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    AROUND_FIELD_NUMBER: _ClassVar[int]
    base_time_ns: int
    name: str
    around: TextColumn
    def __init__(self, base_time_ns: _Optional[int] = ..., name: _Optional[str] = ..., around: _Optional[_Union[TextColumn, _Mapping]] = ...) -> None: ...
