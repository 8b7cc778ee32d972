"""Convolutions as products of windows with filters beside cuDNN, and beside TileLang on the same source."""

import torch
from gpu_rounds import Contest
from loaded_programs import EXAMPLES, HERE, ours, rivals

IMAGES, SIZE, CHANNELS, FILTERS, WINDOW = 32, 56, 256, 256, 3  # results have SIZE rows and columns
TILES = ((128, 256, 64), (128, 128, 64))
GOAL = 0.8
AMOUNT = 2 * IMAGES * SIZE**2 * CHANNELS * FILTERS * WINDOW**2 / 1e12


def tensors(layout, pad):
    """Images, filters (F, C, R, S) and the result in float64's nearest floats; torch chooses its fastest algorithm."""
    torch.backends.cudnn.benchmark = True
    size = SIZE + (0 if pad else WINDOW - 1)
    x = torch.randn(IMAGES, CHANNELS, size, size, device="cuda").half().contiguous(memory_format=layout)
    w = torch.randn(FILTERS, CHANNELS, WINDOW, WINDOW, device="cuda").half().contiguous(memory_format=layout)
    exact = torch.nn.functional.conv2d(x[:2].float(), w.float(), padding=pad)
    return x, w, exact


def checker(y, exact):
    """A function that raises unless the first images' results are right; y: channels last or second. It spoils y."""

    def check():
        torch.testing.assert_close(y[: exact.shape[0]].float(), exact, rtol=2.0**-10, atol=0.05)
        y.fill_(float("nan"))

    return check


def channels_last():
    x, w, exact = tensors(torch.channels_last, 1)
    contest = Contest()
    contest.enter("cuDNN", lambda: lambda: torch.nn.functional.conv2d(x, w, padding=1))
    images, filters = x.permute(0, 2, 3, 1), w.permute(2, 3, 1, 0).reshape(-1, FILTERS).contiguous()
    y = torch.full((IMAGES * SIZE**2, FILTERS), float("nan"), device="cuda", dtype=torch.float16)
    check = checker(y.view(IMAGES, SIZE, SIZE, FILTERS).permute(0, 3, 1, 2), exact)
    for tiles in TILES:
        for name, load in (("ours", ours), ("TileLang", rivals)):

            def prepare(load=load, tiles=tiles):
                build = load(HERE / "tilelang_convolution.py").convolution
                kernel = build(IMAGES, SIZE, SIZE, CHANNELS, FILTERS, WINDOW, 1, *tiles)
                return lambda: kernel(images, filters, y)

            contest.enter(f"{name}, {'x'.join(map(str, tiles))}", prepare, check)
    contest.run()
    work = f"convolution {WINDOW}x{WINDOW}, {IMAGES}x{SIZE}x{SIZE}x{CHANNELS}, {FILTERS} filters, channels last, TileLang"
    yield from contest.result(work, "ours", "cuDNN", AMOUNT, "TFLOP/s", GOAL)
    yield from contest.result(work, "ours", "TileLang", AMOUNT, "TFLOP/s", 1.0)


def channels_first():
    x, w, exact = tensors(torch.contiguous_format, 0)
    contest = Contest()
    contest.enter("cuDNN", lambda: lambda: torch.nn.functional.conv2d(x, w))
    y = torch.full((IMAGES, FILTERS, SIZE, SIZE), float("nan"), device="cuda", dtype=torch.float16)
    kernel = ours(EXAMPLES / "ninetoothed" / "conv2d.py").conv2d
    contest.enter("ours", lambda: lambda: kernel(x, w, y), checker(y, exact))
    contest.run()
    size = SIZE + WINDOW - 1
    work = f"convolution {WINDOW}x{WINDOW}, {IMAGES}x{CHANNELS}x{size}x{size}, {FILTERS} filters, NineToothed"
    yield from contest.result(work, "ours", "cuDNN", AMOUNT, "TFLOP/s", GOAL)


WORKLOADS = {
    "convolution 3x3, channels last": {"convolution-last": channels_last},
    "convolution 3x3, channels first": {"convolution-first": channels_first},
}
