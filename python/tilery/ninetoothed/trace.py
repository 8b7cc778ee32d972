"""From arranged tensors and an application to tile IR: one kernel and the host function that checks and launches it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tilery import _native
from tilery._native import arrange
from tilery._native.arrange import Symbol

from ..core.tile.tracer import refuse_result
from ..core.tile.value import activate, wrap
from ..errors import error
from ..frontend import position
from . import elements, jagged
from .arguments import DIFFERENT_GRIDS, Argument, host_name, host_parameters
from .arranged import Absent, Arranged, Parameter
from .language.programs import program_id
from .tracer import Tracer


def compile_application(
    application: Callable[..., Any],
    arguments: Sequence[Argument],
    hints: Mapping[str, Any] | None = None,
    masked: bool = False,
    debug: bool = False,
    checks_sizes: bool = False,
) -> Any:
    """Traces. hints: {name: value} for targets. Returns the module.

    :param masked: the arguments' grids differ: each takes its own digits of the linear id, and has no elements for the ids that
        its grid lacks. Otherwise the host function checks that they are one.
    :param checks_sizes: the host function also checks that what is cut into the same tiles has the same size.
    :raises TypeError: with debug, of an application that writes nothing.
    """
    first = _grid_argument(application, arguments)
    native = _native.Builder("triton")
    native.set_position(position.current)
    with native:
        tracer = Tracer(native)
        tracer.absent = [a.name for a in arguments if a.is_constant and a.value is None]
        used = _kernel(native, tracer, application, arguments, first, hints, masked, debug)
        _host(native, application, arguments, first, set() if masked else used, debug or checks_sizes)

        return native.finish()


def _grid_argument(application: Callable[..., Any], arguments: Sequence[Argument]) -> Argument:
    """The argument whose outermost level is the grid: the first tensor."""
    for a in arguments:
        if not a.is_scalar and not a.is_constant:
            return a
    raise error(TypeError, f"`{application.__name__}` has no tensor argument: its grid is the outermost level of the first one")


def _kernel(
    native: _native.Builder,
    tracer: Tracer,
    application: Callable[..., Any],
    arguments: Sequence[Argument],
    first: Argument,
    hints: Mapping[str, Any] | None,
    masked: bool,
    debug: bool,
) -> set[Argument]:
    parameters = []
    for a in arguments:
        if a.is_constant:
            continue
        if a.is_scalar:
            parameters.append((a.name, _native.Type(a.dtype), 1))
            continue
        parameters.append((a.name, _native.Type(a.dtype, (), True), a.divisibility))
        sizes = enumerate(a.extents, a.first_dim)
        parameters += [(f"{a.name}_size_{d}", _native.Type("int64"), kind or 1) for d, kind in sizes]
        strides = [(d, kind or 1) for d, kind in enumerate(a.strides, a.first_dim) if kind != 1]
        parameters += [(f"{a.name}_stride_{d}", _native.Type("int64"), factor) for d, factor in strides]
        parameters += jagged.parameters(a) if a.is_jagged else []
    with activate(tracer):
        values = iter(native.begin_kernel(application.__name__, parameters))
        native.kernel_hints(hints)
        environment, own = {}, []
        for a in arguments:
            if a.is_constant or a.is_scalar:
                own.append(None if a.is_constant else next(values))
                continue
            pointer, rows = next(values), None
            extents = [next(values) for _ in a.extents]
            strides = [native.constant(1, "int64") if kind == 1 else next(values) for kind in a.strides]
            if a.is_jagged:
                rows, longest = jagged.rows(a, values)
                extents[: a.tensor.jagged_dim] = [rows[2], *extents[: a.tensor.jagged_dim - 1], longest]
                strides.insert(0, native.constant(0, "int64"))
                environment[a.longest_name] = longest
            environment.update({a.size_name(d): e for d, e in enumerate(extents)})
            own.append(_Place(pointer, extents, strides, rows))
        first_program = _program(native, first.tensor, environment)
        for a, place in zip(arguments, own):
            if isinstance(place, _Place):
                place.program, place.exists = _own_program(native, a, first, first_program, environment, masked)
        # Until here sizes of grids are those of the longest rows; from here on, where a program has one row, that one's.
        for a, place in zip(arguments, own):
            if a.is_jagged and isinstance(place, _Place):
                place.enter_row(native, a, environment)
        bound = [_bind(native, a, values, environment) for a, values in zip(arguments, own)]
        result = tracer.run(application, bound)
        refuse_result(result, application, application.__name__, f"assign it to a parameter: `{arguments[-1].name} = ...`")
        native.end_kernel()
        if debug and not any(isinstance(b, Arranged) and not isinstance(b, Absent) and b._parameter.written for b in bound):
            raise error(
                TypeError,
                f"`{application.__name__}` assigns none of its parameters: a launch changes nothing",
                hint=f"assign the result to one of them: `{arguments[-1].name} = ...`",
            )

        return {a for a, b in zip(arguments, bound) if not a.is_constant and isinstance(b, Arranged) and b._parameter.placed}


class _Place:
    """Where a tensor argument lies, and which of its tiles are the program's.

    :param rows: of a jagged one: (offsets, lengths or None, count). ``row``: where the one row begins that a program's tiles
        lie in, if there is one.
    """

    def __init__(self, pointer: Any, extents: list[Any], strides: list[Any], rows: tuple[Any, Any, Any] | None) -> None:
        self.pointer, self.extents, self.strides, self.rows = pointer, extents, strides, rows
        self.program: list[Any] = []
        self.exists = self.row = None

    def enter_row(self, native: _native.Builder, a: Argument, environment: dict[str, Any]) -> None:
        row = arrange.program_row(a.tensor, self.program)
        if row is not None:
            self.row, length = arrange.row_range(native, self.rows, arrange.emit(native, row, environment))
            self.extents[a.tensor.jagged_dim] = environment[a.size_name(a.tensor.jagged_dim)] = length


def _own_program(
    native: _native.Builder, a: Argument, first: Argument, program: list[Any], environment: dict[str, Any], masked: bool
) -> tuple[list[Any], Any]:
    """(this program's index into the outermost level of an argument, whether it is one of the argument's programs, or None)."""
    if a is first or not masked and a.tensor.ndim == first.tensor.ndim:
        return program, None
    program, linear = _unravelled(native, a, environment)
    if not masked or not a.tensor.ndim:
        return program, None
    count = _product(native, [arrange.emit_count(native, size, environment) for size in a.tensor.sizes])

    return program, wrap(native.binary("<", linear, count))


def _bind(native: _native.Builder, a: Argument, values: Any, environment: dict[str, Any]) -> Any:
    """What the application's parameter is while it is traced."""
    if a.is_constant:
        return a.value if a.is_scalar else Absent(a.name)
    if a.is_scalar:
        return wrap(values)
    place, pointer, extents, strides = values, values.pointer, values.extents, values.strides
    own = seen = a.tensor, extents, strides
    if a.flattened:
        seen = a.flattened.tensor, *a.flattened.sizes(native, extents, strides, environment)

    def build(flattened: bool, items: Sequence[Any]) -> Any:
        tensor, *sizes = seen if flattened else own
        tensor = elements.restricted(tensor, items)
        return arrange.Argument(native, tensor, pointer, *sizes, place.program, environment, place.rows, place.row)

    whole = {flattened: build(flattened, ()) for flattened in (False, True)}  # at the head of the kernel: all of it sees them

    def bind(flattened: bool, items: Sequence[Any]) -> Any:
        return build(flattened, items) if items else whole[flattened]

    return Arranged(Parameter(a.name, a.tensor, bind, wrap(pointer), extents, strides, environment, place.exists, place.rows))


