"""A kernel as a file: its code for this machine, that other processes run without tracing or compiling it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilery import _native

from ...aot import Entry, Library, Parameter, Variant, image_for
from ...aot.bundle import packed
from ...aot.targets import on_gpu, targets_of
from ...errors import error
from ..tracing.program import usual_layouts
from ..tracing.shapes import TensorType

if TYPE_CHECKING:
    from ..language.eager.builder import PrimFunc


def export(function: PrimFunc, compiled: Callable[[Any, int], Any], path: str | Path) -> None:
    """Writes a function for the CPU and, where there is one, the GPU of this machine; `load_module` reads it. It takes all of its
    tensors: results, too, are allocated by who calls it. compiled: makes its code for such layouts, on a GPU or the CPU (-1).

    :raises NotImplementedError: for programs that take addresses."""
    on = ("host", *(targets_of("cuda") if _native.gpu_count() else ()))
    Path(path).write_bytes(packed([entry_of(function, compiled, function.__name__, on)]))


def entry_of(function: PrimFunc, compiled: Callable[[Any, int], Any], name: str, targets: Iterable[str]) -> Entry:
    """A function as an entry of a bundle: for each target code for tensors as libraries usually allocate them, and for others.
    It takes all of its tensors, and behind them what it makes by T.empty and returns. compiled: as for `export`.

    :raises NotImplementedError: for programs that take addresses."""
    kinds = [kind for _, kind in function.params]
    if "handle" in kinds:
        raise error(NotImplementedError, f"`{function.__name__}` takes addresses: it is no library function")
    usual = usual_layouts(function.params)
    function.script()  # which notes what it returns
    made = (function.notes or {}).get("outputs", [])
    aligned = [("address divisible", len(function.params) + i, 0, 16) for i in range(len(made))] if usual else []
    variants: list[Variant] = []
    for target in targets:
        for layouts, conditions in ((usual, _conditions(function, usual) + aligned), ((), [])):
            kernel = compiled(layouts, 0 if on_gpu(target) and _native.gpu_count() else -1)
            variants.append(image_for(kernel, target, conditions))
    parameters = [_parameter(name, kind) for name, kind in (*function.params, *made)]
    return Entry(name, parameters, variants)


def _parameter(name: str, kind: Any) -> Parameter:
    if isinstance(kind, TensorType):
        return Parameter(name, kind.dtype.storage, len(kind.shape))
    return Parameter(name, kind)


def _conditions(function: PrimFunc, layouts: Any) -> list[tuple[str, int, int, int]]:
    """What a call's tensors must be for code that was made for these layouts."""
    known, found = dict(layouts), []
    for position, (name, _) in enumerate(function.params):
        factor, classes = known.get(name, (1, ()))
        if factor > 1:
            found.append(("address divisible", position, 0, factor))
        for dimension, step in enumerate(classes):
            if step:
                found.append(("stride is" if step == 1 else "stride divisible", position, dimension, step))
    return found


class Module:
    """A library's functions, by name: `module["main"](a, b, c)` or `module.main(a, b, c)`."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def __getitem__(self, name: str) -> Callable[..., None]:
        names = self._library.names
        if name in ("main", "__tvm_ffi_main__") and name not in names and len(names) == 1:
            name = names[0]
        if name not in names:
            raise error(AttributeError, f"the library has no function `{name}`", hint=f"it has {', '.join(names)}")
        return lambda *arguments: self._library.call(name, *arguments)

    get_function = __getitem__

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]


def load_module(path: str | Path) -> Module:
    """The functions of a file that `JITKernel.export_library` wrote."""
    return Module(Library.open(path))
