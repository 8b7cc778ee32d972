"""Kernels for tests of the launch path, written in C, so that no part of the compiler is needed."""

import functools
import os
import struct
import subprocess
import tempfile

from tilery import _native

PRELUDE = """
#include <stdint.h>
#include <time.h>
#include "tilery/abi.h"
#define KERNEL(name) void name(const TileryLaunch *launch, int64_t begin, int64_t end, void *scratch)
#define PROGRAMS for (int64_t id = begin; id < end; ++id)
#define ARG(type, index) (*(type *)&launch->args[index])
"""
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@functools.lru_cache(maxsize=None)
def object_code(source):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k")
        with open(path + ".c", "w") as file:
            file.write(PRELUDE + source)
        compiler = "clang-22" if not os.environ.get("CC") else os.environ["CC"]
        subprocess.run(
            [compiler, "-O2", "-fPIC", "-c", "-I", os.path.join(ROOT, "include"), path + ".c", "-o", path + ".o"], check=True
        )
        with open(path + ".o", "rb") as file:
            return file.read()


def kernel(name, args, source, scratch=0):
    """args: [(name, dtype, is_pointer, is_written)]"""
    return _native.load(_native.CodeImage(object_code(source), [(name, scratch, args)]))[0]


ADD = """KERNEL(add) {
  const float *x = ARG(const float *, 0), *y = ARG(const float *, 1); float *z = ARG(float *, 2); int32_t n = ARG(int32_t, 3);
  PROGRAMS for (int i = id * 64; i < id * 64 + 64 && i < n; ++i) z[i] = x[i] + y[i];
}"""


def add_kernel():
    return kernel(
        "add",
        [
            ("x", "float32", True, False),
            ("y", "float32", True, False),
            ("z", "float32", True, True),
            ("n", "int32", False, False),
        ],
        ADD,
    )


SLEEP = """KERNEL(nap) {
  int32_t microseconds = ARG(int32_t, 1); int32_t *done = ARG(int32_t *, 0);
  PROGRAMS {
    struct timespec pause = {microseconds / 1000000, microseconds % 1000000 * 1000L};
    nanosleep(&pause, 0);
    __atomic_fetch_add(done, 1, __ATOMIC_RELAXED);
  }
}"""


def nap_kernel():
    return kernel("nap", [("done", "int32", True, True), ("microseconds", "int32", False, False)], SLEEP)


def host_program(name, parameters, registers, tensors, texts, code):
    """The bytes of a host program; format: runtime/host_bytes.cpp. parameters: [(name, dtype code, rank)]"""

    def text(value):
        return struct.pack("<Q", len(value)) + value.encode()

    out = struct.pack("<I", 1) + text(name) + struct.pack("<Q", len(parameters))
    for parameter, dtype, rank in parameters:
        out += text(parameter) + struct.pack("<Bi", dtype, rank)
    out += struct.pack("<IIQ", registers, tensors, len(texts)) + b"".join(map(text, texts))
    return out + struct.pack(f"<Q{len(code)}q", len(code), *code)
