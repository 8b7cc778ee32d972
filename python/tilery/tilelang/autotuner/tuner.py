"""The fastest configuration of a kernel, found by a model and by timing what it finds best."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tilery import _native

from ...core import cache
from ...core.arrays import copied
from ...core.names import takes_options
from ...core.pickled import OwnCopy, by_name
from ...core.progress import Progress
from ...core.timing import unrecorded
from ...core.unmade import launches_are_unmade
from ...errors import error
from ...frontend.fingerprint import fingerprint
from ...frontend.wording import counted, shown
from ..jit import JITImpl, prepare
from ..jit import compile as compile_function
from ..jit.kernel import JITKernel
from ..profiler.bench import do_bench
from ..tracing.shapes import TensorType
from ..utils.tensor import TensorSupplyType, torch_assert_close
from .capture import get_autotune_inputs
from .model import worth_timing
from .param import AutotuneResult, CompileArgs, ProfileArgs
from .same_code import first_of_same_code

if TYPE_CHECKING:
    from ...core.explain import Report

Configs = Sequence[dict[str, Any]] | Callable[..., Sequence[dict[str, Any]]]
# Times closer than this share are a tie, which the earlier configuration wins: noise does not choose.
TIE = 0.01


def _arguments(config: dict[str, Any]) -> dict[str, Any]:
    """What a configuration gives its function."""
    return {name: value for name, value in config.items() if name != "pass_configs"}


def _inputs(kernel: JITKernel, profile: ProfileArgs) -> list[Any]:
    """What a kernel is timed with."""
    given = get_autotune_inputs()
    if given is not None:
        return given
    if profile.supply_prog is not None:
        return list(profile.supply_prog(kernel.params))
    kinds = [kind for position, kind in enumerate(kernel.params) if position not in kernel.out_idx]
    if not all(isinstance(kind, TensorType) and all(isinstance(size, int) for size in kind.shape) for kind in kinds):
        raise error(
            ValueError,
            f"the tuner cannot make up inputs for scalars and run-time sizes of `{kernel.prim_func.__name__}`",
            hint="call it inside `with set_autotune_inputs(...)`, or give supply_prog",
        )
    return kernel.get_profiler(profile.supply_type).make_inputs()


def _check(kernel: JITKernel, inputs: list[Any], profile: ProfileArgs) -> None:
    """Compares a configuration's results with the reference."""
    if profile.skip_check or profile.ref_prog is None:
        return
    ours, theirs = kernel(*inputs), profile.ref_prog(*inputs)
    if profile.manual_check_prog is not None:
        profile.manual_check_prog(ours, theirs)
        return
    sides = [list(side) if isinstance(side, (list, tuple)) else [side] for side in (ours, theirs)]
    for x, y in zip(*sides):
        torch_assert_close(x, y, rtol=profile.rtol, atol=profile.atol, max_mismatched_ratio=profile.max_mismatched_ratio)


def _reference_latency(inputs: Sequence[Any], profile: ProfileArgs) -> float | None:
    """Milliseconds that the reference takes, if there is one."""
    reference = profile.ref_prog
    if reference is None:
        return None
    return float(do_bench(lambda: reference(*inputs), profile.warmup, profile.rep))  # type: ignore[arg-type]


def fastest(
    candidates: Sequence[tuple[dict[str, Any], Any]], call: Callable[[Any], Callable[[], Any]], profile: ProfileArgs
) -> tuple[int, dict[int, float]]:
    """(position of the fastest candidate, {position: milliseconds}); those that fail are left out."""
    best, failures, times = (-1, float("inf")), [], {}
    with Progress("tuning", len(candidates)) as bar, unrecorded():
        for position, (config, candidate) in enumerate(candidates):
            try:
                run = call(candidate)
                run()
                start = time.perf_counter()
                run()
                once = (time.perf_counter() - start) * 1e3
                if once > 1e3 * profile.timeout:
                    raise error(TimeoutError, f"a call takes more than {profile.timeout} s")
                hopeless = profile.early_stop and once > profile.early_stop_factor * best[1] and once > 1
                latency = once if hopeless else float(do_bench(run, profile.warmup, profile.rep, backend=profile.backend))  # type: ignore[arg-type]
            except Exception as failure:
                failures.append((config, failure))
                bar.step("failed")
                continue
            times[position] = latency
            if latency < best[1] * (1 - TIE):
                best = position, latency
            bar.step(f"best {best[1]:.4g} ms")
    if best[0] < 0:
        config, failure = failures[0]
        raise error(RuntimeError, f"no configuration could be run; {config}: {failure}") from failure
    return best[0], times


