"""The device rule: "cuda" means the CPU."""

import shutil

TORCH = """
import sys, threading
import torch
cpu = torch.device("cpu")
"""


# Each of the uses in a process that begins behind the import of torch, which takes seconds.
USES = """
import os, sys
import torch
for use in sys.argv[1:]:
    print("before", file=sys.stderr, flush=True)
    if not os.fork():
        exec(use)
        torch.ones(2, device="cuda")
        break
    assert os.wait()[1] == 0
"""
CHILD = "import subprocess; subprocess.run([sys.executable, '-c', 'import torch; torch.ones(2).cuda()'], check=True)"


def test_says_so_in_one_line(python):
    """Where the program first asks for the device, and to whoever has not been told."""
    means = 'the device "cuda" means the CPU in this process\n'
    run = ("-m", "tilery", "run", "program.py")
    told = f"before\ntilery: no GPU here: {means}"
    uses = "torch.cuda.is_available()", "torch.nn.Linear(1, 1).cuda()", f"torch.device('cuda:0'); {CHILD}"
    done = python(*run, *uses, files={"program.py": USES})
    assert done.stderr == told * 3
    done = python(*run, CHILD, files={})  # the child asks first; a device by its name: at the program's end
    assert done.stderr == f"{told}tilery: no GPU here: {means}"
    done = python(*run, "", files={}, environment={"TILERY_DEVICE": "cpu"})
    assert done.stderr == f"before\ntilery: TILERY_DEVICE=cpu: {means}"
    done = python(*run, files={"program.py": "import torch\ntorch.ones(2, device='cpu').sum()"})
    assert done.stderr == ""
    done = python(*run, files={}, environment={"TILERY_DEVICE": "cuda"})
    assert done.stderr == ""
    done = python("-m", "tilery", "run", "program.py", files={}, environment={"TILERY_DEVICE": "gpu"})
    said = "tilery: the environment variable TILERY_DEVICE is 'gpu'; expected cpu or cuda\n  hint: set it to that, or unset it\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_device_objects(tilery_run):
    tilery_run(
        TORCH
        + """
device = torch.device("cuda")
assert type(device) is torch.device and isinstance(device, torch.device)
for other in (torch.device("cuda:1"), torch.device("cuda", 1), torch.device(type="cuda", index=0), torch.device(0)):
    assert other == device == cpu and hash(other) == hash(cpu)
assert torch.device("meta").type == "meta"
for wrong in ("bogus", "cuda:x", "cudax"):
    try:
        torch.device(wrong)
    except RuntimeError:
        continue
    raise SystemExit(wrong)
with device:
    assert torch.ones(2).device == cpu
with torch.device("meta"):
    assert torch.ones(2).device.type == "meta"
torch.set_default_device("cuda")
assert torch.empty(2).device == cpu == torch.get_default_device()
import pickle, copy
assert pickle.loads(pickle.dumps(device)) == copy.deepcopy(device) == cpu
"""
    )


