"""argmax and argmin of rows with NaNs, which are in no order: they lose, wherever they stand and however threads share a row."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def extremes(x, least, greatest, value, ROWS: tl.constexpr, COLUMNS: tl.constexpr, AXIS: tl.constexpr, TURNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tile = tl.load(x + at)
    for _ in range(TURNS):  # what a loop carries lies in threads' registers
        tile = tile * 0.5 + tile * 0.5
    to = tl.arange(0, COLUMNS if AXIS == 0 else ROWS)
    tl.store(least + to, tl.argmin(tile, AXIS))
    top, index = tl.max(tile, AXIS, return_indices=True)
    tl.store(value + to, top)
    tl.store(greatest + to, index)


@pytest.mark.pairs
@pytest.mark.parametrize("turns", [0, 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(("rows", "columns"), [(16, 64), (64, 16), (4, 256), (1, 1024), (128, 8)])
@pytest.mark.parametrize("axis", [0, 1])
def test_nans_lose(device, axis, rows, columns, dtype, turns):
    torch.manual_seed(rows + columns + axis)
    x = torch.randint(-9, 9, (rows, columns), device=device).to(dtype)
    x[torch.rand(rows, columns, device=device) < 0.4] = float("nan")
    x[torch.rand(rows, columns, device=device) < 0.1] = float("inf")
    x[:, 0] = float("nan")
    x[-1, :], x[:, -1] = float("nan"), float("nan")
    x[rows // 2, ::2], x[::2, columns // 2] = float("-inf"), float("-inf")
    count = columns if axis == 0 else rows
    least, greatest = (torch.full((count,), -1, dtype=torch.int32, device=device) for _ in range(2))
    value = torch.full((count,), -1.0, dtype=dtype, device=device)
    extremes[(1,)](x, least, greatest, value, rows, columns, axis, turns)
    for place, sign in ((greatest, 1), (least, -1)):
        key = torch.where(x.isnan(), -1e9, (sign * x.float()).clamp(-1e6, 1e6))  # the first of equal ones, NaNs behind all
        assert torch.equal(place.long(), (key == key.amax(axis, keepdim=True)).int().argmax(axis))
    top = x.gather(axis, greatest.long().unsqueeze(axis)).squeeze(axis)
    assert torch.equal(value.isnan(), x.isnan().all(axis)) and torch.equal(value.nan_to_num(7), top.nan_to_num(7))
