"""Block pointers and tensor descriptors: windows of strided tensors, as values that loops carry, branches merge and helpers
take."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...errors import error
from ...frontend.wording import counted
from ..ignored import ignore
from ..names import named
from . import creation, shape, types
from .types import unwrap
from .value import Operand, called, constant_of, native, plain, tensor, wrap

PADDINGS = ("", "zero", "nan")


class Block:
    """The static shape of a window and the type of its elements. Values of two of them are no values of one type."""

    def __init__(self, sizes: Iterable[Any], element: types.dtype) -> None:
        self.sizes, self.element = [constant_of(size, "block_shape") for size in unwrap(sizes)], element

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and self.sizes == other.sizes and self.element == other.element

    __hash__ = None  # type: ignore[assignment]


def _index(value: Any) -> tensor:
    """An offset. It is an int64, so that all offsets that a loop carries or a branch merges have one type."""
    value = unwrap(value)
    if isinstance(value, tensor):
        return wrap(native().cast(value, "int64"))
    return tensor(native().constant(value, "int64"), value)


def parts(value: Any) -> list[Any]:
    """The elements of a sequence, compile-time ones as numbers."""
    value = unwrap(value)
    return [unwrap(v) for v in (value if isinstance(value, Iterable) else (value,))]


def check_padding(padding: Any, dtype: types.dtype) -> str:
    padding = unwrap(padding) or ""
    if padding not in PADDINGS:
        raise error(ValueError, f"unknown padding_option {padding!r}", hint="known: '', 'zero', 'nan'")
    if padding == "nan" and not dtype.is_floating():
        raise error(ValueError, f"padding 'nan' needs floats, got {dtype}")
    return padding


def _fill(padding: str) -> float | None:
    return float("nan") if padding == "nan" else None


class _Window:
    base: tensor
    shape: list[Any]
    strides: list[Any]
    block: Block
    word: str

    @property
    def __tile_words__(self) -> str:
        return f"{self.word} of {self.element} with blocks {self.block_shape}"

    @property
    def block_shape(self) -> list[int]:
        return list(self.block.sizes)

    @property
    def element(self) -> types.dtype:
        return self.block.element

    def place(self, offsets: Sequence[Any], checked: Sequence[int]) -> Any:
        """The lanes of the window at `offsets`. Those outside the tensor in one of the dimensions `checked` do not exist."""
        base, starts, extents, sizes = self.base, [plain(o) for o in offsets], list(self.shape), self.block.sizes
        if len(starts) != len(sizes):
            raise error(ValueError, f"a window of shape {sizes} takes {counted(len(sizes), 'offset')}, got {len(starts)}")
        for d, size in enumerate(sizes):
            if d not in checked:  # it begins at the offset, and all of it exists
                base = base + _index(starts[d]) * self.strides[d]
                starts[d], extents[d] = 0, size
        return native().view(native().root(base, extents, self.strides), starts, sizes, list(range(len(sizes))))


@dataclasses.dataclass(eq=False)
class block_pointer(_Window):
    """A window at an offset of a strided tensor: what make_block_ptr gives."""

    base: tensor
    shape: list[Any]
    strides: list[Any]
    offsets: list[tensor]
    block: Block
    word = "a block pointer"

    @property
    def dtype(self) -> types.pointer_type:
        return self.base.dtype

    @property
    def type(self) -> types.pointer_type:
        return self.base.dtype

    def _checked(self, dims: Any) -> list[int]:
        dims = [constant_of(d, "boundary_check") for d in parts(dims)]
        for d in dims:
            if not isinstance(d, int) or not 0 <= d < len(self.block.sizes):
                raise error(ValueError, f"boundary_check names dimension {d} of a block of shape {self.block.sizes}")
        return dims

    def read(self, boundary_check: Any, padding: Any, volatile: bool, cache: str, eviction: str) -> tensor:
        place = self.place(self.offsets, self._checked(boundary_check))
        return wrap(native().load_place(place, _fill(check_padding(padding, self.element)), volatile, cache, eviction))

    def write(self, value: Any, boundary_check: Any, cache: str, eviction: str) -> None:
        native().store_place(self.place(self.offsets, self._checked(boundary_check)), value, cache, eviction)

    def advance(self, offsets: Iterable[Any]) -> block_pointer:
        """The block pointer moved by `offsets`."""
        return advance(self, offsets)


def _atomic(kind: str) -> Callable[..., None]:
    def method(self: tensor_descriptor, offsets: Iterable[Any], value: Operand) -> None:
        native().atomic_place(kind, self.place(parts(offsets), range(len(self.block.sizes))), plain(value))

    text = f"Atomic {kind} to each element of the block at these offsets that lies inside the tensor."
    return named(method, f"atomic_{kind}", text)


@dataclasses.dataclass(eq=False)
class tensor_descriptor(_Window):
    """A strided tensor with a block shape: what make_tensor_descriptor gives, and a TensorDescriptor of the host."""

    base: tensor
    shape: list[Any]
    strides: list[Any]
    block: Block
    pads_nan: Any = False  # is what lies outside NaN? Of descriptors from two branches a run-time value
    word = "a tensor descriptor"

    @property
    def dtype(self) -> types.dtype:
        return self.element

    @property
    def block_type(self) -> types.block_type:
        return types.block_type(self.element, self.block.sizes)

    @property
    def nbytes(self) -> int:
        return self.block_type.numel * self.element.itemsize

    def load(self, offsets: Iterable[Any]) -> tensor:
        """The block at these offsets; elements outside the tensor read as the padding."""
        return wrap(native().load_place(self._aligned(offsets), self._outside()))

    def _outside(self) -> Any:
        """What elements outside the tensor read as."""
        if isinstance(self.pads_nan, tensor):
            return native().select(self.pads_nan, float("nan"), 0.0)
        return float("nan") if self.pads_nan else None

    def store(self, offsets: Iterable[Any], value: Operand) -> None:
        """Writes a block; what lies outside the tensor is dropped."""
        native().store_place(self._aligned(offsets), plain(value))

    def _aligned(self, offsets: Iterable[Any]) -> Any:
        """The place of a block. Descriptors are of tensors whose rows begin at multiples of 16 bytes."""
        place = self.place(parts(offsets), range(len(self.block.sizes)))
        native().promise_multiple(place, 16)
        return place

    atomic_add, atomic_min, atomic_max = _atomic("add"), _atomic("min"), _atomic("max")
    atomic_and, atomic_or, atomic_xor = _atomic("and"), _atomic("or"), _atomic("xor")

    def _rows(self, rows: tensor, column: Any, what: str) -> tuple[tensor, tensor]:
        """Pointers to whole rows of a block, and which of them lie inside the tensor."""
        if len(self.block.sizes) != 2 or self.block.sizes[0] != 1:
            raise error(ValueError, f"{what} needs a descriptor of blocks [1, N], this one has {self.block.sizes}")
        if not isinstance(rows, tensor) or len(rows.handle.shape) != 1:
            raise error(ValueError, f"{what} takes a tile of one dimension of row numbers")
        x = shape.expand_dims(_index(rows), 1)
        y = shape.expand_dims(creation.arange(0, self.block.sizes[1]) + _index(column), 0)
        inside = (x >= 0) & (x < self.shape[0]) & (y >= 0) & (y < self.shape[1])
        return self.base + x * self.strides[0] + y * self.strides[1], inside

    def gather(self, x_offsets: tensor, y_offset: Any) -> tensor:
        """The pieces of the rows `x_offsets` that begin at column y_offset."""
        pointers, inside = self._rows(x_offsets, y_offset, "gather")
        outside = self._outside()
        return wrap(native().load(pointers, inside, 0 if outside is None else outside))

    def scatter(self, value: tensor, x_offsets: tensor, y_offset: Any) -> None:
        """Writes the rows of `value` to the pieces of the rows `x_offsets` that begin at column y_offset."""
        pointers, inside = self._rows(x_offsets, y_offset, "scatter")
        native().store(pointers, plain(value), inside)


def _base(base: Any, what: str) -> tensor:
    base = unwrap(base)
    if not isinstance(base, tensor) or not base.handle.is_pointer or base.handle.shape:
        raise error(TypeError, f"{what} needs a pointer to the tensor's first element", hint="pass an argument of the kernel")
    return base


def make_block_ptr(
    base: tensor,
    shape: Iterable[Any],
    strides: Iterable[Any],
    offsets: Iterable[Any],
    block_shape: Iterable[int],
    order: Iterable[int],
) -> block_pointer:
    """A block pointer: a window of `block_shape` at `offsets` into a tensor of `shape` and `strides`."""
    base = _base(base, "make_block_ptr")
    block = Block(block_shape, base.dtype.element_ty)
    extents, steps, starts = parts(shape), parts(strides), parts(offsets)
    given = parts(order)
    ignore("tl.make_block_ptr", order=None if given == [*reversed(range(len(given)))] else given)
    if len({len(extents), len(steps), len(starts), len(block.sizes)}) != 1:
        raise error(ValueError, "make_block_ptr: shape, strides, offsets and block_shape must have equal lengths")
    return block_pointer(base, extents, steps, [_index(o) for o in starts], block)


def advance(base: block_pointer, offsets: Iterable[Any]) -> block_pointer:
    """The block pointer moved by `offsets`; `base` stays where it is."""
    if not isinstance(base, block_pointer):
        hint = f"make one with {called('make_block_ptr')}, or add to a pointer"
        raise error(TypeError, "advance takes a block pointer", hint=hint)
    moves = parts(offsets)
    if len(moves) != len(base.offsets):
        raise error(ValueError, f"advance: a block of shape {base.block_shape} takes as many offsets, got {len(moves)}")
    moves = [_index(d) if isinstance(d, tensor) else d for d in moves]
    moved = [o if isinstance(d, int) and d == 0 else o + d for o, d in zip(base.offsets, moves)]
    return dataclasses.replace(base, offsets=moved)


def make_tensor_descriptor(
    base: tensor, shape: Iterable[Any], strides: Iterable[Any], block_shape: Iterable[int], padding_option: str = "zero"
) -> tensor_descriptor:
    """A tensor with a block shape; read and written by load(offsets) and store(offsets, value)."""
    base, extents, steps = _base(base, "make_tensor_descriptor"), parts(shape), parts(strides)
    element = base.dtype.element_ty
    block = Block(block_shape, element)
    rank = len(extents)
    if not 1 <= rank <= 5:
        raise error(ValueError, f"Expected 1 <= ndim <= 5 but got {counted(rank, 'dimension')}")
    for name, given in (("strides", steps), ("block_shape", block.sizes)):
        if len(given) != rank:
            raise error(ValueError, f"a descriptor of {counted(rank, 'dimension')} needs as many {name}, got {len(given)}")
    if block.sizes[-1] * element.itemsize < 16:
        raise error(
            ValueError,
            "Descriptor block shape must have at least 16 bytes in the last dimension, "
            f"but got {block.sizes[-1]} * {element.itemsize} = {block.sizes[-1] * element.itemsize} bytes",
        )
    last = steps[-1].constant if isinstance(steps[-1], tensor) else steps[-1]
    if last != 1:
        got = "a run-time value" if last is None else last
        raise error(ValueError, f"the last stride of a tensor descriptor must be the constant 1, got {got}")
    return tensor_descriptor(base, extents, steps, block, check_padding(padding_option, element) == "nan")


def load_tensor_descriptor(desc: tensor_descriptor, offsets: Iterable[Any]) -> tensor:
    """The block of a descriptor at these offsets."""
    return desc.load(offsets)


def store_tensor_descriptor(desc: tensor_descriptor, offsets: Iterable[Any], value: Operand) -> None:
    """Writes the block of a descriptor at these offsets."""
    return desc.store(offsets, value)
