from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NameStyle(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NAME_STYLE_UNSPECIFIED: _ClassVar[NameStyle]
    NAME_STYLE_MULTI_STREAM: _ClassVar[NameStyle]
    NAME_STYLE_SINGLE_STREAM: _ClassVar[NameStyle]
    NAME_STYLE_LEGACY: _ClassVar[NameStyle]

class ClockKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CLOCK_KIND_UNSPECIFIED: _ClassVar[ClockKind]
    CLOCK_KIND_HOST_MONOTONIC: _ClassVar[ClockKind]
    CLOCK_KIND_HOST_REALTIME: _ClassVar[ClockKind]
    CLOCK_KIND_DEVICE: _ClassVar[ClockKind]

class EngineKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ENGINE_KIND_UNSPECIFIED: _ClassVar[EngineKind]
    ENGINE_KIND_HOST: _ClassVar[EngineKind]
    ENGINE_KIND_NEURAL_ENGINE_CLUSTERS: _ClassVar[EngineKind]
    ENGINE_KIND_NEURAL_DMA: _ClassVar[EngineKind]
    ENGINE_KIND_TASK_DMA: _ClassVar[EngineKind]
    ENGINE_KIND_EXTERNAL_HDMA: _ClassVar[EngineKind]
    ENGINE_KIND_DEVICE_HDMA: _ClassVar[EngineKind]
    ENGINE_KIND_DEVICE_SYNC: _ClassVar[EngineKind]
    ENGINE_KIND_GENERAL_COMPUTE_ENGINE: _ClassVar[EngineKind]
    ENGINE_KIND_WORKLOAD: _ClassVar[EngineKind]
    ENGINE_KIND_COMPUTE: _ClassVar[EngineKind]
    ENGINE_KIND_COPY: _ClassVar[EngineKind]
    ENGINE_KIND_COLLECTIVE: _ClassVar[EngineKind]
    ENGINE_KIND_STREAM: _ClassVar[EngineKind]
    ENGINE_KIND_SYNC: _ClassVar[EngineKind]

class LossReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LOSS_REASON_UNSPECIFIED: _ClassVar[LossReason]
    LOSS_REASON_BUFFER_FULL: _ClassVar[LossReason]
    LOSS_REASON_DEVICE_OVERWRITE: _ClassVar[LossReason]
    LOSS_REASON_AFTER_END: _ClassVar[LossReason]
    LOSS_REASON_INVALID: _ClassVar[LossReason]
    LOSS_REASON_WRITE_FAILED: _ClassVar[LossReason]
NAME_STYLE_UNSPECIFIED: NameStyle
NAME_STYLE_MULTI_STREAM: NameStyle
NAME_STYLE_SINGLE_STREAM: NameStyle
NAME_STYLE_LEGACY: NameStyle
CLOCK_KIND_UNSPECIFIED: ClockKind
CLOCK_KIND_HOST_MONOTONIC: ClockKind
CLOCK_KIND_HOST_REALTIME: ClockKind
CLOCK_KIND_DEVICE: ClockKind
ENGINE_KIND_UNSPECIFIED: EngineKind
ENGINE_KIND_HOST: EngineKind
ENGINE_KIND_NEURAL_ENGINE_CLUSTERS: EngineKind
ENGINE_KIND_NEURAL_DMA: EngineKind
ENGINE_KIND_TASK_DMA: EngineKind
ENGINE_KIND_EXTERNAL_HDMA: EngineKind
ENGINE_KIND_DEVICE_HDMA: EngineKind
ENGINE_KIND_DEVICE_SYNC: EngineKind
ENGINE_KIND_GENERAL_COMPUTE_ENGINE: EngineKind
ENGINE_KIND_WORKLOAD: EngineKind
ENGINE_KIND_COMPUTE: EngineKind
ENGINE_KIND_COPY: EngineKind
ENGINE_KIND_COLLECTIVE: EngineKind
ENGINE_KIND_STREAM: EngineKind
ENGINE_KIND_SYNC: EngineKind
LOSS_REASON_UNSPECIFIED: LossReason
LOSS_REASON_BUFFER_FULL: LossReason
LOSS_REASON_DEVICE_OVERWRITE: LossReason
LOSS_REASON_AFTER_END: LossReason
LOSS_REASON_INVALID: LossReason
LOSS_REASON_WRITE_FAILED: LossReason

class Session(_message.Message):
    __slots__ = ("started_real_ns", "started_monotonic_ns", "host_name", "boot_id", "process_id", "process_name", "rank", "world_size", "tool_name", "tool_version", "name_style", "drained_after_each_run", "settings", "npu", "file_ordinal")
    STARTED_REAL_NS_FIELD_NUMBER: _ClassVar[int]
    STARTED_MONOTONIC_NS_FIELD_NUMBER: _ClassVar[int]
    HOST_NAME_FIELD_NUMBER: _ClassVar[int]
    BOOT_ID_FIELD_NUMBER: _ClassVar[int]
    PROCESS_ID_FIELD_NUMBER: _ClassVar[int]
    PROCESS_NAME_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    WORLD_SIZE_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    TOOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    NAME_STYLE_FIELD_NUMBER: _ClassVar[int]
    DRAINED_AFTER_EACH_RUN_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    NPU_FIELD_NUMBER: _ClassVar[int]
    FILE_ORDINAL_FIELD_NUMBER: _ClassVar[int]
    started_real_ns: int
    started_monotonic_ns: int
    host_name: str
    boot_id: str
    process_id: int
    process_name: str
    rank: int
    world_size: int
    tool_name: str
    tool_version: str
    name_style: NameStyle
    drained_after_each_run: bool
    settings: _containers.RepeatedCompositeFieldContainer[Setting]
    npu: str
    file_ordinal: int
    def __init__(self, started_real_ns: _Optional[int] = ..., started_monotonic_ns: _Optional[int] = ..., host_name: _Optional[str] = ..., boot_id: _Optional[str] = ..., process_id: _Optional[int] = ..., process_name: _Optional[str] = ..., rank: _Optional[int] = ..., world_size: _Optional[int] = ..., tool_name: _Optional[str] = ..., tool_version: _Optional[str] = ..., name_style: _Optional[_Union[NameStyle, str]] = ..., drained_after_each_run: bool = ..., settings: _Optional[_Iterable[_Union[Setting, _Mapping]]] = ..., npu: _Optional[str] = ..., file_ordinal: _Optional[int] = ...) -> None: ...

class Setting(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: str
    def __init__(self, name: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class Definitions(_message.Message):
    __slots__ = ("first_strindex", "strings", "clocks", "devices", "engines", "programs", "threads")
    FIRST_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    CLOCKS_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    ENGINES_FIELD_NUMBER: _ClassVar[int]
    PROGRAMS_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    first_strindex: int
    strings: _containers.RepeatedScalarFieldContainer[str]
    clocks: _containers.RepeatedCompositeFieldContainer[Clock]
    devices: _containers.RepeatedCompositeFieldContainer[Device]
    engines: _containers.RepeatedCompositeFieldContainer[Engine]
    programs: _containers.RepeatedCompositeFieldContainer[Program]
    threads: _containers.RepeatedCompositeFieldContainer[Thread]
    def __init__(self, first_strindex: _Optional[int] = ..., strings: _Optional[_Iterable[str]] = ..., clocks: _Optional[_Iterable[_Union[Clock, _Mapping]]] = ..., devices: _Optional[_Iterable[_Union[Device, _Mapping]]] = ..., engines: _Optional[_Iterable[_Union[Engine, _Mapping]]] = ..., programs: _Optional[_Iterable[_Union[Program, _Mapping]]] = ..., threads: _Optional[_Iterable[_Union[Thread, _Mapping]]] = ...) -> None: ...

class Clock(_message.Message):
    __slots__ = ("clock_id", "name_strindex", "nominal_hz", "width_bits", "device_id", "kind")
    CLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    NOMINAL_HZ_FIELD_NUMBER: _ClassVar[int]
    WIDTH_BITS_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    clock_id: int
    name_strindex: int
    nominal_hz: int
    width_bits: int
    device_id: int
    kind: ClockKind
    def __init__(self, clock_id: _Optional[int] = ..., name_strindex: _Optional[int] = ..., nominal_hz: _Optional[int] = ..., width_bits: _Optional[int] = ..., device_id: _Optional[int] = ..., kind: _Optional[_Union[ClockKind, str]] = ...) -> None: ...

class ClockSnapshots(_message.Message):
    __slots__ = ("snapshots",)
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    snapshots: _containers.RepeatedCompositeFieldContainer[ClockSnapshot]
    def __init__(self, snapshots: _Optional[_Iterable[_Union[ClockSnapshot, _Mapping]]] = ...) -> None: ...

class ClockSnapshot(_message.Message):
    __slots__ = ("clock_id", "value_ticks", "monotonic_before_ns", "monotonic_after_ns")
    CLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    VALUE_TICKS_FIELD_NUMBER: _ClassVar[int]
    MONOTONIC_BEFORE_NS_FIELD_NUMBER: _ClassVar[int]
    MONOTONIC_AFTER_NS_FIELD_NUMBER: _ClassVar[int]
    clock_id: int
    value_ticks: int
    monotonic_before_ns: int
    monotonic_after_ns: int
    def __init__(self, clock_id: _Optional[int] = ..., value_ticks: _Optional[int] = ..., monotonic_before_ns: _Optional[int] = ..., monotonic_after_ns: _Optional[int] = ...) -> None: ...

class Device(_message.Message):
    __slots__ = ("device_id", "name_strindex", "ordinal", "chiplet_count", "clock_id")
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    CHIPLET_COUNT_FIELD_NUMBER: _ClassVar[int]
    CLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    device_id: int
    name_strindex: int
    ordinal: int
    chiplet_count: int
    clock_id: int
    def __init__(self, device_id: _Optional[int] = ..., name_strindex: _Optional[int] = ..., ordinal: _Optional[int] = ..., chiplet_count: _Optional[int] = ..., clock_id: _Optional[int] = ...) -> None: ...

class Engine(_message.Message):
    __slots__ = ("engine_id", "device_id", "kind", "name_strindex", "chiplet", "display_order")
    ENGINE_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    CHIPLET_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_ORDER_FIELD_NUMBER: _ClassVar[int]
    engine_id: int
    device_id: int
    kind: EngineKind
    name_strindex: int
    chiplet: int
    display_order: int
    def __init__(self, engine_id: _Optional[int] = ..., device_id: _Optional[int] = ..., kind: _Optional[_Union[EngineKind, str]] = ..., name_strindex: _Optional[int] = ..., chiplet: _Optional[int] = ..., display_order: _Optional[int] = ...) -> None: ...

class Program(_message.Message):
    __slots__ = ("program_id", "name_strindex", "op_strindex", "compile_id_strindex", "first_command_index", "commands")
    PROGRAM_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    OP_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    COMPILE_ID_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    FIRST_COMMAND_INDEX_FIELD_NUMBER: _ClassVar[int]
    COMMANDS_FIELD_NUMBER: _ClassVar[int]
    program_id: int
    name_strindex: int
    op_strindex: int
    compile_id_strindex: int
    first_command_index: int
    commands: _containers.RepeatedCompositeFieldContainer[Command]
    def __init__(self, program_id: _Optional[int] = ..., name_strindex: _Optional[int] = ..., op_strindex: _Optional[int] = ..., compile_id_strindex: _Optional[int] = ..., first_command_index: _Optional[int] = ..., commands: _Optional[_Iterable[_Union[Command, _Mapping]]] = ...) -> None: ...

class Command(_message.Message):
    __slots__ = ("layer_strindex", "command_index", "engine_kind", "size_bytes", "predecessors", "chiplet")
    LAYER_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    COMMAND_INDEX_FIELD_NUMBER: _ClassVar[int]
    ENGINE_KIND_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    PREDECESSORS_FIELD_NUMBER: _ClassVar[int]
    CHIPLET_FIELD_NUMBER: _ClassVar[int]
    layer_strindex: int
    command_index: int
    engine_kind: EngineKind
    size_bytes: int
    predecessors: _containers.RepeatedScalarFieldContainer[int]
    chiplet: int
    def __init__(self, layer_strindex: _Optional[int] = ..., command_index: _Optional[int] = ..., engine_kind: _Optional[_Union[EngineKind, str]] = ..., size_bytes: _Optional[int] = ..., predecessors: _Optional[_Iterable[int]] = ..., chiplet: _Optional[int] = ...) -> None: ...

class Thread(_message.Message):
    __slots__ = ("thread_id", "name_strindex")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_STRINDEX_FIELD_NUMBER: _ClassVar[int]
    thread_id: int
    name_strindex: int
    def __init__(self, thread_id: _Optional[int] = ..., name_strindex: _Optional[int] = ...) -> None: ...

class Losses(_message.Message):
    __slots__ = ("losses",)
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    losses: _containers.RepeatedCompositeFieldContainer[Loss]
    def __init__(self, losses: _Optional[_Iterable[_Union[Loss, _Mapping]]] = ...) -> None: ...

class Loss(_message.Message):
    __slots__ = ("kind", "engine_id", "reason", "count", "is_lower_bound", "first_monotonic_ns", "last_monotonic_ns")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ENGINE_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    IS_LOWER_BOUND_FIELD_NUMBER: _ClassVar[int]
    FIRST_MONOTONIC_NS_FIELD_NUMBER: _ClassVar[int]
    LAST_MONOTONIC_NS_FIELD_NUMBER: _ClassVar[int]
    kind: int
    engine_id: int
    reason: LossReason
    count: int
    is_lower_bound: bool
    first_monotonic_ns: int
    last_monotonic_ns: int
    def __init__(self, kind: _Optional[int] = ..., engine_id: _Optional[int] = ..., reason: _Optional[_Union[LossReason, str]] = ..., count: _Optional[int] = ..., is_lower_bound: bool = ..., first_monotonic_ns: _Optional[int] = ..., last_monotonic_ns: _Optional[int] = ...) -> None: ...
