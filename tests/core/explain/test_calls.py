"""How `explain` is called."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def add_kernel(x, o, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i) + 1)


@pytest.mark.parametrize("decorated", [False, True])
def test_a_grid_in_brackets(decorated):
    x, out = torch.rand(192), torch.empty(192)
    kernel = tileon.heuristics({"B": lambda args: 64})(add_kernel) if decorated else add_kernel
    options = {} if decorated else {"B": 64}
    for grid in ((3,), lambda meta: (192 // meta["B"],)):
        plain = kernel.explain(x, out, grid=grid, seconds=0, **options)
        bound = kernel[grid].explain(x, out, seconds=0, **options)
        for report in (plain, bound):
            (entry,) = report.launches
            assert list(entry.found.works[0].grid) == [3, 1, 1] and entry.name == "add_kernel"
    assert torch.equal(out, x + 1)
    kernel[(3,)](x, out, **options)
    with pytest.raises(TypeError, match="multiple values for keyword argument 'grid'"):
        kernel[(3,)].explain(x, out, grid=(3,), **options)


def test_a_call_without_a_grid_says_how_to_give_it():
    with pytest.raises(TypeError) as caught:
        add_kernel.explain(torch.rand(192), torch.empty(192), B=64)
    assert str(caught.value) == (
        "explain() needs the `grid` of the launch\n"
        "  hint: write grid=(programs, ), as in kernel[(programs, )](...), or kernel[grid].explain(...)"
    )
