"""Kernels compiled ahead of time: callable at once, and a C file and header that call them with the runtime library alone."""

from __future__ import annotations

import enum
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tilery import _native
from tilery._native import arrange
from tilery._native.arrange import Symbol, Tensor

from .. import aot as bundles
from ..aot.targets import targets_of
from ..core.names import takes_options
from ..errors import error
from ..frontend.wording import counted
from . import dtype as dtypes
from . import jagged
from .arguments import Argument
from .compile import CompiledKernel
from .element_types import DTYPES, tile_dtype
from .jit import CALLERS, Kernel, jit
from .listing import CACHE_DIR
from .options import checked_name

# How much is known of a call's tensors, most first: addresses and strides that divide by 16 with a last stride of 1; a last
# stride of 1; nothing, not even that they do not overlap. Each is code of its own.
FORMS = ("aligned", "rows", "any")
_USUAL_SIZE = 1024  # of dimensions nothing is known of, where block sizes are chosen


class KernelLaunchError(RuntimeError):
    """A launch that was refused: no code for this kind of call."""

    def __init__(self, code: int) -> None:
        super().__init__(f"Kernel launch failed with error code: {code}.")
        self.code = code


class Launcher:
    """Calls an entry: tensors and numbers in the application's order, then the numbers of its configuration.

    ``path``: of the bundle, which lies beside NAME.c and NAME.h.
    """

    def __init__(self, path: Path, name: str, parameters: Sequence[bundles.Parameter]) -> None:
        self.path, self.name = path, name
        self._library = bundles.Library.open(path)
        self._parameters = by_argument(parameters)

    def __call__(self, *args: Any) -> None:
        if len(args) != len(self._parameters):
            names = ", ".join(first.name for first, *_ in self._parameters)
            raise error(TypeError, f"`{self.name}` takes {counted(len(self._parameters), 'argument')} ({names}), got {len(args)}")
        given: list[Any] = []
        for value, (first, *_) in zip(args, self._parameters):
            if first.jagged_dim is not None:
                given += self._rows(first, value)
            elif not first.ignored:
                value = standing_in(value, args) if getattr(value, "is_meta", False) else value
                given.append(number(value) if first.only_chooses else value)
        try:
            self._library.call(self.name, *given)
        except RuntimeError as e:
            if "was not compiled for this kind of call" in str(e):
                raise KernelLaunchError(1) from e
            raise

    def _rows(self, parameter: bundles.Parameter, value: Any) -> tuple[Any, ...]:
        rank = (parameter.rank or 0) + 1
        values, offsets, lengths, longest = jagged.rows_of(self.name, parameter.name, rank, parameter.jagged_dim, value).parts
        if lengths is not None:
            raise error(
                ValueError,
                f"argument `{parameter.name}` of kernel `{self.name}` has rows that end before the next ones begin",
                hint="ahead of time, kernels are compiled for rows that lie behind each other",
            )
        return values, offsets, longest


def standing_in(missing: Any, args: Sequence[Any]) -> Any:
    """A tensor of one element, on the device of the others, for a meta tensor that a kernel does not use."""
    import torch  # whoever has a meta tensor has it

    tensors = [a for a in args if isinstance(a, torch.Tensor) and a.ndim and not a.is_meta]
    element = torch.empty(1, dtype=missing.dtype, device=tensors[0].device if tensors else "cpu")

    return element.as_strided((1,) * missing.ndim, missing.stride())


def by_argument(parameters: Iterable[bundles.Parameter]) -> list[list[bundles.Parameter]]:
    """The parameters that belong to each argument of an application: three of a jagged one."""
    found, rest = [], iter(parameters)
    for parameter in rest:
        found.append([parameter] if parameter.jagged_dim is None else [parameter, *itertools.islice(rest, 2)])

    return found


class Style(bundles.Style):
    """NineToothed's interface in C: every argument is a NineToothedTensor; of a number, `data` points to it (to a double for the
    types float32 and float64)."""

    headers = ("ninetoothed.h",)
    result, stream, tensor = "NineToothedResult", "NineToothedStream", "NineToothedTensor"

    def declared(self, parameter: bundles.Parameter) -> str:
        return f"int {parameter.name}" if parameter.only_chooses else f"NineToothedTensor {parameter.name}"

    def argument(self, parameter: bundles.Parameter) -> str:
        if parameter.only_chooses:
            return super().argument(parameter)
        return f"{{{parameter.name}.data, (const int64_t *){parameter.name}.shape, {parameter.name}.strides}}"

    def files(self) -> dict[str, str]:
        return {"ninetoothed.h": _header()}


