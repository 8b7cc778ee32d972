# %% [markdown]
# # NineToothed
#
# Six programs, from a sum of two vectors to a model that learns. NumPy is enough for all but the last, whose gradients are
# PyTorch's, and for [what is timed beside it](#beside-pytorch) (`pip install torch matplotlib`).
# A kernel of NineToothed is two functions. The *arrangement* says which tiles of each tensor a program gets; the *application*
# computes with them, and knows nothing of indices, strides or masks. A program that says `import ninetoothed` runs unchanged by
# `tilery run program.py`.

# %%
import numpy as np

from tilery import ninetoothed
from tilery.ninetoothed import Symbol, Tensor, block_size
from tilery.ninetoothed import language as ntl
from tilery.ninetoothed.visualization import visualize_arrangement

rng = np.random.default_rng(0)
randn = lambda *shape: rng.standard_normal(shape, dtype=np.float32)


def empty(shape, like):
    """An array, or a tensor of torch where `like` is one."""
    return like.new_empty(shape) if hasattr(like, "new_empty") else np.empty(shape, like.dtype)

# %% [markdown]
# ## Vector add
#
# `x.tile((BLOCK,))` cuts a tensor into tiles of so many elements: a tensor of tensors. The outermost level of the arrangement is
# the grid, and each program gets one tile of each argument. A parameter that is used is read; one that is assigned is written.
# Elements beyond the end are left out by themselves.
#
# `block_size()` leaves the size open: for each kind of call a model of the machine chooses it
# ([Autotuning](../guide/autotuning.md)).

# %%
BLOCK = block_size()


def add_arrangement(x, y, z):
    return x.tile((BLOCK,)), y.tile((BLOCK,)), z.tile((BLOCK,))


def add_application(x, y, z):
    z = x + y


add_kernel = ninetoothed.make(add_arrangement, add_application, (Tensor(1), Tensor(1), Tensor(1)))


def add(x, y):
    z = empty(x.shape, x)
    add_kernel(x, y, z)
    return z


x, y = randn(100_003), randn(100_003)
np.testing.assert_array_equal(add(x, y), x + y)
print("add agrees with NumPy")

# %% [markdown]
# ## Softmax
#
# A program gets a whole row: `Symbol("WIDTH", constexpr=True)` is a size that the call names. `other` is what elements beyond the
# row's end read as; minus infinity adds nothing to a sum of exponentials.

# %%
WIDTH = Symbol("WIDTH", constexpr=True)


def softmax_arrangement(x, y):
    return x.tile((1, WIDTH)), y.tile((1, WIDTH))


def softmax_application(x, y):
    exponentials = ntl.exp(x - ntl.max(x))
    y = exponentials / ntl.sum(exponentials)


softmax_kernel = ninetoothed.make(softmax_arrangement, softmax_application, (Tensor(2, other=float("-inf")), Tensor(2)))


def softmax(x):
    y = empty(x.shape, x)
    softmax_kernel(x, y, WIDTH=x.shape[-1])
    return y


def softmax_by_numpy(x):
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


x = randn(1823, 781)
np.testing.assert_allclose(softmax(x), softmax_by_numpy(x), rtol=1e-5)
print("softmax agrees with NumPy")

# %% [markdown]
# ## Matrix product
#
# A program needs a tile of the result, a row of tiles of the first factor and a column of tiles of the second. So tiles are tiled
# once more: `.tile((1, -1))` gathers all tiles of a row, and `expand` gives each row's tiles to all programs of that row.
# `squeeze` drops the dimension of extent 1 that is left between.

# %%
def matmul_arrangement(a, b, c, block_m=block_size(), block_n=block_size(), block_k=block_size()):
    c = c.tile((block_m, block_n))
    a = a.tile((block_m, block_k)).tile((1, -1)).expand((-1, c.shape[1]))
    a.dtype = a.dtype.squeeze(0)
    b = b.tile((block_k, block_n)).tile((-1, 1)).expand((c.shape[0], -1))
    b.dtype = b.dtype.squeeze(1)
    return a, b, c


def matmul_application(a, b, c):
    acc = ntl.zeros(c.shape, dtype=ntl.float32)
    for k in range(a.shape[0]):
        acc += ntl.dot(a[k], b[k])
    c = acc


matmul_kernel = ninetoothed.make(matmul_arrangement, matmul_application, (Tensor(2), Tensor(2), Tensor(2)))


def matmul(a, b):
    c = empty((a.shape[0], b.shape[1]), a)
    matmul_kernel(a, b, c)
    return c


a, b = randn(300, 500), randn(200, 500)
np.testing.assert_allclose(matmul(a, b.T), a @ b.T, rtol=1e-4, atol=1e-4)
print("matmul agrees with NumPy")

# %% [markdown]
# An arrangement can be looked at, with numbers for sizes ([Pictures of arrangements](../visualization.md)). Here four programs
# multiply a matrix of 4 x 6 with one of 6 x 4, in tiles of 2 x 2:

