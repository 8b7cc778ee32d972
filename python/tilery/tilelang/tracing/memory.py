"""Tensors, buffers and their parts: what subscripts of them mean, and how the builder takes them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from tilery import _native

from ...core.checks import host_number
from ...errors import error, with_article
from ...frontend.wording import counted
from .coded import decode, encode
from .context import kernel
from .dtypes import CODED, dtype
from .shapes import show
from .values import Expr, Val, binary, difference, give_operators, read, select
from .vectors import MOST_LANES, Ramp, Vector, is_plain, lanes_of
from .words import BY_ELEMENT, WORDS, index_hint


class Memory:
    """A tensor parameter, a workspace or a buffer of a program. `scope` as upstream names it; `native`: the builder's buffer.
    Tensors have `strides` and the `divisibility` of their address in bytes."""

    __tile_word__ = WORDS["Memory"]
    divisibility = 1
    launch: Any = None  # the KernelState that a buffer was allocated in
    rows_at: tuple[int, int] | None = None  # what each thread has, kept as one for all (Roles.give_rows)
    kept_at: tuple[int, int] | None = None  # what threads have, not the block, and roles may have each (Roles.give_copies)
    kept_in = 0  # so many roles it was allocated in
    uses: dict[Any, bool]  # the roles that use it: do they change it?

    def __init__(
        self,
        shape: Sequence[Any],
        element: Any,
        scope: str,
        name: str | None = None,
        native: Any = None,
        strides: Sequence[Any] | None = None,
    ) -> None:
        self.shape, self.dtype, self.scope_name, self.name = tuple(shape), dtype(element), scope, name
        self.native, self.strides = native, strides

    def call(self, name: str) -> None:
        """Gives it the name of the variable that holds it first."""
        self.name = self.name or name

    def scope(self) -> str:
        return self.scope_name

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_global(self) -> bool:
        return self.scope_name == "global"

    @property
    def data(self) -> Data:
        """Its address, over which another tensor may be laid: T.Tensor(shape, dtype, A.data)."""
        return Data(self)

    def label(self) -> str:
        return self.name or "buffer"

    @property
    def coded(self) -> bool:
        return self.dtype in CODED

    def in_bytes(self, sizes: Sequence[Any]) -> list[Any]:
        """Extents or indices as memory has them: the last of two 4-bit elements a byte."""
        if self.dtype.pack == 1 or not sizes:
            return list(sizes)
        return [*sizes[:-1], binary("//", sizes[-1], 2) if sizes[-1] is not None else None]

    def accumulate_at(self, element: Element, op: str, value: Any) -> Any:
        """See Element.accumulate."""
        return None

    def check_access(self, what: str) -> None:
        """Kinds of memory with rules of their own refuse a "read of" or "store to" them here."""

    def __repr__(self) -> str:
        return f"{self.label()}: {self.dtype}{show(self.shape)} in {self.scope_name}"

    def __bool__(self) -> NoReturn:
        raise error(TypeError, f"buffer `{self.label()}` is used as a condition", hint="compare one of its elements")

    def __iter__(self) -> NoReturn:
        raise error(TypeError, f"buffer `{self.label()}` cannot be iterated over", hint=BY_ELEMENT)

    def __getitem__(self, item: Any) -> Any:
        items = item if isinstance(item, tuple) else (item,)
        if len(items) > self.ndim or (len(items) < self.ndim and not any(isinstance(i, slice) or i is Ellipsis for i in items)):
            raise error(
                IndexError,
                f"Buffer {self.label()} is {self.ndim}-dimensional (shape={show(self.shape)}), "
                f"but {len(items)} index(es) were provided",
            )
        if Ellipsis in [i for i in items if not isinstance(i, Expr)]:
            at = next(k for k, i in enumerate(items) if i is Ellipsis)
            items = (*items[:at], *[slice(None)] * (self.ndim - len(items) + 1), *items[at + 1 :])
        items = (*items, *[slice(None)] * (self.ndim - len(items)))
        if any(isinstance(i, Ramp) for i in items):
            return Lanes(self, items)
        if any(isinstance(i, slice) for i in items):
            return Region(self, *zip(*(self._range(i, k) for k, i in enumerate(items))))
        return Element(self, [self._index(i, k) for k, i in enumerate(items)])

    def whole(self) -> Any:
        """All of it, as a region."""
        return self[(slice(None),) * self.ndim]

    def __setitem__(self, item: Any, value: Any) -> None:
        target = self[item]
        if isinstance(target, Region) and isinstance(value, (Memory, Region)):
            _check_sizes(target, value)
            return copy(value, target)
        if isinstance(target, Region) and lanes_of(value) is None:
            return fill(target, value)
        target.store(value)

    def _index(self, index: Any, dim: int) -> Any:
        if isinstance(index := host_number(index), int) and index < 0:
            index = self.shape[dim] + index
        if isinstance(index, float) or not (isinstance(index, (int, Expr))):
            raise error(TypeError, f"an index of `{self.label()}` must be an integer, got {index!r}", hint=index_hint(index))
        if isinstance(index, Expr) and "float" in index.dtype:
            raise error(TypeError, f"an index of `{self.label()}` must be an integer, got {with_article(index.dtype)}")
        if not self.is_global and isinstance(index, int) and not 0 <= index < self.shape[dim]:
            raise error(
                IndexError, f"index {index} is out of range for dimension {dim} of `{self.label()}` (shape={show(self.shape)})"
            )
        return index.read() if hasattr(index, "read") else index

    def _range(self, item: Any, dim: int) -> tuple[Any, Any]:
        """(start, extent) of one dimension of a region; an extent that is not known at compile time is None."""
        if not isinstance(item, slice):
            return self._index(item, dim), 1
        if item.step not in (None, 1):
            raise error(RuntimeError, f"a slice of `{self.label()}` has step {item.step!r}; only 1 is supported")
        start = 0 if item.start is None else item.start
        stop = self.shape[dim] if item.stop is None else item.stop
        extent = difference(stop, start)
        return start, Unknown(stop, start) if extent is None else extent


class Data:
    """Where a memory's elements begin."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory


