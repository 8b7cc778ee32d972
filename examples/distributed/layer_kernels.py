"""What a transformer's layer is made of, as operators of torch with gradients: products by TileLang, norms and gates by
NineToothed, attention and loss by Tileon."""

from pathlib import Path

import torch

import tilery.torch
from tilery import compat, ninetoothed, tilelang, tileon
from tilery.ninetoothed import Symbol, Tensor
from tilery.ninetoothed import language as ntl
from tilery.tilelang import language as T
from tilery.tileon import language as tl

_TILEON = Path(__file__).parents[1] / "tileon"
_attention = compat.load(_TILEON / "attention.py").attention
_attention_backward = compat.load(_TILEON / "attention_backward.py").attention_backward

# ---- TileLang: x @ w.T


@tilelang.jit
def matmul(M, N, K, turned_a, turned_b, dtype, block_M=128, block_N=256, block_K=64):
    """C = A @ B; turned_a: A.T is given, turned_b: B.T."""
    shape_a = (block_K, block_M) if turned_a else (block_M, block_K)
    shape_b = (block_N, block_K) if turned_b else (block_K, block_N)

    @T.prim_func
    def main(
        A: T.Tensor((K, M) if turned_a else (M, K), dtype),
        B: T.Tensor((N, K) if turned_b else (K, N), dtype),
        C: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=256) as (bx, by):
            A_shared, B_shared = T.alloc_shared(shape_a, dtype), T.alloc_shared(shape_b, dtype)
            C_shared = T.alloc_shared((block_M, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            T.use_swizzle(panel_size=10)
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=4):
                if turned_a:
                    T.copy(A[k * block_K, by * block_M], A_shared)
                else:
                    T.copy(A[by * block_M, k * block_K], A_shared)
                if turned_b:
                    T.copy(B[bx * block_N, k * block_K], B_shared)
                else:
                    T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local, transpose_A=turned_a, transpose_B=turned_b)
            T.copy(C_local, C_shared)
            T.copy(C_shared, C[by * block_M, bx * block_N])

    return main


def product(a, b, turned_a=False, turned_b=False):
    (k, m) = a.shape if turned_a else a.shape[::-1]
    n = b.shape[0] if turned_b else b.shape[1]
    out = a.new_empty(m, n)
    matmul(m, n, k, turned_a, turned_b, str(a.dtype).removeprefix("torch."))(a.contiguous(), b.contiguous(), out)
    return out


