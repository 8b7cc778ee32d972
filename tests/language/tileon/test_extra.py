"""Functions of tl.extra: libdevice's, those of a program's own by their symbols, and what upstream keeps for CUDA."""

import numpy as np
import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

N = 64


@tileon.jit
def bessel(x_ptr, o_ptr, n, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(o_ptr + at, tl.extra.cuda.libdevice.j0(x))
    tl.store(o_ptr + n + at, tl.extra.hip.libdevice.j1(x))
    tl.store(o_ptr + 2 * n + at, tl.extra.cpu.libdevice.y0(x))
    tl.store(o_ptr + 3 * n + at, tl.extra.libdevice.y1(x))


def test_bessel_functions(device):
    import mpmath

    x = torch.cat([torch.linspace(0.01, 60, 192, dtype=torch.float64), torch.logspace(-8, 4, 64, dtype=torch.float64)])
    got = torch.empty(4, 256, dtype=torch.float64)
    bessel[(4,)](x, got, 256, 64)
    functions = [(mpmath.besselj, 0), (mpmath.besselj, 1), (mpmath.bessely, 0), (mpmath.bessely, 1)]
    for (function, order), values in zip(functions, got.cpu().numpy()):
        exact = np.array([float(function(order, mpmath.mpf(float(v)))) for v in x])
        size = np.maximum(np.abs(exact), 1 / np.sqrt(1 + x.cpu().numpy()))  # of the oscillation that has zeros
        assert (np.abs(values - exact) <= 16 * 2.0**-52 * size).all()


@tileon.jit
def of_orders(n_ptr, x_ptr, j_ptr, y_ptr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    n, x = tl.load(n_ptr + at), tl.load(x_ptr + at)
    tl.store(j_ptr + at, tl.extra.libdevice.jn(n, x))
    tl.store(y_ptr + at, tl.extra.libdevice.yn(n, x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bessel_functions_of_any_order(device, dtype):
    import mpmath

    random = np.random.default_rng(1)
    n, x = random.integers(-40, 41, 128), np.concatenate([random.uniform(0, 60, 96), random.uniform(0.5, 3, 32)])
    x[:16] *= -1
    n, x = torch.tensor(n, dtype=torch.int32), torch.tensor(x).to(dtype)
    j, y = torch.empty_like(x), torch.empty_like(x)
    of_orders[(2,)](n, x, j, y, 64)
    for order, at, first, second in zip(n.tolist(), x.tolist(), j.tolist(), y.tolist()):
        # Up to 64 steps that round twice, of numbers below 1 near a zero; the tails' numbers shrink with their errors.
        bound, least = (2.0**-22, 1e-37) if dtype == torch.float32 else (2.0**-44, 1e-300)
        exact = float(mpmath.besselj(order, mpmath.mpf(at)))
        assert abs(first - exact) <= bound * abs(exact) + (2.0**-46 if abs(exact) > 1e-3 else least), (order, at)
        if at < 0:
            assert second != second
        else:
            exact = float(mpmath.bessely(order, mpmath.mpf(at)))
            exact = float(torch.tensor(exact, dtype=torch.float64).to(dtype))  # beyond float32's numbers: infinite
            assert second == exact or abs(second - exact) <= bound * abs(exact) + 2.0**-46, (order, at)


def test_bessel_functions_at_the_edges(device):
    x = torch.tensor([0.0, float("inf"), float("nan"), -2.0], dtype=torch.float64)
    for order in (0, 1, 5, -5):
        j, y = torch.empty_like(x), torch.empty_like(x)
        of_orders[(1,)](torch.full((4,), order, dtype=torch.int32), x, j, y, 4)
        assert j[0] == (order == 0) and j[1] == 0 and j[2].isnan() and y[2].isnan() and y[3].isnan() and y[1] == 0
        assert y[0] == (float("inf") if order == -5 else -float("inf"))


@tl.core.extern
def power(x, y, _semantic=None):
    return tl.core.extern_elementwise(
        "libdevice", "", [x, y],
        {(tl.float32, tl.float32): ("__nv_powf", tl.float32), (tl.float64, tl.float64): ("__nv_pow", tl.float64)},
        is_pure=True, _semantic=_semantic,
    )  # fmt: skip


@tileon.jit
def declared(x_ptr, y_ptr, o_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    tl.store(o_ptr + at[:, None] * N + at[None, :], power(x[:, None], y[None, :]))


def test_functions_by_their_symbols(device):
    x, y, got = torch.rand(N) + 0.5, torch.rand(N, dtype=torch.float64), torch.empty(N, N, dtype=torch.float64)
    declared[(1,)](x, y, got, N)
    torch.testing.assert_close(got, x.double()[:, None] ** y[None, :])
    with pytest.raises(ValueError, match="input arg type does not match"):
        declared[(1,)](x.half(), y.half(), got, N)


@tileon.jit
def extras(o_ptr):
    tl.extra.cuda.gdc_wait()
    tl.store(o_ptr, tl.extra.cuda.num_threads())
    x = tl.extra.cuda.convert_custom_float8_sm80(tl.full((1,), 1.3, tl.float32), tl.float8e4b15)
    tl.store(o_ptr + 1 + tl.arange(0, 1), x.to(tl.float32))
    tl.extra.cuda.gdc_launch_dependents()


def test_what_upstream_keeps_for_cuda(device):
    out = torch.empty(2)
    extras[(1,)](out, num_warps=2)
    assert out.tolist() == [64, 1.25]


@tileon.jit
def timed(x_ptr, times_ptr, where_ptr, N: tl.constexpr, ASM: tl.constexpr):
    pid = tl.program_id(0)
    if ASM:
        first = tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)
    else:
        first = tl.extra.cuda.globaltimer()
    rows = tl.arange(0, N)
    x = tl.load(x_ptr + pid * N + rows)
    for _ in range(200):
        x = tl.sin(x) + 1
    tl.store(x_ptr + pid * N + rows, x)
    if ASM:
        second = tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)
        where = tl.inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], dtype=tl.int32, is_pure=True, pack=1)
    else:
        second = tl.extra.cuda.globaltimer()
        where = tl.extra.cuda.smid()
    tl.store(times_ptr + 2 * pid, first)
    tl.store(times_ptr + 2 * pid + 1, second)
    tl.store(where_ptr + pid, where)


@pytest.mark.parametrize("asm", [False, True])
@pytest.mark.parametrize("debug", [False, True])
def test_programs_read_the_clock_and_where_they_run(device, asm, debug):
    programs = 12
    x, times = torch.rand(programs, 512), torch.zeros(programs, 2, dtype=torch.int64)
    where = torch.full((programs,), -1, dtype=torch.int32)
    timed[(programs,)](x, times, where, 512, asm, debug=debug)
    times, where = times.cpu(), where.cpu()
    spent = times[:, 1] - times[:, 0]
    assert (spent > 0).all() and (times[:, 1].max() - times[:, 0].min()) < 60e9, "what stands between is between"
    processors = tileon.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"]
    assert (where >= 0).all() and (where < processors).all()


@tileon.jit
def waiting(flag_ptr, times_ptr, NANOSECONDS):
    begin = tl.extra.cuda.globaltimer()
    now = begin
    turns = 0
    while now - begin < NANOSECONDS:
        now = tl.extra.cuda.globaltimer()
        turns += 1
    tl.store(times_ptr, now - begin)
    tl.store(flag_ptr, turns)


def test_a_loop_that_waits_for_the_clock_ends(device):
    flag, spent = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int64)
    waiting[(1,)](flag, spent, 3_000_000)
    assert 3_000_000 <= spent.item() < 60e9 and flag.item() > 0