# %%
small = (Tensor(shape=(4, 6), name="a"), Tensor(shape=(6, 4), name="b"), Tensor(shape=(4, 4), name="c"))
visualize_arrangement(lambda *tensors: matmul_arrangement(*tensors, 2, 2, 2), small)

# %% [markdown]
# Strides come from the tensors of the call, so that a transposed factor or a slice needs no other kernel.

# %% [markdown]
# ### With a bias
#
# A layer adds a vector to each row of a product. The vector's tiles are as wide as the result's; `unsqueeze(0)` makes them a row
# of tiles, and `expand` repeats that row for all programs below. Without `expand` only the programs of the first row would get
# it, and the others zeros (`debug=True` at a call says so). The application calls the one above and goes on with its product,
# which never goes through memory.

# %%
def layer_arrangement(a, b, bias, c, block_m=block_size(), block_n=block_size(), block_k=block_size()):
    a, b, c = matmul_arrangement(a, b, c, block_m, block_n, block_k)
    return a, b, bias.tile((block_n,)).unsqueeze(0).expand((c.shape[0], -1)), c


def layer_application(a, b, bias, c):
    product = ntl.zeros(c.shape, dtype=ntl.float32)
    matmul_application(a, b, product)
    c = ntl.maximum(product + bias, 0)


layer_kernel = ninetoothed.make(layer_arrangement, layer_application, (Tensor(2), Tensor(2), Tensor(1), Tensor(2)))
a, b, bias = randn(300, 500), randn(500, 200), randn(200)
c = empty((300, 200), a)
layer_kernel(a, b, bias, c)
np.testing.assert_allclose(c, np.maximum(a @ b + bias, 0), rtol=1e-4, atol=1e-4)
print("the layer agrees with NumPy")

# %% [markdown]
# ## Pooling
#
# Windows are tiles, too. `x.tile((1, 1, 2, 2))` cuts images, (N, C, H, W), into windows of 2 x 2: a tensor of (N, C, H / 2,
# W / 2) whose elements are tiles. With `strides` they overlap or leave something out between them (-1: they lie side by side),
# and with `floor_mode=True` there are only those that lie within the image, as in PyTorch.
#
# A program for each window would have four numbers to work on. `ravel` makes one level of two, here of eight dimensions.
# `flatten(end_dim=4)` joins those that number the windows, `flatten(start_dim=1)` those that number a window's elements. What is
# left is a matrix with a row for each window, and a program takes a block of rows, each of them whole. The result is flattened in
# the same order: one number for each row.

# %%
def pooling_arrangement(x, y, window=2, stride=-1, block=block_size()):
    windows = x.tile((1, 1, window, window), strides=(-1, -1, stride, stride), floor_mode=True)
    windows = windows.ravel().flatten(end_dim=4).flatten(start_dim=1)
    return windows.tile((block, -1)), y.flatten().tile((block,))


def largest(windows, y):
    y = ntl.max(windows, axis=1)


max_pool_kernel = ninetoothed.make(pooling_arrangement, largest, (Tensor(4), Tensor(4)))
x = randn(2, 3, 37, 50)
y = empty((2, 3, 18, 25), x)
max_pool_kernel(x, y)
np.testing.assert_array_equal(y, x[:, :, :36].reshape(2, 3, 18, 2, 25, 2).max((3, 5)))
print("max pooling agrees with NumPy")

# %% [markdown]
# The application sees rows of windows and nothing else, so that another reduction is another line, and other windows are another
# arrangement: here means of windows of 3 x 3 around each pixel that has all its neighbours. (In memory neighbours of one window
# are few, and windows beside each other many: with `.permute((1, 0)).tile((-1, block))`, where a column is a window, and
# reductions along axis 0 CPUs take less time.) How windows lie: [Pictures of arrangements](../visualization.md#windows).

# %%
def smooth_arrangement(x, y):
    return pooling_arrangement(x, y, window=3, stride=1)


def mean(windows, y):
    y = ntl.sum(windows, axis=1) / windows.shape[1]


smooth_kernel = ninetoothed.make(smooth_arrangement, mean, (Tensor(4), Tensor(4)))
smooth = empty((2, 3, 35, 48), x)
smooth_kernel(x, smooth)
neighbours = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
np.testing.assert_allclose(smooth, neighbours.mean((4, 5)), rtol=1e-5, atol=1e-6)
print("mean pooling agrees with NumPy")

# %% [markdown]
# ## Attention
#
# A program gets a block of rows of the queries of one head, and all blocks of rows of that head's keys and values. Inside, `k[i]`
# is the block of step i. The matrix of scores is never stored as a whole: for each row the largest score so far and the sum of
# exponentials are kept, and both and the result are scaled down when a larger score comes.

# %%
ROWS, COLUMNS = Symbol("ROWS", constexpr=True), Symbol("COLUMNS", constexpr=True)


def attention_arrangement(q, k, v, scale, out):
    def rows(t):
        t = t.tile((1, 1, ROWS, -1))
        t.dtype = t.dtype.squeeze((0, 1))
        return t

    queries = rows(q)

    def blocks(t):
        t = t.tile((1, 1, COLUMNS, -1)).tile((1, 1, -1, -1)).expand((-1, -1, queries.shape[-2], -1))
        t.dtype = t.dtype.squeeze((0, 1, 3))
        t.dtype.dtype = t.dtype.dtype.squeeze((0, 1))
        return t

    return queries, blocks(k), blocks(v), scale, rows(out)


