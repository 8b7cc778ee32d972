"""Programs are numbered in one dimension, row-major over the outermost level, whatever the launch looks like."""

from __future__ import annotations

from typing import Any

from ...core.tile.types import int32, unwrap
from ...core.tile.value import native, tensor, wrap
from ...errors import error


def _check(axis: Any, what: str) -> None:
    if unwrap(axis) != 0:
        raise error(ValueError, f"{what}: programs have axis 0 only, got {unwrap(axis)}")


def program_id(axis: Any = 0) -> tensor:
    """The linear index of this program, int32."""
    _check(axis, "program_id")
    x, y, z = (wrap(native().program_id(a)) for a in (0, 1, 2))

    return (x + wrap(native().num_programs(0)) * (y + wrap(native().num_programs(1)) * z)).to(int32)


def num_programs(axis: Any = 0) -> tensor:
    """The number of programs, int32."""
    _check(axis, "num_programs")
    x, y, z = (wrap(native().num_programs(a)) for a in (0, 1, 2))

    return (x * y * z).to(int32)