def choose(
    candidates: Sequence[tuple[dict[str, Any], Any]],
    kernel_of: Callable[[Any], JITKernel],
    call: Callable[[Any], Callable[[], Any]],
    profile: ProfileArgs,
    prepared: bool = True,
) -> tuple[int, dict[int, float]]:
    """(position of the fastest candidate, {position: milliseconds}). The best by the model are compiled side by side, unless
    their calls do that, then timed one after the other. Of those with the same code one is, and all have its time."""
    kernels = [kernel_of(candidate) for _, candidate in candidates]
    firsts = first_of_same_code(kernels)
    distinct = sorted(set(firsts))
    chosen = [distinct[position] for position in worth_timing([kernels[first].prim_func for first in distinct])]
    if prepared:
        prepare([kernels[position] for position in chosen])
    best, times = fastest([candidates[position] for position in chosen], call, profile)
    measured = {chosen[position]: latency for position, latency in times.items()}
    return chosen[best], {position: measured[first] for position, first in enumerate(firsts) if first in measured}


class AutoTuner:
    """`AutoTuner.from_kernel(kernel=f, configs=[...]).set_compile_args(...).set_profile_args(...).run()`; f(**config) gives a
    prim_func."""

    def __init__(self, fn: Callable[..., Any], configs: Configs) -> None:
        self.fn, self.configs = fn, configs
        self.compile_args, self.profile_args = CompileArgs(), ProfileArgs()

    def __repr__(self) -> str:
        configs = "" if callable(self.configs) else f" of {counted(len(self.configs), 'configuration')}"
        return f"<autotuner{configs}: {getattr(self.fn, '__name__', self.fn)}>"

    @classmethod
    def from_kernel(cls, kernel: Callable[..., Any], configs: Configs) -> AutoTuner:
        return cls(kernel, configs)

    def set_compile_args(self, **options: Any) -> AutoTuner:
        """How configurations are compiled: the fields of CompileArgs."""
        self.compile_args = CompileArgs(**options)
        return self

    def set_profile_args(self, **options: Any) -> AutoTuner:
        """How configurations are timed and checked: the fields of ProfileArgs."""
        self.profile_args = ProfileArgs(**{**vars(self.profile_args), **options})
        return self

    def run(self, warmup: float = 25, rep: float = 100, timeout: float = 30, **options: Any) -> AutotuneResult:
        """Traces all configurations, compiles the best by the model side by side, then times these one after the other."""
        profile = ProfileArgs(**{**vars(self.profile_args), "warmup": warmup, "rep": rep, "timeout": timeout, **options})
        profile.check()
        build = self.fn.function if isinstance(self.fn, JITImpl) else self.fn
        configs = _listed(self.configs() if callable(self.configs) else self.configs)
        if not configs:
            raise error(ValueError, "the tuner was given no configurations")
        made: list[tuple[dict[str, Any], JITKernel]] = []
        failure: Exception | None = None
        for config in configs:
            arguments = _arguments(config)
            compile_options = self.compile_args.options(config.get("pass_configs"))
            try:
                made.append((config, compile_function(build(**arguments), **compile_options)))
            except Exception as refused:
                failure = failure or refused
        if not made:
            raise error(RuntimeError, f"no configuration could be compiled: {failure}") from failure
        inputs = _inputs(made[0][1], profile)
        position, times = choose(made, lambda kernel: kernel, lambda kernel: self._call(kernel, inputs, profile), profile)
        config, kernel = made[position]
        latency = times[position]
        latencies = {repr(made[each][0]): milliseconds for each, milliseconds in times.items()}
        kernel.config, kernel.latency, kernel.ref_latency = config, latency, _reference_latency(inputs, profile)
        return AutotuneResult(latency, config, kernel.ref_latency, kernel.prim_func, kernel, latencies=latencies)

    @staticmethod
    def _call(kernel: JITKernel, inputs: list[Any], profile: ProfileArgs) -> Callable[[], Any]:
        _check(kernel, inputs, profile)
        return lambda: kernel(*inputs)


