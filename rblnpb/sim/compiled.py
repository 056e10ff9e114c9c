"""Recipes as the rows of a session: strings, programs, the command table, and what the scheduler needs beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT, Int64
from rblnpb.profile import Commands, Engine, EngineKind, Program
from rblnpb.sim.programs import Recipe, Step

__all__ = ["Compiled", "compile_recipes"]


@dataclass(frozen=True, eq=False)
class Compiled:
    """Programs in a session. Arrays have one element for each row of `commands`.

    Attributes:
        recipes: What was compiled, in the order of the programs.
        programs, commands: The session's rows.
        engine_id: int64[m]; engine that runs it.
        duration_ns: int64[m]; undisturbed duration.
        cycles: int64[m]; ABSENT where nothing is computed.
        size_bytes: int64[m]; ABSENT where nothing is moved.
        workload: int64[m]; ABSENT for what the host runs.
        is_carried: bool[m]; see `Step`.
    """

    recipes: tuple[Recipe, ...]
    programs: tuple[Program, ...]
    commands: Commands
    engine_id: Int64
    duration_ns: Int64
    cycles: Int64
    size_bytes: Int64
    workload: Int64
    is_carried: npt.NDArray[np.bool_]

    def rows(self, program: int) -> slice:
        """Rows of the commands of a program, which is given by its place in `programs`."""
        first = self.programs[program].first_command_row
        return slice(first, first + self.programs[program].command_count)


def compile_recipes(recipes: Sequence[Recipe], engines: Sequence[Engine], intern: Callable[[str], int]) -> Compiled:
    """The recipes one after the other; a longer list begins with the same rows.

    Args:
        recipes: Programs get ids from 1 in this order.
        engines: Of the device that runs them.
        intern: Gives the string row of a text.
    """
    place = {(engine.kind, engine.chiplet): engine.engine_id for engine in engines}
    steps = [step for recipe in recipes for step in recipe.steps]
    firsts = np.cumsum([1, *(len(recipe.steps) for recipe in recipes)])
    programs = tuple(
        Program(at + 1, recipe.name, recipe.op, recipe.compile_id, int(firsts[at]), len(recipe.steps))
        for at, recipe in enumerate(recipes)
    )
    for recipe in recipes:
        for text in (recipe.name, recipe.op, recipe.compile_id, *(step.layer for step in recipe.steps)):
            intern(text)
    return Compiled(
        recipes=tuple(recipes),
        programs=programs,
        commands=_commands(recipes, programs, intern),
        engine_id=_column([place[_engine_key(step)] for step in steps], none=0),
        duration_ns=_column([step.duration_ns for step in steps], none=0),
        cycles=_column([step.cycles if step.kind != EngineKind.HOST else None for step in steps]),
        size_bytes=_column([step.size_bytes for step in steps]),
        workload=_column([step.workload for step in steps]),
        is_carried=_column([int(step.is_carried) for step in steps], none=0).astype(np.bool_),
    )


def _engine_key(step: Step) -> tuple[EngineKind, int | None]:
    return step.kind, step.chiplet


def _column(values: Sequence[int | None], *, none: int = ABSENT) -> Int64:
    """Row 0, "none", then the values; a missing one is ABSENT."""
    return np.array([none, *(ABSENT if value is None else value for value in values)], np.int64)


def _commands(recipes: Sequence[Recipe], programs: Sequence[Program], intern: Callable[[str], int]) -> Commands:
    pairs = [(program, step) for program, recipe in zip(programs, recipes, strict=True) for step in recipe.steps]
    steps = [step for _, step in pairs]
    predecessors = [[program.first_command_row + row for row in step.predecessors] for program, step in pairs]
    return Commands(
        program_id=_column([program.program_id for program, _ in pairs], none=0).astype(np.uint32),
        layer_strindex=_column([intern(step.layer) for step in steps], none=0).astype(np.uint32),
        command_index=_column([step.index for step in steps], none=0).astype(np.uint32),
        engine_kind=_column([step.kind for step in steps], none=0).astype(np.uint32),
        size_bytes=_column([step.size_bytes for step in steps]),
        chiplet=_column([step.chiplet for step in steps]),
        predecessor_ends=np.cumsum([0, *map(len, predecessors)]),
        predecessor_rows=np.array([row for rows in predecessors for row in rows], np.uint32),
    )
