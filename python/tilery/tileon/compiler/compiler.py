"""From a kind of call to a compiled kernel: what the native launcher asks when it meets arguments of a new kind, and what
programs ask that compile before they call."""

from __future__ import annotations

import contextlib
import contextvars
import functools
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tilery import _native

from ...core import compile as core
from ...core import ignored
from ...core.cache import target_of
from ...core.checks import host_number
from ...core.kept import Kept
from ...core.names import takes_options
from ...core.switches import switch
from ...errors import Error, error
from ...frontend.fingerprint import watched
from ...frontend.wording import shown
from ..backends import make_backend
from ..backends.active import driver
from ..backends.compiler import GPUTarget, Options
from ..ignored import ROWS
from . import options, source, switches
from .errors import compilation_error
from .kernel import KernelHandle, KernelMetadata
from .key import triton_key
from .source import IRSource

if TYPE_CHECKING:
    from ...core.oracle import OracleLaunch

__all__ = ["ASTSource", "CompiledKernel", "GPUTarget", "IRSource", "compile", "make_backend", "plan", "triton_key"]

# Options of a launch that targets may heed: hints of the kernel.
_HINTS = ("num_warps", "maxnreg", "launch_pdl", "launch_cooperative_grid")


_warming: contextvars.ContextVar[bool] = contextvars.ContextVar("warming", default=False)


@contextlib.contextmanager
def warming() -> Iterator[None]:
    """What is compiled within this is not compiled for a launch."""
    token = _warming.set(True)
    try:
        yield
    finally:
        _warming.reset(token)


def debugs() -> bool:
    """Do the environment's switches ask for debug=True at every launch?"""
    return switch("TRITON_DEBUG") or switch("TILEON_DEBUG")


def _wanted(given: Mapping[str, Any], kernel: Any) -> bool:
    """Are launches to be checked? A launch's option decides over its kernel's; the environment over both."""
    said = given.get("debug")
    return debugs() or bool(kernel.debug if said is None else said)


def _called_triton(function: Any) -> bool:
    """Does the function's module know the language as `triton`? The two names differ in a default, the precision of a dot of
    fp32 tiles, and in that Triton refuses what Tileon takes: tiles whose sizes are no powers of 2, global variables that are no
    constexpr, functions inside functions, tiles as arguments of a `noinline` function."""
    return "triton" in function.__globals__


def _fuses(given: Mapping[str, Any]) -> bool:
    """May products and sums be fused? Unless a launch or the environment says no."""
    return given.get("enable_fp_fusion") is not False and switch("TRITON_DEFAULT_FP_FUSION", default=True)


def _sanitizes(given: Mapping[str, Any]) -> bool:
    """Do checked launches check integer arithmetic, too? As they say, else as the environment does."""
    said = given.get("sanitize_overflow")
    return switch("TRITON_SANITIZE_OVERFLOW", default=True) if said is None else bool(said)