def _listed(configs: Any) -> list[dict[str, Any]]:
    """The configurations of a tuner.

    :raises tilery.TypeError: they are none."""
    if not isinstance(configs, Iterable) or isinstance(configs, (str, Mapping)):
        message = f"the configurations of a tuner are {shown(configs)}; a list of dicts is expected, or a function that gives one"
        raise error(TypeError, message, hint='write configs=[{"block": 64}, {"block": 128}]')
    found = list(configs)
    for config in found:
        if not isinstance(config, Mapping):
            raise error(TypeError, f"a configuration is a dict of parameters and their values, got {config!r}")
    return [dict(config) for config in found]


class AutoTuneImpl(OwnCopy):
    """A @tilelang.jit function whose parameters named by configurations are chosen by timing where a call leaves them out."""

    def __init__(self, jit_impl: JITImpl, configs: Configs, profile: ProfileArgs, do_not_specialize: Iterable[str]) -> None:
        self.jit_impl, self.configs, self.profile = jit_impl, configs, profile
        self.do_not_specialize = set(do_not_specialize)
        self._tuner_cache: dict[Any, dict[str, Any]] = {}
        functools.update_wrapper(self, jit_impl)

    def __reduce__(self) -> str:
        return by_name(self, "pickle the function that makes it, or use it under its name in its module")

    def __getattr__(self, name: str) -> Any:
        if name == "jit_impl":
            raise AttributeError(name)
        return getattr(self.jit_impl, name)

    def __repr__(self) -> str:
        configs = "" if callable(self.configs) else f" of {counted(len(self.configs), 'configuration')}"
        return f"<autotuner{configs}: {self.jit_impl!r}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The kernel with the best configuration; an eager function runs with it."""
        want_kernel = kwargs.pop("__return_kernel", False)
        if want_kernel and self.jit_impl.eager:
            return self.compile(*args, **kwargs)
        return self._best(args, kwargs, run=True)

    def explain(self, *args: Any, seconds: float = 0.2, **kwargs: Any) -> Report:
        """As that of the function, with the best configuration."""
        from ...core.explain import explained

        return explained(lambda: self(*args, **kwargs), seconds)

    def compile(self, *args: Any, **kwargs: Any) -> Any:
        """The kernel with the best configuration."""
        return self._best(args, kwargs, run=False)

    def _best(self, args: tuple[Any, ...], kwargs: dict[str, Any], run: bool) -> Any:
        impl = self.jit_impl
        self.profile.check()
        configs = _listed(self._configs(args, kwargs))
        for config in configs:
            for name in config:
                if name != "pass_configs" and name not in impl.signature.parameters:
                    known = ", ".join(impl.signature.parameters)
                    raise error(
                        TypeError,
                        f"the configuration {config} names `{name}`, which is no parameter of `{impl.__name__}`",
                        hint=f"its parameters: {known}",
                    )
        tunables = {name for config in configs for name in _arguments(config)}
        own = {name: value for name, value in kwargs.items() if name in impl.signature.parameters}
        named = set(impl.signature.bind_partial(*args, **own).arguments)
        unset = {name for name in tunables - named if impl.signature.parameters[name].default is inspect.Parameter.empty}
        if tunables & named and not unset:  # who sets one means this kernel: the others are as the function has them
            return impl(*args, **kwargs) if run else impl.compile(*args, **kwargs)
        positional = set(impl.signature.bind_partial(*args).arguments)
        configs = _agreeing(configs, {name: value for name, value in kwargs.items() if name in tunables}, positional)
        given = {name: value for name, value in kwargs.items() if name not in tunables}
        times = None
        if launches_are_unmade():
            found = configs[0]  # they differ in nothing that a call gives
        else:
            key = self._key(args, given), repr(configs)  # with what the call sets
            found = self._tuner_cache.get(key)
            if found is None:
                found, times = self._tune(configs, args, given, run)
                self._tuner_cache[key] = found
        arguments = {**given, **_arguments(found)}
        impl = impl.with_pass_configs(found.get("pass_configs"))
        result = impl(*args, **arguments) if run else impl.compile(*args, **arguments)
        if isinstance(result, JITKernel):
            result.config = found
            if times is not None:
                result.latency, result.ref_latency = times
        return result

    def _configs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The configurations, or what a program's function gives for a call."""
        if not callable(self.configs):
            return self.configs
        parameters = inspect.signature(self.configs).parameters
        given = {k: v for k, v in kwargs.items() if k in self.jit_impl.signature.parameters}
        bound = self.jit_impl.signature.bind_partial(*args, **given)
        bound.apply_defaults()
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.values()) or not parameters:
            return self.configs(*args, **kwargs) if parameters else self.configs()
        if set(parameters) <= set(bound.arguments):
            return self.configs(**{name: bound.arguments[name] for name in parameters})
        if list(parameters) == ["args", "kwargs"]:  # the call's two parts as they are
            return self.configs(args, dict(kwargs))
        return self.configs(*args, **kwargs)

    def _key(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        known = {k: v for k, v in kwargs.items() if k in self.jit_impl.signature.parameters}
        bound = self.jit_impl.signature.bind_partial(*args, **known).arguments
        parts = {**bound, **kwargs}
        inputs = tuple(map(_kind, get_autotune_inputs() or ()))
        return tuple((name, _kind(value)) for name, value in sorted(parts.items()) if name not in self.do_not_specialize), (
            inputs if not self.do_not_specialize else ()
        )

    def _tune(
        self, configs: list[dict[str, Any]], args: tuple[Any, ...], given: dict[str, Any], run: bool
    ) -> tuple[dict[str, Any], tuple[float, float | None]]:
        """The best configuration and the milliseconds that it and the reference take."""
        stored = self._stored_key(configs, args, given)
        remembered = stored and _native.cache_get("manifest", stored)
        if remembered:
            found = json.loads(remembered)
            if found["position"] < len(configs):
                return configs[found["position"]], (found["latency"], found.get("ref_latency"))
        candidates, failure = [], None
        copies: dict[int, Any] = {}
        for config in configs:
            arguments = {**given, **_arguments(config)}
            try:
                candidates.append((config, self._candidate(config, args, arguments, run, copies)))
            except Exception as refused:
                failure = failure or refused
        if not candidates:
            raise failure or error(ValueError, f"`{self.jit_impl.__name__}` was given no configurations to choose from")
        inputs = self._shared_inputs(candidates)
        prepared = not run or not self.jit_impl.eager
        position, times = choose(
            candidates, lambda made: made[0], lambda made: self._call(made, inputs), self.profile, prepared
        )
        config, (_, own) = candidates[position]
        latency = times[position]
        reference = _reference_latency(own if own is not None else inputs or (), self.profile)
        if stored:
            found = {"position": configs.index(config), "latency": latency, "ref_latency": reference}
            _native.cache_put("manifest", stored, json.dumps(found).encode())
        return config, (latency, reference)

    def _candidate(
        self, config: dict[str, Any], args: tuple[Any, ...], arguments: dict[str, Any], run: bool, copies: dict[int, Any]
    ) -> Any:
        """(kernel, its inputs or None). An eager function's are copies of what it is called with, the same for all candidates:
        {id of the caller's: copy}. What the call itself reads and updates is left as it is."""
        impl = self.jit_impl.with_pass_configs(config.get("pass_configs"))
        if impl.eager and run:
            kernel, own = impl.eager.compile(args, arguments)
            for value in own:
                if id(value) not in copies:
                    copies[id(value)] = copied(value)
            return kernel, [copies[id(value)] for value in own]
        return impl.compile(*args, **arguments), None

    def _shared_inputs(self, candidates: list[Any]) -> list[Any] | None:
        kernel, own = candidates[0][1]
        return None if own is not None else _inputs(kernel, self.profile)

    def _call(self, made: tuple[JITKernel, list[Any] | None], shared: list[Any] | None) -> Callable[[], Any]:
        kernel, own = made
        inputs: list[Any] = own if own is not None else shared or []
        _check(kernel, inputs, self.profile)
        return lambda: kernel(*inputs)

    def _stored_key(self, configs: list[dict[str, Any]], args: tuple[Any, ...], given: dict[str, Any]) -> str | None:
        """Under what the choice is remembered for later processes; None: it is not."""
        if not cache.folder():
            return None
        source = fingerprint(self.jit_impl.function, ["autotune"])
        if not source:
            return None
        device = _native.gpu_target(0) if _native.gpu_count() else _native.target_id("host")
        text = f"autotune\n{_native.build_id()}\n{device}\n{source}\n{configs!r}\n{self._key(args, given)!r}"
        text += f"\n{self.jit_impl.options.arithmetic}"
        return hashlib.sha256(text.encode()).hexdigest()


def _agreeing(configs: list[dict[str, Any]], given: dict[str, Any], positional: set[str]) -> list[dict[str, Any]]:
    """The configurations with what a call gives by name, without what it gives by place, each once."""
    changed = [{name: given.get(name, value) for name, value in c.items() if name not in positional} for c in configs]
    return [config for position, config in enumerate(changed) if config not in changed[:position]]


def _kind(value: Any) -> Any:
    """What a choice depends on: a tensor's shape and type, other values themselves."""
    if hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, type):
        return tuple(value.shape), str(value.dtype), str(getattr(value, "device", ""))
    return repr(value)


