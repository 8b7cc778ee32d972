"""What `torch.cuda` answers to programs under the device rule: one device, the CPU, which has run everything already."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from ..core import hopper
from . import torch_graphs
from .told import say
from .torch_places import caller_is_torch
from .torch_streams import Event, Stream

Function = Callable[..., Any]


def apply(torch: Any) -> None:
    """Replaces the functions that programs ask; torch's own modules keep getting the true answers."""
    cuda = torch.cuda
    answers = _functions(torch)
    programs = (cuda, answers), (cuda.memory, answers), (cuda.random, answers), (torch.accelerator, _accelerator(torch))
    for module, functions in programs:
        for name, function in functions.items():
            if hasattr(module, name):
                setattr(module, name, _for_programs(getattr(module, name), function))
    for module in (cuda, cuda.streams):
        module.Event, module.Stream = Event, Stream
    cuda.ExternalStream = cuda.streams.ExternalStream = Stream
    for module in (cuda, cuda.memory):
        module.MemPool, module.use_mem_pool = _Pool, lambda pool, device=None: contextlib.nullcontext()
    cuda.device, cuda.device_of = _Device, _Device
    for name in ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool"):
        setattr(cuda, f"{name}Tensor", getattr(torch, f"{name}Tensor"))
    for name in ("range_push", "range_pop", "range_start", "range_end", "mark"):
        setattr(cuda.nvtx, name, _nothing)
    cuda.nvtx.range = contextlib.contextmanager(lambda *args, **kwargs: iter((None,)))  # a decorator, too
    for name in ("init", "start", "stop"):
        setattr(cuda.profiler, name, _nothing)
    cuda.profiler.profile = contextlib.nullcontext
    cuda.cudart = lambda: types.SimpleNamespace(cudaProfilerStart=lambda: 0, cudaProfilerStop=lambda: 0)
    cuda.default_generators = (torch.default_generator,)
    torch._C._cuda_getCurrentRawStream = lambda device: 0
    torch.cpu.device = _Device
    torch.random.fork_rng = _forked(torch.random.fork_rng)
    torch_graphs.apply()


class _Device(contextlib.nullcontext[None]):
    def __init__(self, device: Any = None) -> None:
        super().__init__()
        self.idx = 0


class _Pool:
    """A pool of memory: the CPU's."""

    def __init__(self, allocator: Any = None, *args: Any, **kwargs: Any) -> None:
        self.allocator, self.id = allocator, torch_graphs.graph_pool_handle()

    def use_count(self) -> int:
        return 1

    def snapshot(self, *args: Any, **kwargs: Any) -> list[Any]:
        return []


def _nothing(*args: Any, **kwargs: Any) -> None:
    return None


def _for_programs(true: Function, function: Function) -> Function:
    @functools.wraps(true)
    def asked(*args: Any, **kwargs: Any) -> Any:
        if caller_is_torch(sys._getframe(1)):
            return true(*args, **kwargs)
        say()
        return function(*args, **kwargs)

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
        regs_per_multiprocessor=hopper.REGISTERS,
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=hopper.SHARED_BYTES,
        shared_memory_per_multiprocessor=hopper.SHARED_BYTES + 1024,
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
        "is_tf32_supported": True,
        "get_sync_debug_mode": 0,
        "get_allocator_backend": "native",
        "get_gencode_flags": "-gencode compute=compute_90,code=sm_90",
        "get_per_process_memory_fraction": 1.0,
        "can_device_access_peer": False,
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
    for name in ("memory_stats", "memory_stats_as_nested_dict", "host_memory_stats", "host_memory_stats_as_nested_dict"):
        functions[name] = lambda device=None: {}
    for name in (
        "init",
        "_lazy_init",
        "_record_memory_history",
        "_dump_snapshot",
        "set_sync_debug_mode",
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
        memory_snapshot=lambda *args, **kwargs: [],
        _snapshot=lambda *args, **kwargs: {"segments": [], "device_traces": []},
        get_rng_state_all=lambda: [generator.get_state()],
        set_rng_state_all=lambda states: _nothing(*map(generator.set_state, states)),
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