class Unknown:
    """An extent known at run time only."""

    def __init__(self, stop: Any, start: Any) -> None:
        self.stop, self.start = stop, start

    def __repr__(self) -> str:
        return f"({self.stop!r} - {self.start!r})"


class Region:
    """A rectangle of a Memory: starts and extents, one of each a dimension."""

    __tile_word__ = WORDS["Region"]

    def __init__(self, memory: Memory, starts: Sequence[Any], extents: Sequence[Any]) -> None:
        self.memory, self.starts, self.extents = memory, starts, extents

    @property
    def dtype(self) -> dtype:
        return self.memory.dtype

    @property
    def shape(self) -> Any:
        return self.extents

    def __repr__(self) -> str:
        def part(start: Any, extent: Any) -> str:
            return f"{start}:{start + extent}" if isinstance(start, int) and isinstance(extent, int) else "..."

        return f"{self.memory.label()}[{', '.join(map(part, self.starts, self.extents))}]"

    def elements(self) -> Any:
        """The elements, row by row."""
        if not all(isinstance(n, int) for n in self.extents) or math.prod(self.extents) > MOST_LANES:
            raise error(
                ValueError,
                f"a slice of `{self.memory.label()}` is no vector: it has {show(self.extents)} elements",
                hint=f"vectors have up to {MOST_LANES} elements; use T.copy, or a T.Parallel loop",
            )
        boxes = itertools.product(*map(range, self.extents))
        return [Element(self.memory, [start + step if step else start for start, step in zip(self.starts, box)]) for box in boxes]

    def read(self) -> Vector:
        return Vector([element.read() for element in self.elements()])

    def store(self, value: Any) -> None:
        store_lanes(self.elements(), value)


