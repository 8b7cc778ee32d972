"""Loads, stores, atomics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import error
from ..names import named
from .coded import coded, coded_pointer
from .creation import cast
from .types import unwrap
from .value import Operand, member, native, plain, tensor, tracer, wrap
from .window import block_pointer

_LOAD_CACHE, _STORE_CACHE, _EVICTION = (
    ("", ".ca", ".cg", ".cs", ".cv"),
    ("", ".wb", ".cg", ".cs", ".wt"),
    ("", "evict_first", "evict_last", "evict_normal"),
)


def _hint(value: Any, known: Sequence[str], what: str) -> str:
    value = unwrap(value) or ""
    if value not in known:
        raise error(ValueError, f"unknown {what} {value!r}", hint="known: " + ", ".join(repr(k) for k in known))
    return value


def _names_dimensions(boundary_check: Any) -> bool:
    checked = unwrap(boundary_check)
    return isinstance(checked, int) or bool(checked)


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
        return pointer.read(boundary_check, padding_option, bool(unwrap(volatile)), cache, eviction)
    if unwrap(padding_option) or _names_dimensions(boundary_check):
        raise error(
            ValueError,
            "padding_option and boundary_check are for block pointers, this is a pointer or a tile of pointers",
            hint="use mask and other",
        )
    if isinstance(pointer, coded_pointer):
        codes = None if other is None else pointer.encode(other)
        return coded(load(pointer.base, mask, codes, (), "", cache, eviction, volatile), pointer.coding)
    return wrap(native().load(_pointer(pointer, "load"), mask, other, bool(unwrap(volatile)), cache, eviction))


def _pointer(pointer: Any, what: str) -> tensor:
    tracer().touches_memory(what)
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
        return pointer.write(plain(value), boundary_check, cache, eviction)
    if _names_dimensions(boundary_check):
        raise error(ValueError, "boundary_check is for block pointers, this is a pointer or a tile of pointers", hint="use mask")
    value = plain(value)
    if isinstance(pointer, coded_pointer):
        pointer, value = pointer.base, pointer.encode(value)
    if isinstance(value, tensor) and value.handle.is_pointer:
        element = _pointer(pointer, "store").dtype.element_ty
        if element.is_int() and element.primitive_bitwidth == 64:  # tables of addresses
            value = cast(value, element)
    native().store(_pointer(pointer, "store"), value, mask, False, cache, eviction)
    return None


# What atomic updates take.
_UPDATED = dict.fromkeys(("max", "min", "exchange"), "integers and floats of 32 or 64 bits")
_UPDATED |= dict.fromkeys(("and", "or", "xor"), "integers of 32 or 64 bits")
_UPDATED["add"] = "integers of 32 or 64 bits and floats of 16, 32 or 64"


def _atomic(name: str, kind: str) -> Callable[..., tensor]:
    def function(
        pointer: Any, val: Operand, mask: Operand | None = None, sem: str | None = None, scope: str | None = None
    ) -> tensor:
        pointer = _pointer(unwrap(pointer), function.__name__)
        element = pointer.dtype.element_ty
        if element.primitive_bitwidth < 16 or element.primitive_bitwidth == 16 and (kind != "add" or element.is_int()):
            hint = f"it takes {_UPDATED[kind]}; atomic_cas takes all but booleans"
            raise error(ValueError, f"{function.__name__} does not take elements of type {element}", hint=hint)
        return wrap(
            native().atomic_rmw(kind, pointer, plain(val), unwrap(mask), unwrap(sem) or "acq_rel", unwrap(scope) or "gpu")
        )

    return member(named(function, f"atomic_{name}", f"Atomic {name}, elementwise; returns the values before."))


atomic_add, atomic_max, atomic_min, atomic_and = (_atomic(n, n) for n in ("add", "max", "min", "and"))
atomic_or, atomic_xor, atomic_xchg = _atomic("or", "or"), _atomic("xor", "xor"), _atomic("xchg", "exchange")


@member
def atomic_cas(pointer: Any, cmp: Operand, val: Operand, sem: str | None = None, scope: str | None = None) -> tensor:
    """Writes `val` where the element equals `cmp`; returns the values before."""
    pointer = _pointer(unwrap(pointer), "atomic_cas")
    if pointer.dtype.element_ty.is_bool():
        raise error(ValueError, "atomic_cas does not take elements of type int1", hint="use an integer type")
    return wrap(native().atomic_cas(pointer, plain(cmp), plain(val), unwrap(sem) or "acq_rel", unwrap(scope) or "gpu"))
