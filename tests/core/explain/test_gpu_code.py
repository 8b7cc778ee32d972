"""What is said of code for GPUs: plan and faults, looked at where there is none."""

import os
import re
import subprocess

import ptx
import pytest
import torch
from core.explain import flat_kernels
from core.explain.faulty_kernels import divide_kernel, gemm_kernel, looked_up_kernel, matmul_kernel, narrow_product_kernel

from tilery import tileon
from tilery.core import compile
from tilery.core.cubin import registers
from tilery.core.explain.found import Block, find
from tilery.core.explain.text import _block
from tilery.tileon import language as tl


def made(launch, target="sm_90a"):
    found = find(launch)
    assert isinstance(found.kernel, compile.CompiledKernel)
    return found.kernel.made(target)


def product(dtype, **options):
    a, b, c = torch.empty(256, 192, dtype=dtype), torch.empty(192, 256, dtype=dtype), torch.empty(256, 256)
    return lambda: matmul_kernel[(2, 2)](a, b, c, 256, 256, 192, BM=128, BN=128, BK=64, **options)


def test_a_product_says_schedule_price_and_rival():
    steps = [step.message for step in made(product(torch.float16)).steps]
    assert any("cycles" in step and "bound by" in step and "next " in step for step in steps), steps


def test_registers_are_those_that_the_assembler_says(tmp_path):
    """Of each kernel of a file."""
    if not ptx.PTXAS:
        pytest.skip(ptx.MISSING)
    kernel = """
.visible .entry NAME(.param .u64 p) { .reg .u64 %a; .reg .f32 %f<64>; ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a;
LOADS
STORES
ret; }"""
    text = ".version 8.0\n.target sm_80\n.address_size 64\n"
    for name, values in (("few", 4), ("many", 60)):
        loads = "".join(f"ld.volatile.global.f32 %f{i}, [%a+{4 * i}];\n" for i in range(values))
        stores = "".join(f"st.volatile.global.f32 [%a+{4 * i}], %f{i};\n" for i in range(values))
        text += kernel.replace("NAME", name).replace("LOADS", loads).replace("STORES", stores)
    (tmp_path / "code.ptx").write_text(text)
    command = [ptx.PTXAS, "-v", "-arch=sm_80", tmp_path / "code.ptx", "-o", tmp_path / "code.cubin"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    used = re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", said, re.S)
    found = registers((tmp_path / "code.cubin").read_bytes())
    assert found == {name: int(number) for name, number in used} and found["many"] >= 60 > found["few"]
    assert registers(text.encode()) == {}


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU and a torch that sees it")
def test_what_a_block_takes():
    x = torch.ones(1000, device="cuda")
    (block,) = find(lambda: next_kernel[(4,)](x, 1000, B=256)).blocks
    assert block.threads == 128 and block.registers >= 0 and block.shared_bytes >= 0
    assert find(lambda: next_kernel[(4,)](torch.ones(1000), 1000, B=256)).blocks == [] or "TILERY_EMULATE" in os.environ


def test_how_a_block_is_written():
    assert _block(Block(128, 0, 0)) == "128 threads"
    assert _block(Block(384, 168, 200000)) == "384 threads with 168 registers each, 200 kB of shared memory"


def test_a_product_on_the_general_path_is_a_fault():
    x = torch.empty(128, 64, dtype=torch.float64)
    code = made(lambda: narrow_product_kernel[(2,)](x, x, x, M=64, N=16))
    (finding,) = [each for each in code.findings if each.fault == "product"]
    assert finding.chain[0].line and "general path" in finding.message


def test_tilelang():
    a, b = torch.empty(128, 64), torch.empty(64, 192)
    kernel = gemm_kernel(128, 192, 64)
    assert any("cycles" in step.message for step in made(lambda: kernel(a, b)).steps)


def test_lanes_of_threads():
    x, index = torch.empty(4096), torch.empty(4096, dtype=torch.int32)
    code = made(lambda: looked_up_kernel[(4,)](x, index, torch.empty(4096), B=1024))
    assert [each.fault for each in code.findings] == ["gather"]
    assert any("dealt to" in step.message for step in code.steps)
    code = made(lambda: divide_kernel[(4,)](index, torch.empty_like(index), 7, B=1024))
    assert [each.fault for each in code.findings] == ["division"]


@tileon.jit
def next_kernel(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i + 1, mask=i + 1 < n, other=0.0) + 1.0, mask=i < n)


@pytest.mark.parametrize("n", [1000, 1024])
def test_a_mask_that_ends_between_vectors_is_no_transposition(n):
    x = torch.empty(n)
    assert [each.fault for each in made(lambda: next_kernel[(4,)](x, n, B=256)).findings] == []


@tileon.jit
def column_kernel(x, o, stride, B: tl.constexpr):
    r = tl.arange(0, B)
    v = tl.load(x + r * stride)
    tl.store(o + r, v + 1)


@pytest.mark.parametrize("stride, distance", [(48, "a stride of the tensor apart"), (1, None)])
def test_threads_that_read_an_element_each_far_apart(stride, distance):
    code = made(lambda: column_kernel[(1,)](torch.empty(128 * 48), torch.empty(128), stride, B=128))
    assert [each.fault for each in code.findings] == (["gather"] if distance else [])
    assert all(distance in each.message and each.message.startswith("threads read") for each in code.findings)


@tileon.jit
def spread_out_kernel(x, o, B: tl.constexpr):
    r = tl.arange(0, B)
    tl.store(o + r * 64, tl.load(x + r))


def test_threads_that_write_an_element_each_far_apart():
    (finding,) = made(lambda: spread_out_kernel[(1,)](torch.empty(128), torch.empty(128 * 64), B=128)).findings
    assert finding.fault == "scatter" and "64 elements apart" in finding.message


@pytest.mark.parametrize("name", flat_kernels.TURNED)
def test_places_of_division(name):
    fault, kernel = flat_kernels.TURNED[name]
    found = find(lambda: kernel[flat_kernels.GRID](torch.empty(250, 128), torch.empty(128, 250), 250, 128, 32000, B=512))
    (finding,) = [each for each in found.kernel.made("sm_90a").findings if each.fault != "division"]
    assert finding.fault == fault and finding.message.endswith("by division and remainder")
    assert "rows[:, None] * N + columns[None, :]" in finding.hint


@tileon.jit
def of_rows_kernel(x, scale, o, N: tl.constexpr):
    r, c = tl.arange(0, 32), tl.arange(0, N)
    s = tl.load(scale + r * 8)
    tl.store(o + r[:, None] * N + c[None, :], tl.load(x + r[:, None] * N + c[None, :]) * s[:, None])


def test_numbers_that_neighbouring_threads_share_are_no_gather():
    x = torch.empty(32, 32)
    assert made(lambda: of_rows_kernel[(1,)](x, torch.empty(256), torch.empty_like(x), N=32)).findings == []
