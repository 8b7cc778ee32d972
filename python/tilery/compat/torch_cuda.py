"""What `torch.cuda` answers to programs under the device rule: one device, the CPU, which has run everything already."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
import types
from collections.abc import Callable
from typing import Any

from . import torch_graphs
from .torch_places import caller_is_torch

Function = Callable[..., Any]


def apply(torch: Any) -> None:
    """Replaces the functions that programs ask; torch's own modules keep getting the true answers."""
    cuda = torch.cuda
    for module, functions in ((cuda, _functions(torch)), (getattr(torch, "accelerator", None), _accelerator(torch))):
        for name, function in functions.items():
            if hasattr(module, name):
                setattr(module, name, _for_programs(getattr(module, name), function))
    cuda.Event, cuda.Stream, cuda.ExternalStream = Event, Stream, Stream
    cuda.device, cuda.device_of = _Device, _Device
    for name in ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool"):
        setattr(cuda, f"{name}Tensor", getattr(torch, f"{name}Tensor"))
    for name in ("range_push", "range_pop", "mark"):
        setattr(cuda.nvtx, name, _nothing)
    cuda.nvtx.range = lambda *args, **kwargs: contextlib.nullcontext()
    for name in ("init", "start", "stop"):
        setattr(cuda.profiler, name, _nothing)
    cuda.profiler.profile = contextlib.nullcontext
    cuda.cudart = lambda: types.SimpleNamespace(cudaProfilerStart=lambda: 0, cudaProfilerStop=lambda: 0)
    cuda.default_generators = (torch.default_generator,)
    torch._C._cuda_getCurrentRawStream = lambda device: 0
    torch.cpu.device = _Device
    torch.random.fork_rng = _forked(torch.random.fork_rng)
    torch_graphs.apply()


class Event:
    """A point in time: the work before it is done when it is recorded."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> None:
        self._time: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        self._time = time.perf_counter()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to `end_event`."""
        if self._time is None or end_event._time is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return (end_event._time - self._time) * 1e3

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        torch_graphs.forbid("Event.synchronize")

    def wait(self, stream: Stream | None = None) -> None:
        pass


class Stream:
    """The one queue of a device that runs each piece of work when it is given."""

    cuda_stream = 0
    device_index = 0

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        self.priority = priority

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return 0

    @property
    def device(self) -> Any:
        import torch

        return torch.device("cpu")

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        torch_graphs.forbid("Stream.synchronize")

    def wait_stream(self, stream: Stream) -> None:
        pass

    def wait_event(self, event: Event) -> None:
        pass

    def record_event(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event


class _Device(contextlib.nullcontext[None]):
    def __init__(self, device: Any = None) -> None:
        super().__init__()
        self.idx = 0


def _nothing(*args: Any, **kwargs: Any) -> None:
    return None


def _for_programs(true: Function, function: Function) -> Function:
    @functools.wraps(true)
    def asked(*args: Any, **kwargs: Any) -> Any:
        return (true if caller_is_torch(sys._getframe(1)) else function)(*args, **kwargs)

    return asked


def _forked(true: Function) -> Function:
    """fork_rng for programs: the CPU's generator, which it always keeps, is all there is."""

    @functools.wraps(true)
    def fork_rng(devices: Any = None, enabled: bool = True, *args: Any, **kwargs: Any) -> Any:
        if caller_is_torch(sys._getframe(1)):
            return true(devices, enabled, *args, **kwargs)
        return true((), enabled)

    return fork_rng


def _memory(kind: str) -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf(f"SC_{kind}PHYS_PAGES")


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in open("/proc/cpuinfo", encoding="utf-8"):
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return "CPU"


def _properties(device: Any = None) -> types.SimpleNamespace:
    cores = len(os.sched_getaffinity(0))
    return types.SimpleNamespace(
        name=_processor(),
        major=9,
        minor=0,
        total_memory=_memory(""),
        multi_processor_count=cores,
        warp_size=32,
        max_threads_per_multi_processor=2048,
        max_threads_per_block=1024,
        regs_per_multiprocessor=65536,
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=232448,
        shared_memory_per_multiprocessor=233472,
        L2_cache_size=50 << 20,
        is_integrated=1,
        is_multi_gpu_board=0,
        gcnArchName="",
    )


def _functions(torch: Any) -> dict[str, Function]:
    generator = torch.default_generator
    answers = {
        "is_available": True,
        "is_initialized": True,
        "is_bf16_supported": True,
        "device_count": 1,
        "current_device": 0,
        "get_device_capability": (9, 0),
        "get_arch_list": ["sm_90"],
        "memory_summary": "",
        "utilization": 0,
    }
    functions: dict[str, Function] = {name: (lambda *args, _answer=answer, **kwargs: _answer) for name, answer in answers.items()}
    for name in (
        "memory_allocated",
        "max_memory_allocated",
        "memory_reserved",
        "max_memory_reserved",
        "memory_cached",
        "max_memory_cached",
    ):
        functions[name] = lambda device=None: 0
    for name in ("memory_stats", "memory_snapshot", "memory_stats_as_nested_dict"):
        functions[name] = lambda device=None: {}
    for name in (
        "init",
        "set_device",
        "empty_cache",
        "ipc_collect",
        "set_stream",
        "reset_peak_memory_stats",
        "reset_max_memory_allocated",
        "reset_max_memory_cached",
        "reset_accumulated_memory_stats",
        "set_per_process_memory_fraction",
        "_sleep",
    ):
        functions[name] = _nothing
    functions.update(
        synchronize=lambda device=None: torch_graphs.forbid("torch.cuda.synchronize"),
        get_device_name=lambda device=None: _processor(),
        get_device_properties=_properties,
        mem_get_info=lambda device=None: (_memory("AV"), _memory("")),
        current_stream=lambda device=None: Stream(),
        default_stream=lambda device=None: Stream(),
        stream=lambda stream: contextlib.nullcontext(stream),
        manual_seed=lambda seed: _nothing(generator.manual_seed(int(seed))),
        manual_seed_all=lambda seed: _nothing(generator.manual_seed(int(seed))),
        seed=lambda: _nothing(generator.seed()),
        seed_all=lambda: _nothing(generator.seed()),
        initial_seed=lambda: generator.initial_seed(),
        get_rng_state=lambda device=None: generator.get_state(),
        set_rng_state=lambda state, device=None: _nothing(generator.set_state(state)),
    )
    return functions


def _accelerator(torch: Any) -> dict[str, Function]:
    """Of torch.accelerator: what `torch.cuda` answers, by other names."""
    cuda = _functions(torch)
    names = {"current_device_index": "current_device", "current_device_idx": "current_device"}
    names.update(set_device_index="set_device", set_device_idx="set_device", get_memory_info="mem_get_info")
    same = ("is_available", "device_count", "synchronize", "current_stream", "set_stream", "empty_cache", "memory_allocated")
    names.update({name: name for name in (*same, "max_memory_allocated", "memory_reserved", "max_memory_reserved")})
    names.update(memory_stats="memory_stats", reset_peak_memory_stats="reset_peak_memory_stats")
    return {
        "current_accelerator": lambda check_available=False: torch.device("cuda"),
        "device_index": _Device,
        **{name: cuda[same] for name, same in names.items()},
    }