def test_assembly_knows_the_program(device):
    @tileon.jit
    def ids(o_ptr):
        x = tl.inline_asm_elementwise("mov.u32 $0, %ctaid.y;", "=r", [], dtype=tl.int32, is_pure=True, pack=1)
        n = tl.inline_asm_elementwise("mov.u32 $0, %nctaid.y;", "=r", [], dtype=tl.int32, is_pure=True, pack=1)
        tl.store(o_ptr + x, 10 * x + n)

    out = torch.zeros(3, dtype=torch.int32)
    ids[(1, 3)](out)
    assert out.tolist() == [3, 13, 23]


@tileon.jit
def vnni_product(a, b, o, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    rows, columns = tl.arange(0, K // GROUP), tl.arange(0, N * GROUP)
    packed = tl.load(b + rows[:, None] * (N * GROUP) + columns[None, :])
    i, k, j = tl.arange(0, 16), tl.arange(0, K), tl.arange(0, N)
    product = tl.dot(tl.load(a + i[:, None] * K + k[None, :]), tl.extra.cpu.vnni_decode(packed))
    tl.store(o + i[:, None] * N + j[None, :], product)


@pytest.mark.parametrize("dtype, group", [(torch.bfloat16, 2), (torch.int8, 4)])
def test_rows_that_stand_in_turn(dtype, group):
    a, b = torch.randint(-4, 5, (16, 32)).to(dtype), torch.randint(-4, 5, (32, 16)).to(dtype)
    packed = b.reshape(32 // group, group, 16).permute(0, 2, 1).contiguous()
    o = torch.zeros(16, 16, dtype=torch.float32 if dtype.is_floating_point else torch.int32)
    vnni_product[(1,)](a, packed, o, 16, 32, group)
    assert torch.equal(o.double(), a.double() @ b.double())
