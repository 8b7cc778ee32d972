"""Attention as libraries write it: with roles and barriers, split over keys, block-sparse, of one query with few heads of
keys, linear. Against float64, within derived bounds."""

import pytest
import torch
from language.attention import attention_with_bound

from tilery import tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.usefixtures("engine")
LOG2E = 1.4426950408889634


def close(actual, wanted):
    exact, error = wanted
    assert ((actual.double() - exact).abs() <= error).all()


def roles_of_attention(seq, dim, BM, BN, stages):
    steps = seq // BN

    @T.prim_func
    def main(
        Q: T.Tensor((seq, dim), "float16"),
        K: T.Tensor((seq, dim), "float16"),
        V: T.Tensor((seq, dim), "float16"),
        Out: T.Tensor((seq, dim), "float32"),
    ):
        with T.Kernel(seq // BM, threads=256) as bx:
            q = T.alloc_shared((BM, dim), "float16")
            k, v = T.alloc_shared((stages, BN, dim), "float16"), T.alloc_shared((stages, BN, dim), "float16")
            s, p = T.alloc_fragment((BM, BN), "float32"), T.alloc_fragment((BM, BN), "float16")
            o = T.alloc_fragment((BM, dim), "float32")
            most, before = T.alloc_fragment((BM,), "float32"), T.alloc_fragment((BM,), "float32")
            total, part = T.alloc_fragment((BM,), "float32"), T.alloc_fragment((BM,), "float32")
            q_full = T.alloc_barrier(128)
            k_full, v_full = T.alloc_barrier([128] * stages), T.alloc_barrier([128] * stages)
            k_empty, v_empty = T.alloc_barrier([128] * stages), T.alloc_barrier([128] * stages)
            with T.ws(1):
                T.dec_max_nreg(24)
                T.tma_copy(Q[bx * BM, 0], q, barrier=q_full)
                T.mbarrier_arrive(q_full)
                for n in T.serial(steps):
                    T.mbarrier_wait_parity(k_empty[n % stages], ((n // stages) & 1) ^ 1)
                    T.tma_copy(K[n * BN, 0], k[n % stages, :, :], barrier=k_full[n % stages])
                    T.mbarrier_arrive(k_full[n % stages])
                    T.mbarrier_wait_parity(v_empty[n % stages], ((n // stages) & 1) ^ 1)
                    T.tma_copy(V[n * BN, 0], v[n % stages, :, :], barrier=v_full[n % stages])
                    T.mbarrier_arrive(v_full[n % stages])
            with T.ws(0):
                T.inc_max_nreg(240)
                T.fill(most, -T.infinity("float32"))
                T.clear(total)
                T.clear(o)
                T.mbarrier_wait_parity(q_full, 0)
                for n in T.serial(steps):
                    T.mbarrier_wait_parity(k_full[n % stages], (n // stages) & 1)
                    T.gemm(q, k[n % stages, :, :], s, transpose_B=True, clear_accum=True)
                    T.mbarrier_arrive(k_empty[n % stages])
                    T.copy(most, before)
                    T.reduce_max(s, most, dim=1, clear=False)
                    for i, j in T.Parallel(BM, BN):
                        s[i, j] = T.exp2((s[i, j] - most[i]) * (dim**-0.5 * LOG2E))
                    T.reduce_sum(s, part, dim=1)
                    for i in T.Parallel(BM):
                        before[i] = T.exp2((before[i] - most[i]) * (dim**-0.5 * LOG2E))
                        total[i] = total[i] * before[i] + part[i]
                    T.copy(s, p)
                    for i, j in T.Parallel(BM, dim):
                        o[i, j] *= before[i]
                    T.mbarrier_wait_parity(v_full[n % stages], (n // stages) & 1)
                    T.gemm(p, v[n % stages, :, :], o)
                    T.mbarrier_arrive(v_empty[n % stages])
                for i, j in T.Parallel(BM, dim):
                    o[i, j] /= total[i]
                T.copy(o, Out[bx * BM, 0])

    return main


@pytest.mark.parametrize("stages", [1, 2])
def test_roles(stages):
    seq, dim = 128, 32
    q, k, v = (torch.randn(seq, dim).half() for _ in range(3))
    o = torch.zeros(seq, dim)
    tilelang.compile(roles_of_attention(seq, dim, 32, 32, stages))(q, k, v, o)
    close(o, attention_with_bound(q, k, v, 32, dim**-0.5))


def test_split_over_keys_with_few_heads():
    """One query a head against keys of fewer heads: parts of the keys by several blocks, combined by a second launch."""
    heads, kv_heads, seq, dim, BN, splits = 16, 2, 192, 32, 32, 3
    group, part = heads // kv_heads, seq // splits
    scale = dim**-0.5 * LOG2E

    @T.prim_func
    def main(
        Q: T.Tensor((heads, dim), "float16"),
        K: T.Tensor((seq, kv_heads, dim), "float16"),
        V: T.Tensor((seq, kv_heads, dim), "float16"),
        Out: T.Tensor((heads, dim), "float32"),
    ):
        partial = T.alloc_global((splits, heads, dim), "float32")
        logs = T.alloc_global((splits, heads), "float32")
        with T.Kernel(kv_heads, splits, threads=128) as (bx, by):
            q, k, v = (T.alloc_shared((rows, dim), "float16") for rows in (group, BN, BN))
            s, p = T.alloc_fragment((group, BN), "float32"), T.alloc_fragment((group, BN), "float16")
            o = T.alloc_fragment((group, dim), "float32")
            most, before = T.alloc_fragment((group,), "float32"), T.alloc_fragment((group,), "float32")
            total, fresh = T.alloc_fragment((group,), "float32"), T.alloc_fragment((group,), "float32")
            T.copy(Q[bx * group, 0], q)
            T.fill(most, -T.infinity("float32"))
            T.clear(total)
            T.clear(o)
            for n in T.Pipelined(part // BN, num_stages=2):
                at = by * part + n * BN
                T.copy(K[at : at + BN, bx, :], k)
                T.copy(V[at : at + BN, bx, :], v)
                T.gemm(q, k, s, transpose_B=True, clear_accum=True)
                T.copy(most, before)
                T.reduce_max(s, most, dim=1, clear=False)
                for i, j in T.Parallel(group, BN):
                    s[i, j] = T.exp2((s[i, j] - most[i]) * scale)
                T.reduce_sum(s, fresh, dim=1)
                for i in T.Parallel(group):
                    before[i] = T.exp2((before[i] - most[i]) * scale)
                    total[i] = total[i] * before[i] + fresh[i]
                T.copy(s, p)
                for i, j in T.Parallel(group, dim):
                    o[i, j] *= before[i]
                T.gemm(p, v, o)
            for i, j in T.Parallel(group, dim):
                partial[by, bx * group + i, j] = o[i, j] / total[i]
            for i in T.Parallel(group):
                logs[by, bx * group + i] = T.log2(total[i]) + most[i] * scale
        with T.Kernel(heads, threads=128) as head:
            o = T.alloc_fragment((dim,), "float32")
            most, total = T.alloc_var("float32", init=-1e30), T.alloc_var("float32", init=0.0)
            T.clear(o)
            for split in T.serial(splits):
                most = T.max(most, logs[split, head])
            for split in T.serial(splits):
                weight = T.exp2(logs[split, head] - most)
                total += weight
                for j in T.Parallel(dim):
                    o[j] += partial[split, head, j] * weight
            for j in T.Parallel(dim):
                Out[head, j] = o[j] / total

    q, k, v = torch.randn(heads, dim).half(), torch.randn(seq, kv_heads, dim).half(), torch.randn(seq, kv_heads, dim).half()
    o = torch.zeros(heads, dim)
    tilelang.compile(main)(q, k, v, o)
    keys, values = (x.permute(1, 0, 2) for x in (k, v))
    exact, error = attention_with_bound(q.reshape(kv_heads, group, dim), keys, values, BN, dim**-0.5)
    close(o, (exact.reshape(heads, dim), 2 * error.reshape(heads, dim)))  # parts, then their sum


def test_latent_decoding():
    """Keys and values are one latent matrix and a small part with positions; the product over both in one sum."""
    heads, seq, dim, rope, BH, BN = 32, 96, 64, 16, 16, 32
    scale = (dim + rope) ** -0.5

    @T.prim_func
    def main(
        Q: T.Tensor((heads, dim), "float16"),
        QR: T.Tensor((heads, rope), "float16"),
        KV: T.Tensor((seq, dim), "float16"),
        KR: T.Tensor((seq, rope), "float16"),
        Out: T.Tensor((heads, dim), "float32"),
    ):
        with T.Kernel(heads // BH, threads=256) as bx:
            q, qr = T.alloc_shared((BH, dim), "float16"), T.alloc_shared((BH, rope), "float16")
            kv, kr = T.alloc_shared((BN, dim), "float16"), T.alloc_shared((BN, rope), "float16")
            s, p = T.alloc_fragment((BH, BN), "float32"), T.alloc_shared((BH, BN), "float16")
            o = T.alloc_fragment((BH, dim), "float32")
            most, before = T.alloc_fragment((BH,), "float32"), T.alloc_fragment((BH,), "float32")
            total, fresh = T.alloc_fragment((BH,), "float32"), T.alloc_fragment((BH,), "float32")
            T.use_swizzle(10)
            T.copy(Q[bx * BH, 0], q)
            T.copy(QR[bx * BH, 0], qr)
            T.clear(o)
            T.clear(total)
            T.fill(most, -T.infinity("float32"))
            for n in T.Pipelined(seq // BN, num_stages=2):
                T.copy(KV[n * BN, 0], kv)
                T.copy(KR[n * BN, 0], kr)
                T.gemm(q, kv, s, transpose_B=True, policy=T.GemmWarpPolicy.FullCol, clear_accum=True)
                T.gemm(qr, kr, s, transpose_B=True, policy=T.GemmWarpPolicy.FullCol)
                T.copy(most, before)
                T.reduce_max(s, most, dim=1, clear=False)
                for i in T.Parallel(BH):
                    before[i] = T.exp2((before[i] - most[i]) * (scale * LOG2E))
                for i, j in T.Parallel(BH, BN):
                    s[i, j] = T.exp2((s[i, j] - most[i]) * (scale * LOG2E))
                T.reduce_sum(s, fresh, dim=1)
                T.copy(s, p)
                for i in T.Parallel(BH):
                    total[i] = total[i] * before[i] + fresh[i]
                for i, j in T.Parallel(BH, dim):
                    o[i, j] *= before[i]
                T.gemm(p, kv, o, policy=T.GemmWarpPolicy.FullCol)
            for i, j in T.Parallel(BH, dim):
                o[i, j] /= total[i]
            T.copy(o, Out[bx * BH, 0])

    q, qr = torch.randn(heads, dim).half(), torch.randn(heads, rope).half()
    kv, kr = torch.randn(seq, dim).half(), torch.randn(seq, rope).half()
    o = torch.zeros(heads, dim)
    tilelang.compile(main)(q, qr, kv, kr, o)
    close(o, attention_with_bound(torch.cat([q, qr], 1), torch.cat([kv, kr], 1), kv, BN, scale))


def test_blocks_that_a_mask_keeps():
    seq, dim, B = 96, 32, 32

    @T.prim_func
    def main(
        Q: T.Tensor((seq, dim), "float16"),
        K: T.Tensor((seq, dim), "float16"),
        V: T.Tensor((seq, dim), "float16"),
        mask: T.Tensor((seq // B, seq // B), "int8"),
        Out: T.Tensor((seq, dim), "float32"),
    ):
        with T.Kernel(seq // B, threads=128) as bx:
            q, k, v = (T.alloc_shared((B, dim), "float16") for _ in range(3))
            s, p = T.alloc_fragment((B, B), "float32"), T.alloc_fragment((B, B), "float16")
            o = T.alloc_fragment((B, dim), "float32")
            most, before = T.alloc_fragment((B,), "float32"), T.alloc_fragment((B,), "float32")
            total, fresh = T.alloc_fragment((B,), "float32"), T.alloc_fragment((B,), "float32")
            kept = T.alloc_fragment((seq // B,), "int8")
            T.copy(mask[bx, :], kept)
            T.copy(Q[bx * B, 0], q)
            T.fill(most, -1e30)
            T.clear(total)
            T.clear(o)
            for n in T.Pipelined(bx + 1, num_stages=2):
                if kept[n] != 0:
                    T.copy(K[n * B, 0], k)
                    T.copy(V[n * B, 0], v)
                    for i, j in T.Parallel(B, B):
                        s[i, j] = T.if_then_else(bx * B + i >= n * B + j, 0, -T.infinity("float32"))
                    T.gemm(q, k, s, transpose_B=True)
                    T.copy(most, before)
                    T.reduce_max(s, most, dim=1, clear=False)
                    for i, j in T.Parallel(B, B):
                        s[i, j] = T.exp2((s[i, j] - most[i]) * (dim**-0.5 * LOG2E))
                    T.reduce_sum(s, fresh, dim=1)
                    for i in T.Parallel(B):
                        before[i] = T.exp2((before[i] - most[i]) * (dim**-0.5 * LOG2E))
                        total[i] = total[i] * before[i] + fresh[i]
                    T.copy(s, p)
                    for i, j in T.Parallel(B, dim):
                        o[i, j] *= before[i]
                    T.gemm(p, v, o)
            for i, j in T.Parallel(B, dim):
                o[i, j] /= total[i]
            T.copy(o, Out[bx * B, 0])

    q, k, v = (torch.randn(seq, dim).half() for _ in range(3))
    blocks = torch.eye(seq // B, dtype=torch.int8)
    blocks[2, 0] = 1
    o = torch.zeros(seq, dim)
    tilelang.compile(main)(q, k, v, blocks, o)
    seen = blocks.bool().repeat_interleave(B, 0).repeat_interleave(B, 1) & torch.ones(seq, seq).tril().bool()
    close(o, attention_with_bound(q, k, v, B, dim**-0.5, mask=seen))


def test_linear():
    """o = tril(q k^T) v by chunks: within one by a masked product, from those before by a state."""
    seq, dim, B = 128, 32, 32

    @T.prim_func
    def main(
        Q: T.Tensor((seq, dim), "float16"),
        K: T.Tensor((seq, dim), "float16"),
        V: T.Tensor((seq, dim), "float16"),
        Out: T.Tensor((seq, dim), "float32"),
    ):
        with T.Kernel(1, threads=128):
            q, k, v = (T.alloc_shared((B, dim), "float16") for _ in range(3))
            s, masked = T.alloc_fragment((B, B), "float32"), T.alloc_shared((B, B), "float16")
            state, kept = T.alloc_fragment((dim, dim), "float32"), T.alloc_shared((dim, dim), "float16")
            o = T.alloc_fragment((B, dim), "float32")
            T.clear(state)
            for n in T.Pipelined(seq // B, num_stages=2):
                T.copy(Q[n * B, 0], q)
                T.copy(K[n * B, 0], k)
                T.copy(V[n * B, 0], v)
                T.gemm(q, k, s, transpose_B=True, clear_accum=True)
                for i, j in T.Parallel(B, B):
                    masked[i, j] = T.if_then_else(i >= j, s[i, j], 0)
                T.gemm(masked, v, o, clear_accum=True)
                T.copy(state, kept)
                T.gemm(q, kept, o)
                T.gemm(k, v, state, transpose_A=True)
                T.copy(o, Out[n * B, 0])

    q, k, v = (torch.randint(-1, 2, (seq, dim)).half() for _ in range(3))
    o = torch.zeros(seq, dim)
    tilelang.compile(main)(q, k, v, o)
    # Small integers: scores are at most 32, the state at most 128, both exact in float16; sums are exact in float32.
    assert torch.equal(o, (q.float() @ k.float().T).tril() @ v.float())
