"""Programs, ranges and tiles made of nothing."""

from __future__ import annotations

from typing import Any

from ...errors import error
from ...frontend.wording import shown
from . import types
from .types import unwrap
from .value import Operand, constant_of, member, native, plain, shape_of, tensor, to_tensor, tracer, wrap

_ANY_SIZE = "round it up and mask what is too much; kernels that `import tileon` have tiles of any size"


def sizes_of(shape: Any) -> list[int]:
    """The shape of a new tile as a list of ints. Under the name triton they are powers of 2."""
    sizes = shape_of(shape)
    if tracer().narrow:
        for i, size in enumerate(sizes):
            if size < 1 or size & (size - 1):
                raise error(ValueError, f"Shape element {i} must be a power of 2", hint=_ANY_SIZE)
    return sizes


def _axis(axis: Any, what: str) -> int:
    axis = constant_of(axis, f"the axis of {what}")
    if axis not in (0, 1, 2):
        raise error(ValueError, f"{what} axis must be 0, 1, or 2 but got {axis}")
    return axis


def program_id(axis: int) -> tensor:
    """Coordinate of this program on a grid axis, as an int32 scalar."""
    return wrap(native().program_id(_axis(axis, "program_id")))


def num_programs(axis: int) -> tensor:
    """Extent of a grid axis, as an int32 scalar."""
    return wrap(native().num_programs(_axis(axis, "num_programs")))


def arange(start: int, end: int) -> tensor:
    """The int32 tile [start, start + 1, ..., end - 1]. Any length works, under the name triton powers of 2."""
    start, end = constant_of(start, "arange's start"), constant_of(end, "arange's end")
    for bound in (start, end):
        if isinstance(bound, bool) or not isinstance(bound, int):
            raise error(TypeError, f"arange takes ints, got {shown(bound)}", hint="divide sizes with // or cdiv")
    if tracer().narrow and end > start and (end - start) & (end - start - 1):
        raise error(ValueError, "arange's range must be a power of 2", hint=_ANY_SIZE)
    return wrap(native().arange(start, end))


def full(shape: Any, value: Operand, dtype: types.dtype) -> tensor:
    """A tile of one value, a number or a scalar."""
    value = plain(value)
    shape = sizes_of(shape)
    if isinstance(unwrap(dtype), types.dtype) and unwrap(dtype).name in types.CODED:
        return cast(full(shape, value, types.float32), dtype)
    if isinstance(value, tensor):
        if value.handle.shape:
            raise error(ValueError, f"full takes a scalar, got a tile of shape {value.shape}")
        return wrap(native().broadcast_to(native().cast(value, unwrap(dtype)), shape))
    return wrap(native().full(shape, value, unwrap(dtype)))


def zeros(shape: Any, dtype: types.dtype) -> tensor:
    """A tile of zeros."""
    return full(shape, 0, dtype)


def zeros_like(input: tensor) -> tensor:
    """A tile of zeros like another."""
    return zeros(input.shape, input.dtype)


@member
def cast(input: Operand, dtype: types.dtype, fp_downcast_rounding: str | None = None, bitcast: bool = False) -> tensor:
    """Conversion to another element type: by value (round to nearest even, or "rtz" towards zero), or of the same bits."""
    input, dtype, rounding = to_tensor(input), unwrap(dtype), unwrap(fp_downcast_rounding)
    if rounding not in (None, "rtne", "rtz"):
        raise error(ValueError, f"fp_downcast_rounding must be 'rtne' or 'rtz', got {rounding!r}")
    if input.coding is not None or isinstance(dtype, types.dtype) and dtype.name in types.CODED:
        from .coded import convert

        return convert(input, dtype, rounding == "rtz", bool(unwrap(bitcast)))
    if isinstance(dtype, types.pointer_type):
        if dtype.element_ty.name in types.CODED:
            from .coded import coded_pointer

            return coded_pointer(cast(input, types.pointer_type(types.uint8)), dtype.element_ty)  # type: ignore[return-value]
        if input.handle.is_pointer:
            return wrap(native().pointer_cast(input, dtype.element_ty))
        return wrap(native().int_to_pointer(input, dtype.element_ty))
    if input.handle.is_pointer:
        return _of_address(input, dtype)
    if unwrap(bitcast):
        return wrap(native().bitcast(input, dtype))
    return wrap(native().cast(input, dtype, rounding == "rtz"))


def _of_address(pointer: tensor, dtype: types.dtype) -> tensor:
    """The address as an integer of 64 bits; as int1: is there one?"""
    address = wrap(native().pointer_to_int(pointer))
    if dtype.name == "int1":
        return address != 0
    if dtype.name not in ("int64", "uint64"):
        native().require_numbers(pointer, f"a conversion to {dtype} (an address converts to int64 or uint64 only)")
    return wrap(native().bitcast(address, dtype))


def to(self: tensor, dtype: types.dtype, fp_downcast_rounding: str | None = None, bitcast: bool = False) -> tensor:
    """Conversion to another element type, see `cast`."""
    return cast(self, dtype, fp_downcast_rounding, bitcast)


setattr(tensor, "to", to)
