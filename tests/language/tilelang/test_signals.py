"""T.atomic_store and T.atomic_load as signals: what is read before one, and behind the other."""

import threading
import time

import torch

from tilery import tilelang
from tilery.tilelang import language as T

DEVICES = ["cpu"]  # on a GPU's stream what the host writes comes after the kernel that waits for it


@tilelang.jit
def both_of(n):
    @T.prim_func
    def main(X: T.Tensor((n,), "float32"), Out: T.Tensor((n,), "float32"), Flags: T.Tensor((2,), "int32")):
        with T.Kernel(1, threads=128):
            before, behind = T.alloc_fragment((n,), "float32"), T.alloc_fragment((n,), "float32")
            T.copy(X, before)
            T.atomic_store(Flags[0], 1, memory_order="release")
            while T.atomic_load(Flags[1], memory_order="acquire") != 1:
                T.evaluate(0)
            T.copy(X, behind)
            for i in T.Parallel(n):
                Out[i] = before[i] * 1000 + behind[i]

    return main


def test_signals():
    value, flags, out = torch.randint(0, 100, (512,)).float(), torch.ones(2, dtype=torch.int32), torch.empty(512)
    x, kernel = value.clone(), both_of(512)
    kernel(x, out, flags)
    torch.testing.assert_close(out, value * 1001)
    flags.zero_()
    thread = threading.Thread(target=lambda: kernel(x, out, flags))
    thread.start()
    while not flags[0]:
        time.sleep(0.01)
    x.fill_(7)
    flags[1] = 1
    thread.join(60)
    assert not thread.is_alive() and torch.equal(out, value * 1000 + 7)
