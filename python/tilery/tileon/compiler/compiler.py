"""From a kind of call to a compiled kernel: what the native launcher asks when it meets arguments of a new kind, and what programs
ask that compile before they call."""

from __future__ import annotations

import functools
import os
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilery import _native

from ...core import compile as core
from ...core.cache import sources
from ...core.oracle import OracleLaunch
from ...core.tile.tracer import default_precision, trace
from ...errors import error
from ...frontend.fingerprint import watched
from ..backends import backends
from ..backends.active import driver
from ..backends.compiler import DEFAULTS, BaseBackend, GPUTarget, Options
from .source import ASTSource

__all__ = ["ASTSource", "CompiledKernel", "compile", "make_backend", "plan"]

# Options of a launch that targets may heed: hints of the kernel.
_HINTS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "cluster_dims", "launch_cooperative_grid", "launch_pdl")


def _fields(*names: str) -> Any:
    """A type of named fields."""
    return namedtuple("KernelMetadata", names)


KernelMetadata = _fields("name", "hash", "target", "shared", *DEFAULTS)



def _debugs() -> bool:
    """Do the environment's switches ask for debug=True at every launch?"""
    return any(os.environ.get(name, "0") not in ("", "0") for name in ("TRITON_DEBUG", "TILEON_DEBUG"))


class CompiledKernel(core.CompiledKernel):
    """What a launch and `compile` return: the kernel for one kind of call, with its stages as text. What `compile` returned can
    be pickled."""

    src: ASTSource
    target: GPUTarget | None = None
    text: str | None = None  # the module's IR, where the function may not be there
    code: bytes | None = None
    _run: Callable[..., None] | None = None

    def __init__(self, kernel: Any, signature: Any, values: Mapping[str, Any]) -> None:
        self.debug = bool(values.get("debug") or kernel.debug or _debugs())
        self.overflow = self.debug and values.get("sanitize_overflow") is not False
        self.hints = {option: values.get(option) for option in _HINTS if option not in kernel.arg_names}
        warps = self.hints.get("num_warps")
        if isinstance(warps, int) and (warps < 1 or warps & (warps - 1)):
            raise error(AssertionError, f"num_warps must be a power of 2, got {warps}")
        # (name, constant), or (name, element type, whether it is a pointer, whether that is const, divisor)
        self.arguments: list[tuple[Any, ...]] = []
        for parameter, known in zip(kernel.params, signature.params):
            self.arguments.append((parameter.name, *_argument(parameter, known)))
        self.slots = [i for i, argument in enumerate(self.arguments) if len(argument) > 2]
        annotations = [(p.name, p.float_type, p.is_const) for p in kernel.params]
        specialisation = ["tileon", signature.params, annotations, self.debug, self.overflow]
        specialisation += [default_precision(kernel.fn), self.hints, getattr(kernel, "structure", None)]
        self.assemble = getattr(kernel, "assemble", None)
        fuses = values.get("enable_fp_fusion") is not False or "enable_fp_fusion" in kernel.arg_names
        options = {} if fuses else {"fp_contract": False}
        super().__init__(kernel.fn.__name__, kernel.fn, specialisation, signature, **options)

    def trace(self) -> _native.Module:
        if self.text is not None:
            return _native.Module.parse(self.text)
        parameters: list[tuple[str, Any, int, Any]] = []
        for name, *known in self.arguments:
            if len(known) == 1:
                parameters.append((name, None, 1, known[0]))
            else:
                element, pointer, const, divisor = known
                parameters.append((name, _native.Type(element, (), pointer, const), divisor, None))
        return trace(self.function, self.name, parameters, self.debug, self.hints, self.overflow, self.assemble)

    def image(self, **options: Any) -> bytes:
        target = {} if self.target is None or self.target.backend == "cpu" else {"target": self.target.native}
        return super().image(**target, **options)

    def load(self, image: bytes) -> _native.KernelPlan:
        return _native.KernelPlan(_native.load(image)[0], self.slots, self, self.without_boxes)

    def interpret(self, debug: bool) -> OracleLaunch:
        types = [(name, *known[:2]) for name, *known in self.arguments if len(known) > 1]
        return OracleLaunch(self.module, self.name, types, debug, self)

    # -- compiled before it is launched ------------------------------------------------------------------------------
    def settle(self, src: ASTSource, target: GPUTarget, options: Options) -> None:
        """Compiles, and keeps what launches need when the function is gone."""
        self.src, self.target = src, target
        module = self.module
        self.code = self.image()
        self.text = module.text(locations=True, hints=target.backend != "cpu")
        self._module = None  # what is left can be pickled
        import hashlib  # milliseconds

        self.hash = hashlib.sha256(f"{triton_key()} {target} {options} {self.text}".encode()).hexdigest()
        self.metadata = KernelMetadata(self.name, self.hash, target, 0, **vars(options))

    def _init_handles(self) -> None:
        """Makes `run`."""
        if self._run is None:
            kinds = ["plain" if len(argument) > 2 else "constexpr" for argument in self.arguments]
            parameters = [(argument[0], kind) for argument, kind in zip(self.arguments, kinds)]
            self._run = _Run(_native.Launcher(self.name, parameters, _Plans(self)))

    @property
    def run(self) -> Callable[..., None]:
        """run(grid x, y, z, stream, function, metadata, launch metadata, hook before, hook after, *arguments): all the kernel's
        arguments, those known at compile time too. GPUs: on torch's current stream."""
        self._init_handles()
        assert self._run
        return self._run

    def launch_metadata(self, grid: Sequence[int], stream: int, *args: Any) -> dict[str, Any]:
        """What hooks of a launch are told."""
        return {"name": self.name, "function": self.function, "stream": stream, "grid": tuple(grid)}