def _header() -> str:
    names = ",\n".join(f"  NINETOOTHED_{name.upper()}" for name in DTYPES)

    return f"""/* What kernels of NineToothed take that were compiled ahead of time. */
#ifndef NINETOOTHED_H
#define NINETOOTHED_H
#include <stdint.h>

#define NINETOOTHED_TRUE 1
#define NINETOOTHED_FALSE 0
#define NINETOOTHED_NONE 0

enum NineToothedDataType {{
{names}
}};

typedef struct {{
  void *data;
  uint64_t *shape;
  int64_t *strides; /* in elements */
}} NineToothedTensor;

typedef void *NineToothedStream;
typedef int NineToothedResult; /* 0: done, 1: no code for this kind of call, 2: see tilery_aot_error() */
#endif
"""


def number(value: Any) -> int:
    """A value of a configuration as C callers give it: None is 0, an element type its position."""
    if value is None:
        return 0
    if isinstance(value, str) and value in dtypes.NAMES:
        return DTYPES.index(dtypes.NAMES[value])
    if isinstance(value, (bool, enum.IntEnum)) or hasattr(value, "__index__"):
        return int(value)
    hint = "numbers, bools, enumerators, element types and None can"
    raise error(TypeError, f"{value!r} cannot be part of a configuration", hint=hint)


@takes_options
def aot(
    func: Callable[..., Any] | Kernel,
    caller: str = "cuda",
    kernel_name: str | None = None,
    output_dir: str | Path | None = None,
    num_warps: int | None = None,
    num_stages: int | None = None,
) -> Launcher:
    """Compiles a kernel, or an application with annotated parameters, and writes NAME.tilery, NAME.c, NAME.h and ninetoothed.h.

    :param caller: where it runs, "cpu" or "cuda". Without a GPU here "cuda" is also compiled for the CPU, which then stands in.
    :param output_dir: an existing folder; that of cached files by default.
    :raises TypeError: if an element type is not declared.
    """
    if caller not in CALLERS:
        raise error(ValueError, f"Unsupported caller: `{caller}`.", hint='"cpu" or "cuda"')
    kernel = func if isinstance(func, Kernel) else jit(func, num_warps=num_warps, num_stages=num_stages)
    name = checked_name(kernel_name) or kernel.application.__name__
    parameters, variants = compiled(kernel, caller)
    entry = bundles.Entry(f"launch_{name}", parameters, variants)

    path = bundles.write(CACHE_DIR if output_dir is None else output_dir, name, [entry], caller, Style())

    return Launcher(path, entry.name, entry.parameters)


def compiled(
    kernel: Kernel, caller: str, conditions: Sequence[Any] = ()
) -> tuple[list[bundles.Parameter], list[bundles.Variant]]:
    """(parameters, variants) of a kernel: for each machine that the caller means, code for each of `FORMS`.

    :param caller: "cpu", "cuda", or the name of a target.
    """
    targets = targets_of(caller)
    if caller == "cuda" and not _native.gpu_count():
        targets = ("host", *targets)
    return compiled_for(kernel, targets, {}, {}, conditions)


def compiled_for(
    kernel: Kernel, targets: Iterable[str], types: Mapping[str, str], sizes: Mapping[str, int], conditions: Sequence[Any] = ()
) -> tuple[list[bundles.Parameter], list[bundles.Variant]]:
    """(parameters, variants) of a kernel: for each target code for each of `FORMS`.

    :param types: element types of arguments that declare none.
    :param sizes: numbers for symbols that have none, and for meta symbols that are not to be chosen here.
    """
    parameters = [_parameters(kernel, name, tensor, types.get(name)) for name, tensor in zip(kernel.names, kernel.tensors)]
    variants = []
    for target in targets:
        values = _numbers(kernel, parameters, target, sizes)
        for form in FORMS:
            code, facts = _compiled_as(kernel, parameters, values, form)
            variants.append(bundles.image_for(code, target, [*conditions, *facts]))

    return [*itertools.chain(*parameters)], variants


