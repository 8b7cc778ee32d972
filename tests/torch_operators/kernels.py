"""silu, an addition and a sum of rows, as operators by kernels of each language."""

import torch

import tilery.torch
from tilery import ninetoothed, tilelang, tileon
from tilery.ninetoothed import Tensor
from tilery.ninetoothed import language as ntl
from tilery.tilelang import language as T
from tilery.tileon import language as tl

# ---- Tileon


@tileon.jit
def silu_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(y + i, value * tl.sigmoid(value), mask=i < n)


@tileon.jit
def silu_slope_kernel(x, grad, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    s = tl.sigmoid(value)
    tl.store(out + i, tl.load(grad + i, mask=i < n) * (s + value * s * (1 - s)), mask=i < n)


@tileon.autotune([tileon.Config({"BLOCK": 64}), tileon.Config({"BLOCK": 128})], key=["n"])
@tileon.heuristics({"EVEN": lambda named: named["x"].data_ptr() % 16 == 0})  # which nobody may ask a tensor without memory
@tileon.jit
def double_kernel(x, y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@tilery.torch.custom_op("tested::silu", mutates_args=(), vmap_method="broadcast_all")
def silu(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    silu_kernel[(tileon.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
    return y


@tilery.torch.backward(silu, vmap_method="broadcast_all")
def silu_backward(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    silu_slope_kernel[lambda meta: (tileon.cdiv(x.numel(), meta["BLOCK"]),)](x, grad, out, x.numel(), BLOCK=64)
    return out


if hasattr(torch.Tag, "inplace"):  # torch before 2.13 has no operators that return what they are given

    @tilery.torch.custom_op("tested::silu_", mutates_args=("x",), tags=torch.Tag.inplace)
    def silu_(x: torch.Tensor) -> torch.Tensor:
        silu_kernel[(tileon.cdiv(x.numel(), 64),)](x, x, x.numel(), BLOCK=64)
        return x

    @tilery.torch.custom_op("tested::silu_out", mutates_args=("out",), tags=torch.Tag.out)
    def silu_out(x: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
        silu_kernel[(tileon.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
        return out


@tilery.torch.custom_op("tested::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    double_kernel[lambda meta: (tileon.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y


# ---- NineToothed


def _rows(x, scale, y, BLOCK=ninetoothed.block_size()):
    return x.tile((1, BLOCK)), scale, y.tile((1, BLOCK))


def _scaled(x, scale, y):
    y = ntl.cast(x, ntl.float32) * scale  # noqa: F841


scale_kernel = ninetoothed.make(_rows, _scaled, (Tensor(2), Tensor(0), Tensor(2)))


@tilery.torch.custom_op("tested::scaled", mutates_args=())
def scaled(x: torch.Tensor, scale: float) -> torch.Tensor:
    y = torch.empty_like(x)
    scale_kernel(x, scale, y)
    return y


@tilery.torch.backward(scaled)
def scaled_backward(grad: torch.Tensor, scale: float) -> torch.Tensor:
    out = torch.empty_like(grad)
    scale_kernel(grad, scale, out)
    return out


@tilery.torch.custom_op("tested::scale_into", mutates_args=("y",))
def scale_into(x: torch.Tensor, scale: float, y: torch.Tensor) -> None:
    scale_kernel(x, scale, y)


# ---- TileLang


@tilelang.jit(out_idx=[-2, -1])
def sums_of(columns, dtype="float32", block=4):
    rows = T.dynamic("rows")

    @T.prim_func
    def sums(X: T.Tensor((rows, columns), dtype), Sums: T.Tensor((rows,), "float32"), Twice: T.Tensor((2 * rows, 1), dtype)):
        with T.Kernel(T.ceildiv(rows, block), threads=32) as b:
            tile, total = T.alloc_fragment((block, columns), "float32"), T.alloc_fragment((block,), "float32")
            T.copy(X[b * block, 0], tile)
            T.reduce_sum(tile, total, dim=1)
            T.copy(total, Sums[b * block])
            for i in T.Parallel(block):
                if b * block + i < rows:
                    Twice[2 * (b * block + i), 0] = total[i]
                    Twice[2 * (b * block + i) + 1, 0] = -total[i]

    return sums


@tilery.torch.custom_op("tested::sums", mutates_args=())
def sums(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    sums, twice = sums_of(x.shape[1], str(x.dtype).removeprefix("torch."))(x)
    return sums, twice


@tilery.torch.backward(sums)
def sums_backward(grad_0: torch.Tensor, grad_1: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return (grad_0 + grad_1.view(-1, 2) @ grad_1.new_tensor([1, -1]))[:, None].expand_as(x).contiguous()


@tilelang.jit
def eager_plus(a, b):
    M, N = T.const("M, N")
    a: T.Tensor[[M, N], T.float32]
    b: T.Tensor[[M, N], T.float32]
    c = T.empty((N, M), T.float32)
    with T.Kernel(M, threads=32) as m:
        for j in T.Parallel(N):
            c[j, m] = a[m, j] + b[m, j]
    return c


@tilery.torch.custom_op("tested::plus_transposed", mutates_args=())
def plus_transposed(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return eager_plus(a, b)


@tilelang.autotune(configs=[{"block": 2}, {"block": 4}])
@tilelang.jit(out_idx=-1)
def tripled_of(rows, columns, block=1):
    @T.prim_func
    def tripled(X: T.Tensor((rows, columns), "float32"), Y: T.Tensor((rows, columns), "float32")):
        with T.Kernel(T.ceildiv(rows, block), threads=32) as b:
            for i, j in T.Parallel(block, columns):
                Y[b * block + i, j] = 3 * X[b * block + i, j]

    return tripled


@tilery.torch.custom_op("tested::tripled", mutates_args=())
def tripled(x: torch.Tensor) -> torch.Tensor:
    return tripled_of(*x.shape)(x)
