# %% [markdown]
# # Tileon and Triton
#
# Five programs, from a sum of two vectors to a model that learns. NumPy is enough for all but the last, whose gradients are
# PyTorch's, and for [what is timed beside it](#beside-pytorch) (`pip install torch matplotlib`).
# Tileon and Triton are one language here under two names: a program that says `import triton` runs unchanged by
# `tilery run program.py`, and `from tilery import tileon` gives the same functions without that.

# %%
import numpy as np

from tilery import tileon
from tilery.tileon import language as tl

rng = np.random.default_rng(0)
randn = lambda *shape: rng.standard_normal(shape, dtype=np.float32)


def empty(shape, like):
    """An array, or a tensor of torch where `like` is one."""
    return like.new_empty(shape) if hasattr(like, "new_empty") else np.empty(shape, like.dtype)

# %% [markdown]
# ## Vector add
#
# A kernel is written for one *program*, a part of the work that does not depend on the others. A launch names a *grid*: how many
# programs there are. Each asks for its number, `tl.program_id(0)`, and takes the elements that are its own.
#
# `tl.arange` makes a *tile*, here one of numbers. A pointer plus a tile of numbers is a tile of pointers, which `tl.load` and
# `tl.store` follow. The last program may reach beyond the end: `mask` says which elements there are.

# %%
@tileon.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def add(x, y):
    out, n = empty(x.shape, x), x.shape[0]
    add_kernel[(tl.cdiv(n, 4096),)](x, y, out, n, BLOCK=4096)
    return out


x, y = randn(100_003), randn(100_003)
np.testing.assert_array_equal(add(x, y), x + y)
print("add agrees with NumPy")

# %% [markdown]
# The first call compiles, for these types and for what the sizes divide by; later calls of that kind launch at once. A parameter
# marked `tl.constexpr` is a number at compile time, and tiles are made of such numbers only. They need not be powers of two.

# %% [markdown]
# ## Softmax
#
# A program takes a row. It is read once, stays in registers or in the nearest cache, and the result is written once; composed of
# single operations, the same would read and write it several times. `tl.max` and `tl.sum` reduce a tile along an axis. Elements
# beyond the row's end are minus infinity, so that they add nothing. Strides, how far rows lie apart, count elements; those of
# NumPy count bytes.

# %%
@tileon.jit
def softmax_kernel(out_ptr, x_ptr, stride_out, stride_x, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * stride_x + columns, mask=mask, other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride_out + columns, numerator / tl.sum(numerator, axis=0), mask=mask)


