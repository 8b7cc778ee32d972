"""From arranged tensors and an application to tile IR: one kernel and the host function that checks and launches it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilery import _native
from tilery._native import arrange

from ..core.tile.tracer import refuse_result
from ..core.tile.value import activate, wrap
from ..errors import error
from ..frontend import position
from . import elements
from .arguments import Argument, host_name
from .arranged import Absent, Arranged, Parameter
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
    grid = _grid_argument(application, arguments)
    name = application.__name__
    native = _native.Builder("triton")
    native.set_position(position.current)
    with native:
        tracer = Tracer(native)
        tracer.absent = [a.name for a in arguments if a.is_constant and a.value is None]
        with activate(tracer):
            located, environment = arrange.begin_kernel(native, name, arguments, grid, masked)
            native.kernel_hints(hints)
            bound = [_bind(native, a, at, environment) for a, at in zip(arguments, located)]
            result = tracer.run(application, bound)
            refuse_result(result, application, name, f"assign it to a parameter: `{arguments[-1].name} = ...`")
            native.end_kernel()
        used = [i for i, b in enumerate(bound) if not arguments[i].is_constant and isinstance(b, Arranged)]
        if debug and not any(bound[i]._parameter.written for i in used):
            raise error(
                TypeError,
                f"`{name}` assigns none of its parameters: a launch changes nothing",
                hint=f"assign the result to one of them: `{arguments[-1].name} = ...`",
            )
        placed = [] if masked else [i for i in used if bound[i]._parameter.placed]
        inner = not masked and not debug  # a debug launch checks each product where it is computed
        arrange.build_host(native, name, host_name(application), arguments, grid, placed, debug or checks_sizes, inner)

        return native.finish()


def _grid_argument(application: Callable[..., Any], arguments: Sequence[Argument]) -> int:
    """The argument whose outermost level is the grid: the first tensor."""
    for i, a in enumerate(arguments):
        if not a.is_scalar and not a.is_constant:
            return i
    raise error(TypeError, f"`{application.__name__}` has no tensor argument: its grid is the outermost level of the first one")


def _bind(native: _native.Builder, a: Argument, at: Any, environment: dict[str, Any]) -> Any:
    """What the application's parameter is while it is traced."""
    if a.is_constant:
        return a.value if a.is_scalar else Absent(a.name)
    if a.is_scalar:
        return wrap(at.value)
    pointer, extents, strides = at.value, at.extents, at.strides
    own = seen = a.tensor, extents, strides
    if a.flattened:
        seen = a.flattened.tensor, *a.flattened.sizes(native, extents, strides, environment)

    def build(flattened: bool, items: Sequence[Any]) -> Any:
        tensor, *sizes = seen if flattened else own
        tensor = elements.restricted(tensor, items)
        return arrange.Argument(native, tensor, pointer, *sizes, at.program, environment, at.rows, at.row)

    whole = {flattened: build(flattened, ()) for flattened in (False, True)}  # at the head of the kernel: all of it sees them

    def bind(flattened: bool, items: Sequence[Any]) -> Any:
        return build(flattened, items) if items else whole[flattened]

    exists = None if at.exists is None else wrap(at.exists)
    return Arranged(Parameter(a.name, a.tensor, bind, wrap(pointer), extents, strides, environment, exists, at.rows))