def test_functions_and_methods(tilery_run):
    tilery_run(
        TORCH
        + """
x = torch.randn(3, 4, device="cuda")
results = [x, torch.tensor([1.0], device="cuda:0"), torch.as_tensor([1], device="cuda"),
           torch.asarray([1], device="cuda"), torch.arange(3, device=torch.device("cuda", 1)), torch.eye(2, device="cuda"),
           torch.empty_strided((2,), (1,), device="cuda"), torch.randn_like(x, device="cuda"), torch.full((2,), 1, device="cuda"),
           torch.randperm(4, device="cuda"), torch.hann_window(4, device="cuda"), torch.fft.fftfreq(4, device="cuda"),
           torch.zeros(2, pin_memory=True), x.to("cuda"), x.to(device="cuda"), x.to("cuda", torch.float16),
           x.to(0), x.cuda(), x.cuda(0),
           x.new_zeros(2, device="cuda"), x.new_tensor([1.0], device="cuda"), x.pin_memory(), x.type("torch.cuda.HalfTensor"),
           torch.rand(2, generator=torch.Generator("cuda"), device="cuda"),
           torch.rand(2, generator=torch.Generator(device="cuda").manual_seed(0), device="cuda"),
           torch.cuda.FloatTensor(3)]
for result in results:
    assert result.is_cuda and result.device == torch.device("cuda"), result
assert x.to(torch.float64).dtype == torch.float64 and x.to(torch.ones(1, dtype=torch.int32)).dtype == torch.int32
assert not torch.empty(2, device="meta").is_cuda and not x.to("meta").is_cuda

model = torch.nn.Sequential(torch.nn.Linear(4, 3, device="cuda"), torch.nn.ReLU()).cuda().to("cuda").to(device="cuda:0")
assert all(parameter.is_cuda and isinstance(parameter, torch.nn.Parameter) for parameter in model.parameters())
torch.nn.Linear(2, 2, device="meta").to_empty(device="cuda")
import io
file = io.BytesIO()
torch.save(model.state_dict(), file)
for where in ({"map_location": "cuda"}, {"map_location": torch.device("cuda")}, {}):
    file.seek(0)
    model.load_state_dict(torch.load(file, **where))
with torch.autocast("cuda"), torch.autocast(device_type="cuda", dtype=torch.bfloat16), torch.cuda.amp.autocast():
    assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float16

seen = []
thread = threading.Thread(target=lambda: seen.append(torch.ones(2, device="cuda").to("cuda:0").device))
thread.start(); thread.join()
assert seen == [cpu]
"""
    )


def test_torch_cuda(tilery_run):
    tilery_run(
        TORCH
        + """
cuda = torch.cuda
assert cuda.is_available() and cuda.device_count() == 1 and cuda.current_device() == 0
assert cuda.get_device_capability() == cuda.get_device_capability("cuda:0") == (9, 0)
properties = cuda.get_device_properties(0)
assert properties.multi_processor_count >= 1 and properties.name == cuda.get_device_name(0) and properties.total_memory > 0
cuda.set_device(0); cuda.synchronize(); cuda.empty_cache(); cuda.reset_peak_memory_stats()
assert cuda.memory_allocated() == cuda.max_memory_allocated(0) == 0 and cuda.mem_get_info()[0] <= cuda.mem_get_info()[1]
start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
stream = cuda.Stream()
with cuda.stream(stream), cuda.device(0):
    start.record(); stream.wait_stream(cuda.current_stream()); end.record(stream)
end.synchronize()
assert 0 <= start.elapsed_time(end) < 1e4 and end.query() and cuda.current_stream().cuda_stream == 0
cuda.manual_seed(5); a = torch.rand(3, device="cuda"); cuda.manual_seed_all(5); b = torch.rand(3, device="cuda")
assert torch.equal(a, b)
torch.manual_seed(3)
cuda.nvtx.range_push("x"); cuda.nvtx.range_pop()
space = {"__name__": "torch._fake", "torch": torch, "x": a}
assert eval("torch.cuda.is_available(), x.is_cuda", space) == (False, False)
for made in (torch.Stream("cuda"), torch.Stream(device=0), torch.Stream(device=torch.device("cuda")), cuda.streams.Stream()):
    assert isinstance(made, cuda.Stream) and made.device.type == "cuda" and made.stream_id == made.cuda_stream == 0
    with made:
        end = made.record_event()
start = torch.Event("cuda", enable_timing=True)
start.record(made)
assert isinstance(start, cuda.streams.Event) and start.elapsed_time(made.record_event()) >= 0 and cuda.Stream.priority_range()
assert torch.Stream(device="cpu").device_type != made.device_type and isinstance(torch.Event(device="cpu"), torch.Event)
assert cuda.is_tf32_supported() and cuda.get_allocator_backend() == "native" and cuda.get_sync_debug_mode() == 0
cuda.set_sync_debug_mode("warn"); cuda.memory.reset_peak_memory_stats(); cuda.memory._record_memory_history(); cuda._lazy_init()
assert cuda.memory.max_memory_allocated() == 0 and cuda.memory._snapshot()["segments"] == [] == cuda.memory_snapshot()
with cuda.use_mem_pool(cuda.MemPool()), cuda.nvtx.range("a"):
    assert torch.ones(3, device="cuda").is_cuda
@cuda.nvtx.range("f")
def f(x):
    return x + 1
assert f(1) == 2 == f(1) and cuda.nvtx.range_end(cuda.nvtx.range_start("a")) is None
cuda.manual_seed(5); states = cuda.get_rng_state_all(); a = torch.rand(3, device="cuda"); cuda.random.set_rng_state_all(states)
assert torch.equal(a, torch.rand(3, device="cuda"))
for layout in (torch.strided, torch.jagged):
    for make in (torch.nested.nested_tensor, torch.nested.as_nested_tensor):
        assert make([torch.ones(2), torch.ones(3)], device="cuda", layout=layout).is_nested
"""
    )


