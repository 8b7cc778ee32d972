"""A kernel with T.pdl_sync may begin beside the launch before it; T.pdl_trigger lets the next one begin."""

import numpy as np

from tilery import _native, tilelang
from tilery.tilelang import language as T


def kernel(waits, lets):
    @T.prim_func
    def main(A: T.Tensor((256,), "float32"), B: T.Tensor((256,), "float32")):
        with T.Kernel(2, threads=128) as bx:
            for i in T.Parallel(128):
                if waits:
                    T.pdl_sync()
                B[bx * 128 + i] = A[bx * 128 + i] * 2.0
            if lets:
                T.pdl_trigger()

    return tilelang.compile(main)


def test_code_of_gpus():
    for waits in (False, True):
        for lets in (False, True):
            module = _native.Module.parse(kernel(waits, lets).get_kernel_source())
            text = _native.compile(module, target="sm_90a", texts=True).asm
            assert ("griddepcontrol.wait" in text) == waits and ("griddepcontrol.launch_dependents" in text) == lets
            older = _native.compile(module, target="sm_80", texts=True)
            assert "griddepcontrol" not in older.asm
            assert older.image.ignored_hints == ["launch_pdl"] * waits + ["launch_dependents"] * lets


def test_results(engine, device):
    a, b = np.random.default_rng(0).random(256, np.float32), np.zeros(256, np.float32)
    kernel(True, True)(a, b)
    np.testing.assert_array_equal(b, a * 2)
