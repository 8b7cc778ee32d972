"""JITKernel: a compiled PrimFunc, called with tensors."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tilery import _native

from ...core import cache, compile
from ...core.arrays import on_gpu
from ...core.kept import Kept
from ...core.names import told_name
from ...core.pickled import OwnCopy, not_pickled
from ...core.present import present
from ...core.unmade import launches_are_unmade
from ...errors import error
from ...frontend.wording import counted, number_of
from .. import refused
from ..language.eager.builder import PrimFunc
from ..profiler import Profiler, TensorSupplyType
from ..tracing.arithmetic import Arithmetic
from ..tracing.program import build, host_name, host_parameters, usual_layouts
from ..tracing.shapes import TensorType
from ..tracing.values import Var, evaluate, written
from ..utils.device import get_current_device
from .adapter import KernelAdapter
from .options import Options

if TYPE_CHECKING:
    from ...aot import Entry
    from ...core.explain import Report
    from ...core.explanation import Explanation
    from ...core.ignored import Ignored
    from ...core.oracle import OracleHostLaunch
    from ..engine.param import CompiledArtifact

Layouts = tuple[tuple[str, tuple[int, tuple[int, ...]]], ...]  # (tensor's name, (factor of its address, classes of its strides))
_ASSEMBLED = "the driver assembles PTX as it loads it; `export_ptx` writes what ptxas and nvdisasm take"
# Element types that share their storage and are taken for one another.
_SAME = ({"bool", "int8", "uint8"}, {"float8_e4m3fn"}, {"float8_e5m2"})


@functools.lru_cache
def _library(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def allocate(extents: Sequence[int], dtype: str, like: Any) -> Any:
    """A new tensor of the library that `like` belongs to."""
    library = _library(like.__class__) if like is not None else "torch" if "torch" in sys.modules else "numpy"
    if library == "torch":
        import torch

        device = get_current_device() if like is None else like.device
        return torch.empty(tuple(extents), dtype=getattr(torch, dtype), device=device)
    import numpy

    return numpy.empty(tuple(extents), dtype=dtype)


@functools.lru_cache(maxsize=None)
def _marker(device: Any) -> Any:
    import torch

    return torch.empty(1, device=device)


def _place() -> Any:
    """What tells a launch without tensors where to run: an element of torch's memory on a GPU, or a number: on the CPU."""
    if "torch" not in sys.modules or not _native.gpu_count():
        return 0
    device = get_current_device()
    return _marker(device) if device.type == "cuda" else 0


def _address(argument: Any) -> Any:
    """Where a tensor's first element lies; a number is an address."""
    return argument.data_ptr() if hasattr(argument, "data_ptr") else argument


def _backend(options: Options) -> str:
    """Upstream's choice of a way to call kernels; there is one here."""
    return options.execution_backend if options.execution_backend != "auto" else "cython" if options.kind == "c" else "tvm_ffi"


def _is_coded(kind: Any) -> bool:
    return isinstance(kind, TensorType) and kind.dtype.stored_in_bytes


def _as_bytes(argument: Any, kind: str) -> Any:
    """A tensor of torch's type for these elements as the bytes they are."""
    name = str(getattr(argument, "dtype", ""))
    return argument.view(present("torch").uint8) if name == _TORCH_TYPES.get(kind) else argument


