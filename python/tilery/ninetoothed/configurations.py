"""Configurations of a kernel, compiled ahead of time into one function: what `build` does."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tilery import _native

from .. import aot as bundles
from ..aot.bundle import packed
from ..core.timing import measure
from ..errors import error
from ..frontend.source import lines_of
from .aot import Launcher, Style, by_argument, compiled, number
from .jit import Kernel
from .listing import CACHE_DIR

Config = tuple[Sequence[Any], Mapping[str, Any], Mapping[str, Any]]
_USUAL_SIZE = 256  # of dimensions nothing is known of, where configurations are timed
_NO_VALUE = -(2**31)  # of a compile option that a configuration leaves open


class Configurations:
    """The configurations of one `build`, compiled when they are first called. ``options``: those of `build`, by name."""

    def __init__(self, premake: Callable[..., Any], configs: Sequence[Config], options: Mapping[str, Any]) -> None:
        folder = Path(CACHE_DIR if options["output_dir"] is None else options["output_dir"])
        self._arguments, self._launcher = (premake, configs, {**options, "output_dir": folder}), None

    def launcher(self) -> Launcher:
        self._launcher = self._launcher or _build(*self._arguments)
        return self._launcher

    def __call__(self, *args: Any) -> None:
        self.launcher()(*args)


@dataclasses.dataclass
class _Candidate:
    """A configuration, compiled. ``values``: of the parameters that choose it, ``tensors``: what the arrangement starts from."""

    values: dict[str, int]
    kernel: Kernel
    parameters: list[bundles.Parameter]
    variants: list[bundles.Variant]


def _build(premake: Callable[..., Any], configs: Sequence[Config], options: Mapping[str, Any]) -> Launcher:
    name, folder = options["kernel_name"], options["output_dir"]
    path, remembered = folder / f"{name}.tilery", folder / f"{name}.fingerprint"
    digest = _digest(premake, configs, options)
    if path.exists() and remembered.exists():
        known = json.loads(remembered.read_text())
        if known["digest"] == digest:
            return Launcher(path, f"launch_{name}", [bundles.Parameter(**p) for p in known["parameters"]])
    metas = options["meta_parameters"]
    chosen_by = [p for p in inspect.signature(premake).parameters if p not in metas]
    if not metas:
        chosen_by += dict.fromkeys(option for _, _, given in configs for option in given)
    candidates = [_compiled(premake, config, chosen_by, options["caller"]) for config in configs]
    if not candidates:
        raise error(ValueError, f"`{name}` has no configurations to build")
    if metas:
        candidates = _fastest(candidates)
    entries = _entries(f"launch_{name}", candidates, chosen_by, bool(metas))
    bundles.write(folder, name, entries, options["caller"], Style())
    parameters = [dataclasses.asdict(p) for p in entries[0].parameters]
    remembered.write_text(json.dumps({"digest": digest, "parameters": parameters}))

    return Launcher(path, f"launch_{name}", entries[0].parameters)


def _compiled(premake: Callable[..., Any], config: Config, chosen_by: Sequence[str], caller: str) -> _Candidate:
    args, kwargs, given = config
    bound = inspect.signature(premake).bind(*args, **kwargs)
    bound.apply_defaults()
    arrangement, application, tensors = premake(*args, **kwargs)
    arranged = arrangement(*tensors)
    arranged = arranged if isinstance(arranged, tuple) else (arranged,)
    kernel = Kernel(application, list(arranged), "torch", arrangement, None, given)
    values = {p: number(bound.arguments[p]) if p in bound.arguments else given.get(p, _NO_VALUE) for p in chosen_by}

    return _Candidate(values, kernel, *compiled(kernel, caller))


def _entries(
    name: str, candidates: Sequence[_Candidate], chosen_by: Sequence[str], others_too: bool
) -> list[bundles.Entry]:
    """One entry for each list of types; `others_too`: calls that fit no configuration, too, run one whose types and sizes fit."""
    entries: dict[str, bundles.Entry] = {}
    fallbacks: dict[str, list[bundles.Variant]] = {}
    for candidate in candidates:
        key = repr(candidate.parameters)
        if key not in entries:
            choosing = [bundles.Parameter(f"{p}_", "int64", only_chooses=True, in_c="int32") for p in chosen_by]
            entries[key] = bundles.Entry(name, [*candidate.parameters, *choosing], [])
        first = len(entries[key].taken) - len(chosen_by)
        choice = [("number is", first + k, 0, candidate.values[p]) for k, p in enumerate(chosen_by)]
        for variant in candidate.variants:
            entries[key].variants.append(dataclasses.replace(variant, conditions=[*variant.conditions, *choice]))
        fallbacks.setdefault(key, []).extend(candidate.variants)
    if others_too:
        for key, entry in entries.items():
            entry.variants += fallbacks[key]

    return list(entries.values())


def _fastest(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Of those with equal values the one that takes least time."""

    def key(candidate: _Candidate) -> tuple[Any, ...]:
        return repr(candidate.parameters), *candidate.values.values()

    best = []
    for _, group in itertools.groupby(sorted(candidates, key=key), key):
        # Options that decide about no code leave the same images.
        same = list({tuple(v.image for v in candidate.variants): candidate for candidate in reversed(list(group))}.values())
        best.append(same[0] if len(same) == 1 else min(same, key=_time))

    return best


def _time(candidate: _Candidate) -> float:
    import torch

    device = "cuda" if _native.gpu_count() and torch.cuda.is_available() else "cpu"
    arguments: list[Any] = []
    for tensor, (first, *rows) in zip(candidate.kernel.tensors, by_argument(candidate.parameters)):
        if first.ignored:
            continue
        sizes = [size.constant or min(_USUAL_SIZE, size.upper_bound or _USUAL_SIZE) for size in tensor.source.sizes]
        dtype, behind = getattr(torch, first.dtype), []
        if rows:  # all of one length
            count, *sizes = sizes
            longest = sizes[first.jagged_dim - 1]
            sizes[first.jagged_dim - 1] *= count
            behind = [longest * torch.arange(count + 1, device=device), longest]
        arguments.append(torch.zeros(sizes, dtype=dtype, device=device) if sizes else torch.zeros((), dtype=dtype))
        arguments += behind
    library = bundles.Library(packed([bundles.Entry("timed", candidate.parameters, candidate.variants)]))

    return float(measure(lambda: library.call("timed", *arguments), warmup=5, rep=30, mode="median"))  # type: ignore[arg-type]


def _digest(premake: Callable[..., Any], configs: Sequence[Config], options: Mapping[str, Any]) -> str:
    plain = premake
    while hasattr(plain, "func"):
        plain = plain.func
    try:
        source = "".join(lines_of(plain)[0])
    except (OSError, AttributeError):  # there is no text, or it is no function
        source = repr(plain)
    bound = getattr(premake, "args", ()), sorted(getattr(premake, "keywords", {}).items())
    text = repr((_native.build_id(), source, bound, configs, options["meta_parameters"], options["caller"]))

    return hashlib.sha256(text.encode()).hexdigest()
