"""Choosing among configurations of a kernel by timing, and computing meta-parameters from the arguments."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...core.checks import is_whole
from ...core.frames import trimmed
from ...core.names import takes_options
from ...core.present import present
from ...core.progress import Progress
from ...core.switches import switch
from ...core.timing import unrecorded
from ...core.unmade import launches_are_unmade
from ...errors import Error, StaticAssertion, error
from ...frontend.wording import counted
from .errors import AutotunerError, OutOfResources, PTXASError, UnsupportedCluster
from .jit import JITFunction, KernelInterface
from .tuner_checks import check, check_call

_QUANTILES = (0.5, 0.2, 0.8)
_IMPOSSIBLE = [math.inf] * len(_QUANTILES)


_OPTIONS = ("num_warps", "num_ctas", "num_stages", "maxnreg", "ir_override", "num_cpu_threads")


class Config:
    """Values for a kernel's meta-parameters.

    :param kwargs: {name: value}.
    :param pre_hook: called before the kernel with the dict of its arguments.
    """

    @takes_options
    def __init__(
        self,
        kwargs: dict[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[..., Any] | None = None,
        ir_override: str | None = None,
        num_cpu_threads: int | None = None,
    ) -> None:
        self.kwargs, self.num_cpu_threads = kwargs, num_cpu_threads
        self.num_warps, self.num_stages, self.num_ctas, self.maxnreg = num_warps, num_stages, num_ctas, maxnreg
        self.pre_hook, self.ir_override = pre_hook, ir_override

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**vars(Config({})), **state})

    def all_kwargs(self) -> dict[str, Any]:
        """Everything the kernel is called with."""
        options = {name: getattr(self, name) for name in _OPTIONS}
        return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}

    def __repr__(self) -> str:
        return ", ".join(f"{k}: {v}" for k, v in {**self.all_kwargs(), "maxnreg": self.maxnreg}.items())

    def __hash__(self) -> int:
        return hash((*((k, str(v)) for k, v in self.all_kwargs().items()), self.pre_hook))

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Config) and self.all_kwargs() == other.all_kwargs()
        return same and self.pre_hook == other.pre_hook  # type: ignore[attr-defined]


class _Wrapper(KernelInterface):
    """A kernel around a kernel: what it does not have is the inner one's."""

    fn: Any
    arg_names: list[str]

    def __getattr__(self, name: str) -> Any:
        if name in ("fn", "arg_names"):
            raise AttributeError(name)
        return getattr(self.fn, name)

    def __tile_trace__(self, tracer: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        return self.fn.__tile_trace__(tracer, args, kwargs)


class Autotuner(_Wrapper):
    """Times every configuration once for each value of the key arguments (and each combination of element types), and keeps the
    fastest. Programs subclass it: `run`, `prune_configs` and `_bench` may be overridden.

    :param fn: the kernel, or a kernel around it.
    :param key: names of the arguments that decide.
    :param reset_to_zero: names of tensors that are cleared before each call; restore_value: of those that get back what they
        held.
    :param pre_hook: called before each call that is timed with the dict of arguments; post_hook: behind it, with `exception=`.
    :param prune_configs_by: {"early_config_prune": f(configs, named arguments, **kwargs) -> configs, "perf_model": f(**arguments)
        -> seconds, "top_k": how many of the best by that model are timed, or which share}.
    :param warmup: milliseconds of calls before the timed ones; rep: of the timed ones.
    :param do_bench: times instead: do_bench(call, quantiles=...) -> milliseconds.
    :param cache_results: the choice is remembered on disk, as with TRITON_CACHE_AUTOTUNING=1.
    """

    def __init__(
        self,
        fn: Any,
        arg_names: Sequence[str],
        configs: Iterable[Config],
        key: Iterable[str],
        reset_to_zero: Iterable[str] | None = None,
        restore_value: Iterable[str] | None = None,
        pre_hook: Callable[..., Any] | None = None,
        post_hook: Callable[..., Any] | None = None,
        prune_configs_by: dict[str, Any] | None = None,
        warmup: float | None = None,
        rep: float | None = None,
        use_cuda_graph: bool = False,
        do_bench: Callable[..., Any] | None = None,
        cache_results: bool = False,
    ) -> None:
        self.fn, self.arg_names = fn, list(arg_names)
        self.configs = list(configs or ()) or [Config({})]
        self.keys = list(key)
        self.cache: dict[tuple[Any, ...], Config] = {}
        self.reset_to_zero, self.restore_value = list(reset_to_zero or ()), list(restore_value or ())
        self.restore_copies: dict[str, Any] = {}
        self.user_defined_pre_hook, self.user_defined_post_hook = pre_hook is not None, post_hook is not None
        self.pre_hook, self.post_hook = pre_hook or self._prepare, post_hook or self._restore
        self.prune_configs_by = by = prune_configs_by or {}
        by = by if isinstance(by, Mapping) else {}
        self.perf_model, self.configs_top_k = by.get("perf_model"), by.get("top_k", 1.0)
        self.early_config_prune = by.get("early_config_prune")
        self.num_warmups, self.num_reps, self.use_cuda_graph = warmup, rep, use_cuda_graph
        self._do_bench = do_bench
        self.cache_results = cache_results
        self.nargs: dict[str, Any] | None = None
        self.best_config: Config | None = None
        self.bench_time: float | None = None
        self.configs_timings: dict[Config, Any] = {}
        self.chosen: frozenset[str] | None = None  # what configurations give, once they have been checked
        self.base_fn = fn
        while not inspect.isfunction(self.base_fn):
            self.base_fn = self.base_fn.fn

    def __repr__(self) -> str:
        best = f", best: {self.best_config}" if self.best_config is not None else ""
        keys = f" by {', '.join(map(str, self.keys))}" if self.keys else ""
        return f"<autotuner of {counted(len(self.configs), 'configuration')}{keys}: {self.fn!r}{best}>"

    @property
    def jit_function(self) -> JITFunction:
        """The kernel inside."""
        inner = self.fn
        while not isinstance(inner, JITFunction):
            inner = inner.fn
        return inner

    # -- around a call -----------------------------------------------------------------------------------------------
    def _prepare(self, named: Mapping[str, Any], reset_only: bool = False) -> None:
        for name in self.reset_to_zero:
            if named.get(name) is not None:
                named[name].zero_()
        if not reset_only:
            kept = {name: named[name] for name in self.restore_value if named.get(name) is not None}
            self.restore_copies = {name: tensor.clone() for name, tensor in kept.items()}

    def _restore(self, named: Mapping[str, Any], exception: BaseException | None) -> None:
        for name, copy in self.restore_copies.items():
            named[name].copy_(copy)
        self.restore_copies = {}

    # -- timing ------------------------------------------------------------------------------------------------------
    @property
    def do_bench(self) -> Callable[..., Any]:
        """do_bench(call, quantiles) -> milliseconds"""
        if self._do_bench is not None:
            return self._do_bench
        from ..backends.bench import do_bench

        if self.use_cuda_graph:
            from ..testing import do_bench_cudagraph

            return lambda call, quantiles: do_bench_cudagraph(call, rep=self.num_reps or 20, quantiles=quantiles)
        warmup = 5 if self.num_warmups is None else self.num_warmups
        rep = 20 if self.num_reps is None else self.num_reps
        return lambda call, quantiles: do_bench(call, warmup=warmup, rep=rep, quantiles=quantiles)

    def _bench(self, *args: Any, config: Config, **meta: Any) -> Any:
        """Milliseconds of the configuration's kernel, as quantiles; infinity where it cannot be compiled."""
        check_call(self, meta, config.all_kwargs())
        current = {**meta, **config.all_kwargs()}
        named = {**(self.nargs or {}), **current}

        def call() -> None:
            if config.pre_hook:
                config.pre_hook(named)
            self.pre_hook(named)
            try:
                self.fn.run(*args, **current)
            except Exception as e:
                self.post_hook(named, exception=e)
                raise
            self.post_hook(named, exception=None)

        try:
            return self.do_bench(call, quantiles=_QUANTILES)
        except (OutOfResources, StaticAssertion, PTXASError, UnsupportedCluster) as e:
            if switch("TRITON_PRINT_AUTOTUNING"):
                print(f"Autotuning failed with {e}")
            return _IMPOSSIBLE

    def prune_configs(self, kwargs: Mapping[str, Any]) -> list[Config]:
        """The configurations that the program's own functions leave."""
        configs = self.configs
        if self.early_config_prune:
            configs = list(self.early_config_prune(configs, self.nargs, **kwargs))
            if not configs:
                raise AutotunerError(
                    "No valid autotuner configs after pruning. `early_config_prune` should return at least one config."
                )
        if self.perf_model:
            top = self.configs_top_k
            top = int(len(self.configs) * top) if isinstance(top, float) and top <= 1.0 else top
            if not is_whole(top):
                raise error(TypeError, f"top_k is {top!r}", hint="an int, or a float of at most 1.0")
            if len(configs) > top:
                costs = {c: self.perf_model(**{**(self.nargs or {}), **kwargs, **c.all_kwargs()}) for c in configs}
                configs = sorted(configs, key=costs.__getitem__)[: max(top, 1)]
        return configs

    def _timed(self, configs: Sequence[Config], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[Config, Any]:
        """{configuration: milliseconds}. Those that mean the same to the target, or come to the same code, are timed once."""
        from .ahead import compile_ahead
        from .candidates import distinct, promising
        from .surveys import Surveys
        from .twins import Twins

        groups = distinct(configs, self.arg_names)
        inner = {name: value for name, value in kwargs.items() if name not in ("grid", "warmup")}
        chosen, twins = list(groups), None
        surveys = Surveys(self.fn, kwargs.get("grid"), args, inner)
        if isinstance(self.fn, JITFunction) and not self.early_config_prune and not self.perf_model:
            chosen = promising(chosen, surveys)
        if _is_ours(self.fn) and len(chosen) > 1:
            twins = Twins(self.fn, chosen, surveys)
            compile_ahead(self.fn, twins.rounds(), args, inner)
        timings: dict[Config, Any] = {}
        with Progress(f"tuning {self.base_fn.__name__}", len(chosen)) as bar:
            for config in bar.each(chosen):
                twin = twins.earlier(config) if twins else config
                took = timings[twin] if twin in timings else self._bench(*args, config=config, **kwargs)
                timings.update((same, took) for same in groups[config])
        if twins:
            twins.remember()
        return timings

    def _key(self, kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        named = {**(self.nargs or {}), **kwargs}
        named = {name: named[name] for name in self.arg_names if name in named}
        decided = [named[name] for name in self.keys if name in named]
        return (*decided, *(str(value.dtype) for value in named.values() if hasattr(value, "dtype")))

    def check_disk_cache(self, tuning_key: Sequence[Any], configs: Sequence[Config], bench_fn: Callable[[], Any]) -> bool:
        """Takes the choice from the files of an earlier process, or calls bench_fn() and writes it there. True: it was there."""
        import json

        from ...frontend.fingerprint import sha256
        from ..backends import make_backend
        from ..backends.active import driver
        from ..compiler.key import triton_key
        from .cache import get_cache_manager

        if not tuning_key or any(config.pre_hook for config in configs):
            bench_fn()
            return False
        backend = make_backend(driver.active.get_current_target())
        parts = [triton_key(), backend.hash(), self.jit_function.cache_key, str(tuning_key), *map(str, configs)]
        manager = get_cache_manager(sha256("-".join(parts).encode()).hexdigest())
        file = f"{self.base_fn.__name__[:150]}.autotune.json"
        path = manager.get_file(file)
        if path:
            with open(path, encoding="utf-8") as stream:
                found = json.load(stream)["configs_timings"]
            self.configs_timings = {Config(**config): took for config, took in found}
            self.cache[tuple(tuning_key)] = min(self.configs_timings, key=self.configs_timings.__getitem__)
            return True
        bench_fn()
        timings = [(config.__dict__, took) for config, took in self.configs_timings.items()]
        text = json.dumps({"key": list(tuning_key), "configs_timings": timings})
        manager.put(text, file, binary=False)
        return False

    def _choose(self, key: tuple[Any, ...], args: Sequence[Any], kwargs: dict[str, Any]) -> Config:
        """The fastest configuration; what it took is told to whoever asked."""
        configs = self.prune_configs(kwargs)

        def bench() -> None:
            start = time.perf_counter()
            with unrecorded():
                self.configs_timings = self._timed(configs, args, kwargs)
            self.bench_time = time.perf_counter() - start
            self.cache[key] = min(self.configs_timings, key=self.configs_timings.__getitem__)
            if not self.user_defined_pre_hook:
                named = {**(self.nargs or {}), **kwargs, **self.cache[key].all_kwargs()}
                self._prepare(named, reset_only=True)

        knobs = present("tilery.tileon.knobs")
        remembered = self.cache_results or switch("TRITON_CACHE_AUTOTUNING")
        cached = remembered and self.check_disk_cache(key, configs, bench)
        if not remembered:
            bench()
        config = self.cache[key]
        if switch("TRITON_PRINT_AUTOTUNING") and not cached:
            print(
                f"Triton autotuning for function {self.base_fn.__name__},\nwith key as {key},\n"
                f"finished after {self.bench_time:.2f}s,\nbest config selected: {config};"
            )
        if knobs is not None and knobs.autotuning.listener is not None:
            knobs.autotuning.listener(
                fn=self.jit_function,
                key=key,
                best_config=config,
                configs_timings=self.configs_timings,
                duration=None if cached else self.bench_time,
                cache_hit=cached,
            )
        return config

    def run(self, *args: Any, **kwargs: Any) -> Any:
        if launches_are_unmade():
            return None
        if self.chosen is None:
            check(self)
            self.chosen = frozenset(name for config in self.configs for name in config.all_kwargs())
        check_call(self, kwargs, self.chosen)
        self.nargs = dict(zip(self.arg_names, args))
        try:
            config = self.configs[0]
            if len(self.configs) > 1:
                key = self._key(kwargs)
                known = self.cache.get(key)
                config = self._choose(key, args, kwargs) if known is None else known
            self.best_config = config
            if config.pre_hook is not None:
                config.pre_hook({**self.nargs, **kwargs, **config.all_kwargs()})
            return self.fn.run(*args, **kwargs, **config.all_kwargs())
        except Error as wrong:
            raise trimmed(wrong)
        finally:
            self.nargs = None

    def warmup(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The compiled kernels of all configurations."""
        self.nargs = dict(zip(self.arg_names, args))
        try:
            return [self.fn.warmup(*args, **kwargs, **config.all_kwargs()) for config in self.prune_configs(kwargs)]
        finally:
            self.nargs = None


class Heuristics(_Wrapper):
    """Computes meta-parameters from the arguments."""

    def __init__(self, fn: Any, arg_names: Sequence[str], values: dict[str, Callable[[dict[str, Any]], Any]]) -> None:
        self.fn, self.arg_names, self.values = fn, list(arg_names), values

    def __repr__(self) -> str:
        return f"<heuristics for {', '.join(self.values)}: {self.fn!r}>"

    def run(self, *args: Any, **kwargs: Any) -> Any:
        if launches_are_unmade():
            return None
        for name, function in self.values.items():
            kwargs[name] = function({**dict(zip(self.arg_names, args)), **kwargs})
        return self.fn.run(*args, **kwargs)


def _is_ours(kernel: Any) -> bool:
    """Does nothing of the program stand between a call of the kernel and its compilation?"""
    while type(kernel) is Heuristics:
        kernel = kernel.fn
    return type(kernel) is JITFunction


@takes_options
def autotune(
    configs: Iterable[Config],
    key: Iterable[str],
    prune_configs_by: dict[str, Any] | None = None,
    reset_to_zero: Iterable[str] | None = None,
    restore_value: Iterable[str] | None = None,
    pre_hook: Callable[..., Any] | None = None,
    post_hook: Callable[..., Any] | None = None,
    warmup: float | None = None,
    rep: float | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable[..., Any] | None = None,
    cache_results: bool = False,
) -> Callable[[Any], Autotuner]:
    """Decorator: times the configurations once for each value of the arguments named by `key`; see Autotuner."""
    options = (reset_to_zero, restore_value, pre_hook, post_hook, prune_configs_by, warmup, rep, use_cuda_graph, do_bench)
    return lambda fn: Autotuner(fn, fn.arg_names, configs, key, *options, cache_results)


def heuristics(values: dict[str, Callable[[dict[str, Any]], Any]]) -> Callable[[Any], Heuristics]:
    """Decorator: meta-parameters computed from the arguments, {name: function of the dict of arguments}."""
    return lambda fn: Heuristics(fn, fn.arg_names, values)