# Torch's types of elements that lie in bytes.
_TORCH_TYPES = {"float4_e2m1fn": "torch.float4_e2m1fn_x2"} | {
    name: f"torch.{name}" for name in ("float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
}


class CompiledKernel(compile.CompiledKernel):
    """A PrimFunc for one kind of call: tensors of these layouts."""

    language = "tilelang"

    def __init__(self, kernel: JITKernel, layouts: Layouts, signature: Any, absent: tuple[str, ...] = ()) -> None:
        self.kernel, self.layouts, self.absent = kernel, layouts, absent
        function = kernel.prim_func
        specialisation: list[Any] = ["tilelang", function.__name__, list(function.params), kernel.out_idx, layouts]
        specialisation += [function.compile_time, kernel.lone, vars(kernel.options.arithmetic), kernel.given_results]
        # What lies at an address may be part of a tensor.
        options = {"disjoint": False} if kernel.has_addresses else {"names": kernel._names()}
        super().__init__(function.__name__, function.function, [*specialisation, absent], signature, **options)

    def trace(self) -> Kept:
        return self.kernel.traced(self.layouts, self.absent)

    def ignored_by_call(self) -> Sequence[Ignored]:
        return (*self.kernel.options.ignored_on(self.device), *self.kernel.prim_func.ignored)

    def load(self, image: bytes) -> _native.HostPlan:
        return _native.HostPlan(image, allocate, self.other_image)

    def interpret(self, debug: bool) -> OracleHostLaunch:
        from ...core.oracle import OracleHostLaunch

        function = self.kernel.prim_func
        parameters = host_parameters(function, self.kernel.out_idx, self.absent)
        outputs = [function.params[i][0] for i in self.kernel.out_idx]
        return OracleHostLaunch(self.module, host_name(function), parameters, debug, allocate, outputs)


class JITKernel(OwnCopy, _native.Launcher):
    """Callable with the tensors and scalars of a PrimFunc, those of out_idx left out: they are allocated and returned. Calls are
    native, where nothing is to be done to arguments and results (launch_observed)."""

    def __init__(
        self,
        prim_func: PrimFunc,
        out_idx: int | Sequence[int] | None = None,
        options: Options | None = None,
        given_results: bool = False,
    ) -> None:
        """given_results: calls give what T.empty makes, behind their other arguments."""
        self.options = options = options or Options()
        prim_func.check(options.arithmetic.texts)
        self.prim_func, self.target, self.pass_configs = prim_func, options.target, options.pass_configs
        self.execution_backend, self.verbose = _backend(options), False
        self.lone = options.kind in ("c", "llvm", "cpu")  # a block is one thread there
        self._refuse_for(options.target)
        self.out_idx = _positions(prim_func, out_idx)
        if self.out_idx and "tilelang_out_idx" in (prim_func.notes or {}):
            raise error(
                ValueError, f"Out index conflict: `{prim_func.__name__}` returns tensors and has out_idx", hint="use one of them"
            )
        self.params = [kind for _, kind in prim_func.params]
        self.latency = self.config = self.ref_latency = None
        kinds = [kind.dtype if isinstance(kind, TensorType) else kind for kind in self.params]
        self.has_addresses = "handle" in kinds
        self._traced: dict[tuple[Layouts, tuple[str, ...]], Kept] = {}
        self.given_results = given_results
        if not self.out_idx and not given_results and prim_func.traced and not self.lone and options.arithmetic == Arithmetic():
            layouts, kept = prim_func.traced
            self._traced[layouts, ()] = kept
        self._outputs: list[Any] | None = None  # torch's types of outputs that lie in bytes, else None
        self._plans: dict[tuple[Any, ...], tuple[CompiledKernel, Any]] = {}  # by kind of call
        self._last: CompiledKernel | None = None
        inputs = [
            (name, "runtime" if isinstance(kind, TensorType) else "plain")
            for i, (name, kind) in enumerate(prim_func.params)
            if i not in self.out_idx
        ]
        self._inputs = len(inputs)
        self._addresses = [i for i, (name, _) in enumerate(inputs) if dict(prim_func.params)[name] == "handle"]
        self._placed = any(kind == "runtime" for _, kind in inputs)
        if not self._placed:
            inputs.append(("_place", "runtime"))
        coded = {name: kind.dtype.element for name, kind in prim_func.params if _is_coded(kind)}
        self._coded = {i: coded[name] for i, (name, _) in enumerate(inputs) if name in coded}
        launch = [("_debug", "option", False)]
        super().__init__(told_name(prim_func.function), [*inputs, *launch], self._plan, layout=True, positional=True)
        self.observe(True)

    def __reduce__(self) -> Any:
        hint = "pickle what makes it: a function of @tilelang.jit and its arguments; or write its code with `export_library`"
        raise not_pickled(f"the kernel `{self.prim_func.__name__}`", hint)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}: {kind}" for name, kind in self.prim_func.params)
        made = "".join(f", makes {self.prim_func.params[i][0]}" for i in self.out_idx)
        return f"<kernel {self.prim_func.__name__}({given}){made}>"

    def launch_observed(self, grid: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """A call that is not native: the first, one by name or of another number of arguments, and all of kernels whose arguments
        or results are not what their callers see."""
        if grid is not None:
            return self.launch_plainly(grid, *args, **kwargs)  # says that there is none
        if launches_are_unmade():
            return self.unmade_results(args)
        result = self._run(*args, **kwargs)
        self.observe(bool(self._coded or self._addresses or not self._placed or any(self._outputs or ())))
        return result

    def _run(self, *args: Any, debug: bool = False, **named: Any) -> Any:
        """Runs the kernels; with `debug` by the reference interpreter, which checks bounds, uninitialised reads and races."""
        if named:
            raise error(
                TypeError,
                f"a kernel takes its arguments by position, got `{next(iter(named))}=...`",
                hint=f"the parameters of `{self.prim_func.__name__}` are " + ", ".join(self._names()),
            )
        if len(args) != self._inputs:
            raise error(
                ValueError,
                f"Kernel expected {self._inputs} inputs, but {len(args)} are provided.",
                hint=f"the parameters of `{self.prim_func.__name__}` are " + ", ".join(self._names()),
            )
        place = None
        if self._coded:
            args = tuple(_as_bytes(arg, self._coded[i]) if i in self._coded else arg for i, arg in enumerate(args))
        if self._addresses:
            place = next((args[i] for i in self._addresses if on_gpu(args[i])), None)
            args = tuple(_address(arg) if i in self._addresses else arg for i, arg in enumerate(args))
        if not self._placed:
            args = (*args, _place() if place is None else place)
        result = self.launch_plainly(None, *args, _debug=True) if debug else self.launch_plainly(None, *args)
        return result if result is None else self._as_declared(result)

    def _as_declared(self, result: Any) -> Any:
        """Outputs whose elements lie in bytes, in the type that torch has for them."""
        if self._outputs is None:
            made = result if isinstance(result, (list, tuple)) else [result]
            if not any(str(getattr(tensor, "dtype", "")) == "torch.uint8" for tensor in made):
                self._outputs = []
                return result
            kinds = [kind.dtype for kind in self._results()]
            self._outputs = [kind.as_torch() if kind.stored_in_bytes else None for kind in kinds]
        if not any(self._outputs):
            return result
        if not isinstance(result, (list, tuple)):
            return result.view(self._outputs[0])
        return type(result)(tensor if kind is None else tensor.view(kind) for tensor, kind in zip(result, self._outputs))

    def _results(self) -> list[TensorType]:
        """What a call makes and returns."""
        if self.out_idx:
            return [self.params[i] for i in self.out_idx]
        self.prim_func.script()  # which notes what it returns
        return [kind for _, kind in (self.prim_func.notes or {}).get("outputs", [])]

    def taking_results(self) -> JITKernel:
        """The same function, which takes the tensors that this one makes."""
        return JITKernel(self.prim_func, None, self.options) if self.out_idx else self

    def unmade_results(self, args: Sequence[Any]) -> Any:
        """What a call returns, of tensors of these shapes; nothing is launched.

        :raises tilery.ValueError: an extent of a result is no expression of the arguments' extents."""
        inputs = [kind for i, kind in enumerate(self.params) if i not in self.out_idx]
        tensors = [(kind, arg) for kind, arg in zip(inputs, args) if isinstance(kind, TensorType) and arg is not None]
        sizes: dict[int, Any] = {}
        for kind, tensor in tensors:
            for size, extent in zip(kind.shape, tensor.shape):
                if isinstance(size, Var):
                    sizes.setdefault(size.uid, extent)
        like = tensors[0][1] if tensors else None
        made = [_unmade(self.prim_func.__name__, kind, sizes, like) for kind in self._results()]
        return made[0] if len(made) == 1 else made or None

    def _refuse_for(self, target: Any) -> None:
        """What upstream's CPU targets do not have, and programs for them expect to be refused."""
        if target in (None, "auto") or not self.lone:
            return
        self.prim_func.script()
        for what in (self.prim_func.notes or {}).get("gpu_only", ()):
            raise error(NotImplementedError, f"`{self.prim_func.__name__}`: {what} is not supported by the target {target!r}")

    def _names(self) -> list[str]:
        return [name for i, (name, _) in enumerate(self.prim_func.params) if i not in self.out_idx]

    def _plan(self, signature: Any, arguments: dict[str, Any]) -> Any:
        """What runs a kind of call that was not seen before."""
        known_layouts = {}
        kinds = dict(self.prim_func.params)
        given = zip(self._names(), signature.params)
        absent = tuple(name for name, known in given if known == ("const", None) and isinstance(kinds[name], TensorType))
        for position, (name, known) in enumerate(zip(self._names(), signature.params)):
            if name not in absent:
                known_layouts[name] = self._check(position, name, kinds[name], known)
        layouts = tuple(sorted((name, layout) for name, layout in known_layouts.items() if layout))
        debug = arguments["_debug"]
        key = (layouts, absent, signature.aliases, signature.device, debug)
        if key not in self._plans:  # kinds of calls that differ in extents share their code
            compiled = CompiledKernel(self, layouts, signature, absent)
            self._plans[key] = compiled, compiled.plan(debug)
        self._last, plan = self._plans[key]
        self._last.answer()
        return plan

    def traced(self, layouts: Layouts, absent: tuple[str, ...] = ()) -> Kept:
        """What is traced for tensors of these layouts, ((name, layout), ...), for all devices; the absent ones are None."""
        key = layouts, absent
        if key not in self._traced:
            self._traced[key] = Kept.of(
                lambda: build(
                    self.prim_func,
                    self.out_idx,
                    dict(layouts),
                    absent,
                    lone=self.lone,
                    arithmetic=self.options.arithmetic,
                    given_results=(16 if layouts else 1) if self.given_results else 0,
                )
            )
        return self._traced[key]

    def _check(self, position: int, name: str, kind: Any, known: tuple[Any, ...]) -> tuple[int, tuple[int, ...]] | None:
        """Refuses an argument of the wrong kind; gives a tensor's layout: (factor of its address, classes of its strides)."""
        label = f"{self.prim_func.__name__}.{name}"
        if not isinstance(kind, TensorType):
            if known[0] not in ("int", "float", "bool", "const") or known == ("const", None):
                got = f"a tensor of {counted(len(known[3]), 'dimension')}" if known[0] == "tensor" else "None"
                hint = number_of(name, known[3]) if known[0] == "tensor" else None
                raise error(TypeError, f"Expect arg[{position}] to be a number (`{label}` is {kind}), got {got}", hint=hint)
            if known[0] == "float" and "int" in kind:
                raise error(TypeError, f"Expect arg[{position}] to be int (`{label}` is {kind})")
            return None
        if known[0] != "tensor":
            raise error(TypeError, f"Expect arg[{position}] to be pointer (`{label}` is a tensor of {kind.dtype})")
        _, element, divisibility, extents, strides = known
        if len(extents) != len(kind.shape):
            raise error(
                ValueError,
                f"{label}.ndim is expected to equal {len(kind.shape)}, but got mismatched ndim",
                hint=f"it has {counted(len(extents), 'dimension')}",
            )
        if element != kind.dtype.storage and not any({element, kind.dtype.storage} <= same for same in _SAME):
            raise error(
                TypeError,
                f"{label}.dtype is expected to be {kind.dtype}, but got incompatible dtype",
                hint=f"it holds {element}; convert it or declare it so",
            )
        return divisibility, strides

    def prepare(self) -> None:
        """Makes the machine code for tensors as libraries usually allocate them, on the first GPU or else the CPU."""
        device = 0 if _native.gpu_count() else -1
        layouts = usual_layouts(self.prim_func.params, self.out_idx)
        key = (layouts, (), True, device, False)
        if key not in self._plans and not compile.interpreted(False):
            compiled = CompiledKernel(self, layouts, SimpleNamespace(device=device, aliases=()))
            self._plans[key] = compiled, compiled.plan()

    @property
    def adapter(self) -> KernelAdapter:
        """What programs ask upstream's adapter for."""
        return KernelAdapter(self)

    @property
    def artifact(self) -> CompiledArtifact:
        """The function as tilelang.lower gives it."""
        from ..engine.lower import lower

        return lower(self.prim_func)

    # -- what is inside ----------------------------------------------------------------------------------------------
    def _latest(self) -> CompiledKernel:
        """The kernel for the last kind of call; for row-major tensors on the CPU if nothing was called yet."""
        if self._last:
            return self._last
        tensors = [(name, len(kind.shape)) for name, kind in self.prim_func.params if isinstance(kind, TensorType) and kind.shape]
        layouts = tuple(sorted((name, (1, (0,) * (rank - 1) + (1,))) for name, rank in tensors))
        return CompiledKernel(self, layouts, SimpleNamespace(device=-1, aliases=()))

    def get_kernel_source(self, kernel_only: bool = True) -> str:
        """The tile IR of the kernels and the host function."""
        return self._latest().text

    get_host_source = get_kernel_source
    kernel_source = host_source = property(get_kernel_source)

    def explain(self, *args: Any, seconds: float = 0.2, **kwargs: Any) -> Report:
        """Launches it, as a call does, and says what the launch did: bytes and operations, its time beside this machine's limits,
        the plan of its code and what holds it back. seconds: how long it is timed, on copies."""
        from ...core.explain import explained

        return explained(lambda: self(*args, **kwargs), seconds)

    @property
    def explanation(self) -> Explanation:
        """How the kernel came to its code, for the last kind of call: `ignored` holds what the program asks for in vain."""
        return self._latest().explanation

    @property
    def asm(self) -> dict[str, str]:
        """{"tile", "passes", "plan", "llvm", "asm"}: the stages of the last kind of call."""
        return self._latest().asm

    def show_source(self, which: str = "kernel") -> None:
        print(self.get_kernel_source())

    def export_sources(self, kernel_path: str | None = None, host_path: str | None = None) -> None:
        """Writes the IR to files."""
        for path in filter(None, (kernel_path, host_path)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.get_kernel_source())

    def export_library(self, path: str | Path) -> None:
        """Writes the code for this machine to a file, whose functions `tilelang.tvm.runtime.load_module(path)` has; they take all
        tensors, results too: what T.empty makes behind the others."""
        from .library import export

        export(self.prim_func, self._for_layouts(), path)

    def library_entry(self, name: str, targets: Iterable[str]) -> Entry:
        """The function as an entry of a bundle that is called by `name`, with code for these targets."""
        from .library import entry_of

        return entry_of(self.prim_func, self._for_layouts(), name, targets)

    def _for_layouts(self) -> Callable[[Layouts, int], CompiledKernel]:
        """What makes code for tensors of such layouts, all of them arguments, on a GPU or the CPU (-1)."""
        whole = JITKernel(self.prim_func, None, self.options, given_results=True)
        return lambda layouts, device: CompiledKernel(whole, layouts, SimpleNamespace(device=device, aliases=()))

    def _ptx(self) -> str:
        """The PTX of the last kind of call, for the GPU here or else for Hopper."""
        from ...aot.targets import targets_of

        compiled = self._latest()
        return cache.stages(compiled.module, compiled.device, compiled.options, targets_of("cuda")[0])["asm"]

    def show_ptx(self) -> None:
        print(self._ptx())

    def export_ptx(self, path: str | Path) -> None:
        """Writes the PTX to a file."""
        Path(path).write_text(self._ptx(), encoding="utf-8")

    show_sass = refused.function("JITKernel.show_sass", _ASSEMBLED)
    export_sass = refused.function("JITKernel.export_sass", _ASSEMBLED)

    def run_once(self, func: Any = None) -> Any:
        """One call with made-up inputs."""
        return self.get_profiler().run_once(func)

    def get_profiler(self, tensor_supply_type: TensorSupplyType | None = None) -> Profiler:
        return Profiler(self, tensor_supply_type or TensorSupplyType.Auto)


def _unmade(name: str, kind: TensorType, sizes: Mapping[int, Any], like: Any) -> Any:
    """A tensor of this kind, with elements that nobody wrote."""
    extents = [evaluate(size, sizes) for size in kind.shape]
    for size, extent in zip(kind.shape, extents):
        if extent is None:
            message = f"`{name}` makes a tensor of extent {written(size)}, which the extents of its arguments do not tell"
            raise error(ValueError, message, hint="make the result a parameter")
    if kind.dtype.pack > 1:
        extents[-1] //= kind.dtype.pack
    made = allocate(extents, kind.dtype.storage, like)
    return made.view(kind.dtype.as_torch()) if kind.dtype.stored_in_bytes else made


def _positions(prim_func: PrimFunc, out_idx: int | Sequence[int] | None) -> list[int]:
    """out_idx as a list of positions from the front."""
    if out_idx is None:
        return []
    count = len(prim_func.params)
    result: list[int] = []
    for index in out_idx if isinstance(out_idx, Sequence) else [out_idx]:
        if isinstance(index, bool) or not isinstance(index, Integral):
            raise error(TypeError, f"out_idx is the position of a parameter, or a list of them, got {out_idx!r}")
        if not -count <= int(index) < count:
            raise error(ValueError, f"out_idx {index} is out of range: `{prim_func.__name__}` has {counted(count, 'parameter')}")
        position = int(index) % count
        if position in result:
            raise error(ValueError, f"out_idx names parameter {position} twice")
        if not isinstance(prim_func.params[position][1], TensorType):
            raise error(
                ValueError, f"out_idx {index} is the scalar `{prim_func.params[position][0]}`", hint="outputs are tensors"
            )
        if not prim_func.params[position][1].shape:
            raise error(ValueError, f"output `{prim_func.params[position][0]}` has no dimensions", hint="give it the shape (1,)")
        result.append(position)
    return result
