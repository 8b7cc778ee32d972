"""Row-wise kernels: vector add, softmax, layer norm, rms norm.

Runs as it is: `./run python -m tilery run examples/tileon/rows.py`.
"""

import tileon
import tileon.language as tl
import torch


@tileon.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@tileon.jit
def softmax_kernel(out_ptr, x_ptr, stride_out, stride_x, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * stride_x + columns, mask=mask, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride_out + columns, numerator / tl.sum(numerator, axis=0), mask=mask)


@tileon.jit
def layer_norm_kernel(out_ptr, x_ptr, w_ptr, b_ptr, stride_out, stride_x, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * stride_x + columns, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(mask, x - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    w = tl.load(w_ptr + columns, mask=mask)
    b = tl.load(b_ptr + columns, mask=mask)
    tl.store(out_ptr + row * stride_out + columns, centred * scale * w + b, mask=mask)


@tileon.jit
def rms_norm_kernel(out_ptr, x_ptr, w_ptr, stride_out, stride_x, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * stride_x + columns, mask=mask, other=0.0).to(tl.float32)
    scale = 1 / tl.sqrt(tl.sum(x * x, axis=0) / n + eps)
    w = tl.load(w_ptr + columns, mask=mask)
    tl.store(out_ptr + row * stride_out + columns, x * scale * w, mask=mask)


def block(n):
    return 1 << (n - 1).bit_length()


def add(x, y, out, size=4096):
    add_kernel[(tl.cdiv(x.numel(), size),)](x, y, out, x.numel(), BLOCK=size)
    return out


def softmax(x, out):
    rows, n = x.shape
    softmax_kernel[(rows,)](out, x, out.stride(0), x.stride(0), n, BLOCK=block(n))
    return out


def layer_norm(x, w, b, out, eps=1e-5):
    rows, n = x.shape
    layer_norm_kernel[(rows,)](out, x, w, b, out.stride(0), x.stride(0), n, eps, BLOCK=block(n))
    return out


def rms_norm(x, w, out, eps=1e-5):
    rows, n = x.shape
    rms_norm_kernel[(rows,)](out, x, w, out.stride(0), x.stride(0), n, eps, BLOCK=block(n))
    return out


if __name__ == "__main__":
    x, y, w, b = torch.randn(64, 1000), torch.randn(64, 1000), torch.randn(1000), torch.randn(1000)
    out = torch.empty_like(x)
    check = torch.testing.assert_close
    check(add(x, y, out), x + y)
    check(softmax(x, out), torch.softmax(x, -1))
    check(layer_norm(x, w, b, out), torch.nn.functional.layer_norm(x, (1000,), w, b))
    check(rms_norm(x, w, out), torch.nn.functional.rms_norm(x, (1000,), w, 1e-5))
    print("add, softmax, layer norm and rms norm agree with torch")
