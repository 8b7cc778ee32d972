"""torch.cuda.CUDAGraph under the device rule: a capture changes nothing, a replay does again what was captured."""

KERNELS = """
import pytest, torch, triton, triton.language as tl

@triton.jit
def increase(x, n, k, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) + k, mask=i < n)

@triton.autotune([triton.Config({"B": 64}), triton.Config({"B": 128})], key=["n"])
@triton.jit
def squared(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, v * v, mask=i < n)

def square(x, o):
    squared[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, o, x.numel())

cuda = torch.cuda
g = cuda.CUDAGraph()
"""


def test_replays_do_what_was_captured(tilery_run):
    tilery_run(
        KERNELS
        + """
# Memory from before counts replays only; launches and operators keep their order.
x = torch.zeros(100, device="cuda")
with cuda.graph(g, pool=cuda.graph_pool_handle(), stream=cuda.Stream()):
    assert cuda.is_current_stream_capturing()
    increase[(1,)](x, 100, 2, 128)
    x *= 3
assert not cuda.is_current_stream_capturing() and x.eq(0).all()
for _ in range(3):
    g.replay()
assert x.eq(((2 * 3) + 2) * 3 * 3 + 6).all()

# Static inputs and outputs, through views, and tensors that nobody else holds.
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).cuda()
rows, spare = torch.randn(5, 8, device="cuda"), torch.empty(20, device="cuda")
square(torch.empty(5, 4), spare)
g = cuda.CUDAGraph()
with cuda.graph(g):
    out = model(rows)
    powers = torch.empty_like(out)
    square(out + 1, powers)
    part = powers.view(-1)[3:7].sum()
for _ in range(3):
    new = torch.randn(5, 8)
    rows.copy_(new)
    g.replay()
    exact = (model.double()(new.double()) + 1) ** 2
    model.float()
    assert torch.allclose(powers.double(), exact, atol=1e-6)
    assert torch.allclose(part.double(), exact.view(-1)[3:7].sum(), atol=1e-6)

# A step of training; random numbers are new each time.
model, data = torch.nn.Linear(4, 3).cuda(), torch.randn(6, 4, device="cuda")
optimizer = torch.optim.Adam(model.parameters(), lr=0.1, capturable=True)
def step(x):
    optimizer.zero_grad(set_to_none=True)
    loss = model(x).square().sum()
    loss.backward()
    optimizer.step()
    return loss
step(data)
state = {name: value.clone() for name, value in model.state_dict().items()}
optimizer_state = __import__("copy").deepcopy(optimizer.state_dict())
g = cuda.CUDAGraph()
with cuda.graph(g):
    loss = step(data)
    noise = torch.rand(5, device="cuda")
assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
batches, losses, noises = torch.randn(4, 6, 4), [], []
for batch in batches:
    data.copy_(batch)
    g.replay()
    losses.append(loss.item())
    noises.append(noise.clone())
assert not torch.equal(noises[0], noises[1])
model.load_state_dict(state)
optimizer.load_state_dict(optimizer_state)
assert torch.allclose(torch.tensor(losses), torch.tensor([step(batch).item() for batch in batches]))

# Under inference_mode operators come whole.
with torch.inference_mode():
    g, a = cuda.CUDAGraph(), torch.randn(3, 4, device="cuda")
    with cuda.graph(g):
        b = torch.nn.functional.linear(a, a).softmax(-1)
    a.fill_(2)
    g.replay()
    assert torch.allclose(b, torch.full((3, 3), 1 / 3))
graphed = cuda.make_graphed_callables(model, (data,))
graphed(data).sum().backward()
g.enable_debug_mode()
g.debug_dump("graph.dot")
assert "softmax" in open("graph.dot").read()
"""
    )


def test_launches_of_every_language(tilery_run):
    tilery_run(
        KERNELS
        + """
import ninetoothed, tilelang, tilelang.language as T
from ninetoothed import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def described(x, o):
    o.store([0, 0], x.load([0, 0]) + 1)

def arrange(x, o):
    return x.tile((16,)), o.tile((16,))
def application(x, o):
    o = x + 1
add = ninetoothed.make(arrange, application, (Tensor(1), Tensor(1)))

@tilelang.jit(out_idx=[1])
def make_twice(n):
    @T.prim_func
    def twice(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(n):
                B[i] = A[i] * 2
    return twice
twice = make_twice(256)

@torch.library.triton_op("graphs::squares", mutates_args={})
def squares(x: torch.Tensor) -> torch.Tensor:
    o = torch.empty_like(x)
    torch.library.wrap_triton(squared)[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, o, x.numel())
    return o

x, y, z = torch.randn(16, 16, device="cuda"), torch.zeros(16, 16, device="cuda"), torch.zeros(256, device="cuda")
squares(x)
with cuda.graph(g):
    described[(1,)](TensorDescriptor.from_tensor(x, [16, 16]), TensorDescriptor.from_tensor(y, [16, 16]))
    add(y.view(-1), z)
    result = squares(twice(z))
assert y.eq(0).all() and z.eq(0).all()
for value in (3.0, -5.0):
    x.fill_(value)
    g.replay()
    assert result.eq((2 * value + 4) ** 2).all()
"""
    )


def test_what_no_capture_can_do(tilery_run):
    tilery_run(
        KERNELS
        + """
with pytest.raises(RuntimeError, match="without a preceding successful capture"):
    g.replay()
x = torch.ones(4, device="cuda")
def computed():
    increase[(1,)](x, 4, 1, 4)
    return x * 2
def nested():
    with cuda.graph(cuda.CUDAGraph()):
        pass
waits = (cuda.synchronize, cuda.Stream().synchronize, cuda.Event().synchronize)
for call in (*waits, nested, lambda: computed().sum().item(), lambda: computed().nonzero(), lambda: square(x, torch.empty(4))):
    with pytest.raises(RuntimeError, match="operation not permitted when stream is capturing"):
        with cuda.graph(g):
            call()
    assert x.eq(1).all() and not cuda.is_current_stream_capturing()
with cuda.graph(g):
    y = x + torch.tensor([1, 2], device="cpu").sum().item()  # of the host's own
g.replay()
assert y.eq(4).all()
with pytest.raises(RuntimeError, match="has captured a graph already"):
    with cuda.graph(g):
        pass
g.reset()
with pytest.raises(RuntimeError, match="without a preceding successful capture"):
    g.replay()
"""
    )
