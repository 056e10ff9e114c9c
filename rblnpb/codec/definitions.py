"""Definitions: the tables that a session's records refer to, to values and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from rblnpb.clock import Clock, ClockKind
from rblnpb.codec.messages import Message, Unknowns, utf8
from rblnpb.codec.packing import CodecError
from rblnpb.columns import ABSENT
from rblnpb.profile import Commands, Device, Engine, EngineKind, Program
from rblnpb.v1 import session_pb2

__all__ = ["Tables", "encode_definitions"]


@dataclass(frozen=True)
class _Rows:
    """What one Definitions message adds; a parameter object of the encoder."""

    first_strindex: int = 0
    strings: Sequence[str] = ()
    clocks: Sequence[Clock] = ()
    devices: Sequence[Device] = ()
    engines: Sequence[Engine] = ()
    programs: Sequence[Program] = ()
    commands: Commands | None = None
    threads: Sequence[tuple[int, str]] = ()


def encode_definitions(strindex: Callable[[str], int], **rows: object) -> bytes:
    """The encoded Definitions of these rows.

    Args:
        strindex: Row of a text in the session's string table.
        **rows: `first_strindex` and `strings` (the new rows), `clocks`, `devices`, `engines`, `programs` with their
            `commands` (the session's whole table), `threads`.
    """
    new = _Rows(**rows)  # type: ignore[arg-type]  # the dataclass names what is allowed
    message = session_pb2.Definitions(first_strindex=new.first_strindex, strings=map(utf8, new.strings))
    for clock in new.clocks:
        message.clocks.add(
            clock_id=clock.clock_id,
            name_strindex=strindex(clock.name),
            nominal_hz=clock.nominal_hz,
            width_bits=clock.width_bits,
            device_id=clock.device_id,
            kind=int(clock.kind),
        )
    for device in new.devices:
        message.devices.add(
            device_id=device.device_id,
            name_strindex=strindex(device.name),
            ordinal=device.ordinal,
            chiplet_count=device.chiplet_count,
            clock_id=device.clock_id,
        )
    for engine in new.engines:
        row = message.engines.add(
            engine_id=engine.engine_id,
            device_id=engine.device_id,
            kind=int(engine.kind),
            name_strindex=strindex(engine.name),
            display_order=engine.display_order,
        )
        if engine.chiplet is not None:
            row.chiplet = engine.chiplet
    for program in new.programs:
        _add_program(message, program, new.commands or Commands.none(), strindex)
    for thread_id, name in new.threads:
        message.threads.add(thread_id=thread_id, name_strindex=strindex(name))
    encoded: bytes = message.SerializeToString(deterministic=True)
    return encoded


def _add_program(message: Message, program: Program, commands: Commands, strindex: Callable[[str], int]) -> None:
    row = message.programs.add(
        program_id=program.program_id,
        name_strindex=strindex(program.name),
        op_strindex=strindex(program.op),
        compile_id_strindex=strindex(program.compile_id),
        first_command_index=program.first_command_row,
    )
    first = program.first_command_row
    if program.command_count and not 1 <= first <= len(commands) - program.command_count:
        raise CodecError(f"program {program.program_id}: its commands are not in a table of {len(commands):,} rows")
    for command in range(first, first + program.command_count):
        added = row.commands.add(
            layer_strindex=int(commands.layer_strindex[command]),
            command_index=int(commands.command_index[command]),
            engine_kind=int(commands.engine_kind[command]),
            predecessors=[before - first for before in commands.predecessors(command)],
        )
        if commands.size_bytes[command] != ABSENT:
            added.size_bytes = int(commands.size_bytes[command])
        if commands.chiplet[command] != ABSENT:
            added.chiplet = int(commands.chiplet[command])


HOLE_LIMIT: Final = 1 << 20
"""Most rows of a table that may be missing between those that are there."""

_INT64_TOP: Final = (1 << 63) - 1


@dataclass
class Tables:
    """The tables of a session while its file is read; rows arrive packet by packet.

    A lost packet leaves a hole: strings of missing rows are "", commands of missing rows are of no program. A hole is at most
    HOLE_LIMIT rows long in all, so that a few bytes cannot ask for much memory. A row that is sent twice keeps its last value.
    """

    unknowns: Unknowns
    strings: list[str] = field(default_factory=lambda: [""])
    clocks: list[Clock] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)
    engines: list[Engine] = field(default_factory=list)
    programs: list[Program] = field(default_factory=list)
    threads: list[tuple[int, str]] = field(default_factory=list)
    _string_count: int = 1
    _commands: dict[int, tuple[int, Message]] = field(default_factory=dict)
    _first_rows: dict[int, int] = field(default_factory=dict)

    def add(self, message: Message) -> None:
        """Take the rows of a parsed Definitions, all or none.

        Raises:
            CodecError: A row is impossible.
        """
        self._refuse_impossible(message)
        if message.strings:
            self._place_strings(message.first_strindex, message.strings)
        for row in message.clocks:
            kind = self.unknowns.member(ClockKind, row.kind)
            width = row.width_bits or 64
            self.clocks.append(Clock(row.clock_id, self._text(row.name_strindex), row.nominal_hz, width, row.device_id, kind))
        for row in message.devices:
            name = self._text(row.name_strindex)
            self.devices.append(Device(row.device_id, name, row.ordinal, row.chiplet_count, row.clock_id))
        for row in message.engines:
            kind_of_engine = self.unknowns.member(EngineKind, row.kind)
            chiplet = row.chiplet if row.HasField("chiplet") else None
            name = self._text(row.name_strindex)
            self.engines.append(Engine(row.engine_id, row.device_id, kind_of_engine, name, chiplet, row.display_order))
        for row in message.programs:
            self._place_program(row)
        self.threads.extend((row.thread_id, self._text(row.name_strindex)) for row in message.threads)

    def _refuse_impossible(self, message: Message) -> None:
        if message.strings and not 1 <= message.first_strindex <= self._string_count + HOLE_LIMIT:
            raise CodecError(f"its strings begin at row {message.first_strindex:,} of a table of {len(self.strings):,}")
        for row in message.clocks:
            if row.width_bits > 64:
                raise CodecError(f"clock {row.clock_id} is {row.width_bits} bits wide; 1 to 64 are possible")
        known = len(self._commands) + 1
        for program in message.programs:
            first, count = program.first_command_index, len(program.commands)
            known += count
            if count and not 1 <= first <= known + HOLE_LIMIT:
                raise CodecError(f"program {program.program_id}: its commands begin at row {first:,}")
            for ordinal, command in enumerate(program.commands):
                if any(before >= count for before in command.predecessors):
                    raise CodecError(f"program {program.program_id}: a predecessor of command {ordinal} is none of its commands")
                if command.size_bytes > _INT64_TOP:
                    raise CodecError(f"program {program.program_id}: command {ordinal} moves {command.size_bytes:,} bytes")

    def _text(self, strindex: int) -> str:
        return self.strings[self._strindex(strindex)]

    def _strindex(self, strindex: int) -> int:
        if strindex < len(self.strings):
            return strindex
        self.unknowns.dangling_texts += 1
        return 0

    def _place_strings(self, first: int, texts: Sequence[str]) -> None:
        self.strings.extend([""] * (first - len(self.strings)))
        self.strings[first : first + len(texts)] = texts
        self._string_count += len(texts)

    def _place_program(self, row: Message) -> None:
        first = row.first_command_index
        self.programs.append(
            Program(
                program_id=row.program_id,
                name=self._text(row.name_strindex),
                op=self._text(row.op_strindex),
                compile_id=self._text(row.compile_id_strindex),
                first_command_row=first,
                command_count=len(row.commands),
            )
        )
        for ordinal, command in enumerate(row.commands):
            self._commands[first + ordinal] = (row.program_id, command)
            self._first_rows[first + ordinal] = first

    def commands(self) -> Commands:
        """The command table so far."""
        count = max(self._commands, default=0) + 1
        table = {name: np.zeros(count, np.uint32) for name in ("program_id", "layer_strindex", "command_index", "engine_kind")}
        size_bytes = np.full(count, ABSENT, np.int64)
        chiplet = np.full(count, ABSENT, np.int64)
        predecessor_counts = np.zeros(count, np.int64)
        predecessors: list[int] = []
        for at in sorted(self._commands):
            program_id, command = self._commands[at]
            table["program_id"][at] = program_id
            table["layer_strindex"][at] = self._strindex(command.layer_strindex)
            table["command_index"][at] = command.command_index
            table["engine_kind"][at] = self.unknowns.number(EngineKind, command.engine_kind)
            size_bytes[at] = command.size_bytes if command.HasField("size_bytes") else ABSENT
            chiplet[at] = command.chiplet if command.HasField("chiplet") else ABSENT
            predecessor_counts[at] = len(command.predecessors)
            predecessors.extend(self._first_rows[at] + before for before in command.predecessors)
        return Commands(
            **table,
            size_bytes=size_bytes,
            chiplet=chiplet,
            predecessor_ends=np.cumsum(predecessor_counts),
            predecessor_rows=np.array(predecessors, np.uint32),
        )
