"""Choosing among configurations of a kernel by timing, and computing meta-parameters from the arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...errors import error
from .errors import OutOfResources, PTXASError  # noqa: F401  # programs look for them here


class Config:
    """Values for a kernel's meta-parameters."""

    def __init__(
        self,
        kwargs: dict[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[..., Any] | None = None,
        ir_override: str | None = None,
    ) -> None:
        self.kwargs = kwargs
        self.num_warps, self.num_stages, self.num_ctas, self.maxnreg = num_warps, num_stages, num_ctas, maxnreg
        self.pre_hook, self.ir_override = pre_hook, ir_override

    def all_kwargs(self) -> dict[str, Any]:
        """Everything the kernel is called with."""
        return {**self.kwargs, "num_warps": self.num_warps, "num_stages": self.num_stages, "num_ctas": self.num_ctas}

    def __repr__(self) -> str:
        return ", ".join(f"{k}: {v}" for k, v in self.all_kwargs().items())


class _Wrapper:
    """A kernel around a kernel: kernel[grid](...) calls run."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn
        self.arg_names = fn.arg_names

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "fn":
            raise AttributeError(name)
        return getattr(self.fn, name)

    def named(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return {**dict(zip(self.arg_names, args)), **kwargs}

    def __tile_trace__(self, tracer: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        return self.fn.__tile_trace__(tracer, args, kwargs)


class Autotuner(_Wrapper):
    """Times every configuration once for each value of the key arguments, and keeps the fastest."""

    def __init__(
        self,
        fn: Any,
        configs: Iterable[Config],
        key: Iterable[str],
        reset_to_zero: Iterable[str] | None = None,
        restore_value: Iterable[str] | None = None,
        pre_hook: Callable[..., Any] | None = None,
        post_hook: Callable[..., Any] | None = None,
        prune_configs_by: dict[str, Any] | None = None,
        warmup: float = 5,
        rep: float = 20,
        do_bench_fn: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(fn)
        self.configs = list(configs) or [Config({})]
        self.keys = list(key)
        self.cache: dict[tuple[Any, ...], Config] = {}
        self.reset_to_zero, self.restore_value = list(reset_to_zero or ()), list(restore_value or ())
        self.pre_hook, self.post_hook = pre_hook, post_hook
        self.prune = prune_configs_by or {}
        self.warmup_ms, self.rep_ms, self.do_bench = warmup, rep, do_bench_fn
        self.best_config: Config | None = None
        self.configs_timings: dict[Config, float] = {}

    def candidates(self, named: dict[str, Any], kwargs: dict[str, Any]) -> list[Config]:
        """The configurations worth timing."""
        configs = self.configs
        if self.prune.get("early_config_prune"):
            configs = list(self.prune["early_config_prune"](configs, named, **kwargs))
            if not configs:
                raise error(RuntimeError, "early_config_prune left no configuration")
        model, top = self.prune.get("perf_model"), self.prune.get("top_k")
        if model and top:
            top = int(len(configs) * top) if isinstance(top, float) and top <= 1 else top
            configs = sorted(configs, key=lambda c: model(**{**named, **kwargs, **c.all_kwargs()}))[: max(top, 1)]
        return configs

    def time(self, config: Config, args: Sequence[Any], kwargs: dict[str, Any], grid: Any) -> Any:
        """Milliseconds of the configuration's kernel."""
        from ..testing import do_bench

        named = self.named(args, kwargs)
        saved = {n: named[n].clone() for n in self.restore_value}

        def call() -> None:
            for name in self.reset_to_zero:
                named[name].zero_()
            for name, old in saved.items():
                named[name].copy_(old)
            self.launch(config, args, kwargs, grid)

        try:
            return (
                self.do_bench(call, quantiles=(0.5, 0.2, 0.8))[0]
                if self.do_bench
                else do_bench(call, self.warmup_ms, self.rep_ms, quantiles=(0.5,))
            )
        finally:
            for name, old in saved.items():
                named[name].copy_(old)

    def launch(self, config: Config, args: Sequence[Any], kwargs: dict[str, Any], grid: Any) -> Any:
        merged = {**kwargs, **config.all_kwargs()}
        named = self.named(args, merged)
        for hook in (self.pre_hook, config.pre_hook):
            if hook:
                hook(named)
        result = self.fn.run(*args, grid=grid, **merged)
        if self.post_hook:
            self.post_hook(named, exception=None)
        return result

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        named = self.named(args, kwargs)
        key = tuple(named.get(k) for k in self.keys) + tuple(str(v.dtype) for v in named.values() if hasattr(v, "dtype"))
        config = self.cache.get(key)
        if config is None:
            configs = self.candidates(named, kwargs)
            self.configs_timings = {} if len(configs) == 1 else {c: self.time(c, args, kwargs, grid) for c in configs}
            config = min(self.configs_timings, key=self.configs_timings.__getitem__) if self.configs_timings else configs[0]
            self.cache[key] = config
            for name in self.reset_to_zero:
                named[name].zero_()
        self.best_config = config
        return self.launch(config, args, kwargs, grid)


class Heuristics(_Wrapper):
    """Computes meta-parameters from the arguments."""

    def __init__(self, fn: Any, values: dict[str, Callable[[dict[str, Any]], Any]]) -> None:
        super().__init__(fn)
        self.values = values

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        for name, function in self.values.items():
            kwargs[name] = function(self.named(args, kwargs))
        return self.fn.run(*args, grid=grid, **kwargs)


def autotune(
    configs: Iterable[Config],
    key: Iterable[str],
    prune_configs_by: dict[str, Any] | None = None,
    reset_to_zero: Iterable[str] | None = None,
    restore_value: Iterable[str] | None = None,
    pre_hook: Callable[..., Any] | None = None,
    post_hook: Callable[..., Any] | None = None,
    warmup: float = 5,
    rep: float = 20,
    use_cuda_graph: bool = False,
    do_bench: Callable[..., Any] | None = None,
    cache_results: bool = False,
) -> Callable[[Any], Autotuner]:
    """Decorator: times the configurations once for each value of the arguments named by `key`."""
    return lambda fn: Autotuner(
        fn, configs, key, reset_to_zero, restore_value, pre_hook, post_hook, prune_configs_by, warmup, rep, do_bench
    )


def heuristics(values: dict[str, Callable[[dict[str, Any]], Any]]) -> Callable[[Any], Heuristics]:
    """Decorator: meta-parameters computed from the arguments, {name: function of the dict of arguments}."""
    return lambda fn: Heuristics(fn, values)