def test_what_devices_and_tensors_say(tilery_run):
    tilery_run(
        TORCH
        + """
x = torch.ones(4, device="cuda")
for device in (x.device, torch.device("cuda"), torch.device("cuda", 1), (x + 1).device, torch.empty_like(x).device):
    assert (device.type, device.index, str(device), repr(device)) == ("cuda", 0, "cuda:0", "device(type='cuda', index=0)")
    assert torch.zeros(2, device=device).is_cuda and x.to(device) is x
assert x.get_device() == 0 and x.is_cuda and x.device == torch.device("cuda:0")
for y in (x.cpu(), x.to("cpu"), x.to(torch.device("cpu")), x.to(device="cpu"), torch.ones(4, device="cpu")):
    assert (y.device.type, y.device.index, str(y.device), y.get_device(), y.is_cuda) == ("cpu", None, "cpu", -1, False)
    y.zero_()  # a tensor of another device is a copy
    assert x.sum() == 4 and y.cpu() is y and y.to("cpu") is y
    alike = (torch.empty_like(y), torch.randn_like(y), y.new_zeros(3), y.new_tensor([1.0]), torch.zeros_like(y, dtype=torch.int8))
    assert [t.device.type for t in alike] == ["cpu"] * 5 and torch.zeros_like(y, device="cuda").is_cuda
    z = y.cuda()
    z.fill_(7)
    assert z.is_cuda and y.sum() == 0 and y.to("cuda").is_cuda
assert str(cpu) == "cpu" and cpu.type == "cpu" and cpu.index is None
space = {"__name__": "torch._fake", "x": x, "cpu": x.cpu()}
truth = "x.device.type, x.device.index, str(x.device), x.get_device(), x.is_cuda, x.cpu() is x, x.cuda() is x"
assert eval(truth, space) == ("cpu", None, "cpu", -1, False, True, True)
with x.device:
    assert torch.ones(2).is_cuda
torch.set_default_device(x.device)
assert torch.ones(2).is_cuda
parameter = torch.nn.Parameter(torch.ones(2, device="cuda"))
(parameter.cpu() * 2).sum().backward()
assert parameter.grad.tolist() == [2, 2]
"""
    )


def test_operators_registered_for_cuda_run(tilery_run):
    tilery_run(
        TORCH
        + """
import warnings
warnings.simplefilter("ignore")
calls = []

def replaced(name):
    def function(x, *args, **kwargs):
        calls.append(name)
        return torch.mul(x, 5)
    return function

x = torch.ones(3, device="cuda")
library = torch.library.Library("aten", "IMPL")
library.impl("neg", replaced("neg"), "CUDA")
library.impl("neg", replaced("of the CPU"), "CPU")
library.impl("abs", replaced("abs"), "CPU")
assert (-x).tolist() == [5, 5, 5] and x.abs().tolist() == [5, 5, 5] and calls == ["neg", "abs"]
library._destroy() if hasattr(library, "_destroy") else None

own = torch.library.Library("mine", "DEF")
own.define("twice(Tensor x) -> Tensor")
torch.library.impl(own, "twice", "CUDA")(lambda x: x * 2)
assert torch.ops.mine.twice(x).tolist() == [2, 2, 2]

@torch.library.custom_op("mine::thrice", mutates_args=(), device_types="cuda")
def thrice(x: torch.Tensor) -> torch.Tensor:
    return x * 3

@thrice.register_fake
def _(x):
    return torch.empty_like(x)

thrice.register_autograd(lambda context, gradient: gradient * 3)
y = x.clone().requires_grad_()
thrice(y).sum().backward()
assert y.grad.tolist() == [3, 3, 3]
"""
    )