class _Plans:
    """The plans of a kernel that was compiled before: the launcher asks for one when it meets a new kind of call."""

    def __init__(self, compiled: CompiledKernel) -> None:
        self.compiled = compiled
        self.known: dict[tuple[bool, int], Any] = {}

    def __call__(self, signature: Any, values: Mapping[str, Any]) -> Any:
        disjoint = not self._overlaps(signature.aliases)
        key = disjoint, signature.device
        if key not in self.known:
            self.compiled.device = signature.device
            self.compiled.options["disjoint"] = disjoint
            self.known[key] = self.compiled.plan()
        return self.known[key]

    def _overlaps(self, aliases: Sequence[tuple[int, int, str]]) -> bool:
        """Does an argument that the kernel writes share bytes with another one?"""
        if not aliases:
            return False
        code = self.compiled.code
        assert code
        kernel = _native.load(code)[0]
        written = {slot for slot, argument in zip(self.compiled.slots, kernel.args) if argument[3]}
        return any(a in written or b in written for a, b, _ in aliases)


class _Run:
    """Launches, as upstream's launchers are called."""

    def __init__(self, launcher: _native.Launcher) -> None:
        self.launcher = launcher

    def __call__(
        self, x: int, y: int, z: int, stream: int, function: Any, metadata: Any, launch: Any, before: Any, after: Any, *args: Any
    ) -> None:
        if before is not None:
            before(launch)
        self.launcher[x, y, z](*args)
        if after is not None:
            after(launch)


def plan(kernel: Any, signature: Any, values: dict[str, Any]) -> Any:
    """The native plan for a kind of call of a JITFunction."""
    kernel.watch(watched(kernel.fn))
    compiled = CompiledKernel(kernel, signature, values)
    return compiled.plan(compiled.debug)


def make_backend(target: GPUTarget) -> BaseBackend:
    """The compiler for a target."""
    for backend in backends.values():
        if backend.compiler.supports_target(target):
            return backend.compiler(target)
    raise error(RuntimeError, f"no compiler for {target}", hint="known are targets of 'cpu' and of 'cuda'")


def compile(src: ASTSource, target: GPUTarget | None = None, options: Mapping[str, Any] | None = None) -> CompiledKernel:
    """Compiles a kernel for one kind of call, for the active device if no target is named. Arguments that a launch gives are
    taken to be of these types and divisors."""
    target = target or driver.active.get_current_target()
    compiled = CompiledKernel(src.fn, src.call(), options or {})
    compiled.settle(src, target, make_backend(target).parse_options(options or {}))
    return compiled


@functools.lru_cache(maxsize=None)
def triton_key() -> str:
    """Changes with the compiler and with this package's sources."""
    return f"{_native.build_id()}-{sources()}"


def _argument(parameter: Any, known: tuple[Any, ...]) -> tuple[Any, ...]:
    """What CompiledKernel.arguments says of it beside its name."""
    kind = known[0]
    if kind == "const":
        return (known[1],)
    if kind == "pointer":
        return known[1], True, parameter.is_const, known[2]
    if kind == "int":
        return known[1], False, False, known[2]
    if kind == "float":
        return known[1] if len(known) > 1 else parameter.float_type, False, False, 1
    if kind == "bool":
        return "bool", False, False, 1
    raise error(TypeError, f"argument `{parameter.name}` must be a tensor or a number")
