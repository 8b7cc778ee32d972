"""What a kernel's Python means in TileLang, on the shared front end: names are let-bound, only `T.alloc_var` is carried."""

import contextlib
import types

from tilery import _native

from ...errors import error
from ...frontend import Language, Loop, position
from ...frontend.jumps import RESULT
from ...frontend.structure import Undefined
from .context import kernel, set_current
from .dtypes import dtype
from .loops import Iteration, Serial
from .memory import Element, LocalVar, Memory, row_major
from .values import Expr, OneThread, Val, binary, cast, is_number, is_operand, read, same_type, select, sizes_in, unary


class Blocks:
    """The front end's region protocol, giving out our values; it carries the flags of `break` and `continue`."""

    def __init__(self, native):
        self.native = native
        for name in ("scratch_begin", "scratch_discard", "if_begin", "if_else", "type_of"):
            setattr(self, name, getattr(native, name))

    def placeholder(self, value):
        return Val(self.native.placeholder(value))

    def if_end(self, thens, elses):
        return list(map(Val, self.native.if_end(thens, elses)))

    def for_begin(self, lo, hi, step, inits, attributes):
        counter, carried = self.native.for_begin(*same_type(self.native, lo, hi, step), inits, attributes)
        return Val(counter), list(map(Val, carried))

    def for_end(self, yields):
        return list(map(Val, self.native.for_end(yields)))

    def while_begin(self, inits):
        return list(map(Val, self.native.while_begin(inits)))

    def while_body(self, condition):
        return list(map(Val, self.native.while_body(condition)))

    def while_end(self, yields):
        return list(map(Val, self.native.while_end(yields)))


class KernelState:
    """The kernel being built: its roots and variables, and what its launch passes for each argument."""

    def __init__(self, name, grid, threads):
        self.name, self.grid, self.threads = name, grid, threads
        self.slots, self.roots, self.variables, self.safe_values = [], {}, {}, {}


