"""What the machine itself can do: FMA and copy rates, printed beside the results."""

import ctypes
import os
import platform
import shutil
import statistics
import subprocess
import threading
import time
from pathlib import Path

BUILD = Path(os.environ["TILERY_BUILD_DIR"])
# Independent chains of fused multiply-adds in registers: what no kernel can beat.
SOURCE = r"""
typedef float vector __attribute__((vector_size(WIDTH)));
float fma_chains(long steps) {
  vector sum[12];
  for (int i = 0; i < 12; ++i) sum[i] = (vector){0} + (float)i;
  vector x = (vector){0} + 0.999f, y = (vector){0} + 1e-6f;
  for (long s = 0; s < steps; ++s)
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) sum[i] = sum[i] * x + y;
  vector all = {0};
  for (int i = 0; i < 12; ++i) all += sum[i];
  return all[0];
}
"""


def flags():
    return Path("/proc/cpuinfo").read_text().split("flags", 1)[1].split("\n", 1)[0].split()


def vector_bytes():
    return 64 if "avx512f" in flags() else 32


def fma_rate(threads):
    """GFLOP/s in f32 of `threads` threads that only do fused multiply-adds."""
    width = vector_bytes()
    library = BUILD / "benchmarks" / f"fma{width}.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        isa = ["-mavx512f", "-mprefer-vector-width=512"] if width == 64 else ["-mavx2", "-mfma"]
        compiler = next((name for name in ("clang-22", "clang", "gcc") if shutil.which(name)), "cc")
        command = [
            compiler,
            "-O3",
            "-ffp-contract=fast",
            *isa,
            f"-DWIDTH={width}",
            "-shared",
            "-fPIC",
            "-x",
            "c",
            "-",
            "-o",
            library,
        ]
        subprocess.run(command, input=SOURCE, text=True, check=True)
    chains = ctypes.CDLL(str(library)).fma_chains
    chains.argtypes, chains.restype = [ctypes.c_long], ctypes.c_float
    steps = 5_000_000
    rates = []
    for _ in range(5):
        workers = [threading.Thread(target=chains, args=(steps,)) for _ in range(threads)]
        start = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        rates.append(threads * steps * 12 * (width // 4) * 2 / (time.perf_counter() - start) / 1e9)
    return max(rates)


def copy_rate():
    """GB/s read plus written by torch's copy of 256 MB, far larger than the caches."""
    import torch

    source, target = torch.ones(2**26), torch.empty(2**26)
    times = []
    for _ in range(7):
        start = time.perf_counter()
        target.copy_(source)
        times.append(time.perf_counter() - start)
    return 8 * 2**26 / statistics.median(times) / 1e9


def describe(threads):
    lines = Path("/proc/cpuinfo").read_text().split("\n")
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    wide = [name for name in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if name in flags()]
    return (
        f"{names[0] if names else platform.processor()}, {len(names)} CPUs seen, {threads} threads, {' '.join(wide)}; "
        f"FMA {fma_rate(threads):.0f} GFLOP/s, copy {copy_rate():.1f} GB/s"
    )
