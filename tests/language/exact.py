"""Numbers of every type worked out by Python's integers and fractions alone: what conversions and integer operators mean."""

import math
from dataclasses import dataclass
from fractions import Fraction

import ml_dtypes
import numpy as np
import torch


@dataclass(frozen=True)
class Float:
    digits: int  # with the implicit one
    least: int  # the exponent of the smallest normal number
    greatest: float
    infinite: bool = True

    def rounded(self, value, toward_zero=False):
        """The number of this format nearest to `value` (ties to even), as a float: infinite or NaN where it overflows."""
        if isinstance(value, float) and not math.isfinite(value):
            return value if self.infinite or math.isnan(value) else math.nan
        exact = Fraction(value)
        if not exact:
            return math.copysign(0.0, value) if isinstance(value, float) else 0.0
        size = abs(exact)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= size < Fraction(2) ** exponent
        quantum = Fraction(2) ** (max(exponent, self.least) - self.digits + 1)
        count = size / quantum
        near = math.floor(count) if toward_zero else round(count)  # round(): ties to even
        size = near * quantum
        if size > self.greatest:
            size = self.greatest if toward_zero else math.inf if self.infinite else math.nan
        return math.copysign(float(size), exact)


FLOATS = {
    "float64": Float(53, -1022, float(np.finfo(np.float64).max)),
    "float32": Float(24, -126, float(np.finfo(np.float32).max)),
    "float16": Float(11, -14, 65504.0),
    "bfloat16": Float(8, -126, float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)),
    "float8_e4m3fn": Float(4, -6, 448.0, infinite=False),
    "float8_e5m2": Float(3, -14, 57344.0),
}
INTEGERS = [f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")]
TYPES = [*FLOATS, *INTEGERS]


def bits_of(dtype):
    return int(dtype.removeprefix("u").removeprefix("int"))


def is_signed(dtype):
    return dtype.startswith("int")


def wrapped(dtype, value):
    """The integer of `dtype` with the low bits of `value`."""
    low = value & ((1 << bits_of(dtype)) - 1)
    return low - (1 << bits_of(dtype)) if is_signed(dtype) and low >> (bits_of(dtype) - 1) else low


def limits(dtype):
    half = 1 << (bits_of(dtype) - 1)
    return (-half, half - 1) if is_signed(dtype) else (0, 2 * half - 1)


def converted(value, dtype):
    """`value` (a float or an int) in `dtype`; None where that is not defined."""
    if dtype in FLOATS:
        return FLOATS[dtype].rounded(value)
    if dtype == "bool":
        return value != 0
    if isinstance(value, int):
        return wrapped(dtype, value)
    low, high = limits(dtype)
    return int(value) if math.isfinite(value) and low <= int(value) <= high else None


def numpy_type(dtype):
    return np.dtype(getattr(ml_dtypes, dtype, dtype))


def tensor(values, dtype):
    """Of values that are numbers of `dtype` already."""
    with np.errstate(all="ignore"):
        array = np.array(values, dtype=np.float64 if dtype in FLOATS else object).astype(numpy_type(dtype))
    raw = array.view(f"u{array.itemsize}")
    return torch.from_numpy(raw).view(getattr(torch, dtype)).to(torch.get_default_device())


def values(tensor):
    """Its elements as floats, ints or bools of Python."""
    return tensor.double().tolist() if tensor.dtype.is_floating_point else tensor.cpu().numpy().tolist()


def operand(dtype, count, seed):
    """Numbers of one type: all codes of 8 bits, edges and random ones of every size, and floats halfway between two neighbours of
    each narrower type, with their own neighbours."""
    random = np.random.default_rng(seed)
    if dtype in INTEGERS:
        low, high = limits(dtype)
        found = [low, low + 1, high, high - 1, 0, 1, 2, high // 2, high // 2 + 1]
        for bits in range(2, bits_of(dtype) + 1):  # halfway between floats, and beside it
            tops = random.integers(0, 1 << 24, 12).tolist()
            found += [(top << bits >> 24) + extra for top in tops for extra in (-1, 0, 1)]
            for digits in (form.digits for form in FLOATS.values() if bits > form.digits + 1):
                found += [(1 << bits - 1) + (1 << bits - digits - 1) * odd for odd in (1, 3)]
        found += [-value for value in found]
        found = [value for value in dict.fromkeys(found) if low <= value <= high]
    else:
        own = FLOATS[dtype]
        found = [0.0, -0.0, math.inf, -math.inf, math.nan, own.greatest, 2.0**own.least, 2.0 ** (own.least - own.digits + 1)]
        for other in FLOATS.values():
            if own.digits <= other.digits:
                continue
            exponents = random.integers(other.least - other.digits, int(math.log2(other.greatest)) + 1, 40).tolist()
            for exponent in [*exponents, 0, 0, int(math.log2(other.greatest))]:
                grain = max(exponent, other.least) - other.digits + 1
                top = int(random.integers(1, 1 << other.digits))
                if grain < own.least - own.digits + 2:
                    continue
                middle = own.rounded(math.ldexp(2 * top + 1, grain - 1))
                found += [middle, *(middle * (1 + step * 2.0**-own.digits) for step in (-3, -2, 2, 3))]
        found += (random.normal(size=count) * np.exp(random.uniform(-20, 20, count))).tolist()
        found += random.uniform(-300, 300, count // 2).tolist() + [k / 2 for k in range(-40, 40)]
        found = [own.rounded(value) for value in found]
        found += [-value for value in found[: count // 3]]
    order = random.permutation(len(found))
    kept = [found[k] for k in sorted(order[:count])]
    return (kept * (count // len(kept) + 1))[:count]