@tilery.torch.custom_op("layer::linear", mutates_args=())
def linear(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """[rows, k], [n, k] -> [rows, n]"""
    return product(x, weight, turned_b=True)


@tilery.torch.backward(linear)
def linear_backward(grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return product(grad, weight), product(grad, x, turned_a=True)


# ---- NineToothed: norms and gates

ROWS, COLUMNS = Symbol("ROWS", constexpr=True), Symbol("COLUMNS", constexpr=True)
known = {"constexpr": True}  # sizes that the code knows


def norm_arrangement(x, weight, eps, y):
    return x.tile((1, COLUMNS)), weight.tile((1, COLUMNS)), eps, y.tile((1, COLUMNS))


def norm_application(x, weight, eps, y):
    wide = ntl.cast(x, ntl.float32)
    y = wide * ntl.rsqrt(ntl.sum(wide * wide) / x.shape[-1] + eps) * weight


def slope_arrangement(grad, x, weight, eps, dx, dweight):
    """A row of dweight is the sum over ROWS rows."""
    rows = [tensor.tile((ROWS, COLUMNS)) for tensor in (grad, x)]
    weight = weight.tile((1, COLUMNS)).expand((rows[0].shape[0], -1))
    return *rows, weight, eps, dx.tile((ROWS, COLUMNS)), dweight.tile((1, COLUMNS))


def slope_application(grad, x, weight, eps, dx, dweight):
    wide, slope = ntl.cast(x, ntl.float32), ntl.cast(grad, ntl.float32)
    scale = ntl.rsqrt(ntl.sum(wide * wide, 1) / x.shape[-1] + eps)[:, None]
    weighted = slope * ntl.cast(weight, ntl.float32)
    dx = scale * weighted - wide * scale * scale * scale * (ntl.sum(weighted * wide, 1) / x.shape[-1])[:, None]
    dweight = ntl.sum(slope * wide * scale, 0)[None, :]


_norm = ninetoothed.make(norm_arrangement, norm_application, (Tensor(2), Tensor(2), Tensor(0), Tensor(2)))
_slope = ninetoothed.make(
    slope_arrangement, slope_application, (Tensor(2), Tensor(2), Tensor(2), Tensor(0), Tensor(2), Tensor(2))
)


@tilery.torch.custom_op("layer::rms_norm", mutates_args=())
def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """[rows, columns], [columns] -> like x"""
    y = torch.empty_like(x)
    _norm(x, weight.expand_as(x), eps, y, COLUMNS=x.shape[1])
    return y


@tilery.torch.backward(rms_norm)
def rms_norm_backward(grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    rows = 4
    dx, parts = torch.empty_like(x), x.new_empty(tl.cdiv(x.shape[0], rows), x.shape[1], dtype=torch.float32)
    _slope(grad, x, weight[None], eps, dx, parts, ROWS=rows, COLUMNS=x.shape[1])
    return dx, parts.sum(0).to(weight.dtype)


def gate_arrangement(*tensors):
    return tuple(tensor.tile((1, COLUMNS)) for tensor in tensors)


def gate_application(gate, up, y):
    wide = ntl.cast(gate, ntl.float32)
    y = wide * ntl.sigmoid(wide) * up


def gate_slope_application(grad, gate, up, dgate, dup):
    wide, slope = ntl.cast(gate, ntl.float32), ntl.cast(grad, ntl.float32)
    s = ntl.sigmoid(wide)
    dgate = slope * up * s * (1 + wide * (1 - s))
    dup = slope * wide * s


_gate = ninetoothed.make(gate_arrangement, gate_application, (Tensor(2),) * 3)
_gate_slope = ninetoothed.make(gate_arrangement, gate_slope_application, (Tensor(2),) * 5)


@tilery.torch.custom_op("layer::gated", mutates_args=())
def gated(x: torch.Tensor) -> torch.Tensor:
    """[rows, 2 n] -> [rows, n]: silu of the first n columns, times the others"""
    gate, up = x.chunk(2, 1)
    y = x.new_empty(gate.shape)
    _gate(gate, up, y, COLUMNS=1024)
    return y


@tilery.torch.backward(gated)
def gated_backward(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    dx = torch.empty_like(x)
    _gate_slope(grad, *x.chunk(2, 1), *dx.chunk(2, 1), COLUMNS=1024)
    return dx


# ---- Tileon: attention and loss


@tilery.torch.custom_op("layer::attention", mutates_args=())
def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Causal; [batches, heads, rows, columns], contiguous, rows a multiple of 128 -> like q, and logarithms of sums"""
    out = torch.empty_like(q)
    return out, _attention(q, k, v, out, causal=True)


@tilery.torch.backward(attention)
def attention_backward(
    grad_0: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, output_0: torch.Tensor, output_1: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    grads = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    _attention_backward(q, k, v, output_0, grad_0, output_1, *grads, causal=True)
    return grads


@tileon.jit
def logits_kernel(x, targets, logs, picked, first, n, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    value = tl.load(x + row * n + columns, mask=columns < n, other=-float("inf")).to(tl.float32)
    top = tl.max(value, 0)
    tl.store(logs + row, top + tl.log(tl.sum(tl.exp(value - top), 0)))
    chosen = (columns == tl.load(targets + row) - first) & (columns < n)
    tl.store(picked + row, tl.sum(tl.where(chosen, value, 0.0), 0))


@tileon.jit
def logits_slope_kernel(x, targets, logs, dlogs, dpicked, dx, first, n, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    value = tl.load(x + row * n + columns, mask=columns < n, other=-float("inf")).to(tl.float32)
    share = tl.exp(value - tl.load(logs + row)) * tl.load(dlogs + row)
    chosen = columns == tl.load(targets + row) - first
    slope = share + tl.where(chosen, tl.load(dpicked + row), 0.0)
    tl.store(dx + row * n + columns, slope.to(dx.dtype.element_ty), mask=columns < n)


@tilery.torch.custom_op("layer::logits", mutates_args=())
def logits(x: torch.Tensor, targets: torch.Tensor, first: int) -> tuple[torch.Tensor, torch.Tensor]:
    """[rows, n], of which classes first, first + 1, ... are the columns -> log of the sum of exponentials, and the target's logit
    (0 where it is another's), of each row, in float32"""
    logs, picked = (x.new_empty(x.shape[0], dtype=torch.float32) for _ in range(2))
    block = tileon.next_power_of_2(x.shape[1])
    logits_kernel[(x.shape[0],)](x, targets, logs, picked, first, x.shape[1], BLOCK=block, num_warps=8)
    return logs, picked


@tilery.torch.backward(logits, wrt=["x"])
def logits_backward(
    grad_0: torch.Tensor, grad_1: torch.Tensor, x: torch.Tensor, targets: torch.Tensor, output_0: torch.Tensor, first: int
) -> torch.Tensor:
    dx, block = torch.empty_like(x), tileon.next_power_of_2(x.shape[1])
    sizes = (first, x.shape[1])
    logits_slope_kernel[(x.shape[0],)](x, targets, output_0, grad_0, grad_1, dx, *sizes, BLOCK=block, num_warps=8)
    return dx
