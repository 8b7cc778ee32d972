"""Windows around elements that are numbered through (`//`, `%`): unrolled and by loops; more comparisons than end segments."""

import ctypes
import mmap
import re

import pytest
import torch
import torch.nn.functional as F

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def unrolled(x, w, o, n, C, H, W, OH, OW, K: tl.constexpr, STRIDE: tl.constexpr, LAST: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if LAST:
        c, column, row, image = at % C, at // C % OW, at // (C * OW) % OH, at // (C * OW * OH)
    else:
        column, row, c, image = at % OW, at // OW % OH, at // (OW * OH) % C, at // (OW * OH * C)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in tl.static_range(K):
        for j in tl.static_range(K):
            r, q = row * STRIDE + i - K // 2, column * STRIDE + j - K // 2
            inside = (r >= 0) & (r < H) & (q >= 0) & (q < W) & (at < n)
            place = ((image * H + r) * W + q) * C + c if LAST else ((image * C + c) * H + r) * W + q
            weight = tl.load(w + c * K * K + i * K + j, mask=at < n, other=0.0).to(tl.float32)
            total += weight * tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
    tl.store(o + at, total.to(o.dtype.element_ty), mask=at < n)


@tileon.jit
def over_rounds(x, w, o, n, C, H, W, OH, OW, K, STRIDE: tl.constexpr, LAST: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if LAST:
        c, column, row, image = at % C, at // C % OW, at // (C * OW) % OH, at // (C * OW * OH)
    else:
        column, row, c, image = at % OW, at // OW % OH, at // (OW * OH) % C, at // (OW * OH * C)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(K):
        for j in range(K):
            r, q = row * STRIDE + i - K // 2, column * STRIDE + j - K // 2
            inside = (r >= 0) & (r < H) & (q >= 0) & (q < W) & (at < n)
            place = ((image * H + r) * W + q) * C + c if LAST else ((image * C + c) * H + r) * W + q
            weight = tl.load(w + c * K * K + i * K + j).to(tl.float32)
            total += weight * tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
    tl.store(o + at, total.to(o.dtype.element_ty), mask=at < n)


@tileon.jit
def looped(x, w, o, n, C, H, W, OH, OW, K: tl.constexpr, STRIDE: tl.constexpr, LAST: tl.constexpr, BLOCK: tl.constexpr):
    over_rounds(x, w, o, n, C, H, W, OH, OW, K, STRIDE, LAST, BLOCK)


@tileon.jit
def counted(x, w, o, n, C, H, W, OH, OW, K, STRIDE: tl.constexpr, LAST: tl.constexpr, BLOCK: tl.constexpr):
    over_rounds(x, w, o, n, C, H, W, OH, OW, K, STRIDE, LAST, BLOCK)


@pytest.mark.pairs
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("C, last", [(3, False), (3, True), (21, True)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("size, stride", [((9, 37), 1), ((5, 16), 1), ((12, 7), 1), ((21, 70), 2)])
@pytest.mark.parametrize("kernel, window", [(unrolled, 3), (unrolled, 7), (looped, 3), (looped, 5), (counted, 5)])
def test_depthwise(device, kernel, window, size, stride, dtype, C, last):
    """Rows longer and shorter than vectors."""
    check(device, kernel, window, size, stride, dtype, C, last)


@pytest.mark.pairs
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("size, C, last", [((3, 150), 2, False), ((2, 61), 3, False), ((3, 2), 131, True), ((4, 1), 70, True)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kernel, window", [(unrolled, 5), (unrolled, 7), (looped, 5), (counted, 7)])
def test_several_vectors_of_a_segment(device, kernel, window, dtype, size, C, last):
    """Rows of four vectors and more, of fewer, and what is left of them."""
    check(device, kernel, window, size, 1, dtype, C, last, block=1024)


def check(device, kernel, window, size, stride, dtype, C, last, block=256):
    """Behind the result and around the image is what nobody may write or take."""
    H, W = size
    around = torch.full((4096 + 2 * C * H * W + 4096,), float("nan"))
    x = torch.randn(2, C, H, W).to(dtype)
    w = torch.randn(C, 1, window, window).to(dtype)
    exact = F.conv2d(x.double(), w.double(), None, stride, window // 2, 1, C)
    sizes = F.conv2d(x.double().abs(), w.double().abs(), None, stride, window // 2, 1, C)
    memory = (x.permute(0, 2, 3, 1) if last else x).flatten()
    around[4096:-4096] = memory.float()
    around = around.to(dtype).to(device)
    n = exact.numel()
    out = torch.full((n + 64,), -77.0, dtype=dtype, device=device)
    OH, OW = exact.shape[2:]
    launch = (around[4096:-4096], w.to(device), out, n, C, H, W, OH, OW)
    kernel[(-(-n // block),)](*launch, window, stride, last, block)
    assert (out[n:] == -77.0).all()
    found = out[:n].cpu().double()
    found = found.view(2, OH, OW, C).permute(0, 3, 1, 2) if last else found.view_as(exact)
    bound = sizes * window**2 * 2.0**-23 + exact.abs() * (2.0**-8 if dtype == torch.bfloat16 else 0) + 1e-30
    assert ((found - exact).abs() <= bound).all()


@tileon.jit
def sums_at_rows(x, o, n, W, TERMS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in tl.static_range(TERMS):
        total += tl.load(x + at // W * W + at % W + k * n, mask=at < n, other=0.0)
    tl.store(o + at // W, total, mask=at < n)


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("width", [150, 64, 33, 9])
def test_the_last_element_of_a_row_is_what_stays(width):
    """All elements of a row are stored to one place: on CPUs in their order, however many vectors are computed side by side."""
    rows, terms = 6, 20
    n = rows * width
    x, out = torch.randint(-9, 9, (terms, n)).float(), torch.full((rows + 16,), -77.0)
    sums_at_rows[(1,)](x, out, n, width, terms, 1024)
    assert torch.equal(out[:rows], x.sum(0).view(rows, width)[:, -1]) and (out[rows:] == -77.0).all()


@tileon.jit
def marked(x, o, n, WIDTH: tl.constexpr, STEP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    far = tl.arange(0, BLOCK).to(tl.int64) * STEP
    value = tl.load(x + at // WIDTH * WIDTH + at % WIDTH, mask=at < n, other=0.0)
    for i in tl.static_range(6):
        value += tl.where(far < 9 * STEP + i * (7 * STEP + 1), 1.0, 0.0)
    tl.store(o + at, value, mask=at < n)


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("step", [1, 3, 1 << 20, 1 << 28, 1 << 33])
def test_comparisons_of_numbers_that_grow_fast(device, step):
    """Sixteen steps of them leave 32 bits."""
    width, rows = 53, 7
    n = width * rows
    x, out = torch.randn(n), torch.full((n + 16,), -77.0, device=device)
    marked[(-(-n // 256),)](x.to(device), out, n, width, step, 256)
    far = torch.arange(n) % 256 * step
    expected = x.clone()
    for i in range(6):
        expected += (far < 9 * step + i * (7 * step + 1)).float()
    assert torch.equal(out[:n].cpu(), expected) and (out[n:] == -77.0).all()


@pytest.mark.parametrize("kernel", [looped, counted, unrolled])
def test_channels_are_vectors(device, kernel):
    x, w, o = torch.randn(1, 8, 8, 32), torch.randn(32, 1, 7, 7), torch.empty(1, 8, 8, 32)
    found = kernel[(2,)](x, w, o, o.numel(), 32, 8, 8, 8, 8, 7, 1, True, 1024)
    exact = F.conv2d(x.permute(0, 3, 1, 2), w, padding=3, groups=32).permute(0, 2, 3, 1)
    torch.testing.assert_close(o, exact, rtol=1e-4, atol=1e-4)
    if device == "cpu":  # of a GPU's threads each has its own channel
        assert re.search(r"^segments\d*:", found.asm["llvm"], re.MULTILINE), "the loop runs for vectors of a segment"


def between_unmapped_pages(values):
    """The values as a tensor that begins a page, in front of which nothing is mapped; nothing is behind its last page, either."""
    page, libc = mmap.PAGESIZE, ctypes.CDLL(None, use_errno=True)
    size = -(-values.numel() * values.element_size() // page) * page
    memory = mmap.mmap(-1, size + 2 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for edge in (start, start + page + size):
        assert libc.mprotect(ctypes.c_void_p(edge), ctypes.c_size_t(page), 0) == 0
    tensor = torch.frombuffer(memory, dtype=values.dtype, offset=page, count=values.numel())
    return tensor.copy_(values.flatten())


@pytest.mark.pairs
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("kernel, window", [(unrolled, 3), (unrolled, 5), (looped, 5)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("last", [False, True])
def test_rows_that_do_not_exist_lie_where_nothing_is_mapped(last, dtype, kernel, window):
    C, H, W = 64, 3, 32
    x, w = torch.randn(1, C, H, W).to(dtype), torch.randn(C, 1, window, window).to(dtype)
    image = between_unmapped_pages(x.permute(0, 2, 3, 1) if last else x)
    out = torch.empty_like(image)
    found = kernel[(-(-out.numel() // 1024),)](image, w, out, out.numel(), C, H, W, H, W, window, 1, last, 1024)
    exact = F.conv2d(x.double(), w.double(), None, 1, window // 2, 1, C)
    sizes = F.conv2d(x.double().abs(), w.double().abs(), None, 1, window // 2, 1, C)
    result = (out.view(1, H, W, C).permute(0, 3, 1, 2) if last else out.view_as(x)).double()
    bound = sizes * window**2 * 2.0**-23 + exact.abs() * (2.0**-8 if dtype == torch.bfloat16 else 0)
    assert ((result - exact).abs() <= bound).all()
    if dtype == torch.float32 and kernel is unrolled:  # a masked load there takes a thousand cycles
        chosen = re.findall(r"select i1 %\S+, ptr %\S+, ptr", found.asm["llvm"])
        assert len(chosen) >= window**2, "what is read of a row that does not exist lies elsewhere"


@tileon.jit
def moved(x, o, n, H, W, DOWN: tl.constexpr, RIGHT: tl.constexpr, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    """Each element of what lies so many rows below it and columns beside it, twice."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column, row, image = at % W, at // W % H, at // (W * H)
    for i in tl.static_range(2):
        r, c = row + DOWN * (1 - 2 * i), column + RIGHT * (1 - 2 * i)
        inside = (r >= 0) & (r < H) & (c >= 0) & (c < W) & (at < n)
        if OTHER is None:
            value = tl.load(x + (image * H + r) * W + c, mask=inside)
        else:
            value = tl.load(x + (image * H + r) * W + c, mask=inside, other=OTHER)
        tl.store(o + i * n + at, value, mask=at < n)


@pytest.mark.pairs
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int8, torch.bool])
@pytest.mark.parametrize("down, right, block", [(1, 2, 256), (-2, 20, 256), (0, -1, 1024), (3, 0, 8192)])
@pytest.mark.parametrize("other", [None, 0, 1])
def test_rows_that_do_not_exist_are_what_stands_for_them(device, other, down, right, block, dtype):
    """No zeros where another number does, in tiles longer and shorter than what is kept of zeros."""
    H, W = 5, 61
    x = torch.randint(2, 100, (3, H, W), device="cpu").to(dtype)
    out = torch.full((2, 3, H, W), 77).to(dtype).to(device)
    n = x.numel()
    moved[(-(-n // block),)](x.to(device), out, n, H, W, down, right, other, block)
    for result, sign in zip(out.cpu(), (1, -1), strict=True):
        wide = F.pad(x.double(), (32, 32, 4, 4), value=other or 0)
        y, z = 4 + sign * down, 32 + sign * right
        assert torch.equal(result, wide[:, y : y + H, z : z + W].to(dtype))


def test_minus_zero_stands_for_rows_that_do_not_exist(device):
    x, out = torch.ones(1, 4, 64), torch.empty(2, 256, device=device)
    moved[(1,)](x.to(device), out, 256, 4, 64, 4, 0, -0.0, 256)
    assert torch.signbit(out).all() and not out.any()
