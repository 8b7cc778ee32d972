"""Tensors whose elements do not lie in memory as they are: refused before anything is read, in every language."""

import os
import subprocess
import sys

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from tilery import ninetoothed, tilelang, tileon
from tilery.errors import Error
from tilery.ninetoothed import Tensor
from tilery.tilelang import language as T
from tilery.tileon import language as tl


@tileon.jit
def plus(x, out):
    i = tl.arange(0, 4)
    tl.store(out + i, tl.load(x + i) + 1)


def arrangement(x, out):
    return x.tile((4,)), out.tile((4,))


def application(x, out):
    out = x + 1  # noqa: F841


@tilelang.jit
def make():
    @T.prim_func
    def kernel(X: T.Tensor((4,), "float32"), Out: T.Tensor((4,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(4):
                Out[i] = X[i] + 1

    return kernel


def nine():
    return ninetoothed.make(arrangement, application, (Tensor(1), Tensor(1)))


LANGUAGES = {"tileon": lambda: plus[(1,)], "ninetoothed": nine, "tilelang": lambda: make()}


class Wrapper(torch.Tensor):
    """A tensor without a storage of its own."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise NotImplementedError(function)


class Counted(torch.Tensor):
    """A subclass whose elements are where those of any tensor are."""

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise NotImplementedError(function)


def freed(view=slice(None), size=4):
    x = torch.zeros(size)[view]
    x.untyped_storage().resize_(0)
    return x


def fake(view=slice(None)):
    with FakeTensorMode():
        return torch.zeros(16)[view]


ABSENT = {
    "fake": fake,
    "fake view": lambda: fake(slice(8, 12)),
    "meta": lambda: torch.zeros(4, device="meta"),
    "sparse": lambda: torch.zeros(4).to_sparse(),
    "rows": lambda: torch.eye(4).to_sparse_csr()[0],
    "quantized": lambda: torch.quantize_per_tensor(torch.randn(4), 0.1, 0, torch.qint8),
    "nested": lambda: torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]),
    "mkldnn": lambda: torch.zeros(4, 4).to_mkldnn(),
    "wrapper": lambda: Wrapper(torch.zeros(4)),
    "freed": freed,
    "freed view": lambda: freed(slice(4, 8), 8),
    "view behind it": lambda: freed(slice(1 << 18, (1 << 18) + 4), 1 << 19),
    "zeros that nobody wrote": lambda: torch._efficientzerotensor(4),
    "proxy": lambda: torch.fx.Proxy(torch.fx.Graph().placeholder("x")),
}


DEVICES = ["cpu"]  # what is refused lies on no device


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ABSENT)
@pytest.mark.parametrize("at", [0, 1])
def test_what_has_no_memory_is_refused(language, kind, at):
    call, x = LANGUAGES[language](), torch.zeros(4)
    arguments = (ABSENT[kind](), x) if at == 0 else (x, ABSENT[kind]())
    with pytest.raises((TypeError, ValueError)) as caught:
        call(*arguments)
    assert isinstance(caught.value, Error) or kind == "proxy"  # whose shape cannot be looked at: torch says so
    assert x.tolist() == [0] * 4


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("transform", ["vmap", "grad", "jvp", "functionalize", "make_fx"])
def test_what_functions_are_transformed_with(language, transform):
    call, x, out = LANGUAGES[language](), torch.zeros(4), torch.zeros(4)

    def function(x):
        call(x, out)
        return x.sum()

    transforms = {
        "vmap": lambda: torch.func.vmap(function)(torch.zeros(3, 4)),
        "grad": lambda: torch.func.grad(function)(x),
        "jvp": lambda: torch.func.jvp(function, (x,), (x,)),
        "functionalize": lambda: torch.func.functionalize(function)(x),
        "make_fx": lambda: make_fx(function, tracing_mode="fake")(x),
    }
    with pytest.raises((TypeError, ValueError)):
        transforms[transform]()
    assert out.tolist() == [0] * 4


@pytest.mark.parametrize("language", LANGUAGES)
def test_subclasses_with_memory_are_tensors(language):
    x, out = torch.ones(4), torch.zeros(4)
    LANGUAGES[language]()(torch.Tensor._make_subclass(Counted, x), out)
    assert out.tolist() == [2] * 4
    parameter = torch.nn.Parameter(x)
    LANGUAGES[language]()(parameter, out)
    assert out.tolist() == [2] * 4


class ByCapsule(torch.Tensor):
    """A tensor that is read as those of frameworks without DLPack's functions in C."""

    __dlpack_c_exchange_api__ = None


def shrunken(bytes, make=lambda: torch.ones(4)):
    x = make()
    x.untyped_storage().resize_(bytes)
    return x


SHRUNKEN = {
    "last byte": lambda: shrunken(15),
    "all but one byte": lambda: shrunken(1),
    "view": lambda: shrunken(31, lambda: torch.ones(8)[4:]),
    "view behind it": lambda: shrunken(16, lambda: torch.ones(1 << 20)[-4:]),
    "by capsule": lambda: shrunken(12, lambda: torch.ones(4).as_subclass(ByCapsule)),
    "parameter": lambda: shrunken(12, lambda: torch.nn.Parameter(torch.ones(4), requires_grad=False)),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", SHRUNKEN)
@pytest.mark.parametrize("at", [0, 1])
def test_a_storage_smaller_than_its_tensor_is_refused(language, kind, at):
    call, x, small = LANGUAGES[language](), torch.zeros(4), SHRUNKEN[kind]()
    arguments = (small, x) if at == 0 else (x, small)
    call(torch.ones(4), x.clone())  # a launch that is repeated looks, too
    with pytest.raises(Error, match=r"(?s)needs (\d+) bytes of its storage, which was made smaller .*resize_\(\1\)"):
        call(*arguments)
    assert x.tolist() == [0] * 4
    bytes = (small.storage_offset() + 4) * 4
    small.untyped_storage().resize_(bytes)
    call(*arguments)


def strided(bytes):
    return shrunken(bytes, lambda: torch.ones(4, 4)[:, 1])


def test_strides_count():
    x, out = strided(13 * 4 + 4), torch.zeros(4)
    nine()(x, out)
    assert out[0] == 2
    with pytest.raises(ValueError, match="needs 56 bytes of its storage, which was made smaller and holds 55"):
        nine()(strided(55), out)
    nine()(shrunken(4, lambda: torch.ones(1).expand(4)), out)
    assert out.tolist() == [2] * 4


def test_what_holds_a_shrunken_tensor():
    small, out = shrunken(12), torch.zeros(4)
    with pytest.raises(ValueError, match="'x' is a tensor that needs 16 bytes of its storage"):
        plus[(1,)](tileon.reinterpret(small, tl.int32), out)
    with pytest.raises(ValueError, match="'x' is a tensor that needs 16 bytes of its storage"):
        plus[(1,)](small, out, debug=True)


def test_no_elements_need_no_memory():
    plus[(0,)](torch.empty(0), torch.empty(0))
    plus[(0,)](shrunken(0)[:0], torch.empty(0))


FAKE = """
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from tilery import ninetoothed, tilelang, tileon
from language.test_tensors_without_memory import LANGUAGES

calls = [make() for make in LANGUAGES.values()]
with FakeTensorMode() as mode:
    fake = torch.zeros(4)
real = torch.ones(4)
for call, inside in zip(calls * 2, [*{inside}] * 3):
    try:
        if inside:
            with mode:
                call(fake, real)
        else:
            call(fake, real)
    except TypeError as error:
        assert "has no memory" in str(error)
    else:
        raise AssertionError
x = torch.ones(4)
for call in calls:
    call(x, real.zero_())
    assert real.tolist() == [2] * 4
x.untyped_storage().resize_(8)
try:
    call(x, real)
except ValueError as error:
    assert "was made smaller" in str(error)
else:
    raise AssertionError
"""


@pytest.mark.parametrize("inside", [(True, False), (False, True)])
def test_torch_does_not_warn_of_what_is_refused(tmp_path, inside):
    path = tmp_path / "fake.py"
    path.write_text(FAKE.format(inside=inside))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["tests", os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-W", "always", path], env=environment, capture_output=True, text=True)  # noqa: S603
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


def test_the_message_says_what_it_is():
    with pytest.raises(
        TypeError, match=r"argument 'x' has no memory: it is a FakeTensor whose elements were never made"
    ) as caught:
        plus[(1,)](fake(), torch.zeros(4))
    assert "torch.library" in str(caught.value)


NEGATED = {
    "imaginary part": lambda: torch.view_as_complex(torch.ones(4, 2)).conj().imag,
    "slice of it": lambda: torch.view_as_complex(torch.ones(9, 2)).conj().imag[1:5],
    "every other": lambda: torch.view_as_complex(torch.ones(9, 2)).conj().imag[::2][:4],
    "another shape": lambda: torch.view_as_complex(torch.ones(2, 2, 2)).conj().imag.transpose(0, 1).diagonal().expand(4, 2)[:, 0],
    "of torch itself": lambda: torch._neg_view(torch.ones(4)),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", NEGATED)
def test_lazy_negation_is_refused_in_words(language, kind):
    x, out = NEGATED[kind](), torch.zeros(4)
    assert x.is_neg() and x.shape == (4,)
    with pytest.raises(ValueError, match=r"(?s)without touching its memory \(is_neg\(\)\).*pass [xX]\.resolve_neg"):
        LANGUAGES[language]()(x, out)
    assert out.tolist() == [0] * 4
    LANGUAGES[language]()(x.resolve_neg(), out)
    assert out.tolist() == [0] * 4
    if language != "tilelang":  # whose tensors are contiguous
        LANGUAGES[language]()(torch.view_as_complex(torch.ones(4, 2)).imag, out)
        assert out.tolist() == [2] * 4


def test_conjugates_are_complex_and_refused_as_such():
    with pytest.raises(TypeError, match="complex elements, which tile programs do not know"):
        plus[(1,)](torch.ones(4, dtype=torch.complex64).conj(), torch.zeros(4))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_negated_result_is_refused(language):
    x = torch.zeros(4)
    with pytest.raises(ValueError, match="is_neg"):
        LANGUAGES[language]()(x, NEGATED["imaginary part"]())
    with pytest.raises(ValueError, match="is_neg"):
        LANGUAGES[language]()(x, NEGATED["imaginary part"]().as_subclass(ByCapsule))
