"""T.cast in every rounding mode: each result is the neighbour that the mode names, by exact comparison."""

import ml_dtypes
import numpy as np
import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.usefixtures("engine")
KINDS = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")


def numbers():
    rng = np.random.default_rng(3)
    spread = rng.standard_normal(2000) * 2.0 ** rng.integers(-24, 8, 2000)
    return np.concatenate([spread, [0.0, 1.0, -1.0, 0.1, -0.1, 3.0, 100.0, -200.0]]).astype(np.float32)


def finite_values(kind):
    """Every number of a type, increasing."""
    element = np.dtype(getattr(ml_dtypes, kind, kind))
    bits = 8 * element.itemsize
    codes = np.arange(1 << bits, dtype=np.uint32).astype(f"uint{bits}").view(element).astype(np.float64)
    return np.unique(codes[np.isfinite(codes)])


def cast(values, kind, mode, bits=None):
    count = len(values)

    @T.prim_func
    def main(A: T.Tensor((count,), "float32"), R: T.Tensor((count,), "uint32"), B: T.Tensor((count,), "float32")):
        with T.Kernel(1, threads=128):
            for i in T.Parallel(count):
                if mode == "rs":
                    B[i] = T.cast(T.cast(A[i], kind, round="rs", rbits=R[i]), "float32")
                else:
                    B[i] = T.cast(T.cast(A[i], kind, round=mode), "float32")

    out = torch.zeros(count)
    given = torch.zeros(count, dtype=torch.uint32) if bits is None else torch.tensor(bits.astype(np.int64)).to(torch.uint32)
    tilelang.compile(main)(torch.tensor(values), given, out)
    return out.cpu().numpy().astype(np.float64)


def neighbours(values, kind):
    known = finite_values(kind)
    wide = np.clip(values.astype(np.float64), known[0], known[-1])
    below = known[np.searchsorted(known, wide, side="right") - 1]
    above = known[np.searchsorted(known, wide, side="left")]
    return wide, below, above


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["rp", "rm"])
def test_directed(kind, mode):
    values = numbers()
    _, below, above = neighbours(values, kind)
    np.testing.assert_array_equal(cast(values, kind, mode), above if mode == "rp" else below)


@pytest.mark.parametrize("kind", KINDS)
def test_by_random_bits(kind):
    values, rng = numbers(), np.random.default_rng(5)
    bits = rng.integers(0, 1 << 32, len(values), dtype=np.uint64)
    wide, below, above = neighbours(values, kind)
    low, high = np.where(wide < 0, above, below), np.where(wide < 0, below, above)  # by magnitude
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(low == high, 0.0, np.abs(wide - low) / np.abs(high - low))
    raised = share + bits.astype(np.float64) * 2.0**-32 >= 1
    np.testing.assert_array_equal(cast(values, kind, "rs", bits), np.where(raised, high, low))


def test_no_bits_truncate_and_all_raise():
    values = np.array([1.0, 1.0 + 2.0**-12, -1.0 - 2.0**-12], np.float32)
    np.testing.assert_array_equal(cast(values, "float16", "rs", np.zeros(3, np.uint64)), [1, 1, -1])
    most = np.full(3, 2**32 - 1, np.uint64)
    np.testing.assert_array_equal(cast(values, "float16", "rs", most), [1, 1 + 2.0**-10, -1 - 2.0**-10])
