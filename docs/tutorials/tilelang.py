# %% [markdown]
# # TileLang
#
# Five programs, from a sum of two vectors to a model that learns. NumPy is enough for all but the last, whose gradients are
# PyTorch's, and for [what is timed beside it](#beside-pytorch) (`pip install torch matplotlib`).
# In TileLang a program of the grid says where its data lie: tiles are buffers, `T.copy` moves them, `T.gemm` multiplies them and
# `T.Parallel` runs over their elements. A program that says `import tilelang` runs unchanged by `tilery run program.py`.

# %%
import numpy as np

from tilery import tilelang
from tilery.tilelang import language as T

rng = np.random.default_rng(0)
randn = lambda *shape: rng.standard_normal(shape, dtype=np.float32)

# %% [markdown]
# ## Vector add
#
# The function that `@tilelang.jit` takes is traced: it declares its tensors, allocates what it returns, and opens a grid with
# `T.Kernel`. `T.const("N")` is a size that each call's tensors bring along; code is compiled once for each.
#
# Elements beyond a tensor's end are not written, and read as 0: the last program needs no mask.

# %%
@tilelang.jit
def add(X, Y, block=4096):
    N = T.const("N")
    X: T.Tensor((N,), "float32")
    Y: T.Tensor((N,), "float32")
    Z = T.empty((N,), "float32")
    with T.Kernel(T.ceildiv(N, block), threads=128) as b:
        for i in T.Parallel(block):
            Z[b * block + i] = X[b * block + i] + Y[b * block + i]
    return Z


x, y = randn(100_003), randn(100_003)
np.testing.assert_array_equal(add(x, y), x + y)
print("add agrees with NumPy")

# %% [markdown]
# ## Softmax
#
# A program takes some rows into a *fragment*, memory that is private to it, and works there. `T.reduce_max` and `T.reduce_sum`
# reduce along a dimension into a smaller fragment.

# %%
@tilelang.jit
def softmax(X, rows=4):
    M, N = T.const("M, N")
    X: T.Tensor((M, N), "float32")
    Y = T.empty((M, N), "float32")
    with T.Kernel(T.ceildiv(M, rows), threads=128) as b:
        x = T.alloc_fragment((rows, N), "float32")
        largest = T.alloc_fragment((rows,), "float32")
        total = T.alloc_fragment((rows,), "float32")
        T.copy(X[b * rows, 0], x)
        T.reduce_max(x, largest, dim=1)
        for i, j in T.Parallel(rows, N):
            x[i, j] = T.exp(x[i, j] - largest[i])
        T.reduce_sum(x, total, dim=1)
        for i, j in T.Parallel(rows, N):
            x[i, j] /= total[i]
        T.copy(x, Y[b * rows, 0])
    return Y


def softmax_by_numpy(x):
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


x = randn(1823, 781)
np.testing.assert_allclose(softmax(x), softmax_by_numpy(x), rtol=1e-5)
print("softmax agrees with NumPy")

# %% [markdown]
# ## Matrix product
#
# A program computes a tile of the result in a fragment. It walks along K, copies a tile of each factor to shared memory and
# multiplies them. `T.Pipelined` is a loop whose copies may run ahead of its products by `num_stages` steps, where a machine has
# copies of that kind; on a CPU it is a loop.
#
# `T.gemm` takes factors that are stored the other way round: `transpose_A`, `transpose_B`. Arguments of the function that are no
# tensors are numbers at compile time, so that one function serves all three cases.

