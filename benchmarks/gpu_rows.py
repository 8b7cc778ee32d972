"""Row-wise kernels on an NVIDIA GPU beside Triton on the same source, torch and a device copy: `python benchmarks/gpu_rows.py`.

Rounds are interleaved, the L2 cache is overwritten before each launch, data are normal(0,1); a ratio is the median over rounds of
the rival's time / ours, with its 10th and 90th percentile.
"""

import importlib.util
import statistics
import sys
import tempfile
from pathlib import Path

import torch

from tilery import compat

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
ROUNDS = 15
ELEMENTS = 1 << 26


def upstream(path):
    """The example under the real Triton; None where there is none."""
    if importlib.util.find_spec("triton") is None:
        return None
    copy = Path(tempfile.mkdtemp()) / path.name
    copy.write_text(path.read_text().replace("tileon", "triton"))
    spec = importlib.util.spec_from_file_location("upstream_" + path.stem, copy)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def race(contestants):
    """name -> callable; milliseconds of each round by name."""
    flushed = torch.empty(1 << 28, dtype=torch.int8, device="cuda")
    times = {name: [] for name in contestants}
    for round_ in range(ROUNDS + 2):
        for name, function in contestants.items():
            flushed.zero_()
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            function()
            end.record()
            torch.cuda.synchronize()
            if round_ >= 2:
                times[name].append(start.elapsed_time(end))
    return times


def report(work, moved, times, ours):
    """One line: our rate in TB/s, then the ratio to each rival."""
    rivals = []
    for name in times:
        if name == ours:
            continue
        ratios = sorted(theirs / mine for theirs, mine in zip(times[name], times[ours], strict=True))
        low, high = ratios[len(ratios) // 10], ratios[-1 - len(ratios) // 10]
        rivals.append(f"{name} {statistics.median(ratios):.2f} ({low:.2f}-{high:.2f})")
    rate = moved / statistics.median(times[ours]) / 1e9
    print(f"{work:28} {rate:5.2f} TB/s | " + ", ".join(rivals), flush=True)


def check(out, expected, work):
    error = (out.double() - expected).abs().max().item()
    bound = 2**-8 * expected.abs().max().item() if out.dtype == torch.bfloat16 else 4e-6 * max(1.0, expected.abs().max().item())
    if not error <= bound:
        print(f"WRONG {work}: error {error} beyond {bound}", flush=True)


def rows(name, columns, dtype, tileon, triton, warps):
    x = torch.randn(ELEMENTS // columns, columns, device="cuda").to(dtype)
    w = torch.randn(columns, device="cuda").to(dtype)
    out = torch.empty_like(x)
    block = 1 << (columns - 1).bit_length()
    arguments = (out, x, columns, columns, columns) if name == "softmax" else (out, x, w, columns, columns, columns, 1e-5)

    def launch(module, **options):
        kernel = getattr(module, name + "_kernel")[(x.shape[0],)]
        return lambda: kernel(*arguments, BLOCK=block, **options)

    contestants = {"tilery": launch(tileon)}
    if triton:
        for number in warps:
            contestants[f"triton({number})"] = launch(triton, num_warps=number)
    contestants["copy"] = lambda: out.copy_(x)
    if name == "softmax":
        contestants["torch"] = lambda: torch.softmax(x, -1, out=out)
    contestants["tilery"]()
    sample = x[:64].double()
    expected = torch.softmax(sample, -1)
    if name == "rms_norm":
        expected = sample * (sample.pow(2).mean(-1, keepdim=True) + 1e-5).rsqrt() * w.double()
    work = f"{name} {columns} {str(dtype).removeprefix('torch.')}"
    check(out[:64], expected, work)
    report(work, 2 * x.numel() * x.element_size(), race(contestants), "tilery")


def add(tileon, triton):
    x, y = (torch.randn(1 << 28, device="cuda") for _ in range(2))
    out = torch.empty_like(x)

    def launch(module, block):
        kernel = module.add_kernel[(x.numel() // block,)]
        return lambda: kernel(x, y, out, x.numel(), BLOCK=block)

    contestants = {"tilery": launch(tileon, 1024), "torch": lambda: torch.add(x, y, out=out)}
    if triton:
        contestants["triton"] = launch(triton, 1024)
    contestants["tilery"]()
    check(out, x.double() + y.double(), "vector add")
    report("vector add 2^28, block 1024", 3 * 4 * x.numel(), race(contestants), "tilery")


def main():
    torch.manual_seed(0)
    path = EXAMPLES / "tileon" / "rows.py"
    tileon, triton = compat.load(path), upstream(path)
    print(torch.cuda.get_device_name(), "| ratios: rival's time / ours, triton(warps)", flush=True)
    chosen = sys.argv[1:]
    for name in ("softmax", "rms_norm"):
        for columns in (1024, 4096, 16384):
            for dtype in (torch.float32, torch.bfloat16):
                if not chosen or name in chosen:
                    rows(name, columns, dtype, tileon, triton, (4, 8, 16))
    if not chosen or "add" in chosen:
        add(tileon, triton)


if __name__ == "__main__":
    main()
