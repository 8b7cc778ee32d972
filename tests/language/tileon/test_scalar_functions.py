"""map_elementwise, topk, bitonic_merge, dot_scaled, item, members of types: against Python, torch and ml_dtypes."""

import math

import ml_dtypes
import numpy as np
import pytest
import torch

from tilery import _native, tileon
from tilery.errors import Error
from tilery.tileon import language as tl


@tileon.jit
def compared(x, y):
    if x < y:
        return -1
    elif x == y:
        return 0
    else:
        return 1


@tileon.jit
def divided(a0, a1, b0, b1):
    return a0 // b0, a1 // b1, a0 % b0, a1 % b1


@tileon.jit
def clipped(x, limit, N: tl.constexpr):
    total = x * 0
    for i in range(N):
        total += x if x < i else limit
    return total


@tileon.jit
def maps(x_ptr, y_ptr, order, quotient, rest, sums, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(order + i, tl.map_elementwise(compared, x, y))
    q, r = tl.map_elementwise(divided, x, y, pack=2)
    tl.store(quotient + i, q)
    tl.store(rest + i, r)
    tl.store(sums + i, tl.map_elementwise(clipped, x.to(tl.float32), 2.5, 3))


def test_map_elementwise(engine):
    x, y = torch.randint(-9, 9, (64,), dtype=torch.int32), torch.randint(1, 9, (64,), dtype=torch.int32)
    outputs = [torch.zeros(64, dtype=torch.int32) for _ in range(3)]
    sums = torch.zeros(64)
    maps[(1,)](x, y, *outputs, sums, 64)
    assert outputs[0].tolist() == [(a > b) - (a < b) for a, b in zip(x.tolist(), y.tolist())]
    assert torch.equal(outputs[1], torch.div(x, y, rounding_mode="trunc")) and torch.equal(outputs[2], torch.fmod(x, y))
    assert sums.tolist() == [sum(a if a < i else 2.5 for i in range(3)) for a in x.tolist()]


@tileon.jit
def greatest_divisor(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@tileon.jit
def least_factor(n):
    found = n
    i = 2
    while i * i <= n:
        if n % i == 0:
            found = i
            break
        i += 1
    return found


@tileon.jit
def steps_to_one(n):
    count = -1
    if n > 0:  # elements that are not here would never end
        count = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
    return count


@tileon.jit
def nested_sums(n):
    total = 0
    for i in range(n, 0, -2):
        for j in range(i, 2 * i, 3):
            if j % 4 == 0:
                continue
            total += j
    return total


@tileon.jit
def least_root(n, limit: tl.constexpr):
    for i in range(limit):
        if i * i >= n:
            return i
    return n * 0 - 1


@tileon.jit
def loops(x_ptr, y_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i, i < n, other=0), tl.load(y_ptr + i, i < n, other=0)
    tl.store(out_ptr + i, tl.map_elementwise(greatest_divisor, x, y))
    tl.store(out_ptr + N + i, tl.map_elementwise(least_factor, x))
    tl.store(out_ptr + 2 * N + i, tl.map_elementwise(steps_to_one, x - 20))
    tl.store(out_ptr + 3 * N + i, tl.map_elementwise(nested_sums, x))
    tl.store(out_ptr + 4 * N + i, tl.map_elementwise(least_root, x, 9))


@pytest.mark.parametrize("n, padded", [(50, 64), (1, 1)])
def test_loops_in_a_mapped_function_run_as_long_as_each_element_says(engine, n, padded):
    x, y = (torch.randint(0, 120, (n,), dtype=torch.int32) for _ in range(2))
    out = torch.zeros(5, padded, dtype=torch.int32)
    loops[(1,)](x, y, out, n, padded)

    def steps(k):
        return 0 if k == 1 else -1 if k < 1 else 1 + steps(k // 2 if k % 2 == 0 else 3 * k + 1)

    exact = [
        [math.gcd(a, b) for a, b in zip(x.tolist(), y.tolist())],
        [next((i for i in range(2, math.isqrt(a) + 1) if a % i == 0), a) for a in x.tolist()],
        [steps(a - 20) for a in x.tolist()],
        [sum(j for i in range(a, 0, -2) for j in range(i, 2 * i, 3) if j % 4) for a in x.tolist()],
        [next((i for i in range(9) if i * i >= a), -1) for a in x.tolist()],
    ]
    assert out[:, :n].tolist() == exact


@tileon.jit
def loads_in_a_loop(p, x):
    while x > 0:
        x -= tl.load(p)
    return x


@tileon.jit
def loops_over_a_load(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, tl.map_elementwise(loads_in_a_loop, x_ptr + i, tl.load(x_ptr + i)))


@tileon.jit
def loads_in_a_branch(p, x):
    return tl.load(p) if x > 0 else x


@tileon.jit
def maps_a_load(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, tl.map_elementwise(loads_in_a_branch, x_ptr + i, tl.load(x_ptr + i)))


def test_memory_in_a_branch_on_elements_is_refused():
    for kernel in (maps_a_load, loops_over_a_load):
        with pytest.raises(Error, match="load inside a branch or loop of a function of map_elementwise"):
            kernel[(1,)](torch.zeros(16), 16)


@tileon.jit
def selects(x_ptr, large, small, merged, one, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, DOWN: tl.constexpr):
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)[None, :]
    x = tl.load(x_ptr + m * N + n)
    tl.store(large + m * K + k, tl.topk(x, K))
    tl.store(small + m * K + k, tl.topk(x, K, descending=False))
    ordered = tl.sort(x)
    tl.store(merged + m * N + n, tl.bitonic_merge(tl.where(n < N // 2, ordered, tl.flip(ordered)), descending=DOWN))
    tl.store(one, tl.max(tl.ravel(x), 0, keep_dims=True).item() * 2)


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int32])
def test_topk_and_bitonic_merge(engine, dtype, down):
    x = (torch.randperm(128).reshape(4, 32) - 50).to(dtype)
    large, small, merged, one = torch.zeros(4, 8), torch.zeros(4, 8), torch.zeros(4, 32), torch.zeros(1)
    selects[(1,)](x, large, small, merged, one, 4, 32, 8, down)
    assert torch.equal(large, x.float().topk(8).values) and torch.equal(small, x.float().topk(8, largest=False).values)
    ordered = x.float().sort(1).values
    rising_and_falling = torch.cat([ordered[:, :16], ordered.flip(1)[:, 16:]], 1)
    assert torch.equal(merged, rising_and_falling.sort(1, descending=down).values)
    assert float(one) == 154


@tileon.jit
def scaled_product(
    a_ptr, sa_ptr, b_ptr, sb_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, A: tl.constexpr, B: tl.constexpr,
    PA: tl.constexpr, PB: tl.constexpr, KA: tl.constexpr, KB: tl.constexpr, F: tl.constexpr,
):  # fmt: skip
    m, n, s = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // F)
    RA: tl.constexpr = M if KA else M // PA
    CA: tl.constexpr = K // PA if KA else K
    RB: tl.constexpr = K // PB if KB else K
    CB: tl.constexpr = N if KB else N // PB
    a = tl.load(a_ptr + tl.arange(0, RA)[:, None] * CA + tl.arange(0, CA)[None, :])
    b = tl.load(b_ptr + tl.arange(0, RB)[:, None] * CB + tl.arange(0, CB)[None, :])
    sa = tl.load(sa_ptr + m[:, None] * (K // F) + s[None, :])
    sb = None if sb_ptr is None else tl.load(sb_ptr + n[:, None] * (K // F) + s[None, :])
    acc = tl.full((M, N), 1.0, tl.float32)
    acc = tl.dot_scaled(a, sa, A, b, sb, B, acc=acc, lhs_k_pack=KA, rhs_k_pack=KB)
    tl.store(o_ptr + m[:, None] * N + n[None, :], acc)


NUMBERS = {"e2m1": ml_dtypes.float4_e2m1fn, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
NUMBERS |= {"bf16": ml_dtypes.bfloat16, "fp16": np.float16}


def operand(form, shape, axis, random):
    """A tile in memory, and its values in f64; numbers of four bits are packed along an axis."""
    values = (random.normal(size=shape) * 2).astype(np.float32).astype(NUMBERS[form])
    exact = values.astype(np.float64)
    if form == "e2m1":
        codes = np.moveaxis(values.view(np.uint8), axis, -1)
        packed = np.moveaxis(codes[..., ::2] | codes[..., 1::2] << 4, -1, axis)
        return torch.from_numpy(np.ascontiguousarray(packed)), exact
    raw = torch.from_numpy(values.view(np.uint8 if form.startswith("e") else np.uint16).copy())
    kinds = {"bf16": torch.bfloat16, "fp16": torch.float16}
    return (raw.view(kinds[form]) if form in kinds else raw), exact


@pytest.mark.parametrize(
    "a, b, along_k, factor",
    [
        ("e2m1", "e2m1", (True, True), 32),
        ("e2m1", "e4m3", (False, True), 32),
        ("e5m2", "e2m1", (True, False), 16),
        ("e4m3", "bf16", (True, True), 32),
        ("e2m1", "fp16", (True, True), 32),
    ],
)
def test_dot_scaled(engine, a, b, along_k, factor):
    M, N, K, random = 16, 32, 64, np.random.default_rng(5)
    x, exact_x = operand(a, (M, K), 1 if along_k[0] else 0, random)
    y, exact_y = operand(b, (K, N), 0 if along_k[1] else 1, random)
    if factor == 32:
        scale_x = random.integers(120, 134, (M, K // factor)).astype(np.uint8)
        value_x = 2.0 ** (scale_x.astype(np.float64) - 127)
        given_x = torch.from_numpy(scale_x)
    else:
        kept = random.uniform(0.5, 4, (M, K // factor)).astype(ml_dtypes.float8_e4m3fn)
        value_x, given_x = kept.astype(np.float64), torch.from_numpy(kept.view(np.uint8)).view(torch.float8_e4m3fn)
    given_y, value_y = None, np.ones((N, K // factor))
    if b in ("e2m1", "e4m3") and factor == 32:
        scale_y = random.integers(120, 134, (N, K // factor)).astype(np.uint8)
        given_y, value_y = torch.from_numpy(scale_y), 2.0 ** (scale_y.astype(np.float64) - 127)
    device = torch.get_default_device()
    x, y, given_x = x.to(device), y.to(device), given_x.to(device)
    given_y = None if given_y is None else given_y.to(device)
    out = torch.zeros(M, N)
    packs = [2 if form == "e2m1" else 1 for form in (a, b)]
    scaled_product[(1,)](x, given_x, y, given_y, out, M, N, K, a, b, *packs, *along_k, factor)
    want = 1 + (exact_x * value_x.repeat(factor, 1)) @ (exact_y * value_y.repeat(factor, 1).T)
    sizes = np.abs(exact_x * value_x.repeat(factor, 1)) @ np.abs(exact_y * value_y.repeat(factor, 1).T) + 1
    assert (np.abs(out.cpu().double().numpy() - want) <= (K + 1) * 2.0**-24 * sizes).all()


@pytest.mark.parametrize("b", ["fp16", "bf16"])
def test_tensor_cores_multiply_scaled_tiles(b):
    """fp16 scaled by powers of two does not fit fp16, but tf32."""
    x, y = torch.zeros(16, 64, dtype=torch.uint8), torch.zeros(64, 32, dtype=torch.float16 if b == "fp16" else torch.bfloat16)
    out, scale = torch.zeros(16, 32), torch.zeros(16, 2, dtype=torch.uint8)
    kernel = scaled_product[(1,)](x, scale, y, None, out, 16, 32, 64, "e4m3", b, 1, 1, True, True, 32)
    code = _native.compile(kernel.module, disjoint=True, texts=True, target="sm_80").asm
    assert ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32" in code) == (b == "fp16") and "mma.sync" in code


@tileon.jit
def mismatched(x_ptr):
    x = tl.zeros((16, 64), tl.float8e4nv)
    tl.dot_scaled(x, tl.zeros((16, 4), tl.uint8), "e4m3", tl.trans(x), tl.zeros((16, 2), tl.uint8), "e4m3")


def test_scales_of_different_blocks():
    with pytest.raises(Error, match=r"Operands must have the same scale factor; \(lhs: 16 vs rhs: 32\)"):
        mismatched[(1,)](torch.zeros(1))


def test_members_of_types_and_constants():
    assert tl.int16.get_int_max_value() == 2**15 - 1 and tl.uint8.get_int_min_value() == 0
    assert tl.bfloat16.fp_mantissa_width == 7 and tl.float8e5.exponent_bias == 15 and tl.float16.codegen_name() == "float16"
    assert tl.float8e4nv.is_fp8e4nv() and not tl.int1.is_uint8() and tl.int8.is_int8() and "fp16" in tl.dtype.FP_TYPES
    assert tl.int1.kind() == tl.dtype.KIND.BOOLEAN and tl.uint8.int_signedness == tl.dtype.SIGNEDNESS.UNSIGNED
    n = 2 * tl.constexpr(4) + 1
    assert isinstance(n, tl.constexpr) and n.value == 9 and n == 9 and isinstance(n.type, tl.constexpr_type)
    assert tl.constexpr("a").upper() == "A" and (-n).value == -9 and n.logical_and(0).value == 0
