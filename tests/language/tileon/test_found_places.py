"""Products of programs that find out where they work: persistent ones, whose tile's number is carried twice and whose rows lead
to the first where there are no more, and programs that search for their sequence among others' ends before they load pages."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def persistent(
    a, b, c, M, N, K, PROGRAMS: tl.constexpr, LAST: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    start, tiles_n = tl.program_id(0), tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * tiles_n
    stored = start - PROGRAMS
    k = tl.arange(0, BK)
    for tile in tl.range(start, tiles, PROGRAMS, flatten=True):
        rows = tile // tiles_n * BM + tl.arange(0, BM)
        columns = tile % tiles_n * BN + tl.arange(0, BN)
        rows = tl.minimum(rows, M - 1) if LAST else tl.where(rows < M, rows, 0)
        columns = tl.where(columns >= N, N - 1, columns) if LAST else tl.where(columns < N, columns, 0)
        rows = tl.max_contiguous(tl.multiple_of(rows, BM), BM)
        total = tl.zeros((BM, BN), tl.float32)
        for step in range(tl.cdiv(K, BK)):
            x = tl.load(a + rows[:, None] * K + (step * BK + k)[None, :], mask=k[None, :] < K - step * BK, other=0.0)
            y = tl.load(b + (step * BK + k)[:, None] * N + columns[None, :], mask=k[:, None] < K - step * BK, other=0.0)
            total = tl.dot(x, y, total)
        stored += PROGRAMS
        rows = stored // tiles_n * BM + tl.arange(0, BM)
        columns = stored % tiles_n * BN + tl.arange(0, BN)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.float16), mask=inside)


@pytest.mark.gpu
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(("m", "n", "k"), [(200, 136, 72), (128, 128, 64), (1, 264, 200), (130, 8, 64)])
def test_persistent_tiles(device, m, n, k, last):
    a, b = torch.randn(m, k).half(), torch.randn(k, n).half()
    c = torch.full((m + 2, n), float("nan"), dtype=torch.float16, device=device)
    persistent[(3,)](a.to(device), b.to(device), c[1:-1], m, n, k, 3, last, 64, 128, 64)
    torch.testing.assert_close(c[1:-1].double().cpu(), (a.double() @ b.double()).cpu(), rtol=2e-3, atol=2e-3 * k**0.5)
    assert c[0].isnan().all() and c[-1].isnan().all()


@tileon.jit
def search(ends, position, sequences):
    low, high = 0, sequences
    while low < high:
        middle = (low + high) // 2
        if tl.load(ends + middle) <= position:
            low = middle + 1
        else:
            high = middle
    return low


@tileon.jit
def paged(
    q, keys, values, table, ends, y, sequences, pages, D: tl.constexpr, BM: tl.constexpr, PAGE: tl.constexpr, BN: tl.constexpr
):
    """Each block of rows attends to its sequence's pages."""
    first = tl.program_id(0) * BM
    sequence = search(ends, first, sequences)
    begin = tl.load(ends + sequence - 1, mask=sequence > 0, other=0)
    length = tl.load(ends + sequence) - begin
    if first - begin >= length:
        return
    i, d, j = tl.arange(0, BM), tl.arange(0, D), tl.arange(0, BN)
    queries = tl.load(q + (first + i)[:, None] * D + d[None, :])
    most, total = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    for step in range(tl.cdiv(length, BN)):
        at = step * BN + j
        page = tl.load(table + sequence * pages + at // PAGE, mask=at < length, other=0).to(tl.int64)
        rows = page * PAGE + at % PAGE
        x = tl.load(keys + rows[None, :] * D + d[:, None], mask=(at < length)[None, :], other=0.0)
        scores = tl.where((at < length)[None, :], tl.dot(queries, x), float("-inf"))
        higher = tl.maximum(most, tl.max(scores, 1))
        p, scale = tl.exp(scores - higher[:, None]), tl.exp(most - higher)
        v = tl.load(values + rows[:, None] * D + d[None, :], mask=(at < length)[:, None], other=0.0)
        total = total * scale + tl.sum(p, 1)
        sums = sums * scale[:, None] + tl.dot(p.to(tl.float16), v)
        most = higher
    tl.store(y + (first + i)[:, None] * D + d[None, :], sums / total[:, None])


@pytest.mark.gpu
@pytest.mark.parametrize("rows", [16, 64])
def test_sequences_that_are_searched(device, rows):
    lengths, page, d = [rows, 3 * rows, rows, 2 * rows], 16, 64
    ends = torch.tensor(lengths).cumsum(0).int()
    pages = max(lengths) // page + 1
    table = torch.randperm(len(lengths) * pages).view(len(lengths), pages).int()
    q = torch.randn(int(ends[-1]), d).half() * 0.3
    keys, values = (torch.randn(len(lengths) * pages * page, d).half() for _ in range(2))
    y = torch.full((len(q), d), float("nan"), device=device)
    arguments = [x.to(device) for x in (q, keys, values, table, ends)]
    paged[(len(q) // rows,)](*arguments, y, len(lengths), pages, d, rows, page, 32)
    exact = []
    for i, n in enumerate(lengths):
        k, v = (x.view(-1, page, d)[table[i].long()].view(-1, d)[:n].double() for x in (keys, values))
        exact.append((q[int(ends[i]) - n : int(ends[i])].double() @ k.T).softmax(-1) @ v)
    torch.testing.assert_close(y.double().cpu(), torch.cat(exact).cpu(), rtol=4e-3, atol=4e-3)


@tileon.jit
def edges(a, b, begins, y, K, N, D: tl.constexpr, BK: tl.constexpr, TWICE: tl.constexpr):
    """A product of blocks, of which the last has a mask (and is taken twice), and one of zeros where a sequence begins."""
    i, d, k = tl.arange(0, D), tl.arange(0, D), tl.arange(0, BK)
    if tl.load(begins + tl.program_id(0)) != 0:
        x = tl.zeros((D, D), tl.float16)
    else:
        x = tl.load(b + (N - D + i)[:, None] * D + d[None, :], mask=i[:, None] < N, other=0.0).to(tl.float16)
    total = tl.dot(tl.load(a + i[:, None] * D + d[None, :]), x)
    for start in range(0, K, BK):
        left = tl.load(a + i[:, None] * D + (start + k)[None, :] % D)
        if start + BK > K:
            right = tl.load(b + (start + k)[:, None] * D + d[None, :], mask=(start + k)[:, None] < K, other=0.0)
            if TWICE:
                right *= 2
        else:
            right = tl.load(b + (start + k)[:, None] * D + d[None, :])
        total = tl.dot(left, right.to(tl.float16), total)
    tl.store(y + tl.program_id(0) * D * D + i[:, None] * D + d[None, :], total)


@pytest.mark.gpu
@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("k", [32, 64, 100, 5])
def test_blocks_at_edges(device, k, twice):
    a, b = torch.randn(64, 64).half(), torch.randn(164, 64)
    b[k:100] = float("nan")  # no block reads behind its edge
    begins, y = torch.tensor([0, 1], dtype=torch.int32), torch.full((2, 64, 64), float("nan"), device=device)
    edges[(2,)](a.to(device), b.to(device), begins.to(device), y, k, 164, 64, 32, twice)
    left = a.double()[:, torch.arange(k) % 64]
    weights = torch.where(torch.arange(k) >= k // 32 * 32, 1.0 + twice, 1.0).double()
    exact = (left * weights) @ b[:k].half().double()
    first = exact + a.double() @ b[100:].half().double()
    torch.testing.assert_close(y.double().cpu(), torch.stack([first, exact]).cpu(), rtol=1e-4, atol=1e-3)
