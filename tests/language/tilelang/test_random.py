"""Random numbers of T: the words of Philox bit for bit, floats by their definitions in float64."""

import numpy as np
import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.usefixtures("engine")


def philox(seed, sequence, place):
    """Word `place` of the stream, in Python's integers."""
    mask, counter = 0xFFFFFFFF, place // 4
    words = [counter & mask, counter >> 32, sequence & mask, sequence >> 32 & mask]
    keys = [seed & mask, seed >> 32 & mask]
    for _ in range(10):
        a, b = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [b >> 32 ^ words[1] ^ keys[0], b & mask, a >> 32 ^ words[3] ^ keys[1], a & mask]
        keys = [keys[0] + 0x9E3779B9 & mask, keys[1] + 0xBB67AE85 & mask]
    return words[place % 4]


# The vector of the generator's authors for counter and key of zeros.
def test_reference():
    assert [philox(0, 0, k) for k in range(4)] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize("seed, sequence, offset", [(0, 0, 0), (42, 3, 5), (2**40 + 7, 2**33 + 1, 2**20 - 3)])
def test_words(seed, sequence, offset):
    @T.prim_func
    def main(A: T.Tensor((3, 40), "uint32"), B: T.Tensor((3, 2), "uint32")):
        with T.Kernel(3, threads=1) as bx:
            T.rng_init(seed, sequence + T.cast(bx, "int64"), offset)
            for i, j in T.Parallel(5, 8):
                A[bx, i * 8 + j] = T.rng_rand()
            for k in T.serial(2):
                B[bx, k] = T.rng_rand()

    a, b = torch.zeros(3, 40, dtype=torch.uint32), torch.zeros(3, 2, dtype=torch.uint32)
    tilelang.compile(main)(a, b)
    for block in range(3):
        words = [philox(seed, sequence + block, offset + k) for k in range(42)]
        assert a[block].tolist() + b[block].tolist() == words


@pytest.mark.parametrize("bit", [32, 64])
def test_floats(bit):
    kind = f"float{bit}"

    @T.prim_func
    def main(U: T.Tensor((64,), kind), N: T.Tensor((64,), kind)):
        with T.Kernel(1, threads=1):
            T.rng_init(7)
            for i in T.Parallel(64):
                U[i] = T.rng_rand_float(bit)
            for i in T.Parallel(64):
                N[i] = T.rng_rand_float(bit, "normal")

    u, n = (torch.zeros(64, dtype=getattr(torch, kind)) for _ in range(2))
    tilelang.compile(main)(u, n)
    per = bit // 32

    def uniform(place):
        if bit == 32:
            return np.float32(np.float32(philox(7, 0, place)) * np.float32(2.0**-32) + np.float32(2.0**-33))
        word = philox(7, 0, place) ^ philox(7, 0, place + 1) << 21
        return np.float64(word) * 2.0**-53 + 2.0**-54

    assert u.tolist() == [float(uniform(k * per)) for k in range(64)]
    first = 64 * per
    pairs = [(float(uniform(first + 2 * per * k)), float(uniform(first + 2 * per * k + per))) for k in range(64)]
    right = np.array([np.sqrt(-2 * np.log(x)) * np.sin(2 * np.pi * y) for x, y in pairs])
    # The angle is rounded to its type before the sine: 2 pi times a rounding, times the radius of at most 7.
    np.testing.assert_allclose(n.double().cpu().numpy(), right, rtol=0, atol=7 * 7 * 2.0 ** (-24 if bit == 32 else -53) + 1e-15)


def test_distribution():
    @T.prim_func
    def main(N: T.Tensor((64, 1024), "float32")):
        with T.Kernel(64, threads=128) as bx:
            T.rng_init(11)
            for i in T.Parallel(1024):
                N[bx, i] = T.rng_rand_float(dist="normal")

    n = torch.zeros(64, 1024)
    tilelang.compile(main)(n)
    assert abs(n.mean().item()) < 0.02 and abs(n.var().item() - 1) < 0.03  # 5 standard errors of 65536 numbers
    assert len(set(map(tuple, n[:, :4].tolist()))) == 64  # every block has a sequence of its own
