"""Products of tiles in microscaling formats: small floats with one scale for each block along K."""

from __future__ import annotations

from ...errors import error
from ..ignored import ignore
from . import creation, reduction
from .types import bfloat16, dtype, float32, unwrap
from .value import constant_of, native, tensor, wrap


def dot_scaled(
    lhs: tensor,
    lhs_scale: tensor | None,
    lhs_format: str,
    rhs: tensor,
    rhs_scale: tensor | None,
    rhs_format: str,
    acc: tensor | None = None,
    fast_math: bool = False,
    lhs_k_pack: bool = True,
    rhs_k_pack: bool = True,
    out_dtype: dtype = float32,
) -> tensor:
    """The matrix product of two tiles in microscaling formats: "e2m1" (two to a byte, along K or along the other dimension),
    "e4m3", "e5m2", "bf16", "fp16", with a scale for each block of K or none."""
    ignore("tl.dot_scaled", fast_math=unwrap(fast_math))
    a_form, b_form = unwrap(lhs_format), unwrap(rhs_format)
    a_scale, b_scale = unwrap(lhs_scale), unwrap(rhs_scale)
    scales, rank, b = [s for s in (a_scale, b_scale) if s is not None], len(lhs.shape), native()
    a_axis = rank - 1 if constant_of(lhs_k_pack, "lhs_k_pack") else rank - 2
    b_axis = rank - 2 if constant_of(rhs_k_pack, "rhs_k_pack") else rank - 1
    x = wrap(b.scaled_factor(lhs, a_form, a_axis, a_scale, False))
    y = wrap(b.scaled_factor(rhs, b_form, b_axis, b_scale, True))
    blocks = [x.shape[-1] // s.shape[-1] for s in scales]
    if len(set(blocks)) > 1:
        left, right = blocks
        raise error(ValueError, f"Operands must have the same scale factor; (lhs: {left} vs rhs: {right})")
    precision = "ieee"
    if "fp16" not in (a_form, b_form):  # bfloat16 holds every product of a number and its scale
        x, y = creation.cast(x, bfloat16), creation.cast(y, bfloat16)
    elif all(s.dtype.is_int() for s in scales):  # the 10 bits of tf32 hold all that powers of two scale
        precision = "tf32"
    product = reduction.dot(x, y, unwrap(acc), input_precision=precision)
    return product if unwrap(out_dtype) == float32 else wrap(native().cast(product, unwrap(out_dtype)))
