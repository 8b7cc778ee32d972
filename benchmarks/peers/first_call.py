"""In a fresh process: milliseconds of the matmul kernel's first call and, where that found its code in the disk cache, of the
assembler alone on the kernel's PTX (none was assembled before in the process), as JSON.

usage: first_call.py empty | warm
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


def assembly():
    """The driver's PTX compiler on the kernel's PTX."""
    launch = compat.load(matmul.__code__.co_filename).matmul_kernel[(8,)]
    names = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64}
    compiled = launch(a, b, c, 512, 512, 512, *a.stride(), *b.stride(), *c.stride(), **names)
    ptx = compiled.asm["asm"].encode()
    compiler = ctypes.CDLL("libnvidia-ptxjitcompiler.so.1")
    handle, options = ctypes.c_void_p(), (ctypes.c_char_p * 2)(b"--gpu-name=sm_90a", b"-v")

    def assemble():
        status = compiler.nvPTXCompilerCreate(ctypes.byref(handle), ctypes.c_size_t(len(ptx)), ptx)
        if status := status or compiler.nvPTXCompilerCompile(handle, len(options), options):
            raise RuntimeError(f"nvPTXCompilerCompile: {status}")

    return milliseconds(assemble)


call = milliseconds(lambda: matmul(a, b, c))
json.dump([call, assembly() if sys.argv[1] == "warm" else None], sys.stdout)