def _program(native: _native.Builder, tensor: Any, environment: dict[str, Any]) -> list[Any]:
    """Names of this program's index into every dimension of the outermost level; their values go to `environment`.

    The last dimension is grid axis 0, the one before it axis 1, all others share axis 2: the linear id of a program is row-major.
    """
    names = [Symbol(f"ninetoothed_program_{d}") for d in range(tensor.ndim)]
    shape = tensor.sizes
    for axis, d in enumerate(reversed(range(tensor.ndim))):
        if axis < 2 or tensor.ndim == 3:
            index = native.cast(native.program_id(axis), "int64")
        else:
            index = _digit(native, native.cast(native.program_id(2), "int64"), shape[: tensor.ndim - 2], d, environment)
        environment[repr(names[d])] = index

    return names


def _unravelled(native: _native.Builder, a: Argument, environment: dict[str, Any]) -> tuple[list[Any], Any]:
    """The same for an argument with a grid of its own, the digits of the linear id, and that id."""
    names = [Symbol(f"ninetoothed_{a.tensor.name}_program_{d}") for d in range(a.tensor.ndim)]
    linear = native.cast(program_id(0).handle, "int64")
    environment.update({repr(name): _digit(native, linear, a.tensor.sizes, d, environment) for d, name in enumerate(names)})

    return names, linear


def _digit(native: _native.Builder, linear: Any, shape: Sequence[Any], d: int, environment: dict[str, Any]) -> Any:
    """Index into dimension `d` of a row-major linear index; of an empty shape, some number."""

    def divisor(size: Any) -> Any:
        value = size.simplified().constant
        if value is not None:
            return native.constant(max(value, 1), "int64")
        return native.binary("max", arrange.emit(native, size, environment), native.constant(1, "int64"))

    inner = Symbol(1)
    for size in shape[d + 1 :]:
        inner = inner * size
    index = native.binary("truncdiv", linear, divisor(inner))

    return native.binary("truncmod", index, divisor(shape[d])) if d > 0 else index


