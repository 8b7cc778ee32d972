"""Loads, stores, atomics, block pointers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...errors import error
from . import types
from .types import unwrap
from .value import Operand, constant_of, member, native, plain, tensor, to_tensor, wrap

_LOAD_CACHE, _STORE_CACHE, _EVICTION = (
    ("", ".ca", ".cg", ".cv"),
    ("", ".wb", ".cg", ".cs", ".wt"),
    ("", "evict_first", "evict_last", "evict_normal"),
)


def _hint(value: Any, known: Sequence[str], what: str) -> str:
    value = unwrap(value) or ""
    if value not in known:
        raise error(ValueError, f"unknown {what} {value!r}", hint="known: " + ", ".join(repr(k) for k in known))
    return value


@member
def load(
    pointer: Any,
    mask: Operand | None = None,
    other: Operand | None = None,
    boundary_check: Sequence[int] = (),
    padding_option: str = "",
    cache_modifier: str = "",
    eviction_policy: str = "",
    volatile: bool = False,
) -> tensor:
    """The elements that a tile of pointers names. Where `mask` is false memory is not touched and the element is `other`, or
    0."""
    pointer, mask, other = unwrap(pointer), unwrap(mask), unwrap(other)
    cache = _hint(cache_modifier, _LOAD_CACHE, "cache_modifier")
    eviction = _hint(eviction_policy, _EVICTION, "eviction_policy")
    if isinstance(pointer, block_pointer):
        if mask is not None or other is not None:
            raise error(ValueError, "a block pointer takes neither mask nor other", hint="use boundary_check and padding_option")
        return pointer.read(unwrap(padding_option))
    return wrap(native().load(_pointer(pointer, "load"), mask, other, bool(unwrap(volatile)), cache, eviction))


def _pointer(pointer: Any, what: str) -> tensor:
    if not isinstance(pointer, tensor) or not pointer.handle.is_pointer:
        kind = pointer.handle.type if isinstance(pointer, tensor) else type(pointer).__name__
        raise error(
            TypeError,
            f"{what} needs a pointer or a tile of pointers, got {kind}",
            hint="add the offsets to a pointer argument of the kernel",
        )
    return pointer


@member
def store(
    pointer: Any,
    value: Operand,
    mask: Operand | None = None,
    boundary_check: Sequence[int] = (),
    cache_modifier: str = "",
    eviction_policy: str = "",
) -> None:
    """Writes a tile where `mask` is true."""
    pointer, mask = unwrap(pointer), unwrap(mask)
    cache = _hint(cache_modifier, _STORE_CACHE, "cache_modifier")
    eviction = _hint(eviction_policy, _EVICTION, "eviction_policy")
    if isinstance(pointer, block_pointer):
        if mask is not None:
            raise error(ValueError, "a block pointer takes no mask", hint="use boundary_check")
        return pointer.write(plain(value))
    native().store(_pointer(pointer, "store"), plain(value), mask, False, cache, eviction)
    return None


def _atomic(name: str, kind: str) -> Callable[..., tensor]:
    def function(
        pointer: Any, val: Operand, mask: Operand | None = None, sem: str | None = None, scope: str | None = None
    ) -> tensor:
        pointer = _pointer(unwrap(pointer), function.__name__)
        element = pointer.dtype.element_ty
        if element.primitive_bitwidth < 16 or element.primitive_bitwidth == 16 and (kind != "add" or element.is_int()):
            raise error(
                ValueError, f"{function.__name__} does not take elements of type {element}", hint="use a 32- or 64-bit type"
            )
        return wrap(
            native().atomic_rmw(kind, pointer, plain(val), unwrap(mask), unwrap(sem) or "acq_rel", unwrap(scope) or "gpu")
        )

    function.__name__ = f"atomic_{name}"
    function.__doc__ = f"Atomic {name}, elementwise; returns the values before."
    return member(function)


atomic_add, atomic_max, atomic_min, atomic_and = (_atomic(n, n) for n in ("add", "max", "min", "and"))
atomic_or, atomic_xor, atomic_xchg = _atomic("or", "or"), _atomic("xor", "xor"), _atomic("xchg", "exchange")


@member
def atomic_cas(pointer: Any, cmp: Operand, val: Operand, sem: str | None = None, scope: str | None = None) -> tensor:
    """Writes `val` where the element equals `cmp`; returns the values before."""
    pointer = _pointer(unwrap(pointer), "atomic_cas")
    if pointer.dtype.element_ty.is_bool():
        raise error(ValueError, "atomic_cas does not take elements of type int1", hint="use an integer type")
    return wrap(native().atomic_cas(pointer, plain(cmp), plain(val), unwrap(sem) or "acq_rel", unwrap(scope) or "gpu"))


class block_pointer:
    """A window of a strided tensor; also what a tensor descriptor is."""

    def __init__(
        self,
        base: tensor,
        shape: list[Any],
        strides: list[Any],
        offsets: list[Any],
        block_shape: list[int],
        padding: str = "zero",
    ) -> None:
        self.base, self.shape, self.strides, self.offsets, self.block_shape, self.padding = (
            base,
            shape,
            strides,
            offsets,
            block_shape,
            padding,
        )

    @property
    def dtype(self) -> types.dtype:
        return self.base.dtype.element_ty

    @property
    def type(self) -> types.pointer_type:
        return types.pointer_type(types.block_type(self.dtype, self.block_shape))

    def place(self, offsets: Iterable[Any]) -> Any:
        b = native()
        root = b.root(self.base, [plain(s) for s in self.shape], [plain(s) for s in self.strides])
        return b.view(root, [plain(o) for o in offsets], self.block_shape, list(range(len(self.block_shape))))

    def read(self, padding: str, offsets: list[Any] | None = None) -> tensor:
        if padding not in ("", "zero", "nan"):
            raise error(ValueError, f"unknown padding_option {padding!r}", hint="known: '', 'zero', 'nan'")
        if padding == "nan" and not self.dtype.is_floating():
            raise error(ValueError, f"padding 'nan' needs floats, got {self.dtype}")
        return wrap(native().load_place(self.place(offsets or self.offsets), float("nan") if padding == "nan" else None))

    def write(self, value: Any, offsets: list[Any] | None = None) -> None:
        native().store_place(self.place(offsets or self.offsets), value)

    def load(self, offsets: Iterable[Any]) -> tensor:
        """The block at these offsets; elements outside the tensor read as the padding."""
        return self.read(self.padding, list(unwrap(offsets)))

    def store(self, offsets: Iterable[Any], value: Operand) -> None:
        """Writes a block; what lies outside the tensor is dropped."""
        self.write(plain(value), list(unwrap(offsets)))


def _parts(value: Any) -> list[Any]:
    return [unwrap(v) for v in unwrap(value)]


def _block(value: Any) -> list[int]:
    return [constant_of(v, "block_shape") for v in unwrap(value)]


def make_block_ptr(
    base: tensor,
    shape: Iterable[Any],
    strides: Iterable[Any],
    offsets: Iterable[Any],
    block_shape: Iterable[int],
    order: Iterable[int],
) -> block_pointer:
    """A block pointer: a window of `block_shape` at `offsets` into a tensor of `shape` and `strides`."""
    base = _pointer(unwrap(base), "make_block_ptr")
    parts = [_parts(shape), _parts(strides), _parts(offsets), _block(block_shape)]
    if len({len(p) for p in parts}) != 1:
        raise error(ValueError, "make_block_ptr: shape, strides, offsets and block_shape must have equal lengths")
    return block_pointer(base, parts[0], parts[1], parts[2], parts[3])


def advance(base: block_pointer, offsets: Iterable[Any]) -> block_pointer:
    """The block pointer moved by `offsets`; `base` stays where it is."""
    moved = [to_tensor(o) + d for o, d in zip(base.offsets, _parts(offsets))]
    return block_pointer(base.base, base.shape, base.strides, moved, base.block_shape, base.padding)


def make_tensor_descriptor(
    base: tensor, shape: Iterable[Any], strides: Iterable[Any], block_shape: Iterable[int], padding_option: str = "zero"
) -> block_pointer:
    """A tensor with a block shape; read and written by load(offsets) and store(offsets, value)."""
    base, block = _pointer(unwrap(base), "make_tensor_descriptor"), _block(block_shape)
    return block_pointer(base, _parts(shape), _parts(strides), [0] * len(block), block, unwrap(padding_option))


def load_tensor_descriptor(desc: block_pointer, offsets: Iterable[Any]) -> tensor:
    """The block of a descriptor at these offsets."""
    return desc.load(offsets)


def store_tensor_descriptor(desc: block_pointer, offsets: Iterable[Any], value: Operand) -> None:
    """Writes the block of a descriptor at these offsets."""
    return desc.store(offsets, value)
