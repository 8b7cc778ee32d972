"""`make` and `build` ahead of time, called from Python."""

import enum
import functools

import pytest
import torch
from language.ninetoothed.operators.arrangements import matmul
from language.ninetoothed.operators.test_windows_and_products import product

from tilery import ninetoothed
from tilery.errors import Error
from tilery.ninetoothed import Tensor, block_size
from tilery.ninetoothed import language as ntl
from tilery.ninetoothed.aot import KernelLaunchError
from tilery.ninetoothed.aot import aot as compile_ahead


class Kind(enum.IntEnum):
    SUM = 3
    DIFFERENCE = 5


def arrangement(x, y, alpha, z, block):
    return x.tile((block,)), y.tile((block,)), alpha, z.tile((block,))


def plus(x, y, alpha, z):
    z = x + alpha * y  # noqa: F841


def minus(x, y, alpha, z):
    z = x - alpha * y  # noqa: F841


def premake(size=None, dtype=None, kind=Kind.SUM, block=64):
    tensors = (Tensor(shape=(size,), dtype=dtype), Tensor(shape=(size,), dtype=dtype), Tensor(0, dtype="fp64"))
    tensors += (Tensor(shape=(size,), dtype=dtype),)
    return functools.partial(arrangement, block=block), plus if kind == Kind.SUM else minus, tensors


CONFIGS = (
    ((), {"dtype": ninetoothed.float32}, {}),
    ((), {"dtype": ninetoothed.float16, "kind": Kind.DIFFERENCE}, {}),
    ((), {"dtype": ninetoothed.float32, "kind": Kind.DIFFERENCE, "block": 128}, {}),
    ((100,), {"dtype": ninetoothed.float64}, {}),
)


def here():
    return torch.get_default_device().type


def call(kernel, n, dtype, *config):
    x, y, z = torch.randn(n, dtype=dtype), torch.randn(n, dtype=dtype), torch.full((n,), float("nan"), dtype=dtype)
    kernel(x, y, 2.0, z, *config)
    return x.double(), y.double(), z.double()


def test_configurations(tmp_path):
    kernel = ninetoothed.build(premake, CONFIGS, caller=here(), kernel_name="both", output_dir=tmp_path)
    x, y, z = call(kernel, 1001, torch.float32, None, ninetoothed.float32, Kind.SUM, 64)
    torch.testing.assert_close(z, x + 2 * y, rtol=1e-6, atol=1e-6)
    x, y, z = call(kernel, 77, torch.float16, None, ninetoothed.float16, Kind.DIFFERENCE, 64)
    torch.testing.assert_close(z, x - 2 * y, rtol=1e-3, atol=4e-3)
    x, y, z = call(kernel, 300, torch.float32, None, ninetoothed.float32, Kind.DIFFERENCE, 128)
    torch.testing.assert_close(z, x - 2 * y, rtol=1e-6, atol=1e-6)
    x, y, z = call(kernel, 100, torch.float64, 100, ninetoothed.float64, Kind.SUM, 64)
    torch.testing.assert_close(z, x + 2 * y)
    for wrong in ((None, ninetoothed.float32, Kind.SUM, 32), (7, ninetoothed.float32, Kind.SUM, 64)):
        with pytest.raises(KernelLaunchError, match="Kernel launch failed with error code: 1."):
            call(kernel, 10, torch.float32, *wrong)
    with pytest.raises(KernelLaunchError):
        call(kernel, 99, torch.float64, 100, ninetoothed.float64, Kind.SUM, 64)  # compiled for 100 elements
    with pytest.raises(TypeError, match="takes 8 arguments"):
        call(kernel, 10, torch.float32)
    assert {f.name for f in tmp_path.iterdir()} == {
        "both.tilery",
        "both.c",
        "both.h",
        "both.fingerprint",
        "ninetoothed.h",
    }
    assert "int size_, int dtype_, int kind_, int block_" in (tmp_path / "both.h").read_text()


def test_built_once(tmp_path, monkeypatch):
    calls = []

    def counted(size=None, dtype=ninetoothed.float32):
        calls.append(size)
        return premake(size, dtype)

    def build(configs):
        return ninetoothed.build(counted, configs, caller=here(), kernel_name="k", output_dir=tmp_path, lazy=True)

    kernel = build((((), {}, {}),))
    assert not calls
    for _ in range(2):
        call(kernel, 10, torch.float32, None, ninetoothed.float32)
    assert len(calls) == 1
    call(build((((), {}, {}),)), 10, torch.float32, None, ninetoothed.float32)
    assert len(calls) == 1  # what lies in the folder is up to date
    call(build((((), {}, {}), ((5,), {}, {}))), 10, torch.float32, None, ninetoothed.float32)
    assert len(calls) == 3


