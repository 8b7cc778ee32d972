"""Strides that the launch alone knows, of tensors whose elements are numbered through: rows lie side by side where they are 1,
and nowhere else."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

from ..pages import at_the_end_of_a_page

STRIDES = ["x0", "x1", "y0", "y1", "out0", "out1"]


@tileon.jit(do_not_specialize=STRIDES)
def scattered(x, index, out, x0, x1, y0, y1, out0, out1, along, width, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, column = at // width, at % width
    value = tl.load(x + row * x0 + column * x1, mask=at < n, other=0)
    place = tl.load(index + row * y0 + column * y1, mask=at < n, other=0)
    tl.store(out + row * out0 + column * out1 + place * along, value, mask=at < n)


@tileon.jit(do_not_specialize=STRIDES)
def added(x, y, out, x0, x1, y0, y1, out0, out1, width, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, column = at // width, at % width
    first = tl.load(x + row * x0 + column * x1, mask=at < n, other=0)
    second = tl.load(y + row * y0 + (column * 2 + 1) * y1, mask=(at < n) & (column != 3), other=9)
    tl.store(out + row * out0 + column * out1, first + second, mask=at < n)


@tileon.jit(do_not_specialize=["apart"])
def scaled(x, scales, out, apart, width, rows, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """One number multiplies places along rows and of rows, which are computed in front of them."""
    i, j = tl.arange(0, ROWS)[:, None], tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[None, :]
    scale = tl.load(scales + i * apart, mask=i < rows, other=0)
    place = i * (n * apart) + (j // width) * (width * apart) + (j % width) * apart
    tl.store(out + i * n + j, tl.load(x + place, mask=(i < rows) & (j < n), other=0) * scale, mask=(i < rows) & (j < n))


def strided(rows, width, strides, dtype):
    size = (rows - 1) * strides[0] + (width - 1) * strides[1] + 1
    memory = torch.randint(1, 50, (size,), device="cpu").to(dtype)
    return memory, torch.as_strided(memory, (rows, width), strides)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8, torch.int64])
@pytest.mark.parametrize("rows, width", [(1, 1), (7, 5), (5, 33), (3, 200)])
def test_sums(device, dtype, rows, width):
    for one in ((width, 1), (1, rows), (0, 1), (2 * width, 2), (1, 0)):
        for other in ((2 * width, 1), (1, 3), (0, 0)):
            for result in ((width + 3, 1), (1, rows + 2)):
                memory, x = strided(rows, width, one, dtype)
                second, y = strided(rows, 2 * width, other, dtype)
                out, target = strided(rows, width, result, dtype)
                sent = out.to(device)
                strides = (*one, *other, *result)
                added[(-(-rows * width // 256),)](memory.to(device), second.to(device), sent, *strides, width, rows * width, 256)
                addend = y[:, 1::2].clone()
                addend[:, 3:4] = 9
                target.copy_(x + addend)
                assert torch.equal(sent.cpu(), out), (one, other, result)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8, torch.int64])
@pytest.mark.parametrize("places", [torch.int32, torch.int64])
def test_scatter(device, dtype, places):
    for rows, width in ((6, 40), (4, 300)):
        for dim in (0, 1):
            for contiguous in (True, False):
                x = torch.randint(1, 50, (rows, width), device="cpu").to(dtype)
                order = torch.rand(rows, width, device="cpu").argsort(dim).to(places)
                if not contiguous:
                    x, order = (v.t().contiguous().t() for v in (x, order))
                out = torch.zeros(rows, width, dtype=dtype, device=device)
                strides = [*out.stride()]
                strides[dim] = 0
                scattered[(-(-rows * width // 128),)](x.to(device), order.to(device), out, *x.stride(), *order.stride(), *strides,
                                                      out.stride(dim), width, rows * width, 128)  # fmt: skip
                wanted = torch.zeros(rows, width, dtype=dtype, device="cpu").scatter_(dim, order.long(), x)
                assert torch.equal(out.cpu(), wanted), (rows, width, dim, contiguous)


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("dtype", [torch.float32, torch.int16, torch.int64])
@pytest.mark.parametrize("apart", [0, 1, 2, 5])
def test_one_number_for_rows_and_columns(device, dtype, apart):
    rows, width, n = 3, 40, 300
    x, scales = (torch.randint(1, 9, ((count - 1) * apart + 1,)).to(dtype) for count in (rows * n, rows))
    memory = [at_the_end_of_a_page(v) if device == "cpu" else (v.to(device), None) for v in (x, scales)]
    out = torch.empty(rows, n, dtype=dtype, device=device)
    scaled[(2,)](memory[0][0], memory[1][0], out, apart, width, rows, n, 4, 256)
    at = torch.arange(rows * n).view(rows, n) * apart
    assert torch.equal(out.cpu(), x[at] * scales[torch.arange(rows) * apart][:, None])
