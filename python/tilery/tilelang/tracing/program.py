"""From a PrimFunc to a module: its kernels, and the host function that checks a call, binds sizes, allocates and launches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tilery import _native

from ...core.frames import of_function
from ...errors import error
from ...frontend import position
from ...frontend.wording import counted
from .arithmetic import Arithmetic
from .context import NeedsArithmetic, NeedsCopies, NeedsInbox, NeedsPairs, NeedsRounds, NeedsRows, NeedsThreads, NeedsTurns
from .memory import Memory
from .shapes import TensorType, row_major
from .values import Expr, Node, Var, binary, sizes_in, written
from .work import Work

if TYPE_CHECKING:
    from .phases import NeedsWorkspace
    from .trace import Trace


class CallStride:
    """A stride that each call tells; `divisibility`: a factor it is known to have."""

    def __init__(self, divisibility: int = 1) -> None:
        self.divisibility = divisibility


def build(
    prim_func: Any,
    output_positions: Sequence[int],
    layouts: Mapping[str, Any],
    left_out: Sequence[str] = (),
    work: Work | None = None,
    lone: bool = False,
    arithmetic: Arithmetic = Arithmetic(),
    given_results: int = 0,
) -> Any:
    """The module of `prim_func`: its kernels and the host function `host_name`. layouts: parameter name -> (divisibility of the
    address in bytes, [1, 16 or 0 a stride]).
    A parameter whose position is in output_positions is allocated by the call; one named in `left_out` is None.
    lone: for a target whose blocks are one thread. arithmetic: what is said of it goes before what the body says.
    given_results: the call gives what T.empty makes, too, behind its arguments, at addresses that divide by this; 0: not."""
    from .phases import NeedsWorkspace  # what the disk cache has is not traced

    needed: list[NeedsWorkspace] = []
    scalars: dict[str, Var] = {}
    threaded: set[tuple[Any, Any]] = set()  # what is programmed for threads, allocations that have a row for each thread, loops
    while True:
        try:
            return _build(
                prim_func, output_positions, layouts, left_out, work, lone, arithmetic, given_results, needed, scalars, threaded
            )
        except NeedsArithmetic as needs:
            arithmetic = arithmetic.or_else(needs.wanted)
        except NeedsWorkspace as need:
            needed.append(need)
        except (NeedsThreads, NeedsRows, NeedsCopies, NeedsTurns, NeedsRounds, NeedsInbox, NeedsPairs) as needs:
            threaded.add(needs.place)


def _build(
    prim_func: Any,
    output_positions: Sequence[int],
    layouts: Mapping[str, Any],
    left_out: Sequence[str],
    work: Work | None,
    lone: bool,
    arithmetic: Arithmetic,
    given_results: int,
    needed: Sequence[NeedsWorkspace],
    scalars: dict[str, Var],
    threaded: set[tuple[Any, Any]],
) -> Any:
    from .trace import Trace

    native = _native.Builder("tir")
    native.set_position(position.current)
    with Trace(native, prim_func.__name__) as trace:
        trace.threaded, trace.lone, trace.arithmetic = threaded, lone, arithmetic
        trace.results_divide_by = given_results or trace.results_divide_by
        native.fast_math(bool(arithmetic.fast))
        if arithmetic.fused is False:
            native.round_each()
        arguments: list[Any] = []
        for index, (name, kind) in enumerate(prim_func.params):
            if isinstance(kind, TensorType):
                is_output = index in output_positions
                arguments.append(
                    absent(trace, name, kind) if name in left_out else _tensor(trace, name, kind, is_output, layouts.get(name))
                )
            else:
                var = scalars.setdefault(name, Var(name, kind))  # sizes of workspaces may name it
                trace.add_size(var)
                arguments.append(var)
        for memory, _ in trace.tensors:
            for size in sizes_in((*memory.shape, *(memory.strides or ()))):
                trace.add_size(size)
        _bind_absent(trace, arguments)
        for need in needed:
            trace.workspaces[need.key] = trace.add_tensor(Memory(need.shape, need.element, "global"), "workspace")
        trace.eager, trace.work = prim_func.eager, work
        result = trace.run(prim_func.function, *prim_func.bind(arguments))
        outputs = _outputs(prim_func, trace, result, output_positions)
        prim_func.notes = dict(trace.notes)
        prim_func.used = [name for (name, _), value in zip(prim_func.params, arguments) if id(value) in trace.used]
        if result is not None:
            prim_func.notes["tilelang_out_idx"] = list(range(-len(outputs), 0))
            prim_func.notes["outputs"] = _named(outputs, [name for name, _ in prim_func.params])
        params = host_parameters(prim_func, output_positions, left_out)
        if given_results and result is not None:
            params += _give(trace, outputs, prim_func.notes["outputs"])
            outputs = []
        _host(trace, prim_func, params, scalars, outputs)
        return native.finish()


def count(prim_func: Any) -> Work:
    """What its tile operations compute and move."""
    work = Work()
    build(prim_func, [], dict(usual_layouts(prim_func.params)), work=work)
    return work


def usual_layouts(params: Sequence[tuple[Any, ...]], output_positions: Sequence[int] = ()) -> tuple[Any, ...]:
    """The layouts of row-major tensors as libraries allocate them: ((name, layout), ...) in the order of the names."""
    layouts = []
    for number, (name, kind) in enumerate(params):
        if isinstance(kind, TensorType) and kind.shape and number not in output_positions:
            steps = kind.strides or row_major(kind.shape)
            classes = [1 if isinstance(s, int) and s == 1 else 16 if isinstance(s, int) and s % 16 == 0 else 0 for s in steps]
            layouts.append((name, (16, tuple(classes))))
    return tuple(sorted(layouts))


def _tensor(trace: Trace, name: str, kind: TensorType, is_output: bool, layout: Any) -> Memory:
    memory = Memory(kind.shape, kind.dtype, "global", name)
    memory.divisibility, classes = layout or (16 if is_output else 1, [])  # outputs are made by the call
    if kind.strides is not None:
        memory.strides = list(kind.strides)
    elif is_output:
        memory.strides = row_major(kind.shape)
    else:
        memory.strides = [1 if c == 1 else CallStride(c or 1) for c in classes] or [CallStride() for _ in kind.shape]
    return trace.add_tensor(memory, "output" if is_output else "argument")


def _outputs(prim_func: Any, trace: Trace, result: Any, output_positions: Sequence[int]) -> list[Memory]:
    """The tensors a call returns: those of out_idx, or those the function returns."""
    made = [memory for memory, role in trace.tensors if role == "output"]
    place = of_function(prim_func.function)
    if output_positions:
        if result is not None:
            conflict = f"Out index conflict: `{prim_func.__name__}` returns tensors and has out_idx"
            raise error(ValueError, conflict, hint="use one of them", chain=place)
        names = [prim_func.params[i][0] for i in output_positions]
        return [next(m for m in made if m.name == name) for name in names]
    returned = [] if result is None else list(result) if isinstance(result, (tuple, list)) else [result]
    for memory in returned:
        if not any(memory is m for m in made):
            raise error(ValueError, f"`{prim_func.__name__}` returns something that T.empty did not make", chain=place)
    if len(returned) != len(made):
        raise error(
            ValueError,
            f"`{prim_func.__name__}` makes {counted(len(made), 'tensor')} with T.empty and returns {len(returned)}",
            hint="return all of them; T.alloc_global makes a workspace",
            chain=place,
        )
    return returned


def _named(outputs: Sequence[Memory], taken: Iterable[str]) -> list[tuple[str, TensorType]]:
    """[(a name of its own, type)] of the tensors that a function returns: that of the variable, where it has one."""
    found: list[tuple[str, TensorType]] = []
    used = set(taken)
    for memory in outputs:
        first = name = memory.name or "result"
        number = 0
        while name in used:
            name, number = f"{first}_{number}", number + 1
        used.add(name)
        found.append((name, TensorType(memory.shape, memory.dtype)))
    return found


def _give(trace: Trace, outputs: Sequence[Memory], named: Sequence[tuple[str, TensorType]]) -> list[tuple[str, str, int]]:
    """What T.empty made becomes arguments of the call; their parameters."""
    made = {id(memory) for memory in outputs}
    trace.tensors = [(memory, "argument" if id(memory) in made else role) for memory, role in trace.tensors]
    for memory, (name, _) in zip(outputs, named):
        memory.name, memory.strides = name, [CallStride() for _ in memory.shape]  # which the call is checked for
    return [(name, kind.dtype.storage, len(kind.shape)) for name, kind in named]


def host_name(prim_func: Any) -> str:
    return f"{prim_func.__name__}_host"


def absent(trace: Trace, name: str, kind: TensorType) -> Memory:
    """A tensor that the call leaves out."""
    memory = Memory(kind.shape, kind.dtype, "global", name, strides=row_major(kind.shape))
    trace.absent[id(memory)] = name
    return memory


def _bind_absent(trace: Trace, arguments: Sequence[Any]) -> None:
    """Sizes that only left-out tensors have: 0 if it is one tensor's, else nobody knows them; they may still not be used."""
    for memory in arguments:
        if id(memory) in trace.absent:
            for size in sizes_in(memory.shape):
                if size.uid not in trace.sizes:
                    trace.add_size(size)
                    trace.unknown[size.uid] = size