class Trace(Language):
    """One function being traced. `tensors`: [(Memory, "argument" | "output" | "workspace")]; `sizes`: what a call binds."""

    def __init__(self, native, name):
        super().__init__(Blocks(native))
        self.native, self.name = native, name
        self.tensors, self.sizes, self.launches = [], {}, []
        self.open, self.host_values = None, {}
        self.assumptions = []  # conditions on sizes that each call must fulfil
        self.eager = None  # the eager function being traced (jit/eager.py)
        self.ranges, self.certain = {}, 0  # {variable of a loop: (least, greatest)}; loops around that are known to run
        self.dynamics = 0  # how many sizes T.dynamic has made in it
        self.doubtful = []  # loads outside a buffer: (value, error)
        self.reducers = []  # of the open kernel
        self.parallel = []  # ids of the loop variables of each open T.Parallel

    def __enter__(self):
        self.outer = set_current(self)
        self.native.__enter__()
        return self

    def __exit__(self, *failure):
        self.native.__exit__(*failure)
        set_current(self.outer)

    # -- tensors, sizes, kernels -------------------------------------------------------------------------------------
    @property
    def in_kernel(self):
        return self.open is not None

    def add_tensor(self, memory, role):
        if memory.strides is None:  # made by the call: row-major, aligned as the runtime allocates
            memory.strides, memory.divisibility = row_major(memory.shape), 16
        self.tensors.append((memory, role))
        return memory

    def add_size(self, var):
        self.sizes.setdefault(var.uid, var)

    def check_bound(self, items):
        """Every size in these expressions must be one that a call binds."""
        for size in sizes_in(items):
            if size.uid not in self.sizes:
                raise self._unbound(size)

    def _unbound(self, var):
        return error(
            NameError,
            f"size `{var.name}` has no value here",
            hint="it must be a dimension of a tensor parameter, or a scalar parameter",
        )

    def assume(self, condition):
        """The host checks what it can evaluate at each call, unless it stands where a run-time condition may not lead."""
        if self.regions:
            return
        self.check_bound((condition,))
        self.assumptions.append(condition)

    def variable(self, var):
        """The value of a size or scalar parameter, in the kernel or host function being built."""
        values = self.open.variables if self.in_kernel else self.host_values
        if var.uid not in values:
            raise self._unbound(var)
        return values[var.uid]

    def root(self, memory):
        root = self.open.roots.get(id(memory))
        if root is None:
            raise error(RuntimeError, f"tensor `{memory.label()}` does not belong to this kernel")
        return root

    def safe_value(self, memory):
        return self.open.safe_values.get(id(memory))

    def begin_kernel(self, grid, threads):
        if self.eager:
            self.eager.reached_kernel()
        if self.in_kernel:
            raise error(RuntimeError, "`T.Kernel` inside `T.Kernel`", hint="open one after the other: each is a launch")
        self.check_bound(grid)
        suffix = f"_{len(self.launches)}" if self.launches else ""
        state = KernelState(self.name + suffix, grid, threads)
        params, slots = [], state.slots
        for memory, _ in self.tensors:
            slots.append(("pointer", memory))
            params.append((memory.label(), _native.Type(memory.dtype.storage, (), pointer=True), memory.divisibility))
        for var in self.sizes.values():
            slots.append(("size", var))
            params.append((var.name, _native.Type(var.dtype, ()), 1))
        for memory, _ in self.tensors:
            for dim, stride in enumerate(memory.strides):
                if not isinstance(stride, (int, Expr)):
                    slots.append(("stride", memory, dim))
                    params.append((f"{memory.label()}.stride{dim}", _native.Type("int64", ()), stride.divisibility))
        values = dict(zip(((slot[0], id(slot[1]), *slot[2:]) for slot in slots), self.native.begin_kernel(state.name, params)))
        self.open = state
        for var in self.sizes.values():
            state.variables[var.uid] = values["size", id(var)]
        for memory, _ in self.tensors:
            strides = [
                s if isinstance(s, (int, Expr)) else values["stride", id(memory), dim] for dim, s in enumerate(memory.strides)
            ]
            state.roots[id(memory)] = self.native.root(values["pointer", id(memory)], list(memory.shape), strides)

    def end_kernel(self):
        self.check_doubtful()
        for reducer in self.reducers:
            if not reducer.finished and reducer.scope_of_init is not None:
                name = reducer.label()
                raise error(ValueError, f"reducer `{name}` is never finalized", hint="call T.finalize_reducer after the updates")
        self.reducers = []
        self.native.end_kernel()
        self.launches.append(self.open)
        self.open = None

    def check_private(self, element):
        """A per-thread array cannot be indexed by what is spread over threads."""
        if element.memory.scope_name != "local" or not self.parallel:
            return
        for index in element.indices:
            if isinstance(index, Expr) and any(uid in index.affine()[0] for loop in self.parallel for uid in loop):
                raise error(
                    ValueError,
                    f"[Tilelang Semantic Check] Local buffer `{element.memory.label()}` is indexed by T.Parallel loop variable",
                    hint="use T.alloc_fragment, or a T.serial, T.unroll or T.vectorized loop",
                )

    @contextlib.contextmanager
    def ranging(self, loops):
        """A loop's body, with what its variables run over: [(variable, start, stop, step)]."""
        known = all(isinstance(bound, int) for _, *bounds in loops for bound in bounds)
        known = known and all(step > 0 and start < stop for _, start, stop, step in loops)
        outer = self.ranges
        inside = {var.uid: (lo, lo + (hi - 1 - lo) // step * step) for var, lo, hi, step in loops} if known else {}
        # A store is certain where every region around it is a loop that is known to run.
        self.ranges = {**outer, **inside} if known and len(self.regions) == self.certain + 1 else {}
        before, self.certain = self.certain, self.certain + bool(self.ranges)
        yield
        self.ranges, self.certain = outer, before

    def range_error(self, memory, indices):
        """(dimension, least and greatest index) of what some iteration certainly does outside a buffer of the kernel; None: it
        does not, or nobody knows."""
        if not self.ranges or len(self.regions) != self.certain:
            return None
        for dim, index in enumerate(indices):
            form, least = index.affine() if isinstance(index, Expr) else ({}, index)
            if not form or not all(uid in self.ranges for uid in form):
                continue
            greatest = least
            for uid, factor in form.items():
                ends = sorted(factor * end for end in self.ranges[uid])
                least, greatest = least + ends[0], greatest + ends[1]
            if least < 0 or greatest >= memory.shape[dim]:
                return dim, least, greatest
        return None

    def check_range(self, memory, indices):
        """Refuses a store to a buffer of the kernel that some iteration makes outside of it."""
        found = self.range_error(memory, indices)
        if found:
            raise _outside(memory, *found)

    def check_load(self, memory, indices, value):
        """The same for a load, once it is known that what it gives is used, and not only where a condition holds."""
        found = self.range_error(memory, indices)
        if found:
            self.doubtful.append((value.value, _outside(memory, *found, position.current())))

    def check_doubtful(self):
        """Raises what check_load has found, at the end of the kernel."""
        for value, failure in self.doubtful:
            if self.native.is_used(value):
                raise failure
        self.doubtful = []

    def check_tile_op(self, what):
        if self.parallel:
            raise error(
                ValueError,
                "[Tilelang Semantic Check] Only elementwise operations are allowed inside a parallel loop. "
                f'Got a tile-op "{what}".',
                hint="move it before or after the T.Parallel loop",
            )

    def print(self, value, message):
        """Prints a scalar or a buffer, once for each program."""
        if isinstance(value, Memory) and not value.is_global:
            self.native.print(message or f"buffer<{value.label()}, {value.dtype}>", [self.native.buffer_load(value.native)])
        elif isinstance(value, Expr) or is_number(value):
            self.native.print(message or f"expr<{value!r}>", [value])
        else:
            raise error(ValueError, f"T.print takes a number or a buffer of the kernel, got {type(value).__name__}")

    # -- what the front end asks -------------------------------------------------------------------------------------
    def is_value(self, value):
        return isinstance(value, Expr)

    def to_value(self, number, like=None):
        return Val(self.native.materialize(number) if like is None else self.native.convert(number, like))

    def takes(self, type_, number):
        return self.native.materialize(number).type == type_

    def condition(self, value):
        return Val(self.native.cast(value, "bool"))

    def logical_not(self, value):
        return unary("not", value)

    def logical_and(self, a, b):
        return binary("and", a, b)

    def logical_or(self, a, b):
        return binary("or", a, b)

    def minimum(self, a, b):
        return binary("min", a, b)

    def maximum(self, a, b):
        return binary("max", a, b)

    def call_range(self, *args):
        return Serial(*args) if self.in_kernel else range(*args)

    def call_int(self, value=0, *args):
        return cast(value, "int32") if isinstance(value, Expr) else int(value, *args)

    def call_float(self, value=0.0):
        return cast(value, "float32") if isinstance(value, Expr) else float(value)

    def call_bool(self, value=False):
        return cast(value, "bool") if isinstance(value, Expr) else bool(value)

    def call_print(self, *args, **kwargs):
        if not any(isinstance(a, (Expr, Memory)) for a in args):
            return super().call_print(*args, **kwargs)
        words = " ".join(a for a in args if isinstance(a, str))
        for value in args:
            if not isinstance(value, str):
                kernel("T.print").print(value, words)

    def helper(self, callee, args, kwargs):
        return None  # plain Python functions run as they are; macros trace themselves

    def run_time_assert(self, condition, message):
        self.native.assert_true(condition, message or "assertion failed", None)

    # -- names -------------------------------------------------------------------------------------------------------
    def load(self, name, value):
        if isinstance(value, Undefined) and value.reason:
            raise error(RuntimeError, value.reason, hint=value.hint)
        return super().load(name, value)

    def assign(self, name, value, old):
        fresh = isinstance(value, LocalVar) and not value.bound
        if isinstance(old, LocalVar) and old.bound and not fresh and is_operand(value):
            old.store(value)
            return old
        if fresh:
            value.bound, value.name, value.memory.name = True, name, name
        elif isinstance(value, Memory):
            value.name = value.name or name
        else:
            value = read(value)
        return value

    def annotated(self, name, annotation, value, old):
        kind = annotation()
        if self.in_kernel and isinstance(kind, (dtype, str)) and is_operand(value):
            value = cast(value, kind)
        return self.assign(name, value, old)

    def declared(self, name, annotation, value):
        return self.eager.declare(name, annotation(), value) if self.eager and not self.in_kernel else value

    def aug_assign(self, name, op, old, value):
        if isinstance(old, Memory):
            raise error(
                RuntimeError, f"`{name}` {op}= ... changes a whole buffer", hint="update its elements in a T.Parallel loop"
            )
        return super().aug_assign(name, op, old, value)

    def unpack(self, value):
        if isinstance(value, Val) and value.single:
            return (value,)
        if isinstance(value, (tuple, list)):
            # Right sides are read before anything is stored; a variable that has no name yet gets one.
            return [read(v) if isinstance(v, Element) or (isinstance(v, LocalVar) and v.bound) else v for v in value]
        return super().unpack(value)

    def set_item(self, owner, index, value):
        if isinstance(owner, (Memory, LocalVar)):
            owner[index] = value
        else:
            super().set_item(owner, index, value)

    def set_attr(self, owner, name, value):
        raise error(NotImplementedError, f"attribute `{name}` is assigned in a kernel", hint="use a local name or T.alloc_var")

    def return_(self, value):
        if self.regions:
            raise error(
                NotImplementedError, "`return` inside run-time control flow", hint="return once, at the end of the function"
            )
        return value

    # -- control flow ------------------------------------------------------------------------------------------------
    def _flags(self, names, get, put):
        """The state of `break` and `continue`, the only names that regions carry."""
        places = [i for i, name in enumerate(names) if self.is_flag(name) or name == RESULT]

        def get_flags():
            values = get()
            return tuple(values[i] for i in places)

        def put_flags(flags):
            values = list(get())
            for i, flag in zip(places, flags):
                values[i] = flag
            put(values)

        return tuple(names[i] for i in places), get_flags, put_flags

    def _leave(self, names, get, put, *ends):
        """After a region: a name that was bound in it has no value outside. ends: the states, the one before the region first."""
        out = list(get())
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

    def if_(self, test, then, other, names, get, put, at_end):
        if isinstance(test, Memory):
            bool(test)
        if isinstance(test, OneThread):  # what one thread does and what the others do, each once
            then()
            return other()
        if not self.is_value(test):
            return super().if_(test, then, other, names, get, put, at_end)
        before = get()
        ends = []

        def branch(run):
            def body():
                run()
                ends.append(get())
                kept = dict(zip(names, get()))
                put([kept[n] if self.is_flag(n) or n == RESULT else old for n, old in zip(names, before)])

            return body

        self.run_if(self.condition(test), branch(then), branch(other), *self._flags(names, get, put), self.line())
        self._leave(names, get, put, before, *ends)

    def if_exp(self, test, then, other):
        if not self.is_value(test):
            return then() if test else other()
        return select(test, then(), other())

    def for_(self, iterable, body, names, get, put, stopped, own):
        if isinstance(iterable, (int, Expr)) and not isinstance(iterable, bool):
            iterable = Serial(iterable)  # `for ko in T.ceildiv(K, block_K)`
        if not isinstance(iterable, Iteration):
            if not isinstance(iterable, (range, list, tuple, dict, set, enumerate, zip)) and not hasattr(iterable, "__next__"):
                raise error(
                    TypeError,
                    f"Invalid for loop, got {type(iterable).__name__}",
                    hint="loop over T.serial, T.Parallel, T.Pipelined, T.unroll, T.grid, range or a list of constants",
                )
            return super().for_(iterable, body, names, get, put, stopped, own)
        before = get()
        if stopped is None:
            iterable.run(self, body, self.line())
        else:
            lo, hi, step = iterable.bounds()
            self.run_for(Loop(lo, hi, step, iterable.attributes), body, *self._flags(names, get, put), self.line())
        self._leave(names, get, put, before, get())
        return None

    def while_(self, test, body, names, get, put, may_stop):
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
        self._leave(names, get, put, before, get())

    # -- calls -------------------------------------------------------------------------------------------------------
    def call(self, callee, /, *args, **kwargs):
        trace = getattr(type(callee), "__tile_trace__", None)
        if trace is not None:
            return trace(callee, self, args, kwargs)
        if isinstance(callee, types.MethodType) and isinstance(callee.__self__, Memory):
            return callee(*args, **kwargs)
        return super().call(callee, *args, **kwargs)


def _outside(memory, dim, least, greatest, chain=()):
    return error(
        IndexError,
        f"index {least} to {greatest} is out of range for dimension {dim} of `{memory.label()}`",
        hint=f"its shape is {memory.shape}",
        chain=chain,
    )


def _same(a, b):
    return a is b or (is_number(a) and is_number(b) and type(a) is type(b) and a == b)
