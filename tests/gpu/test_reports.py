"""Prints, assertions, and tiles that shared memory cannot hold."""

import pytest
import torch

import tilery.tilelang as tilelang
import tilery.tilelang.language as T
from tilery import _native, tileon
from tilery.tileon import language as tl


@tileon.jit
def noisy(x_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.device_print("x", x, i)
    tl.device_print("halves", x.to(tl.float16), x > 0.5)
    tl.device_print("sum", tl.sum(x, 0))


@tilelang.jit
def checked(n, block):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32")):
        with T.Kernel(n // block) as i:
            tile = T.alloc_fragment((block,), "float32")
            T.copy(A[i * block], tile)
            for j in T.Parallel(block):
                tile[j] = tile[j] + 1
            T.device_assert(tile[3] < 10, "A[3] must be small")
            T.copy(tile, A[i * block])

    return main


@tileon.jit
def sums(x_ptr, y_ptr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.cumsum(tl.load(x_ptr + i), 0, reverse=True)
    y = tl.cumsum(tl.load(y_ptr + i), 0)
    tl.store(y_ptr + i, x + y)


LARGE = 1 << 15  # two tiles of 128 KB


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_assembles(arch, assemble):
    kernel = checked(64, 16)
    kernel(torch.zeros(64))
    ordinary = torch.zeros(LARGE, dtype=torch.int32)
    modules = {
        "noisy": noisy[(2,)](torch.zeros(8), 7, B=4).module,
        "checked": kernel._latest().module,
        "sums": sums[(1,)](ordinary, ordinary.clone(), B=LARGE).module,
    }
    for name, module in modules.items():
        compiled = _native.compile(module, texts=True, target=arch)
        assert "0 bytes spill stores" in assemble(compiled.asm, arch)
        assert ("in the workspace" in compiled.plan) == (name == "sums")


@pytest.mark.gpu
def test_prints_a_line_an_element(capfd):
    noisy[(300,)](torch.arange(1200, device="cuda") / 4, 1190, B=4)
    expected = []
    for p in range(300):
        x = [i / 4 if i < 1190 else 0.0 for i in range(4 * p, 4 * p + 4)]
        head = f"pid ({p}, 0, 0) idx"
        expected += [f"{head} ({i}) x: (operand 0) {value:.6f}" for i, value in enumerate(x)]
        expected += [f"{head} ({i}) x: (operand 1) {4 * p + i}" for i in range(4)]
        expected += [f"{head} ({i}) halves: (operand 0) {value:.6f}" for i, value in enumerate(x)]
        expected += [f"{head} ({i}) halves: (operand 1) {value > 0.5}" for i, value in enumerate(x)]
        expected += [f"{head} () sum: {sum(x):.6f}"]
    lines = capfd.readouterr().out.splitlines()
    assert sorted(lines) == sorted(expected)
    assert [line.split(" idx")[0] for line in lines] == [line.split(" idx")[0] for line in expected]  # program after program


@pytest.mark.gpu
def test_more_than_fits(capfd):
    noisy[(1,)](torch.zeros(1 << 20, device="cuda"), 1 << 20, B=1 << 20)
    text = capfd.readouterr()
    assert "did not fit" in text.err and text.out == ""


@pytest.mark.gpu
def test_assertions(capfd):
    kernel = checked(64, 16)
    values = torch.zeros(64, device="cuda")
    kernel(values)
    assert torch.equal(values, torch.ones(64, device="cuda"))
    values[[19, 35]] = 9
    with pytest.raises(AssertionError) as raised:
        kernel(values)
    assert r"A[3] must be small (program (1, 0, 0) of" in str(raised.value)
    assert 'T.device_assert(tile[3] < 10, "A[3] must be small")' in str(raised.value)
    assert values[16] == 1 and values[0] == 2  # the failing programs ended before they wrote
    values.zero_()
    kernel(values)  # nothing is left of the failure


@pytest.mark.gpu
@pytest.mark.parametrize("programs", [1, 3, 700])
def test_tiles_in_global_memory(programs):
    x = torch.randint(-1000, 1000, (programs, LARGE), device="cuda", dtype=torch.int32)
    y = torch.randint(-1000, 1000, (programs, LARGE), device="cuda", dtype=torch.int32)
    expected = x.flip(-1).cumsum(-1).flip(-1).int() + y.cumsum(-1).int()
    sums[(programs,)](x, y, B=LARGE)
    assert torch.equal(y, expected)
