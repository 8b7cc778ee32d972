"""`torch.cuda.CUDAGraph` under the device rule.

While a program captures, what it does runs at once, so that its tensors have the right sizes and indices, and is taken down:
torch's operators by a dispatch mode, launches of kernels by the launcher. When the capture ends, memory that was there before is
what it was, since a capture runs nothing; `replay()` runs everything again, into the tensors that the capture made.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from tilery import _native

from ..errors import error
from .torch_places import _MARK

_FORBIDDEN = "operation not permitted when stream is capturing"
_SIZES_OF_DATA = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)
_numbers = itertools.count(1)
_capture: Capture | None = None


def capturing() -> bool:
    """Does a program capture?"""
    return _capture is not None


def forbid(what: str) -> None:
    """Raises RuntimeError while a program captures, as the driver does for what would wait for the device."""
    if _capture is not None:
        hint = "do it before or after the capture"
        raise error(RuntimeError, f"CUDA error: {_FORBIDDEN}: {what}", hint=hint)


def _memory(tensor: Any) -> Any:
    """The storage of a tensor that has one on the CPU, else None."""
    plain = tensor.layout is torch.strided and tensor.is_cpu and type(tensor) in (torch.Tensor, torch.nn.Parameter)
    return tensor.untyped_storage() if plain and tensor.untyped_storage().nbytes() else None


def _addresses(tensors: Iterable[Any]) -> set[int]:
    return {memory.data_ptr() for memory in map(_memory, tensors) if memory is not None}


def _tensors(value: Any) -> Iterator[Any]:
    """The tensors in an argument of an operator or a launch: in tuples, lists and dicts, or what a descriptor is of."""
    for leaf in tree_leaves(value):
        leaf = leaf if isinstance(leaf, torch.Tensor) else getattr(leaf, "base", None)
        if isinstance(leaf, torch.Tensor):
            yield leaf


def _written(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The tensors that an operator changes, as its schema says."""
    changed = []
    for place, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            changed += _tensors(args[place] if place < len(args) else kwargs.get(argument.name))
    return changed


def _again(made: list[Any], call: Callable[[], Any]) -> Callable[[], None]:
    """Calls again, and puts what comes of it where it came to first."""

    def step() -> None:
        for place, tensor in zip(made, list(_tensors(call()))):
            if place.data_ptr() != tensor.data_ptr():
                place.copy_(tensor)

    return step


class Capture(TorchDispatchMode):  # type: ignore[misc]  # torch is not typed
    """What is taken down: `steps`, each with its name."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[tuple[str, Callable[[], None]]] = []
        self.own: dict[int, Any] = {}  # memory that came with the capture, by address; it lives as long
        self.before: dict[int, tuple[Any, Any]] = {}  # other memory that is written, and what it held
        self.computed: set[int] = set()  # memory that holds what kernels wrote, or what was computed from that
        self.generator = torch.default_generator.get_state()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given = list(_tensors((args, kwargs)))
        known = _addresses(given)
        if not known.isdisjoint(self.computed) and any(tag in func.tags for tag in _SIZES_OF_DATA):
            forbid(f"{func} needs to know what a kernel computed")
        host = bool(given) and all(_MARK in tensor.__dict__ for tensor in given)
        changed = _written(func, args, kwargs)
        if not host:
            self.remember(changed)
        record = _native.record_launches(None)  # launches of the operator's own are part of it
        try:
            result = func(*args, **kwargs)
        finally:
            _native.record_launches(record)
        if not host:
            self.take(str(func), list(_tensors(result)), known, changed, lambda: func(*args, **kwargs))
        return result

    def launch(self, launcher: Any, grid: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A launch of a kernel."""
        with torch._C._DisableTorchDispatch():
            given = list(_tensors((args, kwargs)))
            self.remember(given)
            result = launcher.launch_plainly(grid, *args, **kwargs)
            self.computed |= _addresses(given)
            made = list(_tensors(result))
            name = launcher.kernel_name
            self.take(name, made, _addresses(given), given + made, lambda: launcher.launch_plainly(grid, *args, **kwargs))
        return result

    def take(self, name: str, results: list[Any], known: set[int], changed: list[Any], call: Callable[[], Any]) -> None:
        """One more step, unless it only looks at memory in another way, or asks for some without writing to it."""
        own = {memory.data_ptr(): memory for memory in map(_memory, results) if memory is not None}
        fresh = own.keys() - known
        self.own.update((address, own[address]) for address in fresh)
        if not known.isdisjoint(self.computed):
            self.computed |= fresh | _addresses(changed)
        if changed or (fresh and not name.startswith(("aten.empty", "aten.new_empty"))):
            self.steps.append((name, _again(results, call)))

    def remember(self, tensors: Iterable[Any]) -> None:
        """Keeps what memory holds that is about to change."""
        for memory in map(_memory, tensors):
            if memory is not None and memory.data_ptr() not in self.own and memory.data_ptr() not in self.before:
                self.before[memory.data_ptr()] = memory, memory.clone()

    def begin(self) -> None:
        global _capture
        if _capture is not None:
            raise error(RuntimeError, f"CUDA error: {_FORBIDDEN}: another capture")
        self.__enter__()
        _native.record_launches(self.launch)
        _capture = self

    def end(self) -> None:
        global _capture
        _capture = None
        _native.record_launches(None)
        self.__exit__(None, None, None)
        for memory, held in self.before.values():
            memory.copy_(held)
        self.before.clear()
        torch.default_generator.set_state(self.generator)