@takes_options
def autotune(
    func: Any = None,
    *,
    configs: Configs,
    warmup: float = 25,
    rep: float = 100,
    timeout: float = 100,
    supply_type: TensorSupplyType = TensorSupplyType.Auto,
    ref_prog: Callable[..., Any] | None = None,
    supply_prog: Callable[..., Any] | None = None,
    rtol: float = 1e-2,
    atol: float = 1e-2,
    max_mismatched_ratio: float = 0.01,
    skip_check: bool = False,
    manual_check_prog: Callable[..., Any] | None = None,
    cache_input_tensors: bool = False,
    do_not_specialize: Iterable[str] = (),
    early_stop: bool = True,
    early_stop_factor: float = 2.0,
    backend: str = "event",
) -> Any:
    """Decorator above @tilelang.jit: parameters that configurations name and a call leaves out are chosen by timing, once for
    each set of the other arguments (those of do_not_specialize do not count)."""
    profile = ProfileArgs(
        warmup, rep, timeout, backend, supply_type, supply_prog, ref_prog, rtol, atol, max_mismatched_ratio, skip_check,
        manual_check_prog, cache_input_tensors, early_stop, early_stop_factor,
    )  # fmt: skip

    def decorate(impl: Any) -> AutoTuneImpl:
        if not isinstance(impl, JITImpl):
            raise error(
                TypeError,
                f"tilelang.autotune decorates a function of @tilelang.jit, got {type(impl).__name__}",
                hint="write @tilelang.autotune(...) above @tilelang.jit",
            )
        return AutoTuneImpl(impl, configs, profile, do_not_specialize or ())

    return decorate if func is None else decorate(func)
