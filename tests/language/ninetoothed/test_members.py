"""Members of tensors and symbols, and the modules they live in."""

import ast
import copy
import functools
import pickle

import numpy as np
import pytest

from tilery import ninetoothed
from tilery.ninetoothed import Symbol, Tensor, block_size, generation, utils


def test_known_sizes_are_ints():
    x = Tensor(shape=(5, None), name="x")
    assert x.shape[0] == 5 and type(x.shape[0]) is int and isinstance(x.shape[1], Symbol)
    tiled = x.tile((2, 3))
    assert tiled.shape[0] == 3 and type(tiled.shape[0]) is int and tiled.dtype.shape == (2, 3)
    assert type(tiled.dtype.size(0)) is int and type(x.size()[0]) is int
    x.shape = x.shape[:-1] + (64,)
    assert x.shape == (5, 64) and x.tile((2, 3)).shape == (3, 22)


@pytest.mark.parametrize("given", [lambda: (o for o in ({"constexpr": True}, None)), lambda: [{"constexpr": True}, None]])
def test_shape_options_are_any_iterable(given):
    x = Tensor(2, shape_options=given())
    assert [size.constexpr for size in x.shape] == [True, False]
    with pytest.raises(ValueError, match="`shape_options` has 2 entries for 3 dimensions"):
        Tensor(3, shape_options=given())


def test_names_and_their_patterns():
    x = Tensor(2, name="x")
    assert repr(x.shape[1]) == x.size_string(1) == "ninetoothed_x_size_1"
    assert repr(x.source_strides[0]) == x.stride_string(0) == "ninetoothed_x_stride_0"
    assert x.tile((2, 2)).pointer_string() == "ninetoothed_x_pointer"
    jagged = Tensor(2, jagged_dim=1, name="j")
    assert repr(jagged.shape[1]) == jagged.seq_len_string() == "ninetoothed_j_seq_len"
    assert Tensor.size_pattern().fullmatch(x.size_string(1)).groups() == ("ninetoothed_x", "size", "1")
    assert Tensor.stride_pattern().fullmatch(x.stride_string(0)).groups() == ("ninetoothed_x", "stride", "0")
    assert Tensor.pointer_pattern().fullmatch(x.pointer_string()).group(1) == "ninetoothed_x"
    for kind in ("values", "offsets", "seq_len", "max_seq_len"):
        assert getattr(Tensor, f"{kind}_pattern")().fullmatch(getattr(jagged, f"{kind}_string")())


def test_instances_are_counted():
    before = Tensor.num_instances
    name = Tensor(1).name
    assert Tensor.num_instances == before + 1 and name == f"tensor_{before}"


def test_target_dims():
    x = Tensor(2).tile((2, 3))
    assert x.dtype.target_dims == (0, 1)
    x.dtype = x.dtype.unsqueeze(1)
    assert x.dtype.target_dims == (0, None, 1 + 1)


def arranged():
    x = Tensor(2, jagged_dim=1, other=-1.5, name="x", dtype="fp16")
    x = x.pad(((0, 0), (1, 0))).tile((1, block_size(64, 128)))
    x.dtype = x.dtype.squeeze(0)
    return x.flatten()


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_copies(how):
    x = arranged()
    y = how(x)
    assert repr(y) == repr(x) and y.describe() == x.describe()
    assert (y.name, y.other, y.jagged_dim, y.source.dtype) == ("x", -1.5, 1, "fp16")
    (meta,) = [s for s in y.names() if s.meta]
    assert (meta.lower_bound, meta.upper_bound) == (64, 128)
    values = {y.source: {"shape": (2, (3, 1))}, meta: 2}
    np.testing.assert_array_equal(y.eval(values), x.eval({x.source: {"shape": (2, (3, 1))}, meta: 2}))
    y.dtype = y.dtype.unsqueeze(0)
    assert x.dtype.ndim == 1  # its own


def test_node_and_replacement():
    symbol = Symbol("a") + 1
    assert isinstance(symbol.node, ast.BinOp) and ast.unparse(symbol.node) == "a + 1"
    assert symbol.find_and_replace(Symbol("a"), 4) is symbol and symbol == 5


class Kernels:
    @staticmethod
    def arrangement(x, y, BLOCK=block_size()):
        return x.tile((BLOCK,)), y.tile((BLOCK,))

    @staticmethod
    def application(x, y):
        y = x  # noqa: F841


def listing(block=None, **options):
    arrangement = Kernels.arrangement if block is None else functools.partial(Kernels.arrangement, BLOCK=block)
    with open(ninetoothed.make(arrangement, Kernels.application, (Tensor(1), Tensor(1)), **options)._source) as file:
        return file.read()


def test_listing():
    text = listing(64, num_warps=4)
    compile(text, "listing", "exec")
    assert "application_with_auto_tuning" not in text and "num_warps=4" in text and "num_stages=" in text
    assert "# arrangement: " in text and "Kernels.arrangement with BLOCK=64" in text and "Kernels.application" in text
    assert "    x,  # ((x.size(0) - 1) // 64 + 1,) of (64,)" in text
    assert "return x.tile((BLOCK,)), y.tile((BLOCK,))" in text and "y = x" in text
    for tuned in (listing(), listing(64, num_warps=(4, 8)), listing(64, num_stages=[1, 2])):
        compile(tuned, "listing", "exec")
        assert "application_with_auto_tuning" in tuned
    assert "meta, 32 to 1024, a power of two" in listing()


def test_cache_of_sources():
    path = generation.cache_source("one = 1\n")
    assert path == generation.cache_source("one = 1\n") != generation.cache_source("two = 2\n")
    with open(path) as file:
        assert file.read() == "one = 1\n"
    assert generation.CACHE_DIR.is_dir() and path.startswith(str(generation.CACHE_DIR))

    def copy_block(x: Tensor(1).tile((4,)), y: Tensor(1).tile((4,))):
        y = x  # noqa: F841

    with open(generation.CodeGenerator()(copy_block, num_warps=2)) as file:
        assert "num_warps=2" in file.read()


def test_defaults():
    num_warps, num_stages = utils.calculate_default_configs()
    assert num_warps == 8 and num_stages >= 1
