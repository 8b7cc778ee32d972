"""In fresh processes: milliseconds of a kernel's first call with an empty disk cache and with a warm one, of the assembler alone
on its PTX, and of Triton's first call on the same source, as JSON: lists under "empty", "warm", "assembler" and "Triton".

usage: first_call.py matmul | attention COUNT   (the driver's own cache should be off: CUDA_CACHE_DISABLE=1)

Every measurement is made by a child of this process, which has imported everything, but has not touched the GPU.
"""

import ctypes
import json
import multiprocessing
import os
import sys
import tempfile
import time

import torch
from loaded_programs import EXAMPLES, as_triton, ours


def milliseconds(function):
    start = time.perf_counter()
    function()
    torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - start)


def matmul(load):
    a, b, c = (torch.randn(512, 512, device="cuda").bfloat16() for _ in range(3))
    names = dict(BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, num_warps=8)
    strides = (*a.stride(), *b.stride(), *c.stride())
    launch = load(EXAMPLES / "tileon" / "matmul.py").matmul_kernel[(8,)]
    return lambda: launch(a, b, c, 512, 512, 512, *strides, **names)


def attention(load):
    q, k, v = (torch.randn(1, 2, 512, 128, device="cuda").bfloat16() for _ in range(3))
    out, logs = torch.empty_like(q), torch.empty(2, 512, device="cuda")
    launch = load(EXAMPLES / "tileon" / "attention.py").attention_kernel[(4, 2)]
    names = dict(CAUSAL=True, BLOCK_M=128, BLOCK_N=128, D=128, num_warps=8)
    return lambda: launch(q, k, v, out, logs, 128**-0.5, 2, *q.stride()[:3], 512, **names)


PROGRAMS = {"matmul": matmul, "attention": attention}


def assembly(ptx):
    """The driver's PTX compiler on the kernel's PTX; none was assembled before in the process."""
    compiler = ctypes.CDLL("libnvidia-ptxjitcompiler.so.1")
    handle, options = ctypes.c_void_p(), (ctypes.c_char_p * 2)(b"--gpu-name=sm_90a", b"-v")
    status = compiler.nvPTXCompilerCreate(ctypes.byref(handle), ctypes.c_size_t(len(ptx)), ptx)
    if status := status or compiler.nvPTXCompilerCompile(handle, len(options), options):
        raise RuntimeError(f"nvPTXCompilerCompile: {status}")


def first(what, kind, cache, said):
    """Says how long it took, and for a warm cache how long the assembler takes."""
    os.environ["TILERY_CACHE_DIR"] = os.environ["TRITON_CACHE_DIR"] = cache
    call = PROGRAMS[what](as_triton if kind == "Triton" else ours)
    torch.cuda.synchronize()
    found = {kind: milliseconds(call)}
    if kind == "warm":
        ptx = call().asm["asm"].encode()
        found["assembler"] = milliseconds(lambda: assembly(ptx))
    said.put(found)


def child(*arguments):
    context = multiprocessing.get_context("fork")
    said = context.Queue()
    process = context.Process(target=first, args=(*arguments, said))
    process.start()
    process.join()
    if process.exitcode:
        return {}
    return said.get()


def main():
    what, count = sys.argv[1], int(sys.argv[2])
    times = {}
    for _ in range(count):
        with tempfile.TemporaryDirectory() as cache:
            for kind in ("empty", "warm", "Triton"):
                for name, took in child(what, kind, cache).items():
                    times.setdefault(name, []).append(took)
    json.dump(times, sys.stdout)


main()
