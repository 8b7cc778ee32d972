"""What a kernel's Python means in TileLang, on the shared front end: names are let-bound, only `T.alloc_var` is carried."""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from tilery import _native

from ...core.checks import host_number
from ...core.present import present
from ...errors import Error, error
from ...frontend.jumps import DONE, RESULT
from ...frontend.language import Language, Loop
from ...frontend.regions import Getter, Names, Putter
from ...frontend.structure import Number, Undefined, with_children
from .arithmetic import Arithmetic
from .barriers import Barriers
from .checks import Checks
from .clusters import Clusters
from .context import kernel, set_current
from .dtypes import dtype
from .host_branches import HostBranches
from .kernel_state import KernelState
from .loops import Iteration, Serial
from .memory import Element, Lanes, LocalVar, Memory, Pending, Reference, Region, byte_strides
from .pairs import Pairs
from .phases import NeedsWorkspace, Phases
from .prepare import prepare
from .roles import Roles
from .shapes import row_major
from .sides import Sides, acts
from .thread_index import Ranges, RoleCondition
from .values import (
    Expr,
    OneThread,
    Val,
    Var,
    binary,
    cast,
    is_number,
    is_operand,
    is_size,
    read,
    same_type,
    sizes_in,
    unary,
)
from .words import WORDS, hint_for
from .work import Launch, Work


class Blocks:
    """The front end's region protocol, giving out our values; it carries the flags of `break` and `continue`."""

    def __init__(self, native: _native.Builder) -> None:
        self.native = native
        for name in ("scratch_begin", "scratch_discard", "if_begin", "if_else", "type_of"):
            setattr(self, name, getattr(native, name))

    def placeholder(self, value: Any) -> Val:
        return Val(self.native.placeholder(value))

    def if_end(self, thens: list[Any], elses: list[Any]) -> list[Val]:
        return list(map(Val, self.native.if_end(thens, elses)))

    def for_begin(self, lo: Any, hi: Any, step: Any, inits: list[Any], attributes: Mapping[str, Any]) -> tuple[Val, list[Val]]:
        counter, carried = self.native.for_begin(*same_type(self.native, lo, hi, step), inits, attributes)
        return Val(counter), list(map(Val, carried))

    def for_end(self, yields: list[Any]) -> list[Val]:
        return list(map(Val, self.native.for_end(yields)))

    def while_begin(self, inits: list[Any]) -> list[Val]:
        return list(map(Val, self.native.while_begin(inits)))

    def while_body(self, condition: Any) -> list[Val]:
        return list(map(Val, self.native.while_body(condition)))

    def while_end(self, yields: list[Any]) -> list[Val]:
        return list(map(Val, self.native.while_end(yields)))