def test_options_follow_in_the_order_they_are_named(tmp_path):
    configs = (((), {"dtype": ninetoothed.float32}, {"num_warps": 4, "num_stages": 2}),)
    kernel = ninetoothed.build(premake, configs, caller=here(), kernel_name="options", output_dir=tmp_path)
    x, y, z = call(kernel, 100, torch.float32, None, ninetoothed.float32, Kind.SUM, 64, 4, 2)
    torch.testing.assert_close(z, x + 2 * y, rtol=1e-6, atol=1e-6)


def test_timing_chooses_meta_parameters(tmp_path):
    configs = tuple(
        ((), {"dtype": dtype, "block": block}, {"num_warps": warps})
        for dtype in (ninetoothed.float32, ninetoothed.float64)
        for block, warps in ((64, 4), (1024, 4), (1024, 8))
    )
    kernel = ninetoothed.build(
        premake, configs, meta_parameters=("block",), caller=here(), kernel_name="tuned", output_dir=tmp_path
    )
    for dtype, name in ((torch.float32, ninetoothed.float32), (torch.float64, ninetoothed.float64)):
        x, y, z = call(kernel, 1001, dtype, None, name, Kind.SUM)
        torch.testing.assert_close(z, x + 2 * y, rtol=1e-6, atol=1e-6)
        x, y, z = call(kernel, 11, dtype, 11, name, Kind.SUM)  # no configuration of its own
        torch.testing.assert_close(z, x + 2 * y, rtol=1e-6, atol=1e-6)


def test_annotated_function_and_chosen_blocks(tmp_path):
    block = block_size()

    def negated(x: Tensor(1, dtype=ninetoothed.int32).tile((block,)), y: Tensor(1, dtype=ninetoothed.int32).tile((block,))):
        y = -x  # noqa: F841

    x, y = torch.arange(500, dtype=torch.int32), torch.zeros(500, dtype=torch.int32)
    compile_ahead(negated, here(), output_dir=tmp_path)(x, y)
    assert torch.equal(y, -x) and (tmp_path / "negated.h").exists()


def test_constexpr_arguments(tmp_path):
    def application(x, flag, y):
        if flag:
            y = x * 2  # noqa: F841
        else:
            y = ntl.zeros(x.shape, dtype=ntl.float32)  # noqa: F841

    tensors = (Tensor(1, dtype="fp32"), Tensor(0, constexpr=True, value=1), Tensor(1, dtype="fp32"))
    arrange = lambda x, flag, y: (x.tile((32,)), flag, y.tile((32,)))  # noqa: E731
    kernel = ninetoothed.make(arrange, application, tensors, caller=here(), kernel_name="flagged", output_dir=tmp_path)
    x, y = torch.randn(50), torch.zeros(50)
    kernel(x, torch.tensor(True, device="cpu"), y)
    assert torch.equal(y, x * 2)


def nested(rows, jagged_dim):
    offsets = torch.tensor([0] + [row.shape[jagged_dim - 1] for row in rows]).cumsum(0)
    return torch.nested.nested_tensor_from_jagged(torch.cat(rows, jagged_dim - 1), offsets, jagged_dim=jagged_dim)


@pytest.mark.parametrize("jagged_dim", [1, 2])
@pytest.mark.parametrize("lengths", [(5, 1, 0, 13), (0, 0), (64,)])
def test_jagged_rows(jagged_dim, lengths, tmp_path):
    def application(x, y, z):
        y = x * 2  # noqa: F841
        z = x  # noqa: F841

    def arrangement(*tensors):
        return tuple(t.tile((1, 8, 8)) for t in tensors)

    tensors = *(Tensor(3, jagged_dim=jagged_dim, other=other, dtype="fp32") for other in (-1, None)), Tensor(3, dtype="fp32")
    kernel = ninetoothed.make(arrangement, application, tensors, caller=here(), kernel_name="rows", output_dir=tmp_path)
    rows = [torch.randn((n, 6) if jagged_dim == 1 else (6, n)) for n in lengths]
    longest = max(lengths)
    y = nested([torch.zeros_like(row) for row in rows], jagged_dim)
    z = torch.zeros(len(rows), *((longest, 6) if jagged_dim == 1 else (6, longest)))
    kernel(nested(rows, jagged_dim), y, z)
    for row, doubled, padded in zip(rows, y.unbind(), z):
        assert torch.equal(doubled, row * 2)
        padded = padded if jagged_dim == 1 else padded.T
        row = row if jagged_dim == 1 else row.T
        assert torch.equal(padded[: len(row)], row) and (padded[len(row) :] == -1).all()
    with pytest.raises(Error, match="argument `x` of kernel `launch_rows` must be a jagged nested tensor, got Tensor"):
        kernel(rows[0], y, z)
    with pytest.raises(Error, match=f"rows that differ in dimension {3 - jagged_dim}"):
        kernel(nested([torch.zeros(3, 4)], 3 - jagged_dim), y, z)
    offsets, ends = torch.tensor([0, 3, 6]), torch.tensor([2, 3])
    gaps = torch.nested.nested_tensor_from_jagged(torch.zeros(6, 6), offsets, lengths=ends, jagged_dim=jagged_dim)
    with pytest.raises(Error, match="has rows that end before the next ones begin"):
        kernel(gaps, y, z)


