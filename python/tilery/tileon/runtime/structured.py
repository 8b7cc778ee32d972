"""Launches whose arguments are structures (tuples, descriptors) or known at compile time (functions, types, constexpr): they are
taken apart into tensors and numbers, and a launcher of its own for each kind of structure takes those."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

from tilery import _native

from ...core.tile import types
from ...core.tile.coded import coded_pointer
from ...core.tile.window import Block, tensor_descriptor
from ...errors import error
from ..tools.tensor_descriptor import TensorDescriptor
from .tensors import CodedWrapper, is_coded

# What describes an argument: None (a leaf, which the native launcher takes), or a tuple whose first element is its kind.
Description = tuple[Any, ...] | None
_CONSTANT, _TUPLE, _DESCRIPTOR, _CODED = "constant", "tuple", "descriptor", "coded"


_FLAT = [(_TUPLE, tuple, *[None] * n) for n in range(16)]  # of tuples of so many leaves
_LEAVES: set[type] = {int, float, bool, type(None)}  # types of which values are leaves; more are added as they come
_NUMBERS = frozenset(_LEAVES)


def take_apart(value: Any, leaves: list[Any]) -> Description:
    """Describes an argument; appends what it consists of to `leaves`."""
    kind = type(value)
    if kind in _LEAVES and not is_coded(value):
        leaves.append(value)
        return None
    if kind is tuple:
        if _NUMBERS.issuperset(map(type, value)):
            leaves += value
            return _FLAT[len(value)] if len(value) < len(_FLAT) else (_TUPLE, tuple, *[None] * len(value))
        return (_TUPLE, tuple, *[take_apart(v, leaves) for v in value])
    if kind is TensorDescriptor:
        shape = value.shape
        leaves.append(value.base)
        leaves += shape
        leaves += value.strides
        leaves.pop()  # the last stride is 1
        return _DESCRIPTOR, len(shape), value.padding, *value.block_shape
    if kind is CodedWrapper or is_coded(value):
        value = CodedWrapper(value, value.dtype) if kind is not CodedWrapper else value
        leaves.append(value.codes)
        return _CODED, value.coding
    if isinstance(value, tuple):
        fields = getattr(kind, "_fields", None)
        if fields is None:
            return take_apart(tuple(value), leaves)
        return (_TUPLE, kind, *[_field(kind, name, v, leaves) for name, v in zip(fields, value)])
    if hasattr(kind, "__tile_structure__"):
        value = types.unwrap(value)
        return _CONSTANT, type(value), value
    _LEAVES.add(kind)
    leaves.append(value)
    return None


def _field(kind: type, name: str, value: Any, leaves: list[Any]) -> Description:
    if types.is_constexpr(kind.__annotations__.get(name)):
        value = types.unwrap(value)
        return _CONSTANT, type(value), value
    return take_apart(value, leaves)


def put_together(description: Description, leaves: Iterator[Any]) -> Any:
    """The argument as a kernel sees it, of what `take_apart` gave."""
    if description is None:
        return next(leaves)
    kind, *rest = description
    if kind == _CONSTANT:
        return rest[1]
    if kind == _TUPLE:
        parts = [put_together(d, leaves) for d in rest[1:]]
        return tuple(parts) if rest[0] is tuple else rest[0](*parts)
    if kind == _CODED:
        return coded_pointer(next(leaves), types.dtype(rest[0]))
    rank, padding, *block = rest
    base, *numbers = [next(leaves) for _ in range(2 * rank)]
    return tensor_descriptor(base, numbers[:rank], [*numbers[rank:], 1], Block(block, base.dtype.element_ty), padding == "nan")


def count(description: Description) -> int:
    """The leaves of an argument."""
    if description is None:
        return 1
    if description[0] == _TUPLE:
        return sum(count(d) for d in description[2:])
    if description[0] == _CODED:
        return 1
    return 2 * description[1] if description[0] == _DESCRIPTOR else 0


class Flat:
    """A kernel whose parameters are the leaves of arguments of one structure; the compiler takes it for a JITFunction."""

    def __init__(self, kernel: Any, structure: tuple[Description, ...], compile: Callable[..., Any]) -> None:
        self.kernel, self.structure = kernel, structure
        self.fn, self.debug, self.arg_names, self.refused = kernel.fn, kernel.debug, kernel.arg_names, kernel.refused
        self.interpreted = kernel.interpreted
        self.params: list[Any] = []
        for parameter, description in zip(kernel.params, structure):
            for number in range(count(description)):
                leaf = copy(parameter)
                leaf.name = parameter.name if description is None else f"{parameter.name}.{number}"
                leaf.index, leaf.has_default = len(self.params), False
                self.params.append(leaf)
        options = [p for p in kernel.native_parameters if p[1] == "option"]
        native = [p.native() for p in self.params] + options
        self.launcher = _native.Launcher(kernel.fn.__name__, native, functools.partial(compile, self))
        self.watch = self.launcher.watch

    def assemble(self, leaves: Sequence[Any]) -> list[Any]:
        """The arguments of the function that is traced, of the leaves' values."""
        values = iter(leaves)
        return [put_together(d, values) for d in self.structure]


class Launches:
    """The launches of one kernel whose arguments are structures."""

    def __init__(self, kernel: Any, compile: Callable[..., Any]) -> None:
        self.kernel, self.compile = kernel, compile
        self.known = [p.is_constexpr for p in kernel.params]
        self.flats: dict[tuple[Description, ...], Flat] = {}
        # What the native launcher reads, to take arguments of a kind that there has been apart itself.
        self.met: tuple[dict[tuple[Description, ...], Any], set[type], type] = {}, _LEAVES, TensorDescriptor

    def __call__(self, grid: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        values, options = self._bound(args, kwargs) if kwargs or len(args) != len(self.known) else (args, kwargs)
        leaves: list[Any] = []
        structure: list[Description] = []
        for value, known in zip(values, self.known):
            if known or type(value) in _NUMBERS:
                leaves.append(value)
                structure.append(None)
            else:
                structure.append(take_apart(value, leaves))
        key = tuple(structure)
        flat = self.flats.get(key)
        if flat is None:
            flat = self.flats[key] = Flat(self.kernel, key, self.compile)
            self.met[0][key] = flat.launcher
        if type(grid) is not tuple and callable(grid):
            grid = grid({**self.kernel.option_defaults, **options, **dict(zip(self.kernel.arg_names, values))})
        launch = flat.launcher[grid]
        return launch(*leaves, **options) if options else launch(*leaves)

    def _bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """(a value for each parameter, options)"""
        kernel = self.kernel
        bound = dict(zip(kernel.arg_names, args))
        options: dict[str, Any] = {}
        for name, value in kwargs.items():
            (bound if name in kernel.by_name else options)[name] = value
        for parameter in kernel.params:
            if parameter.name not in bound:
                if not parameter.has_default:
                    raise error(TypeError, f"{kernel.fn.__name__}() is missing the argument '{parameter.name}'")
                bound[parameter.name] = parameter.default
        return [bound[name] for name in kernel.arg_names], options
