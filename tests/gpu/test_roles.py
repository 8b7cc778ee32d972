"""Roles whose loops end where it is known at run time only: barriers are proven to be passed, and products take Hopper's path."""

from pathlib import Path

import pytest
import torch

from tilery import compat

PROGRAMS = compat.load(Path(__file__).parent / "role_programs.py")
M, N = 256, 128
CASES = [  # stages, consumers, form
    (1, 1, "loops"),
    (3, 1, "loops"),
    (2, 2, "loops"),
    (4, 1, "last"),
    (3, 2, "below"),
    (1, 1, "loop"),
    (2, 1, "loop"),
]


def product(device, stages, consumers, form):
    """Checked for several K; its kernel's module."""
    kernel = PROGRAMS.product(M, N, 64, stages, consumers, form)
    for k in (64, 200, 448):
        a, b = torch.randn(M, k, device=device).half(), torch.randn(k, N, device=device).half()
        c = torch.full((M, N), float("nan"), dtype=torch.float16, device=device)
        kernel(a, b, c)
        exact, sizes = a.double() @ b.double(), a.double().abs() @ b.double().abs()
        assert ((c.double() - exact).abs() <= 1.01 * ((k + 2) * 2.0**-22 * sizes + 2.0**-11 * exact.abs() + 2.0**-24)).all()
    return kernel._latest().module


@pytest.mark.parametrize("stages, consumers, form", CASES)
def test_takes_the_path(stages, consumers, form, goes_through_blocks):
    goes_through_blocks(product("cpu", stages, consumers, form))


@pytest.mark.gpu
@pytest.mark.parametrize("stages, consumers, form", CASES)
def test_is_right(stages, consumers, form):
    product("cuda", stages, consumers, form)
