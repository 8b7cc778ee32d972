"""What libraries do around kernels, in a program that knows only upstream's names."""

PROGRAM = '''
import importlib.util, linecache, sys
import torch, triton
import triton.language as tl
from torch.library import triton_op, wrap_triton

DEVICE = "cuda"

@triton.jit
def sine(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.sin(tl.load(x + i, mask=i < n).to(tl.float32)), mask=i < n)

@triton.jit
def sine_backward(x, g, d, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    slope = tl.cos(tl.load(x + i, mask=i < n).to(tl.float32))
    tl.store(d + i, slope * tl.load(g + i, mask=i < n), mask=i < n)

def launched(kernel, *tensors):
    out = torch.empty_like(tensors[0])
    with torch.cuda.device(out.device):
        kernel[lambda meta: (triton.cdiv(out.numel(), meta["BLOCK"]),)](*tensors, out, out.numel(), BLOCK=64)
    return out

class Sine(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return launched(sine, x)

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, g):
        return launched(sine_backward, *ctx.saved_tensors, g.contiguous())

def autograd():
    x = torch.randn(1000, device=DEVICE, requires_grad=True)
    Sine.apply(x).sum().backward()
    torch.testing.assert_close(x.grad, x.detach().cos())
    from torch.utils.checkpoint import checkpoint
    checkpoint(Sine.apply, x, use_reentrant=False).sum().backward()
    torch.testing.assert_close(x.grad, 2 * x.detach().cos())

def autocast():
    x = torch.randn(16, 16, device=DEVICE, requires_grad=True)
    with torch.autocast("cuda", dtype=torch.float16):
        y = Sine.apply(torch.mm(x, x))
    assert y.dtype == torch.float16
    y.float().sum().backward()
    assert x.grad.isfinite().all()

def operators():
    @triton_op("clients::sine", mutates_args={})
    def as_triton_op(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        wrap_triton(sine)[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
        return out

    as_triton_op.register_autograd(
        lambda ctx, g: g * ctx.saved_tensors[0].cos(), setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs)
    )
    x = torch.randn(300, device=DEVICE, requires_grad=True)
    as_triton_op(x).sum().backward()
    torch.testing.assert_close(x.grad, x.detach().cos())

    @torch.library.custom_op("clients::custom", mutates_args=(), device_types="cuda")
    def custom(x: torch.Tensor) -> torch.Tensor:
        return launched(sine, x)

    @custom.register_fake
    def _(x):
        return torch.empty_like(x)

    torch.testing.assert_close(custom(x.detach()), x.detach().sin())
    torch.library.opcheck(custom, (x.detach(),))
    library = torch.library.Library("clients2", "DEF")
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: launched(sine, x), "CUDA")
    torch.testing.assert_close(torch.ops.clients2.f(x.detach()), x.detach().sin())

GENERATED = """
import triton
import triton.language as tl

@triton.jit
def made(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 7, mask=i < n)
"""

def generated():
    x = torch.arange(100.0, device=DEVICE)
    with open("made.py", "w") as file:
        file.write(GENERATED)
    spec = importlib.util.spec_from_file_location("made", "made.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert torch.equal(launched(module.made, x), 7 * x)
    linecache.cache["<made>"] = len(GENERATED), None, GENERATED.splitlines(True), "<made>"
    names = {}
    exec(compile(GENERATED, "<made>", "exec"), names)
    assert torch.equal(launched(names["made"], x), 7 * x)

def closures():
    @triton.jit
    def plus(a, b):
        return a + b

    @triton.jit
    def times(a, b):
        return a * b

    def kernel_of(operation, constant):
        @triton.jit
        def kernel(x, y, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(y + i, operation(tl.load(x + i, mask=i < n), constant), mask=i < n)
        return kernel

    x = torch.arange(100.0, device=DEVICE)
    assert torch.equal(launched(kernel_of(plus, tl.constexpr(3)), x), x + 3)
    assert torch.equal(launched(kernel_of(times, tl.constexpr(5)), x), x * 5)

class Holder:
    @staticmethod
    @triton.jit
    def double(x, y, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

    def __call__(self, x):
        return launched(self.double, x)

def classes():
    x = torch.nn.Parameter(torch.arange(100.0, device=DEVICE))
    assert torch.equal(Holder()(x), 2 * x)

def questions():
    properties = torch.cuda.get_device_properties(0)
    asked = triton.runtime.driver.active.utils.get_device_properties(torch.cuda.current_device())
    assert properties.multi_processor_count >= 1 and asked["max_shared_mem"] > 0 and asked["multiprocessor_count"] >= 1
    assert len(torch.cuda.get_device_capability()) == 2
    active = triton.runtime.driver.active
    active.get_device_interface().synchronize()
    assert active.get_current_target().warp_size >= 1 and active.get_current_stream(0) is not None
    x = torch.randn(10, device=DEVICE)
    kernel = sine.warmup(x, torch.empty_like(x), 10, BLOCK=16, grid=(1,), num_warps=4)
    kernel._init_handles()
    assert kernel.n_regs >= 0 and kernel.metadata.shared >= 0 and kernel.metadata.num_warps == 4
    with torch.cuda.stream(torch.cuda.Stream()):
        y = torch.empty_like(x)
        kernel[(1, 1, 1)](x, y, 10, 16)
    torch.cuda.synchronize()
    torch.testing.assert_close(y, x.sin())

for part in (autograd, autocast, operators, generated, closures, classes, questions):
    part()
print("all")
'''


def test_libraries(tilery_run):
    assert tilery_run(PROGRAM).endswith("all\n")
