"""Between 8-bit floats and f32 by instructions that saturate and drop signs of NaNs: every byte, f32 wherever something turns."""

from pathlib import Path

import pytest
import torch

from tilery import compat

PROGRAMS = compat.load(Path(__file__).with_name("float8_programs.py"))
TYPES = [torch.float8_e4m3fn, torch.float8_e5m2]
pytestmark = pytest.mark.gpu


def numbers(dtype):
    """Each 8-bit number, what lies halfway to the next, and both of their neighbours; NaNs and infinities of each sign."""
    every = torch.arange(256, dtype=torch.uint8).view(dtype).float()
    finite = every[every.isfinite()].unique()
    halfway = (finite[1:] + finite[:-1]) / 2
    most = finite.max()
    large = torch.tensor([most * f for f in (1.01, 464 / 448, 61440 / 57344, 1.05, 1.2, 4.0)] + [3.4e38, 1e-30, 0.0])
    x = torch.cat([finite, halfway, large, -large, torch.tensor([float("inf"), float("-inf"), float("nan")])])
    near = torch.cat([torch.nextafter(x, torch.tensor(float(to))) for to in ("inf", "-inf")])
    signed = torch.tensor([0x7FC00000, -0x400000], dtype=torch.int32).view(torch.float32)
    return torch.cat([x, near, signed])


def limited(x, how, most):
    """What the program makes of x; min and max drop NaNs there, the conversion saturates."""
    if how == "computed":
        x = x * 1.5
    if how in ("limited", "limited within", "limited beyond"):
        limit = most * {"limited": 1, "limited within": 0.5, "limited beyond": 1.1}[how]
        nan = limit if how == "limited within" else -limit
        x = torch.where(x.isnan(), torch.tensor(nan), x.clamp(-limit, limit))
    if how == "chosen otherwise":
        x = torch.where(x < -most, torch.tensor(most), x)
    if how == "chosen by others":
        x = torch.where(x + 1000 < -most, torch.tensor(-most), x)
    return x.clamp(-most, most)


HOWS = ["plain", "computed", "limited", "limited within", "limited beyond", "chosen", "chosen otherwise", "chosen by others"]


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_narrow(dtype, how):
    x, most = numbers(dtype), torch.finfo(dtype).max
    out = torch.full((len(x) + 16,), 1.0).to(dtype).cuda()
    PROGRAMS.narrow[(-(-len(x) // 1024),)](x.cuda(), out, len(x), BLOCK=1024, MOST=most, HOW=how)
    result, expected = out.cpu()[: len(x)], limited(x, how, most).to(dtype)
    there = ~expected.float().isnan()
    assert torch.equal(result.float().isnan(), ~there)
    assert torch.equal(result.view(torch.uint8)[there], expected.view(torch.uint8)[there])  # zeros have signs, too
    assert bool((out[len(x) :].float() == 1).all())


@pytest.mark.parametrize("how", ["as it is", "magnitude", "both", "computed"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_widen(dtype, how):
    rows, there = 8, 5
    x = torch.stack([torch.arange(256).roll(i) for i in range(rows)]).to(torch.uint8)
    out, y = torch.zeros(rows, 256, dtype=torch.int32).cuda(), torch.zeros(rows, 256).cuda()
    PROGRAMS.widen[(1,)](x.cuda().view(dtype), out, y, there, BLOCK=rows, HOW=how)
    x[there:] = 56
    expected = x.view(dtype).float()
    result = out.cpu().view(torch.float32)
    if how in ("as it is", "both"):
        assert torch.equal(result.isnan(), expected.isnan()) and torch.equal(result.signbit(), x >= 128)
        assert torch.equal(result.nan_to_num(nan=1.0), expected.nan_to_num(nan=1.0))
    if how == "magnitude":
        assert torch.equal(result.isnan(), expected.isnan()) and not bool(result.signbit().any())
        assert torch.equal(result.nan_to_num(nan=1.0), expected.abs().nan_to_num(nan=1.0))
    if how in ("both", "computed"):
        torch.testing.assert_close(y.cpu(), 2 * expected, rtol=0, atol=0, equal_nan=True)