class CUDAGraph:
    """Work that was captured once and runs again. Its tensors are those of the capture: write to its inputs, replay, read."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._captured: Capture | None = None
        self._pool = graph_pool_handle()

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global", **options: Any) -> None:
        if self._captured is not None:
            hint = "make another CUDAGraph, or call reset() first"
            raise error(RuntimeError, "this CUDAGraph has captured a graph already", hint=hint)
        self._pool = self._pool if pool is None else pool
        captured = Capture()
        captured.begin()
        self._captured = captured

    def capture_end(self) -> None:
        if self._captured is None or self._captured is not _capture:
            raise error(RuntimeError, "CUDAGraph.capture_end() without a capture of this graph under way")
        self._captured.end()

    def replay(self) -> None:
        """Runs what was captured, in order."""
        if self._captured is None or self._captured is _capture:
            hint = "capture with `with torch.cuda.graph(g): ...` first"
            raise error(RuntimeError, "Called CUDAGraph::replay without a preceding successful capture.", hint=hint)
        with torch.inference_mode():
            for _, step in self._captured.steps:
                step()

    def instantiate(self) -> None:
        pass

    def reset(self) -> None:
        self._captured = None

    def pool(self) -> Any:
        return self._pool

    def register_generator_state(self, generator: Any) -> None:
        """Random numbers come from the generators themselves: each replay's are new."""

    def enable_debug_mode(self) -> None:
        pass

    def debug_dump(self, debug_path: str) -> None:
        """Writes the names of the steps, a chain in Graphviz's language."""
        names = [name for name, _ in self._captured.steps] if self._captured else []
        with open(debug_path, "w", encoding="utf-8") as file:
            file.writelines(
                ["digraph {\n", *(f'  {i} [label="{name}"]\n' for i, name in enumerate(names))]
                + [f"  {i} -> {i + 1}\n" for i in range(len(names) - 1)]
                + ["}\n"]
            )


class graph:
    """with torch.cuda.graph(g): what is called within is captured in `g`."""

    default_capture_stream: Any = None

    def __init__(
        self, cuda_graph: CUDAGraph, pool: Any = None, stream: Any = None, capture_error_mode: str = "global", **options: Any
    ) -> None:
        self.cuda_graph, self.pool, self.capture_error_mode = cuda_graph, pool, capture_error_mode

    def __enter__(self) -> None:
        self.cuda_graph.capture_begin(self.pool, self.capture_error_mode)

    def __exit__(self, kind: Any, *raised: Any) -> None:
        self.cuda_graph.capture_end()
        if kind is not None:
            self.cuda_graph.reset()


def graph_pool_handle() -> tuple[int, int]:
    return (0, next(_numbers))


def make_graphed_callables(callables: Any, sample_args: Any, *options: Any, **named: Any) -> Any:
    """The callables themselves: here a graph saves none of the time that it saves where kernels are queued."""
    return callables


def apply() -> None:
    """Puts these in the place of torch's."""
    cuda = torch.cuda
    for name, value in {
        "CUDAGraph": CUDAGraph,
        "graph": graph,
        "graph_pool_handle": graph_pool_handle,
        "make_graphed_callables": make_graphed_callables,
        "is_current_stream_capturing": capturing,
    }.items():
        setattr(cuda, name, value)
        setattr(cuda.graphs, name, value)
