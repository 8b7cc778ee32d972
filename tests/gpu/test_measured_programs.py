"""The programs around a product and over rows that benchmarks/peers measures: at small sizes their results are right."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from tilery import compat

PEERS = Path(__file__).resolve().parents[2] / "benchmarks" / "peers"
PRODUCTS, ROWS = (compat.load(PEERS / f"{name}_programs.py") for name in ("product", "row"))
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
EPSILON = 1e-6


def half(*shape, device):
    return torch.randn(*shape, device=device).half()


def mlp(device, m=150, hidden=200, width=128):
    x, y = half(m, width, device=device), torch.full((m, width), float("nan"), device=device, dtype=torch.float16)
    up, down = half(width, hidden, device=device) * 0.1, half(hidden, width, device=device) * 0.1
    PRODUCTS.mlp[(-(-m // 128),)](x, up, down, y, m, hidden, D=width, BM=128, BH=64, num_warps=8)
    return y, (torch.relu(x.double() @ up.double()) ** 2).half().double() @ down.double()


def int4_weights(device, m=70, n=256, k=256, scaled=128):
    a, c = half(m, k, device=device), torch.full((m, n), float("nan"), device=device, dtype=torch.float16)
    scales = half(k // scaled, n, device=device).abs() * 0.1
    packed = torch.randint(-(2**31), 2**31, (k // 8, n), device=device, dtype=torch.int64).int()
    shifts = 4 * torch.arange(8, device=device, dtype=torch.int32)
    weights = ((packed[:, None] >> shifts[None, :, None]) & 15) - 8
    tiles = {"BM": 64, "BN": 128, "BK": 64}
    PRODUCTS.int4_weights[(4,)](a, packed, scales, c, m, n, k, SCALED=scaled, **tiles)
    return c, a.double() @ (weights.reshape(k, n).half() * scales.repeat_interleave(scaled, 0)).double()


def matrix_vector(device, m=70, n=300):
    a, x, y = half(m, n, device=device), half(n, device=device), torch.full((m,), float("nan"), device=device)
    PRODUCTS.matrix_vector[(-(-m // 4),)](a, x, y, m, n, BM=4, BN=128)
    return y, a.double() @ x.double()


def row_tensors(device, rows=7, n=1000):
    x, dy, w, b = (torch.randn(*shape, device=device) for shape in ((rows, n), (rows, n), (n,), (n,)))
    return x, dy, w, b, torch.full_like(x, float("nan"))


def row_sum(device):
    x, *_ = row_tensors(device)
    out = torch.full((x.shape[0],), float("nan"), device=device)
    ROWS.sums(x, out)
    return out, x.double().sum(-1)


def softmax(device, how):
    x, *_, out = row_tensors(device)
    {"whole": lambda: ROWS.softmax(x, out), "loop": lambda: ROWS.softmax_in_a_loop(x, out, 3),
     "pieces": lambda: ROWS.softmax_in_pieces(x, out, 256)}[how]()  # fmt: skip
    return out, x.double().softmax(-1)


def rms_norm(device, piece=None):
    x, _, w, _, out = row_tensors(device)
    ROWS.rms_norm_in_pieces(x, w, out, piece) if piece else ROWS.rms_norm(x, w, out)
    return out, F.rms_norm(x.double(), x.shape[1:], w.double(), EPSILON)


def layer_norm(device):
    x, _, w, b, out = row_tensors(device)
    ROWS.layer_norm(x, w, b, out)
    return out, F.layer_norm(x.double(), x.shape[1:], w.double(), b.double(), EPSILON)


def gradient(norm, dy, x, *parameters):
    x = x.double().requires_grad_()
    norm(x, x.shape[1:], *(p.double() for p in parameters), eps=EPSILON).backward(dy.double())
    return x.grad


def layer_norm_backward(device):
    x, dy, w, b, out = row_tensors(device)
    mean, scale = x.mean(-1), torch.rsqrt(x.var(-1, correction=0) + EPSILON)
    ROWS.layer_norm_backward(dy, x, w, mean, scale, out)
    return out, gradient(F.layer_norm, dy, x, w, b)


def rms_norm_backward(device):
    x, dy, w, _, out = row_tensors(device)
    dw = torch.full((3, x.shape[1]), float("nan"), device=device)
    scale = torch.rsqrt(x.square().mean(-1) + EPSILON)
    ROWS.rms_norm_backward(dy, x, w, scale, out, dw)
    exact = (dy.double() * x.double() * scale.double()[:, None]).sum(0)
    torch.testing.assert_close(dw.double().sum(0), exact, rtol=1e-5, atol=1e-4)
    return out, gradient(F.rms_norm, dy, x, w)


def cross_entropy(device):
    x, *_ = row_tensors(device)
    target, loss = torch.randint(x.shape[1], (x.shape[0],), device=device), torch.full((x.shape[0],), float("nan"), device=device)
    inputs = x.double().requires_grad_()
    exact = F.cross_entropy(inputs, target, reduction="none")
    exact.mean().backward()
    ROWS.cross_entropy(x, target, loss, 256)
    torch.testing.assert_close(loss.double(), exact.detach(), rtol=1e-5, atol=1e-5)
    return x, inputs.grad


PROGRAMS = {
    "mlp": (mlp, 2.0**-9),
    "int4_weights": (int4_weights, 2.0**-10),
    "matrix_vector": (matrix_vector, 1e-5),
    "row_sum": (row_sum, 1e-5),
    "softmax": (lambda device: softmax(device, "whole"), 1e-5),
    "softmax_in_a_loop": (lambda device: softmax(device, "loop"), 1e-5),
    "softmax_in_pieces": (lambda device: softmax(device, "pieces"), 1e-5),
    "rms_norm": (rms_norm, 1e-5),
    "rms_norm_in_pieces": (lambda device: rms_norm(device, 256), 1e-5),
    "layer_norm": (layer_norm, 1e-5),
    "layer_norm_backward": (layer_norm_backward, 1e-5),
    "rms_norm_backward": (rms_norm_backward, 1e-5),
    "cross_entropy": (cross_entropy, 1e-5),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_is_right(name, device):
    program, close = PROGRAMS[name]
    torch.manual_seed(0)
    result, exact = program(device)
    assert ((result.double() - exact).abs() <= close * exact.abs().amax()).all()
