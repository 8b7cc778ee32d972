import kernels
import numpy as np
import pytest
import torch

from tilery import _native
from tilery.errors import Error

CONSTANT, SCALAR, EXTENT, _, POINTER, ADD, _, _, _, DIV_FLOOR = range(10)
CHECK, EMPTY, LAUNCH, RETURN = range(30, 34)
F32, I32 = 13, 3
# add(x, y) -> z: z = empty_like(x), one program for each 64 elements
CODE = [
    EXTENT,
    0,
    0,
    0,
    EXTENT,
    1,
    1,
    0,
    CHECK,
    0,
    1,
    0,
    0,
    EMPTY,
    2,
    F32,
    0,
    1,
    0,
    CONSTANT,
    2,
    63,
    ADD,
    2,
    2,
    0,
    CONSTANT,
    3,
    64,
    DIV_FLOOR,
    2,
    2,
    3,
    POINTER,
    4,
    0,
    POINTER,
    5,
    1,
    POINTER,
    6,
    2,
    LAUNCH,
    0,
    1,
    2,
    4,
    4,
    0,
    5,
    1,
    6,
    2,
    0,
    -1,
    RETURN,
    1,
    2,
]


def add_image(code=CODE):
    host = kernels.host_program("add", [("x", F32, 1), ("y", F32, 1)], 7, 3, ["x has {0} elements, y has {1}"], code)
    args = [
        ("x", "float32", True, False),
        ("y", "float32", True, False),
        ("z", "float32", True, True),
        ("n", "int32", False, False),
    ]
    return _native.CodeImage(kernels.object_code(kernels.ADD), [("add", 0, args)], host)


def allocate(extents, dtype, like):
    assert like is None or isinstance(like, torch.Tensor)
    return torch.full(extents, float("nan"), dtype=getattr(torch, dtype))


def launcher(allocate=allocate, code=CODE):
    plan = _native.HostPlan(add_image(code), allocate)
    return _native.Launcher(
        "add", [("x", "runtime"), ("y", "runtime"), ("option", "option")], lambda signature, args: plan, layout=True
    )


@pytest.mark.parametrize("n", [0, 1, 64, 1000])
def test_outputs(n):
    x, y = torch.randn(n), torch.randn(n)
    add = launcher()
    for _ in range(2):
        z = add(x, y)
        assert isinstance(z, torch.Tensor) and torch.equal(z, x + y)
    assert torch.equal(add(y=y, x=x, option=3), x + y)


def test_checks():
    add = launcher()
    with pytest.raises(Error, match=r"x has 3 elements, y has 4"):
        add(torch.zeros(3), torch.zeros(4))
    with pytest.raises(TypeError, match=r"argument 'y' of add is a float64 tensor of shape \(3,\); expected float32"):
        add(torch.zeros(3), torch.zeros(3, dtype=torch.float64))
    with pytest.raises(ValueError, match=r"argument 'x' of add is a float32 tensor of shape \(3, 1\); expected 1 dimension\n"):
        add(torch.zeros(3, 1), torch.zeros(3))
    with pytest.raises(TypeError, match="argument 'x' of add is the int 5; expected a float32 tensor"):
        add(5, torch.zeros(3))
    with pytest.raises(TypeError, match="add computes its own grid"):
        add[1](torch.zeros(3), torch.zeros(3))


def test_exceptions_of_allocate():
    def refuse(extents, dtype, like):
        raise MemoryError("none left")

    with pytest.raises(MemoryError, match="none left"):
        launcher(refuse)(torch.zeros(3), torch.zeros(3))
    with pytest.raises(Error, match="which is not the tensor it was asked for"):
        launcher(lambda extents, dtype, like: torch.zeros(7))(torch.zeros(3), torch.zeros(3))
    with pytest.raises(Error, match="nothing was given to make it with"):
        launcher(None)(torch.zeros(3), torch.zeros(3))


def test_workspace_and_several_results():
    workspace = list(CODE)
    workspace[16] = 1  # z is a workspace: the program returns its arguments instead
    workspace[-2:] = [2, 0, 1]
    x, y = torch.zeros(100), np.zeros(100, "f")
    result = launcher(None, workspace)(x, y)
    assert result[0] is x and result[1] is y


def test_damaged_programs():
    with pytest.raises(Error, match="damaged"):
        _native.HostPlan(add_image(CODE[:-1]))
    with pytest.raises(ValueError, match="no host program"):
        _native.HostPlan(_native.CodeImage(kernels.object_code(kernels.ADD), []))