# %%
@tilelang.jit
def matmul(A, B, turn_a=False, turn_b=False, block=128, depth=64):
    M, N, K = T.const("M, N, K")
    A: T.Tensor((K, M) if turn_a else (M, K), "float32")
    B: T.Tensor((N, K) if turn_b else (K, N), "float32")
    C = T.empty((M, N), "float32")
    with T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=128) as (bx, by):
        a = T.alloc_shared((depth, block) if turn_a else (block, depth), "float32")
        b = T.alloc_shared((block, depth) if turn_b else (depth, block), "float32")
        c = T.alloc_fragment((block, block), "float32")
        T.clear(c)
        for k in T.Pipelined(T.ceildiv(K, depth), num_stages=2):
            if turn_a:
                T.copy(A[k * depth, by * block], a)
            else:
                T.copy(A[by * block, k * depth], a)
            if turn_b:
                T.copy(B[bx * block, k * depth], b)
            else:
                T.copy(B[k * depth, bx * block], b)
            T.gemm(a, b, c, transpose_A=turn_a, transpose_B=turn_b)
        T.copy(c, C[by * block, bx * block])
    return C


a, b = randn(300, 500), randn(200, 500)
np.testing.assert_allclose(matmul(a, b, turn_b=True), a @ b.T, rtol=1e-4, atol=1e-4)
print("matmul agrees with NumPy")

# %% [markdown]
# ## Attention
#
# A program holds a block of queries and walks over blocks of keys. The matrix of scores is never stored as a whole: for each
# row the largest score so far and the sum of exponentials are kept, and both and the result are scaled down when a larger score
# comes.

# %%
@tilelang.jit
def attention(Q, K, V, causal=False, block=64):
    H, N, D = T.const("H, N, D")
    Q: T.Tensor((H, N, D), "float32")
    K: T.Tensor((H, N, D), "float32")
    V: T.Tensor((H, N, D), "float32")
    Out = T.empty((H, N, D), "float32")
    with T.Kernel(T.ceildiv(N, block), H, threads=128) as (bx, h):
        q = T.alloc_shared((block, D), "float32")
        k = T.alloc_shared((block, D), "float32")
        v = T.alloc_shared((block, D), "float32")
        scores = T.alloc_fragment((block, block), "float32")
        acc = T.alloc_fragment((block, D), "float32")
        largest = T.alloc_fragment((block,), "float32")
        before = T.alloc_fragment((block,), "float32")
        total = T.alloc_fragment((block,), "float32")
        part = T.alloc_fragment((block,), "float32")
        T.copy(Q[h, bx * block, 0], q)
        T.fill(largest, -T.infinity("float32"))
        T.clear(total)
        T.clear(acc)
        for step in T.Pipelined(bx + 1 if causal else T.ceildiv(N, block), num_stages=2):
            T.copy(K[h, step * block, 0], k)
            T.copy(V[h, step * block, 0], v)
            T.gemm(q, k, scores, transpose_B=True, clear_accum=True)
            for i, j in T.Parallel(block, block):
                column = step * block + j
                seen = (column < N) & (column <= bx * block + i) if causal else column < N
                scores[i, j] = T.if_then_else(seen, scores[i, j] * D**-0.5, -1.0e6)
            T.copy(largest, before)
            T.reduce_max(scores, largest, dim=1, clear=False)
            for i, j in T.Parallel(block, block):
                scores[i, j] = T.exp(scores[i, j] - largest[i])
            T.reduce_sum(scores, part, dim=1)
            for i in T.Parallel(block):
                before[i] = T.exp(before[i] - largest[i])
                total[i] = total[i] * before[i] + part[i]
            for i, j in T.Parallel(block, D):
                acc[i, j] *= before[i]
            T.gemm(scores, v, acc)
        for i, j in T.Parallel(block, D):
            acc[i, j] /= total[i]
        T.copy(acc, Out[h, bx * block, 0])
    return Out


