"""In a fresh process: milliseconds of the matmul kernel's first call, and of the driver's own assembly of its PTX, as JSON.

usage: first_call.py call | jit
"""

import ctypes
import json
import sys
import time
from pathlib import Path

import torch

from tilery import compat

matmul = compat.load(Path(__file__).resolve().parents[2] / "examples" / "tileon" / "matmul.py").matmul
a, b, c = (torch.randn(512, 512, device="cuda").bfloat16() for _ in range(3))
torch.cuda.synchronize()


def milliseconds(function):
    start = time.perf_counter()
    function()
    torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - start)


def jit():
    """cuModuleLoadData of the PTX, which the driver assembles."""
    launch = compat.load(matmul.__code__.co_filename).matmul_kernel[(8,)]
    names = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64}
    compiled = launch(a, b, c, 512, 512, 512, *a.stride(), *b.stride(), *c.stride(), **names)
    ptx = compiled.asm["asm"].encode()
    module, load = ctypes.c_void_p(), ctypes.CDLL("libcuda.so.1").cuModuleLoadData

    def assemble():
        if status := load(ctypes.byref(module), ptx):
            raise RuntimeError(f"cuModuleLoadData: {status}")

    return milliseconds(assemble)


json.dump(jit() if sys.argv[1] == "jit" else milliseconds(lambda: matmul(a, b, c)), sys.stdout)