def store_lanes(elements: Any, value: Any) -> None:
    """Stores a vector, or one number everywhere."""
    lanes = lanes_of(value)
    if lanes is None:
        lanes = [value] * len(elements)
    if len(lanes) != len(elements):
        raise error(ValueError, f"{counted(len(lanes), 'number')} stand where {counted(len(elements), 'element')} are stored")
    for element, lane in zip(elements, list(map(read, lanes))):
        element.store(lane)


class Lanes:
    """`A[i, T.Ramp(base, stride, lanes)]`: elements side by side. A negative index counts from the end, known or not."""

    def __init__(self, memory: Memory, items: Sequence[Any]) -> None:
        counts = {item.lanes for item in items if isinstance(item, Ramp)}
        if len(counts) != 1 or any(isinstance(item, slice) for item in items):
            raise error(ValueError, f"vectors that index `{memory.label()}` must have as many lanes, and no slices beside them")
        self.memory, self.items, self.lanes = memory, items, counts.pop()

    @property
    def dtype(self) -> dtype:
        return self.memory.dtype

    def elements(self) -> Any:
        columns = []
        for dim, item in enumerate(self.items):
            if isinstance(item, Ramp):
                columns.append([self._wrapped(index, dim) for index in item.indices()])
            else:
                columns.append([item] * self.lanes)
        return [self.memory[place] for place in zip(*columns)]

    def _wrapped(self, index: Any, dim: int) -> Any:
        if isinstance(index, int):
            return index
        size = self.memory.shape[dim]
        return select(binary("<", index, 0), binary("+", index, size), index)

    def read(self) -> Vector:
        return Vector([element.read() for element in self.elements()])

    def store(self, value: Any) -> None:
        store_lanes(self.elements(), value)


def neighbours(place: Any, count: int) -> list[Element] | None:
    """The elements of a buffer, a slice or lanes, or so many from an element on; None: it is no place."""
    if isinstance(place, Memory):
        place = place.whole()
    if isinstance(place, Element):
        return place.neighbours(count)
    return list(place.elements()) if isinstance(place, (Region, Lanes)) else None


class Pending(Expr):
    """`acc[i] + x` of a reducer, which may be stored to acc[i] and nowhere else."""

    def __init__(self, element: Element, finish: Callable[[Element], None]) -> None:
        super().__init__()
        self.element, self.finish = element, finish

    @property
    def dtype(self) -> dtype:
        return self.element.dtype

    @property
    def __tile_value__(self) -> Any:
        return self.element.read().value  # which says what is wrong


def byte_strides(memory: Memory, strides: Sequence[Any]) -> list[Any]:
    """Strides in bytes of what lies two a byte; those that a call tells are."""
    if memory.dtype.pack == 1 or not strides:
        return list(strides)
    known = [binary("//", s, 2) if isinstance(s, (int, Expr)) and not isinstance(s, Val) else s for s in strides[:-1]]
    return [*known, strides[-1]]


