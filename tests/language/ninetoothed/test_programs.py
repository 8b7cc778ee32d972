"""The README's and the examples' programs, unmodified, against float64: dtypes, strides, ragged and empty sizes."""

from pathlib import Path

import pytest
import torch
from language import bounds
from language.bounds import within

from tilery import compat

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "ninetoothed"
DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.fixture(scope="module")
def programs():
    return {path.stem: compat.load(path) for path in EXAMPLES.glob("*.py")}


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(20260721)


def poisoned(*shape, dtype=torch.float32):
    return torch.full(shape, float("nan"), dtype=dtype)


def strided(*shape, dtype=torch.float32):
    """No dimension has stride 1."""
    return torch.randn(*(2 * n + 1 for n in shape), dtype=torch.float64).to(dtype)[tuple(slice(0, 2 * n, 2) for n in shape)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 31, 32, 1000, 98432])
def test_add(programs, size, dtype):
    x, y = torch.randn(size, dtype=dtype), torch.randn(size, dtype=dtype)
    z = poisoned(size, dtype=dtype)
    programs["vector_add"].add_kernel(x, y, z)
    assert torch.equal(z, x + y)


def test_add_pinned_strided_and_in_place(programs):
    add = programs["vector_add"].add_kernel
    x, y = strided(777), torch.randn(777)
    z = poisoned(2 * 777)[::2]
    add(x, y, z, BLOCK_SIZE=64)
    assert torch.equal(z, x + y)
    expected = x + y
    add(x, y, x, BLOCK_SIZE=100)
    assert torch.equal(x, expected)
    add(y, y.flip(0), y, BLOCK_SIZE=1024)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64, torch.uint8, torch.float64])
def test_add_of_other_types(programs, dtype):
    x, y = (torch.randint(0, 100, (300,)).to(dtype) for _ in range(2))
    z = torch.zeros(300, dtype=dtype)
    programs["vector_add"].add_kernel(x, y, z)
    assert torch.equal(z, x + y)


@pytest.mark.parametrize("shape", [(1, 1, 1), (64, 64, 64), (100, 37, 70), (33, 129, 1), (5, 0, 7), (0, 3, 4)])
@pytest.mark.parametrize("blocks", [None, (32, 64, 32), (16, 16, 8)])
def test_readme_matmul(programs, shape, blocks):
    m, k, n = shape
    a, b = torch.randn(m, k, dtype=torch.float16), torch.randn(k, n, dtype=torch.float16)
    c = poisoned(m, n, dtype=torch.float16)
    pinned = dict(zip(("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K"), blocks)) if blocks else {}
    programs["matmul"].matmul_kernel(a, b, c, **pinned)
    within(c, bounds.product(a, b, c.dtype))


def test_readme_matmul_is_one_contraction(programs):
    a = torch.randn(64, 64, dtype=torch.float16)
    kernel = programs["matmul"].matmul_kernel
    kernel(a, a, torch.empty_like(a), BLOCK_SIZE_M=32, BLOCK_SIZE_N=32, BLOCK_SIZE_K=16)
    text = kernel.asm["passes"]
    assert text.count("tile.contract") == 1
    assert not any(op in text for op in ("tile.dot", "scf.for", "tile.pointer_access", "residual"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_addmm_reuses_the_arrangement(programs, dtype):
    m, k, n = 70, 45, 90
    input, lhs, rhs = (strided(*s, dtype=dtype) for s in ((m, n), (m, k), (k, n)))
    output = poisoned(m, n, dtype=dtype)
    programs["addmm"].addmm(input, lhs, rhs, 0.5, 2.0, output)
    wide = bounds.plus(bounds.product(lhs, rhs, torch.float32), 0.5 * input.double(), scale=2.0)
    within(output, bounds.narrowed(*wide, dtype))
    programs["addmm"].addmm(input, lhs, rhs, 1, 0, output)
    assert torch.equal(output, input)


def test_mm_of_transposed_operands(programs):
    lhs, rhs, output = torch.randn(40, 50).t(), torch.randn(60, 40).t(), poisoned(60, 50).t()
    programs["addmm"].mm(lhs, rhs, output)
    within(output, bounds.product(lhs, rhs, output.dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (7, 100), (30, 781), (0, 5)])
def test_softmax(programs, shape, dtype):
    x = (4 * torch.randn(shape)).to(dtype)
    y = poisoned(*shape, dtype=dtype)
    programs["rows"].softmax(x, y, BLOCK_SIZE=shape[-1])
    within(y, bounds.softmax(x))


def test_softmax_with_a_wider_block(programs):
    x, y = torch.randn(9, 100), poisoned(9, 100)
    programs["rows"].softmax(x, y, BLOCK_SIZE=128)
    within(y, bounds.softmax(x))


@pytest.mark.parametrize("dtype", DTYPES)
def test_rms_norm(programs, dtype):
    x, weight = torch.randn(13, 257, dtype=dtype), torch.randn(257, dtype=dtype)
    y = poisoned(13, 257, dtype=dtype)
    programs["rows"].rms_norm(x, weight.expand_as(x), 1e-5, y, BLOCK_SIZE=257)
    within(y, bounds.rms_norm(x, 1e-5, weight))