def host_parameters(prim_func: Any, output_positions: Sequence[int], absent: Sequence[str] = ()) -> list[tuple[str, str, int]]:
    """[(name, element type, rank, or -1 for a scalar)] of what the host function takes."""
    return [
        (name, kind.dtype.storage, len(kind.shape)) if isinstance(kind, TensorType) else (name, kind.storage, -1)
        for position, (name, kind) in enumerate(prim_func.params)
        if position not in output_positions and name not in absent
    ]


def _host(
    trace: Trace, prim_func: Any, params: Sequence[tuple[Any, ...]], scalars: Mapping[str, Var], outputs: Sequence[Memory]
) -> None:
    native, name = trace.native, prim_func.__name__
    tensors = {memory.name: memory for memory, role in trace.tensors if role == "argument"}
    bound = [scalars[parameter] if rank < 0 else tensors[parameter] for parameter, _, rank in params]
    handles = dict(zip(map(id, bound), native.begin_host(host_name(prim_func), params)))
    for var in scalars.values():
        trace.host_values[var.uid] = handles[id(var)]
    for uid in trace.unknown:
        trace.host_values[uid] = native.constant(0, "int64")
    checks = list(_bind(trace, tensors.values(), handles))
    for memory, what, dim, actual, expected in checks:
        shown = " (given, declared)" if isinstance(expected, int) else f" (the second is {expected!r})"
        native.host_check(
            actual, expected, f"Argument {name}.{memory.name}.{what}[{dim}] has an unsatisfied constraint: {{0}} == {{1}}{shown}"
        )
    strided = {p for p, kind in prim_func.params if isinstance(kind, TensorType) and kind.strides is not None}
    for parameter, memory in tensors.items():
        if parameter not in strided and id(memory) in handles:
            _check_contiguous(native, name, memory, handles[id(memory)])
    for memory, role in trace.tensors:
        if id(memory) in trace.gapless and role == "argument":
            for dim, step in enumerate(row_major(memory.shape)):
                actual = native.host_stride(handles[id(memory)], dim)
                gaps = f"`{name}` views {memory.name}, whose stride {dim} is {{0}}, not {{1}}: it has gaps"
                native.host_check(actual, step, gaps)
    for condition in trace.assumptions:
        holds = _i64(native, trace.condition(condition).value)
        native.host_check(holds, 1, f"Assume: {written(condition)} does not hold in this call of `{name}`", assumption=True)
    for memory, role in trace.tensors:
        if role != "argument":
            handles[id(memory)] = native.host_empty(
                [_i64(native, size) for size in memory.in_bytes(memory.shape)], memory.dtype.storage, role == "workspace"
            )
    for state in trace.launches:
        _check_grid(trace, state, name)
        first, *more = [_i64(native, extent) for extent in state.grid]
        if state.condition is not None:
            first = native.select(trace.condition(state.condition).value, first, _i64(native, 0))
        args = []
        for what, owner, *dims in state.slots:
            if id(owner) not in handles and what != "size":
                raise error(RuntimeError, f"tensor `{owner.label()}` is made after the kernel that uses it")
            if what == "pointer":
                args.append(native.host_pointer(handles[id(owner)]))
            elif what == "size":
                args.append(native.cast(trace.host_values[owner.uid], owner.dtype.storage))
            else:
                args.append(native.host_stride(handles[id(owner)], *dims))
        for phase in range(state.phases):
            name_of_phase = f"{state.name}_phase{phase}" if phase else state.name
            native.launch(name_of_phase, [first, *more], args)
    native.end_host([handles[id(memory)] for memory in outputs])


