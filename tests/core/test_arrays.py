import numpy
import pytest
import torch

from tilery.core.arrays import gpu_of, layout, on_gpu, span


class BareTensor:
    """Nothing but DLPack, as far away as one likes."""

    def __init__(self, tensor, device=None):
        self.tensor, self.device = tensor, device

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device or self.tensor.__dlpack_device__()


KINDS = {"torch": lambda x: x, "numpy": lambda x: x.numpy(), "DLPack": BareTensor}


@pytest.mark.parametrize("kind", KINDS)
def test_layout_and_span(kind):
    whole = torch.arange(60, dtype=torch.int16).reshape(3, 4, 5)
    part = whole[1:, ::2, :3].transpose(0, 2)  # (3, 2, 2)
    tensor = KINDS[kind](part)
    assert layout(tensor) == ((3, 2, 2), (1, 10, 20))
    assert span(tensor, 2) == (part.data_ptr(), part.data_ptr(), 2 * (2 + 10 + 20) + 2)


def test_span_of_what_runs_backwards_or_is_empty():
    array = numpy.arange(12, dtype=numpy.int64)[::-1]
    address = array.__array_interface__["data"][0]
    assert layout(array) == ((12,), (-1,)) and span(array, 8) == (address, address - 88, 96)
    assert span(torch.empty(0, 4), 4)[2] == 0


def test_device():
    here, first, second = torch.empty(1), BareTensor(None, (2, 0)), BareTensor(None, (2, 1))
    assert [on_gpu(x) for x in (here, numpy.empty(1), first, 3, None)] == [False, False, True, False, False]
    assert gpu_of([3, second, first]) == 1 and gpu_of([first, here]) == 0
    assert gpu_of([here, first]) == gpu_of([3]) == gpu_of([]) == -1
