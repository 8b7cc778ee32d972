"""Small helpers that programs import from upstream: trees of tuples, names of element types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

_LONG = {
    "bool": "i1",
    "float8_e4m3fn": "fp8e4nv",
    "float8e4nv": "fp8e4nv",
    "float8_e5m2": "fp8e5",
    "float8e5": "fp8e5",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8e4b8": "fp8e4b8",
    "float8_e5m2fnuz": "fp8e5b16",
    "float8e5b16": "fp8e5b16",
    "float8e4b15": "fp8e4b15",
    "float16": "fp16",
    "half": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float": "fp32",
    "float64": "fp64",
    "double": "fp64",
    "int1": "i1",
    "void": "void",
}
_LONG |= {f"{long}{bits}": f"{short}{bits}" for long, short in (("int", "i"), ("uint", "u")) for bits in (8, 16, 32, 64)}
# The short name of each element type, by long and short names.
type_canonicalisation_dict = _LONG | {short: short for short in _LONG.values()}


def canonicalize_dtype(dtype: Any) -> str:
    """The short name (fp32, i64, bf16) of an element type of torch, NumPy or tl.

    :raises KeyError: there is none."""
    text = str(dtype).rpartition(".")[2]
    return type_canonicalisation_dict[text]


def canonicalize_ptr_dtype(dtype: Any, is_const: bool) -> str:
    """The type of a pointer in a signature."""
    return f"*{'k' if is_const else ''}{canonicalize_dtype(dtype)}"


def get_iterable_path(iterable: Any, path: tuple[int, ...]) -> Any:
    """iterable[path[0]][path[1]]..."""
    for index in path:
        iterable = iterable[index]
    return iterable


def set_iterable_path(iterable: Any, path: tuple[int, ...], value: Any) -> None:
    """iterable[path[0]][path[1]]... = value"""
    get_iterable_path(iterable, path[:-1])[path[-1]] = value


def find_paths_if(iterable: Any, pred: Callable[[tuple[int, ...], Any], bool]) -> list[tuple[int, ...]]:
    """The paths of all leaves of nested tuples and lists for which pred(path, leaf) holds."""

    def leaves(path: tuple[int, ...], value: Any) -> Iterator[tuple[int, ...]]:
        if isinstance(value, (tuple, list)):
            for index, item in enumerate(value):
                yield from leaves((*path, index), item)
        elif pred(path, value):
            yield path

    return list(leaves((), iterable))


def apply_with_path(value: Any, fn: Callable[[tuple[int, ...], Any], Any], _path: tuple[int, ...] = ()) -> None:
    """fn(path, leaf) of all leaves of nested tuples and lists."""
    if isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            apply_with_path(item, fn, (*_path, index))
    else:
        fn(_path, value)


def is_power_of_two(x: int) -> bool:
    return x > 0 and x & (x - 1) == 0


def validate_block_shape(shape: list[int]) -> int:
    """The number of elements of a tile of that shape.

    :raises TypeError, ValueError: a size is no int, or no power of two; there are too many elements."""
    total = 1
    for number, size in enumerate(shape):
        if not isinstance(size, int):
            raise TypeError(f"Shape element {number} must have type `constexpr[int]`, got `constexpr[{type(size)}]")
        if not is_power_of_two(size):
            raise ValueError(f"Shape element {number} must be a power of 2")
        total *= size
    if total > 1048576:
        raise ValueError(f"numel ({total}) exceeds triton maximum tensor numel (1048576)")
    return total
