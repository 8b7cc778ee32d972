"""What the parameters of an application stand for while it is traced: tiles of arranged tensors, read when mentioned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from tilery._native import arrange

from ..core.tile.creation import full
from ..core.tile.types import int64, unwrap
from ..core.tile.value import native, tensor, to_tensor, tracer, wrap
from ..errors import error
from ..frontend.operators import ARITHMETIC, COMPARISONS
from ..frontend.wording import counted
from . import elements


class Parameter:
    """One arranged argument of the kernel being traced. `bind(flattened, items)` gives its places and indices into the source:
    with dimensions of the source seen as the call allows, and dimensions of the tile indexed."""

    def __init__(
        self,
        name: str,
        tensor: arrange.Tensor,
        bind: Callable[[bool, Sequence[Any]], arrange.Argument],
        pointer: tensor,
        extents: Sequence[Any],
        strides: Sequence[Any],
        environment: Mapping[str, Any],
        exists: tensor | None = None,
        rows: tuple[Any, Any, Any] | None = None,
    ) -> None:
        self.name, self.tensor, self.bind = name, tensor, bind
        self.pointer, self.extents, self.strides, self.environment = pointer, extents, strides, environment
        self.rows = rows  # of a jagged tensor: (offsets, lengths or None, count)
        self.exists = exists  # whether this program is one of the argument's grid, a run-time bool; None: it is
        levels, level = [tensor], tensor
        for _ in range(tensor.levels - 1):
            level = level.dtype
            levels.append(level)
        self.levels = levels
        self.placed = False  # read or written through its arrangement, not only through `source`
        self.written = False  # or may be, by who knows its address
        self.middle = sum(level.ndim for level in levels[1:-1])
        self.rank = levels[-1].ndim if len(levels) > 1 else 0

    @property
    def tile_shape(self) -> list[int]:
        return list(self.bind(False, ()).tile_shape)

    @property
    def other(self) -> Any:
        return self.tensor.other

    @property
    def element(self) -> Any:
        return self.pointer.dtype.element_ty

    def load(self, items: Sequence[Any], indices: Sequence[Any]) -> Any:
        def there() -> tensor:
            return wrap(native().load_place(self.bind(True, items).place(indices), self.other))

        def nothing() -> tensor:
            return full(self.bind(False, items).tile_shape, 0 if self.other is None else self.other, self.element)

        return there() if self.exists is None else tracer().if_exp(self.exists, there, nothing)

    def store(self, items: Sequence[Any], indices: Sequence[Any], value: Any) -> None:
        self.written = True
        if self.exists is not None:
            native().if_begin(self.exists)
        native().store_place(self.bind(True, items).place(indices), value)
        if self.exists is not None:
            native().if_else()
            native().if_end([], [])

    def size(self, symbol: arrange.Symbol) -> Any:
        """A size of a level: an int if it is known, else a run-time scalar."""
        value = symbol.simplified().constant
        if value is not None:
            return value or 1  # a tile without elements is built with one that does not exist
        return wrap(arrange.emit(native(), symbol, self.environment))


class Level:
    """A level of an arranged tensor, as `x.dtype` gives it."""

    def __init__(self, parameter: Parameter, depth: int) -> None:
        self._parameter, self._depth = parameter, depth

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(self._parameter.size(s) for s in self._parameter.levels[self._depth].sizes)

    @property
    def ndim(self) -> int:
        return self._parameter.levels[self._depth].ndim

    @property
    def dtype(self) -> Any:
        parameter = self._parameter
        return parameter.element if self._depth + 1 >= len(parameter.levels) else Level(parameter, self._depth + 1)

    @property
    def scalar(self) -> Any:
        return self._parameter.element

    @property
    def __tile_dtype__(self) -> Any:  # a cast to a level's type is one to the elements of the tensor
        return self.scalar.__tile_dtype__


class SourceView:
    """`x.source`: the whole tensor. Its elements are read and written by index, those outside are left alone."""

    def __init__(self, parameter: Parameter) -> None:
        self._parameter = parameter

    @property
    def shape(self) -> tuple[tensor, ...]:
        return tuple(wrap(e) for e in self._parameter.extents)

    @property
    def ndim(self) -> int:
        return len(self._parameter.extents)

    @property
    def dtype(self) -> Any:
        return self._parameter.element

    @property
    def source(self) -> SourceView:
        return self

    def data_ptr(self) -> tensor:
        self._parameter.written = True
        return self._parameter.pointer

    def stride(self, dim: Any) -> tensor:
        return wrap(self._parameter.strides[unwrap(dim)])

    def _place(self, index: Any) -> Any:
        parameter = self._parameter
        index = index if isinstance(index, tuple) else (index,)
        if len(index) != self.ndim:
            raise error(
                IndexError,
                f"`{parameter.name}.source` has {counted(self.ndim, 'dimension')}, got {counted(len(index), 'index', 'indices')}",
            )
        items = [to_tensor(tracer().read(item)).to(int64) for item in index]
        offset: Any = 0
        exists: Any = None
        extents = list(parameter.extents)
        if parameter.rows:
            jagged_dim = parameter.tensor.jagged_dim
            start, extents[jagged_dim] = arrange.row_range(native(), parameter.rows, items[0].handle)
            offset = wrap(start) * wrap(parameter.strides[jagged_dim])
        for item, extent, stride in zip(items, extents, parameter.strides):
            inside = (item >= 0) & (item < wrap(extent))
            exists = inside if exists is None else exists & inside
            offset = item * wrap(stride) + offset
        pointers = parameter.pointer + offset
        return native().pointer_place(pointers, exists.broadcast_to(pointers.shape) if pointers.shape else exists)

    def __getitem__(self, index: Any) -> tensor:
        return wrap(native().load_place(self._place(index), self._parameter.other))

    def __setitem__(self, index: Any, value: Any) -> None:
        self._parameter.written = True
        native().store_place(self._place(index), unwrap(tracer().read(value)))


class Arranged:
    """A parameter, or `x[i]` of one. Each mention as a value reads memory anew; assigning to it writes.

    :param indices: into the levels between the program and the tile, then into the tile: numbers, scalars, tiles of indices.
    """

    def __init__(self, parameter: Parameter, indices: tuple[Any, ...] | None = None) -> None:
        self._parameter, self._indices = parameter, indices

    # -- memory ------------------------------------------------------------------------------------------------------
    def _selection(self) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...] | None]:
        """(indices for the arrangement, which dimensions of the tile it has indexed, tiles of indices into it or None)."""
        parameter, indices = self._parameter, self._indices or ()
        if self._indices is None and parameter.middle:
            place = ", ".join("ijklmn"[: parameter.middle])
            taken = "an index" if parameter.middle == 1 else f"{parameter.middle} indices"
            raise error(
                IndexError,
                f"`{parameter.name}` is no tile here but holds tiles, each at {taken}",
                hint=f"take one of them first: `{parameter.name}[{place}]`; one tile of all is "
                "`x.dtype = x.dtype.ravel()` in the arrangement",
            )
        outer, inner = indices[: parameter.middle], indices[parameter.middle :]
        ranges = [tracer().range_of(i) if elements.number(i) is None else None for i in inner]
        if sum(r is not None for r in ranges) > 1 or any(elements.number(i) is None and not r for i, r in zip(inner, ranges)):
            return outer, (), inner
        return (*outer, *(i for i, r in zip(inner, ranges) if r is None)), tuple(ranges), None

    def _shape(self) -> list[int] | None:
        """Of the tile that indices leave; None if they pick its lanes."""
        _, items, lanes = self._selection()

        return None if lanes is not None else list(self._parameter.bind(False, items).tile_shape)

    def _read(self) -> tensor:
        parameter = self._parameter
        indices, items, lanes = self._selection()
        parameter.placed = True
        value = parameter.load(items, indices)

        return value if lanes is None else elements.picked(value, parameter.tile_shape, lanes, parameter.other)

    def _write(self, value: Any) -> None:
        parameter = self._parameter
        value = tracer().read(value)
        if not isinstance(value, tensor) and not isinstance(unwrap(value), (bool, int, float)):
            raise error(TypeError, f"`{parameter.name}` is a tile: it can be assigned values, not a host {type(value).__name__}")
        indices, items, lanes = self._selection()
        parameter.placed = True
        if lanes is not None:
            elements.for_each(
                lanes, parameter.tile_shape, value, lambda lane, v: Arranged(parameter, (*indices, *lane))._write(v)
            )
            return
        shape = list(parameter.bind(False, items).tile_shape)
        given = value.shape if isinstance(value, tensor) else []
        if not _broadcasts(given, shape):
            raise error(
                ValueError,
                f"`{parameter.name}` is a tile of shape {tuple(shape)}, the value assigned to it has shape {tuple(given)}",
            )
        parameter.store(items, indices, unwrap(value))

    @property
    def __tile_value__(self) -> Any:
        return self._read().handle

    def __getitem__(self, index: Any) -> Any:
        parameter = self._parameter
        items = index if isinstance(index, tuple) else (index,)
        if self._indices is not None or any(i is None or isinstance(i, slice) for i in items):
            return self._read()[index]
        if len(items) < parameter.middle:
            raise error(
                IndexError,
                f"`{parameter.name}` takes {parameter.middle} indices between its program and its tile, got {len(items)}",
            )
        items = items[: parameter.middle + parameter.rank]  # more are ignored
        return Arranged(parameter, tuple(unwrap(tracer().read(i)) for i in items))

    def __setitem__(self, index: Any, value: Any) -> None:
        target = self[index]
        if not isinstance(target, Arranged):
            raise error(
                TypeError, f"an element of the tile `{self._parameter.name}` cannot be assigned", hint="assign the whole tile"
            )
        target._write(value)

    # -- description -------------------------------------------------------------------------------------------------
    @property
    def _depth(self) -> int:
        """The level that this stands for: what a program gets, or the tile that indices select."""
        return len(self._parameter.levels) - 1 if self._indices is not None else 1

    @property
    def shape(self) -> tuple[Any, ...]:
        if len(self._parameter.levels) == 1:
            return ()
        if len(self._indices or ()) > self._parameter.middle:
            shape = self._shape()
            return tuple(self._read().shape if shape is None else shape)
        return Level(self._parameter, self._depth).shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        depth = self._depth
        return self._parameter.element if depth + 1 >= len(self._parameter.levels) else Level(self._parameter, depth + 1)

    @property
    def source(self) -> SourceView:
        return SourceView(self._parameter)

    def offsets(self, dim: Any = None) -> tensor:
        """Index into dimension `dim` of the source of every lane; without `dim`, the offset from its first element."""
        parameter = self._parameter
        indices, items, lanes = self._selection()
        if lanes is not None:
            raise error(TypeError, f"`{parameter.name}[...].offsets()` takes numbers and ranges as indices, not tiles of them")
        argument = parameter.bind(False, items)
        if dim is None:
            return wrap(argument.linear_offsets(indices))
        dim, rank = unwrap(dim), len(parameter.extents)
        if not isinstance(dim, int) or not -rank <= dim < rank:
            raise error(IndexError, f"`{parameter.name}.offsets({dim})`: the tensor has {counted(rank, 'dimension')}")
        return wrap(argument.offsets(indices, dim % rank))

    def data_ptr(self) -> NoReturn:
        raise error(AssertionError, "Expected a source tensor.", hint=f"write `{self._parameter.name}.source.data_ptr()`")

    def stride(self, dim: Any) -> NoReturn:
        raise error(AssertionError, "Expected a source tensor.", hint=f"write `{self._parameter.name}.source.stride({dim})`")

    # -- values ------------------------------------------------------------------------------------------------------
    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._read(), name)

    def __bool__(self) -> bool:
        return bool(self._read())

    def __iter__(self) -> Any:
        return iter(self._read())

    __hash__ = object.__hash__


class Absent(Arranged):
    """A parameter whose argument is None or a tensor without elements: it may only be left unused."""

    _indices = None

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def _parameter(self) -> Parameter:  # type: ignore[override]
        raise error(TypeError, f"`{self._name}` was given no tensor with elements (None or a meta tensor), and is used")


def _broadcasts(given: Sequence[int], shape: Sequence[int]) -> bool:
    given = list(given)
    return len(given) <= len(shape) and all(a in (1, b) for a, b in zip(reversed(given), reversed(shape)))


def _forward(name: str) -> Callable[..., tensor]:
    def operation(self: Any, *others: Any) -> tensor:
        return getattr(self._read(), name)(*(o._read() if isinstance(o, Arranged) else o for o in others))

    return operation


_REFLECTED = (f"r{name}" for name in ARITHMETIC.values())
for _name in (*ARITHMETIC.values(), *_REFLECTED, *COMPARISONS.values(), "neg", "invert", "pos", "abs"):
    setattr(Arranged, f"__{_name}__", _forward(f"__{_name}__"))
