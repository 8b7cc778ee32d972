"""Attention of one query a sequence to many keys, as Tileon's users write it: grouped heads, split keys, pages, latent keys."""

import tileon
import tileon.language as tl


@tileon.jit
def grouped(
    q_ptr, k_ptr, v_ptr, out_ptr, log_ptr, lengths, table, sm_scale, keys,
    HEADS: tl.constexpr, KV_HEADS: tl.constexpr, SPLITS: tl.constexpr, PAGE: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, VARIES: tl.constexpr,
):  # fmt: skip
    """A part of the keys for the heads of one group. PAGE: keys of a page in a pool (0: sequences lie in order; 1: each key
    has a page); VARIES: sequences have lengths of their own."""
    batch, kv_head, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    GROUP: tl.constexpr = HEADS // KV_HEADS
    offs_h, offs_d = tl.arange(0, BLOCK_H), tl.arange(0, D)
    head = kv_head * GROUP + offs_h
    mask_h = offs_h < GROUP
    q = tl.load(q_ptr + (batch * HEADS + head[:, None]) * D + offs_d[None, :], mask=mask_h[:, None], other=0.0)
    length = keys
    if VARIES:
        length = tl.load(lengths + batch)
    each = tl.cdiv(tl.cdiv(length, SPLITS), BLOCK_N) * BLOCK_N
    begin = split * each
    end = tl.minimum(begin + each, length)
    top = tl.full([BLOCK_H], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_H], dtype=tl.float32)
    acc = tl.zeros([BLOCK_H, D], dtype=tl.float32)
    for start in range(begin, end, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        if PAGE == 0:
            row = batch * keys + n
        elif PAGE == 1:
            row = tl.load(table + batch * keys + n, mask=n < end, other=0)
        else:
            page = tl.load(table + batch * (keys // PAGE) + start // PAGE)
            row = page * PAGE + start % PAGE + tl.arange(0, BLOCK_N)
        place = row * (KV_HEADS * D) + kv_head * D
        k = tl.load(k_ptr + place[None, :] + offs_d[:, None], mask=n[None, :] < end, other=0.0)
        scores = tl.dot(q, k) * (sm_scale * 1.44269504)
        scores = tl.where(mask_h[:, None] & (n[None, :] < end), scores, float("-inf"))
        v = tl.load(v_ptr + place[:, None] + offs_d[None, :], mask=n[:, None] < end, other=0.0)
        new_top = tl.maximum(top, tl.max(scores, 1))
        old = tl.math.exp2(top - new_top)
        weights = tl.math.exp2(scores - new_top[:, None])
        acc = acc * old[:, None]
        acc += tl.dot(weights.to(v.dtype), v)
        total = total * old + tl.sum(weights, 1)
        top = new_top
    place = (batch * HEADS + head) * SPLITS + split
    tl.store(out_ptr + place[:, None] * D + offs_d[None, :], acc / total[:, None], mask=mask_h[:, None])
    tl.store(log_ptr + place, top + tl.math.log2(total), mask=mask_h)


@tileon.jit
def combine(part_ptr, log_ptr, out_ptr, SPLITS: tl.constexpr, D: tl.constexpr):
    """The parts of one head's keys, by the logarithms (of base 2) of their sums."""
    row = tl.program_id(0)
    split, offs_d = tl.arange(0, SPLITS), tl.arange(0, D)
    logs = tl.load(log_ptr + row * SPLITS + split)
    weights = tl.math.exp2(logs - tl.max(logs, 0))
    parts = tl.load(part_ptr + (row * SPLITS + split)[:, None] * D + offs_d[None, :])
    out = tl.sum(parts * weights[:, None], 0) / tl.sum(weights, 0)
    tl.store(out_ptr + row * D + offs_d, out.to(out_ptr.dtype.element_ty))


@tileon.jit
def latent(
    q_ptr, kv_ptr, out_ptr, log_ptr, table, lengths, sm_scale, keys,
    HEADS: tl.constexpr, SPLITS: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, DR: tl.constexpr,
):  # fmt: skip
    """One latent row of D + DR a key for all heads (MLA), rows found by a table; values are the first D of it."""
    batch, block, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    head = block * BLOCK_H + tl.arange(0, BLOCK_H)
    offs_d, offs_r = tl.arange(0, D), D + tl.arange(0, DR)
    mask_h = head < HEADS
    q_row = (batch * HEADS + head[:, None]) * (D + DR)
    q = tl.load(q_ptr + q_row + offs_d[None, :], mask=mask_h[:, None], other=0.0)
    q_rope = tl.load(q_ptr + q_row + offs_r[None, :], mask=mask_h[:, None], other=0.0)
    length = tl.load(lengths + batch)
    each = tl.cdiv(length, SPLITS)
    begin = split * each
    end = tl.minimum(begin + each, length)
    top = tl.full([BLOCK_H], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_H], dtype=tl.float32)
    acc = tl.zeros([BLOCK_H, D], dtype=tl.float32)
    for start in range(begin, end, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        row = tl.load(table + batch * keys + n, mask=n < end, other=0)
        k = tl.load(kv_ptr + row[None, :] * (D + DR) + offs_d[:, None], mask=n[None, :] < end, other=0.0)
        scores = tl.dot(q, k)
        rope = tl.load(kv_ptr + row[None, :] * (D + DR) + offs_r[:, None], mask=n[None, :] < end, other=0.0)
        scores += tl.dot(q_rope, rope)
        scores *= sm_scale * 1.44269504
        scores = tl.where(n[None, :] < end, scores, float("-inf"))
        v = tl.trans(k)
        new_top = tl.maximum(top, tl.max(scores, 1))
        old = tl.math.exp2(top - new_top)
        weights = tl.math.exp2(scores - new_top[:, None])
        acc = acc * old[:, None] + tl.dot(weights.to(v.dtype), v)
        total = total * old + tl.sum(weights, 1)
        top = new_top
    place = (batch * HEADS + head) * SPLITS + split
    tl.store(out_ptr + place[:, None] * D + offs_d[None, :], acc / total[:, None], mask=mask_h[:, None])
    tl.store(log_ptr + place, top + tl.math.log2(total), mask=mask_h)