class CompiledKernel(KernelHandle, core.CompiledKernel):
    """What a launch and `compile` return: the kernel for one kind of call, with its stages as text. What `compile` returned can
    be pickled."""

    def __init__(self, kernel: Any, signature: Any, values: Mapping[str, Any]) -> None:
        if kernel.refused:
            raise compilation_error(error(ValueError, kernel.refused, hint="constexpr parameters are always specialised"))
        own = {*kernel.arg_names, *(p.name for p in kernel.params)}
        self.given = options.checked({name: v for name, v in values.items() if v is not None and name not in own})
        options.refuse(self.given, signature.device >= 0)
        switches.refuse(target_of(signature.device) if signature.device >= 0 else None)
        whole = getattr(kernel, "kernel", None) or kernel
        decorator = {name: getattr(whole, name, None) or None for name in ROWS["tileon.jit"]}
        self.in_vain = [*ignored.told("tileon.jit", decorator), *switches.in_vain()]
        self.debug = _wanted(self.given, kernel)
        self.overflow = self.debug and _sanitizes(self.given)
        self.hints = {option: self.given.get(option) for option in _HINTS if option not in kernel.arg_names}
        for flag in ("launch_pdl", "launch_cooperative_grid"):
            self.hints[flag] = self.hints.get(flag) or None
        self.kernel, self.structure = kernel, getattr(kernel, "structure", None)
        # (name, constant), or (name, element type, whether it is a pointer, whether that is const, divisor)
        self.arguments: list[tuple[Any, ...]] = []
        for parameter, known in zip(kernel.params, signature.params):
            self.arguments.append((parameter.name, *_argument(parameter, known)))
        self.slots = [i for i, argument in enumerate(self.arguments) if len(argument) > 2]
        self.annotations = [(p.name, p.float_type, p.int_type, p.is_const) for p in kernel.params]
        self.products = options.products(self.given, _called_triton(kernel.fn))
        self.narrow = _called_triton(kernel.fn) and [switch("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")]
        self.assemble = getattr(kernel, "assemble", None)
        compilation = {} if _fuses(self.given) else {"fp_contract": False}
        super().__init__(self._called(), kernel.fn, None, signature, [p.name for p in kernel.params], **compilation)
        self.specialisation = self._specialisation()

    def _called(self) -> str:
        """The kernel's name, by its `repr` where that is the program's own."""
        function = self.jit_function
        if isinstance(function.repr, functools.partial):
            return function.__name__
        from .describe import described

        signature, constants = described(self)
        named = {self.arguments[path[0]][0] if len(path) == 1 else path: value for path, value in constants.items()}
        return function.repr(SimpleNamespace(fn=function, signature=signature, constants=named, attrs={}))

    def ignored_by_call(self) -> Sequence[ignored.Ignored]:
        return [*options.in_vain(self.given), *self.in_vain]

    @property
    def possible_hints(self) -> Sequence[str]:
        if self.debug:  # interpreted
            return ()
        return super().possible_hints if self.target is None else _native.hints_of(self.target.native)

    def _specialisation(self) -> list[Any]:
        """What decides about the code beside the function."""
        given = [self.name, self.arguments, self.annotations, self.structure]
        return ["tileon", *given, self.debug, self.overflow, tuple(self.products), self.narrow, self.hints]

    def trace(self) -> Kept:
        from ...core.tile.tracer import trace  # a kernel that the disk cache has is not traced

        parameters: list[tuple[str, Any, int, Any]] = []
        for name, *known in self.arguments:
            if len(known) == 1:
                parameters.append((name, None, 1, known[0]))
            else:
                element, pointer, const, divisor = known
                parameters.append((name, _native.Type(element, (), pointer, const), divisor, None))
        try:
            how = self.debug, self.hints, self.overflow, self.assemble, bool(self.narrow)
            return Kept.of(lambda: trace(self.function, self.name, parameters, self.products, *how))
        except Error as wrong:
            made = compilation_error(wrong)
            made.shows_frames = wrong.shows_frames
            raise made from (wrong if switch("TRITON_FRONT_END_DEBUGGING") else made.__cause__)

    def load(self, image: bytes) -> _native.KernelPlan:
        return _native.KernelPlan(_native.load(image)[0], self.slots, self, self.other_image)

    def plan(self, debug: bool = False) -> Any:
        self.answer()
        if debug or not getattr(self.kernel, "interpreted", False):
            return super().plan(debug)
        from ...core import oracle

        return oracle.plan(self.interpret(False), self.device)

    def interpret(self, debug: bool) -> OracleLaunch:
        from ...core.oracle import OracleLaunch

        types = [(name, *known[:2]) for name, *known in self.arguments if len(known) > 1]
        return OracleLaunch(self.module, self.name, types, debug, self)

    @functools.cached_property
    def src(self) -> ASTSource:
        """What was compiled, as `compile` is given it."""
        if self.asked is not None:
            return self.asked
        from .describe import source_of

        return ASTSource(self.jit_function, *source_of(self))

    # -- compiled before it is launched ------------------------------------------------------------------------------
    def settle(self, src: ASTSource, target: GPUTarget, parsed: Options) -> None:
        """Compiles, and keeps what launches need when the function is gone."""
        options.refuse(self.given, target.backend != "cpu")
        switches.refuse(target.native if target.backend != "cpu" else None)
        self.asked, self.target = src, target
        self.code = self.image()
        self.traced().settle()
        self.kernel = self.assemble = None  # what is left can be pickled
        self.metadata = KernelMetadata(**{**vars(parsed), **self._facts()})


