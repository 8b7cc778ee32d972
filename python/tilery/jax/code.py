"""What a call of XLA carries: a kernel's machine code and what it is called with."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy

from tilery import _native

from .. import aot
from ..aot.bundle import packed
from ..aot.targets import targets_of
from ..core.compile import CompiledKernel, asked
from ..core.unmade import without_launches
from ..errors import error
from ..frontend.wording import counted

_ALIGNED = 16  # what addresses divide by, for the code that is tried first


@dataclass(frozen=True)
class Call:
    """A call that is traced. args: what is given by position, arrays as their kinds; aliases: {operand: result}."""

    kernel: Any
    grid: Any
    args: Sequence[Any]
    named: Mapping[str, Any]
    results: Sequence[jax.ShapeDtypeStruct]
    aliases: Mapping[int, int]
    targets: Sequence[str]

    @property
    def operands(self) -> list[jax.ShapeDtypeStruct]:
        return [arg for arg in self.args if isinstance(arg, jax.ShapeDtypeStruct)]

    @property
    def buffers(self) -> list[jax.ShapeDtypeStruct]:
        """Operands, then results."""
        return [*self.operands, *self.results]


@dataclass(frozen=True)
class _Launch:
    """What a call launches. values: of its parameters, by name."""

    compiled: CompiledKernel
    values: Mapping[str, Any]
    grid: Sequence[int] | None
    stand_ins: Sequence[Any]  # of operands and results; an alias's two are one

    def place(self, name: str, rank: int | None) -> int | None:
        """The number of the buffer that a parameter gets; None: it gets a number."""
        if rank is None:
            return None
        return max(i for i, stand_in in enumerate(self.stand_ins) if stand_in is self.values[name])


def declared_results(kernel: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """The kinds of what a kernel makes itself, for arguments of these kinds.

    :raises tilery.TypeError: it makes nothing."""
    stand_ins = [_stand_in(arg, True) if isinstance(arg, jax.ShapeDtypeStruct) else arg for arg in args]
    made = without_launches(lambda: kernel(*stand_ins, **named)) if hasattr(kernel, "out_idx") else None
    if made is None:
        hint = "give kernel_call an out_shape: jax.ShapeDtypeStruct(shape, dtype) of each result"
        raise error(TypeError, f"{kernel!r} does not say what its results are", hint=hint)
    kinds = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in (made if isinstance(made, (list, tuple)) else [made])]
    return kinds if isinstance(made, (list, tuple)) else kinds[0]


def compiled(call: Call) -> dict[str, Any]:
    """The attributes of the call (python/binding/xla_call.cpp reads them)."""
    first, general = (_launch(call, aligned) for aligned in (True, False))
    # Operands may be the same memory; code for arrays of any address is for those, too.
    anything = copy.copy(general.compiled)
    anything.options = {**anything.options, "disjoint": False}
    image = first.compiled.image(target=_machines(call.targets)[0])
    found = _native.image_parameters(image)
    places = [first.place(name, rank) for name, _, rank in found]
    _check_written(call, {name: place for (name, _, _), place in zip(found, places)}, image)
    aligned = [("address divisible", i, 0, _ALIGNED) for i, place in enumerate(places) if place is not None]
    variants = [
        aot.image_for(kernel, target, conditions)
        for target in _machines(call.targets)
        for kernel, conditions in ((first.compiled, aligned), (anything, []))
    ]
    for name, _, rank in found:
        if rank is None and _is_any(first.values[name], first.stand_ins):
            hint = "code is compiled for a number: pass it as one, or give the kernel an array of one element"
            raise error(TypeError, f"`{name}` of {call.kernel!r} is a number, got an array", hint=hint)
    takes_grid = not _native.CodeImage(image).host
    parameters = [aot.Parameter(*each) for each in found]
    numbers = [_bits(first.values[name], dtype) for name, dtype, rank in found if rank is None]
    each = iter(range(len(numbers)))
    return {
        "bundle": packed([aot.Entry(first.compiled.name, parameters, variants, takes_grid=takes_grid)]),
        "grid": _list(first.grid if takes_grid else ()),
        "numbers": _list(numbers),
        "places": _list(-1 - next(each) if place is None else place for place in places),
        "ranks": _list(len(kind.shape) for kind in call.buffers),
        "widths": _list(kind.dtype.itemsize for kind in call.buffers),
    }


def _is_any(value: Any, known: Sequence[Any]) -> bool:
    return any(value is each for each in known)


def _machines(targets: Sequence[str]) -> list[str]:
    return [machine for target in targets for machine in targets_of("cpu" if target == "host" else target)]


def _list(numbers: Any) -> numpy.ndarray[Any, Any]:
    return numpy.array(list(numbers or ()), numpy.int64)


def _bits(value: Any, dtype: str) -> int:
    """A number as the bits of its type, extended to 64."""
    kind = numpy.dtype(dtype)
    if kind.kind in "iub":
        return int(numpy.array(value).astype(numpy.uint64).astype(numpy.int64))
    return int(numpy.array([value], kind).view(f"uint{8 * kind.itemsize}").astype(numpy.uint64).astype(numpy.int64)[0])


def _stand_in(kind: jax.ShapeDtypeStruct, aligned: bool) -> Any:
    """An array of this kind, of memory that is asked for and not touched; its address divides by 64, or by nothing."""
    count = numpy.prod(kind.shape, dtype=int) * kind.dtype.itemsize
    memory = numpy.zeros(count + 128, numpy.uint8)
    begin = -memory.ctypes.data % 64 + (0 if aligned else kind.dtype.itemsize)
    return memory[begin : begin + count].view(kind.dtype).reshape(kind.shape)


class _Recorder:
    """Asks which compiled kernel a launch takes, instead of making it; what tuners time is made, on the stand-ins."""

    while_timing = None

    def __init__(self) -> None:
        self.found: list[tuple[CompiledKernel, Mapping[str, Any], Any]] = []

    def __call__(self, launcher: Any, grid: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        _native.ask_launches(self.ask, lambda: launcher.launch_plainly(grid, *args, **kwargs))

    def ask(self, compile_callback: Any, signature: Any, values: Mapping[str, Any], grid: Any) -> None:
        kernel = asked(lambda: compile_callback(signature, values))
        if kernel is not None:
            self.found.append((kernel, values, grid))


def _launch(call: Call, aligned: bool) -> _Launch:
    """The launch that the call makes, with stand-ins for its arrays.

    :raises tilery.ValueError: it makes none, or several."""
    operands = [_stand_in(kind, aligned) for kind in call.operands]
    same = {result: operands[operand] for operand, result in call.aliases.items()}
    results = [same[i] if i in same else _stand_in(kind, aligned) for i, kind in enumerate(call.results)]
    left = iter(operands)
    args = [next(left) if isinstance(arg, jax.ShapeDtypeStruct) else arg for arg in call.args]
    own = [result for i, result in enumerate(results) if i not in same]
    kernel, args = _with_results(call.kernel, args, own)
    recorder = _Recorder()
    before = _native.record_launches(recorder)
    try:
        (kernel if call.grid is None else kernel[call.grid])(*args, **call.named)
    finally:
        _native.record_launches(before)
    if len(recorder.found) != 1:
        hint = "a function of several kernels is several calls"
        raise error(ValueError, f"{call.kernel!r} launches {counted(len(recorder.found), 'kernel')}, not one", hint=hint)
    return _Launch(*recorder.found[0], [*operands, *results])


def _with_results(kernel: Any, args: list[Any], results: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The kernel as a function of all its tensors, and its arguments: results stand behind, or where `out_idx` says."""
    places = getattr(kernel, "out_idx", None)
    if not places:
        return kernel, [*args, *results]
    for place, result in sorted(zip(places, results), key=lambda each: each[0]):
        args.insert(place, result)
    return kernel.taking_results(), args


def _check_written(call: Call, places: Mapping[str, int | None], image: bytes) -> None:
    """Refuses a kernel that writes to an operand, which others of the program share, or leaves a result as it is."""
    written = {places[name] for name in _native.CodeImage(image).written if places.get(name) is not None}
    count = len(call.operands)
    results = {count + i for i in range(len(call.results))}
    names = {place: name for name, place in places.items()}
    for place in sorted(each for each in written - results if each is not None):
        hint = f"input_output_aliases={{{place}: ...}} makes it a result, too"
        raise error(ValueError, f"the kernel writes to `{names[place]}`, which is an operand", hint=hint)
    for place in sorted(results - written):
        message = f"the kernel does not write to result {place - count}, `{names.get(place, 'which it does not take')}`"
        raise error(ValueError, message, hint="results follow behind what is given by position, in the kernel's order")
