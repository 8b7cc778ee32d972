"""What Triton refuses and Tileon takes: the name by which a module knows the language decides."""

import pytest
import torch

from tilery import triton
from tilery.tileon import language as tl
from tilery.tileon.compiler.errors import CompilationError, UnsupportedLanguageConstruct
from tilery.tileon.language import constexpr as known

NUMBER = 42
PAIR = (1, 2)
KNOWN = tl.constexpr(7)
ELEMENT = tl.int32


@triton.jit
def odd_range(o):
    tl.store(o + tl.arange(0, 5), 1)


@triton.jit
def odd_tile(o):
    tl.store(o + tl.arange(0, 4), tl.sum(tl.full((4, 6), 1, tl.int32), 1))


@triton.jit
def number_outside(o):
    tl.store(o, NUMBER)


@triton.jit
def tuple_outside(o):
    tl.store(o, PAIR[0])


@triton.jit
def number_never_read(o, WANTED: tl.constexpr = False):
    value = KNOWN - 2
    for step in tl.static_range(1, 3):
        value += step
    if WANTED:
        value += NUMBER
    tl.store(o, value.to(ELEMENT) if WANTED else value)


@triton.jit
def function_inside(o):
    def one():
        return 1

    tl.store(o, one())


@triton.jit(noinline=True)
def twice(x):
    return 2 * x


@triton.jit
def tile_for_noinline(o):
    tl.store(o + tl.arange(0, 4), twice(tl.arange(0, 4)))


@triton.jit
def chain(o):
    i = tl.arange(0, 4)
    tl.store(o + i, 1, mask=1 <= i < 3)


@triton.jit
def chain_of_numbers(o, N: tl.constexpr = 4):
    if 0 < N < 8:
        tl.store(o, 1)


@triton.jit
def chain_without_parentheses(o):
    i = tl.arange(0, 4)
    tl.store(o + i, 1, mask=i >= 1 & i < 3)


@triton.jit
def scalar_for_noinline(o):
    tl.store(o, twice(tl.program_id(0) + 4))


REFUSED = {
    odd_range: (ValueError, "arange's range must be a power of 2"),
    odd_tile: (ValueError, "Shape element 1 must be a power of 2"),
    number_outside: (NameError, "Cannot access global variable NUMBER"),
    tuple_outside: (NameError, "Cannot access global variable PAIR"),
    function_inside: (UnsupportedLanguageConstruct, "nested function definition is not supported"),
    chain: (UnsupportedLanguageConstruct, "simultaneous multiple comparison is not supported"),
    chain_of_numbers: (UnsupportedLanguageConstruct, "simultaneous multiple comparison is not supported"),
    chain_without_parentheses: (UnsupportedLanguageConstruct, "simultaneous multiple comparison is not supported"),
    tile_for_noinline: (NotImplementedError, "`twice` is noinline and gets a tile as argument `x`"),
}


@pytest.mark.parametrize("kernel", REFUSED, ids=lambda kernel: kernel.__name__)
def test_refused(kernel):
    kind, message = REFUSED[kernel]
    with pytest.raises(kind) as caught:
        kernel[(1,)](torch.zeros(8, dtype=torch.int32))
    assert isinstance(caught.value, CompilationError) and caught.value.message.startswith(message)


def test_what_a_condition_leaves_out_is_not_looked_at():
    o = torch.zeros(1, dtype=torch.int32)
    number_never_read[(1,)](o)
    assert o.item() == 8
    scalar_for_noinline[(1,)](o)
    assert o.item() == 8
    with pytest.raises(NameError, match="NUMBER"):
        number_never_read[(1,)](o, WANTED=True)


def test_the_environment_allows_variables(monkeypatch):
    monkeypatch.setenv("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", "1")
    o = torch.zeros(1, dtype=torch.int32)
    number_outside[(1,)](o)
    assert o.item() == 42


def test_names_of_a_closure():
    size, width = 8, known(4)

    @triton.jit
    def number(o):
        tl.store(o, size)

    @triton.jit
    def constant(o):
        tl.store(o + tl.arange(0, width), width)

    o = torch.zeros(4, dtype=torch.int32)
    constant[(1,)](o)
    assert o.tolist() == [4] * 4
    with pytest.raises(NameError, match="size"):
        number[(1,)](o)


def test_tileon_takes_them_all():
    from language.tileon.kernels import of_any_size

    o = torch.zeros(8, dtype=torch.int32)
    of_any_size[(1,)](o)
    assert o.tolist() == [18, 19, 20, 21, 22, 0, 0, 0]
