"""What an autotuner is told, checked at its first launch: its decorator takes anything, so that a module is imported with a
kernel that nobody launches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

from ...core.checks import amount, known_name
from ...core.unwritten import callers_level
from ...errors import Error, error
from ...frontend.wording import shown

PRUNING = ("early_config_prune", "perf_model", "top_k")


def _warn_of(check: Callable[..., None], *args: Any) -> None:
    """What upstream takes without a word is a warning: programs that run there run here."""
    try:
        check(*args)
    except Error as mistake:
        warnings.warn(str(mistake), UserWarning, stacklevel=callers_level())


def check(tuner: Any) -> None:
    """Refuses names of no parameter and times that are none. Warns of what is passed over: keys that no parameter has, functions
    of other names than those that prune, values that an option of the configuration goes before.

    :raises tilery.Error: the autotuner was told something else than it takes."""
    name, parameters = tuner.base_fn.__name__, tuner.arg_names
    kind = "parameter of the kernel"
    for each in tuner.keys:
        _warn_of(known_name, f"autotune(key=...) of `{name}`", each, parameters, kind)
    for option, names in {"reset_to_zero": tuner.reset_to_zero, "restore_value": tuner.restore_value}.items():
        for each in names:
            known_name(f"autotune({option}=...) of `{name}`", each, parameters, kind)
    by = tuner.prune_configs_by
    if not isinstance(by, Mapping):
        raise error(TypeError, f"autotune(prune_configs_by=...) of `{name}` is {shown(by)}; a dict of functions is expected")
    for each in by:
        _warn_of(known_name, f"autotune(prune_configs_by=...) of `{name}`", each, PRUNING, "function that prunes")
    for option, value in (("warmup", tuner.num_warmups), ("rep", tuner.num_reps)):
        if value is not None:
            amount(f"autotune({option}=...) of `{name}`", value, "milliseconds")
    if tuner._do_bench is not None and not callable(tuner._do_bench):
        message = f"autotune(do_bench=...) of `{name}` is {shown(tuner._do_bench)}; a function is expected"
        raise error(TypeError, message, hint="do_bench(call, quantiles=...) gives milliseconds")
    for config in tuner.configs:
        _check_config(name, config)


def _check_config(name: str, config: Any) -> None:
    if not isinstance(getattr(config, "kwargs", None), Mapping):
        given = getattr(config, "kwargs", config)
        hint = 'write Config({"BLOCK": 64}, num_warps=4)'
        raise error(TypeError, f"a configuration of `{name}` is {shown(given)}; a Config of a dict is expected", hint=hint)
    for option, value in config.kwargs.items():
        _warn_of(_check_value, name, option, value, config.all_kwargs()[option])


def _check_value(name: str, option: str, value: Any, taken: Any) -> None:
    if taken != value:
        raise error(
            ValueError,
            f"a configuration of `{name}` has {option!r}: {shown(value)} among its values, "
            f"and its own {option}={taken} goes before",
            hint=f"write Config({{...}}, {option}={shown(value)})",
        )


def check_call(tuner: Any, given: Iterable[str], chosen: Container[str]) -> None:
    """Refuses a launch that gives names which configurations give.

    :raises tilery.ValueError: it does."""
    twice = sorted(name for name in given if name in chosen)
    if twice:
        raise error(
            ValueError,
            f"Conflicting meta-parameters: {', '.join(twice)}: a launch of `{tuner.base_fn.__name__}` gives what its autotuner's "
            "configurations give",
            hint="leave it out of the launch, or launch the kernel without its autotuner: kernel.fn[grid](...)",
        )