def attention_application(q, k, v, scale, out):
    acc = ntl.zeros((q.shape[-2], v.dtype.shape[-1]), dtype=ntl.float32)
    total = ntl.zeros((q.shape[-2],), dtype=ntl.float32)
    largest = ntl.full((q.shape[-2],), float("-inf"), dtype=ntl.float32)
    for i in range(k.shape[0]):
        scores = ntl.dot(q, ntl.trans(k[i])) * scale
        scores = ntl.where(k[i].offsets(-2) < k.source.shape[-2], scores, float("-inf"))
        new = ntl.maximum(largest, ntl.max(scores, 1))
        weights = ntl.exp(scores - new[:, None])
        fade = ntl.exp(largest - new)
        acc = acc * fade[:, None] + ntl.dot(weights, v[i])
        total = total * fade + ntl.sum(weights, 1)
        largest = new
    out = acc / total[:, None]


tensors = (Tensor(4), Tensor(4), Tensor(4), Tensor(0), Tensor(4))
attention_kernel = ninetoothed.make(attention_arrangement, attention_application, tensors)


def attention(q, k, v):
    out = empty(q.shape, q)
    attention_kernel(q, k, v, q.shape[-1] ** -0.5, out, ROWS=64, COLUMNS=64)
    return out


q, k, v = (randn(2, 3, 200, 64) for _ in range(3))
expected = softmax_by_numpy(q @ k.swapaxes(2, 3) / 8) @ v
np.testing.assert_allclose(attention(q, k, v), expected, rtol=1e-4, atol=1e-4)
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

from tilery.tileon.testing import do_bench

torch.manual_seed(0)
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def rates(functions, sizes, work):
    """{name: work(size) / time of function(size), in units of 1e9}"""
    bench = lambda call: do_bench(call, warmup=5, rep=40, return_mode="min")
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
# A picture is to be learned: two layers get a place and say how bright it is. The first layer is a product whose result goes
# through a sine before it is stored: an application may call another's function by name, so that the new kernel is three lines.
# Backward, the gradient is multiplied with the cosine while it is read.

# %%
def sine_of_product(x, w, z):
    product = ntl.zeros(z.shape, dtype=ntl.float32)
    matmul_application(x, w, product)
    z = ntl.sin(product)


sine_kernel = ninetoothed.make(matmul_arrangement, sine_of_product, (Tensor(2), Tensor(2), Tensor(2)))


def scaled_by_cosine(grad, y, out):
    out = grad * ntl.cos(y)


cosine_kernel = ninetoothed.make(add_arrangement, scaled_by_cosine, (Tensor(1), Tensor(1), Tensor(1)))


class Sine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        z = torch.empty(x.shape[0], weight.shape[1], device=x.device)
        sine_kernel(x, weight, z)
        return z

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        inner = torch.empty_like(grad)
        cosine_kernel(grad.reshape(-1), matmul(x, weight).view(-1), inner.view(-1))
        return matmul(inner, weight.T), matmul(x.T, inner)


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return matmul(x, weight)

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return matmul(grad, weight.T), matmul(x.T, grad)


edge = torch.linspace(-1, 1, 48, device=DEVICE)
across, down = torch.meshgrid(edge, edge, indexing="xy")
picture = ((across**2 + down**2).sqrt() * 9).sin() * (across + down > -0.4)
places = torch.stack([across, down, torch.ones_like(across)], -1).reshape(-1, 3)
first = (torch.randn(3, 128) * 6).to(DEVICE).requires_grad_()
second = (torch.randn(128, 1) * 0.05).to(DEVICE).requires_grad_()
model = lambda x: Linear.apply(Sine.apply(x, first), second)
optimizer = torch.optim.Adam([first, second], lr=0.02)
history = []
for _ in range(300):
    optimizer.zero_grad()
    loss = (model(places)[:, 0] - picture.reshape(-1)).square().mean()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
print(f"mean squared error: {history[0]:.2f} at first, {history[-1]:.3f} at the end")
assert history[-1] < 0.03

# %%
figure, (left, middle, right) = plt.subplots(1, 3)
left.plot(history)
left.set_yscale("log")
left.set_xlabel("step")
left.set_ylabel("mean squared error")
for axes, pixels in ((middle, picture), (right, model(places).detach().reshape(48, 48))):
    axes.imshow(pixels.cpu(), cmap="coolwarm")
    axes.set_axis_off()
middle.set_title("picture")
right.set_title("model")
plt.show()

# %% [markdown]
# ## Where to go from here
#
# - What makes such kernels fast, and how to see why one is slow: [Performance](../guide/fast.md).
# - Block sizes that a model chooses, and timing them: [Autotuning](../guide/autotuning.md).
# - All functions of `ntl`: [Functions of the languages](../reference/functions.md#functions-of-tl-and-ntl).
