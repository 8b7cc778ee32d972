"""Attention as libraries write it: packed sequences, pages, biases, sinks, shared heads, other widths."""

import tileon
import tileon.language as tl


@tileon.jit
def step(acc, total, top, scores, v):
    """One block of keys of online softmax; scores in base 2."""
    new_top = tl.maximum(top, tl.max(scores, 1))
    weights = tl.math.exp2(scores - new_top[:, None])
    old = tl.math.exp2(top - new_top)
    acc = acc * old[:, None]
    acc = tl.dot(weights.to(v.dtype), v, acc)
    return acc, total * old + tl.sum(weights, 1), new_top


@tileon.jit
def packed(
    q_ptr, k_ptr, v_ptr, out_ptr, starts, sm_scale, stride_n, stride_kn, group,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr
):  # fmt: skip
    """Sequences one behind the other, `starts` of each and the end; `group` heads of queries share one of keys."""
    first, head, batch = tl.program_id(0) * BLOCK_M, tl.program_id(1), tl.program_id(2)
    begin = tl.load(starts + batch)
    length = tl.load(starts + batch + 1) - begin
    if first >= length:
        return
    offs_m, offs_d = first + tl.arange(0, BLOCK_M), tl.arange(0, D)
    q = tl.load(
        q_ptr + (begin + offs_m)[:, None] * stride_n + head * D + offs_d[None, :], mask=offs_m[:, None] < length, other=0.0
    )
    top = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    end = tl.minimum(first + BLOCK_M, length) if CAUSAL else length
    for start in range(0, end, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        row = (begin + n) * stride_kn + head // group * D
        k = tl.load(k_ptr + row[None, :] + offs_d[:, None], mask=n[None, :] < length, other=0.0)
        scores = tl.dot(q, k) * (sm_scale * 1.44269504)
        seen = n[None, :] < length
        if CAUSAL:
            seen = seen & (offs_m[:, None] >= n[None, :])
        scores = tl.where(seen, scores, float("-inf"))
        v = tl.load(v_ptr + row[:, None] + offs_d[None, :], mask=n[:, None] < length, other=0.0)
        acc, total, top = step(acc, total, top, scores, v)
    acc = acc / total[:, None]
    place = (begin + offs_m)[:, None] * stride_n + head * D + offs_d[None, :]
    tl.store(out_ptr + place, acc.to(out_ptr.dtype.element_ty), mask=offs_m[:, None] < length)


@tileon.jit
def biased(
    q_ptr, k_ptr, v_ptr, out_ptr, bias_ptr, slopes_ptr, sinks_ptr, sm_scale, cap, N,
    FORM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr
):  # fmt: skip
    """What is done to scores: a cap by tanh, slopes over distances, a bias from memory, a sink for each head."""
    first, head = tl.program_id(0) * BLOCK_M, tl.program_id(1)
    base = head.to(tl.int64) * N * D
    offs_m, offs_d = first + tl.arange(0, BLOCK_M), tl.arange(0, D)
    q = tl.load(q_ptr + base + offs_m[:, None] * D + offs_d[None, :])
    if FORM == "sink":
        top = tl.zeros([BLOCK_M], dtype=tl.float32) + tl.load(sinks_ptr + head) * 1.44269504
        total = tl.full([BLOCK_M], 1.0, dtype=tl.float32)
    else:
        top = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
        total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    if FORM == "slopes":
        slope = tl.load(slopes_ptr + head)
    for start in range(0, first + BLOCK_M, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + base + n[None, :] * D + offs_d[:, None])
        scores = tl.dot(q, k) * sm_scale
        if FORM == "cap":
            e = tl.exp(2.0 * scores / cap)
            scores = cap * (1.0 - 2.0 / (e + 1.0))
        elif FORM == "slopes":
            scores += slope * (n[None, :] - offs_m[:, None])
        elif FORM == "bias":
            scores += tl.load(bias_ptr + offs_m[:, None] * N + n[None, :]).to(tl.float32)
        scores = tl.where(offs_m[:, None] >= n[None, :], scores * 1.44269504, float("-inf"))
        v = tl.load(v_ptr + base + n[:, None] * D + offs_d[None, :])
        acc, total, top = step(acc, total, top, scores, v)
    acc = acc / total[:, None]
    tl.store(out_ptr + base + offs_m[:, None] * D + offs_d[None, :], acc.to(out_ptr.dtype.element_ty))


@tileon.jit
def paged_prefill(
    q_ptr, k_ptr, v_ptr, out_ptr, table_ptr, lengths_ptr, sm_scale, heads, table_stride, N,
    PAGE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr
):  # fmt: skip
    """Queries at the end of sequences whose keys lie in pages of [PAGE, D] that a table names."""
    first, head, batch = tl.program_id(0) * BLOCK_M, tl.program_id(1), tl.program_id(2)
    length = tl.load(lengths_ptr + batch)
    base = (batch * heads + head).to(tl.int64) * N * D
    offs_m, offs_d = first + tl.arange(0, BLOCK_M), tl.arange(0, D)
    q = tl.load(q_ptr + base + offs_m[:, None] * D + offs_d[None, :])
    top = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    before = length - N
    for start in range(0, tl.minimum(before + first + BLOCK_M, length), BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        page = tl.load(table_ptr + batch * table_stride + n // PAGE)
        row = (page.to(tl.int64) * PAGE + n % PAGE) * D
        k = tl.load(k_ptr + row[None, :] + offs_d[:, None])
        scores = tl.dot(q, k) * (sm_scale * 1.44269504)
        scores = tl.where(before + offs_m[:, None] >= n[None, :], scores, float("-inf"))
        v = tl.load(v_ptr + row[:, None] + offs_d[None, :])
        acc, total, top = step(acc, total, top, scores, v)
    acc = acc / total[:, None]
    tl.store(out_ptr + base + offs_m[:, None] * D + offs_d[None, :], acc.to(out_ptr.dtype.element_ty))


@tileon.jit
def packed_heads(
    q_ptr, k_ptr, v_ptr, out_ptr, sm_scale, N,
    GROUP: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr
):  # fmt: skip
    """Rows of a program are queries and heads that share keys: [N, GROUP, D] of one head of keys."""
    first, head = tl.program_id(0) * BLOCK_M, tl.program_id(1)
    rows = first + tl.arange(0, BLOCK_M)
    offs_m, inner, offs_d = rows // GROUP, rows % GROUP, tl.arange(0, D)
    place = ((head * N + offs_m) * GROUP + inner)[:, None] * D + offs_d[None, :]
    q = tl.load(q_ptr + place)
    k_ptr += head * N * D
    v_ptr += head * N * D
    top = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    for start in range(0, (first + BLOCK_M - 1) // GROUP + 1, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + n[None, :] * D + offs_d[:, None])
        scores = tl.where(offs_m[:, None] >= n[None, :], tl.dot(q, k) * (sm_scale * 1.44269504), float("-inf"))
        v = tl.load(v_ptr + n[:, None] * D + offs_d[None, :])
        acc, total, top = step(acc, total, top, scores, v)
    tl.store(out_ptr + place, (acc / total[:, None]).to(out_ptr.dtype.element_ty))


@tileon.jit
def widths(
    q_ptr, k_ptr, v_ptr, out_ptr, sm_scale, N,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, WIDE: tl.constexpr, WIDEV: tl.constexpr
):  # fmt: skip
    """Keys of D and values of DV columns in tiles of WIDE and WIDEV."""
    first, head = tl.program_id(0) * BLOCK_M, tl.program_id(1)
    offs_m, offs_d, offs_v = first + tl.arange(0, BLOCK_M), tl.arange(0, WIDE), tl.arange(0, WIDEV)
    q_ptr += head * N * D
    k_ptr += head * N * D
    v_ptr += head * N * DV
    out_ptr += head * N * DV
    q = tl.load(q_ptr + offs_m[:, None] * D + offs_d[None, :], mask=offs_d[None, :] < D, other=0.0)
    top = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, WIDEV], dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + n[None, :] * D + offs_d[:, None], mask=offs_d[:, None] < D, other=0.0)
        scores = tl.dot(q, k) * (sm_scale * 1.44269504)
        v = tl.load(v_ptr + n[:, None] * DV + offs_v[None, :], mask=offs_v[None, :] < DV, other=0.0)
        acc, total, top = step(acc, total, top, scores, v)
    out = (acc / total[:, None]).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + offs_m[:, None] * DV + offs_v[None, :], out, mask=offs_v[None, :] < DV)
