"""Options that programs set in vain are named in a kernel's explanation."""

import pytest
import torch

from tilery import ninetoothed
from tilery.errors import Error
from tilery.ninetoothed import Tensor
from tilery.ninetoothed import language as ntl


def application(x, y):
    y = x + 1  # noqa: F841


def tiles(*tensors):
    return tuple(t.tile((4,)) for t in tensors)


def made(**options):
    return ninetoothed.make(tiles, application, (Tensor(1), Tensor(1)), **options)


def told(kernel):
    return [one.option for one in kernel.explanation.ignored]


def arguments():
    return torch.arange(6.0), torch.full((6,), float("nan"))


def test_options_of_make(tmp_path, monkeypatch, device):
    monkeypatch.delenv("TILERY_TUNE", raising=False)
    kernel = made(num_stages=2, num_warps=8, max_num_configs=5, output_dir="here")
    with pytest.raises(Error, match="has not been launched"):
        _ = kernel.explanation
    kernel(*arguments())
    wanted = ["num_warps=8", "num_stages=2", "max_num_configs=5", "output_dir='here'"]
    found = [option for option in told(kernel) if device == "cpu" or "num_warps" not in option]
    wanted = [f"ninetoothed.make({option})" for option in wanted if device == "cpu" or "num_warps" not in option]
    assert found == wanted and all(one.reason for one in kernel.explanation.ignored)
    monkeypatch.setenv("TILERY_TUNE", "1")
    kernel = made(max_num_configs=5)
    kernel(*arguments())
    assert told(kernel) == []


def test_options_of_jit():
    def annotated(x: Tensor(1).tile((4,)), y: Tensor(1).tile((4,))):
        y = x + 1  # noqa: F841

    kernel = ninetoothed.jit(annotated, num_stages=(1, 2), _prettify=True)
    kernel(*arguments())
    assert told(kernel) == ["ninetoothed.jit(num_stages=(1, 2))", "ninetoothed.jit(_prettify=True)"]
    usual = ninetoothed.jit(annotated)
    usual(*arguments())
    assert told(usual) == []


def test_options_of_calls():
    kernel, (x, y) = made(num_stages=5), arguments()
    kernel(x, y, num_warps=8, num_stages=3)
    assert torch.equal(y, x + 1) and "tile.num_warps = 8" in kernel.asm["tile"]
    assert "ninetoothed.kernel(num_stages=3)" in told(kernel) and "ninetoothed.make(num_stages=5)" not in told(kernel)


def test_functions_of_applications():

    def flat(x, y):
        y = ntl.reshape(x, (4,), can_reorder=True)  # noqa: F841

    kernel = ninetoothed.make(tiles, flat, (Tensor(1), Tensor(1)))
    kernel(*arguments())
    (one,) = kernel.explanation.ignored
    assert one.option == "ntl.reshape(can_reorder=True)" and one.place[0] == __file__


def test_element_types_of_tensors():
    """A call takes its arguments' types, as it does without them."""
    for dtype, wanted in (("float32", []), (ninetoothed.float16, ["ninetoothed.Tensor(dtype='fp16')"])):
        kernel = ninetoothed.make(tiles, application, (Tensor(1, dtype=dtype), Tensor(1)))
        x, y = arguments()
        kernel(x, y)
        assert told(kernel) == wanted
        torch.testing.assert_close(y, x + 1)
