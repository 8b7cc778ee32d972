"""Roles that hand each other maxima and weights within a step, and load a step ahead: they become one program, in blocks."""

from pathlib import Path

import pytest
import torch

from tilery import _native, compat

PROGRAMS = compat.load(Path(__file__).parent / "exchange_programs.py")
CASES = [  # program, what varies: width, rows, keys of a block, and the last argument
    ("exchanging", 128, 64, 64, (0, 1)),
    ("exchanging", 256, 64, 32, (1, 0)),
    ("exchanging", 128, 128, 64, (1, 0)),
    ("ahead", 128, 64, 64, 2),
    ("ahead", 64, 128, 32, 1),
    ("ahead", 256, 64, 64, 4),
    ("handing", 128, 64, 64, None),
    ("handing", 64, 128, 128, None),
]

FULL = ("exchanging", 256, 64, 64, (0, 1))


def check(q, k, v, o, width):
    weights = torch.softmax(q.double() @ k.double().T * PROGRAMS.SCALE / 1.44269504, -1)
    exact, sizes = weights @ v.double(), weights @ v.double().abs()
    # Scores are f32 sums of `width` products, weights are rounded to f16; so are not their sums.
    scores = (q.double().abs() @ k.double().abs().T).max() * 0.125 * (width + 8) * 2.0**-23
    assert ((o.double() - exact).abs() <= (2 * scores + 2.0**-10) * sizes + 2.0**-20).all()


def attention(device, program, width, rows, block, last):
    """Checked; its kernel's module."""
    modules = []
    for keys in (2 * block, 6 * block):
        kernel = getattr(PROGRAMS, program)(keys, width, rows, block, *([] if last is None else [last]))
        q, k, v = (torch.randn(n, width, device=device).half() for n in (2 * rows, keys, keys))
        o = torch.full((2 * rows, width), float("nan"), dtype=torch.float32, device=device)
        kernel(q, k, v, o)
        check(q, k, v, o, width)
        modules.append(kernel._latest().module)
    return modules[-1]


@pytest.mark.parametrize("program, width, rows, block, last", CASES)
def test_takes_the_path(program, width, rows, block, last, goes_through_blocks):
    goes_through_blocks(attention("cpu", program, width, rows, block, last))


def test_any_number_of_keys(goes_through_blocks):
    kernel = PROGRAMS.ahead(None, 64, 64, 64, 2)
    for keys in (64, 128, 384):
        q, k, v = (torch.randn(n, 64).half() for n in (128, keys, keys))
        o = torch.full((128, 64), float("nan"), dtype=torch.float32)
        kernel(q, k, v, o)
        check(q, k, v, o, 64)
    goes_through_blocks(kernel._latest().module)


def test_a_step_that_fills_shared_memory():
    module = attention("cpu", *FULL)
    plan = _native.compile(module, disjoint=True, texts=True, target="sm_90a").plan
    assert ": blocks consumers=" in plan and " stages=1 " in plan, plan


@pytest.mark.gpu
@pytest.mark.parametrize("program, width, rows, block, last", [*CASES, FULL])
def test_is_right(program, width, rows, block, last):
    attention("cuda", program, width, rows, block, last)