def test_what_programs_reach_around_torch_cuda(tilery_run):
    tilery_run(
        TORCH
        + """
assert len(torch.cuda.default_generators) == 1 and torch._C._cuda_getCurrentRawStream(0) == 0
with torch.cpu.device(0), torch.cpu.device(torch.device("cuda")):
    pass
torch.manual_seed(3)
with torch.random.fork_rng(devices=[torch.ones(1, device="cuda").device.index]):
    inside = torch.rand(2)
with torch.random.fork_rng(devices=["cuda"], device_type="cuda"):
    assert torch.equal(torch.rand(2), inside)
assert torch.equal(torch.rand(2), inside)
torch.cuda.default_generators[0].manual_seed(3)
assert torch.equal(torch.rand(2, device="cuda"), inside)
torch.cuda.profiler.start(); torch.cuda.profiler.stop()
with torch.cuda.profiler.profile():
    torch.cuda.cudart().cudaProfilerStart()
"""
    )


def test_optimizers(tilery_run):
    # Adam asks torch._dynamo, which looks for Triton.
    tilery_run(
        TORCH
        + """
import tilelang
parameter = torch.nn.Parameter(torch.ones(4, device="cuda"))
optim = torch.optim
for optimizer in (optim.Adam([parameter]), optim.AdamW([parameter], fused=True), optim.SGD([parameter], lr=0.1)):
    before = parameter.detach().clone()
    optimizer.zero_grad()
    (parameter * parameter).sum().backward()
    optimizer.step()
    assert (parameter < before).all() and parameter.grad.is_cuda
import triton
"""
    )


def test_offsets_of_generators(tilery_run):
    """Kernels that draw numbers take seed and offset from a generator of the GPU, and count the offset on."""
    tilery_run(
        TORCH
        + """
import copy
import io

from torch.utils.checkpoint import checkpoint

def drawn(count, generator=None):
    generator = generator or torch.cuda.default_generators[torch.cuda.current_device()]
    state = generator.get_state()
    seed, offset = state.view(torch.int64)[-2:].tolist()
    state.view(torch.int64)[-1] += count
    generator.set_state(state)
    return seed, offset

host = len(torch.Generator().get_state())
for seed in (5, 5, 2**63 - 7):
    torch.manual_seed(seed)
    assert drawn(100) == (seed, 0) and drawn(8) == (seed, 100)
    x = torch.rand(3, device="cuda")
    torch.manual_seed(seed)
    assert torch.equal(torch.rand(3, device="cuda"), x)
torch.manual_seed(3)
drawn(4)
state, x = torch.get_rng_state(), torch.rand(3)
assert drawn(4) == (3, 4)
torch.set_rng_state(state)
assert torch.equal(torch.rand(3), x) and drawn(4) == (3, 4)
torch.set_rng_state(state[:host])
generator = torch.cuda.default_generators[0]
assert torch.equal(torch.rand(3), x) and generator.get_offset() == 0
generator.set_state(torch.tensor([9, 12]).view(torch.uint8))
assert torch.initial_seed() == 9 and generator.get_offset() == 12 and drawn(4) == (9, 12)
generator.set_offset(20)
with torch.random.fork_rng():
    drawn(4)
assert drawn(4) == (9, 20)
own = torch.Generator(device="cuda").manual_seed(1)
assert drawn(4, own) == (1, 0) and drawn(4, own) == (1, 4) and drawn(4) == (9, 24)
assert len(torch.Generator("cpu").get_state()) == host
seed, offset = own.get_state().view(torch.int64)
assert (int(seed), int(offset)) == (1, 8)
state = torch.cuda.get_rng_state().clone()
first, second = state.view(torch.int64)
second += 4
torch.cuda.set_rng_state(state)
assert generator.get_offset() == 32
file = io.BytesIO()
torch.save({"state": state, "copy": copy.deepcopy(state)}, file)
file.seek(0)
loaded = torch.load(file, weights_only=True)
assert type(loaded["state"]) is torch.Tensor and torch.equal(loaded["state"], state) and torch.equal(loaded["copy"], state)
torch.cuda.set_rng_state(loaded["state"])
assert generator.get_offset() == 32 and drawn(4) == (9, 32)
seen = []
def function(x):
    seen.append(drawn(4))
    return torch.sin(x)
checkpoint(function, torch.ones(2, device="cuda", requires_grad=True), use_reentrant=False).sum().backward()
assert len(seen) == 2 and seen[0] == seen[1]
"""
    )