def strides(x):
    return x.stride() if hasattr(x, "stride") else [step // x.itemsize for step in x.strides]


def softmax(x):
    rows, n = x.shape
    out = empty(x.shape, x)
    softmax_kernel[(rows,)](out, x, strides(out)[0], strides(x)[0], n, BLOCK=tileon.next_power_of_2(n))
    return out


def softmax_by_numpy(x):
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


x = randn(1823, 781)
np.testing.assert_allclose(softmax(x), softmax_by_numpy(x), rtol=1e-5)
print("softmax agrees with NumPy")

# %% [markdown]
# ## Matrix product
#
# A program computes a tile of the result. It walks along K, loads a tile of each factor, and adds their product to an
# accumulator: `tl.dot(a, b, acc)`. `[:, None]` makes a column of a tile and `[None, :]` a row; their sum is a tile of two
# dimensions.
#
# Sizes and strides are arguments. So the same kernel takes transposed factors, of which only the strides differ, and slices.

# %%
@tileon.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * stride_am + k[None, :] * stride_ak,
                    mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * stride_bk + columns[None, :] * stride_bn,
                    mask=(k[:, None] < K) & (columns[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * stride_cm + columns[None, :] * stride_cn, acc, mask=mask)


def matmul(a, b, blocks=(128, 128, 64)):
    (M, K), N = a.shape, b.shape[1]
    c = empty((M, N), a)
    grid = lambda meta: (tl.cdiv(M, meta["BLOCK_M"]), tl.cdiv(N, meta["BLOCK_N"]))
    matmul_kernel[grid](a, b, c, M, N, K, *strides(a), *strides(b), *strides(c),
                        BLOCK_M=blocks[0], BLOCK_N=blocks[1], BLOCK_K=blocks[2])
    return c


a, b = randn(300, 500), randn(200, 500)
np.testing.assert_allclose(matmul(a, b.T), a @ b.T, rtol=1e-4, atol=1e-4)
print("matmul agrees with NumPy")

# %% [markdown]
# ## Attention
#
# Attention multiplies queries with keys, takes the softmax of each row, and multiplies with values. The matrix of scores is as
# large as the square of the sequence; it is never stored. A program holds a block of queries and walks over blocks of keys. For
# each row it keeps the largest score so far and the sum of exponentials, and scales both and the result down when a larger score
# comes.

# %%
@tileon.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, N, CAUSAL: tl.constexpr, BLOCK: tl.constexpr, D: tl.constexpr
):
    base = tl.program_id(1) * N * D
    d = tl.arange(0, D)
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = rows[:, None] < N
    q = tl.load(q_ptr + base + rows[:, None] * D + d[None, :], mask=inside, other=0.0)
    largest = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    acc = tl.zeros((BLOCK, D), dtype=tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * BLOCK, N) if CAUSAL else N
    for start in range(0, end, BLOCK):
        n = start + tl.arange(0, BLOCK)
        k = tl.load(k_ptr + base + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
        v = tl.load(v_ptr + base + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
        scores = tl.dot(q, k.T) * scale
        seen = n[None, :] < N
        if CAUSAL:
            seen = seen & (n[None, :] <= rows[:, None])
        scores = tl.where(seen, scores, -1.0e6)
        new = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp(scores - new[:, None])
        fade = tl.exp(largest - new)
        total = total * fade + tl.sum(weights, 1)
        acc = tl.dot(weights.to(v.dtype), v, acc * fade[:, None])
        largest = new
    tl.store(out_ptr + base + rows[:, None] * D + d[None, :], acc / total[:, None], mask=inside)


def attention(q, k, v, causal=False):
    batches, heads, n, d = q.shape
    out = empty(q.shape, q)
    attention_kernel[(tl.cdiv(n, 64), batches * heads)](q, k, v, out, d**-0.5, n, CAUSAL=causal, BLOCK=64, D=d)
    return out


q, k, v = (randn(2, 3, 200, 64) for _ in range(3))
for causal in (False, True):
    scores = q @ k.swapaxes(2, 3) / 8
    if causal:
        scores += np.triu(np.full((200, 200), -np.inf, np.float32), 1)
    np.testing.assert_allclose(attention(q, k, v, causal), softmax_by_numpy(scores) @ v, rtol=1e-4, atol=1e-4)
print("attention agrees with NumPy")

# %% [markdown]
# ## Beside PyTorch
#
# Tensors of torch are arguments as arrays are, and what lies on a GPU is computed there. `do_bench` gives the time of a call in
# milliseconds, here the least of as many as fit 40 ms. Sums of vectors and softmax are bound by memory, so that bytes a second
# say how good they are. A sum of vectors:

# %%
import matplotlib.pyplot as plt
import torch

torch.manual_seed(0)
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def rates(functions, sizes, work):
    """{name: work(size) / time of function(size), in units of 1e9}"""
    bench = lambda call: tileon.testing.do_bench(call, warmup=5, rep=40, return_mode="min")
    return {name: [work(n) / bench(make(n)) / 1e6 for n in sizes] for name, make in functions.items()}


def plot(results, sizes, xlabel, ylabel):
    figure, axes = plt.subplots()
    for name, values in results.items():
        axes.plot(sizes, values, marker="o", label=name)
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.legend()
    plt.show()


def calls(function, *shapes):
    """make(n) -> a call of `function` on random tensors of shape(n)"""
    def make(n):
        arguments = [torch.randn(shape(n), device=DEVICE) for shape in shapes]
        return lambda: function(*arguments)

    return make


sizes = [2**k for k in range(14, 23, 2)]
vector = lambda n: (n,)
functions = {"Tilery": calls(add, vector, vector), "torch": calls(torch.add, vector, vector)}
plot(rates(functions, sizes, lambda n: 12 * n), sizes, "elements", "GB/s")

# %% [markdown]
# Softmax:

# %%
sizes = [2**k for k in range(8, 13)]
matrix = lambda n: (1024, n)
functions = {"Tilery": calls(softmax, matrix), "torch": calls(lambda x: torch.softmax(x, -1), matrix)}
plot(rates(functions, sizes, lambda n: 8 * 1024 * n), sizes, "columns", "GB/s")

# %% [markdown]
# Products:

# %%
sizes = [128, 256, 512, 1024]
square = lambda n: (n, n)
functions = {"Tilery": calls(matmul, square, square), "torch": calls(torch.mm, square, square)}
plot(rates(functions, sizes, lambda n: 2 * n**3), sizes, "rows and columns", "GFLOP/s")

# %% [markdown]
# Attention:

# %%
sizes = [128, 256, 512, 1024]
heads = lambda n: (1, 2, n, 64)
functions = {
    "Tilery": calls(attention, heads, heads, heads),
    "torch": calls(torch.nn.functional.scaled_dot_product_attention, heads, heads, heads),
}
plot(rates(functions, sizes, lambda n: 4 * 2 * n * n * 64), sizes, "rows", "GFLOP/s")

# %% [markdown]
# ## A model that learns
#
# Points on three spirals are to be told apart by two layers. Every operation of the model is a kernel: the layers are the matrix
# product above, forward and backward, with the same kernel for `x @ w`, `grad @ w.T` and `x.T @ grad`, since strides are
# arguments. The loss is one kernel more: it reads a row of scores, and writes the row's loss and its gradient in one pass.

# %%
@tileon.jit
def loss_kernel(scores_ptr, labels_ptr, losses_ptr, grad_ptr, rows, classes, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < classes
    scores = tl.load(scores_ptr + row * classes + columns, mask=mask, other=-float("inf"))
    label = tl.load(labels_ptr + row)
    scores -= tl.max(scores, axis=0)
    exponentials = tl.exp(scores)
    total = tl.sum(exponentials, axis=0)
    hit = columns == label
    tl.store(losses_ptr + row, tl.log(total) - tl.sum(tl.where(hit, scores, 0.0), axis=0))
    tl.store(grad_ptr + row * classes + columns, (exponentials / total - tl.where(hit, 1.0, 0.0)) / rows, mask=mask)


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return matmul(x, weight)

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return matmul(grad, weight.T), matmul(x.T, grad)


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, labels):
        rows, classes = scores.shape
        losses, grad = torch.empty(rows, device=scores.device), torch.empty_like(scores)
        loss_kernel[(rows,)](scores, labels, losses, grad, rows, classes, BLOCK=tileon.next_power_of_2(classes))
        ctx.save_for_backward(grad)
        return losses.mean()

    @staticmethod
    def backward(ctx, grad):
        return ctx.saved_tensors[0] * grad, None


def spirals(count):
    """Points (x, y, 1) on three arms, and the number of each one's arm."""
    arm = torch.arange(count) % 3
    radius = torch.rand(count).sqrt()
    angle = 4 * radius + arm * 2 * torch.pi / 3 + 0.15 * torch.randn(count)
    points = torch.stack([radius * angle.cos(), radius * angle.sin(), torch.ones(count)], 1)
    return points.to(DEVICE), arm.to(DEVICE)


points, arms = spirals(900)
first = (torch.randn(3, 64) * 1.5).to(DEVICE).requires_grad_()
second = (torch.randn(64, 3) * 0.1).to(DEVICE).requires_grad_()
model = lambda x: Linear.apply(torch.tanh(Linear.apply(x, first)), second)
optimizer = torch.optim.Adam([first, second], lr=0.03)
history = []
for _ in range(300):
    optimizer.zero_grad()
    loss = Loss.apply(model(points), arms)
    loss.backward()
    optimizer.step()
    history.append(loss.item())
fresh, answers = spirals(3000)
right = (model(fresh).argmax(1) == answers).float().mean().item()
print(f"loss {history[0]:.2f} at first, {history[-1]:.3f} at the end; {100 * right:.0f} % of new points are told right")
assert right > 0.9

# %%
figure, (left, middle) = plt.subplots(1, 2)
left.plot(history)
left.set_xlabel("step")
left.set_ylabel("loss")
edge = torch.linspace(-1.1, 1.1, 120)
plane = torch.stack([*torch.meshgrid(edge, edge, indexing="xy"), torch.ones(120, 120)], -1)
regions = model(plane.reshape(-1, 3).to(DEVICE)).argmax(1).reshape(120, 120).cpu()
middle.contourf(edge, edge, regions, levels=[-0.5, 0.5, 1.5, 2.5], colors=["#2f86dd", "#e07b39", "#2fa36b"], alpha=0.35)
for arm, colour in enumerate(["#2f86dd", "#e07b39", "#2fa36b"]):
    some = points[arms == arm][:60].cpu()
    middle.scatter(some[:, 0], some[:, 1], s=6, color=colour)
middle.set_aspect("equal")
plt.show()

# %% [markdown]
# ## Where to go from here
#
# - What makes such kernels fast, and how to see why one is slow: [Performance](../guide/fast.md).
# - Trying several tile sizes: [Autotuning](../guide/autotuning.md).
# - All functions of `tl`: [Functions of the languages](../reference/functions.md).