def _check_grid(trace: Trace, state: Any, name: str) -> None:
    """A kernel that is launched has blocks."""
    native = trace.native
    for extent in state.grid:
        if not isinstance(extent, Expr) and extent > 0:
            continue
        positive = binary(">", extent, 0)
        if state.condition is not None:
            positive = binary("or", trace.logical_not(state.condition), positive)
        why = f"{extent!r} is not positive" if isinstance(extent, Expr) else "an extent is 0"
        native.host_check(
            _i64(native, trace.condition(positive).value), 1, f"the grid of `{name}` has no blocks: {why}"
        )


def _check_contiguous(native: _native.Builder, name: str, memory: Memory, handle: Any) -> None:
    """T.Tensor is a row-major tensor without gaps; strides say nothing along dimensions of one element, nor of
    a tensor without any."""
    if any(isinstance(extent, int) and extent == 0 for extent in memory.shape):
        return
    last = memory.ndim - 1
    ask = _doubled(native, native.host_stride) if memory.dtype.pack == 2 else native.host_stride
    for dim, (extent, step) in enumerate(zip(memory.shape, row_major(memory.shape))):
        if (isinstance(extent, int) and extent <= 1) or (dim == last and _is_one((memory.strides or [None])[dim], memory, dim)):
            continue
        expected, actual = _i64(native, step), (native.host_stride if dim == last else ask)(handle, dim)
        for other in (size for size in memory.shape if isinstance(size, Expr)):
            counts = _i64(native, native.binary(">", _i64(native, other), int(other is extent)))
            actual = native.binary("+", expected, native.binary("*", native.binary("-", actual, expected), counts))
        native.host_check(
            actual,
            expected,
            f"Argument {name}.{memory.name}.strides[{dim}] has an unsatisfied constraint: {{0}} == {{1}} (it is not contiguous)\n"
            f"  hint: pass a copy of {memory.name} without gaps ({memory.name}.contiguous() in Python), or declare it as "
            "T.StridedTensor(shape, strides, dtype)",
        )


