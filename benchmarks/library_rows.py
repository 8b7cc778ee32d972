"""Rows of other people's libraries: operators of Liger and fla, forward and backward, against torch's plain implementation. Their
packages, whose kernels are Triton programs, are imported from wherever Python finds them; without them there are no rows."""

import importlib
import importlib.util
import os

import torch
import torch.nn.functional as F
from harness import compare
from rows import row

from tilery import compat

T, H, V = 1024, 1024, 8000  # tokens, width, words


def operators(package, table):
    """The rows of the operators of a package, name -> (path of the function, inputs, torch's function, tolerance)."""
    if importlib.util.find_spec(package) is None:
        print(f"{package}: missing")
        return
    os.environ.setdefault("TILERY_DEVICE", "cpu")
    compat.install()
    compat.device.install()
    for name, (path, make, plain, tolerance) in table.items():
        module, *names = path.split(":")
        function = importlib.import_module(f"{package}.{module}")
        for part in names[0].split("."):
            function = getattr(function, part)
        torch.manual_seed(1)
        inputs = make()
        ours, theirs = calls(function, inputs), calls(plain, inputs)
        check(ours(), wide(plain, inputs), tolerance)
        size = sum(x.numel() * x.element_size() for x in inputs if torch.is_tensor(x))
        yield compare(f"{package.split('_')[0]} {name}", ours, {"torch": theirs}, size, "GB/s", 1.0)


def copied(x):
    return x.detach().clone().requires_grad_(x.requires_grad) if torch.is_tensor(x) else x


def calls(function, inputs):
    """A call of the function and, where inputs have gradients, of its backward: all results. Each call has copies of the inputs:
    operators write gradients into theirs, which shrink from call to call until they are subnormal (swiglu), and slow."""
    gradients = []

    def call():
        given = [copied(x) for x in inputs]
        leaves = [x for x in given if torch.is_tensor(x) and x.requires_grad]
        results = function(*given)
        results = [x for x in (results if isinstance(results, tuple) else (results,)) if torch.is_tensor(x)]
        smooth = [x for x in results if x.requires_grad]
        if not gradients:
            torch.manual_seed(2)
            gradients.extend(torch.randn(x.shape).to(torch.bfloat16) if x.ndim else torch.ones(()) for x in smooth)
        typed = [gradient.to(x.dtype) for gradient, x in zip(gradients, smooth, strict=True)]
        return [results[0].detach(), *(torch.autograd.grad(smooth, leaves, typed) if smooth else ())]

    return call


def wide(function, inputs):
    """The same in float64."""
    real = [torch.is_tensor(x) and x.is_floating_point() for x in inputs]
    doubles = [
        x.detach().double().requires_grad_(x.requires_grad) if is_real else x for x, is_real in zip(inputs, real, strict=True)
    ]
    return calls(function, doubles)()


def check(ours, exact, tolerance):
    for mine, right in zip(ours, exact, strict=True):
        off = (mine.double().reshape(right.shape) - right).abs().max() / right.abs().max().clamp(min=1e-6)
        assert off <= tolerance, f"{off} from float64"


def normal(*shape, dtype=torch.bfloat16, grad=True):
    return torch.randn(*shape).to(dtype).requires_grad_(grad)


def words(count):
    return torch.randint(0, V, (count,))


def rotated(x, cos, sin):
    a, b = x.chunk(2, -1)
    cos, sin = cos[:, None], sin[:, None]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def causal(x, w):
    return F.conv1d(F.pad(x.transpose(1, 2), (3, 0)), w[:, None], groups=w.shape[0]).transpose(1, 2)


def rms(x, w, eps, *_):
    return F.rms_norm(x, [H], w, eps)


def loss(x, target, *_):
    return F.cross_entropy(x if x.dtype == torch.float64 else x.float(), target)


LIGER = {
    "rms_norm bf16": (
        "rms_norm:LigerRMSNormFunction.apply",
        lambda: (normal(T, H), normal(H), 1e-6, 0.0, "llama", False),
        rms,
        2e-2,
    ),
    "layer_norm bf16": (
        "layer_norm:LigerLayerNormFunction.apply",
        lambda: (normal(T, H), normal(H), normal(H), 1e-5),
        lambda x, w, b, eps: F.layer_norm(x, [H], w, b, eps),
        2e-2,
    ),
    "swiglu bf16": (
        "swiglu:LigerSiLUMulFunction.apply",
        lambda: (normal(T, 2816), normal(T, 2816)),
        lambda a, b: F.silu(a) * b,
        2e-2,
    ),
    "softmax f32": (
        "softmax:LigerSoftmaxFunction.apply",
        lambda: (normal(T, H, dtype=torch.float32),),
        lambda x: x.softmax(-1),
        1e-4,
    ),
    "cross_entropy f32": (
        "cross_entropy:LigerCrossEntropyFunction.apply",
        lambda: (normal(256, V, dtype=torch.float32), words(256), None, -100, 0.0, 0.0, "mean", None, False),
        loss,
        1e-4,
    ),
}
FLA = {
    "l2norm bf16": (
        "modules.l2norm:l2norm",
        lambda: (normal(1, 512, 8, 128),),
        lambda x: F.normalize(x, dim=-1),
        2e-2,
    ),
    "rotary bf16": (
        "modules.rotary:rotary_embedding",
        lambda: (normal(1, 512, 8, 128), normal(512, 64, grad=False), normal(512, 64, grad=False)),
        rotated,
        2e-2,
    ),
    "causal_conv1d bf16": (
        "modules.convolution:causal_conv1d",
        lambda: (normal(1, 512, 2048), normal(2048, 4)),
        causal,
        2e-2,
    ),
}


@row
def liger(threads):
    """Liger's operators in Triton, forward and backward, against torch's plain implementation."""
    yield from operators("liger_kernel", {name: (f"ops.{path}", *rest) for name, (path, *rest) in LIGER.items()})


@row
def fla(threads):
    """fla's operators in Triton, forward and backward, against torch's plain implementation."""
    yield from operators("fla", FLA)
