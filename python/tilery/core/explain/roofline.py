"""What this machine can do, measured once by small kernels of our own and kept in the disk cache: bytes a second between memory
and processor, beyond its caches, operations a second of products and of single elements."""

from __future__ import annotations

import functools
import glob
import json
import os
import platform
from dataclasses import asdict, dataclass, replace
from typing import Any

from tilery import _native

from .. import cache
from ..compile import CompiledKernel
from ..kept import Kept
from ..timing import time_call, unrecorded
from .busy import Others

BUSY = 0.2  # a share of the processors
# Of a rate: the best of short launches, which others leave alone now and then. It is measured so long, and till so many launches
# one after the other were no better, but no longer than ten times as long.
_MILLISECONDS, _ROUNDS = 100, 8
_COPY = """
tile.kernel @roofline_copy(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64, tile.name = "x"},
                           %y: !tile.ptr<f32> {tile.divisibility = 16 : i64, tile.name = "y"}) {
  %one = arith.constant 1 : i64
  %block = arith.constant 4096 : i64
  %p = tile.program_id 0
  %w = arith.extsi %p : i32 to i64
  %at = arith.muli %w, %block overflow<nsw> : i64
  %from = tile.access %x, %at steps(%one) bounds [0]() : <f32>, (i64), () -> <4096xf32>
  %v = tile.load %from : !tile.access<4096xf32> -> tensor<4096xf32>
  %to = tile.access %y, %at steps(%one) bounds [0]() : <f32>, (i64), () -> <4096xf32>
  tile.store %to, %v : !tile.access<4096xf32>, tensor<4096xf32>
  tile.return
}
"""
_ELEMENTS, _TURNS = 4096, 64
_SUMS = f"""
tile.kernel @roofline_sums(%x: !tile.ptr<f32> {{tile.divisibility = 16 : i64, tile.name = "x"}},
                           %y: !tile.ptr<f32> {{tile.divisibility = 16 : i64, tile.name = "y"}}) {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %turns = arith.constant {_TURNS} : i64
  %a = arith.constant dense<0.5> : tensor<{_ELEMENTS}xf32>
  %from = tile.access %x, %zero steps(%one) bounds [0]() : <f32>, (i64), () -> <{_ELEMENTS}xf32>
  %v = tile.load %from : !tile.access<{_ELEMENTS}xf32> -> tensor<{_ELEMENTS}xf32>
  %r = scf.for %i = %zero to %turns step %one iter_args(%c = %v) -> (tensor<{_ELEMENTS}xf32>) : i64 {{
    %m = math.fma %c, %a, %a : tensor<{_ELEMENTS}xf32>
    scf.yield %m : tensor<{_ELEMENTS}xf32>
  }}
  %p = tile.program_id 0
  %w = arith.extsi %p : i32 to i64
  %block = arith.constant {_ELEMENTS} : i64
  %at = arith.muli %w, %block overflow<nsw> : i64
  %to = tile.access %y, %at steps(%one) bounds [0]() : <f32>, (i64), () -> <{_ELEMENTS}xf32>
  tile.store %to, %r : !tile.access<{_ELEMENTS}xf32>, tensor<{_ELEMENTS}xf32>
  tile.return
}}
"""
_TILE, _DEPTH, _STEPS = 128, 64, 16
_PRODUCT = f"""
tile.kernel @roofline_product(%x: !tile.ptr<KIND> {{tile.divisibility = 16 : i64, tile.name = "x"}},
                              %y: !tile.ptr<KIND> {{tile.divisibility = 16 : i64, tile.name = "y"}},
                              %z: !tile.ptr<f32> {{tile.divisibility = 16 : i64, tile.name = "z"}}) {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %steps = arith.constant {_STEPS} : i64
  %depth = arith.constant {_DEPTH} : i64
  %k = arith.constant {_DEPTH * _STEPS} : i64
  %tile = arith.constant {_TILE} : i64
  %size = arith.constant {_TILE * 8} : i64
  %clear = arith.constant dense<0.0> : tensor<{_TILE}x{_TILE}xf32>
  %p = tile.program_id 0
  %q = tile.program_id 1
  %pw = arith.extsi %p : i32 to i64
  %qw = arith.extsi %q : i32 to i64
  %row = arith.muli %pw, %tile overflow<nsw> : i64
  %column = arith.muli %qw, %tile overflow<nsw> : i64
  %r = tile.contract %steps, %clear {{
  ^bb0(%s: i64):
    %at = arith.muli %s, %depth overflow<nsw> : i64
    %rk = arith.muli %row, %k overflow<nsw> : i64
    %fa = arith.addi %rk, %at overflow<nsw> : i64
    %a = tile.access %x, %fa steps(%k, %one) bounds [0, 0]() : <KIND>, (i64, i64), () -> <{_TILE}x{_DEPTH}xKIND>
    %av = tile.load %a : !tile.access<{_TILE}x{_DEPTH}xKIND> -> tensor<{_TILE}x{_DEPTH}xKIND>
    %kn = arith.muli %at, %size overflow<nsw> : i64
    %fb = arith.addi %kn, %column overflow<nsw> : i64
    %b = tile.access %y, %fb steps(%size, %one) bounds [0, 0]() : <KIND>, (i64, i64), () -> <{_DEPTH}x{_TILE}xKIND>
    %bv = tile.load %b : !tile.access<{_DEPTH}x{_TILE}xKIND> -> tensor<{_DEPTH}x{_TILE}xKIND>
    tile.yield %av, %bv : tensor<{_TILE}x{_DEPTH}xKIND>, tensor<{_DEPTH}x{_TILE}xKIND>
  }} : tensor<{_TILE}x{_TILE}xf32>
  %rn = arith.muli %row, %size overflow<nsw> : i64
  %fc = arith.addi %rn, %column overflow<nsw> : i64
  %c = tile.access %z, %fc steps(%size, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <{_TILE}x{_TILE}xf32>
  tile.store %c, %r : !tile.access<{_TILE}x{_TILE}xf32>, tensor<{_TILE}x{_TILE}xf32>
  tile.return
}}
"""