class Element(Expr):
    """One element of a Memory; loaded when its value is needed, named when something is stored or copied there."""

    __slots__ = ("memory", "indices")

    def __init__(self, memory: Memory, indices: Sequence[Any]) -> None:
        super().__init__()
        self.memory, self.indices = memory, indices

    @property
    def dtype(self) -> dtype:
        return self.memory.dtype

    def accumulate(self, op: str, value: Any) -> Any:
        """What `element op value` is where it is no plain value: elements of reducers."""
        return self.memory.accumulate_at(self, op, value)

    def read(self) -> Val:
        trace = kernel(f"an element of `{self.memory.label()}`")
        if (there := self.located(trace)) is not self:
            return there.read()
        trace.check_private(self)
        self.memory.check_access("read of")
        if self.memory.coded:
            return decode(self.memory.dtype, self._code(trace))
        if self.memory.is_global:
            return Val(trace.native.load_place(self.place(trace), trace.safe_value(self.memory)))
        value = Val(trace.native.element_load(self.memory.native, self.indices))
        trace.check_load(self.memory, self.indices, value)
        return value

    def store(self, value: Any) -> None:
        trace = kernel(f"an element of `{self.memory.label()}`")
        if trace.chosen_sides:
            return trace.where_chosen(lambda: self.store(value))
        if isinstance(value, Pending):
            return value.finish(self)
        value = trace.settled(value, self.indices)
        if (there := self.located(trace, stores=True)) is not self:
            return there.store(value)
        trace.check_private(self)
        if self.memory.scope_name == "local":
            trace.ask_for_threads()
        self.memory.check_access("store to")
        if not is_plain(value):
            kind = "buffer" if isinstance(value, (Memory, Region)) else type(value).__name__
            several = "an element is one number: store each in an element of its own"
            hint = several if isinstance(value, (list, tuple)) else None
            raise error(TypeError, f"cannot store {with_article(kind)} in an element of `{self.memory.label()}`", hint=hint)
        if self.memory.coded:
            return self._store_code(trace, encode(self.memory.dtype, read(value)))
        value = as_stored(value, self.memory)
        if self.memory.is_global:
            trace.native.store_place(self.place(trace), value)
        else:
            trace.check_range(self.memory, self.indices)
            trace.native.element_store(self.memory.native, self.indices, value)

    def neighbours(self, count: int) -> list[Element]:
        """The element and those behind it in its row."""
        *outer, last = self.indices
        return [Element(self.memory, [*outer, last + place if place else last]) for place in range(count)]

    def located(self, trace: Any, stores: bool = False) -> Element:
        """The element of the memory that this one lies in: of a tensor with a layout, that of its places; of what each thread
        has, that of the threads which are here."""
        if place := trace.open.layouts.get(id(self.memory)):
            return place(self)
        trace.check_rows(self.memory, stores)
        return self

    def _raw(self, trace: Any) -> Val:
        """The byte that the element's code lies in."""
        if self.memory.is_global:
            return Val(trace.native.load_place(self.place(trace), None))
        return Val(trace.native.element_load(self.memory.native, self.memory.in_bytes(self.indices)))

    def _code(self, trace: Any) -> Val:
        raw, native = self._raw(trace), trace.native
        return raw if self.memory.dtype.pack == 1 else Val(native.function("nibble", raw, native.materialize(self.indices[-1])))

    def _store_code(self, trace: Any, code: Val) -> None:
        if self.memory.dtype.pack == 2:
            trace.check_pairs(self)
            place = trace.native.materialize(self.indices[-1])
            code = Val(trace.native.function("with_nibble", self._raw(trace), place, code))
        if self.memory.is_global:
            trace.native.store_place(self.place(trace), code)
        else:
            trace.check_range(self.memory, self.indices)
            trace.native.element_store(self.memory.native, self.memory.in_bytes(self.indices), code)

    def place(self, trace: Any) -> Any:
        return trace.native.view(trace.root(self.memory), self.memory.in_bytes(self.indices), (), [])

    @property
    def __tile_value__(self) -> Any:
        return self.read().value

    def __repr__(self) -> str:
        return f"{self.memory.label()}[...]"


class Reference(Element):
    """An element that a macro was given by reference: what is assigned to its name there is stored."""

    __slots__ = ()


def as_stored(value: Any, memory: Memory) -> Any:
    """A value as memory of a type holds it."""
    return kernel("a store").native.cast_finite(value, memory.dtype.storage)


