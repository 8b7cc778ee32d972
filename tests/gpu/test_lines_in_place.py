"""Lines beside products that a program loads and stores: several threads hold each element, and it is changed once. Where
programs take turns, by a lock, rows of the result are combined with what others have left on the block level. Numbers are held by
all threads; what one argument loads another one may store."""

import math

import pytest
import torch
from language.bounds import FUNCTION, UNITS, within

from tilery import tileon
from tilery.tileon import language as tl

on_both = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])


@tileon.jit
def multiply(A, B, M, N, K, i, j, BM: tl.constexpr, BN: tl.constexpr):
    m, n, k = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN), tl.arange(0, 32)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(K, 32)):
        at = step * 32 + k
        a = tl.load(A + (m % M)[:, None] * K + at[None, :], mask=at[None, :] < K, other=0.0)
        b = tl.load(B + (n % N)[None, :] * K + at[:, None], mask=at[:, None] < K, other=0.0)
        total = tl.dot(a, b, total)
    return total


@tileon.jit
def changes_a_line(A, B, C, LINE, M, N, K, ROWS: tl.constexpr, SUMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """The line is used as it was, after it has been stored, too."""
    total = multiply(A, B, M, N, K, 0, 0, BM, BN)
    m, n = tl.arange(0, BM), tl.arange(0, BN)
    at, inside = (m, m < M) if ROWS else (n, n < N)
    line = tl.load(LINE + at, mask=inside, other=0.0)
    more = tl.sum(tl.where((m < M)[:, None] & (n < N)[None, :], total, 0.0), 1 if ROWS else 0) if SUMS else 1.0
    tl.store(LINE + at, (line + more).to(LINE.dtype.element_ty), mask=inside)
    total += line.to(tl.float32)[:, None] if ROWS else line.to(tl.float32)[None, :]
    tl.store(C + m[:, None] * N + n[None, :], total, mask=(m < M)[:, None] & (n < N)[None, :])


@tileon.jit
def changes_a_number(A, B, C, NUMBERS, M, N, K, COUNTS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Each program's own, which its result is multiplied by, or how long its sums are."""
    i = tl.program_id(0)
    m, n, k = i * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, 16)
    steps = tl.load(NUMBERS + i) if COUNTS else K // 16
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, steps):
        a = tl.load(A + m[:, None] * K + (step * 16 + k)[None, :])
        b = tl.load(B + n[None, :] * K + (step * 16 + k)[:, None])
        total = tl.dot(a, b, total)
    number = tl.load(NUMBERS + i)
    tl.store(C + m[:, None] * N + n[None, :], total * number)
    tl.store(NUMBERS + i, number + 1)


