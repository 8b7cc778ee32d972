"""@jit: a kernel from a Python function; kernel[grid](...) specialises, compiles once per specialisation, and launches."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from tilery import _native

from ...core.frames import of_caller
from ...core.ignored import ignore
from ...core.names import takes_options
from ...core.present import present
from ...core.switches import switch
from ...core.tile import types
from ...core.tile.value import constant_of, tensor
from ...errors import error
from ...frontend.source import remember
from .._C.libtriton import native_specialize_impl
from .._utils import type_canonicalisation_dict
from ..compiler import compiler
from ..compiler.compiler import plan
from ..compiler.options import OPTIONS
from .callable import JITCallable
from .specialize import mangle_type
from .tensors import MockTensor, TensorWrapper, reinterpret

if TYPE_CHECKING:
    from ...core.explain import Report
    from .structured import Launches

T = TypeVar("T")

__all__ = [
    "ConstexprFunction",
    "InterpretedFunction",
    "JITCallable",
    "JITFunction",
    "KernelInterface",
    "KernelParam",
    "MockTensor",
    "TensorWrapper",
    "constexpr_function",
    "jit",
    "mangle_type",
    "must_use_result",
    "native_specialize_impl",
    "reinterpret",
    "type_canonicalisation_dict",
]

_FLOATS = {
    "fp16": "float16",
    "float16": "float16",
    "bf16": "bfloat16",
    "bfloat16": "bfloat16",
    "fp64": "float64",
    "float64": "float64",
}
# Names of element types as annotations have them, and the short ones.
_LONG = {"u1": "int1", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "bool": "int1"}
_LONG |= types.INTEGERS


class KernelParam:
    """A kernel's parameter."""

    def __init__(self, index: int, parameter: inspect.Parameter, plain: bool, any_alignment: bool) -> None:
        annotation = parameter.annotation
        self.index = self.num = index
        self.name, self.default = parameter.name, parameter.default
        self.has_default = parameter.default is not inspect.Parameter.empty
        self.is_constexpr = types.is_constexpr(annotation)
        self.plain = self.do_not_specialize = plain
        self.do_not_specialize_on_alignment = any_alignment
        annotation = annotation.strip("\"' ") if isinstance(annotation, str) else annotation  # text of text
        text = annotation if isinstance(annotation, str) else annotation.name if isinstance(annotation, types.dtype) else ""
        named = text or annotation is inspect.Parameter.empty
        self.annotation = text if named else getattr(annotation, "__name__", str(annotation))
        text = text.rpartition(".")[2]
        self.float_type = _FLOATS.get(text, "float32")
        self.int_type = text if text in types.INTEGERS.values() else ""  # of an int, whatever its value: a stride may be tl.int64
        self.is_const = annotation is types.const or text == "const"

    @property
    def annotation_type(self) -> str:
        """The element type that the annotation says, by its short name; "": none."""
        text = self.annotation.rpartition(".")[2].removeprefix("*").removeprefix("k")
        text = _LONG.get(text, text)
        return text if types.dtype.is_dtype(text) else ""

    def native(self) -> tuple[Any, ...]:
        """As the launcher takes it."""
        kind = "constexpr" if self.is_constexpr else "plain" if self.plain else "runtime"
        return (self.name, kind, self.default) if self.has_default else (self.name, kind)


def _called(name: str, specialisation: Any = None) -> str:
    """What a kernel is called, whatever its specialisation."""
    return name


def _known(value: Any) -> Any:
    value = types.unwrap(value)
    return value.constant if isinstance(value, tensor) and value.constant is not None else value


class _Bound:
    """``kernel[grid]``, as the native launcher has it."""

    def __init__(self, kernel: KernelInterface, grid: Any) -> None:
        self.kernel, self.grid = kernel, grid

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.kernel.run(*args, grid=self.grid, warmup=False, **kwargs)

    def explain(self, *args: Any, **kwargs: Any) -> Report:
        """The kernel's `explain` over this grid."""
        return self.kernel.explain(*args, **kwargs, grid=self.grid)