class LocalVar(Expr):
    """`T.alloc_var`: the only name that keeps what loops and branches assign to it."""

    __slots__ = ("memory", "name", "bound")

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self.memory, self.name, self.bound = memory, None, False

    @property
    def dtype(self) -> dtype:
        return self.memory.dtype

    def read(self) -> Val:
        trace = kernel("a variable")
        if (there := self[0].located(trace)).memory is not self.memory:
            return there.read()
        return Val(trace.native.element_load(self.memory.native, [0]))

    def store(self, value: Any) -> None:
        trace = kernel("a variable")
        value = trace.settled(value)
        if (there := self[0].located(trace, stores=True)).memory is not self.memory:
            return there.store(value)
        trace.ask_for_threads()
        trace.native.element_store(self.memory.native, [0], as_stored(value, self.memory))

    @property
    def __tile_value__(self) -> Any:
        return self.read().value

    def __getitem__(self, index: Any) -> Any:
        return Element(self.memory, [index])

    def __setitem__(self, index: Any, value: Any) -> None:
        kernel("a variable").where_chosen(lambda: self.store(value))

    def __repr__(self) -> str:
        return self.name or "alloc_var"


def _check_sizes(target: Any, value: Any) -> None:
    """An assignment takes as many elements along each dimension as there are, where both are known."""
    here = [n for n in target.extents if n != 1]
    there = [n for n in (value.shape if isinstance(value, Memory) else value.extents) if n != 1]
    if len(here) == len(there) and any(isinstance(n, int) and isinstance(m, int) and n != m for n, m in zip(here, there)):
        raise error(
            ValueError,
            f"a slice of `{target.memory.label()}` has {show(here)} elements, but {show(there)} are assigned",
            hint="take slices of equal lengths",
        )


def _sizes(items: Sequence[Any]) -> list[int]:
    return [item if isinstance(item, int) else -1 for item in items]


def native_region(trace: Any, value: Any, what: str, reads: Any = False, as_bytes: bool = False) -> Any:
    """A buffer, region or element as the builder takes it; as_bytes: codes are what is meant, where memory holds codes."""
    if isinstance(value, LocalVar):
        value = value.memory
    memory = value if isinstance(value, Memory) else getattr(value, "memory", None)
    if copies := memory is not None and trace.copies_of(memory):
        first, *others = copies.here(stores=not reads)
        memory = first if reads or not others else others[-1]
        if others and not reads:
            copies.unshared = what  # until fill or copy has shared it
    if memory is None or memory.native is None and not memory.is_global and id(memory) not in trace.open.layouts:
        raise _no_memory(what, value)
    if memory.native is None and not memory.is_global:
        raise error(
            NotImplementedError,
            f"{what} does not take `{memory.label()}`, which each thread of a role has for itself and others name, too",
            hint="loop over its elements, or allocate it in the role",
        )
    memory.check_access("read of" if reads else "store to")
    if id(memory) in trace.open.layouts:
        raise error(
            NotImplementedError,
            f"{what} does not take `{memory.label()}`, whose elements lie as T.annotate_layout says",
            hint="copy it to a buffer, or loop over its elements",
        )
    if memory.coded and not as_bytes:
        raise error(
            NotImplementedError,
            f"{what} does not take `{memory.label()}`, whose type {memory.dtype} is computed with element by element",
            hint="loop over its elements, and convert them",
        )
    trace.check_rows(memory, stores=not reads)
    handle = trace.root(memory) if memory.is_global else memory.native
    shape = _sizes(memory.in_bytes(memory.shape))
    if isinstance(value, Memory):
        return _native.Region(handle, memory.label(), shape, [0] * len(shape), shape, True)
    if isinstance(value, Element):
        return _native.Region(handle, memory.label(), shape, _byte_starts(memory, value.indices), [], False)
    extents = _sizes(memory.in_bytes(value.extents))
    if memory.dtype.pack == 2 and not (isinstance(value.extents[-1], int) and value.extents[-1] % 2 == 0):
        raise error(ValueError, f"{what}: a region of `{memory.label()}` must hold whole bytes, two elements each")
    return _native.Region(handle, memory.label(), shape, _byte_starts(memory, value.starts), extents, False)


def _byte_starts(memory: Memory, starts: Sequence[Any]) -> list[Any]:
    """Where a region starts, of two elements a byte at an even one."""
    if memory.dtype.pack == 2:
        last = starts[-1]
        form, constant = last.affine() if isinstance(last, Expr) else ({}, last)
        if constant % 2 or any(factor % 2 for factor in form.values()):
            raise error(ValueError, f"a region of `{memory.label()}` must start at an even element: there are two a byte")
    return memory.in_bytes(starts)


