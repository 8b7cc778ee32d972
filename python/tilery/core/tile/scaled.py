"""Products of tiles in microscaling formats: small floats with one scale for each block along K."""

from __future__ import annotations

from ...errors import error
from ..ignored import ignore
from . import creation, reduction, shape
from .types import bfloat16, dtype, float8e4nv, float8e5, float16, float32, int32, uint8, unwrap
from .value import constant_of, native, tensor, wrap

_FORMATS = {"e4m3": float8e4nv, "e5m2": float8e5, "bf16": bfloat16, "fp16": float16}


def _nibbles(x: tensor, packed: int) -> tensor:
    """Both 4-bit halves of each byte as int32, side by side along the axis `packed`, the lower one first."""
    if x.dtype.primitive_bitwidth != 8 or not x.dtype.is_int():
        raise error(TypeError, f"e2m1 comes as uint8, two to a byte, got {x.dtype}")
    wide = creation.cast(creation.cast(x, uint8, bitcast=True), int32)
    both = shape.join(wide & 15, wide >> 4)
    rank = len(x.shape)
    order = list(range(rank + 1))
    order.insert(packed + 1, order.pop())
    sizes = x.shape
    sizes[packed] *= 2
    return shape.reshape(shape.permute(both, order), sizes)


def _decoded(x: tensor, form: str, packed: int | None) -> tensor:
    if form == "e2m1":
        codes = _nibbles(x, packed if packed is not None else len(x.shape) - 1)
        return wrap(native().function("decode_float4_e2m1fn", codes))
    kind = _FORMATS.get(form)
    if kind is None:
        raise error(ValueError, f"unknown format {form!r}", hint="known: " + ", ".join(map(repr, ("e2m1", *_FORMATS))))
    if x.dtype.is_int() and x.dtype.primitive_bitwidth == kind.primitive_bitwidth:
        x = creation.cast(x, kind, bitcast=True)
    if x.dtype != kind:
        raise error(TypeError, f"format {form!r} is of {kind}, got {x.dtype}")
    return creation.cast(x, float32)


def _scales(scale: tensor, count: int) -> tensor:
    """[.., K / factor] scales as float32 [.., K]; bytes are powers of two (e8m0)."""
    if scale.dtype.is_int():
        value = wrap(native().function("decode_float8_e8m0fnu", creation.cast(scale, uint8, bitcast=True)))
    else:
        value = creation.cast(scale, float32)
    sizes = scale.shape
    factor = count // sizes[-1]
    wide = shape.broadcast_to(shape.expand_dims(value, len(sizes)), [*sizes, factor])
    return shape.reshape(wide, [*sizes[:-1], count])


def _factor(count: int, scale: tensor | None, side: str) -> int | None:
    if scale is None:
        return None
    blocks = scale.shape[-1]
    if count % blocks:
        raise error(ValueError, f"{side}: {count} elements along K do not divide into {blocks} scales")
    return count // blocks


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
    rank = len(lhs.shape)
    a = _decoded(lhs, a_form, rank - 1 if constant_of(lhs_k_pack, "lhs_k_pack") else rank - 2)
    b = _decoded(rhs, b_form, rank - 2 if constant_of(rhs_k_pack, "rhs_k_pack") else rank - 1)
    count = a.shape[-1]
    left, right = _factor(count, a_scale, "lhs"), _factor(count, b_scale, "rhs")
    if left and right and left != right:
        raise error(ValueError, f"Operands must have the same scale factor; (lhs: {left} vs rhs: {right})")
    if a_scale is not None:
        a = a * _scales(a_scale, count)
    if b_scale is not None:
        b = b * shape.trans(_scales(b_scale, count))
    precision = "ieee"
    if "fp16" not in (a_form, b_form):  # bfloat16 holds every product of a number and its scale
        a, b = creation.cast(a, bfloat16), creation.cast(b, bfloat16)
    elif all(s is None or s.dtype.is_int() for s in (a_scale, b_scale)):  # the 10 bits of tf32 hold all that powers of two scale
        precision = "tf32"
    product = reduction.dot(a, b, unwrap(acc), input_precision=precision)
    return product if unwrap(out_dtype) == float32 else wrap(native().cast(product, unwrap(out_dtype)))
