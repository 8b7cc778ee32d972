"""How far from the exact result code may be, derived from the number of roundings and their units.

Every function gives (the exact result in float64, a bound of the error). Bounds are of first order in the unit u = 2^-24 of
float32, in which programs compute, times 1.01 for the rest; a sum of n terms in any order is off by at most (n - 1) u times the
sum of their sizes. Functions (exp, rsqrt, a GPU's quotient) are within 2 units in the last place, 4u."""

import math

import torch
from language.products import TF32_UNIT

UNITS = {torch.float64: 2.0**-53, torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
TINY = {torch.float64: 0.0, torch.float32: 2.0**-126, torch.float16: 2.0**-25, torch.bfloat16: 2.0**-126}  # below normal numbers
FUNCTION = 4  # units of error of one function


def within(actual, wanted):
    """Asserts that `actual` is as near to the exact result as its bound says."""
    exact, bound = wanted
    error = (actual.double() - exact).abs()
    wrong = ~(error <= bound)  # NaN is wrong, too
    assert not wrong.any(), f"{int(wrong.sum())} of {wrong.numel()} are too far off: {error[wrong][0]}, not {bound[wrong][0]}"


def narrowed(exact, error, dtype):
    """The result in `dtype`, rounded once more where that is narrower than float32."""
    error = error + UNITS[dtype] * (exact.abs() + error) if UNITS[dtype] > UNITS[torch.float32] else error
    return exact, 1.01 * error + TINY[dtype]


def product(a, b, dtype):
    """a @ b, added up in float32 (in float64 for that type).

    K products (those of narrow types are exact) and K sums, the first one with the accumulator's 0, and one more for an addition
    of parts: K + 2 units. A GPU's tensor cores align up to 17 terms to the largest one and cut what is below: an error of 2u
    times the sizes of these terms each, with the sum so far among them: 4u a term in place of u."""
    unit = UNITS[torch.float64 if a.dtype == torch.float64 else torch.float32] * (4 if a.is_cuda else 1)
    cut = factor_error(a)
    a, b = a.double(), b.double()
    return narrowed(a @ b, ((a.shape[-1] + 2) * unit + 2 * cut + cut**2) * (a.abs() @ b.abs()), dtype)


def factor_error(x):
    """Of f32 a GPU's tensor cores take 10 bits of mantissa: factors that the copy engine brings are cut, the others rounded."""
    return 2 * TF32_UNIT if x.is_cuda and x.dtype == torch.float32 else 0


def fused_mlp(x, w1, b1, w2):
    """relu(x @ w1 + b1) @ w2 in float32; what stands between is rounded to the type of x.

    What is off before the second product is multiplied by w2; a sum of products is rounded once more with the one over the blocks
    (one more for each of at most H blocks)."""
    before, error = plus(product(x, w1, torch.float32), b1.double())
    hidden, error = narrowed(before.clamp(min=0), error, x.dtype)
    cut = factor_error(x)
    error = error + cut * (hidden + error)
    size = w2.double().abs()
    unit = UNITS[torch.float32] * (4 if x.is_cuda else 1)
    return hidden @ w2.double(), error @ size + (1.01 * (2 * w2.shape[0] + 2) * unit + cut) * ((hidden + error) @ size)


def softmax(x, dtype=None):
    """softmax(x) along the last dimension, of n columns.

    A difference d from the maximum is rounded, and once more where exp is exp2 of d times log2 e: exp is off by 2 |d| u and its
    own error; weights are added up (n u) and divided (as a product with the reciprocal of the sum: a function and u)."""
    u, exact = UNITS[torch.float32], x.double().softmax(-1)
    if not x.numel():
        return exact, torch.zeros_like(exact)
    farthest = (x.double().amax(-1, keepdim=True) - x.double()).amax(-1, keepdim=True)
    relative = 2 * (2 * farthest + FUNCTION) + x.shape[-1] + FUNCTION + 1
    return narrowed(exact, relative * u * exact, dtype or x.dtype)


def attention(scores, v, step, before=None):
    """Softmax of powers of two, times v, `step` keys after the other: sum(2^s v) / sum(2^s), in float32.

    scores: with their bound. A weight is a function of its rounded distance d from the largest score so far. As that grows, sums
    are multiplied by another one; together these distances are d. So a weight is off by log 2 (that of its score and d u), and a
    function, a product and a sum for each step. A score's error in the maximum is the same in both sums. Weights are rounded to
    the type of v and multiplied as factors are (`product`); the sum of n weights and their quotient are rounded, too.

    before: sums, scores and norms of the rows that it goes on from, exact."""
    (s, off), u, (n, _) = scores, UNITS[torch.float32], v.shape
    steps, wide, cut = -(-n // step), v.double(), factor_error(v)
    rounded = UNITS[v.dtype] if UNITS[v.dtype] > u else 0
    each = (steps + 1) * (FUNCTION + 2) * u
    top = s.amax(1, keepdim=True) if before is None else torch.maximum(s.amax(1, keepdim=True), before[1].double()[:, None])
    weights = (s - top).exp2()
    less = weights * (math.log(2) * (off + u * (top - s)) + each)
    factors = rounded + 2 * cut + cut**2 + (n + 2) * u * (4 if v.is_cuda else 1)
    total, norm = weights @ wide, weights.sum(1, keepdim=True)
    error = less @ wide.abs() + factors * (weights @ wide.abs()) + TINY[v.dtype] * wide.abs().sum(0)
    off_norm = less.sum(1, keepdim=True) + n * u * norm
    if before is not None:
        sums, last, count = (x.double() for x in before)
        kept = (last[:, None] - top).exp2()
        less = kept * (math.log(2) * u * (top - last[:, None]) + each)
        total, norm = total + kept * sums, norm + kept * count[:, None]
        error, off_norm = error + less * sums.abs(), off_norm + less * count[:, None]
    exact = total / norm
    return exact, (error + off_norm * exact.abs()) / norm + FUNCTION * u * exact.abs()


def rms_norm(x, epsilon, weight=None):
    """x rsqrt(mean(x^2) + epsilon) weight along the last dimension, of n columns.

    The squares, their sum, the division by n, epsilon: n + 3 units, which the root halves; then the root itself, the product
    with x and that with the weight."""
    wide = x.double()
    exact = wide * (wide.square().mean(-1, keepdim=True) + epsilon).rsqrt()
    if weight is not None:
        exact = exact * weight.double()
    return narrowed(exact, ((x.shape[-1] + 3) / 2 + FUNCTION + 2) * UNITS[torch.float32] * exact.abs(), x.dtype)


def plus(wanted, other, scale=1.0):
    """`other` + scale * a result that is not narrowed yet; both factors are exact, the sum is rounded."""
    exact = other + scale * wanted[0]
    return exact, abs(scale) * wanted[1] + UNITS[torch.float32] * exact.abs()


def added(x, dim):
    """The sum along `dim`, of n terms in any order."""
    wide = x.double()
    return wide.sum(dim), 1.01 * x.shape[dim] * UNITS[torch.float32] * wide.abs().sum(dim)