def test_jagged_configurations_are_timed(tmp_path):
    def premake(block):
        def application(x, y):
            y = x * 2  # noqa: F841

        options = {"jagged_dim": 1, "dtype": "fp32", "shape_options": {"upper_bound": 48}}  # of what is timed
        tensors = (Tensor(3, **options), Tensor(3, **options))
        return lambda *ts: tuple(t.tile((1, block, 8)) for t in ts), application, tensors

    configs = [((8,), {}, {}), ((32,), {}, {})]
    kernel = ninetoothed.build(
        premake, configs, meta_parameters=("block",), caller=here(), kernel_name="timed_rows", output_dir=tmp_path
    )
    rows = [torch.randn(n, 6) for n in (5, 1, 40)]
    y = nested([torch.zeros_like(row) for row in rows], 1)
    kernel(nested(rows, 1), y)
    assert all(torch.equal(a, 2 * b) for a, b in zip(y.unbind(), rows))


def test_what_ahead_of_time_needs(tmp_path):
    def make(tensors, arrange=lambda x, y: (x.tile((32,)), y.tile((32,))), **options):
        def application(x, y):
            y = x  # noqa: F841

        return ninetoothed.make(arrange, application, tensors, caller=here(), output_dir=tmp_path, **options)

    with pytest.raises(Error, match="element type of `x` of `application` is not declared"):
        make((Tensor(1), Tensor(1, dtype="fp32")))
    with pytest.raises(Error, match="there is no element type `fp99`"):
        make((Tensor(1, dtype="fp99"), Tensor(1, dtype="fp32")))
    block = ninetoothed.Symbol("BLOCK", constexpr=True)
    with pytest.raises(Error, match="`BLOCK` of `application` has no value to compile for"):
        make((Tensor(1, dtype="fp32"), Tensor(1, dtype="fp32")), lambda x, y: (x.tile((block,)), y.tile((block,))))
    with pytest.raises(Error, match="Unsupported caller: `opencl`"):
        compile_ahead(lambda x: None, "opencl")


def convolution(x, weight, y, block):
    x = x.tile((1, *weight.shape[1:]), strides=(-1, -1, 1, 1)).squeeze(1)
    x.dtype = x.dtype.squeeze(0)
    x = x.ravel().flatten(end_dim=3).flatten(start_dim=1)
    weight = weight.flatten(start_dim=1).permute((1, 0))

    return matmul(x, weight, y.permute((0, 2, 3, 1)).flatten(end_dim=3), block)


@pytest.mark.parametrize("block", [(64, 64, 64), (128, 32, 64)])
def test_convolution_of_one_size(block, tmp_path):
    """Both factors are gathered, and share what is known of k: each deals it to a GPU's threads in its own way."""
    sizes = ((2, 16, 8, 8), (40, 16, 3, 3), (2, 40, 6, 6))
    tensors = tuple(Tensor(shape=size, dtype="fp16") for size in sizes)
    arrange = functools.partial(convolution, block=block)
    kernel = ninetoothed.make(arrange, product, tensors, caller="cuda", kernel_name="convolution", output_dir=tmp_path)
    x, weight, y = (torch.randn(size).half() for size in sizes)
    kernel(x, weight, y)
    exact = torch.nn.functional.conv2d(x.double(), weight.double())
    torch.testing.assert_close(y.double(), exact, rtol=2e-3, atol=2e-2)


@pytest.mark.parametrize("flag", [False, True])
def test_an_unused_argument_may_be_a_meta_tensor(flag, tmp_path):
    def arrange(x, y, flag, z):
        return x.tile((16,)), y.tile((16,)), flag, z.tile((16,))

    def application(x, y, flag, z):
        if flag:
            z = x + y
        else:
            z = 2 * x  # noqa: F841

    one = functools.partial(Tensor, 1, dtype=ninetoothed.float32)
    tensors = (one(), one(), Tensor(0, constexpr=True, value=flag), one())
    kernel = ninetoothed.make(arrange, application, tensors, caller=here(), kernel_name="unused", output_dir=tmp_path)
    x, y = torch.randn(40), torch.randn(40) if flag else torch.empty(40, device="meta")
    z = torch.full((40,), float("nan"))
    kernel(x, y, flag, z)
    assert torch.equal(z, x + y if flag else 2 * x)
