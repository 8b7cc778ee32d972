"""Programs are numbered in one dimension, row-major over the outermost level, whatever the launch looks like."""

from __future__ import annotations

from ...core.tile.types import int32, unwrap
from ...core.tile.value import native, wrap
from ...errors import error


def _check(axis, what):
    if unwrap(axis) != 0:
        raise error(ValueError, f"{what}: programs have axis 0 only, got {unwrap(axis)}")


def program_id(axis=0):
    """The linear index of this program, int32."""
    _check(axis, "program_id")
    x, y, z = (wrap(native().program_id(a)) for a in (0, 1, 2))

    return (x + wrap(native().num_programs(0)) * (y + wrap(native().num_programs(1)) * z)).to(int32)


def num_programs(axis=0):
    """The number of programs, int32."""
    _check(axis, "num_programs")
    x, y, z = (wrap(native().num_programs(a)) for a in (0, 1, 2))

    return (x * y * z).to(int32)
