"""What torch.compile's Inductor makes of programs with our Triton, against eager: run by `tilery run`, with a device and names of
groups below."""

import os
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch._inductor import config
from torch._inductor.utils import run_and_get_code, run_fw_bw_and_get_code

config.cpu_backend = "triton"
DEVICE = sys.argv[1] if __name__ == "__main__" else "cpu"


def randn(*shape, **options):
    return torch.randn(*shape, device=DEVICE, **options)


def randint(*arguments):
    return torch.randint(*arguments, device=DEVICE)


class Block(nn.Module):
    """A transformer's block."""

    def __init__(self, width=32, heads=2):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        size = width // self.heads
        q, k, v = self.qkv(self.before(x)).view(batch, length, 3, self.heads, size).permute(2, 0, 3, 1, 4)
        attention = torch.softmax(q @ k.transpose(-1, -2) / size**0.5, -1) @ v
        x = x + self.out(attention.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.between(x))))


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Conv2d(8, 16, 3, padding=1)
        self.out = nn.Linear(16 * 4 * 4, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        x = F.avg_pool2d(F.relu(self.second(x)), 2)
        return F.log_softmax(self.out(x.flatten(1)), -1)


class Recurrence(nn.Module):
    """An LSTM cell over a few steps."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(24, 32)

    def forward(self, x):
        hidden = cell = x.new_zeros(x.shape[1], 32)
        for step in x:
            hidden, cell = self.cell(step, (hidden, cell))
        return hidden


def perceptron():
    return nn.Sequential(nn.Linear(40, 80), nn.GELU(), nn.Linear(80, 80), nn.SiLU(), nn.Linear(80, 10))


MODELS = {
    "perceptron": (perceptron, (16, 40)),
    "block": (Block, (2, 20, 32)),
    "convolutions": (Convolutions, (2, 3, 16, 16)),
    "recurrence": (Recurrence, (3, 5, 24)),
}


def assembled():
    """From here on each generated kernel is compiled for GPUs, too, and assembled where there is NVIDIA's assembler."""
    sys.path.append(str(Path(__file__).resolve().parent.parent))
    import ptx
    import triton
    from triton.backends.compiler import GPUTarget

    compile_for = triton.compile

    def compile_for_all(source, target, options):
        for arch, name in zip((80, 90), ptx.ARCHITECTURES, strict=True):
            text = compile_for(source, GPUTarget("cuda", arch, 32), options).asm["asm"]
            if ptx.PTXAS:
                ptx.assemble(text, name)
        return compile_for(source, target, options)

    triton.compile = compile_for_all


def emulated():
    """From here on generated kernels are the emulated GPU's, whose memory is the CPU's."""
    import triton
    from triton.backends.compiler import GPUTarget

    from tilery.tileon.compiler.kernel import KernelHandle

    compile_for, arch = triton.compile, int(os.environ["TILERY_EMULATE"].split(",")[0].strip("sm_a"))
    triton.compile = lambda source, target, options: compile_for(source, GPUTarget("cuda", arch, 32), options)
    KernelHandle._is_here = True  # to Inductor, which knows of a CPU alone


def check_code(codes):
    """Inductor wrote Triton, and nothing for another compiler."""
    for code in codes:
        assert "@triton.jit" in code and "cpp_fused" not in code, code


def model(name):
    """Forward and backward within eager's tolerances."""
    make, shape = MODELS[name]
    torch.manual_seed(0)
    x, module = randn(shape, requires_grad=True), make().to(DEVICE)

    def run(function):
        for tensor in (x, *module.parameters()):
            tensor.grad = None
        result, codes = run_fw_bw_and_get_code(lambda: function(x))
        return codes, [result, x.grad, *(p.grad for p in module.parameters())]

    _, expected = run(module)
    codes, found = run(torch.compile(module, fullgraph=True))
    assert len(codes) == 2
    check_code(codes)
    torch.testing.assert_close(found, expected)


def same(function, *arguments, **options):
    """The code of a compiled function that agrees with the function."""
    found, codes = run_and_get_code(torch.compile(function, fullgraph=True), *arguments)
    check_code(codes)
    torch.testing.assert_close(found, function(*arguments), equal_nan=True, **options)
    return codes[0]


def kinds():
    """Each kind of kernel that Inductor writes."""
    x, y = randn(33, 70), randn(33, 70)
    assert "triton_poi" in same(lambda x, y: (x * y + x.exp() - y.tanh()).sigmoid() / (x > y), x, y)
    code = same(lambda x: (x.var(-1), x.amax(0), x.argmin(1), F.layer_norm(x, (70,)), (x > 2).any(-1)), x)
    assert "triton_per" in code
    assert "triton_red" in same(lambda x: (torch.log_softmax(x, -1), x.var(-1), x.argmax(-1)), randn(3, 5000))
    assert "triton_for" in same(lambda *a: torch._foreach_add(torch._foreach_mul(list(a), 2), 1), x, randn(7), randn(5, 5, 5))
    assert "sort_with_index" in same(lambda x: x.sort(-1, descending=True), x)
    assert "associative_scan" in same(lambda x: (x.cumsum(-1), x.cummax(-1)), x)
    table, places = randn(50, 20), randint(-50, 50, (33,))
    assert "device_assert" in same(lambda t, i: t[i].relu(), table, places)
    assert "atomic_add" in same(lambda t, i, v: t.index_put((i,), v, accumulate=True), table, places, randn(33, 20))
    same(lambda a, b: (a // b + a % b, a << 2, a >> 1, a ^ b, a * 3), randint(-50, 50, (300,)), randint(1, 9, (300,)))
    same(lambda x: (x.to(torch.float8_e4m3fn).float(), x.to(torch.bfloat16) * 2, x.double().sin(), x.view(torch.int32) + 1), x)
    try:
        torch.compile(lambda t, i: t[i].relu())(table, torch.tensor([3, 99], device=DEVICE))
        if DEVICE == "cuda":
            torch.cuda.synchronize()
    except Exception as error:
        assert "index out of bounds" in str(error), error
    else:
        raise SystemExit("an index out of bounds went unnoticed")


def shapes():
    """One kernel for sizes that are known when it runs."""
    from torch._dynamo.testing import CompileCounter

    def function(x, y):
        return torch.softmax(x * 2, -1) + y.sum(0)

    frames = CompileCounter()
    fast = torch.compile(function, dynamic=True)
    counted = torch.compile(function, dynamic=True, backend=frames)
    for rows, columns in ((3, 5), (33, 65), (128, 1024), (700, 3)):
        x, y = randn(rows, columns), randn(9, columns)
        torch.testing.assert_close(fast(x, y), function(x, y))
        counted(x, y)
    assert frames.frame_count == 1


def templates():
    """Matrix products from Inductor's own templates, with what follows fused."""
    options = {"max_autotune_gemm": True, "max_autotune_gemm_backends": "TRITON", "benchmark_epilogue_fusion": False}
    with config.patch(**options), config.patch("test_configs.autotune_choice_name_regex", r"triton_b?mm_\d*5$"):
        x, w, b = randn(50, 64), randn(70, 64), randn(70)
        assert "triton_tem" in same(lambda x, w, b: F.gelu(F.linear(x, w, b)), x, w, b, rtol=1e-4, atol=1e-4)
        assert "triton_tem" in same(lambda x, w: (x @ w).relu(), randn(3, 50, 64), randn(3, 64, 70), rtol=1e-4, atol=1e-4)


def flex():
    """Flex attention, forward and backward (on a GPU: for CPUs Inductor has it in C++ only)."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    mask = create_block_mask(lambda batch, head, i, j: i >= j, None, None, 256, 256, device=DEVICE)
    tensors = [randn(1, 2, 256, 64, requires_grad=True) for _ in range(3)]

    def run(function):
        result, codes = run_fw_bw_and_get_code(function)
        return codes, [result, *torch.autograd.grad(function().sum(), tensors)]

    _, expected = run(lambda: F.scaled_dot_product_attention(*tensors, is_causal=True))
    codes, found = run(lambda: torch.compile(flex_attention, fullgraph=True)(*tensors, block_mask=mask))
    check_code(codes)
    assert all("triton_tem" in code for code in codes)
    torch.testing.assert_close(found, expected, rtol=2e-3, atol=2e-3)


def kernels():
    """Kernels of the program itself within what is compiled: plain, tuned, in an autograd function, as operators."""
    import written

    x, y = randn(300), randn(300)
    for function in (written.plain, written.tuned, written.operator, written.windows):
        same(function, x, y)
    assert written.mutated(x, y) == ["out"]
    x.requires_grad_()
    (expected,) = torch.autograd.grad(written.Squared.apply(x).sin().sum(), x)
    (found,) = torch.autograd.grad(torch.compile(lambda x: written.Squared.apply(x).sin().sum(), fullgraph=True)(x), x)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(found, 2 * x * (x * x).cos())


def caches():
    """The perceptron again, and what Inductor found of it in its caches and gave to its workers."""
    from torch._dynamo.utils import counters

    model("perceptron")
    print(counters["inductor"]["fxgraph_cache_hit"], counters["inductor"]["fxgraph_cache_miss"])


GROUPS = {function.__name__: function for function in (assembled, emulated, kinds, shapes, templates, flex, kernels, caches)}

if __name__ == "__main__":  # torch's compile workers may import the main module, too
    for name in sys.argv[2:]:
        GROUPS[name]() if name in GROUPS else model(name)
        print(name)
