"""Listings of kernels: what an arrangement gives to an application, written down for people."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tilery import _native
from tilery._native.arrange import Tensor

from ..frontend.source import lines_of
from .arguments import parameters_of
from .naming import remove_prefixes
from .utils import calculate_default_configs

CACHE_DIR = Path(_native.cache_folder() or tempfile.gettempdir()) / "ninetoothed"
CACHE_DIR.mkdir(parents=True, exist_ok=True)


def cache_source(source: str) -> str:
    """Keeps a text in `CACHE_DIR` under a name made from it and returns the file's path."""
    path = CACHE_DIR / f"{hashlib.sha256(source.encode()).hexdigest()}.py"
    if not path.exists():
        with tempfile.NamedTemporaryFile("w", dir=CACHE_DIR, suffix=".tmp", delete=False) as file:
            file.write(source)
        os.replace(file.name, path)

    return str(path)


def listing(
    application: Callable[..., Any],
    arrangement: Callable[..., Any] | None,
    tensors: Sequence[Tensor],
    options: dict[str, Any],
    kernel_name: str | None = None,
) -> str:
    """The text: what a launch takes, the levels of each argument, and the functions as they were written."""
    names = parameters_of(application, len(tensors))
    symbols = {s.label: s for t in tensors for s in t.names() if s.constexpr and not s.label.startswith("ninetoothed_tensor_")}
    metas = [s for s in symbols.values() if s.meta]
    defaults = dict(zip(("num_warps", "num_stages"), calculate_default_configs()))
    chosen = {name: default if options.get(name) is None else options[name] for name, default in defaults.items()}
    tuned = bool(metas) or not all(isinstance(value, int) for value in chosen.values())
    name = kernel_name or application.__name__
    lines = [f'"""Kernel `{name}`: the arguments of a launch and what each program gets of them."""', ""]
    if arrangement is not None:
        lines.append(f"# arrangement: {_described(arrangement)}")
    lines += [f"# application: {_described(application)}", ""]
    lines.append(f"{name}_with_auto_tuning(" if tuned else f"{name}(")
    known: dict[str, str] = {}
    for argument, tensor in zip(names, tensors):
        known.setdefault(tensor.source.name, argument)
    lines += [f"    {argument},  # {_levels(tensor, known)}" for argument, tensor in zip(names, tensors)]
    lines += [f"    {s.label}=...,  # {_role(s)}" for s in sorted(symbols.values(), key=lambda s: s.label)]
    lines += [f"    {option}={value!r}," for option, value in chosen.items()]
    if options.get("max_num_configs") is not None:
        lines.append(f"    max_num_configs={options['max_num_configs']!r},")
    lines.append(")")
    for function in (arrangement, application):
        source = _source(function)
        lines += ["", "", source] if source else []

    return "\n".join(lines).rstrip() + "\n"


def _role(symbol: Any) -> str:
    if not symbol.meta:
        return "constexpr"
    return f"meta, {symbol.lower_bound} to {symbol.upper_bound}" + (", a power of two" if symbol.power_of_two else "")


def _levels(tensor: Tensor, arguments: Mapping[str, str]) -> str:
    """:param arguments: the name of the argument that each source is first given for."""
    if tensor.constexpr:
        return "constexpr"
    shapes = [tensor.sizes]
    while isinstance(tensor.dtype, Tensor):
        tensor = tensor.dtype
        shapes.append(tensor.sizes)

    def named(match: re.Match[str]) -> str:
        argument = arguments.get(match[1], match[1])
        return f"{argument}.length" if match[2] == "seq_len" else f"{argument}.size({match[3]})"

    def text(size: Any) -> str:
        return re.sub(r"ninetoothed_(\w+?)_(seq_len|size_(\d+))", named, remove_prefixes(repr(size.simplified())))

    return " of ".join("(" + ", ".join(map(text, shape)) + ("," if len(shape) == 1 else "") + ")" for shape in shapes)


def _unwrapped(function: Any) -> Any:
    while hasattr(function, "func"):
        function = function.func

    return function


def _described(function: Any) -> str:
    plain = _unwrapped(function)
    text = f"{getattr(plain, '__module__', '?')}.{getattr(plain, '__qualname__', plain)}"
    given = getattr(function, "keywords", None)

    return text + (" with " + ", ".join(f"{k}={v!r}" for k, v in given.items()) if given else "")


def _source(function: Any) -> str:
    try:
        return textwrap.dedent("".join(lines_of(_unwrapped(function))[0]))
    except (OSError, AttributeError):  # there is no text, or it is no function
        return ""
