"""The languages' matmuls on a GPU, against float64."""

import pytest
import torch
from gpu.programs import EXAMPLES, LANGUAGES

from tilery import compat

pytestmark = pytest.mark.gpu

SHAPES = [(256, 512, 128), (1000, 1008, 528), (1, 16, 16), (300, 800, 2048), (128, 256, 0), (0, 256, 64)]


def assert_product(c, a, b):
    """c is a @ b: products of 16-bit floats are exact in f32, k are added there, and the sum is rounded once to c's type."""
    a, b = a.double(), b.double()
    unit = {torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}[c.dtype]
    least = 2.0**-25 if c.dtype == torch.float16 else 0  # half the distance of its smallest numbers
    # The tensor cores may cut off instead of rounding: an addition is off by 2^-23 at most.
    sums = (a.shape[1] + 2) * 2.0**-23 * (a.abs() @ b.abs())
    assert not c.isnan().any() and ((c.double() - a @ b).abs() <= sums * (1 + unit) + unit * (a @ b).abs() + least).all()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("language", LANGUAGES)
def test_against_float64(language, dtype, shape):
    if shape[0] == 0 and language.startswith("tilelang"):
        with pytest.raises(ValueError, match="has no blocks"):
            LANGUAGES[language](*shape, dtype, "cuda")
        return
    _, c, a, b = LANGUAGES[language](*shape, dtype, "cuda")
    assert_product(c, a, b)


@pytest.mark.parametrize("blocks", [(64, 64, 32), (64, 128, 64), (128, 128, 64), (256, 128, 64), (128, 192, 128), (128, 64, 16)])
def test_tiles(blocks):
    _, c, a, b = LANGUAGES["tilelang"](520, 400, 272, torch.bfloat16, "cuda", blocks)
    assert_product(c, a, b)


def test_output_types_of_pointer_programs():
    for out in (torch.float32, torch.float16, torch.bfloat16):
        _, c, a, b = LANGUAGES["tileon"](300, 272, 128, torch.float16, "cuda", out=out)
        assert_product(c, a, b)


@pytest.mark.gpu(emulated=False)
def test_tensors_of_two_devices_are_refused():
    program = compat.load(EXAMPLES / "ninetoothed" / "matmul.py")
    a = torch.randn(64, 64, dtype=torch.float16)
    with pytest.raises(ValueError, match="move all tensors of a launch to one device"):
        program.matmul_kernel(a, a.cuda(), a)


@pytest.mark.parametrize("language", ["ninetoothed", "tileon"])
def test_repeated_rows(language):
    """A stride of 0: the copy engine takes none, so that this call gets code of the general path."""
    a = torch.randn(1, 128, device="cuda").half().expand(256, 128)
    b, c = torch.randn(128, 256, device="cuda").half(), torch.full((256, 256), float("nan"), device="cuda").half()
    program = compat.load(EXAMPLES / language / "matmul.py")
    for x in (a.contiguous(), a):
        c.fill_(float("nan"))
        if language == "tileon":
            strides = (*x.stride(), *b.stride(), *c.stride())
            program.matmul_kernel[(2,)](x, b, c, 256, 256, 128, *strides, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64)
        else:
            program.matmul_kernel(x, b, c, BLOCK_SIZE_M=128, BLOCK_SIZE_N=256, BLOCK_SIZE_K=64)
        assert_product(c, a, b)


SCHEDULES = ["group=1", "group=3", "stage_output=2", "stage_output=0", "stages=2"]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("shape", [(1000, 1008, 528), (1, 16, 16), (3000, 3008, 144), (128, 256, 0)], ids=str)
def test_schedules(schedule, shape, monkeypatch):
    """Every field's other values, also where tiles are odd in number and where a wave is not full."""
    monkeypatch.setenv("TILERY_SCHEDULE", schedule)
    monkeypatch.setenv("TILERY_CACHE_DIR", "")
    for language, blocks in (("tileon", (128, 256, 64)), ("tilelang", (128, 128, 64)), ("ninetoothed", (256, 128, 64))):
        _, c, a, b = LANGUAGES[language](*shape, torch.float16, "cuda", blocks)
        assert_product(c, a, b)
    _, c, a, b = LANGUAGES["tileon"](*shape, torch.float16, "cuda", transposed=True, out=torch.bfloat16)
    assert_product(c, a, b)