def tile_op(what: str) -> Any:
    """The trace in progress, in which a tile operation may stand."""
    trace = kernel(what)
    trace.check_tile_op(what)
    return trace


give_operators(Region)
give_operators(Lanes)


def copy(src: Any, dst: Any) -> Any:
    """dst = src, by the rules of T.copy; in a parallel loop element by element."""
    trace = kernel("a slice")
    if trace.parallel:
        return dst.store(src)
    _native.copy_region(trace.native, *copied_regions(trace, src, dst, "a slice"), None)
    share(trace, dst)


def share(trace: Any, changed: Any) -> None:
    """What was changed outside of roles, which have copies of it, is changed in all of them."""
    copies = trace.copies_of(region_memory(changed))
    if copies and copies.unshared:
        copies.share()


def copied_regions(trace: Any, src: Any, dst: Any, what: str) -> tuple[Any, Any]:
    """Both sides of a copy; codes of one type are copied as bytes."""
    as_bytes = getattr(src, "dtype", None) == getattr(dst, "dtype", None)
    return native_region(trace, src, what, True, as_bytes), native_region(trace, dst, what, False, as_bytes)


def fill(region: Any, value: Any, what: str = "T.fill") -> Any:
    """Every element of a buffer or region gets `value`."""
    if isinstance(region, (Element, LocalVar)):
        return region.store(value)
    if isinstance(value, (Memory, Region)):
        raise error(TypeError, "T.fill takes a number as its value", hint="use T.copy for a buffer")
    trace = tile_op(what)
    if begin := getattr(region, "begin_by_fill", None):  # of a reducer
        return begin(trace, value)
    memory = region_memory(region, what)
    extents = region.extents if isinstance(region, Region) else memory.shape
    laid_out = id(memory) in trace.open.layouts and not trace.copies_of(memory)
    if laid_out or not all(isinstance(n, int) for n in extents):
        return _fill_elements(trace, region if isinstance(region, Region) else memory.whole(), value)
    if memory.coded:
        _fill_coded(trace, region, value, what)
    else:
        _native.fill_region(trace.native, native_region(trace, region, what), value)
    share(trace, region)


def region_memory(side: Any, what: str = "this") -> Memory:
    """The memory that a buffer, region or element is part of; TypeError for anything else, which names `what` takes it."""
    memory: Memory | None = side if isinstance(side, Memory) else getattr(side, "memory", None)
    if memory is None:
        raise _no_memory(what, side)
    return memory


def _no_memory(what: str, value: Any) -> Exception:
    return error(TypeError, f"{what} takes buffers, regions or elements, got {value!r}")


def _fill_coded(trace: Any, region: Any, value: Any, what: str) -> None:
    """Every byte of a region gets the code of a value, or two of them."""
    kind = region_memory(region).dtype
    code = encode(kind, read(value))
    if kind.pack == 2:
        code = Val(trace.native.function("two_nibbles", code, code))
    _native.fill_region(trace.native, native_region(trace, region, what, as_bytes=True), code)


def _fill_elements(trace: Any, region: Region, value: Any) -> None:
    """A loop over a region whose extents are known at run time only, or whose elements lie as a layout says."""
    native = trace.native
    if region.memory.native is None and not region.memory.is_global:  # each thread's own
        for place in itertools.product(*map(range, region.extents)):
            Element(region.memory, [binary("+", start, step) for start, step in zip(region.starts, place)]).store(value)
        return
    counts = (binary("-", n.stop, n.start) if isinstance(n, Unknown) else n for n in region.extents)
    indices = [Val(index) for index in native.parallel_begin([native.cast(count, "int32") for count in counts])]
    places = [binary("+", start, index) for start, index in zip(region.starts, indices)]
    Element(region.memory, places).store(value)
    native.parallel_end()
