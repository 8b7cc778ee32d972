"""What online softmax attention may give: the exact result and how far an implementation may be from it."""

import math

import torch
from language.bounds import UNITS
from language.products import TF32_UNIT


def attention_with_bound(q, k, v, block, scale=1.0, causal=False, mask=None):
    """softmax(scale q k^T) v in float64, and a bound of the error of online softmax over blocks of keys: computed in float32 with
    base 2, weights and result rounded to the type of q, k and v.

    To first order in u = 2^-24, with d columns, n keys in b blocks, c = log2(e) scale, and in a row scores s_j = c q.k_j,
    sizes S_j = c |q|.|k_j| and R = max |s_j|:
    - a score is off by (d + 4) u S_j: d products and sums; the factors of c, c and its product with the score are rounded;
    - the difference from the maximum is at most 2R; it is rounded, and where c multiplies both of its sides each of them is:
      4R u. An error of the maximum itself cancels in the quotient;
    - exp2 turns absolute into relative errors by the factor ln 2 and adds 2 units in the last place, 4u;
    - each of b rescalings multiplies by an exp2 (4u) with one rounding (u); their differences of maxima add up to at most 2R
      and are off by 4R u as well;
    - n products and sums of the numerator, n sums of the denominator, b additions to each, and one division.
    So weights are off by a relative eta, and the result by 2 (eta + (n + b + 1) u) softmax(..) |v|. A narrower type with unit
    w rounds the weights of the numerator and the result: another w (softmax(..) |v| + |result|), and below the smallest
    normal number of f16 a weight is off by 2^-25 at most.

    On a GPU products of float32 round their factors to t = 2^-11: another 2t S_j for a score, t for the weights and for v.
    """
    tensor_cores = TF32_UNIT if q.is_cuda and q.dtype == torch.float32 else 0.0
    unit, u = UNITS[q.dtype], 2.0**-24
    q, k, v = q.double(), k.double(), v.double()
    d, n = q.shape[-1], k.shape[-2]
    blocks = -(-n // block)
    scores = scale * (q @ k.mT)
    sizes = math.log2(math.e) * scale * (q.abs() @ k.abs().mT).amax(-1, keepdim=True)
    largest = math.log2(math.e) * scores.abs().amax(-1, keepdim=True)
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(-1)
    result, size = weights @ v, weights @ v.abs()
    eta = math.log(2) * (u * ((d + 4) * sizes + 8 * largest) + 2 * tensor_cores * sizes) + 4 * u + 5 * blocks * u
    bound = 2 * (eta + (n + blocks + 1) * u + tensor_cores) * size
    if unit > u:
        bound += unit * (size + result.abs()) + n * 2.0**-25 * v.abs().max()

    return result, 1.01 * bound  # what is of second order