def _parameters(kernel: Kernel, name: str, tensor: Tensor, given: str | None = None) -> list[bundles.Parameter]:
    declared = tensor.source.dtype or given
    if tensor.constexpr:
        if tensor.value is None:
            raise error(
                TypeError,
                f"the constexpr argument `{name}` of `{kernel.application.__name__}` has no value to compile for",
                hint="Tensor(0, constexpr=True, value=...)",
            )
        return [bundles.Parameter(name, "int64", ignored=True)]
    if declared is None:
        raise error(
            TypeError,
            f"the element type of `{name}` of `{kernel.application.__name__}` is not declared, as ahead of time it must be",
            hint=f"Tensor({tensor.source.ndim}, dtype=ninetoothed.float32)",
        )
    dtype = tile_dtype(declared)
    if tensor.source.ndim == 0:
        return [bundles.Parameter(name, dtype, in_c="float64" if dtype == "float32" else None)]
    if tensor.jagged_dim is None:
        return [bundles.Parameter(name, dtype, tensor.source.ndim)]
    _, offsets, _, longest = jagged.PARTS

    return [
        bundles.Parameter(name, dtype, tensor.source.ndim - 1, jagged_dim=tensor.jagged_dim),
        bundles.Parameter(name + offsets, "int64", 1),
        bundles.Parameter(name + longest, "int64"),
    ]


def _numbers(
    kernel: Kernel, parameters: Sequence[Sequence[bundles.Parameter]], target: str, given: Mapping[str, int]
) -> dict[str, Symbol]:
    """Block sizes: those that are given, the others by the target's model for sizes that are usual where none is known."""
    unset = [label for label, symbol in kernel.symbols.items() if not symbol.meta and label not in given]
    if unset:
        raise error(
            TypeError,
            f"`{unset[0]}` of `{kernel.application.__name__}` has no value to compile for",
            hint=f"give it a number (`{unset[0]}=64` in a signature), or make it block_size() to have one chosen",
        )
    known = {repr(symbol): Symbol(given[label]) for label, symbol in kernel.symbols.items() if label in given}
    metas = [symbol for label, symbol in kernel.symbols.items() if label not in given]
    if not metas:
        return known
    sizes, traffic = dict(known), []
    for tensor, (first, *_) in zip(kernel.tensors, parameters):
        sizes.update({repr(s): Symbol(_usual(s)) for s in tensor.source.sizes if s.constant is None})
        if tensor.source.ndim:
            traffic.append((tensor, int(re.findall(r"\d+", first.dtype)[0]) // 8))  # float16, float8_e5m2

    return known | dict(arrange.rank_block_sizes(traffic, metas, sizes, target, -1)[0])


def _usual(size: Symbol) -> int:
    return min(_USUAL_SIZE, size.upper_bound or _USUAL_SIZE)


class _Signature:
    """What the launcher says of a call, as far as a kernel is compiled by it."""

    device = -1

    def __init__(self, params: tuple[Any, ...], form: str) -> None:
        self.params = params
        self.aliases = ((0, 0, "overlapping"),) if form == "any" else ()


def _compiled_as(
    kernel: Kernel, parameters: Sequence[Sequence[bundles.Parameter]], numbers: Mapping[str, Symbol], form: str
) -> tuple[CompiledKernel, list[Any]]:
    """(the kernel for calls of a form, the conditions of that form)."""
    arguments: list[Argument] = []
    conditions: list[Any] = []
    position = 0
    for name, tensor, (first, *rows) in zip(kernel.names, kernel.tensors, parameters):
        if first.ignored:
            known: tuple[Any, ...] = ("const", tensor.value)
        elif first.rank is None:
            known = ("tensor", first.dtype, 1, (), ())
        else:
            known, facts = _known(tensor, first, position, form)
            conditions += facts
        position += (not first.ignored) + len(rows)
        of_rows = (("tensor", rows[0].dtype), ("const", None)) if rows else ()  # where they begin; they end at the next ones
        arguments.append(kernel._argument(name, tensor, (known, *of_rows), dict(numbers)))
    signature = _Signature((), form)

    compiled = CompiledKernel(
        kernel.application, arguments, kernel.hints, signature, form != "any", checks_sizes=True
    )
    return compiled, conditions


def _known(tensor: Tensor, parameter: bundles.Parameter, position: int, form: str) -> tuple[tuple[Any, ...], list[Any]]:
    rank = parameter.rank or 0
    sizes = tensor.source.sizes[parameter.jagged_dim is not None :]  # rows are no dimension in memory
    conditions = [("extent is", position, d, size.constant) for d, size in enumerate(sizes) if size.constant is not None]
    extents = tuple(16 if size.constant and size.constant % 16 == 0 else 0 for size in sizes)
    if form == "any":
        return ("tensor", parameter.dtype, 1, extents, (0,) * rank), conditions
    conditions.append(("stride is", position, rank - 1, 1))
    if form == "rows":
        return ("tensor", parameter.dtype, 1, extents, (0,) * (rank - 1) + (1,)), conditions
    conditions.append(("address divisible", position, 0, 16))
    conditions += [("stride divisible", position, d, 16) for d in range(rank - 1)]

    return ("tensor", parameter.dtype, 16, extents, (16,) * (rank - 1) + (1,)), conditions