def _host(
    native: _native.Builder,
    application: Callable[..., Any],
    arguments: Sequence[Argument],
    first: Argument,
    used: set[Argument],
    checks_sizes: bool,
) -> None:
    handles = iter(native.begin_host(host_name(application), host_parameters(arguments)))
    environment, launch = {}, []
    for a in arguments:
        if a.is_constant:
            continue
        handle = next(handles)
        if a.is_scalar:
            launch.append(handle)
            continue
        extents = [native.host_extent(handle, d) for d in range(len(a.extents))]
        launch += [native.host_pointer(handle), *extents]
        launch += [native.host_stride(handle, d) for d, kind in enumerate(a.strides) if kind != 1]
        if a.is_jagged:
            count, longest, rows = jagged.host_rows(native, a, handles)
            extents[: a.tensor.jagged_dim] = [count, *extents[: a.tensor.jagged_dim - 1], longest]
            environment[a.longest_name] = longest
            launch += rows
        environment.update({a.size_name(d): e for d, e in enumerate(extents)})
        for d, size in enumerate(a.tensor.source.sizes):
            if size.constant is not None:
                native.host_check(
                    extents[d],
                    native.constant(size.constant, "int64"),
                    f"argument `{a.name}` has size {{0}} in dimension {d}, its arrangement was made for {{1}}",
                )
    known = {}

    def value(size: Any) -> Any:
        size = size.simplified()
        if size not in known:
            known[size] = arrange.emit_count(native, size, environment)
        return known[size]

    grid = [value(size) for size in first.tensor.sizes]
    placed = [a for a in arguments if a in used]
    _check_sizes_of_one(native, placed, value)
    _check_grids(native, placed, first, grid, value)
    if checks_sizes:
        _check_sizes(native, placed, value)
    axes = list(reversed(grid)) or [native.constant(1, "int64")]
    while len(axes) > 3:
        axes[2] = native.binary("*", axes[2], axes.pop(3))
    native.launch(application.__name__, axes, launch)
    native.end_host([])


def _check_sizes_of_one(native: _native.Builder, arguments: Sequence[Argument], value: Callable[[Any], Any]) -> None:
    """What arrangements leave out or repeat must have size 1 in this call: only first elements are read of it."""
    uses = {"squeeze": "leaves out", "expand": "repeats"}
    for a in arguments:
        for size, operation, level, dim in a.tensor.sizes_of_one:
            what = f"the arrangement of argument `{a.name}` {uses[operation]} dimension {dim} (`{'dtype.' * level}{operation}`)"
            native.host_check(value(size), native.constant(1, "int64"), f"{what}, which has size {{0}} in this call, not {{1}}")


def _check_grids(
    native: _native.Builder, arguments: Sequence[Argument], first: Argument, grid: list[Any], value: Callable[[Any], Any]
) -> None:
    """Every argument that is read or written tile by tile must have one tile (or set of tiles) for every program."""
    for a in arguments:
        if a is first:
            continue
        what = f"arguments `{first.name}` and `{a.name}` {DIFFERENT_GRIDS}: {{0}} and {{1}} programs"
        sizes = [value(size) for size in a.tensor.sizes]
        if len(sizes) != len(grid):
            native.host_check(_product(native, grid), _product(native, sizes), what)
            continue
        for d, (mine, theirs) in enumerate(zip(grid, sizes)):
            if mine is not theirs:
                native.host_check(mine, theirs, f"{what} in dimension {d} of the outermost level")


def _check_sizes(native: _native.Builder, arguments: Sequence[Argument], value: Callable[[Any], Any]) -> None:
    """Dimensions that are cut in the same way along one dimension of the grid must have one size: else elements of the larger one
    meet none of the smaller. Where the arrangement says what elements outside are, that may be meant."""
    said = [a for a in arguments if not a.is_jagged and a.tensor.other is None]
    own = {a.size_name(d): (a, d) for a in said for d in range(a.rank)}
    cut: dict[Any, tuple[Argument, int]] = {}  # by dimension of the grid, and how a size gives the number of tiles
    for a in said:
        for axis, size in enumerate(a.tensor.sizes):
            names = size.names()
            found = own.get(repr(next(iter(names)))) if len(names) == 1 else None
            if not found:
                continue
            key = a.tensor.ndim, axis, size.substitute({repr(n): Symbol("size") for n in names}).simplified()
            other = cut.setdefault(key, found)
            if other != found:
                (x, i), (y, j) = other, found
                what = f"arguments `{x.name}` and `{y.name}` are cut into the same tiles"
                sizes = [value(Symbol(t.size_name(d))) for t, d in (other, found)]
                native.host_check(*sizes, f"{what}, and have {{0}} and {{1}} elements there (in their dimensions {i} and {j})")


def _product(native: _native.Builder, values: Iterable[Any]) -> Any:
    total = native.constant(1, "int64")
    for value in values:
        total = native.binary("*", total, value)

    return total