@dataclass(frozen=True)
class Roofline:
    """Each a second: bytes read and written, operations of products (f32 on a CPU, f16 on a GPU), other operations of f32.
    others: the share of the processors that other processes had meanwhile."""

    bytes: float
    products: float
    operations: float
    others: float = 0.0


class _Kernel(CompiledKernel):
    def __init__(self, name: str, text: str, arguments: int, signature: Any) -> None:
        super().__init__(name, None, None, signature)
        self.text, self.arguments = text, arguments

    def trace(self) -> Kept:
        return Kept(_native.Module.parse(self.text))

    def load(self, image: bytes) -> Any:
        return _native.KernelPlan(_native.load(image)[0], list(range(self.arguments)), None, self.other_image)


def _rate(name: str, text: str, grid: tuple[int, ...], tensors: list[Any], amount: float) -> float:
    """amount by seconds, of the quickest launch."""
    parameters = [(f"x{i}", "runtime") for i in range(len(tensors))]
    launcher = _native.Launcher(name, parameters, lambda kind, values: _Kernel(name, text, len(tensors), kind).plan())
    launch = launcher[grid]
    best, spent, no_better = float("inf"), 0.0, 0
    with unrecorded():
        launch(*tensors)
        while spent < _MILLISECONDS or (no_better < _ROUNDS and spent < 10 * _MILLISECONDS):
            took = time_call(lambda: launch(*tensors))
            no_better = 0 if took < 0.97 * best else no_better + 1
            best, spent = min(best, took), spent + took
    return amount / (best * 1e-3)


def _tensor(elements: int, device: int, half: bool = False) -> Any:
    if device < 0:
        import numpy

        return numpy.full(elements, 0, numpy.float32)  # written: pages of zeros that nobody wrote are one page, in a cache
    import torch  # tensors on a GPU are its

    return torch.zeros(elements, dtype=torch.float16 if half else torch.float32, device=f"cuda:{device}")


def copied_blocks(device: int) -> int:
    """Blocks of 16 KiB of a tensor that caches cannot hold: as large as all last-level caches, within what memory affords."""
    if device >= 0:
        return 32768
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(64 << 20, min(last_caches(), memory // 16, 512 << 20)) >> 14


def last_caches(folder: str = "/sys/devices/system/cpu") -> int:
    """The bytes of all third-level caches; 0: the system does not say."""
    sizes = {}
    for cache_folder in glob.glob(f"{folder}/cpu[0-9]*/cache/index3"):
        try:
            with open(f"{cache_folder}/shared_cpu_list", encoding="ascii") as sharing:
                with open(f"{cache_folder}/size", encoding="ascii") as size:
                    sizes[sharing.read()] = int(size.read().strip().removesuffix("K")) << 10
        except (OSError, ValueError):
            continue
    return sum(sizes.values())


def measured(device: int) -> Roofline:
    """Measures this machine's processor (-1) or a GPU: a second or two."""
    with Others() as others:
        found = _measured(device)
    return replace(found, others=others.share if device < 0 else 0.0)


def _measured(device: int) -> Roofline:
    blocks = copied_blocks(device)
    programs = 64 if device < 0 else 4096
    kind, size = ("f16", 8 * _TILE) if device >= 0 else ("f32", 8 * _TILE)
    x, y = (_tensor(4096 * blocks, device) for _ in range(2))
    copied = _rate("roofline_copy", _COPY, (blocks,), [x, y], 2 * 16384.0 * blocks)
    sums = _rate("roofline_sums", _SUMS, (programs,), [x, y], 2.0 * _ELEMENTS * _TURNS * programs)
    k = _DEPTH * _STEPS
    factors = [_tensor(size * k, device, half=True) for _ in range(2)]
    operations = 2.0 * size * size * k
    text, result = _PRODUCT.replace("KIND", kind), _tensor(size * size, device)
    products = _rate("roofline_product", text, (8, 8), [*factors, result], operations)
    return Roofline(copied, products, max(sums, 1.0))


_known: dict[int, Roofline] = {}  # by device


def of(device: int) -> Roofline:
    """That of this machine's processor (-1) or a GPU, measured once and kept in the disk cache. What was measured beside other
    processes is measured once more by the next process."""
    if device not in _known:
        kept = _native.cache_get("roofline", _key(device)) if cache.folder() else None
        _known[device] = Roofline(**json.loads(kept)) if kept else Roofline(0.0, 0.0, 0.0, 1.0)
        if _known[device].others >= BUSY:
            _improve(device)
    return _known[device]


@functools.lru_cache(maxsize=None)
def again(device: int) -> None:
    """Measures once more, where a launch has shown that what is known is too low: once a process."""
    _improve(device)


def _improve(device: int) -> None:
    """The best of what is known and what is measured now: other processes only take."""
    before, now = _known[device], measured(device)
    best = Roofline(*(max(getattr(before, rate), getattr(now, rate)) for rate in ("bytes", "products", "operations")))
    _known[device] = replace(best, others=min(before.others, now.others))
    if cache.folder():
        _native.cache_put("roofline", _key(device), json.dumps(asdict(_known[device])).encode())


def _key(device: int) -> str:
    """Machines that share a folder have limits of their own."""
    machine = [platform.node(), last_caches(), _native.num_threads()] if device < 0 else []
    return "\n".join(map(str, (4, _native.build_id(), _native.target_id(cache.target_of(device)), *machine)))