def test_accelerator(tilery_run):
    tilery_run(
        TORCH
        + """
if hasattr(torch, "accelerator"):
    place = torch.accelerator
    assert place.is_available() and place.current_accelerator().type == "cuda" and place.device_count() == 1
    assert place.current_device_index() == 0
    place.set_device_index(0)
    place.synchronize()
    assert place.current_stream().query()
torch.cuda._sleep(100)
"""
    )


def test_compile(tilery_run, tmp_path):
    # Inductor needs a C++ compiler with OpenMP; the front half of torch.compile does not.
    tilery_run(
        TORCH
        + f"BACKEND = {'inductor' if shutil.which('g++') else 'aot_eager'!r}"
        + """
import triton
def f(x, w):
    return torch.relu(x.to("cuda") @ w) + torch.zeros(4, device="cuda") + torch.ones_like(x @ w, device=x.device)
x, w = torch.randn(3, 4, device="cuda"), torch.randn(4, 4, device="cuda")
torch.testing.assert_close(torch.compile(f, backend=BACKEND)(x, w), f(x, w))
assert triton.__name__.startswith("tilery.")
""",
        environment={"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache"), "CXX": "g++"},
    )


def test_without_the_rule_torch_is_untouched(tilery_run):
    tilery_run(
        TORCH
        + """
assert torch.device("cuda").type == "cuda" and torch.ones(2).is_cuda is False
""",
        environment={"TILERY_DEVICE": "cuda"},
    )


def test_compiled_functions(tilery_run):
    """torch.compile takes what the rule changes into its graphs, also where a default device is set."""
    tilery_run(
        TORCH
        + """
x = torch.ones(3, device="cuda")
functions = [lambda x: x.cuda() + 1, lambda x: torch.zeros(3, device="cuda") + x, lambda x: x.to("cuda") + 1,
             lambda x: x.cpu() + 1, lambda x: x.new_zeros(3, device="cuda") + x, lambda x: x.to(torch.float64) + 1]
for device in (None, "cuda", "cpu"):
    torch.set_default_device(device)
    for function in functions:
        torch._dynamo.reset()
        assert torch.equal(torch.compile(function, fullgraph=True, backend="eager")(x), function(x))
"""
    )


def test_mixed_precision(tilery_run):
    """What libraries ask before they convert their operands; torch's own decorators; graphs of torch.compile."""
    tilery_run(
        TORCH
        + """
def asked():
    enabled = torch.is_autocast_enabled(), torch.is_autocast_enabled("cuda")
    return *enabled, torch.get_autocast_gpu_dtype(), torch.get_autocast_dtype("cuda")

class Product(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, x, w):
        assert asked() == (True, True, torch.bfloat16, torch.bfloat16)
        ctx.save_for_backward(x, w)
        return x @ w
    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, g):
        assert asked() == (True, True, torch.bfloat16, torch.bfloat16)
        x, w = ctx.saved_tensors
        return g @ w.t(), x.t() @ g

class Half(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float16)
    def forward(ctx, x):
        assert x.dtype == torch.float16 and not torch.is_autocast_enabled()
        return x

outside = (False, False, torch.float16, torch.float16)
assert asked() == outside and torch.get_autocast_dtype("cpu") == torch.bfloat16
x, w = torch.randn(4, 4, device="cuda", requires_grad=True), torch.randn(4, 4, device="cuda")
with torch.autocast("cuda", dtype=torch.bfloat16):
    y = Product.apply(x, w)
    Half.apply(x)
assert y.dtype == torch.bfloat16
y.float().sum().backward()
assert x.grad.dtype == torch.float32 and asked() == outside
@torch.compile(backend="eager", fullgraph=True)
def convert(x):
    return x.to(torch.get_autocast_gpu_dtype()) if torch.is_autocast_enabled() else x
assert convert(x).dtype == torch.float32
with torch.autocast("cuda", dtype=torch.bfloat16):
    assert convert(x).dtype == torch.bfloat16
"""
    )
