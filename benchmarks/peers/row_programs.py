"""Programs over rows as their users write them: a row a program, or rows dealt out in a loop; a row at once, or in pieces.

Each function launches one kernel; `options` are the launch's (num_warps).
"""

import tileon
import tileon.language as tl


@tileon.jit
def sum_kernel(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + row, tl.sum(x, axis=0))


@tileon.jit
def sum_pieces_kernel(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + row, tl.sum(total, axis=0))


@tileon.jit
def softmax_kernel(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + columns, numerator / tl.sum(numerator, axis=0), mask=mask)


@tileon.jit
def softmax_loop_kernel(x_ptr, out_ptr, stride, rows, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=-float("inf")).to(tl.float32)
        numerator = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * stride + columns, numerator / tl.sum(numerator, axis=0), mask=mask)


@tileon.jit
def softmax_pieces_kernel(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest = -float("inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=-float("inf")).to(tl.float32)
        larger = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(x - larger), axis=0)
        largest = larger
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=-float("inf")).to(tl.float32)
        tl.store(out_ptr + row * stride + columns, tl.exp(x - largest) / total, mask=mask)


@tileon.jit
def rms_norm_kernel(x_ptr, w_ptr, out_ptr, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * stride + columns, x * tl.rsqrt(tl.sum(x * x, axis=0) / n + eps) * w, mask=mask)


@tileon.jit
def rms_norm_pieces_kernel(x_ptr, w_ptr, out_ptr, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0.0).to(tl.float32)
        squares += x * x
    scale = tl.rsqrt(tl.sum(squares, axis=0) / n + eps)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + columns, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * stride + columns, x * scale * w, mask=mask)


@tileon.jit
def layer_norm_kernel(x_ptr, w_ptr, b_ptr, out_ptr, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(mask, x - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / n + eps)
    w = tl.load(w_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * stride + columns, centred * scale * w + b, mask=mask)


@tileon.jit
def layer_norm_backward_kernel(dy_ptr, x_ptr, w_ptr, mean_ptr, scale_ptr, dx_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    scale = tl.load(scale_ptr + row)
    normal = tl.where(mask, (x - tl.load(mean_ptr + row)) * scale, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    along = tl.sum(normal * wdy, axis=0) / n
    mean = tl.sum(wdy, axis=0) / n
    tl.store(dx_ptr + row * stride + columns, (wdy - (normal * along + mean)) * scale, mask=mask)


@tileon.jit
def rms_norm_backward_kernel(dy_ptr, x_ptr, w_ptr, scale_ptr, dx_ptr, dw_ptr, stride, rows, n, each, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    w = tl.load(w_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    for row in range(program * each, tl.minimum((program + 1) * each, rows)):
        dy = tl.load(dy_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
        scale = tl.load(scale_ptr + row)
        m = dy * w
        dx = scale * m - (scale * scale * scale / n) * tl.sum(m * x, axis=0) * x
        dw += dy * (x * scale)
        tl.store(dx_ptr + row * stride + columns, dx, mask=mask)
    tl.store(dw_ptr + program * n + columns, dw, mask=mask)


@tileon.jit
def cross_entropy_kernel(x_ptr, target_ptr, loss_ptr, stride, n, rows, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * stride
    target = tl.load(target_ptr + row)
    chosen = tl.load(x_ptr + target).to(tl.float32)
    largest = float("-inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + columns, mask=columns < n, other=float("-inf")).to(tl.float32)
        larger = tl.maximum(largest, tl.max(x))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(x - larger))
        largest = larger
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + columns, mask=columns < n, other=float("-inf")).to(tl.float32)
        gradient = tl.exp(x - largest) / total
        gradient = tl.where(columns != target, gradient, gradient - 1.0) / rows
        tl.store(x_ptr + columns, gradient, mask=columns < n)
    tl.debug_barrier()
    tl.store(loss_ptr + row, largest + tl.log(total) - chosen)


def block(n):
    return 1 << (n - 1).bit_length()


def sums(x, out, **options):
    sum_kernel[(x.shape[0],)](x, out, x.stride(0), x.shape[1], BLOCK=block(x.shape[1]), **options)


def sums_in_pieces(x, out, piece, **options):
    sum_pieces_kernel[(x.shape[0],)](x, out, x.stride(0), x.shape[1], BLOCK=piece, **options)


def softmax(x, out, **options):
    softmax_kernel[(x.shape[0],)](x, out, x.stride(0), x.shape[1], BLOCK=block(x.shape[1]), **options)


def softmax_in_a_loop(x, out, programs, **options):
    softmax_loop_kernel[(programs,)](x, out, x.stride(0), *x.shape, BLOCK=block(x.shape[1]), **options)


def softmax_in_pieces(x, out, piece, **options):
    softmax_pieces_kernel[(x.shape[0],)](x, out, x.stride(0), x.shape[1], BLOCK=piece, **options)


def rms_norm(x, w, out, eps=1e-6, **options):
    rms_norm_kernel[(x.shape[0],)](x, w, out, x.stride(0), x.shape[1], eps, BLOCK=block(x.shape[1]), **options)


def rms_norm_in_pieces(x, w, out, piece, eps=1e-6, **options):
    rms_norm_pieces_kernel[(x.shape[0],)](x, w, out, x.stride(0), x.shape[1], eps, BLOCK=piece, **options)


def layer_norm(x, w, b, out, eps=1e-6, **options):
    layer_norm_kernel[(x.shape[0],)](x, w, b, out, x.stride(0), x.shape[1], eps, BLOCK=block(x.shape[1]), **options)


def layer_norm_backward(dy, x, w, mean, scale, dx, **options):
    rows, n = x.shape
    layer_norm_backward_kernel[(rows,)](dy, x, w, mean, scale, dx, x.stride(0), n, BLOCK=block(n), **options)


def rms_norm_backward(dy, x, w, scale, dx, dw, **options):
    """dw: a row a program, to be added up."""
    rows, n = x.shape
    programs = dw.shape[0]
    arguments = (dy, x, w, scale, dx, dw, x.stride(0), rows, n, -(-rows // programs))
    rms_norm_backward_kernel[(programs,)](*arguments, BLOCK=block(n), **options)


def cross_entropy(x, target, loss, piece, **options):
    """The gradient takes the place of x."""
    rows, n = x.shape
    cross_entropy_kernel[(rows,)](x, target, loss, x.stride(0), n, rows, BLOCK=piece, **options)
