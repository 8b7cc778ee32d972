"""`jit`, and the kernels it makes: an application and the arrangement of its arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tilery import _native
from tilery._native import arrange
from tilery._native.arrange import Symbol, Tensor

from ..core.arrays import gpu_of
from ..core.cache import target_of
from ..core.explanation import Explanation
from ..core.frames import of_function, trimmed
from ..core.names import takes_options, told_name
from ..core.pickled import OwnCopy, by_name
from ..core.unmade import launches_are_unmade
from ..errors import Error, error, with_article
from ..frontend.fingerprint import fingerprint
from ..frontend.source import remember
from ..frontend.wording import counted, did_you_mean, number_of
from . import jagged, tuning
from .arguments import Argument, parameters_of
from .compile import CompiledKernel
from .dtype import NAMES as TYPES
from .flattened import Flattened, seen_as
from .forgotten import refuse_forgotten
from .grids import is_launched, warn_of_sizes, with_sizes
from .options import NAMES, checked, checked_name

if TYPE_CHECKING:
    from ..core.explain import Report

CALLERS = ("cpu", "cuda")  # that compile ahead of time; "torch" compiles when it calls
_MISSING = object()


@functools.partial(takes_options, trims=True)
def jit(
    func: Callable[..., Any] | None = None,
    *,
    caller: str = "torch",
    kernel_name: str | None = None,
    num_warps: int | Sequence[int] | None = None,
    num_stages: int | Sequence[int] | None = None,
    max_num_configs: int | None = None,
    _prettify: bool = False,
) -> Any:
    """Decorator: a kernel from an application whose parameters are annotated with arranged tensors."""
    if func is None:
        return functools.partial(
            jit,
            caller=caller,
            kernel_name=kernel_name,
            num_warps=num_warps,
            num_stages=num_stages,
            max_num_configs=max_num_configs,
            _prettify=_prettify,
        )
    if isinstance(func, Kernel):
        return func
    tensors = []
    for name, parameter in inspect.signature(func, eval_str=True).parameters.items():
        if not isinstance(parameter.annotation, Tensor):
            if parameter.default is not parameter.empty:
                break  # it and those behind it keep their defaults
            raise error(
                TypeError,
                f"parameter `{name}` of `{func.__name__}` must be annotated with an arranged tensor",
                hint=f"write `{name}: Tensor(1).tile((BLOCK_SIZE,))`",
                chain=of_function(func),
            )
        tensors.append(parameter.annotation)

    options = {"num_warps": num_warps, "num_stages": num_stages, "max_num_configs": max_num_configs}
    return Kernel(func, tensors, caller, None, kernel_name, options, _prettify=_prettify)


class Kernel(OwnCopy):
    """A callable: arguments in the application's order, then constexpr and meta symbols by keyword.

    ``debug=True`` runs a launch in the reference interpreter, which checks bounds, sizes, uninitialised reads and races.
    """

    def __init__(
        self,
        application: Callable[..., Any],
        tensors: list[Tensor],
        caller: str = "torch",
        arrangement: Callable[..., Any] | None = None,
        kernel_name: str | None = None,
        options: Mapping[str, Any] | None = None,
        **ignored: Any,
    ) -> None:
        """options: those of `jit`; ignored: others that it, or `make`, was given."""
        options, kernel_name = checked(options or {}), checked_name(kernel_name)
        if caller != "torch":
            raise error(ValueError, f"Unsupported caller: `{caller}`.")
        self.application, self.tensors, self.arrangement = application, tensors, arrangement
        self._options, self._kernel_name = options, kernel_name
        self.told_name = kernel_name or told_name(application)
        self._ignored = {"ninetoothed.jit" if arrangement is None else "ninetoothed.make": {**options, **ignored}}
        # Hints for targets; several values are alternatives for a tuning run, which there is none of.
        self.hints = {name: options[name] for name in ("num_warps",) if isinstance(options.get(name), int)}
        self.names = parameters_of(application, len(tensors))
        refuse_forgotten(application, self.names)
        remember(application)  # type: ignore[arg-type]  # it is a function
        self.compiled: dict[str, CompiledKernel] = {}  # by specialisation
        self._last: CompiledKernel | None = None
        self._coded: dict[tuple[Any, ...], CompiledKernel] = {}  # by what a tuning run chooses
        symbols = {s.label: s for t in tensors for s in t.names() if s.constexpr and not _is_size(s)}
        self.symbols = dict(sorted(symbols.items()))
        warps = options.get("num_warps")
        self._alternatives = [{"num_warps": n} for n in warps] if isinstance(warps, tuple) else [{}]
        self._metas = [s for s in self.symbols.values() if s.meta]
        self._free = {s.label for s in self._metas}
        self._keywords = {*self.symbols, "debug"}
        self._sizes = self._pinned_sizes()
        self._flattened = [i for i, t in enumerate(tensors) if t.flattening()]  # arguments that are flattened first
        self._jagged = [i for i, t in enumerate(tensors) if t.jagged_dim is not None]
        parameters: list[tuple[Any, ...]] = []
        self._positions = []  # of each argument's first parameter
        for n, t in zip(self.names, tensors):
            self._positions.append(len(parameters))
            if t.jagged_dim is None:
                parameters.append((n, "constexpr" if t.constexpr else "runtime"))
            else:
                parameters += [(n + part, "plain" if part == jagged.PARTS[-1] else "runtime") for part in jagged.PARTS]
        self._never_written = {p + k for i in self._jagged for p in self._positions[i : i + 1] for k in (1, 2)}
        parameters += [(label, "option", _MISSING) for label in self.symbols]
        own = (("_sizes", ()), ("_merged", ()), ("_masked", False), ("_hints", ()), ("_given", ()))
        parameters += [(name, "option", value) for name, value in own]
        parameters += [("debug", "option", False)]
        self._launcher = _native.Launcher(self.told_name, parameters, self._compile, layout=True)
        self._choices: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._differing: set[tuple[Any, ...]] = set()  # shapes of arguments that do not fit together
        self._usual: set[tuple[str, ...]] = set()  # names that calls gave for which nothing is to be chosen
        self._without_elements: list[int] = []  # arguments that were meta tensors in some call: they are looked at first
        functools.update_wrapper(self, application, updated=())

    def __reduce__(self) -> str:
        return by_name(self, "pickle what makes it: its arrangement and application; or use it under its name in its module")

    def __repr__(self) -> str:
        symbols = "".join(f", {name}" for name in self.symbols)
        return f"<kernel {self.application.__qualname__}({', '.join(self.names)}{symbols})>"

    @property
    def asm(self) -> dict[str, str]:
        """The stages of the last compilation as text: {"tile", "passes", "plan", "llvm", "asm"}."""
        if self._last is None:
            raise error(RuntimeError, f"kernel `{self.told_name}` has not been launched")

        return self._last.asm

    @property
    def explanation(self) -> Explanation:
        """How the kernel of the last compilation came to its code, and which options had no effect on it."""
        if self._last is None:
            raise error(RuntimeError, f"kernel `{self.told_name}` has not been launched")

        return self._last.explanation

    def explain(self, *args: Any, seconds: float = 0.2, **kwargs: Any) -> Report:
        """Launches it, as a call does, and says what the launch did: bytes and operations, its time beside this machine's limits,
        the plan of its code and what holds it back. seconds: how long it is timed, on copies."""
        from ..core.explain import explained

        return explained(lambda: self(*args, **kwargs), seconds)

    @functools.cached_property
    def _source(self) -> str:
        """The path of a listing: the arguments of a launch, their levels, the arrangement and the application."""
        from .listing import cache_source, listing

        return cache_source(listing(self.application, self.arrangement, self.tensors, self._options, self._kernel_name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if tuple(kwargs) in self._usual and len(args) == len(self.names):
                return self._launch(args, kwargs)
            return self._call(args, kwargs)
        except Error as wrong:
            raise trimmed(wrong)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if launches_are_unmade():
            return None
        if len(args) == len(self.names) and kwargs.keys() <= self._keywords:
            if self._jagged:
                args = tuple([self._rows(i, a) if i in self._jagged else a for i, a in enumerate(args)])
            # Sizes matter only to what is chosen or pinned by them.
            if not self._sizes and not self._flattened and kwargs.keys() >= self._free and len(self._alternatives) == 1:
                if not self._jagged:
                    self._usual.add(tuple(kwargs))
                return self._launch(args, kwargs)
            key = self._kind(args, kwargs)
            found = self._choices.get(key)
            if found is None:
                if len(self._choices) >= 4096:
                    self._choices.clear()
                found = self._choices[key] = self._choose(args, kwargs)
            return self._launch(args, {**kwargs, **found})
        return self._call_otherwise(args, kwargs)

    def _kind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """What a choice depends on."""
        strides = [_strides(args[i]) for i in self._flattened]

        return (_shapes(args), _device(args), *strides, *kwargs.items())

    def _launch(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Tries the code of the usual call first: all arguments have elements, and one grid."""
        for i in self._without_elements:
            if getattr(args[i], "is_meta", False):
                args = (*args[:i], None, *args[i + 1 :])
        given = args
        if self._jagged:
            absent = (None,) * (len(jagged.PARTS) - 1) + (0,)
            for i in reversed(self._jagged):
                given = (*given[:i], *(absent if given[i] is None else given[i].parts), *given[i + 1 :])
        if self._differing and not launches_are_unmade() and _shapes(args) in self._differing and not kwargs.get("debug"):
            return self._launcher(*given, **kwargs, _masked=True)
        try:
            return self._launcher(*given, **kwargs)
        except TypeError:
            found = [i for i, a in enumerate(args) if getattr(a, "is_meta", False)]
            if not found:
                raise
            self._without_elements = sorted({*self._without_elements, *found})
        except ValueError as wrong:
            self._take_grids(wrong, args, kwargs)
        return self._launch(args, kwargs)

    def _take_grids(self, wrong: ValueError, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Returns where a call is refused for the sizes of its arguments alone: such calls are launched, but told."""
        if not isinstance(wrong, Error):
            raise wrong
        if kwargs.get("debug"):
            raise with_sizes(wrong, dict(zip(self.names, args)), self.arrangement or self.application)
        if not is_launched(wrong):
            raise wrong
        if len(self._differing) >= 4096:
            self._differing.clear()
        self._differing.add(_shapes(args))
        warn_of_sizes(self.told_name, wrong)

    def _rows(self, i: int, argument: Any) -> Any:
        if argument is None:
            return None
        tensor = self.tensors[i]

        return jagged.rows_of(self.told_name, self.names[i], tensor.source.ndim, tensor.jagged_dim, argument)

    def _call_otherwise(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that names arguments, gives symbols by position (in the order of their names; sizes that are
        chosen by us have none) or options of other back ends."""
        given = tuple(checked({name: kwargs.pop(name) for name in NAMES if name in kwargs}).items())
        missing = [n for n in self.names if n not in kwargs][len(args) :]
        if missing:
            return self._launcher(*args, **kwargs)  # says what is missing
        values = list(args[: len(self.names)])
        values += [kwargs.pop(n) for n in self.names[len(values) :] if n in kwargs]
        labels = [label for label, s in self.symbols.items() if label not in kwargs and not s.meta]
        given_twice = [n for n in self.names[: len(args)] if n in kwargs] + [
            label for label in [*self.symbols][: max(len(args) - len(self.names), 0)] if label in kwargs
        ]
        if given_twice:
            raise error(TypeError, f"kernel `{self.told_name}` got argument '{given_twice[0]}' twice")
        if len(args) > len(self.names) + len(labels):
            raise error(
                TypeError,
                f"kernel `{self.told_name}` takes {counted(len(self.names) + len(labels), 'argument')}, got {len(args)}",
            )
        kwargs.update(zip(labels, args[len(self.names) :]))
        unknown = next((name for name in kwargs if name not in self._keywords), None)
        if unknown is not None:
            known = (*self.names, *self.symbols, *NAMES, "debug")
            hint = did_you_mean(unknown, known) or f"it takes {', '.join(known)}"
            if any(str(symbol) == unknown for tensor in self.tensors for symbol in tensor.names()):
                hint = f'its arrangement has the symbol: Symbol("{unknown}", constexpr=True) makes it an argument'
            raise error(TypeError, f"{self.told_name}() got an unexpected argument '{unknown}'", hint=hint)
        if given:
            return self._call_with(given, values, kwargs)

        return self(*values, **kwargs)

    def _call_with(self, given: tuple[tuple[str, Any], ...], values: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """A call with options of its own."""
        if self._jagged:
            values = [self._rows(i, a) if i in self._jagged else a for i, a in enumerate(values)]
        chosen = self._choose(values, kwargs)
        hints = {**dict(chosen.get("_hints", ())), **{n: v for n, v in given if n == "num_warps" and isinstance(v, int)}}
        return self._launch(tuple(values), {**kwargs, **chosen, "_hints": tuple(hints.items()), "_given": given})

    # -- what depends on sizes ---------------------------------------------------------------------------------------
    def _pinned_sizes(self) -> list[tuple[int, int, str]]:
        """[(argument, dimension, name)] of the sizes that a kernel is compiled for: of innermost tiles, and constexpr ones."""
        needed = {}
        for t in self.tensors:
            symbols = {s for size in t.innermost().sizes for s in size.names()} if t.levels > 1 else set()
            needed.update({repr(s): s for s in symbols | {s for s in t.names() if s.constexpr}})
        found = []
        for i, t in enumerate(self.tensors):
            for d, size in enumerate(t.source.sizes):
                if repr(size) in needed and _is_size(size):
                    found.append((i, d, repr(size)))

        return found

    def tune(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Times the configurations that the model thinks best (8, or `max_num_configs` if that is less) on copies of the
        arguments of a call, and has later calls of this kind use the fastest. Remembered on disk.

        :return: the values of meta symbols and options that were chosen.
        """
        if self._jagged:
            args = tuple([self._rows(i, a) if i in self._jagged else a for i, a in enumerate(args)])
        chosen = self._tuned(args, kwargs)
        self._choices[self._kind(args, kwargs)] = chosen

        return {**{s.label: chosen[s.label] for s in self._metas if s.label in chosen}, **dict(chosen.get("_hints", ()))}

    def _choose(self, arguments: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The sizes the kernel is compiled for and values for the meta symbols that the caller leaves open: by the model, or by
        timing where the user asks for it."""
        if self._options.get("max_num_configs") and tuning.wanted():
            return self._tuned(arguments, kwargs)
        return self._candidates(arguments, kwargs, 1)[0]

    def _tuned(self, arguments: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        most = min(tuning.MOST, self._options.get("max_num_configs") or tuning.MOST)
        candidates = self._candidates(arguments, kwargs, most)
        if gpu_of(arguments) >= 0:  # on a CPU the options change nothing
            options = [tuple(sorted(a.items())) for a in self._alternatives]
            candidates = [{**c, "_hints": hints} for c in candidates for hints in options][:most]
        if len(candidates) == 1:
            return candidates[0]
        self._coded.clear()
        own = tuning.copies(arguments)
        source = fingerprint(self.application, [t.describe() for t in self.tensors])
        kinds = [(getattr(a, "shape", a), getattr(a, "dtype", None), _strides(a)) for a in arguments]
        key = source and repr((source, kinds, target_of(gpu_of(arguments)), sorted(kwargs.items()), _native.num_threads()))

        return dict(
            tuning.fastest(
                self.told_name,
                key,
                candidates,
                lambda c: self._launch(tuple(own), {**kwargs, **c}),
                lambda timed, c: self._have_one_code({**kwargs, **timed}, {**kwargs, **c}),
            )
        )

    def _candidates(self, arguments: Sequence[Any], kwargs: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
        """What the launcher is to be given beside a call's arguments, the best by the model first."""
        shapes = [tuple(getattr(a, "shape", ())) for a in arguments]
        for t, name, a, shape in zip(self.tensors, self.names, arguments, shapes):
            if t.source.ndim and a is not None and not hasattr(a, "shape"):
                got = "a number" if isinstance(a, (int, float)) else with_article(type(a).__name__)
                raise error(
                    TypeError,
                    f"argument `{name}` of kernel `{self.told_name}` must be a tensor, got {got}",
                    hint=f"pass a NumPy array or torch.tensor({name})",
                )
            if a is not None:
                _check_rank(self.application, name, t, len(shape))
        pinned = tuple(1 if arguments[i] is None else shapes[i][d] for i, d, _ in self._sizes)
        free = [s for s in self._metas if s.label not in kwargs]
        if any(label not in kwargs and not s.meta for label, s in self.symbols.items()):
            return [{"_sizes": pinned}]  # what is missing is named when the kernel is compiled
        values = {repr(s): self._number(label, kwargs[label]) for label, s in self.symbols.items() if label in kwargs}

        def chosen(metas: Mapping[str, Symbol]) -> dict[str, Any]:
            numbers = {**values, **metas, **{name: Symbol(n) for (_, _, name), n in zip(self._sizes, pinned)}}
            found = [(i, seen_as(self.tensors[i], shapes[i], _strides(arguments[i]), numbers)) for i in self._flattened]
            return {"_sizes": pinned, "_merged": tuple((i, *seen) for i, seen in found if seen)}

        if not free:
            return [chosen({})]
        traffic = []
        for t, a, shape in zip(self.tensors, arguments, shapes):
            values.update({repr(s): Symbol(n) for s, n in zip(t.source.sizes, shape) if s.constant is None})
            if t.source.ndim and a is not None:
                traffic.append((t, getattr(a, "itemsize", 4)))
        try:
            device = gpu_of(arguments)
            ranked = arrange.rank_block_sizes(traffic, free, values, target_of(device), device, count)
        except ValueError as e:
            raise error(ValueError, str(e)) from None

        return [{**chosen(metas), **{s.label: metas[repr(s)].constant for s in free}} for metas in ranked]

    # -- compilation -------------------------------------------------------------------------------------------------
    def _compile(self, signature: Any, values: dict[str, Any]) -> Any:
        numbers = {name: Symbol(n) for (_, _, name), n in zip(self._sizes, values["_sizes"])}
        for label, symbol in self.symbols.items():
            if values[label] is _MISSING:
                raise error(
                    TypeError,
                    f"kernel `{self.told_name}` needs a value for `{label}`",
                    hint=f"pass it by keyword: {self.application.__name__}(..., {label}=...)",
                )
            numbers[repr(symbol)] = self._number(label, values[label])
        arguments = [
            self._argument(n, t, signature.params[position:], numbers)
            for n, t, position in zip(self.names, self.tensors, self._positions)
        ]
        for i, groups, tile in values["_merged"]:
            arguments[i].flattened = Flattened(arguments[i].tensor, groups, tile)
        hints = {**self.hints, **dict(values["_hints"])}
        disjoint = self._are_disjoint(signature)
        told = {**self._told(dict(values["_given"])), **self._other_types(arguments)}
        options = values["_masked"], values["debug"], told
        self._last = compiled = CompiledKernel(self.application, arguments, hints, signature, disjoint, *options)
        compiled.tensors = self.tensors
        self.compiled[repr(signature)] = self._coded[self._choice(values)] = compiled

        return compiled.plan(values["debug"])

    def _told(self, given: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """{function: options} that have no effect, but where a target heeds a hint."""
        ((function, made),) = self._ignored.items()
        timed = ("max_num_configs",) if tuning.wanted() else ()
        return {function: {n: v for n, v in made.items() if n not in timed and n not in given}, "ninetoothed.kernel": given}

    def _other_types(self, arguments: Sequence[Argument]) -> dict[str, Mapping[str, Any]]:
        """What tensors say of their element types that is not so in this call."""
        declared = [(t.source.dtype, a.dtype) for t, a in zip(self.tensors, arguments) if t.source.dtype]
        others = [name for name, given in declared if given and TYPES.get(name, name) != given]
        return {"ninetoothed.Tensor": {"dtype": others[0]}} if others else {}

    def _choice(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """What is compiled for, as far as a tuning run chooses it."""
        return tuple(values.get(name, ()) for name in ("_sizes", "_merged", "_hints", *self.symbols))

    def _have_one_code(self, timed: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Does a configuration differ from one that has been run in nothing but a hint that its code does not depend on?"""
        compiled = self._coded.get(self._choice(timed))
        alike = self._choice({**timed, "_hints": ()}) == self._choice({**other, "_hints": ()})
        return alike and compiled is not None and compiled.ignores("num_warps")

    def _are_disjoint(self, signature: Any) -> bool:
        """Does no argument overlap another, apart from what no kernel writes?"""
        return all({a, b} <= self._never_written for a, b, _ in signature.aliases)

    def _number(self, label: str, value: Any) -> Symbol:
        """A value for a symbol, checked."""
        if hasattr(value, "__dlpack__"):
            raise error(
                TypeError,
                f"compile-time argument '{label}' is {with_article(type(value).__name__)}; a number is expected",
                hint=f"pass {label}.item()",
            )
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise error(TypeError, f"`{label}` of kernel `{self.told_name}` must be an int, got {value!r}")
        if value < 1 and self.symbols[label].meta:
            raise error(ValueError, f"`{label}` of kernel `{self.told_name}` must be at least 1, got {value}")

        return Symbol(value)

    def _argument(self, name: str, tensor: Tensor, params: Sequence[Any], numbers: dict[str, Symbol]) -> Argument:
        """:param params: what is known of the parameters from the argument's first one on."""
        known = params[0]
        row_length = None if tensor.jagged_dim is None else repr(tensor.source.sizes[tensor.jagged_dim])
        arranged = tensor.substitute({n: value for n, value in numbers.items() if n != row_length})
        if row_length in numbers:  # tiles as long as the longest row
            arranged = arranged.padded(numbers[row_length])
        kind = known[0]
        if tensor.constexpr:
            return Argument(name, arranged, value=known[1])
        if tensor.source.ndim == 0 and tensor.levels == 1:
            if kind == "tensor":
                if len(known[3]):
                    raise error(
                        TypeError,
                        f"argument `{name}` of kernel `{self.told_name}` must be a number or a tensor of no "
                        f"dimensions, got a tensor of {counted(len(known[3]), 'dimension')}",
                        hint=number_of(name, known[3]),
                    )
                return Argument(name, arranged, known[1])
            if kind == "const":
                return Argument(name, arranged, value=known[1])
            return Argument(name, arranged, {"float": "float32", "bool": "bool"}.get(kind) or known[1])
        if kind == "const" and known[1] is None:
            return Argument(name, arranged)  # the application does without it
        if kind != "tensor":
            raise error(TypeError, f"argument `{name}` of kernel `{self.told_name}` must be a tensor, got a number")
        _check_rank(self.application, name, tensor, len(known[3]) + (row_length is not None))
        innermost = zip(tensor.innermost().sizes, arranged.innermost().sizes) if arranged.levels > 1 else ()
        for written, size in innermost:
            known_size = size.simplified().constant
            # A size of the arguments may be 0; a number that the caller gave is a mistake.
            least = 1 if Symbol.is_name(written) and not _is_size(written) else 0
            if known_size is not None and known_size < least:
                raise error(ValueError, f"the innermost tile of `{name}` has size {known_size}")
            if known_size is None:
                raise error(
                    ValueError,
                    f"the innermost tile of `{name}` has size `{size}`, which is not known when the kernel is compiled",
                    hint="use numbers, meta or constexpr symbols, or sizes of the arguments",
                )

        offsets = lengths = None
        if row_length is not None:
            offsets, lengths = params[1][1], params[2][1]

        return Argument(name, arranged, known[1], known[4], known[2], extents=known[3], offsets=offsets, lengths=lengths)


def _device(arguments: Iterable[Any]) -> Any:
    """Of the first tensor that names one."""
    for argument in arguments:
        device = getattr(argument, "device", None)
        if device is not None:
            return device
    return None


def _strides(array: Any) -> tuple[int, ...] | None:
    """In elements, or None for what is no array of that kind: it counts as scattered."""
    stride = getattr(array, "stride", None)
    if stride is not None:
        return stride()
    strides = getattr(array, "strides", None)

    return strides and tuple(s // array.itemsize for s in strides)


def _shapes(args: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([getattr(a, "shape", None) for a in args])


def _is_size(symbol: Symbol) -> bool:
    if symbol.label is None or not symbol.label.startswith("ninetoothed_"):
        return False
    return "_size_" in symbol.label or symbol.is_row_length


def _check_rank(application: Callable[..., Any], name: str, tensor: Tensor, rank: int) -> None:
    if rank != tensor.source.ndim:
        raise error(
            ValueError,
            f"argument `{name}` of kernel `{application.__name__}` must have {counted(tensor.source.ndim, 'dimension')}, "
            f"got {rank}",
            hint=f"its arrangement starts from Tensor({tensor.source.ndim})",
        )