def _i64(native: _native.Builder, value: Any) -> Any:
    return native.cast(value, "int64")


def _bind(trace: Trace, tensors: Iterable[Memory], handles: Mapping[int, Any]) -> Iterator[tuple[Memory, str, int, Any, Any]]:
    """Binds every size to the first dimension that is it. Yields what else must hold: (tensor, "shape" | "strides", dim,
    actual, expected)."""
    native, rest = trace.native, []
    for memory in tensors:
        handle = handles[id(memory)]
        last = memory.ndim - 1
        two = memory.dtype.pack == 2  # elements a byte, along the last dimension
        extent, stride = (_doubled(native, ask) for ask in (native.host_extent, native.host_stride))
        entries = [("shape", d, size, extent if two and d == last else native.host_extent) for d, size in enumerate(memory.shape)]
        entries += [
            ("strides", d, s, stride if two and d != last else native.host_stride)
            for d, s in enumerate(memory.strides or ())
            if isinstance(s, (int, Expr)) and not _is_one(s, memory, d)
        ]
        for what, dim, size, ask in entries:
            if isinstance(size, Var) and size.uid not in trace.host_values:
                trace.host_values[size.uid] = ask(handle, dim)
            else:
                rest.append((memory, what, dim, ask, size))
    pending = True
    while pending:  # an expression of one unknown size binds it
        pending = False
        for entry in list(rest):
            memory, what, dim, ask, size = entry
            if isinstance(size, Node) and _solve(trace, size, ask(handles[id(memory)], dim)):
                pending = True
    for memory, what, dim, ask, size in rest:
        yield memory, what, dim, ask(handles[id(memory)], dim), size


def _doubled(native: Any, ask: Callable[[Any, int], Any]) -> Callable[[Any, int], Any]:
    return lambda handle, dim: native.binary("*", ask(handle, dim), 2)


def _is_one(stride: Any, memory: Memory, dim: int) -> bool:
    """A stride known from the specialisation of the call needs no check."""
    return isinstance(stride, int) and stride == 1 and getattr(memory, "specialised", True)


def _solve(trace: Trace, node: Node, value: Any) -> bool:
    """Binds the one unknown size of a linear expression to what makes it `value`."""
    form, constant = node.affine()
    unknown = [uid for uid in form if uid in trace.sizes and uid not in trace.host_values]
    if len(unknown) != 1 or any(uid not in trace.sizes for uid in form):
        return False
    native = trace.native
    rest = native.binary("-", value, constant)
    for uid, factor in form.items():
        if uid != unknown[0]:
            rest = native.binary("-", rest, native.binary("*", trace.host_values[uid], factor))
    trace.host_values[unknown[0]] = native.binary("//", rest, form[unknown[0]])
    return True