class KernelInterface:
    """What can be launched: ``kernel[grid](...)`` calls `run`, which a subclass has. KernelInterface[T] is the same."""

    def __class_getitem__(cls, item: Any) -> type:
        return cls

    def run(self, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no method `run`")

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return _Bound(self, grid)

    def explain(self, *args: Any, grid: Any = None, seconds: float = 0.2, **kwargs: Any) -> Report:
        """Launches it, as ``kernel[grid](*args, **kwargs)`` does, and says what the launch did: bytes and operations, its time
        beside this machine's limits, the plan of its code and what holds it back. seconds: how long it is timed, on copies."""
        from ...core.explain import explained

        if grid is None:
            hint = "write grid=(programs, ), as in kernel[(programs, )](...), or kernel[grid].explain(...)"
            raise error(TypeError, "explain() needs the `grid` of the launch", hint=hint)
        return explained(lambda: self[grid](*args, **kwargs), seconds)

    def warmup(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Compiles for these arguments, of which element types of torch stand for tensors, without running a program."""
        return self.run(*map(MockTensor.wrap_dtype, args), grid=grid, warmup=True, **kwargs)


class _Launching(type):
    """Of JITFunction and its subclasses: a program may put a `run` of its own there, as profilers do. Launches call it then."""

    def __setattr__(cls, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "run":
            cls.subscribe()

    def __delattr__(cls, name: str) -> None:
        super().__delattr__(name)
        if name == "run":
            cls.subscribe()

    def subscribe(cls) -> None:
        """Makes kernel[grid] call `run` where that is the program's own, and launch natively where it is ours."""
        subscript = cls.__dict__.get("__getitem__")
        if subscript not in (None, KernelInterface.__getitem__):
            return  # the program's own, too
        own = cls.__dict__.get("run", _run)
        if own is not _run:
            type.__setattr__(cls, "__getitem__", KernelInterface.__getitem__)
        elif subscript is not None:
            type.__delattr__(cls, "__getitem__")


class JITFunction(_native.Launcher, JITCallable, KernelInterface, metaclass=_Launching):
    """A function that is compiled when it is launched, and traced inline when a kernel calls it. Its subscript is native: `run`
    is asked only where a program has one of its own, in a subclass, here or at a kernel. It pickles as the name that it has in
    its module; one whose function a program took away (`kernel.fn = None`) as what is known of it."""

    __tile_structure__ = True
    _hash_lock: Any = None  # programs that pickle kernels put it away
    interpreted = False  # do launches run the reference interpreter?

    def __init__(
        self,
        fn: Callable[..., Any],
        version: Any = None,
        do_not_specialize: Iterable[int | str] | None = None,
        do_not_specialize_on_alignment: Iterable[int | str] | None = None,
        debug: bool | None = None,
        noinline: bool | None = None,
        repr: Any = None,
        launch_metadata: Any = None,
    ) -> None:
        if not inspect.isfunction(fn):
            raise error(TypeError, f"@jit takes a function, got {type(fn).__name__}")
        remember(fn)
        self.fn, self.debug, self.noinline, self.version = fn, debug, noinline, version
        self.module = fn.__module__
        self.do_not_specialize = tuple(do_not_specialize or ())
        self.do_not_specialize_on_alignment = tuple(do_not_specialize_on_alignment or ())
        if debug or compiler.debugs():
            from ...core import unwritten

            unwritten.watch()
        self.repr: Callable[[Any], str] = repr or functools.partial(_called, fn.__name__)
        self.launch_metadata = launch_metadata
        self.pre_run_hooks: list[Callable[..., Any]] = []
        self.kernel = None
        self._kernels: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        self._read_parameters()
        super().__init__(fn.__name__, self.native_parameters, functools.partial(plan, self))
        functools.update_wrapper(self, fn)
        self.__globals__ = fn.__globals__

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.subscribe()

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "run":
            self.observe(True)

    def _read_parameters(self) -> None:
        plain, anywhere = self.do_not_specialize, self.do_not_specialize_on_alignment
        self.refused = ""
        self.params = [
            KernelParam(i, p, i in plain or p.name in plain, i in anywhere or p.name in anywhere)
            for i, p in enumerate(inspect.signature(self.fn).parameters.values())
        ]
        for p in self.params:
            if p.is_constexpr and p.plain:
                self.refused = f"{p.name} marked as constexpr and listed in do_not_specialize"
        self.arg_names = [p.name for p in self.params]
        self.constexprs = [p.index for p in self.params if p.is_constexpr]
        self.constexpr_names = {p.name for p in self.params if p.is_constexpr}
        self.by_name = {p.name: p for p in self.params}
        options = [(name, "option") for name in OPTIONS if name not in self.arg_names]
        self.option_defaults = {name: None for name, _ in options}
        self.native_parameters = [p.native() for p in self.params] + options

    @functools.cached_property
    def launch_structured(self) -> Launches:
        """Launches with arguments that the native launcher does not take as they are."""
        from .structured import Launches  # few programs have them

        return Launches(self, plan)

    def is_gluon(self) -> bool:
        return False

    @property
    def device_caches(self) -> Any:
        """{device: (compiled kernels by kind of call, keys, target, back end, binder)}."""
        from .observe import DeviceCaches

        return DeviceCaches(self)

    def _unsafe_update_src(self, new_src: str) -> None:
        super()._unsafe_update_src(new_src)
        self._read_parameters()
        self.__dict__.pop("launch_structured", None)
        _native.Launcher.__init__(self, self.fn.__name__, self.native_parameters, functools.partial(plan, self))

    def __reduce__(self) -> Any:
        if self.fn is not None:
            return self.__qualname__
        left = {"launch_structured", "native_parameters", "__wrapped__", "_kernels"}
        return _without_function, ({k: v for k, v in self.__dict__.items() if k not in left},)

    def __repr__(self) -> str:
        return f"JITFunction({self.fn.__module__}:{self.fn.__qualname__})"

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise error(
            RuntimeError,
            f"`{self.fn.__name__}` is a kernel: give it a grid",
            hint=f"launch it with {self.fn.__name__}[grid](...)",
            chain=of_caller(),
        )

    def __tile_trace__(self, tracer: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """A call from a kernel: traced inline. A number that the program writes is known to parameters annotated constexpr; a
        value of run time passes through them."""
        from ...core.tile.tracer import inline  # what a trace needs comes with the first one

        ignore("tileon.jit", noinline=self.noinline)
        names = self.constexpr_names
        args = [_known(v) if p.is_constexpr else v for p, v in zip(self.params, args)] + list(args[len(self.params) :])
        kwargs = {name: _known(v) if name in names else v for name, v in kwargs.items()}
        if self.noinline and getattr(tracer, "narrow", False):
            self._refuse_tiles(zip(self.arg_names, args))
            self._refuse_tiles(kwargs.items())
        return inline(tracer, self.fn, args, kwargs)  # type: ignore[arg-type]  # __init__ took a function

    def _refuse_tiles(self, arguments: Iterable[tuple[str, Any]]) -> None:
        for name, value in arguments:
            if isinstance(value, tensor) and value.handle.shape:
                raise error(
                    NotImplementedError,
                    f"`{self.fn.__name__}` is noinline and gets a tile as argument `{name}`",
                    hint="pass pointers and scalars, or drop noinline=True",
                )

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        """kernel[grid](*args, **kwargs); with `warmup` it is only compiled."""
        if not warmup and "run" in self.__dict__:
            return self._observed(grid, args, kwargs)
        if not warmup:
            return _native.Launcher.__getitem__(self, grid)(*args, **kwargs)
        args = tuple(a.real() if isinstance(a, MockTensor) else a for a in args)
        kwargs = {name: a.real() if isinstance(a, MockTensor) else a for name, a in kwargs.items()}
        module = present(f"{__package__}._async_compile")
        mode = module.active_mode.get() if module else None
        return mode.submit(lambda: self._compiled(args, kwargs)) if mode else self._compiled(args, kwargs)

    def _compiled(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        with compiler.warming():
            return self.launch_plainly((0,), *args, **kwargs)

    def launch_observed(self, grid: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """A launch with what was set around it: this kernel's own functions, and those of knobs.runtime."""
        own = self.__dict__.get("run")
        return own(*args, grid=grid, warmup=False, **kwargs) if own else self._observed(grid, args, kwargs)

    def _observed(self, grid: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        from .observe import observed

        return observed(self, grid, args, kwargs)

    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None:
        """hook(*args, **kwargs) is called with the arguments of each launch before it."""
        if not callable(hook):
            raise error(AssertionError, f"a hook is a function, not {type(hook).__name__}")
        self.pre_run_hooks.append(hook)
        self.observe(True)

    def preload(self, specialization_data: str) -> Any:
        """Compiles the kernel for a kind of call that another process described (`specialization_data` of a hook)."""
        return compiler.preload(self, specialization_data)


_run = JITFunction.run


class InterpretedFunction(JITFunction):
    """A kernel that is interpreted: slowly, program by program, in a fixed order."""

    interpreted = True


def _without_function(state: dict[str, Any]) -> JITFunction:
    """What was pickled of a kernel without its function. It cannot be launched."""
    kernel = JITFunction.__new__(JITFunction)
    kernel.__dict__.update(state)
    return kernel


@takes_options
def jit(
    fn: Callable[..., Any] | None = None,
    *,
    version: Any = None,
    repr: Any = None,
    launch_metadata: Any = None,
    do_not_specialize: Iterable[int | str] | None = None,
    do_not_specialize_on_alignment: Iterable[int | str] | None = None,
    debug: bool | None = None,
    noinline: bool | None = None,
) -> Any:
    """Decorator: makes a function a kernel (launched with kernel[grid](...)) or a helper of kernels (called by them). With
    TRITON_INTERPRET=1 launches run the reference interpreter."""
    plain = do_not_specialize, do_not_specialize_on_alignment
    if fn is None:
        return lambda f: _made(f, version, *plain, debug, noinline, repr, launch_metadata)
    return _made(fn, version, *plain, debug, noinline, repr, launch_metadata)


def _made(fn: Any, *options: Any) -> JITFunction:
    """What `jit` makes of a function; one that is a kernel stays what it is. options: those of JITFunction, in its order."""
    if isinstance(fn, JITFunction):
        return fn
    return (InterpretedFunction if switch("TRITON_INTERPRET") else JITFunction)(fn, *options)


def must_use_result(x: Any, s: Any = True) -> Any:
    """Decorator: a kernel that calls the function and drops what it returns is wrong; a text given instead says why."""
    if isinstance(x, str):
        return lambda function: must_use_result(function, x)
    x._must_use_result = s
    return x


class ConstexprFunction(JITCallable):
    """A host function that kernels call with compile-time values."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        functools.update_wrapper(self, fn)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for a in args:  # hosts call these for each launch
            if isinstance(a, types.constexpr):
                break
        else:
            if not kwargs:
                return self.fn(*args)
        return self.fn(*map(types.unwrap, args), **{k: types.unwrap(v) for k, v in kwargs.items()})

    def __tile_trace__(self, tracer: Any, args: Iterable[Any], kwargs: dict[str, Any]) -> Any:
        what = f"an argument of constexpr function `{self.fn.__name__}`"
        return self(*(constant_of(a, what) for a in args), **{k: constant_of(v, what) for k, v in kwargs.items()})


def constexpr_function(fn: Callable[..., Any]) -> ConstexprFunction:
    """Decorator: a function that runs at compile time."""
    return ConstexprFunction(fn)


def __getattr__(name: str) -> Any:
    """What few programs ask for."""
    if name in ("specialize_impl", "native_specialize_impl", "mangle_type"):
        from . import specialize

        return getattr(specialize, name.removeprefix("native_"))
    if name == "get_device_key":
        from ..backends.active import driver

        target = driver.active.get_current_target()
        return lambda: f"{target.backend}:{driver.active.get_current_device()}"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
