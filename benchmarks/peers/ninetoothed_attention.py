"""Attention forward as NineToothed's users write it: rows of queries, and all blocks of keys and values of their head."""

import ninetoothed
import ninetoothed.language as ntl
from ninetoothed import Symbol, Tensor

M, N = Symbol("M", constexpr=True), Symbol("N", constexpr=True)


def arrangement(q, k, v, scale, out):
    def rows(t):
        t = t.tile((1, 1, M, -1))
        t.dtype = t.dtype.squeeze((0, 1))
        return t

    def blocks(t):
        t = t.tile((1, 1, N, -1)).tile((1, 1, -1, -1)).expand((-1, -1, q_rows.shape[-2], -1))
        t.dtype = t.dtype.squeeze((0, 1, 3))
        t.dtype.dtype = t.dtype.dtype.squeeze((0, 1))
        return t

    q_rows = rows(q)
    return q_rows, blocks(k), blocks(v), scale, rows(out)


def application(q, k, v, scale, out):
    acc = ntl.zeros((q.shape[-2], v.dtype.shape[-1]), dtype=ntl.float32)
    total = ntl.zeros((q.shape[-2],), dtype=ntl.float32)
    top = ntl.full((q.shape[-2],), float("-inf"), dtype=ntl.float32)
    for i in range(k.shape[0]):
        scores = ntl.dot(q, ntl.trans(k[i])) * (scale * 1.44269504089)
        scores = ntl.where(k[i].offsets(-2) < k.source.shape[-2], scores, float("-inf"))
        new_top = ntl.maximum(top, ntl.max(scores, 1))
        weights = ntl.exp2(scores - new_top[:, None])
        old = ntl.exp2(top - new_top)
        acc = acc * old[:, None] + ntl.dot(weights.to(v.dtype.dtype), v[i])
        top = new_top
        total = total * old + ntl.sum(weights, 1)
    out = acc / total[:, None]  # noqa: F841


attention = ninetoothed.make(arrangement, application, (Tensor(4), Tensor(4), Tensor(4), Tensor(0), Tensor(4)))