q, k, v = (randn(6, 200, 64) for _ in range(3))
for causal in (False, True):
    scores = q @ k.swapaxes(1, 2) / 8
    if causal:
        scores += np.triu(np.full((200, 200), -np.inf, np.float32), 1)
    np.testing.assert_allclose(attention(q, k, v, causal=causal), softmax_by_numpy(scores) @ v, rtol=1e-4, atol=1e-4)
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
    bench = lambda call: tilelang.profiler.do_bench(call, warmup=5, rep=40, return_mode="min")
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
heads = lambda n: (2, n, 64)
functions = {
    "Tilery": calls(attention, heads, heads, heads),
    "torch": calls(torch.nn.functional.scaled_dot_product_attention, heads, heads, heads),
}
plot(rates(functions, sizes, lambda n: 4 * 2 * n * n * 64), sizes, "rows", "GFLOP/s")

# %% [markdown]
# ## A model that learns
#
# Two layers learn the noisy function below. All products, forward and backward, are the kernel above; the loss and its gradient
# are one more, which adds up a number over all programs with `T.atomic_add`. Added are buffers, as a whole: of single elements,
# outside of `T.Parallel`, each of the block's 128 threads would make an addition of its own.

# %%
@tilelang.jit
def loss_and_gradient(Y, Wanted, block=256):
    N = T.const("N")
    Y: T.Tensor((N, 1), "float32")
    Wanted: T.Tensor((N, 1), "float32")
    Grad = T.empty((N, 1), "float32")
    Loss = T.empty((1,), "float32")
    with T.Kernel(1, threads=128):
        Loss[0] = 0.0
    with T.Kernel(T.ceildiv(N, block), threads=128) as b:
        square = T.alloc_fragment((block,), "float32")
        total = T.alloc_fragment((1,), "float32")
        for i in T.Parallel(block):
            difference = Y[b * block + i, 0] - Wanted[b * block + i, 0]
            square[i] = difference * difference / N
            Grad[b * block + i, 0] = 2 * difference / N
        T.reduce_sum(square, total, dim=0)
        T.atomic_add(Loss, total)
    return Loss, Grad


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return matmul(x, weight)

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return matmul(grad, weight, turn_b=True), matmul(x, grad, turn_a=True)


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y, wanted):
        loss, grad = loss_and_gradient(y, wanted)
        ctx.save_for_backward(grad)
        return loss[0]

    @staticmethod
    def backward(ctx, grad):
        return ctx.saved_tensors[0] * grad, None


truth = lambda x: torch.sin(3 * x) + 0.3 * torch.cos(9 * x)
with_one = lambda x: torch.stack([x, torch.ones_like(x)], 1)
x = torch.rand(512, device=DEVICE) * 4 - 2
samples = (truth(x) + 0.1 * torch.randn(512, device=DEVICE))[:, None]
first = (torch.randn(2, 64) * 3).to(DEVICE).requires_grad_()
second = (torch.randn(64, 1) * 0.1).to(DEVICE).requires_grad_()
model = lambda x: Linear.apply(torch.tanh(Linear.apply(with_one(x), first)), second)
optimizer = torch.optim.Adam([first, second], lr=0.03)
history = []
for _ in range(600):
    optimizer.zero_grad()
    loss = Loss.apply(model(x), samples)
    loss.backward()
    optimizer.step()
    history.append(loss.item())
print(f"mean squared error: {history[0]:.2f} at first, {history[-1]:.3f} at the end (the noise alone: 0.01)")
assert history[-1] < 0.03

# %%
figure, (left, right) = plt.subplots(1, 2)
left.plot(history)
left.set_yscale("log")
left.set_xlabel("step")
left.set_ylabel("mean squared error")
line = torch.linspace(-2, 2, 200, device=DEVICE)
right.scatter(x.cpu(), samples.cpu(), s=4, alpha=0.4, label="samples")
right.plot(line.cpu(), model(line).detach().cpu(), color="#e07b39", label="model")
right.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
plt.show()

# %% [markdown]
# ## Where to go from here
#
# - What makes such kernels fast, and how to see why one is slow: [Performance](../guide/fast.md).
# - Trying several tile sizes: [Autotuning](../guide/autotuning.md).
# - All functions of `T`: [Functions of the languages](../reference/functions.md#functions-of-t).
