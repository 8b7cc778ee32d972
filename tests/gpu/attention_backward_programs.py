"""Attention backward in one kernel, as libraries write it: pointers that move on, `+=` of products, stores between the loops."""

import tileon
import tileon.language as tl


@tileon.jit
def one_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, logs_ptr, dots_ptr, dq_ptr, dk_ptr, dv_ptr, sm_scale, stride_h, stride_n, N,
    BLOCK: tl.constexpr, STEP: tl.constexpr, D: tl.constexpr
):
    first = tl.program_id(0) * BLOCK
    head = tl.program_id(1).to(tl.int64)
    q_ptr, k_ptr, v_ptr, dout_ptr = (x + head * stride_h for x in (q_ptr, k_ptr, v_ptr, dout_ptr))
    logs_ptr, dots_ptr = logs_ptr + head * N, dots_ptr + head * N
    scale = sm_scale * 1.44269504
    own, columns = first + tl.arange(0, BLOCK), tl.arange(0, D)
    place = own[:, None] * stride_n + columns[None, :]
    rows = tl.arange(0, STEP)
    across = columns[:, None] + rows[None, :] * stride_n
    along = rows[:, None] * stride_n + columns[None, :]

    k, v = tl.load(k_ptr + place), tl.load(v_ptr + place)
    dk, dv = tl.zeros([BLOCK, D], dtype=tl.float32), tl.zeros([BLOCK, D], dtype=tl.float32)
    q_ptrs, dout_ptrs = q_ptr + across, dout_ptr + along
    for step in range(N // STEP):
        q = tl.load(q_ptrs)
        logs = tl.load(logs_ptr + step * STEP + rows)
        weights = tl.math.exp2(tl.dot(k, q) * scale - logs[None, :])
        dout = tl.load(dout_ptrs)
        dv += tl.dot(weights.to(dout.dtype), dout)
        dots = tl.load(dots_ptr + step * STEP + rows)
        dscores = weights * (tl.dot(v, tl.trans(dout)) - dots[None, :])
        dk += tl.dot(dscores.to(q.dtype), tl.trans(q))
        q_ptrs += STEP * stride_n
        dout_ptrs += STEP * stride_n
    tl.store(dv_ptr + head * stride_h + place, dv.to(dv_ptr.dtype.element_ty))
    tl.store(dk_ptr + head * stride_h + place, (dk * sm_scale).to(dk_ptr.dtype.element_ty))

    q, dout = tl.load(q_ptr + place), tl.load(dout_ptr + place)
    logs, dots = tl.load(logs_ptr + own), tl.load(dots_ptr + own)
    dq = tl.zeros([BLOCK, D], dtype=tl.float32)
    k_ptrs, v_ptrs = k_ptr + across, v_ptr + across
    for _ in range(N // STEP):
        kt, vt = tl.load(k_ptrs), tl.load(v_ptrs)
        weights = tl.math.exp2(tl.dot(q, kt) * scale - logs[:, None])
        dscores = weights * (tl.dot(dout, vt) - dots[:, None])
        dq += tl.dot(dscores.to(kt.dtype), tl.trans(kt))
        k_ptrs += STEP * stride_n
        v_ptrs += STEP * stride_n
    tl.store(dq_ptr + head * stride_h + place, (dq * sm_scale).to(dq_ptr.dtype.element_ty))


@tileon.jit
def adds_to_what_it_loads(a_ptr, b_ptr, sums_ptr, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK), tl.arange(0, BLOCK)
    b = tl.load(b_ptr + rows[:, None] * BLOCK + columns[None, :])
    for start in range(0, 128, BLOCK):
        a = tl.load(a_ptr + (start + rows[:, None]) * BLOCK + columns[None, :])
        place = sums_ptr + rows[:, None] * BLOCK + columns[None, :]
        sums = tl.load(place) * 0.5
        weights = tl.dot(a, b) + sums
        tl.atomic_add(place, tl.dot(weights.to(a.dtype).T, b), sem="relaxed")
