"""Operators by kernels of all languages: what torch's own checks say, and what its compiler and exporter make of them."""

import io

import pytest
import torch
from torch.library import opcheck

import tilery.torch
from tilery import _native
from tilery.errors import Error


@pytest.fixture
def x():
    return torch.randn(8, 12, generator=torch.Generator().manual_seed(0))


def _sums(x):
    total = x.sum(1)
    return total, torch.stack([total, -total], 1).view(-1, 1)


# {operator: (further arguments, what it computes)}
FUNCTIONS = {
    "silu": ((), torch.nn.functional.silu),
    "double": ((), lambda x: 2 * x),
    "scaled": ((1.5,), lambda x, scale: x * scale),
    "sums": ((), _sums),
    "tripled": ((), lambda x: 3 * x),
    "plus_transposed": ((torch.ones(8, 12),), lambda x, y: (x + y).t()),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_and_the_checks_of_torch(kernels, x, name):
    arguments, expected = FUNCTIONS[name]
    operator = getattr(kernels, name)
    torch.testing.assert_close(operator(x, *arguments), expected(x, *arguments))
    assert set(opcheck(operator, (x, *arguments)).values()) == {"SUCCESS"}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled_without_a_break(kernels, x, name, dynamic):
    """One graph, which the operator is a node of; more rows make no new one where extents are dynamic."""
    arguments, expected = FUNCTIONS[name]
    if name == "plus_transposed":
        arguments = (x,)
    operator = getattr(kernels, name)
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    def function(x, *arguments):
        result = operator(torch.cos(x), *arguments)
        return [part.sin() for part in result] if isinstance(result, (tuple, list)) else result.sin()

    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    compiled = torch.compile(function, backend=backend, dynamic=dynamic)
    for rows in (8, 8, 20):
        given = [x.repeat(3, 1)[:rows].contiguous(), *arguments]
        given[1:] = [given[0] if isinstance(value, torch.Tensor) else value for value in given[1:]]
        torch.testing.assert_close(compiled(*given), function(*given))
    assert not torch._dynamo.utils.counters["graph_break"]
    specialised = name in ("plus_transposed", "tripled")  # sizes are compile-time numbers of these two
    assert len(graphs) == (1 if dynamic and not specialised else 2)
    assert all(any("tested" in str(node.target) for node in graph.graph.nodes) for graph in graphs)


def test_compiled_by_inductor(kernels, x):
    x.requires_grad_()
    torch._dynamo.reset()
    for function in (lambda x: kernels.silu(x * 2).sum(), lambda x: kernels.sums(kernels.scaled(x, 2.0))[1].square().sum()):
        grads = []
        for call in (function, torch.compile(function, fullgraph=True)):
            x.grad = None
            call(x).backward()
            grads.append(x.grad)
        torch.testing.assert_close(*grads)


def test_inplace_under_compile(kernels, x):
    def function(x):
        y = x + 1
        kernels.silu_(y)
        kernels.scale_into(y, 2.0, y)
        return y - x

    torch._dynamo.reset()
    torch.testing.assert_close(torch.compile(function, fullgraph=True, backend="aot_eager")(x), function(x))
    torch.testing.assert_close(function(x), 2 * torch.nn.functional.silu(x + 1) - x)


def test_writing_forms(kernels, x):
    expected = torch.nn.functional.silu(x)
    out = torch.zeros_like(x)
    assert kernels.silu_out(x, out=out) is out
    torch.testing.assert_close(out, expected)
    assert set(opcheck(kernels.silu_out, (x,), {"out": out}).values()) == {"SUCCESS"}
    assert set(opcheck(kernels.scale_into, (x, 2.0, out)).values()) == {"SUCCESS"}
    assert set(opcheck(kernels.silu_, (x.clone(),)).values()) == {"SUCCESS"}
    version = x._version
    assert kernels.silu_(x) is x and x._version > version
    torch.testing.assert_close(x, expected)


@pytest.mark.parametrize("name", ["silu", "double", "scaled", "sums"])
def test_exported_with_a_dynamic_extent_saved_and_loaded(kernels, x, name):
    arguments, _ = FUNCTIONS[name]

    class Module(torch.nn.Module):
        def forward(self, x):
            return getattr(kernels, name)(x, *arguments)

    exported = torch.export.export(Module(), (x,), dynamic_shapes=({0: torch.export.Dim("rows")},))
    file = io.BytesIO()
    torch.export.save(exported, file)
    file.seek(0)
    loaded = torch.export.load(file).module()
    for rows in (8, 20):
        given = x.repeat(3, 1)[:rows].contiguous()
        torch.testing.assert_close(loaded(given), Module()(given))


def test_shapes_are_found_without_a_launch(kernels, x):
    launched = []
    before = _native.record_launches(lambda *call: launched.append(call))
    try:
        with torch._subclasses.fake_tensor.FakeTensorMode() as mode:
            for name, (arguments, expected) in FUNCTIONS.items():
                given = [mode.from_tensor(v) if isinstance(v, torch.Tensor) else v for v in (x, *arguments)]
                found, wanted = getattr(kernels, name)(*given), expected(*given)
                for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, wanted))):
                    assert (a.shape, a.dtype, a.device) == (b.shape, b.dtype, b.device)
    finally:
        assert _native.record_launches(before) is not None
    assert not launched


def test_half_precision_of_results(kernels, x):
    with torch._subclasses.fake_tensor.FakeTensorMode() as mode:
        total, twice = kernels.sums(mode.from_tensor(x).half())
    assert (total.dtype, twice.dtype, twice.shape) == (torch.float32, torch.float16, (16, 1))


def test_an_extent_that_no_argument_tells():
    from tilery import tilelang
    from tilery.tilelang import language as T

    @tilelang.jit(out_idx=-1)
    def make():
        m, n = T.dynamic("m, n")

        @T.prim_func
        def kernel(X: T.Tensor((m,), "float32"), Y: T.Tensor((n + m,), "float32")):
            with T.Kernel(1, threads=32):
                Y[0] = X[0]

        return kernel

    @tilery.torch.custom_op("tested::untold", mutates_args=())
    def untold(x: torch.Tensor) -> torch.Tensor:
        return make()(x)

    with torch._subclasses.fake_tensor.FakeTensorMode(), pytest.raises(ValueError, match=r"of extent .*n.*do not tell"):
        untold(torch.zeros(3))


def test_a_tensor_that_is_written_and_not_named_is_found(kernels, x):
    @tilery.torch.custom_op("tested::unnamed", mutates_args=())
    def unnamed(x: torch.Tensor) -> None:
        kernels.scale_kernel(x, 2.0, x)

    with pytest.raises(Exception, match="mutat"):
        opcheck(unnamed, (x,))


def test_errors(kernels):
    for name in ("silu", "a::b::c", "::x", 3):
        with pytest.raises(ValueError, match="namespace::name") as caught:
            tilery.torch.custom_op(name, mutates_args=())
        assert isinstance(caught.value, Error)
    with pytest.raises(ValueError, match="unknown vmap_method 'sequentially'\n  hint: did you mean sequential?"):
        tilery.torch.custom_op("tested::x", mutates_args=(), vmap_method="sequentially")
    for kernel in (kernels.silu_kernel, kernels.scale_kernel, kernels.sums_of):
        with pytest.raises(TypeError, match="an operator is a function, got .*\n  hint: decorate a function"):
            tilery.torch.custom_op("tested::x", mutates_args=())(kernel)