class ASTSource(source.ASTSource):
    __doc__ = source.ASTSource.__doc__

    def make_ir(self, target: GPUTarget, options: Any, codegen_fns: Any, module_map: Any, context: Any) -> Any:
        """Which arguments the kernel reads and writes, as a module to walk over."""
        from .accesses import Accesses  # few programs ask

        return Accesses(compile(self, target))


def plan(kernel: Any, signature: Any, values: dict[str, Any]) -> Any:
    """The native plan for a kind of call of a JITFunction."""
    kernel.watch(watched(kernel.fn))
    compiled = CompiledKernel(kernel, signature, values)
    function = getattr(kernel, "kernel", None) or kernel
    function._kernels[f"{signature} {sorted(compiled.given.items(), key=str)}"] = compiled
    if not switches.may_ask():
        return compiled.plan(compiled.debug)
    from .hooks import observed_plan

    return observed_plan(compiled, _warming.get())


@takes_options
def compile(
    src: ASTSource, target: GPUTarget | None = None, options: Mapping[str, Any] | None = None, _env_vars: Any = None
) -> CompiledKernel:
    """Compiles a kernel for one kind of call, for the active device if no target is named: compile(ASTSource(...))[grid](*args).
    Arguments that a launch gives are taken to be of these types. Of a target that is not here there is the code (`asm`)."""
    target = target or driver.active.get_current_target()
    if options is not None and not isinstance(options, Mapping):
        message = f"tileon.compile: options is {shown(options)}; a dict of options is expected"
        raise error(TypeError, message, hint='write {"num_warps": 8}')
    if not isinstance(src, ASTSource):
        IRSource(src)
    kernel, call = src.call(plan)
    given = {**src.parse_options(), **(options or {})}
    compiled = CompiledKernel(kernel, call, given)
    compiled.in_vain += ignored.told("tileon.compile", {"_env_vars": _env_vars})
    compiled.settle(src, target, make_backend(target).parse_options({**given, **compiled.given}))
    if switches.may_ask():
        from .hooks import dump, listened

        listened(compiled)
        dump(compiled)
    return compiled


def preload(kernel: Any, specialization_data: str) -> CompiledKernel:
    """The kernel for a kind of call that a function of knobs was told of, maybe in another process.

    :raises tilery.RuntimeError: the description is another kernel's, or holds a value that has no text."""
    import json

    from .describe import as_tuples, read_description

    data = json.loads(specialization_data)
    name = f"{kernel.__module__}.{kernel.__qualname__}"
    if data["name"] != name:
        raise error(RuntimeError, f"the description is of {data['name']}, not of {name}")
    signature, constants, attrs = read_description(kernel, data)
    options = {name: as_tuples(value) for name, value in data["options"].items()}
    return compile(ASTSource(kernel, signature, constants, attrs), None, options)


def _argument(parameter: Any, known: tuple[Any, ...]) -> tuple[Any, ...]:
    """What CompiledKernel.arguments says of it beside its name."""
    kind = known[0]
    if kind == "const":
        return (host_number(known[1]),)
    if kind == "pointer":
        return known[1], True, parameter.is_const, known[2]
    if kind == "int":
        return parameter.int_type or known[1], False, False, known[2]
    if kind == "float":
        return known[1] if len(known) > 1 else parameter.float_type, False, False, 1
    if kind == "bool":
        return "bool", False, False, 1
    raise error(TypeError, f"argument `{parameter.name}` must be a tensor or a number")


def __getattr__(name: str) -> Any:
    """What few programs ask for."""
    if name == "LazyDict":
        from ..runtime.observe import LazyDict

        return LazyDict
    if name == "max_shared_mem":
        return lambda device: driver.active.utils.get_device_properties(device)["max_shared_mem"]
    if name == "get_cache_key":
        from ..runtime.cache import get_cache_key

        return get_cache_key
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