@tileon.jit
def loads_and_stores(A, B, C, X, Y, K, HOW: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """What X holds, a tile as it lies or turned, a line or a number, goes into what Y stores."""
    total = multiply(A, B, BM, BN, K, 0, 0, BM, BN)
    m, n = tl.arange(0, BM), tl.arange(0, BN)
    if HOW == "tile":
        tl.store(Y + m[:, None] * BN + n[None, :], tl.load(X + m[:, None] * BN + n[None, :]) + total)
    elif HOW == "turned":
        tl.store(Y + m[:, None] * BN + n[None, :], tl.load(X + n[None, :] * BM + m[:, None]) + total)
    elif HOW == "line":
        line = tl.load(X + m)
        tl.store(Y + m, line * 2)
        tl.store(C + m[:, None] * BN + n[None, :], total * line[:, None])
    else:
        number = tl.load(X)
        tl.store(C + m[:, None] * BN + n[None, :], total * number)
        tl.store(Y, number * 2)


@tileon.jit
def turns(A, B, X, Y, K, HOW: tl.constexpr, SIZE: tl.constexpr):
    """X, or the product, is turned on the way to Y, or X goes there both ways."""
    total = multiply(A, B, SIZE, SIZE, K, 0, 0, SIZE, SIZE)
    at = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    tile = tl.load(X + at)
    if HOW == "sums":
        tl.store(Y + at, tl.trans(total) + tile)
    else:
        tl.store(Y + at, total + tl.trans(tile) + (tile if HOW == "both" else 0.0))


@tileon.jit
def exchanges(A, B, X, Y, SIZE: tl.constexpr):
    """Each of two results takes what the other one's tensor held."""
    m, n, k = tl.arange(0, SIZE), tl.arange(0, 2 * SIZE), tl.arange(0, 32)
    a, b = tl.load(A + m[:, None] * 32 + k[None, :]), tl.load(B + n[:, None] * 32 + k[None, :])
    wide, high = X + m[:, None] * 2 * SIZE + n[None, :], Y + n[:, None] * SIZE + m[None, :]
    x, y = tl.load(wide), tl.load(high)
    tl.store(wide, tl.dot(a, tl.trans(b)) + tl.trans(y))
    tl.store(high, tl.dot(b, tl.trans(a)) + tl.trans(x))


@tileon.jit
def combines_lines(A, B, LSE, LOCKS, M, N, K, ROWS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Logarithms of rows' or columns' sums of exponentials, over all programs of a row or of a column."""
    i, j = tl.program_id(0), tl.program_id(1)
    m, n = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN)
    total = multiply(A, B, M, N, K, i, j, BM, BN)
    if ROWS:
        at, inside, lock = m, m < M, LOCKS + i
        total = tl.where((n < N)[None, :], total, -float("inf"))
        top = tl.max(total, 1)
        own = top + tl.log(tl.sum(tl.exp(total - top[:, None]), 1))
    else:
        at, inside, lock = n, n < N, LOCKS + j
        total = tl.where((m < M)[:, None], total, -float("inf"))
        top = tl.max(total, 0)
        own = top + tl.log(tl.sum(tl.exp(total - top[None, :]), 0))
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    before = tl.load(LSE + at, mask=inside, other=0.0)
    least, largest = tl.minimum(before, own), tl.maximum(before, own)
    tl.store(LSE + at, largest + tl.log(1 + tl.exp(least - largest)), mask=inside)
    tl.atomic_xchg(lock, 0)


def factors(device, dtype, m, n, k):
    return (torch.randint(-3, 4, shape, device=device).to(dtype) for shape in ((m, k), (n, k)))


def changed(device, dtype, shape, tile, rows, sums):
    """(module, [(result, what it should be)]): integers whose sums no type rounds."""
    m, n, k = shape
    a, b = factors(device, torch.float16, m, n, k)
    c = torch.full((m, n), float("nan"), device=device)
    length = m if rows else n
    memory = torch.arange(length + 8, device=device).remainder(7).to(dtype)
    line = memory[:length].double()
    module = changes_a_line[(1,)](a, b, c, memory, m, n, k, rows, sums, *tile).module
    exact = a.double() @ b.double().T
    more = exact.sum(1 if rows else 0) if sums else 1
    rest = torch.arange(length, length + 8, device=device).remainder(7).double()
    return module, [(memory, torch.cat(((line + more).to(dtype).double(), rest))), (c, exact + (line[:, None] if rows else line))]


def logarithms(scores, step):
    """(the exact logarithm of each row's sum of exponentials, a bound of what programs of `step` columns are off by).

    Scores are eighths of eighths that float32 holds, and so is how far they are below their maximum. A program's exponentials are
    a function each; their sum, in any order, is off by u times all sums on the way, at most those of the largest ones first; then
    the logarithm, a function, and the maximum is added. Combining two such lines does not make larger what they are off by. It
    rounds their difference d and takes its exponential e (a function, and e |d| < 1), 1 + e, at most 2, its logarithm, at most
    log 2 (a function), and the last sum; of a line that is not there, too."""
    u, exact = UNITS[torch.float32], scores.logsumexp(1)
    programs, largest = scores.split(step, 1), torch.zeros_like(exact)
    for own in programs:
        weights = (own - own.amax(1, keepdim=True)).exp().sort(1, descending=True).values
        total, sums = weights.sum(1), weights.cumsum(1)[:, 1:].sum(1)
        size = own.logsumexp(1).abs()
        largest = torch.maximum(largest, FUNCTION + sums / total + FUNCTION * total.log() + size)
    size = scores.abs().amax(1) + exact.abs()  # of any line on the way
    return exact, 1.01 * u * (largest + len(programs) * (FUNCTION + 1 + 2 + FUNCTION * math.log(2) + size))


def combined(device, dtype, shape, tile, rows):
    """(module, result, what it should be with a bound of the error)."""
    m, n, k = shape
    a, b = (x / 8 for x in factors(device, dtype, m, n, k))
    length = m if rows else n
    lse = torch.full((length + 8,), -float("inf"), device=device)
    grid = (-(-m // tile[0]), -(-n // tile[1]))
    locks = torch.zeros(grid[0 if rows else 1], dtype=torch.int32, device=device)
    module = combines_lines[grid](a, b, lse, locks, m, n, k, rows, *tile).module
    assert (locks == 0).all()
    assert lse[length:].isneginf().all()
    scores = a.double() @ b.double().T
    return module, lse[:length], logarithms(scores if rows else scores.T, tile[1] if rows else tile[0])


@pytest.mark.parametrize("tile", [(64, 128), (128, 64), (128, 128), (256, 128)], ids=str)
def test_rows_under_a_lock_take_the_path(tile, goes_through_blocks):
    goes_through_blocks(combined("cpu", torch.bfloat16, (256, 256, 64), tile, rows=True)[0])


@pytest.mark.pairs
@on_both
@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("tile", [(64, 64), (64, 128), (128, 128), (256, 64)], ids=str)
@pytest.mark.parametrize("shape", [(1, 1, 8), (130, 200, 40), (300, 128, 64)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_lines_under_a_lock(dtype, shape, tile, rows, device):
    _, lse, wanted = combined(device, dtype, shape, tile, rows)
    within(lse, wanted)


@pytest.mark.pairs
@on_both
@pytest.mark.parametrize("sums", [False, True])
@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("tile", [(64, 64), (64, 128), (128, 128), (256, 64)], ids=str)
@pytest.mark.parametrize("shape", [(1, 1, 8), (60, 50, 40), (64, 64, 512)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_lines_in_place(dtype, shape, tile, rows, sums, device):
    for result, exact in changed(device, dtype, shape, tile, rows, sums)[1]:
        assert torch.equal(result.double(), exact)


@on_both
@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("tile", [(64, 64), (128, 128), (32, 16)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_numbers_in_place(dtype, tile, counts, device):
    m, n, k = 4 * tile[0], tile[1], 64
    a, b = factors(device, dtype, m, n, k)
    c = torch.full((m, n), float("nan"), device=device)
    numbers = torch.tensor([0, 1, 3, 4, 77], dtype=torch.int32, device=device)
    changes_a_number[(4,)](a, b, c, numbers, m, n, k, counts, *tile)
    lengths = [0, 16, 48, 64] if counts else [k] * 4
    parts = zip(a.double().split(tile[0]), [0, 1, 3, 4], lengths)
    exact = torch.cat([each[:, :length] @ b.double()[:, :length].T * number for each, number, length in parts])
    torch.testing.assert_close(c.double(), exact, rtol=0, atol=0)
    assert numbers.tolist() == [1, 2, 4, 5, 77]


@on_both
@pytest.mark.parametrize("how", ["tile", "turned", "line", "number"])
@pytest.mark.parametrize("ahead", [-1, 0, 1])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_one_tensor_as_two_arguments(dtype, ahead, how, device):
    size = 64
    a, b = factors(device, dtype, size, size, size)
    c = torch.full((size, size), float("nan"), device=device)
    memory = torch.arange((size + 2) * size, device=device).remainder(61).float()
    x, y = (memory[(1 + row) * size :] for row in (ahead, 0)) if how in ("tile", "turned") else (memory[1 + ahead :], memory[1:])
    held, product = memory.double(), a.double() @ b.double().T
    if how in ("tile", "turned"):
        loaded = x[: size * size].double().view(size, size)
        held[size : size + size * size] = ((loaded if how == "tile" else loaded.T) + product).flatten()
        stored = c.double()
    else:
        loaded = x[:size].double()
        stored = product * (loaded[:, None] if how == "line" else loaded[0])
        held[1 : 1 + (size if how == "line" else 1)] = loaded * 2 if how == "line" else loaded[:1] * 2
    loads_and_stores[(1,)](a, b, c, x, y, size, how, size, size)
    torch.testing.assert_close(memory.double(), held, rtol=0, atol=0)
    torch.testing.assert_close(c.double(), stored, rtol=0, atol=0, equal_nan=True)


@pytest.mark.pairs
@on_both
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("how", ["tile", "sums", "both"])
@pytest.mark.parametrize("size", [16, 64, 128])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_turned_beside_a_product(dtype, size, how, own, device):
    a, b = factors(device, dtype, size, size, 64)
    x = torch.arange(size * size, device=device).remainder(61).float().view(size, size)
    y = x if own else torch.full((size, size), float("nan"), device=device)
    held, product = x.double(), a.double() @ b.double().T
    exact = {"tile": product + held.T, "sums": product.T + held, "both": product + held + held.T}[how]
    turns[(1,)](a, b, x, y, 64, how, size)
    torch.testing.assert_close(y.double(), exact, rtol=0, atol=0)


@on_both
@pytest.mark.parametrize("size", [16, 64])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_tiles_exchanged_beside_products(dtype, size, device):
    a, b = factors(device, dtype, size, 2 * size, 32)
    x, y = (torch.randint(-9, 9, shape, device=device).float() for shape in ((size, 2 * size), (2 * size, size)))
    product = a.double() @ b.double().T
    wide, high = product + y.double().T, product.T + x.double().T
    exchanges[(1,)](a, b, x, y, size)
    torch.testing.assert_close(x.double(), wide, rtol=0, atol=0)
    torch.testing.assert_close(y.double(), high, rtol=0, atol=0)