class Trace(Checks, Pairs, Roles, Phases, Clusters, HostBranches, Sides, Language):
    """One function being traced. `tensors`: [(Memory, "argument" | "output" | "workspace")]; `sizes`: what a call binds."""

    prepare = staticmethod(prepare)
    words = WORDS
    advice = staticmethod(hint_for)

    def __init__(self, native: _native.Builder, name: str) -> None:
        super().__init__(Blocks(native))
        self.native, self.name = native, name
        self.tensors: list[tuple[Memory, str]] = []
        self.sizes: dict[int, Var] = {}
        self.launches: list[KernelState] = []
        self.open: Any = None  # the KernelState of the kernel being built
        self.host_values: dict[int, Any] = {}
        self.workspaces: dict[tuple[int, int], Memory] = {}  # of buffers of run-time extents, by kernel and number
        self.gapless: dict[int, Memory] = {}  # tensors that others are laid over
        self.work: Work | None = None  # counted where somebody asks
        self.notes: dict[str, Any] = {}  # attributes of the function
        self.pointed: list[tuple[Memory, Any]] = []  # tensors at addresses, made outside kernels
        self.used: set[int] = set()  # ids of tensors that a kernel reads or writes
        self.absent: dict[int, str] = {}  # id of a tensor that a call leaves out: its name
        self.unknown: dict[int, Var] = {}  # sizes that only such tensors have
        self.assumptions: list[Any] = []  # conditions on sizes that each call must fulfil
        self.eager: Any = None  # the eager function being traced (jit/eager.py)
        self.ranges: dict[int, tuple[int, int]] = {}  # {variable of a loop: (least, greatest)}
        self.certain = 0  # loops around that are known to run
        self.dynamics = 0  # how many sizes T.dynamic has made in it
        self.doubtful: list[tuple[Any, Error]] = []  # loads outside a buffer: (value, error)
        self.reducers: list[Any] = []  # of the open kernel
        self.guests: Any = None  # the trace of functions of other languages
        self.foreign: Any = ()  # the class of their values
        self.device_texts: dict[str, Any] = {}  # functions in CUDA C++ by their names (language/device_text.py)
        self.arithmetic = Arithmetic()  # what it leaves open the body may say
        self.lone = False  # whether a block is one thread for the target
        self.several = 0  # conditions around that several threads fulfil
        self.reduction: Any = None  # T.comm_reducer of the scope around
        self.threaded: set[tuple[Any, Any]] = set()  # what is programmed for threads (see NeedsThreads, NeedsRows)
        self.part: int | None = None  # regions around code of single threads between roles
        self.path: list[int] = []  # which role of which role is open
        self.begun: list[int] = [0]  # how many roles have been there: outside of all, in the open one, ...
        self.parallel: list[list[int]] = []  # ids of the loop variables of each open T.Parallel
        self.lanes: list[Any] = []  # [(variables, extents)] of the open T.Parallel and those in it
        self.loops: dict[int, tuple[int, str]] = {}  # {variable of a T.Parallel: the loop's place}
        self.halves: set[int] = set()  # variables that count the two of a pair of iterations
        self.draws = 0  # random numbers that an iteration of it draws
        self.roles: list[int] = []  # threads of each open role
        self.orderings = 0  # statements so far that only order others: they may leave no operation
        self.spans: list[Ranges] = []  # which they are
        self.actors: list[int] = []  # of what only some threads do: how many
        self.sides: list[tuple[Any, bool, bool]] = []  # (condition, is it the other side, is nothing carried) of each open branch

    def __enter__(self) -> Trace:
        self.outer = set_current(self)
        guests = present("tilery.core.tile.tracer")
        if guests:  # functions of tl and ntl, which the program has imported, build on the same builder
            self.guests = guests.activate(guests.Tracer(self.native))
            self.guests.__enter__()
            self.foreign = guests.tensor
        self.native.__enter__()
        return self

    def __exit__(self, *failure: Any) -> None:
        self.native.__exit__(*failure)
        if self.guests is not None:
            self.guests.__exit__(*failure)
        set_current(self.outer)

    # -- tensors, sizes, kernels -------------------------------------------------------------------------------------
    @property
    def in_kernel(self) -> bool:
        return self.open is not None

    def add_tensor(self, memory: Memory, role: str) -> Memory:
        if memory.strides is None:  # made by the call: row-major, aligned as the runtime allocates
            memory.strides, memory.divisibility = row_major(memory.shape), 16
        self.tensors.append((memory, role))
        return memory

    def add_size(self, var: Var) -> None:
        self.sizes.setdefault(var.uid, var)

    def check_bound(self, items: Iterable[Any]) -> None:
        """Every size in these expressions must be one that a call binds."""
        for size in sizes_in(items):
            if size.uid not in self.sizes:
                raise self._unbound(size)

    def _unbound(self, var: Var) -> Error:
        return error(
            NameError,
            f"size `{var.name}` has no value here",
            hint="it must be a dimension of a tensor parameter, or a scalar parameter",
        )

    def assume(self, condition: Any) -> None:
        """The host checks what it can evaluate at each call, unless it stands where a run-time condition may not lead."""
        if self.regions:
            return
        self.check_bound((condition,))
        self.assumptions.append(self.implied(condition))

    def variable(self, var: Var) -> Any:
        """The value of a size or scalar parameter, in the kernel or host function being built."""
        values = self.open.variables if self.in_kernel else self.host_values
        if var.uid not in values:
            raise self._unbound(var)
        return values[var.uid]

    def root(self, memory: Memory) -> Any:
        root = self.open.roots.get(id(memory))
        if root is None and id(memory) in self.absent:
            raise error(
                RuntimeError,
                f"{self.name}.{self.absent[id(memory)]} is expected to be a tensor, since the kernel uses it, but got None",
                hint="None is for tensors that the kernel does not read or write",
            )
        self.used.add(id(memory))
        if root is None:
            raise error(RuntimeError, f"tensor `{memory.label()}` does not belong to this kernel")
        return root

    def safe_value(self, memory: Memory) -> Any:
        return self.open.safe_values.get(id(memory))

    def begin_kernel(self, grid: Sequence[Any], threads: Any) -> None:
        if self.eager:
            self.eager.reached_kernel()
        self.end_plain()
        if self.in_kernel:
            raise error(RuntimeError, "`T.Kernel` inside `T.Kernel`", hint="open one after the other: each is a launch")
        self.check_bound(grid)
        suffix = f"_{len(self.launches)}" if self.launches else ""
        state = KernelState(self.name + suffix, grid, threads, self.host_condition())
        if self.work:
            self.work.times = [*grid]
            self.work.launches.append(Launch(grid, math.prod(threads)))
        params, slots = [], state.slots
        for memory, _ in self.tensors:
            slots.append(("pointer", memory))
            params.append((memory.label(), _native.Type(memory.dtype.storage, (), pointer=True), memory.divisibility))
        for var in self.sizes.values():
            slots.append(("size", var))
            params.append((var.name, _native.Type(var.dtype.storage, ()), 1))
        for memory, _ in self.tensors:
            for dim, stride in enumerate(memory.strides or ()):
                if not isinstance(stride, (int, Expr)):
                    slots.append(("stride", memory, dim))
                    params.append((f"{memory.label()}.stride{dim}", _native.Type("int64", ()), stride.divisibility))
        values = dict(zip(((slot[0], id(slot[1]), *slot[2:]) for slot in slots), self.native.begin_kernel(state.name, params)))
        self.open = state
        for var in self.sizes.values():
            state.variables[var.uid] = values["size", id(var)]
        for memory, _ in self.tensors:
            strides = [
                s if isinstance(s, (int, Expr)) else values["stride", id(memory), dim]
                for dim, s in enumerate(memory.strides or ())
            ]
            extents, steps = memory.in_bytes(memory.shape), byte_strides(memory, strides)
            state.roots[id(memory)] = self.native.root(values["pointer", id(memory)], extents, steps)
            state.pointers[id(memory)], state.strides[id(memory)] = values["pointer", id(memory)], strides
        for memory, address in self.pointed:
            self.point(memory, address)

    def begin_plain(self) -> None:
        """Statements outside of `with T.Kernel(...)`: a launch of one block of one thread."""
        self.begin_kernel((1,), [1])
        self.open.plain = True

    def end_plain(self) -> None:
        """Ends such a launch."""
        if self.in_kernel and self.open.plain and not self.regions:
            self.end_kernel()

    def run(self, *arguments: Any) -> Any:
        result = super().run(*arguments)
        self.end_plain()
        return result

    def sized_at_run_time(self, sizes: Sequence[Any], element: Any) -> Memory:
        """Memory of each block whose extents a call binds: a part of a workspace, made when the function is traced again."""
        at = len(self.open.sized)
        key = len(self.launches), at
        if key not in self.workspaces:
            raise NeedsWorkspace(key, [*self.open.grid, *sizes], element)
        workspace = self.workspaces[key]
        ids = [Val(self.native.program_id(axis)) for axis in range(len(self.open.grid))]
        memory = Memory(sizes, element, "global")
        self.open.layouts[id(memory)] = lambda part: Element(workspace, [*ids, *part.indices])
        self.open.sized.append(memory)
        return memory

    def lay_over(self, view: Memory, tensor: Memory) -> None:
        """Gives the open kernel a tensor over the memory of another, whose elements must lie without gaps."""
        self.used.add(id(tensor))
        pointer = self.open.pointers.get(id(tensor))
        if pointer is None:
            raise error(NotImplementedError, f"a view of `{tensor.label()}`, which is no parameter and no T.empty")
        self.gapless[id(tensor)] = tensor
        extents = [self.native.cast(size, "int64") for size in view.shape]
        strides = [self.native.cast(stride, "int64") for stride in view.strides or ()]
        self.open.roots[id(view)] = self.native.root(self.native.pointer_cast(pointer, view.dtype.storage), extents, strides)
        self.open.pointers[id(view)], self.open.strides[id(view)] = pointer, strides
        self.open.kept.append(view)

    def point(self, memory: Memory, address: Any) -> None:
        """Gives the open kernel a tensor at an address."""
        pointer = self.native.int_to_pointer(self.native.cast(address, "int64"), memory.dtype.storage)
        extents = [self.native.cast(size, "int64") for size in memory.shape]
        strides = [self.native.cast(stride, "int64") for stride in memory.strides or ()]
        self.open.roots[id(memory)] = self.native.root(pointer, extents, strides)
        self.open.kept.append(memory)

    def end_kernel(self) -> None:
        self.check_doubtful()
        for reducer in self.reducers:
            if not reducer.finished and reducer.scope_of_init is not None:
                name = reducer.label()
                raise error(ValueError, f"reducer `{name}` is never finalized", hint="call T.finalize_reducer after the updates")
        self.reducers = []
        self.check_sent()
        if self.open.thread is not None:
            self.native.threads_end()
        self.native.end_kernel()
        self.launches.append(self.open)
        self.open = None

    def print(self, value: Any, message: str) -> None:
        """Prints a scalar or a buffer, once for each program."""
        if isinstance(value, Memory) and not value.is_global:
            with self.together():
                text = message or f"buffer<{value.label()}, {value.dtype}>"
                self.native.print(f"{text}: ", [self.native.buffer_load(value.native)])
        elif isinstance(value, Expr) or is_number(value):
            text = message or f"expr<{value.dtype if isinstance(value, Val) else repr(value)}>"
            self.native.print(f"{text}: ", [value])
        else:
            raise error(ValueError, f"T.print takes a number or a buffer of the kernel, got {type(value).__name__}")

    # -- what the front end asks -------------------------------------------------------------------------------------
    def is_value(self, value: Any) -> bool:
        return isinstance(value, Expr)

    def to_value(self, number: Number, like: Any = None) -> Val:
        return Val(self.native.materialize(number) if like is None else self.native.convert(number, like))

    def takes(self, type_: Any, number: Number) -> bool:
        return self.native.materialize(number).type == type_

    def condition(self, value: Any) -> Any:
        return Val(self.native.cast(value, "bool"))

    def logical_not(self, value: Any) -> Any:
        return value.negated() if isinstance(value, RoleCondition) else unary("not", value)

    def logical_and(self, a: Any, b: Any) -> Any:
        return a.both(b) if isinstance(a, RoleCondition) and isinstance(b, RoleCondition) else binary("and", a, b)

    def logical_or(self, a: Any, b: Any) -> Any:
        return a.either(b) if isinstance(a, RoleCondition) and isinstance(b, RoleCondition) else binary("or", a, b)

    def minimum(self, a: Any, b: Any) -> Any:
        return binary("min", a, b)

    def maximum(self, a: Any, b: Any) -> Any:
        return binary("max", a, b)

    def call_range(self, *args: Any) -> Any:
        return Serial(*args) if self.in_kernel else range(*args)

    def call_int(self, value: Any = 0, *args: Any) -> Any:
        return cast(value, "int32") if isinstance(value, Expr) else int(value, *args)

    def call_float(self, value: Any = 0.0) -> Any:
        return cast(value, "float32") if isinstance(value, Expr) else float(value)

    def call_bool(self, value: Any = False) -> Any:
        return cast(value, "bool") if isinstance(value, Expr) else bool(value)

    def call_print(self, *args: Any, **kwargs: Any) -> Any:
        if not self.in_kernel or not any(isinstance(a, (Expr, Memory)) for a in args):
            return super().call_print(*args, **kwargs)  # ahead of a kernel it shows what sizes the trace has
        words = " ".join(a for a in args if isinstance(a, str))
        for value in args:
            if not isinstance(value, str):
                kernel("T.print").print(value, words)

    def helper(self, callee: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> types.FunctionType | None:
        return None  # plain Python functions run as they are; macros trace themselves

    def run_time_assert(self, condition: Any, message: str) -> None:
        if is_size(condition) and not self.in_kernel:  # each call checks it
            return None if getattr(self.eager, "surveys", False) else self.assume(condition)
        self.native.assert_true(condition, message or "assertion failed", None)

    # -- names -------------------------------------------------------------------------------------------------------
    def load(self, name: str, value: Any) -> Any:
        if isinstance(value, Undefined) and value.reason:
            raise error(RuntimeError, value.reason, hint=value.hint)
        return super().load(name, value)

    def assign(self, name: str, value: Any, old: Any) -> Any:
        if isinstance(value, Iteration):
            value = value.named()
        if isinstance(old, Reference) and is_operand(value):
            old.store(value)
            return old
        fresh = isinstance(value, LocalVar) and not value.bound
        if isinstance(old, LocalVar) and old.bound and not fresh and is_operand(value):
            old.store(value)
            return old
        if fresh:
            value.bound, value.name, value.memory.name = True, name, name
        elif isinstance(value, (Memory, Barriers)):
            value.call(name)
        elif not isinstance(value, (Region, Lanes, Pending)):  # which name memory
            value = self.named(read(value))
        return value

    def annotated(self, name: str, annotation: Callable[[], Any], value: Any, old: Any) -> Any:
        kind = annotation()
        if self.in_kernel and isinstance(kind, (dtype, str)) and is_operand(value):
            value = cast(value, kind)
        return self.assign(name, value, old)

    def declared(self, name: str, annotation: Callable[[], Any], value: Any) -> Any:
        return self.eager.declare(name, annotation(), value) if self.eager and not self.in_kernel else value

    def aug_assign(self, name: str, op: str, old: Any, value: Any) -> Any:
        if isinstance(old, Memory):
            raise error(
                RuntimeError, f"`{name}` {op}= ... changes a whole buffer", hint="update its elements in a T.Parallel loop"
            )
        return super().aug_assign(name, op, old, value)

    def unpack(self, value: Any) -> Any:
        if isinstance(value, Val) and value.single:
            return (value,)
        if isinstance(value, (tuple, list)):
            # Right sides are read before anything is stored; a variable that has no name yet gets one.
            return [read(v) if isinstance(v, Element) or (isinstance(v, LocalVar) and v.bound) else v for v in value]
        return super().unpack(value)

    def set_item(self, owner: Any, index: Any, value: Any) -> None:
        if isinstance(owner, (Memory, LocalVar)):
            owner[index] = value
        else:
            super().set_item(owner, index, value)

    def set_attr(self, owner: Any, name: str, value: Any) -> NoReturn:
        raise error(NotImplementedError, f"attribute `{name}` is assigned in a kernel", hint="use a local name or T.alloc_var")

    def return_(self, value: Any) -> Any:
        if value is not None and (len(self.regions) > self.active[-1][1] or self.host_conditions):
            raise error(
                NotImplementedError, "`return` inside run-time control flow", hint="return once, at the end of the function"
            )
        return value

    # -- control flow ------------------------------------------------------------------------------------------------
    def _flags(self, names: Names, get: Getter, put: Putter) -> tuple[Names, Getter, Putter]:
        """The state of `break` and `continue`, the only names that regions carry."""
        places = [i for i, name in enumerate(names) if self.is_flag(name) or name == RESULT]

        def get_flags() -> tuple[Any, ...]:
            values = get()
            return tuple(values[i] for i in places)

        def put_flags(flags: Sequence[Any]) -> None:
            values = list(get())
            for i, flag in zip(places, flags):
                values[i] = flag
            put(values)

        return tuple(names[i] for i in places), get_flags, put_flags

    def _leave(self, names: Names, get: Getter, put: Putter, *ends: Sequence[Any], carries: bool = True) -> None:
        """After a region: a name that was bound in it has no value outside. ends: the states, the one before the region first.
        carries: the flags have come out of it; otherwise only loops inside have set any."""
        out = list(get() if carries else ends[0])
        for i, name in enumerate(names):
            if self.is_flag(name) or name == RESULT:
                continue
            old = ends[0][i]
            if all(_same(old, end[i]) for end in ends[1:]):
                out[i] = old
            else:
                out[i] = Undefined(
                    name,
                    f"Immutable variable `{name}` is used outside its defining region",
                    self.line(),
                    f"declare it before with {name} = T.alloc_var(dtype) if it must keep what a loop or branch assigns",
                )
        put(out)

    def if_(
        self, test: Any, then: Callable[[], Any], other: Callable[[], Any], names: Names, get: Getter, put: Putter, at_end: bool
    ) -> Any:
        if isinstance(test, Memory):
            bool(test)
        if self.is_host_condition(test):
            return self.host_if(test, then, other, names, get, put)
        if self.in_kernel and self.open.thread is not None:
            test = self.of_these_threads(test)
        elif isinstance(test, OneThread):  # what one thread does and what the others do, each once
            with self.acted_by(test.threads, test.several):
                then()
            with self.acted_by(max(self.acting - test.threads, 1), test.several):
                return other()
        elif isinstance(test, RoleCondition) and test.is_role():
            return self.run_roles(test, (then, other), names, get, put)
        if not self.is_value(test):
            return super().if_(test, then, other, names, get, put, at_end)
        before, ends = get(), []
        flags = self._flags(names, get, put)
        condition = self.condition(test)

        def branch(run: Callable[[], Any], second: bool) -> Callable[[], None]:
            def body() -> None:
                self.sides.append((condition, second, not flags[0]))
                run()
                self.sides.pop()
                ends.append(get())
                kept = dict(zip(names, get()))
                put([kept[n] if self.is_flag(n) or n == RESULT else old for n, old in zip(names, before)])

            return body

        self.run_if(condition, branch(then, False), branch(other, True), *flags, self.line())
        self._leave(names, get, put, before, *ends)

    def for_(
        self,
        iterable: Any,
        body: Callable[..., Any],
        names: Names,
        get: Getter,
        put: Putter,
        stopped: Callable[[], Any] | None,
        own: Names,
    ) -> Any:
        if isinstance(iterable, (int, Expr)) and not isinstance(iterable, bool):
            iterable = Serial(iterable)  # `for ko in T.ceildiv(K, block_K)`
        if not isinstance(iterable, Iteration):
            if not isinstance(iterable, (range, list, tuple, dict, set, enumerate, zip)) and not hasattr(iterable, "__next__"):
                raise error(
                    TypeError,
                    f"Invalid for loop, got {WORDS.get(type(iterable).__name__, type(iterable).__name__)}",
                    hint="loop over T.serial, T.Parallel, T.Pipelined, T.unroll, T.grid, range or a list of constants",
                )
            return super().for_(iterable, body, names, get, put, stopped, own)
        if isinstance(iterable, Serial) and all(map(is_size, iterable.bounds())):
            self.end_single()  # roles may stand in it
        if (taken_apart := self.taken_apart(iterable)) is not None:
            return super().for_(taken_apart, body, names, get, put, stopped, own)
        before = get()
        if stopped is None:
            iterable.run(self, body, self.line())
        else:
            lo, hi, step = iterable.bounds("return" if DONE in names else "break")
            if isinstance(iterable, Serial):
                body = iterable.planned(self, body, stops=True)
            self.run_for(Loop(lo, hi, step, iterable.attributes), body, *self._flags(names, get, put), self.line())
        self._leave(names, get, put, before, get(), carries=stopped is not None)
        return None

    def while_(
        self, test: Callable[[], Any], body: Callable[..., Any], names: Names, get: Getter, put: Putter, may_stop: bool
    ) -> None:
        before = get()
        with self.scratch():
            first = test()
        if not self.is_value(first) and not first:
            return
        if not self.is_value(first) and not may_stop:
            raise error(
                RuntimeError, "Infinite while loop detected", hint="its condition must depend on a T.alloc_var or on memory"
            )
        if may_stop:
            self.run_while(test, body, *self._flags(names, get, put), may_stop, self.line())
        else:
            self.native.while_begin([])
            self.native.while_body(self.condition(test()))
            with self.region("while", self.line()):
                body()
            self.native.while_end([])
        self._leave(names, get, put, before, get(), carries=may_stop)

    # -- calls -------------------------------------------------------------------------------------------------------
    def adopt(self, value: Any) -> Any:
        """What a function of another language gave."""
        if isinstance(value, (tuple, list)):
            return with_children(value, [self.adopt(part) for part in value])
        return Val(value.handle) if isinstance(value, self.foreign) else value

    def call(self, callee: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self.adopt(self._called(callee, args, kwargs))

    def _called(self, callee: Any, args: Any, kwargs: Any) -> Any:
        args, kwargs = tuple(map(host_number, args)), {name: host_number(value) for name, value in kwargs.items()}
        trace = getattr(type(callee), "__tile_trace__", None)
        if trace is not None:
            return trace(callee, self, args, kwargs)
        if isinstance(callee, types.MethodType) and isinstance(callee.__self__, Memory):
            return callee(*args, **kwargs)
        plain = isinstance(callee, types.FunctionType) and not callee.__module__.startswith("tilery.")
        if plain and self.chosen_sides and callee.__name__ != "<lambda>" and acts(callee):
            return self.where_chosen(lambda: super(Trace, self).call(callee, *args, **kwargs))
        return super().call(callee, *args, **kwargs)


def _same(a: Any, b: Any) -> bool:
    return a is b or (is_number(a) and is_number(b) and type(a) is type(b) and a == b)
